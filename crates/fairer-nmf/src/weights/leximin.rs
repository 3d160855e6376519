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

use super::minmax;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;

/// Wanted duality gap of every min-max step, in units of loss.
const GAP: f64 = 1e-8;
/// Levels tried in one step at the most.
const TRIES: usize = 6;

/// What a step is asked for: statistics and criteria of all that counts, and what is held.
pub(crate) struct Problem<'a> {
    pub statistics: &'a [Statistics],
    pub criteria: &'a [Criterion],
    /// t_ℓ of those held, none of the rest.
    pub held: &'a [Option<f64>],
    /// Until when it is searched.
    pub limit: Limit,
}

impl Problem<'_> {
    /// The largest loss of the rest.
    pub fn largest(&self, losses: &[f64]) -> f64 {
        let rest = losses.iter().zip(self.held).filter(|(_, held)| held.is_none());
        rest.map(|(loss, _)| *loss).fold(f64::NEG_INFINITY, f64::max)
    }

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
pub(crate) fn step(
    problem: &Problem<'_>,
    losses: &[f64],
    h: &mut Dictionary,
    lambda: &mut Vec<f64>,
) {
    let (mut low, mut high) = (f64::NEG_INFINITY, problem.largest(losses));
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
            (problem.floor(), problem.largest(&[0.1, 0.3, 0.2]), offsets)
        };
        assert_eq!(at(&[None; 3]), (-0.25, 0.3, vec![3.0, 4.0, 5.0]));
        let held = [Some(-0.125), Some(-0.75), None];
        assert_eq!(at(&held), (-0.75, 0.2, vec![0.5, 0.0, 5.0]));
    }
}
