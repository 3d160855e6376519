//! The fit: baselines, starts, and the one loop that every method shares.
//!
//! A method is a choice of three pieces: row update, dictionary update, weight rule.

mod alternate;
mod start;

pub use start::{Init, Start};

use crate::baseline::{Baseline, Estimate, GroupBaseline, baselines};
use crate::bound::{BoundReport, global_bound};
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::model::{GroupFit, Model, Warning};
use crate::pass::{self, RowStep};
use crate::statistics::Statistics;
use crate::stopping::{Measured, Status, Stopping};
use crate::update::Update;
use crate::weights::{Coefficients, WeightRule, minmax};
use crate::{Element, Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The method of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "name")]
pub enum Method {
    /// Fairer-NMF by alternating minimisation: exact rows, exact min-max dictionary (the
    /// paper's Algorithm 2).
    Am {
        /// Wanted duality gap of every dictionary step, in units of loss.
        gap: f64,
    },
    /// Fairer-NMF by multiplicative updates (the paper's Algorithm 3).
    Mu {
        /// How the group weights follow the losses.
        weights: WeightRule,
    },
    /// Standard NMF: the sum of squared errors over all groups.
    Standard {
        /// The update of both factors.
        update: Update,
    },
}

impl Method {
    /// The AM scheme with its default gap.
    #[must_use]
    pub fn am() -> Self {
        Self::Am { gap: 1e-6 }
    }

    /// The MU scheme as published: decaying step from even weights.
    #[must_use]
    pub fn mu() -> Self {
        Self::Mu { weights: WeightRule::Decaying { even_start: true } }
    }

    /// Standard NMF by HALS.
    #[must_use]
    pub fn standard() -> Self {
        Self::Standard { update: Update::Hals }
    }

    /// `am`, `mu` or `standard`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Am { .. } => "am",
            Self::Mu { .. } => "mu",
            Self::Standard { .. } => "standard",
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::Am { gap } => Scheme {
                rows: Update::Nnls,
                dictionary: Update::Nnls,
                weights: WeightRule::MinMax { gap },
            },
            Self::Mu { weights } => Scheme { rows: Update::Mu, dictionary: Update::Mu, weights },
            Self::Standard { update } => Scheme::standard(update),
        }
    }
}

/// Parameters of a fit; [`Parameters::new`] gives the defaults.
///
/// ```
/// use fairer_nmf::{Method, Parameters};
/// let parameters = Parameters { method: Method::mu(), seed: 7, ..Parameters::new(5) };
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Number of topics r.
    pub rank: usize,
    /// The method.
    pub method: Method,
    /// How a run starts.
    pub init: Init,
    /// Number of restarts; the run with the lowest worst loss is kept (standard NMF: the lowest
    /// total error). The default, 4, was measured: see docs/cells.md.
    pub n_init: usize,
    /// Where the E_ℓ come from.
    pub baseline: Baseline,
    /// When a run ends.
    pub stopping: Stopping,
    /// After the run, give every sample its best coordinates for the final dictionary (exact
    /// NNLS), so that the reported errors are those of [`Model::transform`]. The published code
    /// does not; reproduction switches it off.
    pub polish: bool,
    /// Compute the lower bound on the worst loss of any rank-r model, where it is affordable.
    pub bound: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Parameters {
    /// The defaults for a rank: the AM scheme with the paper's baselines.
    #[must_use]
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            method: Method::am(),
            init: Init::Auto,
            n_init: 4,
            baseline: Baseline::Estimate(Estimate::paper()),
            stopping: Stopping {
                tolerance: 1e-5,
                relative_error_below: Some(1e-6),
                ..Stopping::default()
            },
            polish: true,
            bound: true,
            seed: 0,
        }
    }

    fn check(&self) -> Result<()> {
        let bad = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
        if self.rank == 0 {
            return bad("rank", "0".to_owned(), "at least one topic is needed");
        }
        if self.n_init == 0 {
            return bad("n_init", "0".to_owned(), "at least one start is needed");
        }
        let tolerance = self.stopping.tolerance;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return bad("tolerance", tolerance.to_string(), "must be finite and not negative");
        }
        match self.method {
            Method::Mu { weights: WeightRule::Fixed { step } } if !(0.0..=1.0).contains(&step) => {
                bad("fixed step", step.to_string(), "must lie between 0 and 1")
            }
            Method::Mu { weights: WeightRule::MinMax { .. } } => {
                bad("weights", "minmax".to_owned(), "the exact rule belongs to the method `am`")
            }
            Method::Am { gap } if !(gap.is_finite() && gap > 0.0) => {
                bad("gap", gap.to_string(), "must be finite and positive")
            }
            _ => Ok(()),
        }
    }
}

/// What a fit tells its observer. Returning [`ControlFlow::Break`] stops the fit at the next
/// iteration, with the status [`Status::Stopped`].
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Baseline runs finished so far.
    Baselines {
        /// Runs done.
        done: usize,
        /// Runs in all.
        total: usize,
    },
    /// An iteration of a restart ended.
    Iteration {
        /// Number of the restart, from 0.
        restart: usize,
        /// Restarts in all.
        restarts: usize,
        /// Number of the iteration, from 1.
        iteration: usize,
        /// Losses of the groups.
        losses: &'a [f64],
        /// The largest of them.
        worst_loss: f64,
    },
    /// An audit is at work.
    Audit {
        /// On which part.
        part: crate::AuditPart,
        /// Steps of the part done.
        done: usize,
        /// Steps of the part in all.
        total: usize,
    },
}

/// The observer of a fit or an audit: called once an iteration or step, possibly from several
/// threads.
pub type Observer<'a> = dyn Fn(&Progress<'_>) -> ControlFlow<()> + Sync + 'a;

/// An observer that says nothing and never stops anything.
pub fn silent(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A fitted model with the representation of the data it was fitted on.
#[derive(Clone, Debug)]
pub struct Fit<T> {
    /// The model.
    pub model: Model,
    /// W (m×r), rows in the order of the data.
    pub representation: Array2<T>,
    /// Time spent on the baselines.
    pub baseline_time: Duration,
    /// Time spent on the factorisation itself, its bound included.
    pub fit_time: Duration,
}

/// Fits a model: baselines first, then `n_init` restarts, of which the best is kept.
///
/// # Errors
/// Parameters outside their range, or baselines that do not fit the groups. Not converging is no
/// error: see [`Model::status`].
///
/// ```
/// use fairer_nmf::{GroupedData, Parameters, fit, silent, synthetic};
/// let (x, labels) = synthetic::first(0);
/// let data = GroupedData::new(x.view(), &labels)?.normalize_features()?;
/// let fit = fit(&data, &Parameters::new(4), &silent)?;
/// assert!(fit.model.worst_loss() < 0.5);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn fit<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    T::fit(data, parameters, None, observer)
}

/// Fits a model from a given start instead of `parameters.init`; `n_init` is ignored.
///
/// # Errors
/// As [`fit`]; also a start whose shape does not fit or that has negative entries.
pub fn fit_from<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    start: &Start,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    start.check(data, parameters.rank)?;
    T::fit(data, parameters, Some(start), observer)
}

/// Estimates the E_ℓ of every group without a fit.
///
/// # Errors
/// As [`fit`].
pub fn estimate_baselines<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    Parameters::new(rank).check()?;
    T::baselines(data, rank, seed, baseline, &Context { observer, deadline: None })
}

pub(crate) fn fit_with<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    given: Option<&Start>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    parameters.check()?;
    let begin = Instant::now();
    // Once the observer has asked to stop, nothing long begins any more.
    let stopped = AtomicBool::new(false);
    let watched = |progress: &Progress<'_>| {
        let answer = observer(progress);
        stopped.fetch_or(answer.is_break(), Ordering::Relaxed);
        answer
    };
    let context = Context { observer: &watched, deadline: parameters.stopping.deadline(begin) };
    let baseline =
        baselines(data, parameters.rank, parameters.seed, &parameters.baseline, &context)?;
    let baseline_time = begin.elapsed();
    let errors: Vec<f64> = baseline.iter().map(|b| b.error).collect();

    let bound = if stopped.load(Ordering::Relaxed) {
        BoundReport::absent("the fit was stopped")
    } else if parameters.bound {
        global_bound(data, parameters.rank, &errors)
    } else {
        BoundReport::absent("not asked for")
    };
    let mut best = match given {
        Some(start) => iterate(
            data,
            start::given(data, parameters.rank, parameters.seed, start),
            parameters.method.scheme(),
            &errors,
            &parameters.stopping,
            &context,
            (0, 1),
        ),
        None => best_of_restarts(data, parameters, &errors, &context),
    };
    if parameters.polish && parameters.method.scheme().rows != Update::Nnls {
        let rows = RowStep::Update(Update::Nnls);
        let statistics = pass::run(data, &best.dictionary, rows, &mut best.representation);
        best.measured = measure(data, &statistics, &best.dictionary, &best.representation, &errors);
    }
    let representation = in_row_order(data, &best.representation, parameters.rank);
    let model = into_model(data, parameters, baseline, best, bound);
    Ok(Fit { model, representation, baseline_time, fit_time: begin.elapsed() - baseline_time })
}

/// Factors below this size run their restarts in parallel; above, one after the other, so that
/// no more than two representations are alive.
const PARALLEL_RESTARTS: usize = 1 << 20;

fn best_of_restarts<T: Element>(
    data: &GroupedData<'_, T>,
    p: &Parameters,
    baselines: &[f64],
    context: &Context<'_>,
) -> Run<T> {
    let one = |restart: usize| {
        let begin = start::make(data, p.rank, &p.init, restart, p.seed);
        let counts = (restart, p.n_init);
        iterate(data, begin, p.method.scheme(), baselines, &p.stopping, context, counts)
    };
    // Standard NMF is judged by what it minimises, the others by the largest loss.
    let value = |run: &Run<T>| match p.method {
        Method::Standard { .. } => run.measured.errors.iter().map(|e| e * e).sum(),
        Method::Am { .. } | Method::Mu { .. } => run.measured.worst(),
    };
    let better = |a: Run<T>, b: Run<T>| if value(&b) < value(&a) { b } else { a };
    let runs = if data.rows() * p.rank * p.n_init <= PARALLEL_RESTARTS {
        let runs: Vec<Run<T>> = (0..p.n_init).into_par_iter().map(one).collect();
        runs.into_iter().reduce(better)
    } else {
        (0..p.n_init).map(one).reduce(better)
    };
    runs.expect("n_init is at least 1 by Parameters::check")
}

/// What a run shares with its caller: who watches, and until when.
pub(crate) struct Context<'a> {
    pub observer: &'a Observer<'a>,
    pub deadline: Option<Instant>,
}

/// The three interchangeable pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheme {
    pub rows: Update,
    pub dictionary: Update,
    pub weights: WeightRule,
}

impl Scheme {
    pub fn standard(update: Update) -> Self {
        Self { rows: update, dictionary: update, weights: WeightRule::Uniform }
    }
}

/// One restart's factors *and* what they achieve.
pub(crate) struct Run<T> {
    pub dictionary: Dictionary,
    /// W, rows in the order of the groups.
    pub representation: Vec<T>,
    pub measured: Measured,
    pub history: Vec<Vec<f64>>,
    pub status: Status,
    pub step_gap: Option<f64>,
    pub weights: Vec<f64>,
}

/// One run from an initialisation: what baselines are made of.
#[allow(clippy::too_many_arguments)]
pub(crate) fn run_once<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    init: &Init,
    restart: usize,
    seed: u64,
    scheme: Scheme,
    baselines: &[f64],
    stopping: &Stopping,
    context: &Context<'_>,
) -> Run<T> {
    let begin = start::make(data, rank, init, restart, seed);
    iterate(data, begin, scheme, baselines, stopping, context, (restart, 1))
}

/// The loop: dictionary, rows, losses, until nothing moves.
fn iterate<T: Element>(
    data: &GroupedData<'_, T>,
    begin: start::Begin<T>,
    scheme: Scheme,
    baselines: &[f64],
    stopping: &Stopping,
    context: &Context<'_>,
    (restart, restarts): (usize, usize),
) -> Run<T> {
    if let WeightRule::MinMax { .. } = scheme.weights {
        let counts = (restart, restarts);
        return alternate::run(data, begin, scheme, baselines, stopping, context, counts);
    }
    let start::Begin { dictionary: mut h, representation: mut w, step } = begin;
    let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
    let mut driver = Driver::new(scheme, &norms, baselines);
    let mut statistics = pass::run(data, &h, step, &mut w);
    let mut now = measure(data, &statistics, &h, &w, baselines);
    let mut history = Vec::new();
    let mut status = Status::IterationLimit;

    for iteration in 1..=stopping.max_iterations {
        driver.update_dictionary(&statistics, &now.losses, &mut h);
        statistics = pass::run(data, &h, RowStep::Update(scheme.rows), &mut w);
        let before = std::mem::replace(&mut now, measure(data, &statistics, &h, &w, baselines));
        history.push(now.losses.clone());

        let losses = &now.losses;
        let worst_loss = now.worst();
        let progress = Progress::Iteration { restart, restarts, iteration, losses, worst_loss };
        if (context.observer)(&progress).is_break() {
            status = Status::Stopped;
            break;
        }
        if iteration > 1 && stopping.met(&before, &now) {
            status = Status::Converged;
            break;
        }
        if context.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            status = Status::TimeLimit;
            break;
        }
    }
    Run {
        dictionary: h,
        representation: w,
        measured: now,
        history,
        status,
        step_gap: driver.gap,
        weights: driver.lambda,
    }
}

/// Everything that never sees a row: weights and the dictionary step.
struct Driver<'a> {
    scheme: Scheme,
    norms: &'a [f64],
    baselines: &'a [f64],
    coefficients: Coefficients,
    /// Multipliers of the last exact step (sum 1); carried as its warm start.
    lambda: Vec<f64>,
    /// Duality gap of the last exact step.
    gap: Option<f64>,
    /// By how much the last exact step lowered the largest loss.
    improvement: f64,
}

/// No exact step is asked for a smaller gap: rounding.
const FINEST_GAP: f64 = 1e-11;

impl<'a> Driver<'a> {
    fn new(scheme: Scheme, norms: &'a [f64], baselines: &'a [f64]) -> Self {
        let groups = norms.len();
        Self {
            scheme,
            norms,
            baselines,
            coefficients: Coefficients::new(scheme.weights, groups),
            lambda: vec![1.0 / groups as f64; groups],
            gap: None,
            improvement: f64::INFINITY,
        }
    }

    /// H ← the exact minimum of the largest loss. Once the loss creeps, a gap that is coarse
    /// beside the last improvement would end the creeping too early.
    fn exact_dictionary(&mut self, statistics: &[Statistics], h: &mut Dictionary) {
        let WeightRule::MinMax { gap } = self.scheme.weights else {
            unreachable!("only the AM scheme takes exact dictionary steps")
        };
        let gap = gap.min(0.1 * self.improvement).max(FINEST_GAP);
        let problem = minmax::Problem { statistics, norms: self.norms, baselines: self.baselines };
        let step = minmax::solve(&problem, h, &self.lambda, gap);
        self.gap = Some(step.gap());
        self.lambda = step.lambda;
    }

    fn update_dictionary(&mut self, statistics: &[Statistics], losses: &[f64], h: &mut Dictionary) {
        let weights = self.coefficients.next(self.scheme.weights, losses, self.norms);
        let sum = Statistics::weighted(statistics, &weights, h.rank, h.features);
        self.scheme.dictionary.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank);
    }
}

/// Errors and losses of all groups; directly from the residual where the statistics cannot tell.
pub(crate) fn measure<T: Element>(
    data: &GroupedData<'_, T>,
    statistics: &[Statistics],
    h: &Dictionary,
    w: &[T],
    baselines: &[f64],
) -> Measured {
    let gram = h.gram();
    let mut offset = 0;
    let mut errors = Vec::with_capacity(statistics.len());
    for (l, (group, s)) in data.groups().iter().zip(statistics).enumerate() {
        let length = group.rows.len() * h.rank;
        let mut squared = s.squared_error(h, &gram);
        if squared < T::TRUSTED_SQUARED_ERROR * group.squared_norm {
            squared = pass::direct_squared_error(data, l, h, &w[offset..offset + length]);
        }
        errors.push(squared.sqrt());
        offset += length;
    }
    let norms = data.groups().iter().map(|g| g.norm());
    let relative_errors: Vec<f64> = errors.iter().zip(norms.clone()).map(|(e, n)| e / n).collect();
    let losses = errors.iter().zip(baselines).zip(norms).map(|((e, b), n)| (e - b) / n).collect();
    Measured { errors, relative_errors, losses }
}

/// W with its rows where the data has them.
pub(crate) fn in_row_order<T: Element>(
    data: &GroupedData<'_, T>,
    w: &[T],
    rank: usize,
) -> Array2<T> {
    let mut out = Array2::from_elem((data.rows(), rank), T::default());
    let rows = data.groups().iter().flat_map(|g| &g.rows);
    for (&row, values) in rows.zip(w.chunks_exact(rank)) {
        out.row_mut(row).iter_mut().zip(values).for_each(|(o, &v)| *o = v);
    }
    out
}

fn into_model<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    baselines: Vec<GroupBaseline>,
    run: Run<T>,
    bound: BoundReport,
) -> Model {
    let groups: Vec<GroupFit> = data
        .groups()
        .iter()
        .zip(baselines)
        .enumerate()
        .map(|(l, (group, baseline))| GroupFit {
            name: group.name.clone(),
            rows: group.rows.len(),
            norm: group.norm(),
            baseline,
            relative_error: run.measured.relative_errors[l],
            loss: run.measured.losses[l],
            weight: run.weights[l],
        })
        .collect();
    Model {
        components: run.dictionary.to_components(),
        warnings: Warning::of(data, parameters, run.status),
        groups,
        parameters: parameters.clone(),
        status: run.status,
        history: run.history,
        step_gap: run.step_gap,
        global_bound: bound,
        scale: data.scale().map(<[f64]>::to_vec),
        feature_names: None,
    }
}
