//! Lexicographic min-max: when the worst loss cannot be lowered, lower the next, and so on; the total error has the
//! last word.
//!
//! It goes on from the plain fit. Level by level, groups that determine the largest loss (those with a multiplier
//! above [`TIGHT`]) are held at it, and the largest loss of the rest is lowered by exact steps
//! ([`crate::weights::leximin`]) and exact rows, which lower every error. When all groups are held, so is the total error.
//!
//! Guarantee: no step is kept that lifts a held group by more than [`ALLOWED`] above what it is held at, or that does
//! not lower the largest loss of the rest. So the sorted losses are never lexicographically above those of the plain
//! fit, to [`ALLOWED`]. Not guaranteed: the lexicographic optimum of the whole problem, which is not convex.

use crate::Result;
use crate::criterion::Criterion;
use crate::iteration::{Run, Task, measure};
use crate::rows::{RowStep, Rows, squared_norm};
use crate::statistics::Statistics;
use crate::stopping::{Measured, Status};
use crate::weights::{largest, leximin, minmax};

/// What a held group may rise by, in units of loss: the duality gap that steps are solved to.
const ALLOWED: f64 = 1e-6;
/// A group with a multiplier above this determines the largest loss.
const TIGHT: f64 = 1e-3;
/// Iterations of one level at the most.
const ITERATIONS: usize = 200;

/// Goes on from a plain fit.
pub(super) fn refine<'r>(mut run: Run<'r>, gap: f64, task: &Task<'_>) -> Result<Run<'r>> {
    let groups = task.criteria.len();
    let whole = Criterion { offset: 0.0, scale: squared_norm(&*run.rows).sqrt() };
    let criteria: Vec<Criterion> = task.criteria.iter().copied().chain([whole]).collect();
    let mut held: Vec<Option<f64>> = vec![None; groups];
    let mut lambda = run.weights.clone();
    while run.status == Status::Converged && held.iter().any(Option::is_none) {
        hold(&mut held, &lambda, &run.measured.losses);
        let last = held.iter().all(Option::is_some);
        // With all groups held, the whole is what is left to lower.
        let of = &criteria[..groups + usize::from(last)];
        let mut level = held.clone();
        level.resize(of.len(), None);
        lambda = vec![1.0 / of.len() as f64; of.len()];
        lower(&mut run, of, &level, &mut lambda, task)?;
    }
    let problem =
        minmax::Problem { statistics: &run.statistics[..groups], criteria: task.criteria };
    let step = minmax::solve(&problem, &mut run.dictionary.clone(), &run.weights, gap);
    run.step_gap = Some((run.measured.worst() - step.lower).max(0.0));
    Ok(run)
}

/// Holds the groups that determine the largest loss of the rest at what it is.
fn hold(held: &mut [Option<f64>], lambda: &[f64], losses: &[f64]) {
    let rest = |l: usize| if held[l].is_none() { losses[l] } else { f64::NEG_INFINITY };
    let worst = largest(&(0..losses.len()).map(rest).collect::<Vec<_>>());
    let top = losses[worst];
    for (l, held) in held.iter_mut().enumerate().filter(|(_, held)| held.is_none()) {
        if l == worst || (lambda[l] > TIGHT && top - losses[l] <= ALLOWED) {
            *held = Some(top);
        }
    }
}

/// Lowers the largest loss of what is not held until it stands still.
fn lower(
    run: &mut Run<'_>,
    criteria: &[Criterion],
    held: &[Option<f64>],
    lambda: &mut Vec<f64>,
    task: &Task<'_>,
) -> Result<()> {
    let least = 0.1 * task.stopping.tolerance;
    for _ in 0..ITERATIONS {
        let statistics = with_whole(&run.statistics, criteria.len());
        let problem = leximin::Problem { statistics: &statistics, criteria, held };
        let losses = with_total(&run.measured, criteria, &*run.rows);
        let before = problem.largest(&losses);
        let mut h = run.dictionary.clone();
        leximin::step(&problem, &losses, &mut h, lambda);
        let statistics = run.rows.pass(&h, RowStep::EXACT)?;
        let measured = measure(&*run.rows, &statistics, &h, task.criteria)?;
        let losses = with_total(&measured, criteria, &*run.rows);
        let respected = losses.iter().zip(held).all(|(g, t)| t.is_none_or(|t| *g <= t + ALLOWED));
        let fall = before - problem.largest(&losses);
        if !respected || fall <= 0.0 {
            // The rows that belong to the dictionary that is kept.
            run.statistics = run.rows.pass(&run.dictionary, RowStep::EXACT)?;
            break;
        }
        (run.dictionary, run.statistics, run.measured) = (h, statistics, measured);
        run.history.push(run.measured.losses.clone());
        if task.tell(run.history.len(), &run.measured, &run.weights).is_break() {
            run.status = Status::Stopped;
        } else if task.context.is_over() {
            run.status = Status::TimeLimit;
        }
        if fall <= least || run.status != Status::Converged {
            break;
        }
    }
    Ok(())
}

/// The statistics of all that counts: of the groups, and of the whole where it counts too.
fn with_whole(statistics: &[Statistics], count: usize) -> Vec<Statistics> {
    let mut all = statistics.to_vec();
    if all.len() < count {
        let (rank, features) = all[0].shape();
        let ones = vec![1.0; all.len()];
        all.push(Statistics::weighted(statistics, &ones, rank, features));
    }
    all.truncate(count);
    all
}

/// The losses of all that counts.
fn with_total(measured: &Measured, criteria: &[Criterion], rows: &dyn Rows) -> Vec<f64> {
    let mut losses = measured.losses.clone();
    if criteria.len() > losses.len() {
        losses.push(measured.relative_total(squared_norm(rows)));
    }
    losses
}
