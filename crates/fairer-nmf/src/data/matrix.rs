//! A matrix of somebody else, dense or sparse.

use super::Csr;
use crate::number::Number;
use ndarray::ArrayView2;

/// A borrowed m×n matrix.
#[derive(Clone, Debug)]
pub enum Matrix<'a, T> {
    /// Dense, with any strides: row-major, column-major or a slice of either.
    Dense(ArrayView2<'a, T>),
    /// Compressed sparse rows.
    Sparse(Csr<'a, T>),
}

impl<'a, T> From<ArrayView2<'a, T>> for Matrix<'a, T> {
    fn from(view: ArrayView2<'a, T>) -> Self {
        Self::Dense(view)
    }
}

impl<'a, T> From<Csr<'a, T>> for Matrix<'a, T> {
    fn from(csr: Csr<'a, T>) -> Self {
        Self::Sparse(csr)
    }
}

impl<T: Number> Matrix<'_, T> {
    /// Number of rows m.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.rows(),
        }
    }

    /// Number of columns n.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.columns,
        }
    }

    /// Calls `visit(column, value)` for every stored entry of a row.
    pub(crate) fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, T)) {
        match self {
            Self::Dense(x) => x.row(row).iter().enumerate().for_each(|(j, &v)| visit(j, v)),
            Self::Sparse(x) => x.for_each_in_row(row, visit),
        }
    }
}
