//! What the claims look at, and the kinds of checks they are made of.

use super::super::approach::Approach;
use super::super::cells::Cells;
use super::super::convergence::Curve;
use super::super::metric::Metric;
use super::super::sets::{SETS, Set};
use super::Check;

/// What the checks look at.
pub(super) struct View<'a> {
    pub cells: &'a Cells,
    pub curves: &'a [Curve],
}

pub(super) const FAIRER: [(&str, Approach); 2] = [("AM", Approach::Am), ("MU", Approach::Mu)];

impl View<'_> {
    pub fn error(
        &self,
        set: &'static str,
        method: Approach,
        group: &'static str,
        rank: usize,
    ) -> Option<f64> {
        self.cells.mean((set, method, Metric::ErrorPercent, group, rank))
    }

    /// In percent, as errors are.
    pub fn loss(
        &self,
        set: &'static str,
        method: Approach,
        group: &'static str,
        rank: usize,
    ) -> Option<f64> {
        self.cells.mean((set, method, Metric::Loss, group, rank)).map(|loss| 100.0 * loss)
    }

    pub fn worst(&self, set: &'static str, method: Approach, rank: usize) -> Option<f64> {
        self.cells.mean((set, method, Metric::WorstLoss, "all", rank)).map(|loss| 100.0 * loss)
    }

    /// The ranks within limits that were run.
    pub fn ranks(&self, set: &str, from: usize, to: usize) -> Vec<usize> {
        self.cells.ranks(set).into_iter().filter(|rank| (from..=to).contains(rank)).collect()
    }

    /// A value per rank: the smallest and the largest, each with its rank.
    pub fn extremes(
        &self,
        set: &str,
        from: usize,
        to: usize,
        value: impl Fn(usize) -> Option<f64>,
    ) -> Option<Extremes> {
        let found: Vec<(f64, usize)> =
            self.ranks(set, from, to).into_iter().filter_map(|r| Some((value(r)?, r))).collect();
        let least = found.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = found.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Extremes { least, most })
    }

    /// Standard deviation of the worst loss, in percent, averaged over the ranks up to one.
    pub fn variation(&self, set: &'static str, method: Approach, to: usize) -> Option<f64> {
        let cell = |rank| self.cells.get((set, method, Metric::WorstLoss, "all", rank))?.sd;
        let sds: Vec<f64> = self.ranks(set, 1, to).into_iter().filter_map(cell).collect();
        (!sds.is_empty()).then(|| 100.0 * sds.iter().sum::<f64>() / sds.len() as f64)
    }
}

pub(super) struct Extremes {
    pub least: (f64, usize),
    pub most: (f64, usize),
}

pub(super) fn check(met: bool, text: String) -> Option<Check> {
    Some(Check { text, met })
}

/// Those that could be made.
pub(super) fn made(checks: impl IntoIterator<Item = Option<Check>>) -> Vec<Check> {
    checks.into_iter().flatten().collect()
}

/// A difference that is positive at every rank run.
pub(super) fn always_above(what: &str, x: Option<Extremes>) -> Option<Check> {
    let (value, rank) = x?.least;
    check(value > 0.0, format!("{what}: by {value:+.2} points at the least (rank {rank})"))
}

/// A distance that never exceeds a limit.
pub(super) fn never_beyond(what: &str, x: Option<Extremes>, limit: f64) -> Option<Check> {
    let (value, rank) = x?.most;
    check(
        value <= limit,
        format!("{what}: {value:.2} points at the most (rank {rank}; limit {limit})"),
    )
}

/// Largest minus smallest, where all are known.
pub(super) fn range(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(most - values.iter().copied().fold(f64::INFINITY, f64::min))
}

pub(super) fn set(key: &str) -> &'static Set {
    SETS.iter().find(|set| set.key == key).unwrap_or(&SETS[0])
}

/// Distances of the losses of a set's groups under a method.
pub(super) fn loss_range(
    v: &View<'_>,
    key: &'static str,
    method: Approach,
    from: usize,
) -> Option<Extremes> {
    v.extremes(key, from, 99, |r| range(set(key).groups.iter().map(|g| v.loss(key, method, g, r))))
}
