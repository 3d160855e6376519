//! What an audit is asked for.

use super::{DrawBudget, TradeOffOptions};
use crate::criterion::Allowance;
use crate::{Baseline, Method, Parameters};
use serde::{Deserialize, Serialize};

/// What an audit computes; [`AuditOptions::default`] is the quick and complete one, without
/// refits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Bootstrap draws; 0 leaves the intervals out.
    pub draws: usize,
    /// Level of the intervals.
    pub level: f64,
    /// Permutations; 0 leaves the test out.
    pub permutations: usize,
    /// Folds of the held-out baseline; 0 leaves it out.
    pub folds: usize,
    /// Runs for every fitted baseline (held out, or of a random group).
    pub baseline_runs: usize,
    /// Whether the groups are compared on rows that the dictionaries have not seen: what the
    /// verdict is about.
    #[serde(default)]
    pub differences: bool,
    /// Difference between a group's loss and the others' that would matter, as a share of the
    /// group's norm.
    #[serde(default = "matters")]
    pub matters: f64,
    /// What the fairer fit allows every group beyond its baseline, or nothing at all: the curve is of
    /// that criterion, and groups outside the maximum are not the worst ones.
    #[serde(default)]
    pub allowances: Vec<Allowance>,
    /// Whether the dictionary makes the largest loss of these groups small, beyond what is allowed, so that without some
    /// rows it would be another in the same way.
    #[serde(default)]
    pub evened: bool,
    /// How the baselines were made, so that random groups get theirs alike; none for the best of several
    /// runs.
    #[serde(default)]
    pub baseline: Option<Baseline>,
    /// What random groups may cost; no draws leave them out.
    #[serde(default)]
    pub chance: DrawBudget,
    /// The trade-off curve, or none.
    pub trade_off: Option<TradeOffOptions>,
    /// Strongest features named per topic.
    pub strongest: usize,
    /// The modes that fit anew in every draw, or none.
    pub refit: Option<Refit>,
    /// The seed of all random numbers.
    pub seed: u64,
}

crate::changeable!(AuditOptions);

/// The costly modes: intervals and permutation test that fit anew in every draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refit {
    /// Bootstrap draws with a refit; 0 leaves them out.
    pub draws: usize,
    /// Permutations with new baselines; 0 leaves them out.
    pub permutations: usize,
    /// How the audited dictionary was fitted.
    pub parameters: Parameters,
}

impl Refit {
    /// The same for a dictionary that another method fitted to the same data.
    #[must_use]
    pub fn of(&self, method: Method) -> Self {
        let parameters = Parameters { method, ..self.parameters.clone() };
        Self { parameters, ..self.clone() }
    }
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            draws: 2_000,
            level: 0.95,
            permutations: 2_000,
            folds: 5,
            baseline_runs: 2,
            differences: true,
            matters: matters(),
            allowances: Vec::new(),
            evened: false,
            baseline: None,
            chance: DrawBudget::default(),
            trade_off: Some(TradeOffOptions::default()),
            strongest: 10,
            refit: None,
            seed: 0,
        }
    }
}

/// Five points of a hundred.
fn matters() -> f64 {
    0.05
}

impl AuditOptions {
    /// What is allowed group `l` beyond its baseline.
    pub(super) fn allowance(&self, l: usize) -> Allowance {
        self.allowances.get(l).copied().unwrap_or_default()
    }
}
