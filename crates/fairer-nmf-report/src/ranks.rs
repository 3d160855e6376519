//! What a sweep says of a rank. The page and the program's table both ask here.

use std::collections::BTreeSet;

use crate::content::{Maker, RankPoint, Ranks};

impl Ranks {
    /// The ranks tried.
    pub fn tried(&self) -> BTreeSet<usize> {
        self.series.iter().flat_map(|s| &s.points).map(|p| p.rank).collect()
    }

    /// The mean loss of a group under a method at a rank.
    pub fn loss(&self, method: Maker, rank: usize, group: &str) -> Option<f64> {
        let ours = self.series.iter().find(|s| s.method == method && s.group == group)?;
        ours.points.iter().find(|p| p.rank == rank).map(|p| p.loss_mean)
    }

    /// The worst loss of a method at a rank: the largest mean loss of any group, and that group.
    /// The mean is taken first, so that no group is blamed for the luck of single trials.
    pub fn worst(&self, method: Maker, rank: usize) -> Option<(&RankPoint, &str)> {
        let ours = self.series.iter().filter(|s| s.method == method);
        let at = ours.flat_map(|s| {
            s.points.iter().filter(|p| p.rank == rank).map(|p| (p, s.group.as_str()))
        });
        at.filter(|(p, _)| p.loss_mean.is_finite())
            .max_by(|a, b| a.0.loss_mean.total_cmp(&b.0.loss_mean))
    }

    /// Whether no group's mean loss exceeds the threshold, where there is one.
    pub fn is_enough(&self, method: Maker, rank: usize) -> bool {
        let worst = self.worst(method, rank);
        self.threshold.zip(worst).is_some_and(|(most, (worst, _))| worst.loss_mean <= most)
    }

    /// The smallest rank tried that is enough.
    pub fn enough(&self, method: Maker) -> Option<usize> {
        self.tried().into_iter().find(|&rank| self.is_enough(method, rank))
    }
}
