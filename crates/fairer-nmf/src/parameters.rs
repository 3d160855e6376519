//! What a fit is asked for.

use crate::baseline::{Baseline, Estimate};
use crate::init::Init;
use crate::penalties::Penalties;
use crate::stopping::Stopping;
use crate::update::Update;
use crate::weights::WeightRule;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The method of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "name")]
#[non_exhaustive]
pub enum Method {
    /// Fairer-NMF by alternating minimisation: exact rows, exact min-max dictionary (the
    /// paper's Algorithm 2).
    Am {
        /// Wanted duality gap of every dictionary step, in units of loss.
        gap: f64,
        /// How fair, from 0 (standard NMF) to 1 (the worst loss alone): the weight α of the worst
        /// loss against the total error in (1 − α)·‖X − WH‖/‖X‖ + α·max_ℓ g_ℓ.
        #[serde(default = "whole", skip_serializing_if = "is_whole")]
        fairness: f64,
        /// What is done once the worst loss cannot be lowered.
        #[serde(default, skip_serializing_if = "Ties::is_any")]
        ties: Ties,
    },
    /// Fairer-NMF by weights that follow the losses: with multiplicative updates the paper's
    /// Algorithm 3.
    Weighted {
        /// How the group weights follow the losses.
        weights: WeightRule,
        /// The update of both factors.
        update: Update,
    },
    /// Standard NMF: the sum of squared errors over all groups.
    Standard {
        /// The update of both factors.
        update: Update,
    },
    /// Standard NMF with penalties on both factors.
    Penalised {
        /// The update of both factors.
        update: Update,
        /// The penalties.
        penalties: Penalties,
    },
    /// No groups at all: the mean relative error of the worst share of rows is minimised
    /// ([`crate::fit::ShareReport`]).
    #[serde(rename = "worst-share")]
    WorstShare {
        /// The share β of all rows, above 0 and at most 1.
        share: f64,
    },
}

/// What is done among models with the lowest worst loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ties {
    /// Nothing: any of them.
    #[default]
    Any,
    /// The next largest loss is lowered, and so on; the total error has the last word.
    Leximin,
}

impl Ties {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// α of Fairer-NMF.
fn whole() -> f64 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_whole(fairness: &f64) -> bool {
    *fairness == 1.0
}

impl Method {
    /// The AM scheme with its default gap.
    #[must_use]
    pub fn am() -> Self {
        Self::between(1.0)
    }

    /// Between standard NMF (0) and Fairer-NMF (1), by alternating minimisation.
    #[must_use]
    pub fn between(fairness: f64) -> Self {
        Self::Am { gap: 1e-6, fairness, ties: Ties::Any }
    }

    /// Lexicographic Fairer-NMF: where the worst loss cannot be lowered, the next one is.
    #[must_use]
    pub fn leximin() -> Self {
        Self::Am { gap: 1e-6, fairness: 1.0, ties: Ties::Leximin }
    }

    /// How much the worst loss counts: 0 for standard NMF, 1 for Fairer-NMF.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        match self {
            Self::Am { fairness, .. } => *fairness,
            Self::Weighted { .. } | Self::WorstShare { .. } => 1.0,
            Self::Standard { .. } | Self::Penalised { .. } => 0.0,
        }
    }

    /// Whether it lowers the largest loss of the groups that it is given. The worst share of rows knows none.
    #[must_use]
    pub fn evens_out(&self) -> bool {
        self.fairness() > 0.0 && !matches!(self, Self::WorstShare { .. })
    }

    /// Whether it minimises the sum of squared errors alone.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.fairness() == 0.0
    }

    /// The MU scheme as published: decaying step from even weights.
    #[must_use]
    pub fn mu() -> Self {
        Self::Weighted { weights: WeightRule::Decaying { even_start: true }, update: Update::Mu }
    }

    /// Standard NMF by HALS.
    #[must_use]
    pub fn standard() -> Self {
        Self::Standard { update: Update::Hals }
    }

    /// `am`, `mu`, `standard`, `worst-share`, or `weighted` for weights with another update than `mu`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Am { fairness: 0.0, .. } => "standard",
            Self::Am { .. } => "am",
            Self::Weighted { update: Update::Mu, .. } => "mu",
            Self::Weighted { .. } => "weighted",
            Self::Standard { .. } | Self::Penalised { .. } => "standard",
            Self::WorstShare { .. } => "worst-share",
        }
    }
}

/// The group weights that a run of the AM scheme begins with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "from")]
#[non_exhaustive]
pub enum StartWeights {
    /// None of its own: the search for the first weights starts from even ones.
    #[default]
    Even,
    /// Those of the lower bound on the worst loss ([`crate::bound::BoundReport::weights`]): the mixture
    /// of groups that is hardest to serve. Even ones where there is no bound.
    Bound,
    /// One per group, in the order of the groups; only their ratios matter.
    Given {
        /// The weights w_ℓ of the squared relative errors.
        weights: Vec<f64>,
    },
}

/// Parameters of a fit; [`Parameters::new`] gives the defaults.
///
/// ```
/// use fairer_nmf::{Method, Parameters};
/// let parameters = Parameters::new(5).with(|p| {
///     p.method = Method::mu();
///     p.seed = 7;
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameters {
    /// Number of topics r.
    pub rank: usize,
    /// The method.
    pub method: Method,
    /// How a run starts.
    pub init: Init,
    /// The group weights a run begins with; only the AM scheme asks.
    #[serde(default)]
    pub start_weights: StartWeights,
    /// How long to search: the number of restarts, of which the run with the lowest worst loss is kept (standard
    /// NMF: the lowest total error). For the AM scheme, by default ([`Init::Auto`]), a quarter as many restarts, one from
    /// standard NMF, and rounds of exchanges and splits of topics (docs/method.md). docs/cells.md has one start beside the default, 4.
    pub n_init: usize,
    /// Where the E_ℓ come from.
    pub baseline: Baseline,
    /// When a run ends.
    pub stopping: Stopping,
    /// After the run, give every sample its best coordinates for the final dictionary (exact
    /// NNLS), so that the reported errors are those of [`Model::transform`](crate::Model::transform). The published code
    /// does not; reproduction switches it off.
    pub polish: bool,
    /// Compute the lower bound on the worst loss of any rank-r model, where it is affordable.
    pub bound: bool,
    /// Whether groups with no more rows than topics, whose baselines are zero by construction, enter the
    /// maximum like all others, as in the paper. If not, they stay outside and count in the total
    /// only, where there are larger groups.
    #[serde(default = "yes")]
    pub allow_small_groups: bool,
    /// Whether the best run of standard NMF goes on once it has converged, to a hundredth of the
    /// tolerance, for at most half as many iterations as all runs have taken; with [`Init::Auto`]. On by
    /// default: on TF-IDF it would stop above others' errors (docs/measurements.md). The AM scheme always
    /// finishes its best run.
    #[serde(default)]
    pub finish: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// As in models of before.
fn yes() -> bool {
    true
}

crate::changeable!(Parameters);

impl Parameters {
    /// What the program and the Python package start from, chosen by simulation (docs/calibration.md):
    /// the AM scheme with [`Baseline::adjusted`], small groups outside the maximum, so that chance
    /// cannot steer the fit.
    #[must_use]
    pub fn careful(rank: usize) -> Self {
        Self { baseline: Baseline::adjusted(), allow_small_groups: false, ..Self::new(rank) }
    }

    /// The defaults for a rank: the AM scheme with the paper's baselines and all groups in the
    /// maximum. The library's own default stays the paper's method, which is cheap, needs no draws,
    /// and is what the numbers of the paper are compared with; [`Parameters::careful`] is what an
    /// analysis wants.
    #[must_use]
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            method: Method::am(),
            init: Init::Auto,
            start_weights: StartWeights::default(),
            n_init: 4,
            baseline: Baseline::Estimate(Estimate::paper()),
            stopping: Stopping {
                tolerance: 1e-5,
                relative_error_below: Some(1e-6),
                ..Stopping::default()
            },
            polish: true,
            bound: true,
            allow_small_groups: true,
            finish: true,
            seed: 0,
        }
    }

    /// The same with what is left of the time until a deadline.
    pub(crate) fn until(&self, deadline: Option<Instant>) -> Self {
        let stopping = self.stopping.until(deadline);
        Self { stopping, ..self.clone() }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bad = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
        if self.rank == 0 {
            return bad("rank", "0".to_owned(), "at least one topic is needed");
        }
        if self.n_init == 0 {
            return bad("n_init", "0".to_owned(), "at least one start is needed");
        }
        let tolerance = self.stopping.tolerance;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return bad("tolerance", tolerance.to_string(), "must be finite and not negative");
        }
        match self.method {
            Method::Weighted { weights: WeightRule::Fixed { step }, .. }
                if !(0.0..=1.0).contains(&step) =>
            {
                bad("fixed step", step.to_string(), "must lie between 0 and 1")
            }
            Method::Am { fairness, .. } if !(0.0..=1.0).contains(&fairness) => bad(
                "fairness",
                fairness.to_string(),
                "must lie between 0 (standard NMF) and 1 (the worst loss alone)",
            ),
            Method::Am { fairness, ties: Ties::Leximin, .. } if fairness < 1.0 => bad(
                "ties",
                "leximin".to_owned(),
                "a lexicographic fit has no regard to the total error before the end: leave fairness at 1",
            ),
            Method::WorstShare { share } if !(share > 0.0 && share <= 1.0) => bad(
                "worst share",
                share.to_string(),
                "must lie above 0 and be at most 1 (the mean over all rows)",
            ),
            Method::Penalised { update: Update::Mu, .. } => bad(
                "update",
                "mu".to_owned(),
                "penalties need the update hals or nnls: multiplicative updates keep no zeros",
            ),
            Method::Penalised { penalties, .. } => penalties.check(),
            Method::Am { gap, .. } if !(gap.is_finite() && gap > 0.0) => {
                bad("gap", gap.to_string(), "must be finite and positive")
            }
            _ => Ok(()),
        }
    }
}
