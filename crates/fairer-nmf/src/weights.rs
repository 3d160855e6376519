//! Weight rules: from the groups' losses to the weights of their statistics in the H step.
//!
//! Every rule but the last gives weights w_ℓ, and H takes one step (or the minimum) of
//! Σ w_ℓ‖X_ℓ − W_ℓH‖². The exact min-max rule finds the w whose minimum is the min-max H.

pub(crate) mod minmax;

use serde::{Deserialize, Serialize};

/// How group weights follow from losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "rule")]
pub enum WeightRule {
    /// Weight 1 for every group: standard NMF.
    Uniform,
    /// c ← c + e_ℓ* for the group ℓ* with the largest loss, so that the step falls like 1/k
    /// (the paper's MU scheme, its Algorithm 3). w_ℓ = (c_ℓ/N_ℓ)².
    Decaying {
        /// Start at c = 1/L, as the published code does; false: at 0, as the text says.
        even_start: bool,
    },
    /// All weight on the largest loss (the paper's counter-example).
    Largest,
    /// c ← (1 − s)c + s·e_ℓ* from c = 1/L. w_ℓ = (c_ℓ/N_ℓ)².
    Fixed {
        /// The step s, between 0 and 1.
        step: f64,
    },
    /// The exact minimum over H of the largest loss (the paper's AM scheme).
    MinMax {
        /// Wanted difference between the upper and lower bound of every H step, in units of loss.
        gap: f64,
    },
}

/// The coefficients c that the rules carry from iteration to iteration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coefficients(Vec<f64>);

impl Coefficients {
    pub fn new(rule: WeightRule, groups: usize) -> Self {
        let even = 1.0 / groups as f64;
        Self(match rule {
            WeightRule::Decaying { even_start: false } => vec![0.0; groups],
            _ => vec![even; groups],
        })
    }

    /// Moves towards the group with the largest loss and returns the weights w.
    pub fn next(&mut self, rule: WeightRule, losses: &[f64], norms: &[f64]) -> Vec<f64> {
        let worst = largest(losses);
        let c = &mut self.0;
        match rule {
            WeightRule::Uniform | WeightRule::MinMax { .. } => return vec![1.0; losses.len()],
            WeightRule::Decaying { .. } => c[worst] += 1.0,
            WeightRule::Largest => {
                c.fill(0.0);
                c[worst] = 1.0;
            }
            WeightRule::Fixed { step } => {
                c.iter_mut().for_each(|c| *c *= 1.0 - step);
                c[worst] += step;
            }
        }
        // Norms are positive by validation.
        c.iter().zip(norms).map(|(c, n)| (c / n) * (c / n)).collect()
    }
}

/// Index of the largest value; the first of equals.
pub(crate) fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        if *v > values[best] {
            best = i;
        }
    }
    best
}
