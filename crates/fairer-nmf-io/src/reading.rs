//! A data set from a path or from memory: the format is found, its reader called, and what the
//! other options ask is done.

use super::categories;
use super::cells::Number;
use super::dataset::Dataset;
use super::error::InputError;
#[cfg(feature = "excel")]
use super::excel;
#[cfg(not(feature = "excel"))]
use super::forms::excel_is_off;
use super::forms::{h5ad, is_matrix, look_at, name_features, read_sheet, turn};
use super::matrix::Matrix;
use super::options::{
    Format, Precision, ReadOptions, delimiter_of, likely_format, matrix_only, no_columns,
    split_member,
};
#[cfg(feature = "parquet")]
use super::parquet;
use super::plan::Plan;
use super::recipe::Missing;
use super::room::Room;
use super::source::{self, Source};
use super::text::TextOptions;
use super::{delimited, folder, jsonl, labels, missing, mtx, npy, npz, tenx};

/// Reads a data set: a file, `FILE.npz:ARRAY`, a folder of documents, or `-` for standard input.
///
/// # Errors
/// Whatever is wrong with the input or does not fit the options; each error is one sentence
/// that says what, where, and what to do.
///
/// ```
/// use fairer_nmf_io::{ReadOptions, read};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("small.csv");
/// std::fs::write(&path, "age,sex,chol\n63,1,233\n41,0,204\n")?;
/// let options = ReadOptions::default().with(|o| o.group_by = vec!["sex".into()]);
/// let data = read(&path.to_string_lossy(), &options)?;
/// assert_eq!(data.features, ["age", "chol"]);
/// assert_eq!(data.labels.as_deref(), Some(&["1".to_string(), "0".to_string()][..]));
/// assert!(data.describe_cell(1, 1).ends_with("line 3, column `chol`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &str, options: &ReadOptions) -> Result<Dataset, InputError> {
    if !options.group_by_each.is_empty()
        && (options.groups.is_some() || !options.group_by.is_empty())
    {
        return Err(InputError::BadOption {
            option: "--group-by-each",
            what: "--group-by and --groups already say what the groups are: leave one out".into(),
        });
    }
    let labelled = options.groups.is_some() || !options.group_by.is_empty();
    if options.membership.is_some() && (labelled || !options.group_by_each.is_empty()) {
        return Err(InputError::BadOption {
            option: "--membership",
            what: "other options already say what the groups are: leave one out".into(),
        });
    }
    if options.groups.is_some() && !options.group_by.is_empty() {
        return Err(InputError::BadOption {
            option: "--groups",
            what: "--group-by already says what the groups are: leave one of the two out".into(),
        });
    }
    if let Some(triple) = tenx::Triple::of(path).filter(|_| options.format.is_none()) {
        return read_triple(&triple, options);
    }
    let (file, member) = split_member(path);
    let format = options.format.or_else(|| Format::of(&file));
    let mut dataset = if format == Some(Format::Npz) {
        matrix_only(path, options)?;
        let source = Source::open(&file, options.limit)?;
        let room = source.room(&file);
        let found = npz::read(room, &source, member.as_deref(), options.precision)?;
        Dataset::from_matrix(path, found)
    } else if options.precision == Precision::F32 {
        read_format::<f32>(path, format, options)?
    } else {
        read_format::<f64>(path, format, options)?
    };
    arrange(&mut dataset, options)?;
    if let Some(names) = &options.feature_names {
        name_features(&mut dataset, names, options.limit)?;
    }
    if let Some(groups) = &options.groups {
        let labels = labels::read(groups, "--groups", options.limit)?;
        let (found, expected) = (labels.len(), dataset.records());
        if found != expected {
            return Err(InputError::WrongCount {
                path: groups.path.clone(),
                what: "labels",
                found,
                data: path.into(),
                expected,
                axis: "rows",
                turned: is_matrix(&dataset) && found == dataset.matrix.shape().1,
            });
        }
        let kept: Vec<usize> = (0..dataset.matrix.shape().0).map(|r| dataset.record(r)).collect();
        let lost = (0..labels.len()).filter(|record| kept.binary_search(record).is_err());
        dataset.lost_labels = lost.map(|record| labels[record].clone()).collect();
        dataset.labels = Some(kept.into_iter().map(|record| labels[record].clone()).collect());
    }
    if let Some(path) = &options.membership {
        let table = read(path, &ReadOptions { limit: options.limit, ..ReadOptions::default() })?;
        dataset.members = labels::members(path, &table, &dataset)?;
    }
    if let Some(weights) = options.weights.as_ref().filter(|_| dataset.weights.is_none()) {
        dataset.weights = Some(labels::weights(weights, &dataset, options.limit)?);
    }
    categories::settle(&mut dataset, options.merge_spellings);
    Ok(dataset)
}

/// Reads a CSV that is in memory; `name` stands for the file in messages.
///
/// # Errors
/// As [`read`].
pub fn read_csv(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, InputError> {
    let planner = |names| Plan::new(name, names, options);
    let room = Room::new(name, bytes.len(), options.limit);
    let table = delimited::parse::<f64>(room, bytes, options.delimiter, &planner)?;
    let mut dataset = table.into_dataset(None, true)?;
    categories::settle(&mut dataset, options.merge_spellings);
    Ok(dataset)
}

fn read_format<T: Number>(
    path: &str,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Dataset, InputError> {
    let shown = if path == "-" { "standard input" } else { path };
    let text = options.text.as_ref();
    match format {
        Some(Format::Folder) => {
            no_columns(path, options, "its sub-folders are the groups")?;
            return folder::read(path, text.unwrap_or(&TextOptions::default()));
        }
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => {
            let planner = |names, index: &[String]| Plan::of_frame(shown, names, index, options);
            return parquet::parse::<T>(path, options.limit, &planner)?.into_dataset(text, false);
        }
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => return Err(InputError::parquet_is_off(path)),
        Some(Format::Excel) => return read_sheet::<T>(path, options),
        Some(Format::Npy) => {
            matrix_only(path, options)?;
            let (matrix, vanished) = npy::read(path, options.precision, options.limit)?;
            return Ok(Dataset::from_matrix(shown, (Matrix::Dense(matrix), vanished)));
        }
        _ => {}
    }
    if path.to_lowercase().ends_with(".h5ad") {
        return Err(h5ad(path));
    }
    let source = Source::open(path, options.limit)?;
    let format = match format {
        Some(format) => format,
        None if path == "-" => likely_format(&source),
        None => return Err(InputError::UnknownFormat { path: path.into() }),
    };
    parse::<T>(source.room(shown), &source, format, options)
}

/// The three files of a folder: cells in rows, genes by their names, rows by their barcodes.
fn read_triple(triple: &tenx::Triple, options: &ReadOptions) -> Result<Dataset, InputError> {
    let names = options.feature_names.clone().or_else(|| triple.features.clone());
    let inside = ReadOptions {
        format: Some(Format::MatrixMarket),
        feature_names: names,
        // Genes are in the rows of the file, unless the user says that they are not.
        transpose: !options.transpose,
        ..options.clone()
    };
    let mut dataset = read(&triple.matrix, &inside)?;
    if let Some(path) = &triple.barcodes {
        let barcodes = labels::names(path, options.limit)?;
        if barcodes.len() == dataset.records() {
            dataset.ids = Some(("barcode".to_owned(), barcodes));
        }
    }
    Ok(dataset)
}

/// Reads what is in memory, packed or not, as if it were the file `name`: every format but Parquet
/// and folders of documents.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, InputError> {
    let unpacked = source::unpacked(name, bytes, options.limit)?;
    let room = Room::new(name, bytes.len(), options.limit);
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    let mut dataset = match options.precision {
        Precision::F32 => parse::<f32>(room, bytes, format, options)?,
        _ => parse::<f64>(room, bytes, format, options)?,
    };
    arrange(&mut dataset, options)?;
    categories::settle(&mut dataset, options.merge_spellings);
    Ok(dataset)
}

/// Turns a matrix around and does what was asked with what is missing.
fn arrange(dataset: &mut Dataset, options: &ReadOptions) -> Result<(), InputError> {
    if options.transpose {
        turn(dataset)?;
    }
    match options.missing {
        Missing::Error => Ok(()),
        Missing::DropRows => missing::drop_rows(dataset),
        Missing::Unobserved => missing::unobserved(dataset),
    }
}

/// Plain bytes of a format as a data set.
fn parse<T: Number>(
    room: Room<'_>,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, InputError> {
    let (path, text) = (room.path, options.text.as_ref());
    let planner = |names| Plan::new(path, names, options);
    let of_matrix = |found| Ok(Dataset::from_matrix(path, found));
    let advised =
        |error: InputError| error.advised(|| look_at(room, bytes, format, options).ok(), options);
    match format {
        Format::JsonLines => {
            let table = jsonl::parse::<T>(room, bytes, &planner).map_err(advised)?;
            table.into_dataset(text, true)
        }
        Format::Npy => {
            matrix_only(path, options)?;
            let (matrix, vanished) = npy::matrix(room, bytes, options.precision)?;
            of_matrix((Matrix::Dense(matrix), vanished))
        }
        Format::Npz => {
            matrix_only(path, options)?;
            of_matrix(npz::read(room, bytes, None, options.precision)?)
        }
        Format::MatrixMarket => {
            matrix_only(path, options)?;
            of_matrix(mtx::parse(room, bytes, options.precision)?)
        }
        #[cfg(feature = "excel")]
        Format::Excel => {
            let table = excel::parse::<T>(room, bytes, None, &planner)?;
            table.into_dataset(text, true)
        }
        #[cfg(not(feature = "excel"))]
        Format::Excel => Err(excel_is_off(path)),
        Format::Csv | Format::Tsv | Format::Parquet | Format::Folder => {
            let delimiter = delimiter_of(format, options);
            let table = delimited::parse::<T>(room, bytes, delimiter, &planner);
            table.map_err(advised)?.into_dataset(text, true)
        }
    }
}
