//! How the losses of random groups scatter: groups of one size together.

use crate::GroupedData;
use std::collections::BTreeMap;

/// Mean and standard deviation of the losses of random groups of every group's size.
pub(crate) struct Scatter(Vec<(f64, f64)>);

impl Scatter {
    /// Of the losses of all groups in some draws.
    pub fn of(found: &[Vec<f64>], sizes: &Alike) -> Self {
        Self(sizes.each(|of_size| moments(found, of_size)))
    }

    /// By how many standard deviations the loss of a group exceeds the mean.
    pub fn z(&self, losses: &[f64], l: usize) -> f64 {
        let (mean, sd) = self.0[l];
        // Without scatter (all rows alike) nothing stands out.
        if sd > 0.0 { (losses[l] - mean) / sd } else { 0.0 }
    }

    /// The largest of that over some of the groups.
    pub fn largest(&self, losses: &[f64], groups: &[usize]) -> f64 {
        groups.iter().map(|&l| self.z(losses, l)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Groups of as many rows as each other: random ones of them are alike, so that what is drawn of one is
/// drawn of all.
pub(crate) struct Alike {
    /// The groups of every size.
    pub(super) of_size: Vec<Vec<usize>>,
    /// Which size each group has.
    pub(super) size: Vec<usize>,
}

impl Alike {
    pub fn of(data: &GroupedData<'_>) -> Self {
        let mut of_size: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (l, group) in data.groups().iter().enumerate() {
            of_size.entry(group.rows.len()).or_default().push(l);
        }
        let of_size: Vec<Vec<usize>> = of_size.into_values().collect();
        let mut size = vec![0; data.groups().len()];
        for (at, groups) in of_size.iter().enumerate() {
            groups.iter().for_each(|&l| size[l] = at);
        }
        Self { of_size, size }
    }

    /// For every group what `one` finds of the groups of its size.
    pub fn each<V: Copy>(&self, one: impl Fn(&[usize]) -> V) -> Vec<V> {
        let found: Vec<V> = self.of_size.iter().map(|groups| one(groups)).collect();
        self.size.iter().map(|&at| found[at]).collect()
    }
}

/// The range that holds nine of ten losses of these groups over the draws.
pub(crate) fn nine_of_ten(found: &[Vec<f64>], groups: &[usize]) -> (f64, f64) {
    let values = found.iter().flat_map(|losses| groups.iter().map(|&l| losses[l]));
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((share * values.len() as f64) as usize).min(values.len() - 1)];
    (at(0.05), at(0.95))
}

/// Mean and standard deviation of the losses of these groups over the draws.
pub(super) fn moments(found: &[Vec<f64>], groups: &[usize]) -> (f64, f64) {
    let values = || found.iter().flat_map(|losses| groups.iter().map(|&l| losses[l]));
    let count = (found.len() * groups.len()) as f64;
    let mean = values().sum::<f64>() / count;
    let squares: f64 = values().map(|loss| (loss - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}
