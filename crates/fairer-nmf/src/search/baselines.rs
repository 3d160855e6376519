//! Estimating the baselines: all runs of all groups, from rows that somebody holds.

use crate::baseline::{Baseline, Estimate, GroupBaseline, Summary, check_given};
use crate::criterion::Criterion;
use crate::iteration::{Context, Part, Scheme, Task, run_once};
use crate::parallel::try_map;
use crate::progress::Progress;
use crate::random::{Purpose, Stream};
use crate::rows::{Rows, side_by_side};
use crate::stopping::Status;
use crate::weights::WeightRule;
use crate::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The baselines of all groups in the units of the rows, all runs of all groups in parallel. Those that are given are in
/// the user's.
pub(crate) fn baselines(
    rows: &dyn Rows,
    rank: usize,
    seed: u64,
    baseline: &Baseline,
    context: &Context<'_>,
) -> Result<Vec<GroupBaseline>> {
    let groups = rows.groups();
    match baseline {
        Baseline::Zero => Ok(groups
            .iter()
            .map(|_| GroupBaseline { error: 0.0, run_errors: Vec::new() })
            .collect()),
        Baseline::Given { errors } => {
            let names = || groups.iter().map(|g| g.name.as_str());
            check_given(names(), errors)?;
            let errors: Vec<f64> = errors.iter().map(|e| e * rows.unit()).collect();
            // In the units of the rows they may be too large.
            check_given(names(), &errors)?;
            let of = |error: f64| GroupBaseline { error, run_errors: Vec::new() };
            Ok(errors.into_iter().map(of).collect())
        }
        Baseline::HeldOut { .. } => {
            Err(Error::Baseline { reason: "held-out baselines need the rows in memory".to_owned() })
        }
        Baseline::Estimate(estimate) | Baseline::Adjusted { estimate, .. } => {
            if estimate.runs == 0 {
                return Err(Error::Parameter {
                    name: "baseline runs",
                    value: "0".to_owned(),
                    expected: "at least one run is needed",
                });
            }
            let total = groups.len() * estimate.runs;
            let done = AtomicUsize::new(0);
            let one = |i: usize| {
                let (group, run) = (i / estimate.runs, i % estimate.runs);
                let report = || {
                    let done = done.load(Ordering::Relaxed);
                    (context.observer)(&Progress::Baselines { done, total })
                };
                if report().is_break() {
                    return Ok(None);
                }
                // Of every group one run has to be; others only while there is time.
                if run > 0 && context.is_over() {
                    return Ok(None);
                }
                // No topics leave all of a group.
                if context.limit.is_over() {
                    return Ok(Some(groups[group].norm()));
                }
                let observer = |_: &Progress<'_>| report();
                let inner = Context { observer: &observer, ..*context };
                let error = match context.keeper.and_then(|keeper| keeper.baseline(i)) {
                    Some(known) => Ok(Some(known)),
                    None => one_run(rows, (group, run), rank, seed, estimate, inner),
                };
                // What the time cut short is too large, and is done again.
                let keeper = context.keeper.filter(|_| !context.is_over());
                if let (Some(keeper), Ok(Some(error))) = (keeper, &error) {
                    keeper.note_baseline(i, *error, format!("baseline-{group}-{run}"))?;
                }
                done.fetch_add(1, Ordering::Relaxed);
                error
            };
            let errors: Result<Vec<Option<f64>>> = match rows.gathering() {
                Some(all) => side_by_side(all, all.most(rank, 1), total, &one),
                None => try_map(total, &one),
            };
            errors?.chunks_exact(estimate.runs).map(|runs| summary(runs, estimate)).collect()
        }
    }
}

/// A group's baseline from the runs that were not stopped.
fn summary(runs: &[Option<f64>], estimate: &Estimate) -> Result<GroupBaseline> {
    let run_errors: Vec<f64> = runs.iter().flatten().copied().collect();
    if run_errors.is_empty() {
        return Err(Error::Stopped);
    }
    let error = match estimate.summary {
        Summary::Mean => run_errors.iter().sum::<f64>() / run_errors.len() as f64,
        Summary::Lowest => run_errors.iter().copied().fold(f64::INFINITY, f64::min),
    };
    Ok(GroupBaseline { error, run_errors })
}

/// The error of one run; none if it was stopped.
fn one_run(
    rows: &dyn Rows,
    (group, run): (usize, usize),
    rank: usize,
    seed: u64,
    estimate: &Estimate,
    context: Context<'_>,
) -> Result<Option<f64>> {
    let alone = rows.only(group);
    // Its units may be its own; a ratio of powers of two.
    let unit = alone.unit() / rows.unit();
    let criteria = [Criterion { offset: 0.0, scale: alone.groups()[0].norm() }];
    let seed = Stream::new(seed, Purpose::Baseline(group as u64, run as u64), 0).next_u64();
    let scheme = Scheme::weighted(estimate.update, WeightRule::Uniform);
    let task = Task {
        closing: Some(estimate.update),
        part: Part::Baseline { group, run },
        ..Task::alone(scheme, &criteria, &estimate.stopping, context)
    };
    // No more than its norm is lost of a group: what is cut short at the start may say more.
    let most = if context.limit.is_some() { criteria[0].scale } else { f64::INFINITY };
    let run = run_once(alone, rank, &estimate.init, seed, &task)?;
    Ok((run.status != Status::Stopped).then(|| run.measured.errors[0].min(most) / unit))
}

/// [`baselines`] in the units of the user.
pub(crate) fn held_baselines(
    rows: &dyn Rows,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    context: &Context<'_>,
) -> Result<Vec<GroupBaseline>> {
    let found = baselines(rows, rank, seed, baseline, context)?;
    Ok(found.iter().map(|b| b.times(1.0 / rows.unit())).collect())
}
