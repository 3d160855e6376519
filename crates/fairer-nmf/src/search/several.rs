//! Several runs: how they are made, and which of them is better.

use crate::Result;
use crate::iteration::{Objective, Run, Scheme, Task};
use crate::parallel::try_map;
use crate::parameters::{Method, Parameters, Ties};
use crate::rows::{self, Rows};

/// Factors below this size run their restarts in parallel; above, one after the other, so that
/// no more than two representations are alive.
const PARALLEL_RESTARTS: usize = 1 << 20;

/// Runs whose objectives differ by less than this (worst losses; sums of squares relative to
/// themselves) are equal: rounding does not choose between them, their number does.
pub(super) const TIE: f64 = 1e-9;

/// What runs of a fit are compared by.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    scheme: Scheme<'a>,
    /// A lexicographic fit begins at the run that is best so among those that tie.
    leximin: bool,
}

impl<'a> Judge<'a> {
    pub fn new(p: &Parameters, scheme: Scheme<'a>) -> Self {
        let leximin = matches!(p.method, Method::Am { ties: Ties::Leximin, .. });
        Self { scheme, leximin }
    }

    /// Every method is judged by what it lowers.
    pub fn value(self, run: &Run<'_>) -> f64 {
        match self.scheme.costs() {
            Some(costs) => run.penalised(costs),
            None => self.scheme.objective.of(&run.measured),
        }
    }

    /// Whether a run is no better than one that is known.
    pub fn is_no_better(self, run: &Run<'_>, known: &Run<'_>) -> bool {
        if self.leximin {
            return !lexicographically_below(&run.measured.losses, &known.measured.losses);
        }
        let value = self.value(known);
        let tie = if self.scheme.objective == Objective::Sum { TIE * value } else { TIE };
        self.value(run) >= value - tie
    }
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

/// Makes runs 0 to `count` and hands them over in this order: side by side where one read serves several, or where
/// they are small; else one after the other while there is time.
pub(super) fn each<R: Send>(
    rows: &dyn Rows,
    p: &Parameters,
    task: &Task<'_>,
    count: usize,
    one: &(dyn Fn(usize) -> Result<R> + Sync),
    mut keep: impl FnMut(usize, R),
) -> Result<()> {
    if let Some(all) = rows.gathering() {
        let most = all.most(p.rank, rows.groups().len());
        let runs = rows::side_by_side(all, most, count, one)?;
        runs.into_iter().enumerate().for_each(|(number, run)| keep(number, run));
    } else if rows::entries(rows, p.rank) * p.n_init <= PARALLEL_RESTARTS {
        let runs = try_map(count, one)?;
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

#[cfg(test)]
mod tests;
