//! Lexicographic min-max: when the worst loss cannot be lowered, lower the next, and so on; the total error has the
//! last word.
//!
//! It goes on from the plain fit. Level by level, groups that determine the largest loss (those with a multiplier
//! above [`TIGHT`]) are held at it, and the largest loss of the rest is lowered: a run of the loop with exact steps
//! ([`crate::weights::leximin`]) and exact rows, which lower every error. When all groups are held, so is the total error.
//!
//! Guarantee: no step is kept that lifts a held group by more than [`ALLOWED`] above what it is held at, or that does
//! not lower the largest loss of the rest. So the sorted losses are never lexicographically above those of the plain
//! fit, to [`ALLOWED`]. Not guaranteed: the lexicographic optimum of the whole problem, which is not convex.

use crate::Result;
use crate::iteration::{Begin, Context, First, Run, Scheme, Task, iterate};
use crate::rows::squared_norm;
use crate::stopping::{Status, Stopping};
use crate::weights::leximin::{ALLOWED, Level};
use crate::weights::{largest, minmax};

/// A group with a multiplier above this determines the largest loss.
const TIGHT: f64 = 1e-3;
/// Iterations of one level at the most.
const ITERATIONS: usize = 200;

/// Goes on from a plain fit.
pub(super) fn refine<'r>(mut run: Run<'r>, gap: f64, task: &Task<'_>) -> Result<Run<'r>> {
    let squared_norm = squared_norm(&*run.rows);
    let weights = run.weights.clone();
    let mut held: Vec<Option<f64>> = vec![None; task.criteria.len()];
    while run.status == Status::Converged && held.iter().any(Option::is_none) {
        hold(&mut held, &run.weights, &run.measured.losses);
        run = lower(run, Level { held: &held, squared_norm }, task)?;
    }
    run.weights = weights;
    let limit = task.context.limit;
    if limit.is_over() {
        run.step_gap = None;
        return Ok(run);
    }
    let statistics = &run.statistics[..task.criteria.len()];
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
fn lower<'r>(run: Run<'r>, level: Level<'_>, task: &Task<'_>) -> Result<Run<'r>> {
    let Run { dictionary, rows, statistics, measured, history, .. } = run;
    let stopping = Stopping { max_iterations: history.len() + ITERATIONS, ..*task.stopping };
    let of_level = Task {
        scheme: Scheme::leximin(level),
        stopping: &stopping,
        least_fall: Some(0.1 * stopping.tolerance),
        // The plain fit is kept, and levels are made again.
        context: Context { keeper: None, ..task.context },
        ..*task
    };
    let begin = Begin { dictionary, first: First::Known(statistics, measured), history };
    let mut run = iterate(rows, begin, &of_level)?;
    // What a level leaves undone is no reason to leave out the next.
    if run.status == Status::IterationLimit {
        run.status = Status::Converged;
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::Init;
    use crate::iteration::{criteria, run_once};
    use crate::progress::Progress;
    use crate::rows::{self, Units};
    use crate::{GroupedData, silent, synthetic};
    use std::ops::ControlFlow;

    /// What is done with a run of three topics that is not done, its level and its task.
    fn from_a_run<R>(
        seed: u64,
        stopping: &Stopping,
        then: impl FnOnce(Run<'_>, f64, &Task<'_>) -> R,
    ) -> R {
        let (x, labels) = synthetic::first(seed);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let rows = rows::hold(&data, Units::Own);
        let baselines: Vec<f64> = rows.groups().iter().map(|g| 0.1 * g.norm()).collect();
        let own = criteria(&*rows, &baselines);
        let task =
            Task::alone(Scheme::min_max(1e-6), &own, stopping, Context::without_limit(&silent));
        let run = run_once(rows.apart(), 3, &Init::Random, seed, &task).unwrap();
        then(run, squared_norm(&*rows), &task)
    }

    /// The last level from a run that is not done, so that there is room: the total error falls, though it lies above what groups
    /// are held at, and no group rises above that.
    #[test]
    fn the_last_word_lowers_the_total_error_and_lifts_no_group() {
        let stopping = Stopping { max_iterations: 20, ..Stopping::default() };
        for seed in 0..6 {
            from_a_run(seed, &stopping, |run, squared_norm, task| {
                let before = run.measured.clone();
                let held: Vec<Option<f64>> = before.losses.iter().map(|loss| Some(*loss)).collect();
                let after = lower(run, Level { held: &held, squared_norm }, task).unwrap().measured;
                let total = [&before, &after].map(|measured| measured.relative_total(squared_norm));
                let mut groups = before.losses.iter().zip(&after.losses);
                assert!(before.losses.iter().any(|g| total[0] > g + 0.1));
                assert!(groups.all(|(was, is)| *is <= was + ALLOWED), "{after:?} {before:?}");
                assert!(total[1] < total[0] - 1e-5, "seed {seed}: {after:?} {before:?}");
            });
        }
    }

    /// A level ends with an iteration that gains a tenth of the tolerance or less, so that another go gains as little; without a tolerance
    /// after two hundred, which is no reason to leave out the next level, while somebody who stops it is.
    #[test]
    fn a_level_ends_where_it_gains_next_to_nothing() {
        let stopping = Stopping { max_iterations: 20, tolerance: 1e-4, ..Stopping::default() };
        let mut most = 0;
        for seed in 0..6 {
            from_a_run(seed, &stopping, |run, squared_norm, task| {
                let held: Vec<Option<f64>> =
                    run.measured.losses.iter().map(|loss| Some(*loss)).collect();
                let level = Level { held: &held, squared_norm };
                let total = |run: &Run<'_>| run.measured.relative_total(squared_norm);
                let first = lower(run, level, task).unwrap();
                let (begun, stood) = (first.history.len(), total(&first));
                assert!(begun > 22, "seed {seed}: {begun}");
                let second = lower(first, level, task).unwrap();
                assert!(stood - total(&second) < 2e-5, "seed {seed}: {}", stood - total(&second));
                let endless = Task { stopping: &Stopping { tolerance: 0.0, ..stopping }, ..*task };
                let begun = second.history.len();
                let third = lower(second, level, &endless).unwrap();
                assert_eq!(third.status, Status::Converged);
                most = most.max(third.history.len() - begun);
                let stop = |_: &Progress<'_>| ControlFlow::Break(());
                let told = Task { context: Context::without_limit(&stop), ..*task };
                let level = Level { held: &vec![Some(2.0); held.len()], squared_norm };
                assert_eq!(lower(third, level, &told).unwrap().status, Status::Stopped);
            });
        }
        assert_eq!(most, ITERATIONS);
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
}
