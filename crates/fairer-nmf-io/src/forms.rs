//! What some forms of data need besides their reader: sheets, names of features, and looks at tables.

use super::cells::Number;
use super::dataset::{Dataset, RowOrigin};
use super::error::InputError;
#[cfg(feature = "excel")]
use super::excel;
use super::look::Look;
use super::options::{Format, ReadOptions, delimiter_of, likely_format, split_member};
#[cfg(feature = "parquet")]
use super::parquet;
use super::plan::Plan;
use super::room::{InputLimit, Room};
use super::source::Source;
use super::{delimited, jsonl, labels};

/// Looks at every column of a table, whatever is wrong with it. Standard input has to be kept
/// ([`keep_standard_input`](crate::keep_standard_input)).
///
/// # Errors
/// If it is no table, or none that can be read to its end.
pub fn look(path: &str, options: &ReadOptions) -> Result<Look, InputError> {
    let mut format = options.format.or_else(|| Format::of(&split_member(path).0));
    if format.is_none() && path == "-" {
        format = Some(likely_format(&Source::open(path, options.limit)?));
    }
    match format {
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => {
            let planner = |names, _: &[String]| Plan::look(path, names, options);
            Ok(parquet::parse::<f64>(path, options.limit, &planner)?.into_look())
        }
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => Err(InputError::parquet_is_off(path)),
        Some(Format::Excel) => look_at_sheet(path, options),
        Some(format @ (Format::Csv | Format::Tsv | Format::JsonLines)) => {
            let source = Source::open(path, options.limit)?;
            let shown = if path == "-" { "standard input" } else { path };
            look_at(source.room(shown), &source, format, options)
        }
        _ => Err(InputError::Unsupported {
            path: path.into(),
            what: "no table".into(),
            fix: "only tables have columns to look at".into(),
        }),
    }
}

/// The same for bytes that were read.
pub(crate) fn look_at(
    room: Room<'_>,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Look, InputError> {
    let planner = |names| Plan::look(room.path, names, options);
    let table = match format {
        Format::JsonLines => jsonl::parse::<f64>(room, bytes, &planner)?,
        _ => delimited::parse::<f64>(room, bytes, delimiter_of(format, options), &planner)?,
    };
    Ok(table.into_look())
}

/// Whether the data are a bare matrix.
pub(crate) fn is_matrix(dataset: &Dataset) -> bool {
    matches!(dataset.origin.rows, RowOrigin::Rows { .. })
}

/// Rows for columns, of a matrix.
pub(crate) fn turn(dataset: &mut Dataset) -> Result<(), InputError> {
    let path = dataset.path().to_owned();
    if !is_matrix(dataset) {
        let why = "only a matrix has samples in rows or in columns";
        return Err(InputError::OptionDoesNotApply { option: "--transpose", path, why });
    }
    *dataset = Dataset::from_matrix(&path, (dataset.matrix.transposed()?, dataset.vanished));
    Ok(())
}

/// Single-cell data of Python, which Python reads.
pub(crate) fn h5ad(path: &str) -> InputError {
    InputError::Unsupported {
        path: path.into(),
        what: "an AnnData object, which Python reads in two lines".into(),
        fix: format!(
            "`import anndata, fairer_nmf` and `fairer_nmf.fit_anndata(anndata.read_h5ad(\"{path}\"), group_key=\"donor\", n_components=10)`"
        ),
    }
}

#[cfg(feature = "excel")]
pub(crate) fn read_sheet<T: Number>(
    path: &str,
    options: &ReadOptions,
) -> Result<Dataset, InputError> {
    let (file, sheet) = split_member(path);
    let source = Source::open(&file, options.limit)?;
    let planner = |names| Plan::new(path, names, options);
    let table = excel::parse::<T>(source.room(path), &source, sheet.as_deref(), &planner);
    let look = || look(path, options).ok();
    table.map_err(|error| error.advised(look, options))?.into_dataset(options.text.as_ref(), true)
}

#[cfg(not(feature = "excel"))]
pub(crate) fn read_sheet<T: Number>(path: &str, _: &ReadOptions) -> Result<Dataset, InputError> {
    Err(excel_is_off(path))
}

#[cfg(feature = "excel")]
fn look_at_sheet(path: &str, options: &ReadOptions) -> Result<Look, InputError> {
    let (file, sheet) = split_member(path);
    let planner = |names| Plan::look(path, names, options);
    let source = Source::open(&file, options.limit)?;
    Ok(excel::parse::<f64>(source.room(path), &source, sheet.as_deref(), &planner)?.into_look())
}

#[cfg(not(feature = "excel"))]
fn look_at_sheet(path: &str, _: &ReadOptions) -> Result<Look, InputError> {
    Err(excel_is_off(path))
}

#[cfg(not(feature = "excel"))]
pub(crate) fn excel_is_off(path: &str) -> InputError {
    InputError::FeatureOff { path: path.into(), format: "a spreadsheet", feature: "excel" }
}

pub(crate) fn name_features(
    dataset: &mut Dataset,
    path: &str,
    limit: InputLimit,
) -> Result<(), InputError> {
    if !is_matrix(dataset) {
        return Err(InputError::OptionDoesNotApply {
            option: "--feature-names",
            path: dataset.origin.path.clone(),
            why: "its columns have names of their own",
        });
    }
    let names = labels::names(path, limit)?;
    let (found, expected) = (names.len(), dataset.features.len());
    if found != expected {
        return Err(InputError::WrongCount {
            path: path.into(),
            what: "names",
            found,
            data: dataset.origin.path.clone(),
            expected,
            axis: "columns",
            turned: found == dataset.matrix.shape().0,
        });
    }
    dataset.features = names;
    Ok(())
}
