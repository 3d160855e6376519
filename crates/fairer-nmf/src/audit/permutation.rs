//! Permutation test (Fisher 1935; Phipson and Smyth 2010 for the +1): how often would a random
//! group of that size fare as badly?
//!
//! *Null hypothesis.* The dictionary is fixed and every sample keeps its squared error e_i² and
//! squared norm x_i²; only the labels are exchangeable. Labels are shuffled over all rows, and a
//! group's statistic is compared with that of the rows that carry its label by chance:
//!
//!   R-Error of a set S:  √(Σ_S e_i² / Σ_S x_i²)
//!   p = (1 + #{draws at least as large}) / (1 + draws),   one-sided: large is bad.
//!
//! *Loss.* With E_ℓ/N_ℓ held, the test of the loss is the test of the error: [`permutation_test`],
//! which estimates nothing anew, gives that one p. A loss that means more needs a baseline for every
//! random group: [`permutation_test_refit`] fits standard NMF to its rows, and by the same rule to
//! the observed groups'. Cost: L small fits a draw. (Keeping for every sample the error that its own
//! group's dictionary leaves it looks like a cheap way out and is wrong: such errors are too low
//! in a small group, and on exchangeable rows with 8 rows at rank 3, p ≤ 0.2 came out in 98 % of cases.)
//!
//! Guarantee: p is valid (P(p ≤ u) ≤ u) where the labels play no part in the dictionary, as in
//! standard NMF. A fairer dictionary was fitted with the labels: its test describes, with the
//! groups' losses already pulled together. `adjusted` is Holm's (1979) correction over the groups,
//! for readers who look at the smallest p of many.

use super::difference::holm;
use super::{AuditPart, Evaluation, RowErrors};
use crate::parallel::try_map;
use crate::random::{Purpose, Stream};
use crate::rows::{Units, hold};
use crate::search::fit_relabelled;
use crate::steps::Steps;
use crate::yardsticks::standard;
use crate::{Error, GroupedData, Note, Result};
use serde::{Deserialize, Serialize};

/// How often chance does as badly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// (1 + draws at least as bad)/(1 + draws).
    pub p_value: f64,
    /// The same, corrected for the number of groups (Holm).
    pub adjusted_p: f64,
    /// Mean of the statistic over the draws: what a random group of that size has.
    pub mean: f64,
}

/// The tests of one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChances {
    /// Of the R-Error.
    pub relative_error: Chance,
    /// Of the R-Loss, where every random group got a baseline of its own.
    pub loss: Option<Chance>,
}

/// What a permutation test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Permutation {
    /// Number of draws.
    pub draws: usize,
    /// Whether every random group got a baseline of its own.
    pub refit: bool,
    /// Groups, in their order.
    pub groups: Vec<GroupChances>,
}

impl Permutation {
    /// Says so where the draws are too few for any group to fall below the level, whatever they show: Holm's smallest is that of all groups
    /// over one more than the draws.
    pub(super) fn too_few(&self, level: f64) -> Option<Note> {
        let groups = self.groups.len() as f64;
        // The level may be a rounding off.
        let enough = (groups / (1.0 - level) - 1e-9).ceil() - 1.0;
        let of = if self.refit { "losses" } else { "errors" };
        ((self.draws as f64) < enough).then(|| {
            let sentence = format!(
                "The p-values of the {of} come from {} draws, with which none can be below {:.2}; from {enough} draws on they could tell.",
                self.draws,
                (groups / (self.draws + 1) as f64).min(1.0),
            );
            Note::new("too-few-permutations", sentence)
        })
    }
}

/// Differences below this share of the statistic are rounding and count as equal.
const EQUAL: f64 = 1e-12;

/// The test of the R-Error, which estimates nothing anew.
///
/// # Errors
/// No draws.
pub fn permutation_test(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    draws: usize,
    seed: u64,
) -> Result<Permutation> {
    fixed(data, evaluation, draws, seed, &Steps::unwatched(AuditPart::Permutation))
}

/// [`permutation_test`] with an observer.
pub(super) fn fixed(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    draws: usize,
    seed: u64,
    steps: &Steps<'_>,
) -> Result<Permutation> {
    check_draws(draws)?;
    let rows = RowErrors::new(data, &evaluation.row_squared_errors);
    let statistic = |set: &[usize]| {
        // A random set of zero rows only loses nothing.
        let any = set.iter().any(|&row| rows.squared_norms[row] > 0.0);
        if any { rows.relative_error(set) } else { 0.0 }
    };
    let observed: Vec<f64> = data.groups().iter().map(|g| statistic(&g.rows)).collect();
    let by_draw: Vec<Vec<f64>> = try_map(draws, &|b| {
        let groups = || shuffled(data, b, seed);
        steps.step(|| Ok(groups().iter().map(|(_, rows)| statistic(rows)).collect()))
    })?;
    let found = chances(&observed, &by_draw).into_iter();
    let groups = found.map(|relative_error| GroupChances { relative_error, loss: None }).collect();
    Ok(Permutation { draws, refit: false, groups })
}

/// The test that gives every random group a baseline of its own, of rank `rank`, by the best of
/// `runs` short runs of HALS.
///
/// # Errors
/// No draws or no runs.
pub fn permutation_test_refit(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    rank: usize,
    runs: usize,
    draws: usize,
    seed: u64,
) -> Result<Permutation> {
    let steps = Steps::unwatched(AuditPart::RefitPermutation);
    refit(data, evaluation, (rank, runs), draws, seed, &steps)
}

/// [`permutation_test_refit`] with an observer; it takes one step more than draws.
pub(super) fn refit(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    (rank, runs): (usize, usize),
    draws: usize,
    seed: u64,
    steps: &Steps<'_>,
) -> Result<Permutation> {
    check_draws(draws)?;
    let rows = RowErrors::new(data, &evaluation.row_squared_errors);
    let held = hold(data, Units::Own);
    // The observed groups are draw 0: treated like every other.
    let all: Vec<Vec<(f64, f64)>> = try_map(draws.saturating_add(1), &|b| {
        let groups: Vec<_> = match b {
            0 => data.groups().iter().map(|g| (g.name.clone(), g.rows.clone())).collect(),
            b => shuffled(data, b - 1, seed),
        };
        let one = |(l, (name, set)): (usize, (String, Vec<usize>))| {
            if set.iter().all(|&row| rows.squared_norms[row] <= 0.0) {
                return Ok((0.0, 0.0));
            }
            let error = rows.relative_error(&set);
            let purpose = Purpose::Permutation(b as u64);
            let seed = Stream::new(seed, purpose, 1 + l as u64).next_u64();
            let (alone, parameters) = (vec![(name, set)], standard(rank, runs, seed));
            let fitted = fit_relabelled(&*held, alone, &parameters, None, &|_| steps.tell())?;
            steps.go_on()?;
            Ok((error, error - fitted.groups[0].relative_error))
        };
        steps.step(|| groups.into_iter().enumerate().map(one).collect::<Result<Vec<_>>>())
    })?;
    let of = |pick: fn(&(f64, f64)) -> f64| {
        let values: Vec<Vec<f64>> = all.iter().map(|b| b.iter().map(pick).collect()).collect();
        chances(&values[0], &values[1..])
    };
    let pairs = of(|s| s.0).into_iter().zip(of(|s| s.1));
    let groups = pairs
        .map(|(relative_error, loss)| GroupChances { relative_error, loss: Some(loss) })
        .collect();
    Ok(Permutation { draws, refit: true, groups })
}

/// The groups with their labels shuffled over all rows.
fn shuffled(data: &GroupedData<'_>, draw: usize, seed: u64) -> Vec<(String, Vec<usize>)> {
    let dealt = data.shuffled(Stream::new(seed, Purpose::Permutation(draw as u64), 0));
    data.groups().iter().map(|g| g.name.clone()).zip(dealt).collect()
}

fn chances(observed: &[f64], by_draw: &[Vec<f64>]) -> Vec<Chance> {
    let of_group = |(l, &observed): (usize, &f64)| {
        let least = observed - EQUAL * observed.abs();
        let as_bad = by_draw.iter().filter(|draw| draw[l] >= least).count();
        let sum: f64 = by_draw.iter().map(|draw| draw[l]).sum();
        let p_value = (1 + as_bad) as f64 / (1 + by_draw.len()) as f64;
        Chance { p_value, adjusted_p: p_value, mean: sum / by_draw.len() as f64 }
    };
    let mut found: Vec<Chance> = observed.iter().enumerate().map(of_group).collect();
    let adjusted = holm(&found.iter().map(|chance| chance.p_value).collect::<Vec<f64>>());
    found.iter_mut().zip(adjusted).for_each(|(chance, adjusted)| chance.adjusted_p = adjusted);
    found
}

fn check_draws(draws: usize) -> Result<()> {
    if draws == 0 {
        return Err(Error::Parameter {
            name: "permutations",
            value: "0".to_owned(),
            expected: "at least one draw is needed",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_that_cannot_tell_are_said_to_be_too_few() {
        let chance = Chance { p_value: 1.0, adjusted_p: 1.0, mean: 0.1 };
        let said = |draws: usize, groups: usize, refit: bool, level: f64| {
            let one = GroupChances { relative_error: chance, loss: refit.then_some(chance) };
            Permutation { draws, refit, groups: vec![one; groups] }.too_few(level)
        };
        let two = said(20, 2, true, 0.95).unwrap();
        assert!(
            two.sentence.contains("of the losses come from 20 draws")
                && two.sentence.contains("below 0.10")
        );
        assert!(two.sentence.contains("from 39 draws on"), "{two}");
        assert_eq!([said(39, 2, true, 0.95), said(19, 1, true, 0.95)], [None, None]);
        assert!(said(38, 2, true, 0.95).is_some() && said(39, 2, true, 0.99).is_some());
        let many = said(999, 60, false, 0.95).unwrap();
        assert!(
            many.sentence.contains("of the errors") && many.sentence.contains("from 1199 draws on"),
            "{many}"
        );
        assert!(said(1, 7, true, 0.95).unwrap().sentence.contains("below 1.00"));
    }
}
