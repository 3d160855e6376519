//! Rows of a matrix with entries that have no value: NaN, as NumPy and pandas write them.
//!
//! Only where such rows are to be left out: else the library, which looks at every entry, refuses
//! the first of them, and a mapped file is not read twice.

use fairer_nmf::data::split_unobserved;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use super::dataset::{Dataset, RowOrigin};
use super::error::InputError;
use super::matrix::{DenseMatrix, DenseView, Matrix, SparseMatrix};
use super::places::Places;

/// Leaves the rows with NaN out of a matrix; tables have done that while they were read.
pub(crate) fn drop_rows(dataset: &mut Dataset) -> Result<(), InputError> {
    let RowOrigin::Rows { places, records } = &mut dataset.origin.rows else { return Ok(()) };
    let kept = complete(&dataset.matrix);
    if kept.len() == *records {
        return Ok(());
    }
    if kept.is_empty() {
        let path = dataset.origin.path.clone();
        return Err(InputError::Empty { path, what: all_incomplete(*records) });
    }
    *places = Places::default();
    for (row, &record) in kept.iter().enumerate() {
        places.push(row, record, record as u64);
    }
    dataset.rows_left_out = *records - kept.len();
    dataset.matrix = picked(&dataset.matrix, &kept);
    Ok(())
}

/// Says that NaN is to be taken as unobserved; a sparse matrix stores no such cells.
pub(crate) fn unobserved(dataset: &mut Dataset) -> Result<(), InputError> {
    let sparse = matches!(dataset.matrix, Matrix::Sparse(_));
    if sparse {
        return Err(InputError::BadOption {
            option: "--missing unobserved",
            what: "a sparse matrix or documents have no cells without a value: leave it out".into(),
        });
    }
    dataset.unobserved = true;
    Ok(())
}

/// Takes NaN out of a matrix: which cells they were; they are zero then. None where there are none.
pub(crate) fn take_gaps(dataset: &mut Dataset) -> Option<Array2<bool>> {
    let (matrix, mask) = match &dataset.matrix {
        Matrix::Dense(dense) => match dense.view() {
            DenseView::F64(view) => {
                let (matrix, mask) = split_unobserved(view);
                (DenseMatrix::F64(matrix), mask)
            }
            DenseView::F32(view) => {
                let (matrix, mask) = split_unobserved(view);
                (DenseMatrix::F32(matrix), mask)
            }
        },
        Matrix::Sparse(_) => return None,
    };
    if mask.iter().any(|gap| *gap) {
        dataset.matrix = Matrix::Dense(matrix);
        return Some(mask);
    }
    None
}

/// Why nothing is left.
pub(crate) fn all_incomplete(rows: usize) -> String {
    format!("each of the {rows} rows has missing cells")
}

/// Texts that always mean "no value", without regard to case: those of R, NumPy, pandas and SQL,
/// of German forms, and the errors of Excel.
const NONE: [&str; 26] = [
    "na",
    "n/a",
    "nan",
    "-nan",
    "null",
    "<na>",
    "nat",
    "n.a.",
    "n. a.",
    "k.a.",
    "k. a.",
    "keine angabe",
    "#n/a",
    "#n/a n/a",
    "#nv",
    "#div/0!",
    "#value!",
    "#wert!",
    "#ref!",
    "#bezug!",
    "#name?",
    "#num!",
    "#zahl!",
    "#null!",
    "–",
    "—",
];

/// Whether a cell without blanks around it has no value.
pub(crate) fn is_missing(cell: &[u8], more: &[String]) -> bool {
    // All of them are short, and most cells are numbers.
    let one_of = |names: &[&str]| {
        cell.len() <= 12
            && !cell[0].is_ascii_digit()
            && names.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()))
    };
    matches!(cell, b"" | b"?" | b"-")
        || one_of(&NONE)
        || more.iter().any(|name| name.as_bytes() == cell)
}

/// The rows without NaN.
fn complete(matrix: &Matrix) -> Vec<usize> {
    match matrix {
        Matrix::Dense(dense) => match dense.view() {
            DenseView::F64(view) => complete_dense(view),
            DenseView::F32(view) => complete_dense(view),
        },
        Matrix::Sparse(sparse) => {
            let has_nan = |row: &usize| sparse.row(*row).1.iter().any(|v| v.is_nan());
            (0..sparse.rows).filter(|row| !has_nan(row)).collect()
        }
    }
}

fn complete_dense<T: Copy + Into<f64> + Sync>(view: ArrayView2<'_, T>) -> Vec<usize> {
    let has_nan = |row: &usize| view.row(*row).iter().any(|&v| v.into().is_nan());
    (0..view.nrows()).into_par_iter().filter(|row| !has_nan(row)).collect()
}

/// A copy of some rows.
fn picked(matrix: &Matrix, rows: &[usize]) -> Matrix {
    match matrix {
        Matrix::Dense(dense) => Matrix::Dense(match dense.view() {
            DenseView::F64(view) => DenseMatrix::F64(view.select(Axis(0), rows)),
            DenseView::F32(view) => DenseMatrix::F32(view.select(Axis(0), rows)),
        }),
        Matrix::Sparse(sparse) => {
            let mut out = SparseMatrix::empty(rows.len(), sparse.cols, sparse.values.len());
            for &row in rows {
                let (columns, values) = sparse.row(row);
                out.push_row(columns.iter().zip(values).map(|(&j, &v)| (j as u32, v)));
            }
            Matrix::Sparse(out)
        }
    }
}
