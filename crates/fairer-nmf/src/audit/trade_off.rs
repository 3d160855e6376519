//! The family between standard and min-max NMF: what fairness costs in total error.
//!
//! For α from 0 to 1, minimise over H, W ≥ 0
//!
//!   F_α = (1 − α)·p + α·q,   p = ‖X − WH‖/‖X‖ (total error),   q = max_ℓ g_ℓ (worst loss;
//!                                                        the worst adjusted loss where chance is allowed for).
//!
//! Both terms are relative errors and convex in H; α = 0 is standard NMF, α = 1 Fairer-NMF. With W
//! exact (NNLS), the H step needs no new solver. Take the whole data as one more group with the
//! loss p − τ; the exact min-max step then gives φ(τ) = min_H max(q, p − τ), which is convex in τ
//! with the slope −(multiplier of the whole), and min_H F_α = min_τ φ(τ) + (1 − α)τ. So τ is
//! right where that multiplier is 1 − α: a search in one number, which the next step continues.
//!
//! Guarantee: a step that does not lower F_α ends the run, so F_α never rises. The problem is not
//! convex as a whole, so the path is run upwards from the first dictionary and downwards from
//! the last one, each point from its neighbour, and every α keeps the best of *all* dictionaries
//! met. For a fixed set of pairs (p, q) the minimiser of F_α has rising p and falling q in α: the
//! reported curve is monotone by construction, and convex.

use super::AuditPart;
use crate::criterion::{Allowance, Criterion};
use crate::dictionary::Dictionary;
use crate::evaluate::{check_baselines, check_components};
use crate::iteration::{Begin, Context, First, Scheme, Task, criteria, iterate, measure};
use crate::measured::Measured;
use crate::rows::{RowStart, RowStep, Rows, Units, hold, squared_norm};
use crate::statistics::Statistics;
use crate::steps::Steps;
use crate::stopping::Stopping;
use crate::weights::mixture;
use crate::{Error, GroupedData, Progress, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// How a trade-off curve is computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TradeOffOptions {
    /// Number of points, α evenly from 0 to 1; at least two.
    pub points: usize,
    /// A run at one α ends when F_α falls by less than this in an iteration (in units of
    /// relative error).
    pub tolerance: f64,
    /// Iterations at the most for one α.
    pub max_iterations: usize,
}

crate::changeable!(TradeOffOptions);

impl Default for TradeOffOptions {
    fn default() -> Self {
        Self { points: 9, tolerance: 1e-6, max_iterations: 200 }
    }
}

/// One point of the curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TradeOffPoint {
    /// Weight of the worst loss against the total error.
    pub alpha: f64,
    /// ‖X − WH‖/‖X‖.
    pub total_error: f64,
    /// q: what was traded against it, the largest loss less what its group is allowed
    /// ([`Allowance`]) of the groups inside the maximum.
    pub worst_criterion: f64,
    /// max_ℓ g_ℓ over the groups inside the maximum.
    pub worst_loss: f64,
    /// R-Loss of every group.
    pub losses: Vec<f64>,
    /// R-Error of every group.
    pub relative_errors: Vec<f64>,
    /// H (r×n) of the point; not part of the serialised report.
    #[serde(skip)]
    pub components: Array2<f64>,
}

/// The curve, α rising.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TradeOff {
    /// The points.
    pub points: Vec<TradeOffPoint>,
}

/// Computes the curve.
///
/// `starts` holds at least one dictionary, all of one rank: the path upwards from α = 0 begins at
/// the first (best a standard fit), the path downwards from α = 1 at the last (best a fairer fit)
/// where there is more than one. All of them are candidates for every point.
///
/// # Errors
/// No start, starts of different or wrong shapes, baselines or allowances (one per group, or none
/// at all) that do not fit, or options outside their range.
pub fn trade_off(
    data: &GroupedData<'_>,
    starts: &[ArrayView2<'_, f64>],
    baselines: &[f64],
    allowances: &[Allowance],
    options: &TradeOffOptions,
) -> Result<TradeOff> {
    let steps = Steps::unwatched(AuditPart::TradeOff);
    watched(data, starts, (baselines, allowances), options, &steps)
}

/// Runs at one α: the steps of [`watched`].
pub(super) fn count(data: &GroupedData<'_>, starts: usize, options: &TradeOffOptions) -> usize {
    needed(data, options) * starts.min(2)
}

/// With one group all α ask for the same.
fn needed(data: &GroupedData<'_>, options: &TradeOffOptions) -> usize {
    if data.groups().len() == 1 { 1 } else { options.points }
}

/// [`trade_off`] with an observer.
pub(super) fn watched(
    data: &GroupedData<'_>,
    starts: &[ArrayView2<'_, f64>],
    (baselines, allowances): (&[f64], &[Allowance]),
    options: &TradeOffOptions,
    steps: &Steps<'_>,
) -> Result<TradeOff> {
    check(data, starts, options)?;
    check_baselines(data, baselines)?;
    let groups = allowed(data, baselines, allowances)?;
    let rows = hold(data, Units::Own);
    let unit = rows.unit();
    let offsets: Vec<f64> = groups.iter().map(|g| g.offset * unit).collect();
    let criteria = criteria(&*rows, &offsets);
    let path = Path { rows: &*rows, criteria: &criteria, options, steps };
    let last = (options.points - 1) as f64;
    let alphas: Vec<f64> = (0..options.points).map(|i| i as f64 / last).collect();
    let begin: Vec<State> =
        starts.iter().map(|h| path.project((h * unit).view())).collect::<Result<_>>()?;
    let mut met: Vec<State> = Vec::new();
    let mut run = |begin: &State, alphas: &mut dyn Iterator<Item = f64>| {
        let mut at = begin.clone();
        for alpha in alphas {
            at = steps.step(|| path.descend(alpha, at))?;
            met.push(at.clone());
        }
        Ok(())
    };
    let needed = needed(data, options);
    run(&begin[0], &mut alphas[..needed].iter().copied())?;
    if begin.len() > 1 {
        run(&begin[begin.len() - 1], &mut alphas[alphas.len() - needed..].iter().rev().copied())?;
    }
    met.extend(begin);
    let in_units = |mut point: TradeOffPoint| {
        point.components.mapv_inplace(|v| v / unit);
        point
    };
    Ok(TradeOff {
        points: alphas.iter().map(|&alpha| in_units(best(&met, alpha, &groups))).collect(),
    })
}

/// What a group's error is held against, and how much of that is allowed on top of its baseline.
struct Allowed {
    offset: f64,
    relative: f64,
    outside: bool,
}

fn allowed(
    data: &GroupedData<'_>,
    baselines: &[f64],
    allowances: &[Allowance],
) -> Result<Vec<Allowed>> {
    let groups = data.groups();
    if !(allowances.is_empty() || allowances.len() == groups.len()) {
        let reason = format!("{} allowances for {} groups", allowances.len(), groups.len());
        return Err(Error::Baseline { reason });
    }
    let of = |l: usize| {
        let (allowance, norm) = (allowances.get(l).copied().unwrap_or_default(), groups[l].norm());
        let offset = allowance.offset(baselines[l], norm);
        let relative = Criterion { offset: baselines[l], scale: norm }.loss(offset);
        Allowed { offset, relative, outside: allowance.outside }
    };
    Ok((0..groups.len()).map(of).collect())
}

/// A dictionary with its best W, as the search sees it.
#[derive(Clone)]
struct State {
    h: Dictionary,
    statistics: Vec<Statistics>,
    measured: Measured,
    total_error: f64,
}

impl State {
    fn objective(&self, alpha: f64) -> f64 {
        mixture::value(alpha, self.total_error, self.measured.worst())
    }
}

struct Path<'a> {
    rows: &'a dyn Rows,
    criteria: &'a [Criterion],
    options: &'a TradeOffOptions,
    steps: &'a Steps<'a>,
}

impl Path<'_> {
    fn project(&self, components: ArrayView2<'_, f64>) -> Result<State> {
        let h = Dictionary::from_components(components);
        let mut rows = self.rows.apart();
        rows.begin(h.rank, RowStart::Zero)?;
        let statistics = rows.pass(&h, RowStep::EXACT)?;
        let measured = measure(&*rows, &statistics, &h, self.criteria)?;
        Ok(self.state(h, statistics, measured))
    }

    fn state(&self, h: Dictionary, statistics: Vec<Statistics>, measured: Measured) -> State {
        let total_error = measured.relative_total(squared_norm(self.rows));
        State { h, statistics, measured, total_error }
    }

    /// Alternates H and W until F_α stands still.
    fn descend(&self, alpha: f64, begin: State) -> Result<State> {
        let mut rows = self.rows.apart();
        rows.begin(begin.h.rank, RowStart::Zero)?;
        let stopping =
            Stopping { max_iterations: self.options.max_iterations, ..Stopping::default() };
        let observer = |_: &Progress<'_>| self.steps.tell();
        let scheme = Scheme::mixture(alpha, squared_norm(self.rows));
        let context = Context::without_limit(&observer);
        let task = Task {
            closing: None,
            least_fall: Some(self.options.tolerance),
            ..Task::alone(scheme, self.criteria, &stopping, context)
        };
        self.steps.go_on()?;
        let first = First::Known(begin.statistics, begin.measured);
        let run = iterate(rows, Begin { dictionary: begin.h, first, history: Vec::new() }, &task)?;
        self.steps.go_on()?;
        Ok(self.state(run.dictionary, run.statistics, run.measured))
    }
}

/// The best of all dictionaries met; among equals the lower total, except at α = 0 where all
/// depends on it.
fn best(met: &[State], alpha: f64, groups: &[Allowed]) -> TradeOffPoint {
    let other = |s: &State| if alpha > 0.0 { s.total_error } else { s.measured.worst() };
    let better = |a: &&State, b: &&State| {
        let first = a.objective(alpha).total_cmp(&b.objective(alpha));
        first.then(other(a).total_cmp(&other(b)))
    };
    let kept = met.iter().min_by(better).expect("at least one start, by check");
    let losses: Vec<f64> =
        kept.measured.losses.iter().zip(groups).map(|(q, g)| q + g.relative).collect();
    let inside = losses.iter().zip(groups).filter(|(_, g)| !g.outside).map(|(loss, _)| *loss);
    TradeOffPoint {
        alpha,
        total_error: kept.total_error,
        worst_criterion: kept.measured.worst(),
        worst_loss: inside.fold(f64::NEG_INFINITY, f64::max),
        losses,
        relative_errors: kept.measured.relative_errors.clone(),
        components: kept.h.to_components(),
    }
}

fn check(
    data: &GroupedData<'_>,
    starts: &[ArrayView2<'_, f64>],
    options: &TradeOffOptions,
) -> Result<()> {
    let bad = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
    let Some(first) = starts.first() else {
        return bad("starts", "empty".to_owned(), "at least one dictionary is needed");
    };
    for start in starts {
        check_components(data, start.view())?;
        if start.nrows() != first.nrows() {
            let rank = start.nrows().to_string();
            return bad("rank", rank, "all dictionaries of a trade-off need the same rank");
        }
    }
    if options.points < 2 {
        return bad("points", options.points.to_string(), "at least two points are needed");
    }
    if !(options.tolerance.is_finite() && options.tolerance >= 0.0) {
        let value = options.tolerance.to_string();
        return bad("tolerance", value, "must be finite and not negative");
    }
    Ok(())
}
