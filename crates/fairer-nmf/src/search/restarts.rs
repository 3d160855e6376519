//! Several runs, of which the best is kept and, by default, finished.

use super::exchange::{Standing, exchanges};
use crate::Result;
use crate::init::Init;
use crate::iteration::{
    Begin, Context, DictionaryRule, First, Objective, Part, Run, Scheme, Task, iterate, start,
};
use crate::parallel::try_map;
use crate::parameters::{Method, Parameters, Ties};
use crate::progress::{Observer, Progress};
use crate::rows::{self, RowStart, RowStep, Rows};
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use crate::weights::WeightRule;
use std::ops::ControlFlow;

/// Factors below this size run their restarts in parallel; above, one after the other, so that
/// no more than two representations are alive.
const PARALLEL_RESTARTS: usize = 1 << 20;

/// Runs whose objectives differ by less than this (worst losses; sums of squares relative to
/// themselves) are equal: rounding does not choose between them, their number does.
const TIE: f64 = 1e-9;

/// The best run of a fit. Between standard NMF and Fairer-NMF (α from 0 to 1) it begins once at the best
/// run of either, so that neither has a lower (1 − α)·total error + α·worst loss.
pub(super) fn best_fit<'r>(rows: &'r dyn Rows, p: &Parameters, task: &Task<'_>) -> Result<Run<'r>> {
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
    // The ends are those that fits of their own would have.
    let ends = [(standard, Method::standard()), (Scheme::min_max(gap), p.method)];
    for (restart, (scheme, method)) in ends.into_iter().enumerate() {
        let end = Task { scheme, closing: Update::Nnls, context, ..*task };
        let p = Parameters { method, ..p.clone() };
        let Run { dictionary, rows, statistics, measured, .. } = best_of(rows, &p, &end)?;
        let first = First::Known(statistics, measured);
        let begin = Begin { dictionary, first, history: Vec::new() };
        let run = iterate(rows, begin, &Task { restart, restarts: 2, ..*task })?;
        let value = |run: &Run<'_>| task.scheme.objective.of(&run.measured);
        if best.as_ref().is_none_or(|kept| value(&run) < value(kept) - TIE) {
            best = Some(run);
        }
    }
    Ok(best.expect("one of two"))
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

/// Rounds of exchanges at the most.
const ROUNDS: usize = 4;

/// By how much of itself the worst loss has to fall in a round for another one to be worth it.
const WORTH: f64 = 1e-4;

/// The best of several runs of a task from starts of their own: `n_init`, or, by default ([`Init::Auto`]) for the AM
/// scheme, half as many and one from a standard fit, so that several are never worse than that. There rounds of
/// exchanges of as many topics follow ([`super::exchange`]), and the best run goes on until its worst loss stands still.
fn best_of<'r>(rows: &'r dyn Rows, p: &Parameters, task: &Task<'_>) -> Result<Run<'r>> {
    let exact = matches!(task.scheme.dictionary, DictionaryRule::MinMax { .. });
    let auto = p.init == Init::Auto && exact && rows.groups().len() > 1;
    let several = auto && p.n_init > 1;
    let random = if several { p.n_init.div_ceil(2) } else { p.n_init };
    let restarts = random + usize::from(several);
    let one = |restart: usize| {
        let task = Task { restart, restarts, ..*task };
        let mut rows = rows.apart();
        if restart == random {
            return from_standard(rows, p, &task);
        }
        let begin = start::make(&mut *rows, p.rank, &p.init, restart, p.seed)?;
        iterate(rows, begin, &task)
    };
    // Every method is judged by what it lowers.
    let value = |run: &Run<'_>| match task.scheme.costs() {
        Some(costs) => run.penalised(costs),
        None => task.scheme.objective.of(&run.measured),
    };
    let tie = |value: f64| if task.scheme.objective == Objective::Sum { TIE * value } else { TIE };
    let mut best: Option<(usize, Run<'r>)> = None;
    // A lexicographic fit begins at the run that is best so among those that tie.
    let leximin = matches!(p.method, Method::Am { ties: Ties::Leximin, .. });
    let above = |run: &Run<'_>, kept: &Run<'_>| match leximin {
        true => !lexicographically_below(&run.measured.losses, &kept.measured.losses),
        false => value(run) >= value(kept) - tie(value(kept)),
    };
    let (mut taken, mut stopped) = (0, false);
    each(rows, p, task, restarts, &one, |restart, run| {
        taken += run.history.len();
        stopped |= run.status == Status::Stopped;
        match &best {
            Some((_, kept)) if above(&run, kept) => {}
            _ => best = Some((restart, run)),
        }
    })?;
    let (restart, mut best) = best.expect("n_init is at least 1 by Parameters::check");
    let of_best = Task { restart, restarts, ..*task };
    if several && best.status == Status::Converged {
        for round in 0..ROUNDS {
            let begun = value(&best);
            let Run { dictionary, statistics, weights, .. } = &best;
            let standing = Standing { dictionary, statistics, weights };
            let dictionaries = exchanges(standing, task.criteria, p.n_init);
            let one = |number: usize| {
                let mut rows = rows.apart();
                rows.begin(p.rank, RowStart::Zero)?;
                let first = First::Pass(RowStep::EXACT);
                let dictionary = dictionaries[number].clone();
                let begin = Begin { dictionary, first, history: Vec::new() };
                let part = Part::Exchange { round, number };
                let scheme = of_best.scheme.searching();
                iterate(rows, begin, &Task { part, scheme, ..of_best })
            };
            if dictionaries.is_empty() || stopped || task.context.is_over() {
                break;
            }
            each(rows, p, task, dictionaries.len(), &one, |_, run| {
                stopped |= run.status == Status::Stopped;
                if run.status == Status::Converged && !above(&run, &best) {
                    best = run;
                }
            })?;
            // Losses near zero are compared with what a run stands still by.
            let least = (WORTH * begun.abs()).max(0.1 * task.stopping.tolerance);
            if begun - value(&best) <= least {
                break;
            }
        }
    }
    if auto && best.status == Status::Converged {
        return finish(best, &of_best);
    }
    let standard = p.method.is_standard() && task.scheme.costs().is_none();
    let plain = p.finish && p.init == Init::Auto && standard;
    if plain && best.status == Status::Converged {
        return go_on(best, taken, &of_best);
    }
    Ok(best)
}

/// Makes runs 0 to `count` and hands them over in this order: side by side where one read serves several, or where
/// they are small; else one after the other while there is time.
fn each<'r>(
    rows: &'r dyn Rows,
    p: &Parameters,
    task: &Task<'_>,
    count: usize,
    one: &(dyn Fn(usize) -> Result<Run<'r>> + Sync),
    mut keep: impl FnMut(usize, Run<'r>),
) -> Result<()> {
    if let Some(all) = rows.gathering() {
        let most = all.most(p.rank, rows.groups().len());
        let runs: Vec<Run<'r>> = rows::side_by_side(all, most, count, one)?;
        runs.into_iter().enumerate().for_each(|(number, run)| keep(number, run));
    } else if rows::entries(rows, p.rank) * p.n_init <= PARALLEL_RESTARTS {
        let runs: Vec<Run<'r>> = try_map(count, one)?;
        runs.into_iter().enumerate().for_each(|(number, run)| keep(number, run));
    } else {
        for number in 0..count {
            // One has to be; others only while there is time.
            if number > 0 && task.context.is_over() {
                break;
            }
            keep(number, one(number)?);
        }
    }
    Ok(())
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

/// Whether the sorted losses are below others', at the first that differs by more than rounding.
fn lexicographically_below(own: &[f64], others: &[f64]) -> bool {
    let sorted = |losses: &[f64]| {
        let mut sorted = losses.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted
    };
    let differs = |(a, b): &(f64, f64)| (a - b).abs() > TIE;
    let first = sorted(own).into_iter().zip(sorted(others)).find(differs);
    first.is_some_and(|(a, b)| a < b)
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
) -> Result<Run<'r>> {
    let observer = |progress: &Progress<'_>| leading_up(progress, task.context.observer);
    let context = Context { observer: &observer, ..task.context };
    let scheme = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    let begin = start::make(&mut *rows, p.rank, &p.init, 0, p.seed)?;
    let part = Part::Standard;
    let lead = Task { scheme, closing: Update::Nnls, start_weights: None, context, part, ..*task };
    let Run { dictionary, rows, statistics, measured, .. } = iterate(rows, begin, &lead)?;
    let first = First::Known(statistics, measured);
    iterate(rows, Begin { dictionary, first, history: Vec::new() }, task)
}

#[cfg(test)]
mod tests;
