//! Everything that can go wrong, with what a user needs to act on it.

use std::path::PathBuf;

/// An error of this library: what was wrong, where, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An entry of the data is negative, NaN or infinite.
    #[error(
        "entry at row {row}, column {column} is {value}: entries must be finite and not negative"
    )]
    BadEntry {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// There is not one label per row.
    #[error("{labels} group labels for {rows} rows: give one label per row")]
    LabelCount {
        /// Number of labels given.
        labels: usize,
        /// Number of rows of the data.
        rows: usize,
    },
    /// A group was named, but no row belongs to it.
    #[error("group '{group}' has no rows: leave it out or check its labels")]
    EmptyGroup {
        /// Name of the group.
        group: String,
    },
    /// All rows of a group have weight zero.
    #[error(
        "all rows of group '{group}' have weight zero: leave the group out or mend its weights"
    )]
    ZeroWeights {
        /// Name of the group.
        group: String,
    },
    /// All entries of data without groups are zero.
    #[error("all entries are zero: there is nothing to factorise")]
    ZeroData,
    /// All entries of a group are zero, so no relative loss exists for it.
    #[error(
        "all entries of group '{group}' are zero, so its relative loss is undefined: leave the group out"
    )]
    ZeroGroup {
        /// Name of the group.
        group: String,
    },
    /// The entries of a group are too large to be squared.
    #[error(
        "the entries of group '{group}' are so large that the sum of their squares overflows: divide the data by a constant"
    )]
    Overflow {
        /// Name of the group.
        group: String,
    },
    /// The entries of a group are too small to be squared.
    #[error(
        "the entries of group '{group}' are so small that their squares vanish: multiply the data by a constant"
    )]
    Underflow {
        /// Name of the group.
        group: String,
    },
    /// A result is not a finite number.
    #[error(
        "the fit ended in numbers that are not finite ({what}): divide the data by a constant near its largest entry, or use 64-bit numbers"
    )]
    NotFinite {
        /// Which result.
        what: &'static str,
    },
    /// Whoever holds the rows cannot reach them any more.
    #[error("{reason}")]
    Rows {
        /// Which rows, why, and what to do.
        reason: String,
    },
    /// A checkpoint cannot be gone on from.
    #[error("checkpoint {path}: {reason}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// Stored statistics cannot be used.
    #[error("stored statistics: {reason}")]
    Statistics {
        /// What is wrong with them.
        reason: String,
    },
    /// The matrix has no rows or no columns.
    #[error("the matrix is {rows} x {columns}: at least one row and one column are needed")]
    EmptyMatrix {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A parameter is outside its range.
    #[error("{name} is {value}: {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Something has another shape than the data or the model asks for.
    #[error("{what} is {found_rows} x {found_columns}, expected {rows} x {columns}")]
    Shape {
        /// What has the wrong shape.
        what: &'static str,
        /// Rows found.
        found_rows: usize,
        /// Columns found.
        found_columns: usize,
        /// Rows expected.
        rows: usize,
        /// Columns expected.
        columns: usize,
    },
    /// New data has another number of features than the model was fitted on.
    #[error(
        "the data has {found} features, the model has {expected}: give the columns the model was fitted on"
    )]
    FeatureCount {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// A sparse matrix contradicts itself.
    #[error("malformed sparse matrix: {reason}")]
    Sparse {
        /// What is inconsistent, and where.
        reason: String,
    },
    /// Given baselines do not fit the groups.
    #[error("baseline errors: {reason}")]
    Baseline {
        /// What is wrong with which group.
        reason: String,
    },
    /// A model file cannot be used.
    #[error("{path}: {reason}")]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// Something that needs every cell meets unobserved ones.
    #[error(
        "{what} needs every cell, and some are unobserved: leave out rows with gaps, or leave it out"
    )]
    Unobserved {
        /// What.
        what: &'static str,
    },
    /// The observer asked to stop before there was a result.
    #[error("stopped before there was a result")]
    Stopped,
    /// The stored bytes of a model cannot be used.
    #[error("stored model: {reason}")]
    ModelBytes {
        /// What is wrong with them and what to do.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// `Result` with this library's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
