//! A criterion that the size of a group cannot bend.
//!
//! E_ℓ is fitted on the group's own rows, so that a small group seems to pay whatever is done. The
//! size-adjusted criterion allows for what a random group of its size pays under standard NMF
//! (docs/calibration.md):
//!
//!   (error − E_ℓ)/N_ℓ − a_ℓ,   that is offset E_ℓ + a_ℓN_ℓ, scale N_ℓ,
//!   a_ℓ = (1 − p_ℓ)c_ℓ + p_ℓg_ℓ
//!
//! with c_ℓ the mean loss of random groups of its size, g_ℓ the group's own loss under standard NMF, and p_ℓ
//! how much it is like them: 1 within their scatter or below, or where some group of some draw stands out as much; 0 a standard deviation
//! further out and beyond. So a group
//! that clearly pays more is asked down to what chance explains, and one that chance does explain is
//! allowed what it pays: it is not helped, and made to pay for others no more than they gain (`gain.rs`). Where all
//! groups are like random ones standard NMF is the answer. c_ℓ and the scatter → 0 for large groups, where the criterion is the
//! paper's. The steps keep their guarantees: they hold for any offset ≥ 0. A group outside the maximum
//! has an offset that no error reaches.

use super::gain::{Allowed, Beside, against};
use crate::baseline::{Baseline, GroupBaseline};
use crate::criterion::Allowance;
use crate::iteration::{Checkpoint, Start};
use crate::model::{Model, Warning};
use crate::once::once;
use crate::progress::Progress;
use crate::search::{Fit, fit_plain};
use crate::stopping::Stopping;
use crate::yardsticks::{baselines_within, chance_within};
use crate::{Element, GroupedData, Method, Observer, Parameters, Result};
use ndarray::ArrayView2;
use std::time::Instant;

/// Fits with what the parameters allow the groups: their baselines, chance, places outside.
pub(super) fn fit_allowed<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    outside: Vec<Allowance>,
    (start, checkpoint): (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    let begin = Instant::now();
    let deadline = parameters.stopping.deadline(begin);
    let asked = &parameters.baseline;
    let baselines =
        baselines_within(data, parameters.rank, asked, parameters.seed, deadline, observer)?;
    let mut standard = None;
    let mut allowed = Allowed::places(outside);
    let in_time = deadline.is_none_or(|deadline| Instant::now() < deadline);
    if let Baseline::Adjusted { draws, .. } = asked
        && in_time
    {
        // What leads up to the fit is told as a part of its baselines.
        let lead = |progress: &Progress<'_>| match *progress {
            Progress::Iteration { .. } => observer(&Progress::Baselines { done: 0, total: *draws }),
            Progress::Audit { done, total, .. } => observer(&Progress::Baselines { done, total }),
            _ => observer(progress),
        };
        let found = fit_plain(data, &standard_beside(parameters, begin), None, None, &lead)?.model;
        let beside = (found.components.view(), &baselines[..]);
        allowed = chance(data, beside, (*draws, deadline), allowed.allowances, &lead)?;
        standard = Some(found);
    }
    let baseline_time = begin.elapsed();
    let mut left = parameters.clone();
    left.stopping.time_limit = deadline.map(|d| d.saturating_duration_since(Instant::now()));
    let from = (start, checkpoint);
    let mut found = against(data, &left, &baselines, &allowed, from, observer)?;
    found.baseline_time += baseline_time;
    let model = &mut found.model;
    model.parameters = parameters.clone();
    if deadline.is_some_and(|d| Instant::now() >= d && baseline_time >= d - begin) {
        model.warnings.push(Warning::BaselinesCutShort);
    }
    // Positive: no group is all zero.
    let total = model.total_error() / data.squared_norm().sqrt();
    let share = |standard: &Model| standard.total_error() / data.squared_norm().sqrt();
    let kept = allowed.keeps(model);
    model.warnings.extend(Warning::of_alike(&model.groups, &allowed.alike(), kept));
    let rose =
        standard.and_then(|beside| Warning::of_rise(model, total, (share(&beside), &beside)));
    if let Some(rose) = rose {
        model.warnings.insert(0, rose);
    }
    Ok(found)
}

/// Standard NMF of the same data, in the time that is left. How far the fit itself is to be driven is
/// not asked of it: chance is known to a few digits anyway.
fn standard_beside(parameters: &Parameters, begin: Instant) -> Parameters {
    let defaults = Parameters::new(parameters.rank);
    let asked = &parameters.stopping;
    Parameters {
        method: Method::standard(),
        n_init: parameters.n_init,
        stopping: Stopping {
            max_iterations: asked.max_iterations.min(defaults.stopping.max_iterations),
            time_limit: asked.time_limit.map(|limit| limit.saturating_sub(begin.elapsed())),
            ..defaults.stopping
        },
        baseline: Baseline::Zero,
        bound: false,
        seed: parameters.seed,
        ..defaults
    }
}

/// The seed of the random groups behind the allowances, whatever the fit's: a group near the edge of what chance
/// explains is helped or not, and that is not for the seed of the starts to decide.
const DRAWS_SEED: u64 = 0;

/// Allows every group what random groups of its size pay under H (r×n), the dictionary of standard NMF, or
/// what it pays there itself against its baseline, where it is like them.
fn chance<T: Element>(
    data: &GroupedData<'_, T>,
    (h, baselines): (ArrayView2<'_, f64>, &[GroupBaseline]),
    (draws, deadline): (usize, Option<Instant>),
    mut allowances: Vec<Allowance>,
    observer: &Observer<'_>,
) -> Result<Allowed> {
    let found = chance_within(data, h, draws, DRAWS_SEED, deadline, observer)?;
    let mut beside = Vec::with_capacity(found.len());
    let of_groups = allowances.iter_mut().zip(&found).zip(baselines.iter().zip(data.groups()));
    for ((allowance, chance), (baseline, group)) in of_groups {
        let own = chance.relative_error - baseline.error / group.norm();
        // Of a group outside the maximum nothing can be told, and nothing tells it from random ones.
        let alike = if allowance.outside { 1.0 } else { chance.alike };
        allowance.loss = (1.0 - alike) * chance.mean + alike * own;
        beside.push(Beside { own, alike });
    }
    Ok(Allowed { allowances, beside })
}

once! {
    /// Fits against baselines E_ℓ that are known, with what the parameters allow the groups: places outside
    /// the maximum and, where they ask for the size-adjusted criterion, chance under the dictionary of standard NMF
    /// (H, r×n).
    ///
    /// # Errors
    /// As [`fit`](crate::fit()); also baselines that do not fit the groups.
    pub(crate) fn fit_beside(
        data,
        parameters: &Parameters,
        baselines: &[GroupBaseline],
        standard: Option<ArrayView2<'_, f64>>,
        observer: &Observer<'_>,
    ) -> Fit<T> = beside;
}

fn beside<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    baselines: &[GroupBaseline],
    standard: Option<ArrayView2<'_, f64>>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    let outside = allowances(data, parameters);
    let several = outside.len() > 1;
    let allowed = match (&parameters.baseline, standard) {
        (Baseline::Adjusted { draws, .. }, Some(h)) if several => {
            let deadline = parameters.stopping.deadline(Instant::now());
            chance(data, (h, baselines), (*draws, deadline), outside, observer)?
        }
        _ => Allowed::places(outside),
    };
    against(data, parameters, baselines, &allowed, (None, None), observer)
}

/// The groups' places in or outside the maximum: what parameters allow groups before anything is fitted.
#[must_use]
pub fn allowances<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
) -> Vec<Allowance> {
    let rows: Vec<usize> = data.groups().iter().map(|g| g.rows.len()).collect();
    outside_by_rows(&rows, parameters)
}

/// The same for groups of which only the number of rows is known.
pub(super) fn outside_by_rows(rows: &[usize], parameters: &Parameters) -> Vec<Allowance> {
    match parameters.allow_small_groups {
        true => vec![Allowance::default(); rows.len()],
        false => Allowance::for_sizes(rows, parameters.rank),
    }
}

/// Says the losses of a fit against offsets as those against baselines, and who was outside the maximum.
pub(super) fn settle(model: &mut Model, baselines: &[GroupBaseline], allowances: &[Allowance]) {
    let adjusted = matches!(model.parameters.baseline, Baseline::Adjusted { .. });
    let of_groups = model.groups.iter_mut().zip(baselines).zip(allowances);
    for (l, ((group, baseline), allowance)) in of_groups.enumerate() {
        // The loss stays the paper's, against E; what was minimised is that less what is allowed.
        group.loss = group.relative_error - baseline.error / group.norm;
        if !allowance.counts() {
            let shift = allowance.offset(baseline.error, group.norm) - baseline.error;
            model.history.iter_mut().for_each(|losses| losses[l] += shift / group.norm);
        }
        group.baseline = baseline.clone();
        group.allowance = adjusted.then_some(allowance.loss);
        group.outside = allowance.outside;
    }
    let (groups, parameters) = (&model.groups, &model.parameters);
    let of_groups = Warning::of(groups, parameters, model.status);
    let stays =
        |w: &&Warning| matches!(w, Warning::RankAboveMatrix { .. } | Warning::BaselinesCutShort);
    let others = model.warnings.iter().filter(stays);
    model.warnings = (others.cloned().chain(Warning::of_outside(groups, parameters.rank)))
        .chain(of_groups)
        .collect();
}
