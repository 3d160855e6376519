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
    let limit = task.context.limit;
    if limit.is_over() {
        run.step_gap = None;
        return Ok(run);
    }
    let statistics = &run.statistics[..groups];
    let problem = minmax::Problem { statistics, criteria: task.criteria, limit };
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
        let losses = with_total(&run.measured, criteria, &*run.rows);
        // What has risen within what is allowed stays there: held below that, nothing could be reached.
        let at: Vec<Option<f64>> =
            held.iter().zip(&losses).map(|(t, loss)| t.map(|t| t.max(*loss))).collect();
        let limit = task.context.limit;
        let problem = leximin::Problem { statistics: &statistics, criteria, held: &at, limit };
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
            if limit.is_over() {
                // Not all of them were made.
                run.measured =
                    measure(&*run.rows, &run.statistics, &run.dictionary, task.criteria)?;
                run.status = Status::TimeLimit;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::Init;
    use crate::iteration::{Context, Scheme, criteria, run_once};
    use crate::rows::{Element, Units};
    use crate::stopping::Stopping;
    use crate::{GroupedData, silent, synthetic};

    /// The last level from a run that is not done, so that there is room: the total error falls, though it lies above what groups
    /// are held at, and no group rises above that.
    #[test]
    fn the_last_word_lowers_the_total_error_and_lifts_no_group() {
        for seed in 0..6 {
            let (x, labels) = synthetic::first(seed);
            let data = GroupedData::new(x.view(), &labels).unwrap();
            let rows = f64::hold(&data, Units::Own);
            let baselines: Vec<f64> = rows.groups().iter().map(|g| 0.1 * g.norm()).collect();
            let own = criteria(&*rows, &baselines);
            let whole = Criterion { offset: 0.0, scale: squared_norm(&*rows).sqrt() };
            let of: Vec<Criterion> = own.iter().copied().chain([whole]).collect();
            let stopping = Stopping { max_iterations: 20, ..Stopping::default() };
            let context = Context::without_limit(&silent);
            let task = Task::alone(Scheme::min_max(1e-6), &own, &stopping, context);
            let mut run = run_once(rows.apart(), 3, &Init::Random, seed, &task).unwrap();
            run.status = Status::Converged;
            let before = with_total(&run.measured, &of, &*run.rows);
            let held: Vec<Option<f64>> =
                run.measured.losses.iter().map(|loss| Some(*loss)).chain([None]).collect();
            let mut lambda = vec![1.0 / of.len() as f64; of.len()];
            lower(&mut run, &of, &held, &mut lambda, &task).unwrap();
            let after = with_total(&run.measured, &of, &*run.rows);
            let (groups, last) = (own.len(), own.len());
            assert_eq!(with_total(&run.measured, &own, &*run.rows), run.measured.losses);
            assert!(before.iter().zip(&baselines).any(|(g, _)| before[last] > g + 0.1));
            assert!((0..groups).all(|l| after[l] <= before[l] + ALLOWED), "{after:?} {before:?}");
            assert!(after[last] < before[last] - 1e-5, "seed {seed}: {after:?} {before:?}");
        }
    }

    #[test]
    fn those_that_determine_the_largest_loss_of_the_rest_are_held_at_it() {
        let losses = [0.3, 0.3 - 5e-7, 0.3 - 5e-7, 0.29, 0.5];
        let lambda = [0.0, 0.2, 1e-4, 0.2, 0.6];
        // Nearly as large and with a multiplier: the second, but neither the third nor the fourth.
        let mut held = [None, None, None, None, Some(0.45)];
        hold(&mut held, &lambda, &losses);
        assert_eq!(held, [Some(0.3), Some(0.3), None, None, Some(0.45)]);
        hold(&mut held, &lambda, &losses);
        assert_eq!(held[2..], [Some(losses[2]), None, Some(0.45)]);
    }

    #[test]
    fn the_whole_counts_where_it_is_asked_for() {
        let one = |scale: f64| {
            let mut s = Statistics::zero(2, 3);
            s.gram.fill(scale);
            s.squared_norm = scale;
            s
        };
        let groups = [one(1.0), one(2.0)];
        assert_eq!(with_whole(&groups, 2), groups);
        assert_eq!(with_whole(&groups, 3)[..2], groups);
        assert_eq!(with_whole(&groups, 3)[2], one(3.0));
        assert_eq!(with_whole(&[one(1.0), one(2.0), one(9.0)], 2), groups, "of overlapping groups");
    }
}
