//! What can be wrong with an input, said so that the user can act: what, where, what to do.

use std::fmt;

use super::columns::typed;
use super::size::{Size, as_typed};

/// Why an input could not be read. Each message is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // What the fields are, the message says.
pub enum InputError {
    /// The file or folder does not exist.
    #[error("{path} does not exist: check the spelling and the folder")]
    NotFound { path: String },
    /// The operating system refused to open or read the file.
    #[error("cannot read {path}: {source}")]
    Io { path: String, source: std::io::Error },
    /// The file ends too early or does not hold what its format promises.
    #[error("{path} is damaged: {what}; make or download it again")]
    Damaged { path: String, what: String },
    /// The file was cut, grew or was written over while it was read.
    #[error("{path} changed while it was read: run again once it is complete")]
    Changed { path: String },
    /// The user ended a long reading.
    #[error("stopped while {path} was converted; nothing was kept of it")]
    Stopped { path: String },
    /// Rows cannot be put beside their source.
    #[error(
        "{folder}, where the rows of {path} are kept for block by block reading, cannot be written: {source}; make room, or name {path} by a link in another folder"
    )]
    NoCache { path: String, folder: String, source: std::io::Error },
    /// Columns cannot be put where they are read side by side.
    #[error(
        "a temporary file in {folder}, for columns of {path} that do not fit into `--memory`, cannot be written or read: {source}; make room, set TMPDIR to another folder, or give more memory"
    )]
    NoSpool { path: String, folder: String, source: std::io::Error },
    /// What the file declares, or unpacks to, is out of proportion.
    #[error(
        "{path} {what}{} the limit of {} for this file: if the file is right, raise it with `--input-limit {}`",
        bytes.map_or(" to more than".to_owned(), |b| format!(", which takes {} of memory, more than", Size(b))),
        Size(*limit), as_typed(bytes.unwrap_or(limit.saturating_add(1)))
    )]
    TooLarge {
        path: String,
        what: String,
        /// How much it would take, where that is known.
        bytes: Option<u64>,
        limit: u64,
    },
    /// The system has no memory for it.
    #[error(
        "{path} does not fit into the memory that is left ({} more were asked for): use a part of it, --precision f32, or a machine with more",
        Size(*bytes)
    )]
    NoMemory { path: String, bytes: u64 },
    /// The name of the file does not tell its format.
    #[error(
        "{path} has no ending that tells its format: expected .csv, .tsv, .jsonl (each also .gz or .zst), .xlsx, .ods, .npy, .npz, .mtx[.gz], .parquet, or a folder of documents"
    )]
    UnknownFormat { path: String },
    /// The program was built without a part it needs for this file.
    #[error(
        "{path} is {format}, which this build cannot read: install with `cargo install fairer-nmf-cli --features {feature}`, or convert the file to CSV"
    )]
    FeatureOff { path: String, format: &'static str, feature: &'static str },
    /// The format is known, but this variety of it is not read.
    #[error("{path} holds {what}: {fix}")]
    Unsupported { path: String, what: String, fix: String },
    /// There is a header but no row, or nothing at all.
    #[error("{path} has no data: {what}")]
    Empty { path: String, what: String },
    /// Two columns carry the same name.
    #[error("{path} has two columns named `{column}`: rename one of them in the header")]
    DuplicateColumn { path: String, column: String },
    /// A row has more or fewer cells than the header.
    #[error(
        "{path}, line {line}: found {found} cells where the header has {expected}: mend the line (a missing delimiter, or an unquoted one inside a text?)"
    )]
    RaggedRow { path: String, line: u64, found: usize, expected: usize },
    /// A line is not valid in its format.
    #[error("{path}, line {line}: {what}")]
    BadLine { path: String, line: u64, what: String },
    /// Columns that hold words and were not said to be groups, text or categories.
    #[error(
        "{path} has {} that {} not numeric: {} (line {line} of `{}` holds `{value}`); {}",
        plural(columns.len(), "a column", "columns"), plural(columns.len(), "is", "are"),
        Names(columns), columns[0], advice.clone().unwrap_or_else(|| blind_advice(columns))
    )]
    NonNumericColumns {
        path: String,
        /// At least one name, in file order.
        columns: Vec<String>,
        line: u64,
        value: String,
        /// What to do with them, where their values were looked at.
        advice: Option<String>,
    },
    /// Numbers that are others with another decimal mark, and nothing tells which it is.
    #[error(
        "{path}: {what}; say what stands before the decimals with `--decimal comma` or `--decimal point`"
    )]
    WhichDecimal { path: String, what: String },
    /// A stray text in a column that is otherwise numeric.
    #[error(
        "{path}, line {line}, column `{column}`: expected a number, found `{value}`: mend the cell, or leave the column out with `{}`",
        typed("--drop", std::slice::from_ref(column))
    )]
    TextCell { path: String, line: u64, column: String, value: String },
    /// Cells without a value.
    #[error(
        "{path} has {count} missing {}: {}{}; fill {} in, or leave out the rows with `--missing drop-rows`",
        plural(*count, "cell", "cells"), Cells(cells),
        if *count > cells.len() { ", …" } else { "" }, plural(*count, "it", "them")
    )]
    MissingCells {
        path: String,
        count: usize,
        /// The first few, in file order.
        cells: Vec<CellPlace>,
    },
    /// The same where rows cannot be left out.
    #[error(
        "{path} has {count} missing {}: {}{}; fill {} in",
        plural(*count, "cell", "cells"), Cells(cells),
        if *count > cells.len() { ", …" } else { "" }, plural(*count, "it", "them")
    )]
    Incomplete {
        path: String,
        count: usize,
        /// The first few, in file order.
        cells: Vec<CellPlace>,
    },
    /// An option names a column that the table does not have.
    #[error("{path} has no column `{column}` ({option}){}", suggestion(closest, columns))]
    NoSuchColumn {
        path: String,
        column: String,
        option: &'static str,
        closest: Option<String>,
        columns: Vec<String>,
    },
    /// The columns of a table are not the features of the model.
    #[error(
        "{path} differs from {dictionary} in its features: {}",
        differences(dictionary, unknown, missing)
    )]
    OtherFeatures {
        path: String,
        /// The file of the model.
        dictionary: String,
        unknown: Vec<String>,
        missing: Vec<String>,
    },
    /// Two options want the same column for different things.
    #[error("column `{column}` of {path} is named by both {first} and {second}: name it once")]
    ColumnUsedTwice { path: String, column: String, first: &'static str, second: &'static str },
    /// An option needs named columns, but the file is a bare matrix.
    #[error("{option} does not apply to {path}: {why}")]
    OptionDoesNotApply { option: &'static str, path: String, why: &'static str },
    /// Group labels or names do not match the matrix in number.
    #[error(
        "{path} has {found} {what}, but {data} has {expected} {axis}: {}",
        if *turned { "it seems to have its samples in columns; turn it around with `--transpose`" } else { "give exactly one for each" }
    )]
    WrongCount {
        path: String,
        what: &'static str,
        found: usize,
        data: String,
        expected: usize,
        axis: &'static str,
        /// Whether the numbers fit if the matrix is turned around.
        turned: bool,
    },
    /// An archive does not hold the array asked for, or holds several and none was asked for.
    #[error("{path} {what}; it holds {}: name one as `{path}:ARRAY`", Names(arrays))]
    WhichArray { path: String, what: String, arrays: Vec<String> },
    /// No column is left that could be a feature.
    #[error(
        "{path} has no feature left: every column is dropped or used as a group; keep at least one numeric column"
    )]
    NoFeatures { path: String },
    /// The text options leave no term.
    #[error("no terms remain from the {documents} documents of {path}: {fix}")]
    NoTerms { path: String, documents: usize, fix: &'static str },
    /// A text option makes no sense.
    #[error("{option}: {what}")]
    BadOption { option: &'static str, what: String },
}

impl InputError {
    /// The kind, for programs: `not-found`, say.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not-found",
            Self::Io { .. } => "io",
            Self::Damaged { .. } => "damaged",
            Self::Changed { .. } => "changed",
            Self::Stopped { .. } => "stopped",
            Self::NoCache { .. } => "no-cache",
            Self::NoSpool { .. } => "no-spool",
            Self::TooLarge { .. } => "too-large",
            Self::NoMemory { .. } => "no-memory",
            Self::UnknownFormat { .. } => "unknown-format",
            Self::FeatureOff { .. } => "feature-off",
            Self::Unsupported { .. } => "unsupported",
            Self::Empty { .. } => "no-data",
            Self::DuplicateColumn { .. } => "duplicate-column",
            Self::RaggedRow { .. } => "ragged-row",
            Self::BadLine { .. } => "bad-line",
            Self::NonNumericColumns { .. } => "non-numeric-columns",
            Self::WhichDecimal { .. } => "which-decimal",
            Self::TextCell { .. } => "text-cell",
            Self::MissingCells { .. } | Self::Incomplete { .. } => "missing-cells",
            Self::NoSuchColumn { .. } => "no-such-column",
            Self::OtherFeatures { .. } => "other-features",
            Self::ColumnUsedTwice { .. } => "column-used-twice",
            Self::OptionDoesNotApply { .. } => "option-does-not-apply",
            Self::WrongCount { .. } => "wrong-count",
            Self::WhichArray { .. } => "which-array",
            Self::NoFeatures { .. } => "no-features",
            Self::NoTerms { .. } => "no-terms",
            Self::BadOption { .. } => "bad-option",
        }
    }
}

/// A cell of a table: where it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPlace {
    /// Line in the file, counting from 1 (the header is line 1).
    pub line: u64,
    /// Name of the column.
    pub column: String,
}

impl InputError {
    /// Turns an error of the operating system into one that names the file.
    pub fn io(path: &str, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::NotFound => InputError::NotFound { path: path.into() },
            _ => InputError::Io { path: path.into(), source },
        }
    }

    /// The file ends too early or does not hold what its format promises.
    pub fn damaged(path: &str, what: impl fmt::Display) -> Self {
        InputError::Damaged { path: path.into(), what: what.to_string() }
    }

    /// The same for a file whose rows are not those of the data: none of them can be left out.
    pub(crate) fn of_all_rows(self) -> Self {
        match self {
            Self::MissingCells { path, count, cells } => Self::Incomplete { path, count, cells },
            other => other,
        }
    }

    /// This build cannot read Parquet.
    #[cfg(not(feature = "parquet"))]
    pub(crate) fn parquet_is_off(path: &str) -> Self {
        InputError::FeatureOff { path: path.into(), format: "Parquet", feature: "parquet" }
    }

    pub(crate) fn no_such_column(
        path: &str,
        column: &str,
        option: &'static str,
        columns: &[String],
    ) -> Self {
        InputError::NoSuchColumn {
            path: path.into(),
            column: column.into(),
            option,
            closest: closest(column, columns),
            columns: columns.to_vec(),
        }
    }
}

/// The name nearest to `name`, if it is near enough to be a slip of the finger.
pub fn closest(name: &str, names: &[String]) -> Option<String> {
    let wanted = name.to_lowercase();
    // Comparing takes the product of both lengths, in time and in memory.
    const LONGEST: usize = 200;
    let near = names.iter().filter(|candidate| candidate.len() <= LONGEST);
    near.filter(|_| name.len() <= LONGEST)
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            (strsim::damerau_levenshtein(&wanted, &lower), candidate)
        })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count();
            // Two names with no letter in common are as far apart as the longer one is long.
            *distance <= 1.max(length / 2) && *distance < length.max(wanted.chars().count())
        })
        .map(|(_, candidate)| candidate.clone())
}

fn suggestion(closest: &Option<String>, columns: &[String]) -> String {
    match closest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; its columns are {}", Names(columns)),
    }
}

fn differences(dictionary: &str, unknown: &[String], missing: &[String]) -> String {
    let mut parts = Vec::new();
    if !missing.is_empty() {
        let verb = plural(missing.len(), "is", "are");
        parts.push(format!("{} {verb} missing", Names(missing)));
    }
    if !unknown.is_empty() {
        let verb = plural(unknown.len(), "is", "are");
        let them = plural(unknown.len(), "it", "them");
        parts.push(format!(
            "{} {verb} not in {dictionary}: leave {them} out with `{}`",
            Names(unknown),
            typed("--drop", unknown)
        ));
    }
    parts.join("; ")
}

/// What to do with columns that are not numeric, without a look at their values.
fn blind_advice(columns: &[String]) -> String {
    let them = plural(columns.len(), "it", "them");
    format!(
        "leave {them} out with `{}` or turn {them} into 0/1 columns with `{}`",
        typed("--drop", columns),
        typed("--one-hot", columns)
    )
}

fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// Names in backticks, at most ten of them.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().take(10).enumerate() {
            write!(f, "{}`{name}`", if i == 0 { "" } else { ", " })?;
        }
        match self.0.len().saturating_sub(10) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

struct Cells<'a>(&'a [CellPlace]);

impl fmt::Display for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cell) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}line {} column `{}`", cell.line, cell.column)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_neighbour_and_a_strange_one_does_not() {
        let names = ["age", "sex", "chol"].map(String::from);
        assert_eq!(closest("Sex", &names).as_deref(), Some("sex"));
        assert_eq!(closest("chlo", &names).as_deref(), Some("chol"));
        assert_eq!(closest("postcode", &names), None);
        assert_eq!(closest("g", &["x".into(), "y".into()]), None);
        assert_eq!(closest("gg", &["x".into(), "g".into()]).as_deref(), Some("g"));
        assert_eq!(closest("G", &["x".into(), "g".into()]).as_deref(), Some("g"));
    }

    #[test]
    fn non_numeric_columns_are_one_sentence() {
        let error = InputError::NonNumericColumns {
            path: "a.csv".into(),
            columns: vec!["city".into(), "name".into()],
            line: 2,
            value: "Rome".into(),
            advice: None,
        };
        assert_eq!(
            error.to_string(),
            "a.csv has columns that are not numeric: `city`, `name` (line 2 of `city` holds `Rome`); leave them out with `--drop city,name` or turn them into 0/1 columns with `--one-hot city,name`"
        );
    }
}
