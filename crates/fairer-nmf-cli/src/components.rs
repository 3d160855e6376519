//! Dictionaries from elsewhere: `H.npy` or `H.csv`.

use ndarray::Array2;

use crate::failure::Failure;
use crate::features::align;
use crate::input::{self, Dataset, DenseView, Matrix, Precision, ReadOptions};

/// A negative entry that is smaller than this part of the largest may come from rounding.
const ROUNDING: f64 = 1e-6;

/// A dictionary (r×n) that we did not fit.
pub(crate) struct Components {
    /// H as stored; its orientation is settled by [`Components::fitted_to`].
    matrix: Array2<f64>,
    /// The header of a CSV.
    names: Option<Vec<String>>,
    path: String,
}

impl Components {
    /// Reads `.npy`, `.npz`, `.mtx`, or a table whose header holds the names of the features.
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let options = ReadOptions { precision: Precision::F64, ..ReadOptions::default() };
        let dataset = input::read(path, &options)?;
        let matrix = match &dataset.matrix {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => view.to_owned(),
                DenseView::F32(view) => view.mapv(f64::from),
            },
            Matrix::Sparse(sparse) => {
                let mut full = Array2::zeros((sparse.rows, sparse.cols));
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
        Ok(Self { matrix, names, path: path.to_owned() })
    }

    /// The dictionary with topics in its rows, and the columns of the data in its order; also
    /// whether it had to be turned around.
    pub(crate) fn fitted_to(self, dataset: &mut Dataset) -> Result<(Array2<f64>, bool), Failure> {
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
