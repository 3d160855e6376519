//! The columns of new data in the order of a dictionary.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2};

use crate::{Dataset, DenseMatrix, DenseView, InputError, Matrix, SparseMatrix};

/// Puts the columns of the data into the order of `names`, those of the file `dictionary`.
///
/// # Errors
/// If they are not the same columns.
pub fn align(dataset: &mut Dataset, names: &[String], dictionary: &str) -> Result<(), InputError> {
    if dataset.features == names {
        return Ok(());
    }
    let place: HashMap<&str, usize> =
        dataset.features.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    // A value that no row of a one-hot column has is a column of zeros.
    let absent_value = |name: &str| {
        dataset.one_hot.iter().any(|column| {
            name.strip_prefix(column.as_str()).is_some_and(|value| value.starts_with('='))
        })
    };
    let from: Vec<Option<usize>> =
        names.iter().map(|name| place.get(name.as_str()).copied()).collect();
    let missing = names.iter().zip(&from).filter(|(n, j)| j.is_none() && !absent_value(n));
    let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
    let mut used = vec![false; dataset.features.len()];
    from.iter().flatten().for_each(|&j| used[j] = true);
    let unknown = dataset.features.iter().zip(&used).filter(|(_, used)| !**used);
    let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
    if !missing.is_empty() || !unknown.is_empty() {
        let (path, dictionary) = (dataset.path().into(), dictionary.into());
        return Err(InputError::OtherFeatures { path, dictionary, unknown, missing });
    }
    dataset.matrix = match &dataset.matrix {
        Matrix::Dense(dense) => Matrix::Dense(match dense.view() {
            DenseView::F64(view) => DenseMatrix::F64(picked(view, &from)),
            DenseView::F32(view) => DenseMatrix::F32(picked(view, &from)),
        }),
        Matrix::Sparse(sparse) => Matrix::Sparse(renumbered(sparse, &from)),
    };
    dataset.features = names.to_vec();
    Ok(())
}

fn picked<T: Copy + Default>(view: ArrayView2<'_, T>, from: &[Option<usize>]) -> Array2<T> {
    Array2::from_shape_fn((view.nrows(), from.len()), |(row, column)| {
        from[column].map_or(T::default(), |j| view[[row, j]])
    })
}

fn renumbered(sparse: &SparseMatrix, from: &[Option<usize>]) -> SparseMatrix {
    let mut to = vec![0_u32; sparse.cols];
    for (column, j) in from.iter().enumerate() {
        if let Some(j) = j {
            to[*j] = column as u32;
        }
    }
    let mut out = SparseMatrix::empty(sparse.rows, from.len(), sparse.values.len());
    for row in 0..sparse.rows {
        let (columns, values) = sparse.row(row);
        let entries = columns.iter().zip(values).map(|(&j, &v)| (to[j as usize], v));
        let mut entries: Vec<(u32, f64)> = entries.collect();
        entries.sort_by_key(|&(column, _)| column);
        out.push_row(entries.into_iter());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn columns_follow_their_names_and_absent_ones_are_zero() {
        let x = array![[1.0, 2.0], [3.0, 4.0]];
        let from = [Some(1), None, Some(0)];
        let expected = array![[2.0, 0.0, 1.0], [4.0, 0.0, 3.0]];
        assert_eq!(picked(x.view(), &from), expected);
        let room = crate::room::Room::new("t", 100, crate::InputLimit::default());
        let entries = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 1, 4.0)];
        let sparse = SparseMatrix::from_entries(room, 2, 2, &entries).expect("small");
        let moved = renumbered(&sparse, &from);
        assert_eq!(moved.row(0), (&[0, 2][..], &[2.0, 1.0][..]));
        assert_eq!(moved.cols, 3);
    }
}
