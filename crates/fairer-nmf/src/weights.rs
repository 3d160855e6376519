//! Weight rules: from the groups' losses to the weights of their statistics in the H step.
//!
//! A rule gives weights w_ℓ, and H takes one step (or the minimum) of Σ w_ℓ‖X_ℓ − W_ℓH‖². The exact
//! min-max step finds the w whose minimum is the min-max H.

pub(crate) mod leximin;
pub(crate) mod minmax;
pub(crate) mod mixture;

pub use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// The result of [`min_max_step`].
#[derive(Clone, Debug, PartialEq)]
pub struct MinMaxStep {
    /// H (r×n), never worse than the one given.
    pub components: Array2<f64>,
    /// The multipliers λ of the groups, sum 1: who determines H.
    pub weights: Vec<f64>,
    /// No H ≥ 0 has a largest loss below this, for these statistics.
    pub lower: f64,
    /// The largest loss of `components`.
    pub upper: f64,
    /// Number of NNLS solves it took, each for all features.
    pub solves: usize,
}

/// The exact dictionary step of the AM scheme: minimises over H ≥ 0 the largest loss
/// max_ℓ (‖X_ℓ − W_ℓH‖ − E_ℓ)/N_ℓ for the W behind `statistics`, to a duality gap of `gap` (in
/// units of loss) where it can be reached; `upper − lower` says what was reached.
///
/// # Errors
/// A start of another shape than the statistics, or not one baseline per group.
pub fn min_max_step(
    statistics: &[Statistics],
    baselines: &[f64],
    start: ArrayView2<'_, f64>,
    gap: f64,
) -> Result<MinMaxStep> {
    let groups = statistics.len();
    if baselines.len() != groups || groups == 0 {
        let reason = format!("{} values for {groups} groups: give one per group", baselines.len());
        return Err(Error::Baseline { reason });
    }
    let (rows, columns) = statistics[0].cross().dim();
    if start.dim() != (rows, columns) {
        let (found_rows, found_columns) = start.dim();
        let what = "the start";
        return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
    }
    let criteria: Vec<Criterion> = statistics
        .iter()
        .zip(baselines)
        .map(|(s, &offset)| Criterion { offset, scale: s.squared_norm.sqrt() })
        .collect();
    let mut h = Dictionary::from_components(start);
    let limit = Limit::NONE;
    let problem = minmax::Problem { statistics, criteria: &criteria, limit };
    let even = vec![1.0 / groups as f64; groups];
    let step = minmax::solve(&problem, &mut h, &even, gap);
    let (lower, upper, solves) = (step.lower, step.upper, step.solves);
    Ok(MinMaxStep { components: h.to_components(), weights: step.lambda, lower, upper, solves })
}

/// How group weights follow from losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "rule")]
#[non_exhaustive]
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
}

/// The coefficients c that the rules carry from iteration to iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub fn next(&mut self, rule: WeightRule, losses: &[f64], criteria: &[Criterion]) -> Vec<f64> {
        let c = &mut self.0;
        // The sum of all errors asks for no losses.
        let worst = if rule == WeightRule::Uniform { 0 } else { largest(losses) };
        match rule {
            WeightRule::Uniform => return vec![1.0; criteria.len()],
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
        // Scales are positive by validation.
        c.iter().zip(criteria).map(|(c, of)| (c / of.scale) * (c / of.scale)).collect()
    }

    /// The coefficients with sum 1: the say of every group so far.
    pub fn shares(&self) -> Vec<f64> {
        shares(&self.0)
    }
}

/// The same with sum 1; even where nobody has a say.
fn shares(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    match total > 0.0 {
        true => weights.iter().map(|w| w / total).collect(),
        false => vec![1.0 / weights.len() as f64; weights.len()],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_anybody_has_a_say_all_have_the_same() {
        let rule = WeightRule::Decaying { even_start: false };
        let mut coefficients = Coefficients::new(rule, 4);
        assert_eq!(coefficients.shares(), [0.25; 4]);
        let criteria = [Criterion { offset: 0.0, scale: 2.0 }; 4];
        assert_eq!(
            coefficients.next(rule, &[0.1, 0.3, 0.3, 0.2], &criteria),
            [0.0, 0.25, 0.0, 0.0]
        );
        assert_eq!(coefficients.shares(), [0.0, 1.0, 0.0, 0.0], "the first of equals");
    }

    #[test]
    fn a_step_needs_groups_and_a_baseline_for_each() {
        let one =
            Statistics::new(ndarray::array![[1.0]].view(), ndarray::array![[1.0, 2.0]].view(), 6.0);
        let two = vec![one.unwrap(); 2];
        let start = ndarray::array![[1.0, 1.0]];
        let step = |s: &[Statistics], b: &[f64]| min_max_step(s, b, start.view(), 1e-9);
        assert!(step(&two, &[0.1, 0.2]).is_ok());
        for refused in [step(&two, &[0.1]), step(&two, &[0.1; 3]), step(&[], &[])] {
            assert!(matches!(refused, Err(Error::Baseline { .. })));
        }
    }
}
