//! Dictionaries from elsewhere: `H.npy` or `H.csv`.

use std::collections::HashSet;

use fairer_nmf::Note;
use ndarray::Array2;

use crate::matrix::declares;
use crate::reading::read;
use crate::room::Room;
use crate::{
    Dataset, DenseView, Failure, InputError, InputLimit, Matrix, Precision, ReadOptions, align,
};

/// A negative entry that is smaller than this part of the largest may come from rounding.
const ROUNDING: f64 = 1e-6;

/// A dictionary (r×n) that we did not fit.
pub struct Components {
    /// H as stored; its orientation is settled by [`Components::fitted_to`].
    matrix: Array2<f64>,
    /// The header of a CSV.
    names: Option<Vec<String>>,
    /// The first column of a CSV, where it has no name: the index that pandas writes.
    index: Option<Vec<String>>,
    path: String,
}

impl Components {
    /// Reads `.npy`, `.npz`, `.mtx`, or a table whose header holds the names of the features.
    ///
    /// # Errors
    /// If it cannot be read, or holds entries that no dictionary has.
    pub fn read(path: &str, limit: InputLimit) -> Result<Self, Failure> {
        let options = ReadOptions {
            precision: Precision::F64,
            unnamed_index: true,
            limit,
            ..ReadOptions::default()
        };
        let dataset = read(path, &options).map_err(InputError::of_all_rows)?;
        let matrix = match &dataset.matrix {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => view.to_owned(),
                DenseView::F32(view) => view.mapv(f64::from),
            },
            Matrix::Sparse(sparse) => {
                let stored = std::fs::metadata(path).map_or(0, |about| about.len() as usize);
                let (shape, room) = ((sparse.rows, sparse.cols), Room::new(path, stored, limit));
                let zeros = room.zeros(declares(shape), shape.0, shape.1)?;
                let mut full = Array2::from_shape_vec(shape, zeros).expect("as many zeros");
                for row in 0..sparse.rows {
                    let (columns, values) = sparse.row(row);
                    columns.iter().zip(values).for_each(|(&j, &v)| full[[row, j as usize]] = v);
                }
                full
            }
        };
        let bad = matrix.indexed_iter().find(|(_, v)| !(v.is_finite() && **v >= 0.0));
        if let Some(((row, column), value)) = bad {
            let largest = matrix.iter().copied().fold(0.0, f64::max);
            let advice = match -value <= ROUNDING * largest {
                true => "set tiny negative entries to zero first",
                false => "give one that a non-negative factorisation made",
            };
            return Err(Failure::wrong(format!(
                "{}: {value} is not a number ≥ 0, as entries of a dictionary must be: {advice}",
                dataset.describe_cell(row, column)
            )));
        }
        let names = dataset.is_named().then(|| dataset.features.clone());
        let trimmed = |texts: &Vec<String>| texts.iter().map(|t| t.trim().to_owned()).collect();
        let index = dataset.index.as_ref().map(trimmed);
        Ok(Self { matrix, names, index, path: path.to_owned() })
    }

    /// The terms that it has a column (or a row) for, where it names them: the vocabulary of
    /// documents that are to be read for it.
    pub fn terms(&self) -> Option<Vec<String>> {
        let words = |names: &&Vec<String>| !names.iter().all(|name| name.parse::<f64>().is_ok());
        // Topics may be called as they like; what there are more of are the terms.
        let header = self.names.as_ref().filter(words);
        let index = self.index.as_ref().filter(words);
        match (header, index) {
            (Some(header), Some(index)) if index.len() > header.len() => Some(index.clone()),
            (header, index) => header.or(index).cloned(),
        }
    }

    /// What the user should know about how it was read.
    pub fn note(&self) -> Option<Note> {
        self.index.as_ref()?;
        let sentence = format!(
            "the first column of {} has no name: it was taken for an index, not for numbers",
            self.path
        );
        Some(Note::new("column-as-index", sentence))
    }

    /// The dictionary with topics in its rows, and the columns of the data in its order; also
    /// whether it had to be turned around.
    ///
    /// # Errors
    /// If its features are not those of the data.
    pub fn fitted_to(mut self, dataset: &mut Dataset) -> Result<(Array2<f64>, bool), Failure> {
        let turned = self.index_names_features(dataset);
        if turned {
            self.matrix = self.matrix.reversed_axes();
            self.names = self.index.take();
        } else if self.index.is_some() && self.names.as_deref().is_some_and(is_count) {
            // Beside an index, pandas' numbers are no names: columns go by their order.
            self.names = None;
            let sentence = format!(
                "{} does not name the features: they were taken in the order of {}",
                self.path,
                dataset.path()
            );
            dataset.notes.push(Note::new("features-not-named", sentence));
        }
        let (h, turned_by_shape) = self.by_header(dataset)?;
        Ok((h, turned || turned_by_shape))
    }

    /// Whether the index holds the names of the features, as in a table of features × topics.
    fn index_names_features(&self, dataset: &Dataset) -> bool {
        let Some(index) = self.index.as_ref().filter(|_| dataset.is_named()) else { return false };
        let features: HashSet<&String> = dataset.features.iter().collect();
        let known = |names: &[String]| names.iter().filter(|n| features.contains(n)).count();
        let (rows, columns) = self.matrix.dim();
        let only_way_round = rows == features.len() && columns != features.len();
        let words = !index.iter().all(|text| text.parse::<f64>().is_ok());
        known(index) > self.names.as_deref().map_or(0, known) || only_way_round && words
    }

    /// The same where names, if any, stand in the header.
    fn by_header(self, dataset: &mut Dataset) -> Result<(Array2<f64>, bool), Failure> {
        let (rows, columns) = self.matrix.dim();
        let features = dataset.matrix.shape().1;
        let names_run_along = columns == features || rows != features;
        if let Some(names) = self.names.filter(|_| names_run_along && dataset.is_named()) {
            let is_number = |name: &String| name.parse::<f64>().is_ok();
            let known = |name: &String| dataset.features.contains(name);
            if names.iter().all(is_number) && !names.iter().all(known) {
                return Err(Failure::wrong(format!(
                    "{} has no header, for its first line holds only numbers: put a line with the names of the {features} features before it",
                    self.path
                )));
            }
            align(dataset, &names, &self.path)?;
        }
        if columns == dataset.matrix.shape().1 {
            Ok((self.matrix, false))
        } else if rows == features {
            Ok((self.matrix.reversed_axes(), true))
        } else {
            Err(Failure::wrong(format!(
                "{} is {rows} x {columns}, but {} has {features} features: give a dictionary with one row a topic and {features} columns, or its transpose",
                self.path,
                dataset.path()
            )))
        }
    }
}

/// The 0, 1, 2, … that pandas writes where there are no names.
fn is_count(names: &[String]) -> bool {
    names.iter().enumerate().all(|(i, name)| *name == i.to_string())
}
