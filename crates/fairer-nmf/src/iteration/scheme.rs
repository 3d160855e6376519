//! What a method is made of: the choices that the loop is run with.

use crate::measured::Measured;
use crate::parameters::Method;
use crate::penalties::Cost;
use crate::rows::RowStep;
use crate::update::Update;
use crate::weights::leximin::Level;
use crate::weights::{WeightRule, mixture};

/// What a run lowers, and what runs are compared by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Objective<'a> {
    /// Σ ‖X_ℓ − W_ℓH‖²: standard NMF.
    Sum,
    /// max_ℓ g_ℓ: Fairer-NMF.
    Worst,
    /// (1 − α)·‖X − WH‖/‖X‖ + α·max_ℓ g_ℓ: between the two.
    Mixture {
        /// The weight of the worst loss.
        alpha: f64,
        /// ‖X‖².
        squared_norm: f64,
    },
    /// The largest loss of those that a level does not hold.
    Rest(Level<'a>),
}

impl Objective<'_> {
    pub fn of(self, measured: &Measured) -> f64 {
        match self {
            Self::Sum => measured.squares(),
            Self::Worst => measured.worst(),
            Self::Mixture { alpha, squared_norm } => {
                mixture::value(alpha, measured.relative_total(squared_norm), measured.worst())
            }
            Self::Rest(level) => level.value(measured),
        }
    }
}

/// How H follows from the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DictionaryRule<'a> {
    /// One update for weights that follow from the losses.
    Weighted {
        /// The update.
        update: Update,
        /// The rule.
        weights: WeightRule,
        /// What the entries of W and of H cost, where they cost anything.
        costs: Option<(Cost, Cost)>,
    },
    /// The exact minimum of the largest loss, to a gap in units of loss.
    MinMax {
        /// The gap.
        gap: f64,
    },
    /// The minimum of [`Objective::Mixture`].
    Mixture {
        /// The weight of the worst loss.
        alpha: f64,
    },
    /// The minimum of [`Objective::Rest`].
    Leximin(Level<'a>),
}

/// A method, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheme<'a> {
    pub rows: Update,
    pub dictionary: DictionaryRule<'a>,
    pub objective: Objective<'a>,
    /// Rows for an extrapolated dictionary, with what is found after the dictionary step; else
    /// found after the rows.
    pub looks_ahead: bool,
    /// Iterations in which a random W goes only part of the way to its exact rows.
    pub soft: usize,
}

/// Iterations of the soft beginning.
const SOFT_ITERATIONS: usize = 15;

impl<'a> Scheme<'a> {
    /// The AM scheme: the paper's Algorithm 2.
    pub fn min_max(gap: f64) -> Self {
        Self {
            rows: Update::Nnls,
            dictionary: DictionaryRule::MinMax { gap },
            objective: Objective::Worst,
            looks_ahead: true,
            soft: SOFT_ITERATIONS,
        }
    }

    /// The same with rows by HALS: cheaper than exact ones, and as good to find where a run leads. What is delivered is finished with
    /// exact rows.
    pub fn searching(self) -> Self {
        Self { rows: Update::Hals, ..self }
    }

    /// Both factors by one update, under a rule: the paper's Algorithm 3 with multiplicative
    /// updates and a decaying rule, standard NMF with even weights. Multiplicative updates are as
    /// published, and a rule that moves its weights has no objective to look ahead for.
    pub fn weighted(update: Update, weights: WeightRule) -> Self {
        let even = weights == WeightRule::Uniform;
        Self {
            rows: update,
            dictionary: DictionaryRule::Weighted { update, weights, costs: None },
            objective: if even { Objective::Sum } else { Objective::Worst },
            looks_ahead: even && update != Update::Mu,
            soft: 0,
        }
    }

    /// Standard NMF by the update of the dictionary, with costs of the entries of W and H. Rows are exact, so that the statistics
    /// tell what W costs, and nothing looks ahead: plain alternation never raises the objective.
    pub fn penalised(self, costs: (Cost, Cost)) -> Self {
        let update = match self.dictionary {
            DictionaryRule::Weighted { update, .. } => update,
            _ => Update::Nnls,
        };
        let (weights, costs) = (WeightRule::Uniform, Some(costs));
        let dictionary = DictionaryRule::Weighted { update, weights, costs };
        let plain = Self::weighted(update, weights);
        Self { rows: Update::Nnls, dictionary, looks_ahead: false, ..plain }
    }

    /// What the entries of W and H cost, where they cost anything.
    pub fn costs(&self) -> Option<(Cost, Cost)> {
        match self.dictionary {
            DictionaryRule::Weighted { costs, .. } => costs,
            _ => None,
        }
    }

    /// What a pass does with the rows, by this update.
    pub fn row_step(&self, update: Update) -> RowStep {
        match self.costs() {
            None => RowStep::Update(update),
            Some((cost, _)) => RowStep::Penalised { update, cost },
        }
    }

    /// Between the sum and the maximum, as a fit: by looking ahead like the AM scheme.
    pub fn between(alpha: f64, squared_norm: f64) -> Self {
        Self { looks_ahead: true, soft: SOFT_ITERATIONS, ..Self::mixture(alpha, squared_norm) }
    }

    /// A point of the trade-off between the sum and the maximum.
    pub fn mixture(alpha: f64, squared_norm: f64) -> Self {
        Self {
            rows: Update::Nnls,
            dictionary: DictionaryRule::Mixture { alpha },
            objective: Objective::Mixture { alpha, squared_norm },
            looks_ahead: false,
            soft: 0,
        }
    }

    /// One level of a lexicographic fit.
    pub fn leximin(level: Level<'a>) -> Self {
        Self {
            rows: Update::Nnls,
            dictionary: DictionaryRule::Leximin(level),
            objective: Objective::Rest(level),
            looks_ahead: false,
            soft: 0,
        }
    }
}

impl Method {
    /// The pieces, for data of a squared norm.
    pub(crate) fn scheme(self, squared_norm: f64) -> Scheme<'static> {
        match self {
            Self::Am { gap, fairness: 1.0, .. } => Scheme::min_max(gap),
            Self::Am { fairness: 0.0, .. } => Self::standard().scheme(squared_norm),
            Self::Am { fairness, .. } => Scheme::between(fairness, squared_norm),
            Self::Weighted { weights, update } => Scheme::weighted(update, weights),
            Self::Standard { update } | Self::Penalised { update, .. } => {
                Scheme::weighted(update, WeightRule::Uniform)
            }
            // Made of standard fits to weighted rows.
            Self::WorstShare { .. } => Self::standard().scheme(squared_norm),
        }
    }
}
