//! Several runs, of which the best is kept and, by default, finished.

use super::rounds::Search;
use super::several::{Judge, TIE, each};
use crate::Result;
use crate::init::Init;
use crate::iteration::{
    Begin, Context, DictionaryRule, First, Part, Run, Scheme, Task, iterate, start,
};
use crate::measured::Measured;
use crate::parameters::{Method, Parameters};
use crate::progress::{Observer, Progress};
use crate::rows::Rows;
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use crate::weights::WeightRule;
use std::ops::ControlFlow;

/// A run of a fit, and what standard NMF was at where it was fitted on the way there.
pub(super) struct Found<'r> {
    pub run: Run<'r>,
    pub standard: Option<Measured>,
}

impl<'r> Found<'r> {
    /// A run that has met no standard NMF.
    pub fn alone(run: Run<'r>) -> Self {
        Self { run, standard: None }
    }
}

/// The best run of a fit. Between standard NMF and Fairer-NMF (α from 0 to 1) it begins once at the best
/// run of either, so that neither has a lower (1 − α)·total error + α·worst loss.
pub(super) fn best_fit<'r>(
    rows: &'r dyn Rows,
    p: &Parameters,
    task: &Task<'_>,
) -> Result<Found<'r>> {
    let (DictionaryRule::Mixture { .. }, Method::Am { gap, .. }) =
        (task.scheme.dictionary, p.method)
    else {
        return best_of(rows, p, task);
    };
    let observer = |progress: &Progress<'_>| leading_up(progress, task.context.observer);
    // Runs between the two are not kept: their ends would need names of their own.
    let own = Context { keeper: None, ..task.context };
    let task = &Task { context: own, ..*task };
    let context = Context { observer: &observer, ..own };
    let standard = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    let mut best: Option<Run<'r>> = None;
    let mut beside: Option<Measured> = None;
    // The ends are those that fits of their own would have.
    let ends = [(standard, Method::standard()), (Scheme::min_max(gap), p.method)];
    for (restart, (scheme, method)) in ends.into_iter().enumerate() {
        let end = Task { scheme, closing: Some(Update::Nnls), context, ..*task };
        let p = Parameters { method, ..p.clone() };
        let Run { dictionary, rows, statistics, measured, .. } = best_of(rows, &p, &end)?.run;
        // The first of the two.
        beside.get_or_insert_with(|| measured.clone());
        let first = First::Known(statistics, measured);
        let begin = Begin { dictionary, first, history: Vec::new() };
        let run = iterate(rows, begin, &Task { restart, restarts: 2, ..*task })?;
        let value = |run: &Run<'_>| task.scheme.objective.of(&run.measured);
        if best.as_ref().is_none_or(|kept| value(&run) < value(kept) - TIE) {
            best = Some(run);
        }
    }
    Ok(Found { run: best.expect("one of two"), standard: beside })
}

/// Tells an observer of iterations that lead up to a run, and are not counted.
fn leading_up(progress: &Progress<'_>, observer: &Observer<'_>) -> ControlFlow<()> {
    match *progress {
        Progress::Iteration { restart, restarts, losses, weights, worst_loss, .. } => {
            let iteration = 0;
            observer(&Progress::Iteration {
                restart,
                restarts,
                iteration,
                losses,
                weights,
                worst_loss,
            })
        }
        _ => observer(progress),
    }
}

/// The best of several runs of a task from starts of their own: `n_init`, or, by default ([`Init::Auto`]) for the AM
/// scheme, a quarter as many and one from a standard fit, so that several are never worse than that. There rounds of
/// exchanges and splits of topics follow ([`super::rounds`]), and the best run goes on until its worst loss stands still.
fn best_of<'r>(rows: &'r dyn Rows, p: &Parameters, task: &Task<'_>) -> Result<Found<'r>> {
    let exact = matches!(task.scheme.dictionary, DictionaryRule::MinMax { .. });
    let auto = p.init == Init::Auto && exact && rows.groups().len() > 1;
    let several = auto && p.n_init > 1;
    let random = if several { p.n_init.div_ceil(4) } else { p.n_init };
    let restarts = random + usize::from(several);
    let one = |restart: usize| {
        let task = Task { restart, restarts, ..*task };
        let mut rows = rows.apart();
        if restart == random {
            return from_standard(rows, p, &task);
        }
        let begin = start::make(&mut *rows, p.rank, &p.init, restart, p.seed)?;
        iterate(rows, begin, &task).map(Found::alone)
    };
    let judge = Judge::new(p, task.scheme);
    let mut best: Option<(usize, Run<'r>)> = None;
    let (mut taken, mut stopped, mut standard) = (0, false, None);
    each(rows, p, task, restarts, &one, |restart, Found { run, standard: beside }| {
        standard = standard.take().or(beside);
        taken += run.history.len();
        stopped |= run.status == Status::Stopped;
        match &best {
            Some((_, kept)) if judge.is_no_better(&run, kept) => {}
            _ => best = Some((restart, run)),
        }
    })?;
    let (restart, mut best) = best.expect("n_init is at least 1 by Parameters::check");
    let of_best = Task { restart, restarts, ..*task };
    if several && best.status == Status::Converged && !stopped {
        best = Search { rows, p, task: &of_best, judge }.bettered(best)?;
    }
    let is_standard = p.method.is_standard() && task.scheme.costs().is_none();
    let plain = p.finish && p.init == Init::Auto && is_standard;
    if best.status == Status::Converged {
        best = match (auto, plain) {
            (true, _) => finish(best, &of_best)?,
            (false, true) => go_on(best, taken, &of_best)?,
            (false, false) => best,
        };
    }
    Ok(Found { run: best, standard })
}

/// What is left of the tolerance when the best run of standard NMF goes on: on TF-IDF its error falls by some
/// 3e-5 of itself more, and hardly any further (docs/measurements.md).
const TIGHTER: f64 = 0.01;

/// Goes on with a run of standard NMF that has converged, for at most half as many iterations as all runs
/// have taken.
fn go_on<'r>(run: Run<'r>, taken: usize, task: &Task<'_>) -> Result<Run<'r>> {
    let Run { dictionary, rows, statistics, measured, history, .. } = run;
    let asked = *task.stopping;
    // Changes below it are rounding.
    let finest = 1e-3 * rows.trusted_squared_error();
    let stopping = Stopping {
        tolerance: (TIGHTER * asked.tolerance).max(finest).min(asked.tolerance),
        max_iterations: (history.len() + taken / 2).min(asked.max_iterations),
        ..asked
    };
    let begin = Begin { dictionary, first: First::Known(statistics, measured), history };
    let task = Task { stopping: &stopping, part: Part::Finish, ..*task };
    let mut run = iterate(rows, begin, &task)?;
    if matches!(run.status, Status::IterationLimit | Status::TimeLimit) {
        // It had converged to what was asked for.
        run.status = Status::Converged;
    }
    Ok(run)
}

/// Goes on with a run that has converged until its worst loss stands still.
fn finish<'r>(run: Run<'r>, task: &Task<'_>) -> Result<Run<'r>> {
    let Run { dictionary, rows, statistics, measured, history, weights, .. } = run;
    let begin = Begin { dictionary, first: First::Known(statistics, measured), history };
    let part = Part::Finish;
    iterate(rows, begin, &Task { start_weights: Some(&weights), finishing: true, part, ..*task })
}

/// A run that begins at standard NMF by HALS, which the observer hears of as what leads up to it.
fn from_standard<'r>(
    mut rows: Box<dyn Rows + 'r>,
    p: &Parameters,
    task: &Task<'_>,
) -> Result<Found<'r>> {
    let observer = |progress: &Progress<'_>| leading_up(progress, task.context.observer);
    let context = Context { observer: &observer, ..task.context };
    let scheme = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    let begin = start::make(&mut *rows, p.rank, &p.init, 0, p.seed)?;
    let part = Part::Standard;
    let lead =
        Task { scheme, closing: Some(Update::Nnls), start_weights: None, context, part, ..*task };
    let Run { dictionary, rows, statistics, measured, .. } = iterate(rows, begin, &lead)?;
    let standard = Some(measured.clone());
    let first = First::Known(statistics, measured);
    let run = iterate(rows, Begin { dictionary, first, history: Vec::new() }, task)?;
    Ok(Found { run, standard })
}

#[cfg(test)]
mod tests;
