//! Percentile bootstrap over samples (Efron 1979; Efron and Tibshirani 1993, chapter 13): how far
//! would a group's error and loss move, had other samples of the same kind been drawn?
//!
//! *Dictionary fixed* ([`bootstrap`]). Rows of group ℓ are drawn with replacement, as many as it
//! has; e_i² and x_i² are a row's squared error and squared norm:
//!
//!   R-Error* = √(Σ e_i² / Σ x_i²),    R-Loss* = R-Error* − E_ℓ/N_ℓ.
//!
//! The *relative* baseline E_ℓ/N_ℓ is held, not E_ℓ: a draw with larger rows would have a larger
//! E_ℓ too, and holding the absolute one would count the scatter of ‖X_ℓ‖ as scatter of the loss.
//! The two intervals are therefore shifts of each other, and neither knows about the scatter of
//! the baseline. Exact in the limit of many draws, for the fixed dictionary.
//!
//! *Refitting* ([`bootstrap_refit`]). Every draw also re-estimates the baselines and refits the
//! dictionary, from the audited one, so that all three move. Cost: one baseline estimate (two runs
//! a group at the most) and one warm fit a draw. Repeated rows are easier to fit, so all draws lie
//! too low by a like amount: they are shifted until their median is the estimate, and the shift
//! is reported.

use super::{AuditPart, Evaluation, RowErrors};
use crate::criterion::Criterion;
use crate::evaluate::{check_baselines, check_components};
use crate::parallel::try_map;
use crate::random::{Purpose, Stream};
use crate::steps::Steps;
use crate::{
    Baseline, Error, GroupedData, Parameters, Result, baseline::Estimate, fit::fit_from,
    iteration::Start,
};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// How rows are drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Number of draws.
    pub draws: usize,
    /// Share of the draws inside an interval.
    pub level: f64,
    /// Chooses the draws.
    pub seed: u64,
}

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value on the data themselves.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// By how much the draws were shifted to have the estimate as their median; 0 where the
    /// dictionary is fixed.
    pub shift: f64,
}

/// The intervals of one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupIntervals {
    /// Of the R-Error.
    pub relative_error: Interval,
    /// Of the R-Loss.
    pub loss: Interval,
}

/// What a bootstrap found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Number of draws.
    pub draws: usize,
    /// Share of the draws inside an interval.
    pub level: f64,
    /// Whether baselines and dictionary were fitted anew in every draw.
    pub refit: bool,
    /// Groups, in their order.
    pub groups: Vec<GroupIntervals>,
}

/// Intervals for every group's error and loss, with the dictionary fixed.
///
/// # Errors
/// No draws, a level outside (0, 1), or baselines that do not fit the groups.
///
/// ```
/// use fairer_nmf::audit::{Resampling, bootstrap};
/// use fairer_nmf::{GroupedData, audit::evaluate};
/// use ndarray::array;
/// let x = array![[3.0, 0.0], [1.0, 4.0], [2.0, 1.0], [1.0, 0.0]];
/// let data = GroupedData::new(x.view(), &["a", "a", "a", "b"])?;
/// let found = evaluate(&data, array![[1.0, 0.5]].view(), None, &[0.0, 0.0])?;
/// let resampling = Resampling { draws: 999, level: 0.95, seed: 0 };
/// let intervals = bootstrap(&data, &found, &[0.0, 0.0], resampling)?;
/// let a = &intervals.groups[0].relative_error;
/// assert!(a.low < a.estimate && a.estimate < a.high);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn bootstrap(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    baselines: &[f64],
    resampling: Resampling,
) -> Result<Bootstrap> {
    let steps = Steps::unwatched(AuditPart::Intervals);
    fixed(data, evaluation, baselines, resampling, &steps)
}

/// [`bootstrap`] with an observer.
pub(super) fn fixed(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    baselines: &[f64],
    Resampling { draws, level, seed }: Resampling,
    steps: &Steps<'_>,
) -> Result<Bootstrap> {
    check(draws, level)?;
    check_baselines(data, baselines)?;
    let rows = RowErrors::new(data, &evaluation.row_squared_errors);
    let samples: Vec<Vec<(f64, f64)>> = data
        .groups()
        .iter()
        .map(|g| g.rows.iter().map(|&i| (rows.squared_errors[i], rows.squared_norms[i])).collect())
        .collect();
    let by_draw: Vec<Vec<f64>> = try_map(draws, &|b| {
        let stream = |l: usize| Stream::new(seed, Purpose::Bootstrap(b as u64), l as u64);
        let groups = samples.iter().enumerate();
        steps.step(|| Ok(groups.map(|(l, own)| one_draw(own, stream(l))).collect()))
    })?;
    let groups = data.groups().iter().enumerate().map(|(l, group)| {
        let values = sorted(by_draw.iter().map(|draw| draw[l]));
        let estimate = evaluation.relative_errors[l];
        let relative_error = Interval {
            estimate,
            low: tail(&values, level),
            high: head(&values, level),
            shift: 0.0,
        };
        let criterion = Criterion { offset: baselines[l], scale: group.norm() };
        let loss = Interval {
            estimate: criterion.relative_loss(estimate),
            low: criterion.relative_loss(relative_error.low),
            high: criterion.relative_loss(relative_error.high),
            shift: 0.0,
        };
        GroupIntervals { relative_error, loss }
    });
    Ok(Bootstrap { draws, level, refit: false, groups: groups.collect() })
}

/// R-Error of one resample of a group's (e_i², x_i²). A draw of zero rows only has none and is drawn again,
/// which ends because no group is all zero.
fn one_draw(own: &[(f64, f64)], mut stream: Stream) -> f64 {
    loop {
        let (mut error, mut norm) = (0.0, 0.0);
        for _ in 0..own.len() {
            let (e, x) = own[stream.below(own.len())];
            error += e;
            norm += x;
        }
        if norm > 0.0 {
            return (error / norm).sqrt();
        }
    }
}

/// Intervals for every group's error and loss with baselines and dictionary fitted anew in every
/// draw; see the cost at the top. `parameters` are those of the audited fit: method, stopping and
/// kind of baseline are taken from them, given baselines in proportion to ‖X_ℓ‖.
///
/// # Errors
/// As [`bootstrap`]; also components or parameters that do not fit the data.
pub fn bootstrap_refit(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
    parameters: &Parameters,
    resampling: Resampling,
) -> Result<Bootstrap> {
    let steps = Steps::unwatched(AuditPart::RefitIntervals);
    refit(data, components, evaluation, parameters, resampling, &steps)
}

/// [`bootstrap_refit`] with an observer.
pub(super) fn refit(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
    parameters: &Parameters,
    Resampling { draws, level, seed }: Resampling,
    steps: &Steps<'_>,
) -> Result<Bootstrap> {
    check(draws, level)?;
    check_components(data, components)?;
    if data.overlaps() {
        return Err(Error::Parameter {
            name: "refit",
            value: "asked for with groups that overlap".to_owned(),
            expected: "draws of rows that fit anew need groups without common rows: leave it out",
        });
    }
    let start = Start { components: Some(components.to_owned()), representation: None };
    let by_draw: Vec<Vec<(f64, f64)>> = try_map(draws, &|b| {
        let drawn = resample(data, b, seed)?;
        let parameters = Parameters {
            rank: components.nrows(),
            baseline: cheaper(&parameters.baseline, data, &drawn),
            bound: false,
            seed: Stream::new(seed, Purpose::Bootstrap(b as u64), u64::MAX).next_u64(),
            ..parameters.clone()
        };
        steps.step(|| {
            let fitted = fit_from(&drawn, &parameters, &start, &|_| steps.tell())?;
            steps.go_on()?;
            Ok(fitted.model.groups.iter().map(|g| (g.relative_error, g.loss)).collect())
        })
    })?;
    let shifted = |values: Vec<f64>, estimate: f64| {
        let shift = estimate - quantile(&values, 0.5);
        let (low, high) = (tail(&values, level) + shift, head(&values, level) + shift);
        Interval { estimate, low, high, shift }
    };
    let groups = (0..data.groups().len()).map(|l| GroupIntervals {
        relative_error: shifted(
            sorted(by_draw.iter().map(|draw| draw[l].0)),
            evaluation.relative_errors[l],
        ),
        loss: shifted(sorted(by_draw.iter().map(|draw| draw[l].1)), evaluation.losses[l]),
    });
    Ok(Bootstrap { draws, level, refit: true, groups: groups.collect() })
}

/// The data with every group's rows drawn with replacement.
fn resample<'a>(data: &GroupedData<'a>, draw: usize, seed: u64) -> Result<GroupedData<'a>> {
    let groups = data.groups().iter().enumerate().map(|(l, group)| {
        let mut stream = Stream::new(seed, Purpose::Bootstrap(draw as u64), l as u64);
        loop {
            let mut rows: Vec<usize> =
                group.rows.iter().map(|_| group.rows[stream.below(group.rows.len())]).collect();
            if rows.iter().any(|&row| data.row_squared_norm(row) > 0.0) {
                rows.sort_unstable();
                return (group.name.clone(), rows);
            }
        }
    });
    data.regrouped(groups.collect())
}

/// The same kind of baseline with two runs at the most.
fn cheaper(baseline: &Baseline, data: &GroupedData<'_>, drawn: &GroupedData<'_>) -> Baseline {
    let shorter = |e: &Estimate| Estimate { runs: e.runs.min(2), ..e.clone() };
    match baseline {
        Baseline::Estimate(e) => Baseline::Estimate(shorter(e)),
        Baseline::Adjusted { estimate, draws } => {
            Baseline::Adjusted { estimate: shorter(estimate), draws: (*draws).min(5) }
        }
        Baseline::Given { errors } => {
            let norms = data.groups().iter().zip(drawn.groups());
            let errors = errors.iter().zip(norms).map(|(e, (g, d))| e / g.norm() * d.norm());
            Baseline::Given { errors: errors.collect() }
        }
        Baseline::HeldOut { folds, runs } => {
            Baseline::HeldOut { folds: *folds, runs: (*runs).min(2) }
        }
        Baseline::Zero => Baseline::Zero,
    }
}

pub(super) fn check(draws: usize, level: f64) -> Result<()> {
    let bad = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
    if draws == 0 {
        return bad("draws", "0".to_owned(), "at least one draw is needed");
    }
    if !(level > 0.0 && level < 1.0) {
        return bad("level", level.to_string(), "must lie between 0 and 1, like 0.95");
    }
    Ok(())
}

pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

pub(super) fn tail(sorted: &[f64], level: f64) -> f64 {
    quantile(sorted, 0.5 * (1.0 - level))
}

pub(super) fn head(sorted: &[f64], level: f64) -> f64 {
    quantile(sorted, 0.5 * (1.0 + level))
}

/// Quantile of a sorted list, linear between neighbours (NumPy's and SciPy's default).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = sorted[at.floor() as usize];
    below + (sorted[at.ceil() as usize] - below) * at.fract()
}
