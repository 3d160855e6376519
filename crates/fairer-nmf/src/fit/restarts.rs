//! Several runs, of which the best is kept.

use super::parameters::{Method, Parameters};
use super::run::{self, Run, Task};
use super::start;
use crate::Element;
use crate::data::GroupedData;
use rayon::prelude::*;

/// Factors below this size run their restarts in parallel; above, one after the other, so that
/// no more than two representations are alive.
const PARALLEL_RESTARTS: usize = 1 << 20;

/// The best of `n_init` runs of a task from starts of their own.
pub(super) fn best_of<T: Element>(
    data: &GroupedData<'_, T>,
    p: &Parameters,
    task: &Task<'_>,
) -> Run<T> {
    let one = |restart: usize| {
        let begin = start::make(data, p.rank, &p.init, restart, p.seed);
        run::iterate(data, begin, &Task { restart, restarts: p.n_init, ..*task })
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
