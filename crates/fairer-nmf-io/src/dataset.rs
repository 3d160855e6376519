//! A matrix with the names of its columns, the groups of its rows, and where it came from.

use fairer_nmf::Note;
use serde::{Deserialize, Serialize};

use super::matrix::Matrix;
use super::places::Places;
use super::recipe::{Preparation, TableRecipe};
use super::text::TextOptions;

/// What a file holds once it is read: a matrix, its names, its groups.
#[derive(Debug)]
pub struct Dataset {
    /// One sample per row.
    pub matrix: Matrix,
    /// One name per column.
    pub features: Vec<String>,
    /// The group label of each row.
    pub labels: Option<Vec<String>>,
    /// Families of groups, each with the label of every row; then there are no other labels.
    pub families: Vec<(String, Vec<String>)>,
    /// Groups that may have rows in common, each with its members; then there are no other labels.
    pub members: Vec<(String, Vec<bool>)>,
    /// Whether cells without a value, which are NaN, are to be taken as unobserved.
    pub unobserved: bool,
    /// The weight of each row, where rows have weights.
    pub weights: Option<Vec<f64>>,
    /// Entries that are zero in f32 and are not in the file, where it was read so.
    pub vanished: usize,
    /// What the user should know, such as rows left out for missing cells.
    pub notes: Vec<Note>,
    /// How new documents become the same features, where the features are terms.
    pub recipe: Option<TextOptions>,
    /// How another table becomes the same features, where the data came from a table.
    pub table: Option<TableRecipe>,
    /// Rows that were left out because of missing cells, by group; empty where none were, or where
    /// the groups are not known.
    pub left_out: Vec<LeftOut>,
    /// The column that says what the rows of the file are called, those left out included, where it
    /// was asked for.
    pub ids: Option<(String, Vec<String>)>,
    /// Rows that were left out.
    pub(crate) rows_left_out: usize,
    /// The groups of the rows that were left out, until they are counted.
    pub(crate) lost_labels: Vec<String>,
    /// The same for families of groups.
    pub(crate) lost_families: Vec<(String, Vec<String>)>,
    /// Columns of the table that became one 0/1 column a value.
    pub(crate) one_hot: Vec<String>,
    /// What a first column without a name holds, where it was taken for an index.
    pub(crate) index: Option<Vec<String>>,
    pub(crate) origin: Origin,
}

/// How many rows of a group were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The group.
    pub group: String,
    /// How many of its rows were left out.
    pub rows: usize,
    /// How many rows it has in the file.
    pub of: usize,
}

/// Where the rows of a data set came from.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) path: String,
    pub(crate) rows: RowOrigin,
}

#[derive(Debug)]
pub(crate) enum RowOrigin {
    /// Lines of a table that has `records` records, some of which may have been left out.
    Lines { places: Places, records: usize },
    /// Records of a table in a format without lines (Parquet).
    Records { places: Places, records: usize },
    /// Rows of a matrix that has `records` rows in its file, some of which may have been left out.
    Rows { places: Places, records: usize },
    /// Documents, each a file.
    Documents(Vec<String>),
}

impl Dataset {
    /// A matrix read from a file without names, so many of its entries too small for f32: features are f0, f1, …
    pub(crate) fn from_matrix(path: &str, (matrix, vanished): (Matrix, usize)) -> Dataset {
        let (records, columns) = matrix.shape();
        let features = (0..columns).map(|col| format!("f{col}")).collect();
        let mut places = Places::default();
        places.push(0, 0, 0);
        let origin = Origin { path: path.into(), rows: RowOrigin::Rows { places, records } };
        Dataset { features, vanished, ..Dataset::bare(matrix, origin) }
    }

    /// A matrix and where it came from, nothing else.
    pub(crate) fn bare(matrix: Matrix, origin: Origin) -> Dataset {
        Dataset {
            matrix,
            features: Vec::new(),
            labels: None,
            families: Vec::new(),
            members: Vec::new(),
            unobserved: false,
            weights: None,
            vanished: 0,
            notes: Vec::new(),
            recipe: None,
            table: None,
            left_out: Vec::new(),
            ids: None,
            rows_left_out: 0,
            lost_labels: Vec::new(),
            lost_families: Vec::new(),
            one_hot: Vec::new(),
            index: None,
            origin,
        }
    }

    /// Where an entry of the matrix stands in the input, in the user's terms:
    /// file, line (the header is line 1) and column name, or row and column counted from 0.
    pub fn describe_cell(&self, row: usize, col: usize) -> String {
        let path = &self.origin.path;
        let feature = self.features.get(col).map_or("?", String::as_str);
        match &self.origin.rows {
            RowOrigin::Lines { places, .. } => {
                let line = places.find(row).map_or(0, |(_, line)| line);
                format!("{path}, line {line}, column `{feature}`")
            }
            RowOrigin::Records { places, .. } => {
                let record = places.find(row).map_or(row, |(record, _)| record);
                format!("{path}, row {record} (counting from 0), column `{feature}`")
            }
            RowOrigin::Rows { .. } => {
                let row = self.record(row);
                let place = format!("{path}, row {row}, column {col} (counting from 0)");
                match feature == format!("f{col}") {
                    true => place,
                    false => format!("{place}, `{feature}`"),
                }
            }
            RowOrigin::Documents(names) => {
                let name = names.get(row).map_or("?", String::as_str);
                format!("{path}, document {name}, term `{feature}`")
            }
        }
    }

    /// Whether the features have names of their own, rather than f0, f1, …
    pub fn is_named(&self) -> bool {
        let counted = |(col, name): (usize, &String)| *name == format!("f{col}");
        !matches!(self.origin.rows, RowOrigin::Rows { .. })
            || !self.features.iter().enumerate().all(counted)
    }

    /// Whether the data came from a table with named columns.
    pub fn is_table(&self) -> bool {
        matches!(self.origin.rows, RowOrigin::Lines { .. } | RowOrigin::Records { .. })
    }

    /// The input as the user called it.
    pub fn path(&self) -> &str {
        &self.origin.path
    }

    /// How many records the file has, counting those that were left out.
    pub fn records(&self) -> usize {
        match &self.origin.rows {
            RowOrigin::Lines { records, .. }
            | RowOrigin::Records { records, .. }
            | RowOrigin::Rows { records, .. } => *records,
            RowOrigin::Documents(_) => self.matrix.shape().0,
        }
    }

    /// What the records of the file are called, and what that is: the column of ids, the files of
    /// documents, or numbers from 1.
    pub fn row_names(&self) -> (String, Vec<String>) {
        match (&self.ids, &self.origin.rows) {
            (Some((name, ids)), _) => (name.clone(), ids.clone()),
            (None, RowOrigin::Documents(names)) => ("document".to_owned(), names.clone()),
            (None, _) => ("row".to_owned(), (1..=self.records()).map(|r| r.to_string()).collect()),
        }
    }

    /// Which record of the file a row is, counting from 0.
    pub fn record(&self, row: usize) -> usize {
        match &self.origin.rows {
            RowOrigin::Lines { places, .. }
            | RowOrigin::Records { places, .. }
            | RowOrigin::Rows { places, .. } => places.find(row).map_or(row, |(record, _)| record),
            RowOrigin::Documents(_) => row,
        }
    }
}

/// What a model of this data has to keep for new data.
#[inline]
pub fn keep_recipe(dataset: &Dataset) -> Option<String> {
    let kept = Preparation { text: dataset.recipe.clone(), table: dataset.table.clone() };
    let anything = kept.text.is_some() || kept.table.is_some();
    anything.then(|| kept.to_json())
}
