//! The dictionary step of a lexicographic fit: H minimising the largest loss of some groups while others are
//! held at what they have.
//!
//!   minimise over H ≥ 0:  max over the rest of g_ℓ,   subject to  g_ℓ ≤ t_ℓ  for the groups held.
//!
//! The exact min-max step solves φ(s) = min_H max(g_ℓ of the rest, g_ℓ − t_ℓ + s of those held). φ is convex and
//! rises with a slope of at most 1, the multipliers of those held; a level s can be reached if and only if
//! φ(s) ≤ s, and every H found with φ(s) ≤ s respects what is held. So the least such s is searched for from above;
//! tangents bound it from below. Never raises the largest loss of the rest.

use super::minmax;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
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
}

impl Problem<'_> {
    /// The largest loss of the rest.
    pub fn largest(&self, losses: &[f64]) -> f64 {
        let rest = losses.iter().zip(self.held).filter(|(_, held)| held.is_none());
        rest.map(|(loss, _)| *loss).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The losses shifted so that what is held counts as much as the level `s` of the rest.
    fn shifted(&self, s: f64) -> Vec<Criterion> {
        let shift = |(c, held): (&Criterion, &Option<f64>)| match held {
            // Levels searched are below what is held, so that no offset gets negative but by rounding.
            Some(t) => Criterion { offset: (c.offset + (t - s) * c.scale).max(0.0), ..*c },
            None => *c,
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
        let criteria = problem.shifted(s);
        let shifted = minmax::Problem { statistics: problem.statistics, criteria: &criteria };
        let found = minmax::solve(&shifted, &mut warm, lambda, GAP);
        let pull: f64 = (found.lambda.iter().zip(problem.held))
            .filter(|(_, held)| held.is_some())
            .map(|(l, _)| l)
            .sum();
        // The tangent of φ at s meets the line φ = s there; its slope is below 1.
        if pull < 1.0 - 1e-9 {
            low = low.max((found.lower - pull * s) / (1.0 - pull));
        }
        if found.upper <= s {
            // φ rises, so that what was reached can be reached again from there.
            high = found.upper;
            h.values.copy_from_slice(&warm.values);
            *lambda = found.lambda;
        } else {
            low = low.max(s);
        }
        if high - low <= 10.0 * GAP || !low.is_finite() {
            break;
        }
        s = low + 0.2 * (high - low);
    }
}
