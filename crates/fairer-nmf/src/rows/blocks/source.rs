//! Where blocks of rows come from: a file, shards, anything that can be read again and again.

use crate::data::{Csr, Indices};
use crate::number::Number;
use crate::{Error, Matrix, Result};
use ndarray::ArrayView2;

/// A matrix that is read block by block, always in the same blocks.
pub trait BlockSource<T>: Send + Sync {
    /// Number of features n.
    fn features(&self) -> usize;
    /// The number of rows of every block, in the order of the rows; none is empty.
    fn block_rows(&self) -> &[usize];
    /// Bytes of the largest block, which the budget of a fit has to hold.
    fn block_bytes(&self) -> usize {
        let largest = self.block_rows().iter().max().copied().unwrap_or_default();
        largest * self.features() * size_of::<T>()
    }
    /// Reads a block into a buffer that may hold another one. Whoever reads all of them does so in order, the first time at least.
    ///
    /// # Errors
    /// The block cannot be read, or is not what it was: one sentence for the user.
    fn read(&self, block: usize, into: &mut Block<T>) -> Result<()>;
    /// An entry of the data in the user's words.
    fn describe(&self, row: usize, column: usize) -> String {
        format!("the entry at row {row}, column {column}")
    }
}

impl<T, S: BlockSource<T>> BlockSource<T> for std::sync::Arc<S> {
    fn features(&self) -> usize {
        (**self).features()
    }
    fn block_rows(&self) -> &[usize] {
        (**self).block_rows()
    }
    fn block_bytes(&self) -> usize {
        (**self).block_bytes()
    }
    fn read(&self, block: usize, into: &mut Block<T>) -> Result<()> {
        (**self).read(block, into)
    }
    fn describe(&self, row: usize, column: usize) -> String {
        (**self).describe(row, column)
    }
}

/// A block of rows: dense, or compressed sparse rows where `starts` is not empty.
#[derive(Clone, Debug, Default)]
pub struct Block<T> {
    /// The entries row after row; of sparse rows those that are stored.
    pub values: Vec<T>,
    /// Of sparse rows where each begins in `values`, and where the last ends.
    pub starts: Vec<usize>,
    /// Of sparse rows the column of every stored entry.
    pub columns: Vec<i32>,
}

/// Entries that are looked at together.
const AT_ONCE: usize = 4096;

impl<T: Number> Block<T> {
    pub(super) fn is_sparse(&self) -> bool {
        !self.starts.is_empty()
    }

    /// The block as a matrix; [`Block::check`] has found that it is one.
    pub(super) fn matrix(&self, rows: usize, features: usize) -> Matrix<'_, T> {
        if self.is_sparse() {
            return Matrix::Sparse(Csr {
                columns: features,
                starts: self.starts.clone(),
                indices: Indices::I32(&self.columns),
                values: &self.values,
            });
        }
        let view = ArrayView2::from_shape((rows, features), &self.values);
        Matrix::Dense(view.expect("`check` has counted the entries"))
    }

    /// Whether this is a block of so many rows with entries that are finite and not negative. That no
    /// column comes twice in a row is not looked for again where it is `known`.
    pub(super) fn check(
        &self,
        first_row: usize,
        rows: usize,
        features: usize,
        known: bool,
    ) -> Result<()> {
        let found = if self.is_sparse() { self.starts.len() - 1 } else { rows };
        if found != rows || (!self.is_sparse() && self.values.len() != rows * features) {
            let reason = format!("the rows from {first_row} on are not the {rows} expected");
            return Err(Error::Rows { reason });
        }
        if self.is_sparse() && known {
            let rising = self.starts.windows(2).all(|pair| pair[0] <= pair[1]);
            let within = |all: bool, c: &i32| all & ((*c as usize) < features);
            let ends =
                self.starts.first() == Some(&0) && self.starts.last() == Some(&self.values.len());
            let alike = self.columns.len() == self.values.len();
            if !(rising && ends && alike && self.columns.iter().fold(true, within)) {
                let reason = format!(
                    "the rows from {first_row} on are not what they were: the data must not change until the fit ends"
                );
                return Err(Error::Rows { reason });
            }
        } else if self.is_sparse() {
            Csr::new(features, &self.starts, Indices::I32(&self.columns), &self.values)?;
        }
        let good = |v: &T| (0.0..=f64::MAX).contains(&v.to_f64());
        for (part, values) in self.values.chunks(AT_ONCE).enumerate() {
            // Without a branch first, so that it runs at the speed of memory.
            if values.iter().fold(true, |all, v| all & good(v)) {
                continue;
            }
            let at = values.iter().position(|v| !good(v)).unwrap_or_default();
            let (value, at) = (values[at].to_f64(), part * AT_ONCE + at);
            let (row, column) = match self.is_sparse() {
                false => (at / features, at % features),
                true => (self.starts.partition_point(|&s| s <= at) - 1, self.columns[at] as usize),
            };
            return Err(Error::BadEntry { row: first_row + row, column, value });
        }
        Ok(())
    }
}
