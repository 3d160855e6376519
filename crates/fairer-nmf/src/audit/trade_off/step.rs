//! The H step at one α: the search for τ described in the parent.

use super::State;
use crate::dictionary::Dictionary;
use crate::statistics::Statistics;
use crate::update::{Scratch, Update};
use crate::weights::minmax;

/// Wanted duality gap of every min-max step, in units of loss.
const GAP: f64 = 1e-7;
/// The multiplier of the whole may differ by this from 1 − α: F_α is flat there, so its excess is
/// of second order.
const CLOSE: f64 = 2e-3;
/// Values of τ tried in one step at the most.
const TRIES: usize = 8;

/// What one step leaves to the next.
pub(super) struct Search<'a> {
    alpha: f64,
    /// N_ℓ of the groups, then ‖X‖.
    norms: Vec<f64>,
    /// E_ℓ of the groups, then τ‖X‖.
    baselines: Vec<f64>,
    given: &'a [f64],
    /// Multipliers of the groups and of the whole.
    lambda: Vec<f64>,
    tau: f64,
    /// How far τ moves where nothing else is known.
    stride: f64,
    scratch: Scratch,
}

impl<'a> Search<'a> {
    pub fn new(alpha: f64, mut norms: Vec<f64>, given: &'a [f64], at: &State) -> Self {
        let groups = norms.len();
        norms.push(norms.iter().map(|n| n * n).sum::<f64>().sqrt());
        let mut lambda = vec![alpha / groups as f64; groups];
        lambda.push(1.0 - alpha);
        let tau = at.total_error - at.measured.worst();
        let baselines = given.iter().copied().chain([0.0]).collect();
        let scratch = Scratch::default();
        Self { alpha, norms, baselines, given, lambda, tau, stride: 0.005, scratch }
    }

    /// A dictionary for the W behind `at` with a lower F_α, or the same one.
    pub fn next_dictionary(&mut self, at: &State) -> Dictionary {
        let (rank, features) = (at.h.rank, at.h.features);
        let ones = vec![1.0; at.statistics.len()];
        let whole = Statistics::weighted(&at.statistics, &ones, rank, features);
        let mut h = at.h.clone();
        if self.alpha == 0.0 {
            Update::Nnls.apply(&whole.gram, &whole.cross, &mut h.values, rank, &mut self.scratch);
        } else if self.alpha == 1.0 {
            let groups = self.given.len();
            let problem = minmax::Problem {
                statistics: &at.statistics,
                norms: &self.norms[..groups],
                baselines: self.given,
            };
            let found = minmax::solve(&problem, &mut h, &self.lambda[..groups], GAP);
            self.lambda[..groups].copy_from_slice(&found.lambda);
        } else {
            let mut statistics = at.statistics.clone();
            statistics.push(whole);
            h = self.mixed(&statistics, h);
        }
        h
    }

    fn mixed(&mut self, statistics: &[Statistics], begin: Dictionary) -> Dictionary {
        let whole = statistics.len() - 1;
        let wanted = 1.0 - self.alpha;
        // (τ, multiplier of the whole) on either side of the wanted one.
        let mut low: Option<(f64, f64)> = None;
        let mut high: Option<(f64, f64)> = None;
        let mut best = (self.objective(statistics, &begin), begin.clone());
        let mut warm = begin;
        let first = self.tau;
        for _ in 0..TRIES {
            self.baselines[whole] = self.tau * self.norms[whole];
            let (norms, baselines) = (&self.norms, &self.baselines);
            let problem = minmax::Problem { statistics, norms, baselines };
            let found = minmax::solve(&problem, &mut warm, &self.lambda, GAP);
            self.lambda = found.lambda;
            let share = self.lambda[whole];
            let value = self.objective(statistics, &warm);
            if value < best.0 {
                best = (value, warm.clone());
            }
            if (share - wanted).abs() <= CLOSE {
                break;
            }
            // The multiplier of the whole falls with τ.
            if share > wanted {
                low = Some((self.tau, share));
            } else {
                high = Some((self.tau, share));
            }
            self.tau = match (low, high) {
                (Some((a, at_a)), Some((b, at_b))) => {
                    // at_a > wanted > at_b, so the quotient lies between 0 and 1; keep off the
                    // ends, where a step in the multiplier would hold the search.
                    let part = (at_a - wanted) / (at_a - at_b);
                    a + (b - a) * part.clamp(0.1, 0.9)
                }
                (Some(_), None) => self.tau + self.stride,
                _ => self.tau - self.stride,
            };
            if low.is_none() || high.is_none() {
                self.stride *= 2.0;
            }
        }
        self.stride = (0.5 * (self.tau - first).abs()).max(1e-6);
        best.1
    }

    /// F_α of a dictionary with the W behind the statistics.
    fn objective(&self, statistics: &[Statistics], h: &Dictionary) -> f64 {
        let gram = h.gram();
        let relative = |l: usize| statistics[l].squared_error(h, &gram).sqrt() / self.norms[l];
        let groups = self.given.len();
        let loss = |l: usize| relative(l) - self.given[l] / self.norms[l];
        let worst = (0..groups).map(loss).fold(f64::NEG_INFINITY, f64::max);
        (1.0 - self.alpha) * relative(groups) + self.alpha * worst
    }
}
