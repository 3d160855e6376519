//! Errors of rows from the residuals themselves, where the statistics cancel.

use super::{PANEL_ROWS, WORTH_SHARING};
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::kernel::products::{self, times};
use crate::kernel::{LANES, fused, padded, vectorised};
use crate::number::Number;
use rayon::prelude::*;

/// ‖X_i − W_iH‖² of every row of a part, computed from the residual itself.
pub(crate) fn row_squared_errors<T: Number>(
    data: &GroupedData<'_>,
    part: usize,
    h: &Dictionary,
    w: &[T],
) -> Vec<f64> {
    let (r, n) = (h.rank, h.features);
    let rows = data.part_rows(part);
    let mut components = vec![0.0; r * padded(n)];
    for (j, topics) in h.values.chunks_exact(r).enumerate() {
        topics.iter().enumerate().for_each(|(k, &v)| components[k * padded(n) + j] = v);
    }
    // Few enough rows for their residuals to stay in cache.
    let at_once = (RESIDUALS / n).clamp(1, PANEL_ROWS);
    let mut errors = vec![0.0; rows.len()];
    let new = || vec![0.0; products::room(at_once, n)];
    if rows.len() * n * r < WORTH_SHARING {
        let mut residual = new();
        let pieces = rows.chunks(at_once).zip(w.chunks(at_once * r));
        for ((rows, w), errors) in pieces.zip(errors.chunks_mut(at_once)) {
            residual_squares(data, rows, w, &components, r, &mut residual, errors);
        }
    } else {
        let errors = errors.par_chunks_mut(at_once);
        rows.par_chunks(at_once).zip(w.par_chunks(at_once * r)).zip(errors).for_each_init(
            new,
            |residual, ((rows, w), errors)| {
                residual_squares(data, rows, w, &components, r, residual, errors);
            },
        );
    }
    errors
}

/// Entries of the residual that are held at once.
const RESIDUALS: usize = 1 << 14;

/// Squared norms of the rows of X_b − W_bH; `components`: H, r rows padded.
fn residual_squares<T: Number>(
    data: &GroupedData<'_>,
    rows: &[usize],
    w: &[T],
    components: &[f64],
    r: usize,
    residual: &mut [f64],
    errors: &mut [f64],
) {
    let n = data.features();
    times(w, (rows.len(), r, r), components, n, residual);
    for (&row, residual) in rows.iter().zip(residual.chunks_exact_mut(n)) {
        data.for_each_in_row(row, |j, x| residual[j] -= x);
        // What is not observed has no error.
        data.gaps_of(row).iter().for_each(|&j| residual[j as usize] = 0.0);
    }
    squares(&residual[..rows.len() * n], n, errors);
}

vectorised! {
    /// Σ v² of every row of n numbers.
    fn squares(values: &[f64], n: usize, out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(values.chunks_exact(n)) {
            let (whole, rest) = row.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for v in whole {
                for l in 0..LANES {
                    sums[l] = fused::<FMA>(v[l], v[l], sums[l]);
                }
            }
            *out = sums.iter().sum::<f64>() + rest.iter().map(|v| v * v).sum::<f64>();
        }
    }
}
