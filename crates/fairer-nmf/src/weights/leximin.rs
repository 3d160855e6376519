//! The dictionary step of a lexicographic fit: H minimising the largest loss of some groups while others are
//! held at what they have.
//!
//!   minimise over H ≥ 0:  max over the rest of g_ℓ,   subject to  g_ℓ ≤ t_ℓ  for the groups held.
//!
//! The exact min-max step solves φ(s) = min_H max(g_ℓ − s of the rest, g_ℓ − t_ℓ of those held): the criterion with the offsets
//! E_ℓ + s·N_ℓ and E_ℓ + t_ℓ·N_ℓ, which are errors, and so never negative, whatever the losses are measured against (the total error,
//! of offset 0, lies above the losses of groups). φ(s) + s is convex and rises with a slope of at most 1, the multipliers of those
//! held; a level s can be reached if and only if φ(s) ≤ 0, and every H found with φ(s) ≤ 0 respects what is held. So the least such s
//! is searched for from above; tangents bound it from below. Never raises the largest loss of the rest.

use super::{minmax, shares};
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::measured::Measured;
use crate::statistics::Statistics;

/// Wanted duality gap of every min-max step, in units of loss.
const GAP: f64 = 1e-8;
/// Levels tried in one step at the most.
const TRIES: usize = 6;

/// What a held group may rise by, in units of loss: the duality gap that fits are solved to.
pub(crate) const ALLOWED: f64 = 1e-6;

/// One level: which groups are held, and at what. With all of them held, the total error is what is left to lower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level<'a> {
    /// t_ℓ of the groups held, none of the rest.
    pub held: &'a [Option<f64>],
    /// ‖X‖².
    pub squared_norm: f64,
}

impl Level<'_> {
    /// What it lowers: the largest loss of the rest; infinite where a group that is held has risen.
    pub fn value(self, measured: &Measured) -> f64 {
        let stays = |(loss, held): (&f64, &Option<f64>)| held.is_none_or(|t| *loss <= t + ALLOWED);
        match measured.losses.iter().zip(self.held).all(stays) {
            true => largest(&self.losses(measured), &self.all_held()),
            false => f64::INFINITY,
        }
    }

    fn is_last(self) -> bool {
        self.held.iter().all(Option::is_some)
    }

    /// What is held of all that counts: of the groups, and of the whole where it counts too.
    fn all_held(self) -> Vec<Option<f64>> {
        self.held.iter().copied().chain(self.is_last().then_some(None)).collect()
    }

    /// The losses of all that counts.
    fn losses(self, measured: &Measured) -> Vec<f64> {
        let whole = self.is_last().then(|| measured.relative_total(self.squared_norm));
        measured.losses.iter().copied().chain(whole).collect()
    }

    /// The statistics of all that counts.
    fn statistics(self, statistics: &[Statistics]) -> Vec<Statistics> {
        let groups = self.held.len();
        let whole = self.is_last().then(|| Statistics::of_all(statistics, groups));
        statistics[..groups].iter().cloned().chain(whole).collect()
    }
}

/// A level from step to step.
pub(crate) struct Search<'a> {
    level: Level<'a>,
    /// Of all that counts.
    criteria: Vec<Criterion>,
    /// Multipliers of the last level that could be reached.
    lambda: Vec<f64>,
}

impl<'a> Search<'a> {
    pub fn new(level: Level<'a>, criteria: &[Criterion]) -> Self {
        let whole = Criterion { offset: 0.0, scale: level.squared_norm.sqrt() };
        let whole = level.is_last().then_some(whole);
        let criteria: Vec<Criterion> = criteria.iter().copied().chain(whole).collect();
        let lambda = vec![1.0 / criteria.len() as f64; criteria.len()];
        Self { level, criteria, lambda }
    }

    /// The multipliers of the groups, with sum 1.
    pub fn shares(&self) -> Vec<f64> {
        shares(&self.lambda[..self.level.held.len()])
    }

    /// H ← [`step`] from what the last factors achieved.
    pub fn step(
        &mut self,
        statistics: &[Statistics],
        before: &Measured,
        h: &mut Dictionary,
        limit: Limit,
    ) {
        let (statistics, losses) = (self.level.statistics(statistics), self.level.losses(before));
        // What has risen within what is allowed stays there: held below that, nothing could be reached.
        let held = self.level.all_held();
        let held = held.iter().zip(&losses).map(|(t, loss)| t.map(|t| t.max(*loss)));
        let held: Vec<Option<f64>> = held.collect();
        let criteria = &self.criteria;
        let problem = Problem { statistics: &statistics, criteria, held: &held, limit };
        step(&problem, &losses, h, &mut self.lambda);
    }
}

/// The largest loss of the rest.
fn largest(losses: &[f64], held: &[Option<f64>]) -> f64 {
    let rest = losses.iter().zip(held).filter(|(_, held)| held.is_none());
    rest.map(|(loss, _)| *loss).fold(f64::NEG_INFINITY, f64::max)
}

/// What a step is asked for: statistics and criteria of all that counts, and what is held.
struct Problem<'a> {
    statistics: &'a [Statistics],
    criteria: &'a [Criterion],
    /// t_ℓ of those held, none of the rest.
    held: &'a [Option<f64>],
    /// Until when it is searched.
    limit: Limit,
}

impl Problem<'_> {
    /// What the largest loss of the rest cannot be below, as no error is negative.
    fn floor(&self) -> f64 {
        let rest = self.criteria.iter().zip(self.held).filter(|(_, held)| held.is_none());
        rest.map(|(c, _)| -c.relative_offset()).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The losses less what each may be: the level `s` of the rest, what is held of those held.
    fn against(&self, s: f64) -> Vec<Criterion> {
        let shift = |(c, held): (&Criterion, &Option<f64>)| {
            // An error that was reached, or may be reached: negative by rounding alone.
            let offset = c.offset + held.unwrap_or(s) * c.scale;
            Criterion { offset: offset.max(0.0), ..*c }
        };
        self.criteria.iter().zip(self.held).map(shift).collect()
    }
}

/// H ← a dictionary for the W behind the statistics with a lower largest loss of the rest, or the same one.
/// `lambda`: where the multipliers begin; those of the last level that could be reached are left there.
fn step(problem: &Problem<'_>, losses: &[f64], h: &mut Dictionary, lambda: &mut Vec<f64>) {
    let (mut low, mut high) = (f64::NEG_INFINITY, largest(losses, problem.held));
    let mut s = high;
    let mut warm = h.clone();
    for _ in 0..TRIES {
        let criteria = problem.against(s);
        let (statistics, limit) = (problem.statistics, problem.limit);
        let against = minmax::Problem { statistics, criteria: &criteria, limit };
        let found = minmax::solve(&against, &mut warm, lambda, GAP);
        let pull: f64 = (found.lambda.iter().zip(problem.held))
            .filter(|(_, held)| held.is_some())
            .map(|(l, _)| l)
            .sum();
        // The tangent of φ at s, of slope pull − 1 < 0, meets zero there.
        if pull < 1.0 - 1e-9 {
            low = low.max(s + found.lower / (1.0 - pull));
        }
        if found.upper <= 0.0 {
            // φ(s) + s rises, so that what was reached can be reached again from there.
            high = s + found.upper;
            h.values.copy_from_slice(&warm.values);
            *lambda = found.lambda;
        } else {
            low = low.max(s);
        }
        if high - low <= 10.0 * GAP || !low.is_finite() || limit.is_over() {
            break;
        }
        s = (low + 0.2 * (high - low)).max(problem.floor());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupedData;
    use crate::random::{Purpose, Stream};
    use crate::rows::group_statistics;
    use ndarray::Array2;

    /// With all groups held, one topic and two features: the total error is the least of all dictionaries on a grid that respect
    /// what is held, though it lies above the losses that are held.
    #[test]
    fn the_last_word_is_the_least_total_error_of_a_grid() {
        for seed in 0..8 {
            let mut stream = Stream::new(seed, Purpose::Spectral, 7);
            let w = Array2::from_shape_fn((12, 1), |_| 0.2 + stream.uniform());
            let x = Array2::from_shape_fn((12, 2), |(i, j)| {
                stream.uniform() + if i / 6 == j { 0.7 } else { 0.0 }
            });
            let codes: Vec<usize> = (0..12).map(|i| i / 6).collect();
            let names = vec!["a".to_owned(), "b".to_owned()];
            let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
            let mut statistics = group_statistics(&data, w.view()).unwrap();
            let whole = Statistics::weighted(&statistics, &[1.0, 1.0], 1, 2);
            statistics.push(whole);
            let offsets = [0.2, 0.05, 0.0];
            let criteria: Vec<Criterion> = (statistics.iter().zip(offsets))
                .map(|(s, e)| (s.squared_norm.sqrt(), e))
                .map(|(scale, e)| Criterion { offset: e * scale, scale })
                .collect();
            let losses = |h: &Dictionary| -> Vec<f64> {
                let gram = h.gram();
                let loss =
                    |(s, c): (&Statistics, &Criterion)| c.loss(s.squared_error(h, &gram).sqrt());
                statistics.iter().zip(&criteria).map(loss).collect()
            };
            let of = |a: f64, b: f64| Dictionary { rank: 1, features: 2, values: vec![a, b] };
            // Good for one group, and bad for the other, which is held there.
            let mut h = of(0.4, 1.1);
            let before = losses(&h);
            let held = [Some(before[0]), Some(before[1]), None];
            let limit = Limit::NONE;
            let problem =
                Problem { statistics: &statistics, criteria: &criteria, held: &held, limit };
            step(&problem, &before, &mut h, &mut vec![1.0 / 3.0; 3]);
            let after = losses(&h);
            assert!(before[2] > before[0] + offsets[0] || before[2] > before[1] + offsets[1]);
            assert!((0..2).all(|l| after[l] <= before[l] + 1e-9), "{after:?}, {before:?}");
            let mut least = f64::INFINITY;
            for (a, b) in (0..400 * 400).map(|k| (k / 400, k % 400)) {
                let at = losses(&of(a as f64 / 133.0, b as f64 / 133.0));
                if at[0] <= before[0] && at[1] <= before[1] {
                    least = least.min(at[2]);
                }
            }
            assert!(
                after[2] < before[2] - 1e-4 && after[2] <= least + 1e-6,
                "{seed}: {after:?} {least}"
            );
            assert!(least - after[2] < 2e-2, "seed {seed}: {} below {least}", after[2]);
        }
    }

    #[test]
    fn the_floor_is_below_what_the_rest_can_reach_and_offsets_are_errors() {
        let of = |offset: f64| Criterion { offset, scale: 4.0 };
        let criteria = [of(1.0), of(2.0), of(3.0)];
        let at = |held: &[Option<f64>; 3]| {
            let problem =
                Problem { statistics: &[], criteria: &criteria, held, limit: Limit::NONE };
            let offsets: Vec<f64> = problem.against(0.5).iter().map(|c| c.offset).collect();
            (problem.floor(), largest(&[0.1, 0.3, 0.2], held), offsets)
        };
        assert_eq!(at(&[None; 3]), (-0.25, 0.3, vec![3.0, 4.0, 5.0]));
        let held = [Some(-0.125), Some(-0.75), None];
        assert_eq!(at(&held), (-0.75, 0.2, vec![0.5, 0.0, 5.0]));
    }

    #[test]
    fn the_whole_counts_once_all_groups_are_held() {
        let one = |scale: f64| {
            let mut s = Statistics::zero(2, 3);
            s.gram.fill(scale);
            s.squared_norm = scale;
            s
        };
        let level = |held| Level { held, squared_norm: 4.0 };
        let (some, all) = ([Some(0.3), None], [Some(0.3), Some(0.2)]);
        let groups = [one(1.0), one(2.0)];
        assert_eq!(level(&some).statistics(&groups), groups);
        assert_eq!(level(&all).statistics(&groups), [one(1.0), one(2.0), one(3.0)]);
        let overlap = [one(1.0), one(2.0), one(9.0)];
        assert_eq!(level(&some).statistics(&overlap), groups);
        assert_eq!(level(&all).statistics(&overlap), overlap);
    }

    #[test]
    fn a_level_is_worth_nothing_where_a_group_that_is_held_has_risen() {
        let measured = |losses: [f64; 2]| Measured {
            errors: vec![0.6, 0.8],
            relative_errors: vec![0.6, 0.8],
            losses: losses.to_vec(),
            whole: None,
        };
        let level = |held| Level { held, squared_norm: 4.0 };
        let (some, all) = ([Some(0.3), None], [Some(0.3), Some(0.2)]);
        assert_eq!(level(&some).value(&measured([0.3 + 0.5 * ALLOWED, 0.1])), 0.1);
        assert_eq!(level(&all).value(&measured([0.1, 0.2])), 0.5, "the total error");
        assert_eq!(level(&some).value(&measured([0.3 + 2.0 * ALLOWED, 0.1])), f64::INFINITY);
        assert_eq!(level(&all).value(&measured([0.1, f64::NAN])), f64::INFINITY);
    }
}
