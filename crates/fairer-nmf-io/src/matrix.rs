//! Plain matrices: what every reader delivers.

use memmap2::Mmap;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

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
    pub(crate) fn transposed(&self) -> Matrix {
        match self {
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
                Matrix::Sparse(SparseMatrix::from_entries(sparse.cols, sparse.rows, &entries))
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

/// A dense matrix, in memory or in a mapped file.
#[derive(Debug)]
pub enum DenseMatrix {
    /// 64-bit floats in memory.
    F64(Array2<f64>),
    /// 32-bit floats in memory.
    F32(Array2<f32>),
    /// A `.npy` file, read where it lies.
    Mapped(MappedNpy),
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
            DenseMatrix::Mapped(mapped) => (mapped.rows, mapped.cols),
        }
    }

    /// The matrix as a view, without a copy.
    pub fn view(&self) -> DenseView<'_> {
        match self {
            DenseMatrix::F64(array) => DenseView::F64(array.view()),
            DenseMatrix::F32(array) => DenseView::F32(array.view()),
            DenseMatrix::Mapped(mapped) => mapped.view(),
        }
    }
}

/// A memory-mapped `.npy` file of little-endian `f32` or `f64`, in C or Fortran order.
///
/// The file must not be changed while it is mapped.
#[derive(Debug)]
pub struct MappedNpy {
    map: Mmap,
    /// Where the numbers begin.
    offset: usize,
    rows: usize,
    cols: usize,
    fortran: bool,
    double: bool,
}

impl MappedNpy {
    /// Takes a mapped file if its numbers are all there and aligned; else gives the map back.
    pub(crate) fn new(
        map: Mmap,
        offset: usize,
        (rows, cols): (usize, usize),
        fortran: bool,
        double: bool,
    ) -> Result<MappedNpy, Mmap> {
        let width = if double { 8 } else { 4 };
        let end = rows
            .checked_mul(cols)
            .and_then(|n| n.checked_mul(width))
            .and_then(|n| n.checked_add(offset));
        let aligned = (map.as_ptr() as usize + offset).is_multiple_of(width);
        if cfg!(target_endian = "big") || !aligned || end.is_none_or(|end| end > map.len()) {
            return Err(map);
        }
        Ok(MappedNpy { map, offset, rows, cols, fortran, double })
    }

    /// The numbers where they lie in the file.
    pub fn view(&self) -> DenseView<'_> {
        if self.double { DenseView::F64(self.typed()) } else { DenseView::F32(self.typed()) }
    }

    fn typed<T: bytemuck::Pod>(&self) -> ArrayView2<'_, T> {
        let bytes = self.rows * self.cols * size_of::<T>();
        let numbers = bytemuck::cast_slice(&self.map[self.offset..self.offset + bytes]);
        ArrayView2::from_shape((self.rows, self.cols).set_f(self.fortran), numbers)
            .expect("new() checked that the numbers fill the shape")
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
    pub(crate) fn from_entries(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> Self {
        let mut starts = vec![0; rows + 1];
        for &(row, _, _) in entries {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0.0); entries.len()];
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
        matrix
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_summed_and_columns_sorted() {
        let entries = [(1, 2, 1.0), (0, 1, 5.0), (1, 0, 2.0), (1, 2, 3.0)];
        let matrix = SparseMatrix::from_entries(3, 3, &entries);
        assert_eq!(matrix.indptr, [0, 1, 3, 3]);
        assert_eq!(matrix.indices, [1, 0, 2]);
        assert_eq!(matrix.values, [5.0, 2.0, 4.0]);
        assert_eq!(matrix.row(2), (&[][..], &[][..]));
    }

    #[test]
    fn equal_columns_of_neighbouring_rows_stay_apart() {
        let matrix = SparseMatrix::from_entries(2, 1, &[(0, 0, 1.0), (1, 0, 2.0)]);
        assert_eq!(matrix.values, [1.0, 2.0]);
    }
}
