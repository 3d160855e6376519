//! One look at every entry of a matrix: what is zero, missing, or nothing that NMF can take.

use fairer_nmf_io::{DenseView, Matrix};

/// Everything that one look at the entries tells.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) nonzeros: usize,
    /// Entries of a matrix without a value, and the first of them: row, column.
    pub(super) nan: usize,
    pub(super) first_nan: Option<(usize, usize)>,
    /// Other entries that NMF cannot take, and the first of them: row, column, value.
    pub(super) bad: usize,
    pub(super) first_bad: Option<(usize, usize, f64)>,
    pub(super) row_used: Vec<bool>,
    pub(super) column_used: Vec<bool>,
}

impl Entries {
    pub(super) fn of(matrix: &Matrix) -> Self {
        let (rows, columns) = matrix.shape();
        let mut found = Self {
            row_used: vec![false; rows],
            column_used: vec![false; columns],
            ..Self::default()
        };
        match matrix {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => {
                    view.indexed_iter().for_each(|((i, j), &v)| found.entry(i, j, v));
                }
                DenseView::F32(view) => {
                    view.indexed_iter().for_each(|((i, j), &v)| found.entry(i, j, f64::from(v)));
                }
            },
            Matrix::Sparse(sparse) => {
                for row in 0..sparse.rows {
                    let (columns, values) = sparse.row(row);
                    for (&j, &value) in columns.iter().zip(values) {
                        found.entry(row, j as usize, value);
                    }
                }
            }
        }
        found
    }

    fn entry(&mut self, row: usize, column: usize, value: f64) {
        if value == 0.0 {
            return;
        }
        self.nonzeros += 1;
        self.row_used[row] = true;
        self.column_used[column] = true;
        if value.is_nan() {
            self.nan += 1;
            self.first_nan.get_or_insert((row, column));
        } else if value < 0.0 || value.is_infinite() {
            self.bad += 1;
            self.first_bad.get_or_insert((row, column, value));
        }
    }
}
