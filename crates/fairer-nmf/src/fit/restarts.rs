//! Several runs, of which the best is kept.

use super::Parameters;
use super::iterate::iterate;
use super::run::{Run, Task};
use super::start;
use crate::Result;
use crate::rows::{self, Rows};
use rayon::prelude::*;

/// Factors below this size run their restarts in parallel; above, one after the other, so that
/// no more than two representations are alive.
const PARALLEL_RESTARTS: usize = 1 << 20;

/// The best of `n_init` runs of a task from starts of their own.
pub(super) fn best_of<'r>(rows: &'r dyn Rows, p: &Parameters, task: &Task<'_>) -> Result<Run<'r>> {
    let one = |restart: usize| {
        let mut rows = rows.apart();
        let begin = start::make(&mut *rows, p.rank, &p.init, restart, p.seed);
        iterate(rows, begin, &Task { restart, restarts: p.n_init, ..*task })
    };
    // Every method is judged by what it lowers.
    let value = |run: &Run<'_>| task.scheme.objective.of(&run.measured);
    let better = |a: Run<'r>, b: Run<'r>| if value(&b) < value(&a) { b } else { a };
    let mut best: Option<Run<'r>> = None;
    let mut keep = |run: Run<'r>| {
        best = Some(match best.take() {
            None => run,
            Some(kept) => better(kept, run),
        });
    };
    if rows::entries(rows, p.rank) * p.n_init <= PARALLEL_RESTARTS {
        let runs: Vec<Run<'r>> = (0..p.n_init).into_par_iter().map(one).collect::<Result<_>>()?;
        runs.into_iter().for_each(&mut keep);
    } else {
        for restart in 0..p.n_init {
            keep(one(restart)?);
        }
    }
    Ok(best.expect("n_init is at least 1 by Parameters::check"))
}
