//! The search: restarts of the one loop (`iteration`) and rounds of exchanges and splits of topics, against
//! baselines that are estimated or given. What knows of chance, of rows held out and of the worst share stands above it.

pub(crate) mod baselines;
mod exchange;
mod leximin;
mod made;
mod restarts;
mod rounds;
mod several;
mod split;

use crate::baseline::{Baseline, GroupBaseline};
use crate::bound::{BoundReport, bound_of_rows};
use crate::criterion::Allowance;
use crate::data::GroupedData;
use crate::iteration::{
    Checkpoint, Context, Keeper, Start, Task, criteria, iterate, measure, start,
};
use crate::limit::Limit;
use crate::model::{Model, Warning};
use crate::parameters::{Method, Parameters, StartWeights, Ties};
use crate::penalties::Cost;
use crate::progress::{Observer, Progress};
use crate::rows::{Representation, RowStep, Rows, Units, hold, squared_norm};
use crate::stopping::Status;
use crate::update::Update;
use crate::{Error, Result};
use baselines::baselines;
use made::{checked_weights, into_model};
use ndarray::Array2;
use restarts::Found;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A fitted model with the representation of the data it was fitted on.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// W (m×r), rows in the order of the data.
    pub representation: Representation,
    /// Time spent on the baselines.
    pub baseline_time: Duration,
    /// Time spent on the factorisation itself, its bound included.
    pub fit_time: Duration,
}

/// What a fit of rows leaves, whoever holds them.
pub struct RowsFit<'r> {
    /// The model. Whether features were scaled, and how they are called, is for the holder's owner
    /// to say: [`Model::scale`], [`Model::feature_names`].
    pub model: Model,
    /// The rows, with the W of the fit.
    pub(crate) rows: Box<dyn Rows + 'r>,
    /// What W is too large by.
    pub(crate) split: f64,
    /// Time spent on the baselines.
    pub baseline_time: Duration,
    /// Time spent on the factorisation itself, its bound included.
    pub fit_time: Duration,
}

impl RowsFit<'_> {
    /// W (m×r), rows in the order of the data.
    ///
    /// # Errors
    /// The rows cannot be reached.
    pub fn representation(&self) -> Result<Representation> {
        Ok(self.rows.representation()?.times(1.0 / self.split))
    }
}

/// The data for passes that end inside where the parameters limit the time.
pub(crate) fn within<'a>(
    data: &GroupedData<'a>,
    parameters: &Parameters,
) -> Option<GroupedData<'a>> {
    let limit = Limit::of(parameters.stopping.time_limit, Instant::now());
    limit.is_some().then(|| data.until(limit))
}

/// Fits a model against the baselines that the parameters name, from a start where one is given.
pub(crate) fn fit_plain(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    start: Option<&Start>,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit> {
    fit_outside(data, parameters, &[], (start, checkpoint), observer)
}

/// The same, with who stays outside the maximum; see [`run`].
pub(crate) fn fit_outside(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    outside: &[Allowance],
    (start, checkpoint): (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit> {
    data.check_gaps()?;
    let limited = within(data, parameters);
    let data = limited.as_ref().unwrap_or(data);
    let rows = hold(data, Units::Own);
    let RowsFit { mut model, rows: fitted, split, baseline_time, fit_time } =
        run(&*rows, parameters, outside, start, checkpoint, observer)?;
    let mut representation = fitted.representation()?.times(1.0 / split);
    for (l, fitted) in model.groups.iter_mut().enumerate() {
        fitted.group = data.group_rows(l);
    }
    if start.is_none() {
        forget_unknown(&*rows, &mut model.components);
    }
    model.scale = data.scale().map(<[f64]>::to_vec);
    let of_shape = Warning::of_shape(data.rows(), &model);
    model.warnings.splice(0..0, of_shape);
    fill_absent(data, &model, &mut representation)?;
    Ok(Fit { model, representation, baseline_time, fit_time })
}

/// A model of the same rows under other labels.
pub(crate) fn fit_relabelled(
    rows: &dyn Rows,
    groups: Vec<(String, Vec<usize>)>,
    parameters: &Parameters,
    start: Option<&Start>,
    observer: &Observer<'_>,
) -> Result<Model> {
    let rows = rows.relabel(groups)?;
    let mut model = run(&*rows, parameters, &[], start, None, observer)?.model;
    if start.is_none() {
        forget_unknown(&*rows, &mut model.components);
    }
    Ok(model)
}

/// Takes back what a random start left in the features that no row of a group has a value of: a dictionary
/// that has not seen them says zero.
fn forget_unknown(rows: &dyn Rows, components: &mut Array2<f64>) {
    for column in rows.unknown_features() {
        components.column_mut(column).fill(0.0);
    }
}

/// Rows that are in no group, as those of weight zero are, have played no part: they get the best
/// coordinates for the dictionary, as new rows do.
fn fill_absent(
    data: &GroupedData<'_>,
    model: &Model,
    representation: &mut Representation,
) -> Result<()> {
    let mut absent = vec![true; data.rows()];
    data.grouped_rows().for_each(|row| absent[row] = false);
    let absent: Vec<usize> = (0..data.rows()).filter(|&row| absent[row]).collect();
    if let Some(found) = data.project_unweighted(absent.clone(), model)? {
        representation.take_rows(&absent, found);
    }
    Ok(())
}

/// `outside` says which groups stay outside the maximum; none where it is empty. Standard NMF minimises no loss, and
/// asks for its bound alone: that of the worst loss of the groups that count.
pub(crate) fn run<'r>(
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
    let (rank, seed) = (parameters.rank, parameters.seed);
    let baseline = baselines(rows, rank, seed, &parameters.baseline, &context)?;
    let baseline_time = begin.elapsed();
    let cut_short = context.is_over()
        && matches!(parameters.baseline, Baseline::Estimate(_) | Baseline::Adjusted { .. });
    let mut errors: Vec<f64> = GroupBaseline::errors(&baseline);
    let mut counted = errors.clone();
    for ((error, allowance), group) in counted.iter_mut().zip(outside).zip(rows.groups()) {
        *error = allowance.offset(*error, group.norm());
    }
    if !parameters.method.is_standard() {
        errors.clone_from(&counted);
    }
    // Baselines that were cut short are no ground for a state to go on from.
    let keeper = keeper.filter(|_| !(stopped.load(Ordering::Relaxed) || context.is_over()));
    let context = Context { keeper, ..context };

    let mut bound = match stopped.load(Ordering::Relaxed) {
        true => BoundReport::absent("bound-stopped", "the fit was stopped"),
        false => bound_before(rows, parameters, &counted, &context)?,
    };
    let start_weights = start_weights(parameters, &bound, rows.groups().len())?;
    if !parameters.bound && bound.value.is_some() {
        bound = BoundReport::not_asked();
    }
    let own = given.map(|start| start.in_own_units(unit));
    let mut scheme = parameters.method.scheme(squared_norm(rows));
    let costs = costs(rows, parameters.method, own.as_ref().map_or(1.0, |(_, split)| *split))?;
    if let Some(costs) = costs {
        scheme = scheme.penalised(costs);
    }
    let criteria = criteria(rows, &errors);
    let exact = parameters.polish || costs.is_some();
    let task = Task {
        closing: Some(if exact { Update::Nnls } else { scheme.rows }),
        start_weights: start_weights.as_deref(),
        ..Task::alone(scheme, &criteria, &parameters.stopping, context)
    };
    let (Found { run: mut best, standard }, split) = match own {
        Some((start, split)) => {
            let mut rows = rows.apart();
            let begin = start::given(&mut *rows, parameters.rank, parameters.seed, &start)?;
            (Found::alone(iterate(rows, begin, &task)?), split)
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
    let objective = costs.map(|costs| best.penalised(costs) / (unit * unit));
    let baseline = baseline.iter().map(|b| b.times(1.0 / unit)).collect();
    let found = Found { run: best, standard };
    let (mut model, rows) = into_model(parameters, baseline, found, bound);
    model.components.mapv_inplace(|v| v * split / unit);
    model.penalised_objective = objective;
    model.check_finite()?;
    if cut_short {
        model.warnings.push(Warning::BaselinesCutShort);
    }
    let fit_time = begin.elapsed() - baseline_time;
    Ok(RowsFit { model, rows, split, baseline_time, fit_time })
}

/// The bound, where somebody needs it and there is time: once it is known a checkpoint has it.
fn bound_before(
    rows: &dyn Rows,
    parameters: &Parameters,
    errors: &[f64],
    context: &Context<'_>,
) -> Result<BoundReport> {
    if context.is_over() {
        return Ok(BoundReport::absent("bound-out-of-time", "the time was up"));
    }
    if let Some(known) = context.keeper.and_then(Keeper::bound) {
        return Ok(known);
    }
    if !parameters.bound && parameters.start_weights != StartWeights::Bound {
        return Ok(BoundReport::not_asked());
    }
    let found = bound_of_rows(rows, parameters.rank, errors, context.deadline)?;
    let whole = context.keeper.filter(|_| !context.is_over());
    whole.map_or(Ok(()), |keeper| keeper.note_bound(&found))?;
    Ok(found)
}

/// What the groups weigh in the first iterations, where that is not even.
fn start_weights(
    parameters: &Parameters,
    bound: &BoundReport,
    groups: usize,
) -> Result<Option<Vec<f64>>> {
    Ok(match &parameters.start_weights {
        StartWeights::Even => None,
        // Beyond its size limit the bound has no weights.
        StartWeights::Bound if bound.weights.is_empty() => None,
        StartWeights::Bound => Some(checked_weights(&bound.weights, groups)?),
        StartWeights::Given { weights } => Some(checked_weights(weights, groups)?),
    })
}

/// What entries of W and H cost, in the holder's units; `split`: how much of these H takes.
fn costs(rows: &dyn Rows, method: Method, split: f64) -> Result<Option<(Cost, Cost)>> {
    match method {
        Method::Penalised { penalties, .. } => {
            Ok(Some(penalties.in_units(rows.features(), rows.mass(), rows.unit(), split)))
        }
        Method::WorstShare { .. } => {
            let expected = "this needs all rows in memory, and groups have no part in it";
            Err(Error::Parameter { name: "method", value: "worst-share".to_owned(), expected })
        }
        _ => Ok(None),
    }
}
