//! The dictionary's side of an iteration: from the groups' statistics and losses to H. Never sees a
//! row.

#[cfg(test)]
mod tests;

use super::scheme::DictionaryRule;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::measured::Measured;
use crate::penalties::{self, Cost};
use crate::statistics::Statistics;
use crate::update::Update;
use crate::weights::{Coefficients, WeightRule, leximin, minmax, mixture};
use serde::{Deserialize, Serialize};

/// A dictionary rule with what it carries from iteration to iteration.
pub(super) enum DictionaryStep<'a> {
    Weighted {
        update: Update,
        rule: WeightRule,
        coefficients: Coefficients,
        criteria: &'a [Criterion],
        costs: Option<(Cost, Cost)>,
    },
    MinMax(MinMax<'a>),
    Mixture(Box<mixture::Search>),
    Leximin(leximin::Search<'a>),
}

/// The exact min-max step, warm.
pub(super) struct MinMax<'a> {
    wanted: f64,
    criteria: &'a [Criterion],
    /// Multipliers of the last step (sum 1).
    lambda: Vec<f64>,
    /// Duality gap of the last step.
    gap: Option<f64>,
    /// By how much the last iteration lowered the largest loss.
    improvement: f64,
}

/// What a rule carries, for a checkpoint.
#[derive(Serialize, Deserialize)]
pub enum Memory {
    Weighted(Coefficients),
    MinMax {
        lambda: Vec<f64>,
        gap: Option<f64>,
        /// None before the first.
        improvement: Option<f64>,
    },
    /// Nothing that is kept: such runs go on from others that are.
    #[serde(rename = "Mixture")]
    Nothing,
}

/// No exact step is asked for a smaller gap: rounding.
const FINEST_GAP: f64 = 1e-11;

impl<'a> DictionaryStep<'a> {
    /// `norm`: ‖X‖; `start_weights`: where the multipliers begin, even where absent.
    pub fn new(
        rule: DictionaryRule<'a>,
        criteria: &'a [Criterion],
        norm: f64,
        start_weights: Option<&[f64]>,
    ) -> Self {
        let groups = criteria.len();
        match rule {
            DictionaryRule::Weighted { update, weights: rule, costs } => Self::Weighted {
                update,
                rule,
                coefficients: Coefficients::new(rule, groups),
                criteria,
                costs,
            },
            DictionaryRule::MinMax { gap } => Self::MinMax(MinMax {
                wanted: gap,
                criteria,
                lambda: start_weights
                    .map_or_else(|| vec![1.0 / groups as f64; groups], <[f64]>::to_vec),
                gap: None,
                improvement: f64::INFINITY,
            }),
            DictionaryRule::Mixture { alpha } => {
                Self::Mixture(Box::new(mixture::Search::new(alpha, criteria, norm)))
            }
            DictionaryRule::Leximin(level) => Self::Leximin(leximin::Search::new(level, criteria)),
        }
    }

    /// H ← the rule's step. `before`: what the last factors achieved, where the rule asks. Once the limit is over, H is as far as
    /// it came.
    pub fn take(
        &mut self,
        statistics: &[Statistics],
        before: Option<&Measured>,
        h: &mut Dictionary,
        limit: Limit,
    ) {
        match self {
            Self::Weighted { update, rule, coefficients, criteria, costs } => {
                let losses = before.map_or(&[][..], |m| &m.losses);
                let mut weights = coefficients.next(*rule, losses, criteria);
                // The sum over all rows is not that over groups that overlap.
                if *rule == WeightRule::Uniform && statistics.len() > criteria.len() {
                    weights.fill(0.0);
                    weights.push(1.0);
                }
                match costs {
                    None => step(*update, &weights, statistics, h, limit),
                    Some(costs) => {
                        let mut sum =
                            Statistics::weighted(statistics, &weights, h.rank, h.features);
                        // The first rows are the start's, not the best ones.
                        if before.is_some() {
                            penalties::balance(&mut sum, h, *costs);
                        }
                        penalties::step(*update, sum, costs.1, h, limit);
                    }
                }
            }
            Self::MinMax(exact) => exact.take(&statistics[..exact.criteria.len()], h, limit),
            Self::Mixture(search) => search.step(statistics, h, limit),
            Self::Leximin(search) => {
                let before = before.expect("known before the first step, as the rule asks");
                search.step(statistics, before, h, limit);
            }
        }
    }

    /// Whether the first step already asks what the start achieves.
    pub fn asks_for_losses(&self) -> bool {
        !matches!(self, Self::MinMax(_) | Self::Weighted { rule: WeightRule::Uniform, .. })
    }

    /// What it carries.
    pub fn memory(&self) -> Memory {
        match self {
            Self::Weighted { coefficients, .. } => Memory::Weighted(coefficients.clone()),
            Self::MinMax(exact) => Memory::MinMax {
                lambda: exact.lambda.clone(),
                gap: exact.gap,
                improvement: Some(exact.improvement).filter(|i| i.is_finite()),
            },
            Self::Mixture(_) | Self::Leximin(_) => Memory::Nothing,
        }
    }

    /// Takes up what it carried.
    pub fn remember(&mut self, memory: Memory) {
        match (self, memory) {
            (Self::Weighted { coefficients, .. }, Memory::Weighted(kept)) => *coefficients = kept,
            (Self::MinMax(exact), Memory::MinMax { lambda, gap, improvement }) => {
                let improvement = improvement.unwrap_or(f64::INFINITY);
                *exact = MinMax { lambda, gap, improvement, ..*exact };
            }
            (Self::Mixture(_) | Self::Leximin(_), Memory::Nothing) => {}
            // The fingerprint has the method: a memory of another rule does not come here.
            (Self::Weighted { .. }, Memory::MinMax { .. } | Memory::Nothing)
            | (Self::MinMax(_), Memory::Weighted(_) | Memory::Nothing)
            | (Self::Mixture(_) | Self::Leximin(_), Memory::Weighted(_) | Memory::MinMax { .. }) => {
                debug_assert!(false, "the memory of another rule");
            }
        }
    }

    /// By how much an iteration lowered the objective.
    pub fn note_improvement(&mut self, improvement: f64) {
        if let Self::MinMax(exact) = self {
            exact.improvement = improvement;
        }
    }

    /// The say of every group (sum 1).
    pub fn shares(&self) -> Vec<f64> {
        match self {
            Self::Weighted { coefficients, .. } => coefficients.shares(),
            Self::MinMax(exact) => exact.lambda.clone(),
            Self::Mixture(search) => search.shares(),
            Self::Leximin(search) => search.shares(),
        }
    }

    /// Asks how far a dictionary is from the optimum for other statistics, those of the rows that
    /// are delivered with it; keeps dictionary and multipliers. Nothing is said once the time is up.
    pub fn certify(&mut self, statistics: &[Statistics], h: &Dictionary, worst: f64, limit: Limit) {
        if let Self::MinMax(exact) = self {
            if limit.is_over() {
                exact.gap = None;
                return;
            }
            let statistics = &statistics[..exact.criteria.len()];
            let problem = minmax::Problem { statistics, criteria: exact.criteria, limit };
            let step = minmax::solve(&problem, &mut h.clone(), &exact.lambda, exact.wanted);
            exact.gap = Some((worst - step.lower).max(0.0));
        }
    }

    /// How far the dictionary was from its optimum at the most, when last asked.
    pub fn gap(&self) -> Option<f64> {
        match self {
            Self::MinMax(exact) => exact.gap,
            Self::Weighted { .. } | Self::Mixture(_) | Self::Leximin(_) => None,
        }
    }
}

impl MinMax<'_> {
    /// H ← the exact minimum of the largest loss. Once the loss creeps, a gap that is coarse
    /// beside the last improvement would end the creeping too early.
    fn take(&mut self, statistics: &[Statistics], h: &mut Dictionary, limit: Limit) {
        let gap = self.wanted.min(0.1 * self.improvement).max(FINEST_GAP);
        let problem = minmax::Problem { statistics, criteria: self.criteria, limit };
        let step = minmax::solve(&problem, h, &self.lambda, gap);
        self.gap = Some(step.gap());
        self.lambda = step.lambda;
    }
}

/// H ← the minimum of Σ w_ℓ‖X_ℓ − W_ℓH‖²/N_ℓ² for fixed weights w.
pub(crate) fn exact_for(
    weights: &[f64],
    criteria: &[Criterion],
    statistics: &[Statistics],
    h: &mut Dictionary,
    limit: Limit,
) {
    let absolute: Vec<f64> = weights.iter().zip(criteria).map(|(w, c)| c.of_square(*w)).collect();
    step(Update::Nnls, &absolute, statistics, h, limit);
}

fn step(
    update: Update,
    weights: &[f64],
    statistics: &[Statistics],
    h: &mut Dictionary,
    limit: Limit,
) {
    let sum = Statistics::weighted(statistics, weights, h.rank, h.features);
    update.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank, limit);
}
