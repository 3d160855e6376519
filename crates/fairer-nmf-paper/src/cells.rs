//! Mean and spread over trials, per data set, method, metric, group and rank: ours, and the
//! paper's.

use std::collections::{BTreeMap, BTreeSet};

use super::approach::Approach;
use super::metric::Metric;
use super::sets::SETS;
use super::store::Row;
use fairer_nmf_report::mean_and_sd;

/// Where a cell is: data set, method, metric, group, rank. Groups have our names.
pub(super) type Key = (&'static str, Approach, Metric, &'static str, usize);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub mean: f64,
    /// Divisor n − 1; not known with a single trial.
    pub sd: Option<f64>,
    pub trials: usize,
}

pub(super) struct Cells(BTreeMap<Key, Cell>);

/// references/README.md says how it was made.
const PAPER: &str = include_str!("../data/paper_cells.csv");

impl Cells {
    pub(super) fn of_results(rows: &[Row]) -> Self {
        let mut values: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        let mut worst: BTreeMap<(&str, Approach, usize, usize), f64> = BTreeMap::new();
        for row in rows {
            let key = (row.dataset, row.method, row.metric, row.group, row.rank);
            values.entry(key).or_default().push(row.value);
            if row.metric == Metric::Loss {
                let key = (row.dataset, row.method, row.rank, row.trial);
                let worst = worst.entry(key).or_insert(f64::NEG_INFINITY);
                *worst = worst.max(row.value);
            }
        }
        for ((dataset, method, rank, _), value) in worst {
            let key = (dataset, method, Metric::WorstLoss, "all", rank);
            values.entry(key).or_default().push(value);
        }
        let cell = |values: Vec<f64>| {
            let (mean, sd) = mean_and_sd(&values)?;
            Some(Cell { mean, sd, trials: values.len() })
        };
        Self(values.into_iter().filter_map(|(key, values)| Some((key, cell(values)?))).collect())
    }

    pub(super) fn of_paper() -> Self {
        Self(PAPER.lines().filter_map(paper_cell).collect())
    }

    pub(super) fn get(&self, key: Key) -> Option<Cell> {
        self.0.get(&key).copied()
    }

    /// The mean, where the cell was run.
    pub(super) fn mean(&self, key: Key) -> Option<f64> {
        self.get(key).map(|cell| cell.mean)
    }

    /// The ranks of a data set that were run.
    pub(super) fn ranks(&self, dataset: &str) -> Vec<usize> {
        let ranks: BTreeSet<usize> =
            self.0.keys().filter(|key| key.0 == dataset).map(|key| key.4).collect();
        ranks.into_iter().collect()
    }

    /// The cells of a data set that others have too, with theirs.
    pub(super) fn beside(&self, others: &Self, dataset: &str) -> Vec<(Key, Cell, Cell)> {
        let of_set = self.0.iter().filter(|(key, _)| key.0 == dataset);
        of_set.filter_map(|(key, cell)| Some((*key, *cell, others.get(*key)?))).collect()
    }

    /// Only those where `others` has one too.
    pub(super) fn where_also(&self, others: &Self) -> Self {
        let kept = self.0.iter().filter(|(key, _)| others.0.contains_key(*key));
        Self(kept.map(|(key, cell)| (*key, *cell)).collect())
    }
}

fn paper_cell(line: &str) -> Option<(Key, Cell)> {
    let fields: Vec<&str> = line.split(',').collect();
    let [dataset, method, metric, group, rank, mean, sd, trials] = fields[..] else {
        return None;
    };
    let set = SETS.iter().find(|set| set.key == dataset)?;
    let group = match group {
        "all" => "all",
        _ => set.groups.iter().copied().find(|ours| set.papers_name(ours) == group)?,
    };
    let method = Approach::of(method)?;
    let metric = Metric::of(metric)?;
    let cell = Cell { mean: mean.parse().ok()?, sd: sd.parse().ok(), trials: trials.parse().ok()? };
    Some(((set.key, method, metric, group, rank.parse().ok()?), cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_cells_are_all_there_with_the_names_exchanged() {
        let paper = Cells::of_paper();
        // Per set: groups × (3 × 2 + 1) + 3 worst losses, and two times on real data.
        let expected: usize = SETS
            .iter()
            .map(|set| set.most * (set.groups.len() * 7 + 3 + 2 * usize::from(!set.is_synthetic())))
            .sum();
        assert_eq!(paper.0.len(), expected);
        let line = PAPER.lines().find(|l| l.starts_with("hd,standard,loss,male,5,")).unwrap();
        let mean = line.split(',').nth(5).unwrap().parse().unwrap();
        assert_eq!(paper.mean(("hd", Approach::Standard, Metric::Loss, "female", 5)), Some(mean));
    }
}
