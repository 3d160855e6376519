//! The baselines of every group, of any kind.

use super::held_out::held_out_baselines;
use crate::baseline::{Baseline, GroupBaseline};
use crate::iteration::Context;
use crate::rows::{Rows, Units, hold};
use crate::search::baselines::held_baselines;
use crate::{GroupedData, Observer, Parameters, Result};
use std::time::Instant;

/// Estimates the E_ℓ of every group without a fit.
///
/// # Errors
/// As [`fit`](crate::fit()).
pub fn estimate_baselines(
    data: &GroupedData<'_>,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    baselines_within(data, rank, baseline, seed, None, observer)
}

/// [`estimate_baselines`] with runs that end at the deadline.
pub(crate) fn baselines_within(
    data: &GroupedData<'_>,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    deadline: Option<Instant>,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    Parameters::new(rank).check()?;
    if let Baseline::HeldOut { folds, runs } = *baseline {
        return held_out_baselines(data, rank, folds, runs, seed, observer);
    }
    let context = Context { deadline, limit: data.limit, ..Context::without_limit(observer) };
    held_baselines(&*hold(data, Units::Own), rank, baseline, seed, &context)
}

/// [`estimate_baselines`] for rows that somebody else holds.
///
/// # Errors
/// As [`fit_rows`](crate::fit::fit_rows).
pub fn baselines_of_rows(
    rows: &dyn Rows,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    Parameters::new(rank).check()?;
    held_baselines(rows, rank, baseline, seed, &Context::without_limit(observer))
}
