//! Checks and sums over all entries, in an order that does not depend on the number of threads.

use super::{AnyMatrix, Group, GroupedData};
use crate::{Error, Result};
use rayon::prelude::*;

/// Rows of one partial sum: fixed, so that sums do not depend on the number of threads.
const ROWS_PER_SUM: usize = 4096;

/// Σ f(row) in a fixed order for any number of threads.
fn sum_in_chunks(rows: &[usize], f: impl Fn(usize) -> f64 + Sync) -> f64 {
    let parts: Vec<f64> =
        rows.par_chunks(ROWS_PER_SUM).map(|chunk| chunk.iter().map(|&row| f(row)).sum()).collect();
    parts.into_iter().sum()
}

/// ‖X_ℓ‖² of every group after scaling.
pub(super) fn group_squared_norms(data: &GroupedData<'_>) -> Vec<f64> {
    let norm = |group: &Group| sum_in_chunks(&group.rows, |row| data.row_squared_norm(row));
    data.groups.iter().map(norm).collect()
}

/// Σ ωx² of every column over the rows that are in some group, before scaling.
pub(super) fn column_square_sums(data: &GroupedData<'_>) -> Vec<f64> {
    let mut grouped = vec![false; data.rows()];
    data.grouped_rows().for_each(|row| grouped[row] = true);
    let rows: Vec<usize> = (0..data.rows()).filter(|&row| grouped[row]).collect();
    rows.par_chunks(ROWS_PER_SUM)
        .map(|chunk| {
            let mut sums = vec![0.0; data.features()];
            for &row in chunk {
                let weight = data.weight(row);
                data.matrix.for_each_in_row(row, |j, x| sums[j] += weight * x * x);
            }
            sums
        })
        .collect::<Vec<_>>()
        .into_iter()
        .reduce(|mut total, part| {
            total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
            total
        })
        .unwrap_or_default()
}

/// Refuses entries that cannot be factorised.
pub(crate) fn check_entries(matrix: &AnyMatrix<'_>) -> Result<()> {
    first_bad(matrix).map_or(Ok(()), Err)
}

fn first_bad(matrix: &AnyMatrix<'_>) -> Option<Error> {
    let rows: Vec<usize> = (0..matrix.rows()).collect();
    rows.par_chunks(ROWS_PER_SUM).find_map_first(|chunk| {
        chunk.iter().find_map(|&row| {
            let mut bad = None;
            matrix.for_each_in_row(row, |column, value| {
                if !(value >= 0.0 && value.is_finite()) && bad.is_none() {
                    bad = Some(Error::BadEntry { row, column, value });
                }
            });
            bad
        })
    })
}

/// X_ℓᵀX_ℓ (n×n, row by row) of every group, after scaling.
pub(super) fn second_moments(data: &GroupedData<'_>) -> Vec<Vec<f64>> {
    let n = data.features();
    let of_group = |group: &Group| {
        let mut sum = vec![0.0; n * n];
        let mut entries = Vec::new();
        for &row in &group.rows {
            entries.clear();
            data.for_each_in_row(row, |j, x| entries.push((j, x)));
            for &(i, x) in entries.iter().filter(|(_, x)| *x != 0.0) {
                entries.iter().for_each(|&(j, y)| sum[i * n + j] += x * y);
            }
        }
        sum
    };
    data.groups.par_iter().map(of_group).collect()
}

/// Number of entries that are not zero.
pub(super) fn nonzeros(data: &GroupedData<'_>) -> usize {
    let count = |row: usize| {
        let mut count = 0;
        data.matrix.for_each_in_row(row, |_, x| count += usize::from(x != 0.0));
        count
    };
    (0..data.rows()).into_par_iter().with_min_len(256).map(count).sum()
}

/// Squared norm of every row after scaling, times its weight.
pub(super) fn row_squared_norms(data: &GroupedData<'_>) -> Vec<f64> {
    let norm = |row| data.row_squared_norm(row);
    (0..data.rows()).into_par_iter().with_min_len(256).map(norm).collect()
}
