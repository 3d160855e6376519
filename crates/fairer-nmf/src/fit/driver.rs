//! The dictionary's side of an iteration: group weights, then H, from the statistics alone.

use super::run::{Scheme, Task};
use crate::Element;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::statistics::Statistics;
use crate::weights::{Coefficients, WeightRule, minmax};

/// Everything that never sees a row: weights and the dictionary step.
pub(super) struct Driver<'a> {
    scheme: Scheme,
    norms: Vec<f64>,
    baselines: &'a [f64],
    coefficients: Coefficients,
    /// Multipliers of the last exact step (sum 1); carried as its warm start.
    pub lambda: Vec<f64>,
    /// Duality gap of the last exact step.
    pub gap: Option<f64>,
    /// By how much the last exact step lowered the largest loss.
    pub improvement: f64,
}

/// No exact step is asked for a smaller gap: rounding.
const FINEST_GAP: f64 = 1e-11;

impl<'a> Driver<'a> {
    pub fn new<T: Element>(data: &GroupedData<'_, T>, task: &Task<'a>) -> Self {
        let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
        let groups = norms.len();
        Self {
            scheme: task.scheme,
            norms,
            baselines: task.baselines,
            coefficients: Coefficients::new(task.scheme.weights, groups),
            lambda: task
                .start_weights
                .map_or_else(|| vec![1.0 / groups as f64; groups], <[f64]>::to_vec),
            gap: None,
            improvement: f64::INFINITY,
        }
    }

    /// H ← the exact minimum of the largest loss. Once the loss creeps, a gap that is coarse
    /// beside the last improvement would end the creeping too early.
    pub fn exact_dictionary(&mut self, statistics: &[Statistics], h: &mut Dictionary) {
        let WeightRule::MinMax { gap } = self.scheme.weights else {
            unreachable!("only the AM scheme takes exact dictionary steps")
        };
        let gap = gap.min(0.1 * self.improvement).max(FINEST_GAP);
        let problem = minmax::Problem { statistics, norms: &self.norms, baselines: self.baselines };
        let step = minmax::solve(&problem, h, &self.lambda, gap);
        self.gap = Some(step.gap());
        self.lambda = step.lambda;
    }

    /// H ← the scheme's step (AM: the minimum) for Σ w_ℓ‖X_ℓ − W_ℓH‖²/N_ℓ² for fixed weights w.
    pub fn weighted_dictionary(
        &self,
        weights: &[f64],
        statistics: &[Statistics],
        h: &mut Dictionary,
    ) {
        let absolute: Vec<f64> =
            weights.iter().zip(&self.norms).map(|(w, n)| w / (n * n)).collect();
        self.step(&absolute, statistics, h);
    }

    /// H ← one step for the weights that follow from the losses.
    pub fn update_dictionary(
        &mut self,
        statistics: &[Statistics],
        losses: &[f64],
        h: &mut Dictionary,
    ) {
        let weights = self.coefficients.next(self.scheme.weights, losses, &self.norms);
        self.step(&weights, statistics, h);
    }

    /// H ← one step for the sum of all squared errors.
    pub fn even_dictionary(&self, statistics: &[Statistics], h: &mut Dictionary) {
        self.step(&vec![1.0; statistics.len()], statistics, h);
    }

    fn step(&self, weights: &[f64], statistics: &[Statistics], h: &mut Dictionary) {
        let sum = Statistics::weighted(statistics, weights, h.rank, h.features);
        self.scheme.dictionary.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank);
    }
}
