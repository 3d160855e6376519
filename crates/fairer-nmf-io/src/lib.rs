//! Files in and out: tables, matrices and documents become plain matrices, names and group labels;
//! results are written whole or not at all.
//!
//! [`ReadOptions`] says what the user asked; `plan` what each column is for; one file per format
//! feeds cells to `table` or makes a [`Matrix`]; [`Dataset`] is what comes out, and [`Loaded`] how
//! the library takes it. [`Output`] is a file that will be written. Nothing here knows of
//! commands or of a terminal: what goes wrong is a [`Failure`] or an [`InputError`], one sentence
//! each, in the words of the program's options.

mod align;
mod assemble;
mod cache;
mod categories;
mod columns;
mod components;
mod convert;
mod dataset;
mod decimals;
mod delimited;
mod error;
#[cfg(feature = "excel")]
mod excel;
mod failure;
mod folder;
mod forms;
#[cfg(any(feature = "excel", feature = "parquet"))]
mod guard;
mod issues;
mod jsonl;
mod labels;
mod loaded;
mod look;
mod matrix;
mod missing;
mod mtx;
mod neighbour;
mod npy;
mod npz;
mod on_disk;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod plan;
mod profile;
mod recipe;
mod room;
mod shards;
mod source;
mod table;
mod tenx;
mod text;
mod wishes;
mod written;

pub use align::align;
pub use columns::{in_a_shell, remove as remove_column, typed as typed_columns};
pub use components::Components;
pub use convert::{TableFacts, column_names};
pub use dataset::{Dataset, LeftOut};
pub use error::{CellPlace, InputError, closest as closest_name};
pub use failure::{Failure, bounded};
pub use forms::look;
pub use labels::{codes as read_groups, read as read_names};
pub use loaded::{
    AnyMatrix, Loaded, Scaling, check_group_rows, check_rank, group_sizes, intersections,
    merge_small,
};
pub use look::{Column, Kind, Look, Proposal};
pub use matrix::{DenseMatrix, DenseView, Matrix, SparseMatrix};
pub use neighbour::in_folder as temporary_in;
pub use on_disk::{OnDisk, on_disk};
pub use options::{
    Bins, Cuts, Format, GroupsSource, Missing, Precision, ReadOptions, Unseen, split_member,
};
pub use output::{Output, check_distinct, print_bytes, remove_unfinished};
pub use recipe::{Preparation, TableRecipe, keep as keep_recipe, kept as kept_recipe};
pub use room::{InputLimit, memory_can_be_refused, parse_bytes};
pub use shards::{AnyShards, Shards, is_shard_folder, open_shards};
pub use source::keep_standard_input;
pub use text::{DocumentFrequency, Norm, StopWords, TermFrequencies, TextOptions};
pub use written::Decimal;

use forms::{h5ad, is_matrix, look_at, name_features, read_sheet, read_triple, turn};
use plan::Plan;
use room::Room;
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
    if options.transpose {
        turn(&mut dataset)?;
    }
    match options.missing {
        Missing::Error => {}
        Missing::DropRows => missing::drop_rows(&mut dataset)?,
        Missing::Unobserved => missing::unobserved(&mut dataset)?,
    }
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
    if let Some(table) = &options.membership {
        dataset.members = labels::members(table, &dataset, options.limit)?;
    }
    if let Some(weights) = options.weights.as_ref().filter(|_| dataset.weights.is_none()) {
        dataset.weights = Some(labels::weights(weights, &dataset, options.limit)?);
    }
    categories::settle(&mut dataset, options.merge_spellings);
    Ok(dataset)
}

fn delimiter_of(format: Format, options: &ReadOptions) -> Option<u8> {
    match format {
        Format::Tsv => options.delimiter.or(Some(b'\t')),
        _ => options.delimiter,
    }
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
    let origin = dataset::Origin { path: path.into(), rows: dataset::RowOrigin::Documents(names) };
    Ok(Dataset {
        features: made.terms,
        labels: Some(labels),
        families: Vec::new(),
        weights: None,
        notes: made.notes,
        recipe: Some(made.recipe),
        ..Dataset::bare(Matrix::Sparse(made.matrix), origin)
    })
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
            let planner = |names| Plan::new(shown, names, options);
            return parquet::parse::<T>(path, options.limit, &planner)?.into_dataset(text, false);
        }
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => return Err(parquet_is_off(path)),
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
    if options.transpose {
        turn(&mut dataset)?;
    }
    match options.missing {
        Missing::Error => {}
        Missing::DropRows => missing::drop_rows(&mut dataset)?,
        Missing::Unobserved => missing::unobserved(&mut dataset)?,
    }
    categories::settle(&mut dataset, options.merge_spellings);
    Ok(dataset)
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
        Format::Excel => Err(forms::excel_is_off(path)),
        Format::Csv | Format::Tsv | Format::Parquet | Format::Folder => {
            let delimiter = delimiter_of(format, options);
            let table = delimited::parse::<T>(room, bytes, delimiter, &planner);
            table.map_err(advised)?.into_dataset(text, true)
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
        ("--na-values", &options.na_values),
    ];
    let bins: Vec<String> = options.bins.iter().map(|bins| bins.column.clone()).collect();
    let id: Vec<String> = options.id.iter().cloned().collect();
    let given = given.into_iter().chain([("--bins", &bins), ("--id", &id)]);
    match given.into_iter().find(|(_, columns)| !columns.is_empty()) {
        Some((option, _)) => Err(InputError::OptionDoesNotApply { option, path: path.into(), why }),
        None => Ok(()),
    }
}

#[cfg(not(feature = "parquet"))]
fn parquet_is_off(path: &str) -> InputError {
    InputError::FeatureOff { path: path.into(), format: "Parquet", feature: "parquet" }
}
