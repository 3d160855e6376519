//! The fit: baselines, the bound, and restarts of the one loop (`iteration`), of which the best
//! becomes the model.

mod adjusted;
mod exchange;
mod held;
mod leximin;
mod made;
mod restarts;
mod worst_share;

pub use adjusted::{allowances, fit_against};
pub use held::{RowsFit, fit_rows, fit_rows_kept};
pub use worst_share::ShareReport;

use crate::baseline::{Baseline, GroupBaseline, baselines};
use crate::bound::{BoundReport, bound_of_rows};
pub use crate::criterion::Allowance;
use crate::data::GroupedData;
pub use crate::iteration::{Checkpoint, Start};
use crate::iteration::{Context, Keeper, Part, Task, criteria, iterate, measure, start};
use crate::limit::Limit;
use crate::model::{Model, Warning};
use crate::parameters::{Method, Parameters};
pub use crate::parameters::{StartWeights, Ties};
use crate::penalties;
use crate::progress::{Observer, Progress};
use crate::rows::{Element, RowStep, Rows, Units, squared_norm};
use crate::stopping::Status;
use crate::update::Update;
use crate::{Error, Result, audit};
use made::{checked_weights, into_model};
use ndarray::Array2;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

/// Fits a model: baselines first, then a search as long as `n_init` says, of which the best run is kept.
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
    fit_kept(data, parameters, None, observer)
}

/// The same, with its state in a checkpoint, or from one: a fit that goes on ends with the model that it
/// would have ended with.
///
/// # Errors
/// As [`fit`]; files that cannot be written, or a checkpoint of other data or parameters.
pub fn fit_kept<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    match parameters.init.fill() {
        Some(fill) => {
            parameters.check()?;
            let start = Start::nndsvd(data, parameters.rank, fill)?;
            fit_with(data, parameters, Some(&start), checkpoint, observer)
        }
        None => fit_with(data, parameters, None, checkpoint, observer),
    }
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
    start.check((data.rows(), data.features()), parameters.rank)?;
    fit_with(data, parameters, Some(start), None, observer)
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
    baselines_within(data, rank, baseline, seed, None, observer)
}

/// [`estimate_baselines`] with runs that end at the deadline.
fn baselines_within<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    deadline: Option<Instant>,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    Parameters::new(rank).check()?;
    if let Baseline::HeldOut { folds, runs } = *baseline {
        return audit::held_out_baselines(data, rank, folds, runs, seed, observer);
    }
    let context = Context { deadline, limit: data.limit, ..Context::without_limit(observer) };
    held_baselines(&*T::hold(data, Units::Own), rank, baseline, seed, &context)
}

/// [`estimate_baselines`] for rows that somebody else holds.
///
/// # Errors
/// As [`fit_rows`].
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

fn held_baselines(
    rows: &dyn Rows,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    context: &Context<'_>,
) -> Result<Vec<GroupBaseline>> {
    let found = baselines(rows, rank, seed, &baseline.times(rows.unit()), context)?;
    Ok(found.iter().map(|b| b.times(1.0 / rows.unit())).collect())
}

fn fit_with<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    start: Option<&Start>,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    let limited = within(data, parameters);
    let data = limited.as_ref().unwrap_or(data);
    if let Method::WorstShare { share } = parameters.method {
        return worst_share::fit_share(data, parameters, share, (start, checkpoint), observer);
    }
    let outside = adjusted::outside(data, parameters);
    let left_out = outside.iter().any(|a| a.outside);
    let needs_data = matches!(parameters.baseline, Baseline::Adjusted { .. });
    if matches!(parameters.baseline, Baseline::HeldOut { .. }) {
        parameters.check()?;
        return adjusted::fit_allowed(data, parameters, outside, (start, checkpoint), observer);
    }
    // Standard NMF minimises no loss, and one group has nobody beside it.
    let is_standard = parameters.method.is_standard();
    if data.groups().len() > 1 && !is_standard && (needs_data || left_out) {
        parameters.check()?;
        return adjusted::fit_allowed(data, parameters, outside, (start, checkpoint), observer);
    }
    let mut found = fit_unadjusted(data, parameters, start, checkpoint, observer)?;
    let model = &mut found.model;
    for (group, allowance) in model.groups.iter_mut().zip(&outside) {
        group.outside = allowance.outside;
    }
    Ok(found)
}

/// The data for passes that end inside where the parameters limit the time.
fn within<'a, T: Element>(
    data: &GroupedData<'a, T>,
    parameters: &Parameters,
) -> Option<GroupedData<'a, T>> {
    let limit = Limit::of(parameters.stopping.time_limit, Instant::now());
    limit.is_some().then(|| data.until(limit))
}

fn fit_unadjusted<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    start: Option<&Start>,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    data.check_gaps()?;
    let limited = within(data, parameters);
    let data = limited.as_ref().unwrap_or(data);
    let rows = T::hold(data, Units::Own);
    let RowsFit { mut model, rows: fitted, split, baseline_time, fit_time } =
        run(&*rows, parameters, &[], start, checkpoint, observer)?;
    let mut representation = T::representation(fitted.representation()?.times(1.0 / split));
    for (l, (fitted, group)) in model.groups.iter_mut().zip(data.groups()).enumerate() {
        fitted.norm = group.norm();
        fitted.family = group.family.clone();
        fitted.effective_rows = data.is_weighted().then(|| data.effective_rows(l));
        fitted.observed = data.observed_share(l);
    }
    if start.is_none() {
        data.forget_unknown(&mut model.components);
    }
    model.scale = data.scale().map(<[f64]>::to_vec);
    let of_shape = Warning::of_shape(data.rows(), &model);
    model.warnings.splice(0..0, of_shape);
    fill_absent(data, &model, &mut representation)?;
    Ok(Fit { model, representation, baseline_time, fit_time })
}

/// Rows that are in no group, as those of weight zero are, have played no part: they get the best
/// coordinates for the dictionary, as new rows do.
fn fill_absent<T: Element>(
    data: &GroupedData<'_, T>,
    model: &Model,
    representation: &mut Array2<T>,
) -> Result<()> {
    let mut absent = vec![true; data.rows()];
    data.grouped_rows().for_each(|row| absent[row] = false);
    let absent: Vec<usize> = (0..data.rows()).filter(|&row| absent[row]).collect();
    if let Some(found) = data.project_unweighted(absent.clone(), model)? {
        for row in absent {
            representation.row_mut(row).assign(&found.row(row));
        }
    }
    Ok(())
}

/// `outside` says which groups stay outside the maximum; none where it is empty.
fn run<'r>(
    rows: &'r dyn Rows,
    parameters: &Parameters,
    outside: &[Allowance],
    given: Option<&Start>,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<RowsFit<'r>> {
    parameters.check()?;
    let begin = Instant::now();
    let unit = rows.unit();
    // Once the observer has asked to stop, nothing long begins any more.
    let stopped = AtomicBool::new(false);
    let watched = |progress: &Progress<'_>| {
        if stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let answer = observer(progress);
        stopped.fetch_or(answer.is_break(), Ordering::Relaxed);
        answer
    };
    let runs = parameters.baseline.runs() * rows.groups().len();
    let keeper = checkpoint.map(|c| Keeper::new(c, rows, parameters, runs)).transpose()?;
    let keeper = keeper.as_ref();
    let deadline = parameters.stopping.deadline(begin);
    let limit = Limit::of(parameters.stopping.time_limit, begin);
    let context = Context { observer: &watched, deadline, limit, keeper };
    let asked = parameters.baseline.times(unit);
    let baseline = baselines(rows, parameters.rank, parameters.seed, &asked, &context)?;
    let baseline_time = begin.elapsed();
    let cut_short = context.is_over()
        && matches!(parameters.baseline, Baseline::Estimate(_) | Baseline::Adjusted { .. });
    let mut errors: Vec<f64> = baseline.iter().map(|b| b.error).collect();
    for ((error, allowance), group) in errors.iter_mut().zip(outside).zip(rows.groups()) {
        *error = allowance.offset(*error, group.norm());
    }
    // Baselines that were cut short are no ground for a state to go on from.
    let keeper = keeper.filter(|_| !(stopped.load(Ordering::Relaxed) || context.is_over()));
    let context = Context { keeper, ..context };

    let from_bound = parameters.start_weights == StartWeights::Bound;
    let mut bound = if stopped.load(Ordering::Relaxed) {
        BoundReport::absent("the fit was stopped")
    } else if context.is_over() {
        BoundReport::absent("the time was up")
    } else if let Some(known) = keeper.and_then(Keeper::bound) {
        known
    } else if parameters.bound || from_bound {
        let found = bound_of_rows(rows, parameters.rank, &errors, context.deadline)?;
        let whole = keeper.filter(|_| !context.is_over());
        whole.map_or(Ok(()), |keeper| keeper.note_bound(&found))?;
        found
    } else {
        BoundReport::absent("not asked for")
    };
    let groups = rows.groups().len();
    let start_weights = match &parameters.start_weights {
        StartWeights::Even => None,
        // Beyond its size limit the bound has no weights.
        StartWeights::Bound if bound.weights.is_empty() => None,
        StartWeights::Bound => Some(checked_weights(&bound.weights, groups)?),
        StartWeights::Given { weights } => Some(checked_weights(weights, groups)?),
    };
    if !parameters.bound && bound.value.is_some() {
        bound = BoundReport::absent("not asked for");
    }
    let own = given.map(|start| start.in_own_units(unit));
    let mut scheme = parameters.method.scheme(squared_norm(rows));
    let costs = match parameters.method {
        Method::Penalised { penalties, .. } => {
            let split = own.as_ref().map_or(1.0, |(_, split)| *split);
            Some(penalties.in_units(rows.features(), rows.mass(), unit, split))
        }
        Method::WorstShare { .. } => {
            let expected = "this needs all rows in memory, and groups have no part in it";
            let (name, value) = ("method", "worst-share".to_owned());
            return Err(Error::Parameter { name, value, expected });
        }
        _ => None,
    };
    if let Some(costs) = costs {
        scheme = scheme.penalised(costs);
    }
    let criteria = criteria(rows, &errors);
    let task = Task {
        scheme,
        closing: if parameters.polish || costs.is_some() { Update::Nnls } else { scheme.rows },
        criteria: &criteria,
        start_weights: start_weights.as_deref(),
        stopping: &parameters.stopping,
        least_fall: None,
        finishing: false,
        context,
        restart: 0,
        restarts: 1,
        part: Part::Restart,
    };
    let (mut best, split) = match own {
        Some((start, split)) => {
            let mut rows = rows.apart();
            let begin = start::given(&mut *rows, parameters.rank, parameters.seed, &start)?;
            (iterate(rows, begin, &task)?, split)
        }
        None => (restarts::best_fit(rows, parameters, &task)?, 1.0),
    };
    if let Method::Am { gap, ties: Ties::Leximin, .. } = parameters.method {
        best = leximin::refine(best, gap, &task)?;
    }
    if stopped.load(Ordering::Relaxed) {
        best.status = Status::Stopped;
    }
    // Once the time is up there are no other rows than those that are there.
    if parameters.polish && !scheme.looks_ahead && costs.is_none() && !limit.is_over() {
        let statistics = best.rows.pass(&best.dictionary, RowStep::EXACT)?;
        best.measured = measure(&*best.rows, &statistics, &best.dictionary, &criteria)?;
    }
    let objective = costs.map(|costs| penalties::objective(&best, costs) / (unit * unit));
    let baseline = baseline.iter().map(|b| b.times(1.0 / unit)).collect();
    let (mut model, rows) = into_model(parameters, baseline, best, bound);
    model.components.mapv_inplace(|v| v * split / unit);
    model.penalised_objective = objective;
    model.check_finite()?;
    if cut_short {
        model.warnings.push(Warning::BaselinesCutShort);
    }
    let fit_time = begin.elapsed() - baseline_time;
    Ok(RowsFit { model, rows, split, baseline_time, fit_time })
}
