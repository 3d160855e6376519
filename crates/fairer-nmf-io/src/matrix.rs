//! Plain matrices: what every reader delivers.

use ndarray::{Array2, ArrayView2};

use super::error::InputError;
use super::room::{InputLimit, Room};

/// A matrix with one sample per row.
#[derive(Debug)]
pub enum Matrix {
    /// Every entry is stored.
    Dense(DenseMatrix),
    /// Only entries that are not zero are stored.
    Sparse(SparseMatrix),
}

impl Matrix {
    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Matrix::Dense(dense) => dense.shape(),
            Matrix::Sparse(sparse) => (sparse.rows, sparse.cols),
        }
    }
}

impl Matrix {
    /// Rows for columns.
    pub(crate) fn transposed(&self) -> Result<Matrix, InputError> {
        Ok(match self {
            Matrix::Dense(dense) => Matrix::Dense(match dense.view() {
                DenseView::F64(view) => {
                    DenseMatrix::F64(view.t().as_standard_layout().into_owned())
                }
                DenseView::F32(view) => {
                    DenseMatrix::F32(view.t().as_standard_layout().into_owned())
                }
            }),
            Matrix::Sparse(sparse) => {
                let rows = (0..sparse.rows).flat_map(|row| {
                    let (columns, values) = sparse.row(row);
                    columns.iter().zip(values).map(move |(&j, &v)| (j as u32, row as u32, v))
                });
                let entries: Vec<(u32, u32, f64)> = rows.collect();
                // No more than what was allowed the other way round.
                let room = Room::new("", 0, InputLimit::bytes(u64::MAX));
                let turned = SparseMatrix::from_entries(room, sparse.cols, sparse.rows, &entries)?;
                Matrix::Sparse(turned)
            }
        })
    }

    /// One entry.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        match self {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => view[[row, column]],
                DenseView::F32(view) => f64::from(view[[row, column]]),
            },
            Matrix::Sparse(sparse) => {
                let (columns, values) = sparse.row(row);
                let found = columns.iter().position(|j| *j as usize == column);
                found.map_or(0.0, |at| values[at])
            }
        }
    }

    /// The sum of squares of every column.
    pub fn column_squares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.shape().1];
        let mut add = |column: usize, value: f64| sums[column] += value * value;
        match self {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => view.indexed_iter().for_each(|((_, j), v)| add(j, *v)),
                DenseView::F32(view) => {
                    view.indexed_iter().for_each(|((_, j), v)| add(j, f64::from(*v)));
                }
            },
            Matrix::Sparse(sparse) => {
                let entries = sparse.indices.iter().zip(&sparse.values);
                entries.for_each(|(j, v)| add(*j as usize, *v));
            }
        }
        sums
    }
}

/// A dense matrix.
#[derive(Debug)]
pub enum DenseMatrix {
    /// 64-bit floats.
    F64(Array2<f64>),
    /// 32-bit floats.
    F32(Array2<f32>),
}

/// A borrowed dense matrix of either number type.
#[derive(Debug, Clone, Copy)]
pub enum DenseView<'a> {
    /// 64-bit floats.
    F64(ArrayView2<'a, f64>),
    /// 32-bit floats.
    F32(ArrayView2<'a, f32>),
}

impl DenseMatrix {
    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            DenseMatrix::F64(array) => array.dim(),
            DenseMatrix::F32(array) => array.dim(),
        }
    }

    /// The matrix as a view, without a copy.
    pub fn view(&self) -> DenseView<'_> {
        match self {
            DenseMatrix::F64(array) => DenseView::F64(array.view()),
            DenseMatrix::F32(array) => DenseView::F32(array.view()),
        }
    }
}

/// A sparse matrix in CSR form: sorted columns, no duplicates.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Where each row begins in `indices` and `values`: `rows + 1` numbers.
    pub indptr: Vec<usize>,
    /// Column of each entry, rising within a row.
    pub indices: Vec<i32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// From entries (row, column, value) in any order; duplicates are added up.
    ///
    /// Every row must be below `rows` and every column below `cols`.
    ///
    /// # Errors
    /// If there are more rows or columns than the room holds.
    pub(crate) fn from_entries(
        room: Room<'_>,
        rows: usize,
        cols: usize,
        entries: &[(u32, u32, f64)],
    ) -> Result<Self, InputError> {
        let shape = || declares((rows, cols));
        // Of every row three starts, of every column a name, whether anything is in it or not.
        room.check(shape(), rows, 3 * size_of::<usize>())?;
        room.check(shape(), cols, 2 * size_of::<String>())?;
        let mut starts: Vec<usize> = room.zeros(shape(), rows + 1, 1)?;
        for &(row, _, _) in entries {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = room.empty(rows + 1)?;
        next.extend_from_slice(&starts);
        let mut sorted = room.empty(entries.len())?;
        sorted.resize(entries.len(), (0, 0.0));
        drop(room.empty::<(usize, i32, f64)>(rows + entries.len())?);
        for &(row, col, value) in entries {
            sorted[next[row as usize]] = (col, value);
            next[row as usize] += 1;
        }
        let mut matrix = SparseMatrix::empty(rows, cols, entries.len());
        for row in 0..rows {
            let entries = &mut sorted[starts[row]..starts[row + 1]];
            // Stable, so that duplicates add up in the order of the file.
            entries.sort_by_key(|&(col, _)| col);
            matrix.push_row(entries.iter().copied());
        }
        Ok(matrix)
    }

    /// No rows yet, room for `capacity` entries; fill with `push_row`.
    pub(crate) fn empty(rows: usize, cols: usize, capacity: usize) -> Self {
        let mut indptr = Vec::with_capacity(rows + 1);
        indptr.push(0);
        SparseMatrix {
            rows,
            cols,
            indptr,
            indices: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
        }
    }

    /// Adds the next row: entries with rising columns; equal columns are added up.
    pub(crate) fn push_row(&mut self, entries: impl Iterator<Item = (u32, f64)>) {
        let start = self.indices.len();
        for (col, value) in entries {
            let col = col as i32;
            match self.values.last_mut() {
                Some(last) if self.indices.len() > start && self.indices.last() == Some(&col) => {
                    *last += value;
                }
                _ => {
                    self.indices.push(col);
                    self.values.push(value);
                }
            }
        }
        self.indptr.push(self.indices.len());
    }

    /// The entries of one row: columns and values.
    pub fn row(&self, row: usize) -> (&[i32], &[f64]) {
        let range = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }
}

/// What a shape says, for messages.
pub(crate) fn declares((rows, columns): (usize, usize)) -> String {
    format!("declares {rows} rows and {columns} columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> SparseMatrix {
        let room = Room::new("t", 100, InputLimit::default());
        SparseMatrix::from_entries(room, rows, cols, entries).expect("small")
    }

    #[test]
    fn duplicates_are_summed_and_columns_sorted() {
        let entries = [(1, 2, 1.0), (0, 1, 5.0), (1, 0, 2.0), (1, 2, 3.0)];
        let matrix = made(3, 3, &entries);
        assert_eq!(matrix.indptr, [0, 1, 3, 3]);
        assert_eq!(matrix.indices, [1, 0, 2]);
        assert_eq!(matrix.values, [5.0, 2.0, 4.0]);
        assert_eq!(matrix.row(2), (&[][..], &[][..]));
    }

    #[test]
    fn equal_columns_of_neighbouring_rows_stay_apart() {
        let matrix = made(2, 1, &[(0, 0, 1.0), (1, 0, 2.0)]);
        assert_eq!(matrix.values, [1.0, 2.0]);
    }
}
