//! What a dictionary costs the groups of rows that are not in memory: on disk, or spread over processes.

use super::Interval;
use super::bootstrap::{Resampling, check, head, sorted, tail};
use crate::Result;
use crate::dictionary::Dictionary;
use crate::evaluate::check_dictionary;
use crate::rows::{RowGroup, RowStart, RowStep, Rows, Spread};
use ndarray::ArrayView2;

/// R-Error of every group under the best W for `components` (r×n, in scaled features where the rows
/// are scaled), whoever holds the rows.
///
/// # Errors
/// Components that do not fit, or rows that cannot be reached.
pub fn evaluate_rows(rows: &dyn Rows, components: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
    let h = dictionary(rows, components)?;
    relative_errors(&mut *rows.apart(), &h)
}

fn dictionary(rows: &dyn Rows, components: ArrayView2<'_, f64>) -> Result<Dictionary> {
    check_dictionary(components, rows.features())?;
    let unit = rows.unit();
    Ok(Dictionary::from_components(components.mapv(|v| v * unit).view()).in_range().0)
}

fn relative_errors(rows: &mut dyn Rows, h: &Dictionary) -> Result<Vec<f64>> {
    rows.begin(h.rank, RowStart::Zero)?;
    rows.pass(h, RowStep::EXACT)?;
    // ‖X_ℓ‖² is positive by validation.
    let relative = |(l, group): (usize, &RowGroup)| {
        Ok((rows.squared_error(l, h)? / group.squared_norm).sqrt())
    };
    rows.groups().iter().enumerate().map(relative).collect()
}

/// R-Error of every group under the best W for `components` (r×n, in scaled features where the rows
/// are scaled), and its bootstrap intervals, where wanted.
///
/// In the draws every row counts as often as a Poisson variable of mean 1 says, which depends on the
/// seed and the row alone: sums then add over shares. For many rows the intervals are those of
/// [`bootstrap`](super::bootstrap()), from other draws. A draw without any row of a group is left out.
///
/// # Errors
/// Components that do not fit, no draws, a level outside (0, 1), or shares that cannot be reached.
pub fn evaluate_spread(
    rows: &Spread<'_>,
    components: ArrayView2<'_, f64>,
    resampling: Option<Resampling>,
) -> Result<(Vec<f64>, Vec<Interval>)> {
    let h = dictionary(rows, components)?;
    let mut own = rows.another();
    let relative = relative_errors(&mut own, &h)?;
    let Some(Resampling { draws, level, seed }) = resampling else {
        return Ok((relative, Vec::new()));
    };
    check(draws, level)?;
    let sums = own.resampled(&h, draws, seed)?;
    let interval = |(sums, &estimate): (&[f64], &f64)| {
        let drawn = sums.chunks_exact(2).filter(|s| s[1] > 0.0);
        let values = sorted(drawn.map(|s| (s[0] / s[1]).sqrt()));
        let (low, high) = match values.is_empty() {
            true => (estimate, estimate),
            false => (tail(&values, level), head(&values, level)),
        };
        Interval { estimate, low, high, shift: 0.0 }
    };
    let intervals = sums.chunks_exact(2 * draws).zip(&relative).map(interval).collect();
    Ok((relative, intervals))
}
