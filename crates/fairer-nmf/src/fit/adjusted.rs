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
use crate::criterion::{Allowance, ChanceBand};
use crate::iteration::{Checkpoint, Start};
use crate::model::{Model, Warning};
use crate::progress::Progress;
use crate::search::{Fit, fit_plain};
use crate::stopping::Stopping;
use crate::yardsticks::{baselines_within, chance_within};
use crate::{GroupedData, Method, Observer, Parameters, Result};
use ndarray::ArrayView2;
use std::time::Instant;

/// Fits with what the parameters allow the groups: their baselines, chance, places outside.
pub(super) fn fit_allowed(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    outside: Vec<Allowance>,
    (start, checkpoint): (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit> {
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
    allowed.tell(model);
    model.parameters = parameters.clone();
    if deadline.is_some_and(|d| Instant::now() >= d && baseline_time >= d - begin) {
        model.warnings.push(Warning::BaselinesCutShort);
    }
    // Positive: no group is all zero.
    let total = model.total_error() / data.squared_norm().sqrt();
    let share = |standard: &Model| standard.total_error() / data.squared_norm().sqrt();
    let kept = allowed.keeps(model);
    let alike = (&allowed.alike()[..], allowed.draws);
    model.warnings.extend(Warning::of_alike(&model.groups, alike, kept));
    if let Some(beside) = standard {
        // What the fit has met on the way says it less exactly, and does not know whom it leaves alone.
        model.warnings.retain(|w| !matches!(w, Warning::TotalErrorRose { .. }));
        let rose = Warning::of_rise(model, total, (share(&beside), &beside));
        model.warnings.splice(0..0, rose);
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
fn chance(
    data: &GroupedData<'_>,
    (h, baselines): (ArrayView2<'_, f64>, &[GroupBaseline]),
    (draws, deadline): (usize, Option<Instant>),
    mut allowances: Vec<Allowance>,
    observer: &Observer<'_>,
) -> Result<Allowed> {
    let found = chance_within(data, h, draws, DRAWS_SEED, deadline, observer)?;
    let mut beside = Vec::with_capacity(found.len());
    let of_groups = allowances.iter_mut().zip(&found).zip(baselines.iter().zip(data.groups()));
    for ((allowance, chance), (baseline, group)) in of_groups {
        let own = baseline.criterion(group.norm()).relative_loss(chance.relative_error);
        // Of a group outside the maximum nothing can be told, and nothing tells it from random ones.
        let alike = if allowance.outside { 1.0 } else { chance.alike };
        allowance.loss = (1.0 - alike) * chance.mean.max(0.0) + alike * own;
        let band = (chance.draws >= ChanceBand::DRAWS).then(|| chance.band());
        beside.push(Beside { own, alike, band });
    }
    Ok(Allowed { allowances, beside, draws: found.first().map_or(0, |chance| chance.draws) })
}

/// Fits against baselines E_ℓ that are known, with what the parameters allow the groups: places outside
/// the maximum and, where they ask for the size-adjusted criterion, chance under the dictionary of standard NMF
/// (H, r×n).
///
/// # Errors
/// As [`fit`](crate::fit()); also baselines that do not fit the groups.
pub(crate) fn fit_beside(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    baselines: &[GroupBaseline],
    standard: Option<ArrayView2<'_, f64>>,
    observer: &Observer<'_>,
) -> Result<Fit> {
    let outside = allowances(data, parameters);
    let several = outside.len() > 1;
    let allowed = match (&parameters.baseline, standard) {
        (Baseline::Adjusted { draws, .. }, Some(h)) if several => {
            let deadline = parameters.stopping.deadline(Instant::now());
            chance(data, (h, baselines), (*draws, deadline), outside, observer)?
        }
        _ => Allowed::places(outside),
    };
    let mut found = against(data, parameters, baselines, &allowed, (None, None), observer)?;
    allowed.tell(&mut found.model);
    Ok(found)
}

/// The groups' places in or outside the maximum: what parameters allow groups before anything is fitted.
#[must_use]
pub fn allowances(data: &GroupedData<'_>, parameters: &Parameters) -> Vec<Allowance> {
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

#[cfg(test)]
mod tests {
    use super::super::settle::settle;
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::{GroupFit, silent};
    use ndarray::Array2;
    use std::time::Duration;

    fn rows() -> (Array2<f64>, Vec<usize>) {
        let mut stream = Stream::new(2, Purpose::Spectral, 4);
        let x = Array2::from_shape_fn((26, 6), |_| stream.uniform());
        (x, (0..26).map(|i| usize::from(i >= 12) + usize::from(i >= 24)).collect())
    }

    fn quick(baseline: Baseline) -> Parameters {
        let stopping = Stopping { max_iterations: 5, ..Stopping::default() };
        Parameters { baseline, stopping, n_init: 1, bound: false, ..Parameters::new(2) }
    }

    /// Half of every group's norm.
    fn half(groups: &[GroupFit]) -> Vec<GroupBaseline> {
        let of = |g: &GroupFit| GroupBaseline { error: 0.5 * g.norm, run_errors: vec![1.0] };
        groups.iter().map(of).collect()
    }

    #[test]
    fn standard_nmf_beside_a_fit_is_quick_and_from_the_same_seed() {
        let asked = Parameters { n_init: 7, seed: 9, ..Parameters::new(3) };
        let standard = |max_iterations: usize, time_limit: Option<Duration>| {
            let stopping = Stopping { max_iterations, time_limit, ..asked.stopping };
            standard_beside(&Parameters { stopping, ..asked.clone() }, Instant::now())
        };
        let defaults = Parameters::new(3).stopping.max_iterations;
        let few = standard(3, None);
        assert_eq!((few.rank, few.n_init, few.seed, few.bound), (3, 7, 9, false));
        assert_eq!((few.method, &few.baseline), (Method::standard(), &Baseline::Zero));
        assert_eq!((few.stopping.max_iterations, few.stopping.time_limit), (3, None));
        let hour = Duration::from_secs(3600);
        let many = standard(10 * defaults, Some(hour)).stopping;
        assert_eq!(many.max_iterations, defaults);
        assert!(many.time_limit.is_some_and(|left| left <= hour));
    }

    /// The losses of a fit against offsets are told as those against baselines, at the end and on the way.
    #[test]
    fn losses_are_told_against_baselines_whatever_they_were_held_against() {
        let (x, codes) = rows();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
        let adjusted = Baseline::Adjusted { estimate: crate::baseline::Estimate::best(), draws: 3 };
        // The third has as many rows as topics, and nothing is known of it; the second has an allowance.
        let of = |loss, outside| Allowance { loss, outside };
        let allowances = [of(0.0, false), of(0.1, false), of(0.0, true)];
        let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
        let errors = (0..3).map(|l| allowances[l].offset(0.5 * norms[l], norms[l])).collect();
        let given = quick(Baseline::Given { errors });
        let mut model = fit_plain(&data, &given, None, None, &silent).unwrap().model;
        model.parameters.baseline = adjusted;
        let before = model.clone();
        settle(&mut model, &half(&before.groups), &allowances);
        for (l, group) in model.groups.iter().enumerate() {
            assert!((group.loss - (group.relative_error - 0.5)).abs() < 1e-14);
            assert_eq!(group.baseline.run_errors, [1.0]);
            assert_eq!((group.allowance, group.outside), (Some(allowances[l].loss), l == 2));
        }
        for (now, then) in model.history.iter().zip(&before.history) {
            assert_eq!(now[..2], then[..2], "who counts is told as what was minimised");
            // Its offset was twice the norm.
            assert!((now[2] - (then[2] + 1.5)).abs() < 1e-12, "{now:?} {then:?}");
        }
    }

    /// One group has nobody beside it, so that nothing is allowed; two are allowed what chance explains.
    #[test]
    fn chance_is_allowed_for_where_there_are_several_groups() {
        let (x, codes) = rows();
        let estimate = crate::baseline::Estimate::best();
        let parameters = quick(Baseline::Adjusted { estimate, draws: 3 });
        let h = Array2::from_shape_fn((2, 6), |(k, j)| f64::from(u8::from(j % 2 == k)));
        for groups in [1, 2] {
            let codes: Vec<usize> = codes.iter().map(|c| (*c).min(groups - 1)).collect();
            let names = (0..groups).map(|l| l.to_string()).collect();
            let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
            let baseline = |norm: f64| GroupBaseline { error: 0.1 * norm, run_errors: Vec::new() };
            let baselines: Vec<_> = data.groups().iter().map(|g| baseline(g.norm())).collect();
            let found = fit_beside(&data, &parameters, &baselines, Some(h.view()), &silent);
            let places = allowances(&data, &parameters);
            let beside = (h.view(), &baselines[..]);
            let Allowed { beside, .. } = chance(&data, beside, (3, None), places, &silent).unwrap();
            let own = crate::evaluate::evaluate(&data, h.view(), None, &vec![0.0; groups]).unwrap();
            for (beside, error) in beside.iter().zip(own.relative_errors) {
                assert!((beside.own - (error - 0.1)).abs() < 1e-12, "its loss there");
            }
            for group in found.unwrap().model.groups {
                assert_eq!(group.allowance == Some(0.0), groups == 1, "{:?}", group.allowance);
            }
        }
    }
}
