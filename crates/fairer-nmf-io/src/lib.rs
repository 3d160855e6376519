//! Files in and out: tables, matrices and documents become plain matrices, names and group labels;
//! results are written whole or not at all.
//!
//! [`ReadOptions`] says what the user asked; `plan` what each column is for; one file per format
//! feeds cells to `table` or makes a [`Matrix`]; [`Dataset`] is what comes out, and [`Loaded`] how
//! the library takes it. [`Output`] is a file that will be written. Nothing here knows of
//! commands or of a terminal: what goes wrong is a [`Failure`] or an [`InputError`], one sentence
//! each, in the words of the program's options.

mod align;
mod columns;
mod components;
mod dataset;
mod delimited;
mod error;
mod failure;
mod folder;
mod jsonl;
mod labels;
mod loaded;
mod matrix;
mod missing;
mod mtx;
mod npy;
mod npz;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod plan;
mod recipe;
mod shards;
mod source;
mod table;
mod text;

pub use align::align;
pub use columns::{remove as remove_column, typed as typed_columns};
pub use components::Components;
pub use dataset::Dataset;
pub use error::{CellPlace, InputError, closest as closest_name};
pub use failure::Failure;
pub use labels::{codes as read_groups, read as read_names};
pub use loaded::{AnyMatrix, Loaded, Scaling, check_group_rows, check_rank, group_sizes};
pub use matrix::{DenseMatrix, DenseView, MappedNpy, Matrix, SparseMatrix};
pub use options::{Format, GroupsSource, Missing, Precision, ReadOptions, split_member};
pub use output::{Output, check_distinct, print_bytes, remove_unfinished};
pub use recipe::{keep as keep_recipe, kept as kept_recipe};
pub use shards::{AnyShards, Shards, is_shard_folder, open_shards};
pub use text::{DocumentFrequency, Norm, StopWords, TermFrequencies, TextOptions};

use plan::Plan;
use source::Source;
use table::Number;

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
/// let options = ReadOptions {
///     group_by: vec!["sex".into()],
///     ..ReadOptions::default()
/// };
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
    if options.groups.is_some() && !options.group_by.is_empty() {
        return Err(InputError::BadOption {
            option: "--groups",
            what: "--group-by already says what the groups are: leave one of the two out".into(),
        });
    }
    let (file, member) = split_member(path);
    let format = options.format.or_else(|| Format::of(&file));
    let mut dataset = if format == Some(Format::Npz) {
        matrix_only(path, options)?;
        let source = Source::open(&file)?;
        let matrix = npz::read(&file, &source, member.as_deref(), options.precision)?;
        Dataset::from_matrix(path, matrix)
    } else if options.precision == Precision::F32 {
        read_format::<f32>(path, format, options)?
    } else {
        read_format::<f64>(path, format, options)?
    };
    if options.missing == Missing::DropRows {
        missing::drop_rows(&mut dataset)?;
    }
    if let Some(names) = &options.feature_names {
        name_features(&mut dataset, names)?;
    }
    if let Some(groups) = &options.groups {
        let labels = labels::read(groups, "--groups")?;
        let (found, expected) = (labels.len(), dataset.records());
        if found != expected {
            return Err(InputError::WrongCount {
                path: groups.path.clone(),
                what: "labels",
                found,
                data: path.into(),
                expected,
                axis: "rows",
            });
        }
        let rows = 0..dataset.matrix.shape().0;
        let labels = rows.map(|row| labels[dataset.record(row)].clone());
        dataset.labels = Some(labels.collect());
    }
    if let Some(weights) = options.weights.as_ref().filter(|_| dataset.weights.is_none()) {
        dataset.weights = Some(labels::weights(weights, &dataset)?);
    }
    Ok(dataset)
}

/// Reads a CSV that is in memory; `name` stands for the file in messages.
///
/// # Errors
/// As [`read`].
pub fn read_csv(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, InputError> {
    let planner = |names| Plan::new(name, names, options);
    delimited::parse::<f64>(name, bytes, options.delimiter, &planner)?.into_dataset(None, true)
}

/// Documents that are in memory as features: `names` say which is which in messages, `path` where
/// they are from.
///
/// # Errors
/// If the options leave no term.
pub fn read_documents(
    path: &str,
    names: Vec<String>,
    documents: &[String],
    labels: Vec<String>,
    options: &TextOptions,
) -> Result<Dataset, InputError> {
    let made = text::vectorize(path, documents, options)?;
    Ok(Dataset {
        matrix: Matrix::Sparse(made.matrix),
        features: made.terms,
        labels: Some(labels),
        families: Vec::new(),
        weights: None,
        notes: made.notes,
        recipe: Some(made.recipe),
        one_hot: Vec::new(),
        index: None,
        origin: dataset::Origin { path: path.into(), rows: dataset::RowOrigin::Documents(names) },
    })
}

fn read_format<T: Number>(
    path: &str,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Dataset, InputError> {
    let shown = if path == "-" { "standard input" } else { path };
    let planner = |names| Plan::new(shown, names, options);
    let text = options.text.as_ref();
    match format {
        Some(Format::Folder) => {
            no_columns(path, options, "its sub-folders are the groups")?;
            return folder::read(path, text.unwrap_or(&TextOptions::default()));
        }
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => {
            return parquet::parse::<T>(path, &planner)?.into_dataset(text, false);
        }
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => return Err(parquet_is_off(path)),
        _ => {}
    }
    let source = Source::open(path)?;
    let format = match format {
        Some(format) => format,
        None if path == "-" => likely_format(&source),
        None => return Err(InputError::UnknownFormat { path: path.into() }),
    };
    let delimiter = match format {
        Format::Tsv => options.delimiter.or(Some(b'\t')),
        _ => options.delimiter,
    };
    match format {
        Format::JsonLines => jsonl::parse::<T>(shown, &source, &planner)?.into_dataset(text, true),
        Format::Npy => {
            matrix_only(shown, options)?;
            let matrix = npy::read(shown, source, options.precision)?;
            Ok(Dataset::from_matrix(shown, Matrix::Dense(matrix)))
        }
        Format::MatrixMarket => {
            matrix_only(shown, options)?;
            let matrix = mtx::parse(shown, &source, options.precision)?;
            Ok(Dataset::from_matrix(shown, matrix))
        }
        Format::Csv | Format::Tsv | Format::Npz | Format::Parquet | Format::Folder => {
            delimited::parse::<T>(shown, &source, delimiter, &planner)?.into_dataset(text, true)
        }
    }
}

/// Standard input has no name: an object is JSON lines, `%%` Matrix Market, the rest CSV.
fn likely_format(bytes: &[u8]) -> Format {
    match bytes.trim_ascii_start() {
        [b'{', ..] => Format::JsonLines,
        [b'%', b'%', ..] => Format::MatrixMarket,
        [0x93, b'N', ..] => Format::Npy,
        _ => Format::Csv,
    }
}

/// Options about columns make no sense for a bare matrix.
fn matrix_only(path: &str, options: &ReadOptions) -> Result<(), InputError> {
    let why = "a matrix has no named columns; give the labels of its rows with `--groups FILE`";
    no_columns(path, options, why)?;
    match options.text {
        Some(_) => Err(InputError::OptionDoesNotApply {
            option: "--text",
            path: path.into(),
            why: "documents are read from a table or a folder",
        }),
        None => Ok(()),
    }
}

fn no_columns(path: &str, options: &ReadOptions, why: &'static str) -> Result<(), InputError> {
    let given = [
        ("--group-by", &options.group_by),
        ("--group-by-each", &options.group_by_each),
        ("--drop", &options.drop),
        ("--one-hot", &options.one_hot),
    ];
    match given.into_iter().find(|(_, columns)| !columns.is_empty()) {
        Some((option, _)) => Err(InputError::OptionDoesNotApply { option, path: path.into(), why }),
        None => Ok(()),
    }
}

#[cfg(not(feature = "parquet"))]
fn parquet_is_off(path: &str) -> InputError {
    InputError::FeatureOff { path: path.into(), format: "Parquet", feature: "parquet" }
}

fn name_features(dataset: &mut Dataset, path: &str) -> Result<(), InputError> {
    if !matches!(dataset.origin.rows, dataset::RowOrigin::Rows { .. }) {
        return Err(InputError::OptionDoesNotApply {
            option: "--feature-names",
            path: dataset.origin.path.clone(),
            why: "its columns have names of their own",
        });
    }
    let names = labels::lines(path, &Source::open(path)?)?;
    let (found, expected) = (names.len(), dataset.features.len());
    if found != expected {
        return Err(InputError::WrongCount {
            path: path.into(),
            what: "names",
            found,
            data: dataset.origin.path.clone(),
            expected,
            axis: "columns",
        });
    }
    dataset.features = names;
    Ok(())
}
