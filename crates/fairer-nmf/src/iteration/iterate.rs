//! The one loop: dictionary, rows, losses, until nothing moves.
//!
//! Every method runs through it: the paper's Algorithm 2 (AM: exact rows, exact min-max dictionary),
//! its Algorithm 3 (MU with a weight rule), standard NMF by any update, the points between the
//! sum and the maximum, and the levels of a lexicographic fit. A method is a [`Scheme`]: row update, dictionary rule,
//! objective, and whether it looks ahead.
//!
//! *A soft beginning* (AM). The first rows go only part of the way to their exact values, so that a
//! random start does not freeze topics at zero before they mean anything. Where start weights are
//! given, as many soft iterations on the weighted sum of squared relative errors come first; they
//! make the start and are not counted, as the worst loss may move either way there.
//!
//! *Looking ahead.* Near a solution plain alternation creeps. The rows are therefore computed for
//! a dictionary extrapolated along its last step (as Ang and Gillis 2019 do for standard NMF; what
//! it gains is in docs/measurements.md). If the objective then fails to fall, the step is taken
//! back: exact rows for the last dictionary, without looking ahead.
//!
//! Guarantee: where the scheme looks ahead or keeps no step that does not help, the objective after
//! each accepted dictionary step never rises; multiplicative updates with even weights never raise
//! it either; a moving weight rule promises nothing. Not guaranteed: a global optimum; the problem
//! is not convex.

use super::checkpoint::{Carried, Stood};
use super::dictionary_step::{DictionaryStep, exact_for};
use super::made::Run;
use super::measure::measure;
use super::momentum::Momentum;
use super::run::{Begin, First, Journal, Task};
use super::scheme::{DictionaryRule, Scheme};
use crate::Result;
use crate::dictionary::Dictionary;
use crate::measured::Measured;
use crate::rows::{RowStep, Rows};
use crate::statistics::Statistics;
use crate::stopping::{Status, Stopping};
use crate::update::Update;

#[cfg(test)]
mod tests;

/// Half of the way to exact rows.
const SOFT: RowStep = RowStep::Toward { update: Update::Nnls, share: 0.5 };

pub(crate) fn iterate<'r>(
    mut rows: Box<dyn Rows + 'r>,
    begin: Begin,
    task: &Task<'_>,
) -> Result<Run<'r>> {
    let (keeper, name) = (task.context.keeper, task.name());
    if let Some(keeper) = keeper
        && let Some(left) = keeper.left(&name, &mut *rows)?
    {
        return Ok(left.into_run(rows));
    }
    let scheme = task.scheme;
    let row_step = scheme.row_step(scheme.rows);
    let objective = |measured: &Measured| scheme.objective.of(measured);
    let of_groups = || rows.groups().iter().map(|g| g.norm() * g.norm()).sum();
    let norm: f64 = rows.overlap().unwrap_or_else(of_groups).sqrt();
    let mut dictionary =
        DictionaryStep::new(scheme.dictionary, task.criteria, norm, task.start_weights);
    let mut momentum = Momentum::new();
    let begun = begin.history.len();
    let stopping = told(task.stopping, &*rows, scheme);
    // A start that already has exact rows needs no soft beginning.
    let soft = if matches!(begin.first, First::Pass(RowStep::Keep)) { scheme.soft } else { 0 };
    let stood = keeper.map_or(Ok(None), |keeper| keeper.stood(&name, &mut *rows))?;
    let State { mut h, mut statistics, mut accepted, mut latest, history } = match stood {
        Some(Stood { dictionary: h, accepted, statistics, carried }) => {
            let Carried { latest, momentum: kept, dictionary: memory, history } = carried;
            momentum = kept;
            dictionary.remember(memory);
            State { h, statistics, accepted, latest, history }
        }
        None => state(&mut *rows, begin, soft, &mut dictionary, task)?,
    };
    let mut journal = Journal::new(history);

    while journal.iterations() < task.stopping.max_iterations {
        if let Some(keeper) = keeper.filter(|keeper| keeper.is_due(&name)) {
            let (latest, history) = (latest.clone(), journal.history.clone());
            let momentum = momentum.clone();
            let carried = Carried { latest, momentum, dictionary: dictionary.memory(), history };
            keeper.save_going((task.part, &name), &*rows, &h, accepted.as_ref(), carried)?;
        }
        dictionary.take(&statistics, latest.as_ref(), &mut h, task.context.limit);
        let mut before_rows = None;
        if !scheme.looks_ahead {
            before_rows = Some(std::mem::replace(&mut statistics, rows.pass(&h, row_step)?));
        }
        let now = measure(&*rows, &statistics, &h, task.criteria)?;
        let fall = accepted.as_ref().map(|(_, before)| objective(before) - objective(&now));
        if let Some((last, _)) = &accepted
            && fall.is_some_and(|fall| fall < 0.0)
            && momentum.looked_ahead
        {
            h.values.copy_from_slice(&last.values);
            momentum.take_back();
            statistics = rows.pass(&h, RowStep::EXACT)?;
            continue;
        }
        if let (Some(least), Some(fall)) = (task.least_fall, fall)
            && let Some((last, known)) = accepted.take()
        {
            if fall <= 0.0 {
                // What does not help is neither kept nor told.
                (h, latest) = (last, Some(known));
                statistics = match (task.closing, before_rows) {
                    (None, Some(before)) => before,
                    _ => rows.pass(&h, row_step)?,
                };
                let over = task.context.limit.is_over();
                journal.status = if over { Status::TimeLimit } else { Status::Converged };
                break;
            }
            let ends = journal.ends(task, &now, &dictionary.shares(), fall <= least);
            latest = Some(now.clone());
            accepted = Some((h.clone(), now));
            if ends {
                break;
            }
            continue;
        }
        let stands = accepted.as_ref().is_some_and(|(_, before)| stopping.met(before, &now));
        let settled = match task.finishing {
            false => stands && journal.iterations() >= soft,
            true => {
                journal.iterations() >= begun + WINDOW && {
                    let then = &journal.history[journal.iterations() - WINDOW];
                    let then = then.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    then - now.worst() <= still(&stopping, now.worst())
                }
            }
        };
        latest = Some(now.clone());
        if journal.ends(task, &now, &dictionary.shares(), settled) {
            break;
        }
        if let Some(fall) = fall {
            dictionary.note_improvement(fall);
        }
        let mut last = accepted.replace((h.clone(), now)).map(|(h, _)| h);
        if scheme.looks_ahead {
            statistics = if journal.iterations() <= soft {
                rows.pass(&h, SOFT)?
            } else {
                // Exact rows follow H wherever it goes.
                if let Some(size) = Momentum::way_back(&h).filter(|_| scheme.rows == Update::Nnls) {
                    let accepted = accepted.as_mut().map(|(h, _)| h);
                    let all = [Some(&mut h), last.as_mut(), accepted];
                    all.into_iter().flatten().for_each(|h| *h *= size);
                }
                rows.pass(&momentum.ahead(&h, last.as_ref()), row_step)?
            };
        }
    }
    // Once the time is up there are no other rows than those that are there.
    let over = task.context.limit.is_over();
    if let Some(closing) = task.closing
        && (scheme.looks_ahead || scheme.costs().is_some())
        && !over
    {
        // The rows that belong to the final dictionary; this can only lower every group's error (with
        // penalties: the objective).
        statistics = rows.pass(&h, scheme.row_step(closing))?;
        latest = None;
    }
    if over {
        scaled_to_fit(&statistics[..task.criteria.len()], &mut h);
        latest = None;
    }
    let measured = match latest {
        Some(known) => known,
        None => measure(&*rows, &statistics, &h, task.criteria)?,
    };
    if scheme.looks_ahead {
        dictionary.certify(&statistics, &h, measured.worst(), task.context.limit);
    }
    let (step_gap, weights) = (dictionary.gap(), dictionary.shares());
    let Journal { history, status } = journal;
    let run = Run { dictionary: h, rows, statistics, measured, history, status, step_gap, weights };
    if let Some(keeper) = keeper {
        keeper.save_left(task.part, &name, &run)?;
    }
    Ok(run)
}

/// H times the factor that leaves the least of all groups together: factors that were cut short at their random start may be far from
/// the size of the data.
fn scaled_to_fit(statistics: &[Statistics], h: &mut Dictionary) {
    let gram = h.gram();
    let products = statistics.iter().map(|s| s.inner(h, &gram));
    let (cross, square) = products.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    if cross > 0.0 && square > 0.0 {
        *h *= cross / square;
    }
}

/// Where a loop stands, but for what its rules carry.
struct State {
    h: Dictionary,
    statistics: Vec<Statistics>,
    /// The last accepted dictionary and what it achieves.
    accepted: Option<(Dictionary, Measured)>,
    latest: Option<Measured>,
    history: Vec<Vec<f64>>,
}

/// The state before the first iteration.
fn state(
    rows: &mut dyn Rows,
    begin: Begin,
    soft: usize,
    dictionary: &mut DictionaryStep<'_>,
    task: &Task<'_>,
) -> Result<State> {
    let Begin { dictionary: mut h, first, history } = begin;
    let mut accepted = None;
    let mut statistics = match first {
        First::Pass(step) => rows.pass(&h, step)?,
        First::Known(statistics, measured) => {
            accepted = Some((h.clone(), measured));
            statistics
        }
    };
    if let Some(weights) = task.start_weights.filter(|_| soft > 0) {
        lead_up(rows, weights, soft, task, &mut statistics, &mut h)?;
    }
    let latest = match &accepted {
        Some((_, known)) => Some(Measured::clone(known)),
        None if dictionary.asks_for_losses() => {
            Some(measure(rows, &statistics, &h, task.criteria)?)
        }
        None => None,
    };
    if let (DictionaryStep::Mixture(search), Some(known)) = (dictionary, &latest) {
        search.begin(known.relative_total(crate::rows::squared_norm(rows)), known.worst());
    }
    Ok(State { h, statistics, accepted, latest, history })
}

/// Iterations over which the worst loss of a run that is finished stands still.
const WINDOW: usize = 15;

/// What the worst loss may fall by in these: ten times the tolerance of itself, or a tenth of the
/// tolerance.
fn still(stopping: &Stopping, worst: f64) -> f64 {
    stopping.tolerance * (10.0 * worst.abs()).max(0.1)
}

/// The stopping rule, with a tolerance of the AM scheme that the numbers can tell: statistics in
/// f32 are good to some 1e-7, and below that a run would never stand still. No tolerance at all
/// stays none.
fn told(stopping: &Stopping, rows: &dyn Rows, scheme: Scheme<'_>) -> Stopping {
    let finest = 1e-3 * rows.trusted_squared_error();
    let exact = !matches!(scheme.dictionary, DictionaryRule::Weighted { .. });
    let tolerance = match stopping.tolerance {
        asked if exact && asked > 0.0 => asked.max(finest),
        asked => asked,
    };
    Stopping { tolerance, ..*stopping }
}

/// Soft iterations on the sum of squared relative errors, weighted.
fn lead_up(
    rows: &mut dyn Rows,
    weights: &[f64],
    iterations: usize,
    task: &Task<'_>,
    statistics: &mut Vec<Statistics>,
    h: &mut Dictionary,
) -> Result<()> {
    for _ in 0..iterations {
        exact_for(weights, task.criteria, statistics, h, task.context.limit);
        *statistics = rows.pass(h, SOFT)?;
        let now = measure(rows, statistics, h, task.criteria)?;
        // The first iteration then ends the run and says why.
        if task.tell(0, &now, weights).is_break() || task.context.is_over() {
            break;
        }
    }
    Ok(())
}
