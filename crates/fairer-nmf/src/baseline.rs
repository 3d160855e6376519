//! Group baselines E_ℓ: what rank-r standard NMF of a group alone leaves (the paper's
//! Algorithm 1: the mean error of T randomised runs).

use crate::criterion::Criterion;
use crate::init::Init;
use crate::stopping::Stopping;
use crate::update::Update;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Where the E_ℓ come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[non_exhaustive]
pub enum Baseline {
    /// Standard NMF of every group alone.
    Estimate(Estimate),
    /// Given by the caller, one per group in the order of the groups.
    Given {
        /// E_ℓ ≥ 0, in the units of ‖X_ℓ‖ after scaling.
        errors: Vec<f64>,
    },
    /// E_ℓ = 0: the loss is the relative error.
    Zero,
    /// E_ℓ by standard NMF of every group alone; the fit minimises the largest loss beyond what chance
    /// explains for the size, so that chance hardly steers it.
    Adjusted {
        /// How E_ℓ is estimated.
        estimate: Estimate,
        /// Random groups drawn of every size.
        draws: usize,
    },
    /// E_ℓ on rows of the group that its own dictionary has not seen
    /// ([`held_out`](crate::audit::held_out())): small groups seem to pay too little rather than too
    /// much. A group of one row has its norm. Needs the rows themselves.
    #[serde(rename = "held-out")]
    HeldOut {
        /// Number of folds.
        folds: usize,
        /// Runs of every fold, of which the best is kept.
        runs: usize,
    },
}

impl Baseline {
    /// Random groups of every size behind the size-adjusted criterion: their mean is then known to
    /// a fifth of their scatter.
    pub const CHANCE_DRAWS: usize = 40;

    /// Folds of held-out baselines.
    pub const FOLDS: usize = 5;

    /// By [`Estimate::best`].
    #[must_use]
    pub fn best() -> Self {
        Self::Estimate(Estimate::best())
    }

    /// By [`Estimate::paper`].
    #[must_use]
    pub fn paper() -> Self {
        Self::Estimate(Estimate::paper())
    }

    /// The size-adjusted one: [`Estimate::best`], and 40 random groups of every size.
    #[must_use]
    pub fn adjusted() -> Self {
        Self::Adjusted { estimate: Estimate::best(), draws: Self::CHANCE_DRAWS }
    }

    /// Whether E_ℓ is the lowest error of several runs on the group's own rows.
    pub(crate) fn is_lowest(&self) -> bool {
        match self {
            Self::Estimate(estimate) => estimate.summary == Summary::Lowest,
            Self::Adjusted { .. } => true,
            Self::Given { .. } | Self::HeldOut { .. } | Self::Zero => false,
        }
    }

    /// Runs behind the E_ℓ of a group.
    pub(crate) fn runs(&self) -> usize {
        match self {
            Self::Estimate(estimate) | Self::Adjusted { estimate, .. } => estimate.runs,
            // Held-out baselines are made before a fit, which is then given them.
            Self::Given { .. } | Self::HeldOut { .. } | Self::Zero => 0,
        }
    }
}

/// How E_ℓ follows from the errors of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Summary {
    /// Their mean, as in the paper.
    Mean,
    /// The lowest: closest to what the group could have alone.
    Lowest,
}

/// How baselines are estimated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of runs T per group.
    pub runs: usize,
    /// The solver.
    pub update: Update,
    /// The start of every run.
    pub init: Init,
    /// When a run ends.
    pub stopping: Stopping,
    /// What E_ℓ is of the runs' errors.
    pub summary: Summary,
}

crate::changeable!(Estimate);

/// Relative error below which a group counts as fitted exactly by its own dictionary.
const EXACT: f64 = 1e-6;

impl Estimate {
    /// The paper's: the mean of 5 runs of MU from random starts, tolerance 1e-4, at most 10,000
    /// iterations. A run also ends once the group is fitted to a relative error of
    /// `EXACT`: from there the published rule would follow the error down to rounding, for
    /// thousands of iterations that cannot change a loss by more than that.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            runs: 5,
            update: Update::Mu,
            init: Init::Random,
            stopping: Stopping { relative_error_below: Some(EXACT), ..Stopping::default() },
            summary: Summary::Mean,
        }
    }

    /// The lowest error of 5 runs of HALS with a tight tolerance: a better estimate of what the
    /// group could have alone, and so a stricter loss.
    #[must_use]
    pub fn best() -> Self {
        Self {
            update: Update::Hals,
            summary: Summary::Lowest,
            stopping: Stopping {
                tolerance: 1e-6,
                max_iterations: 2_000,
                relative_error_below: Some(EXACT),
                ..Stopping::default()
            },
            ..Self::paper()
        }
    }
}

/// The baseline of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupBaseline {
    /// E_ℓ.
    pub error: f64,
    /// The error every run left; empty where E_ℓ was given.
    pub run_errors: Vec<f64>,
}

impl GroupBaseline {
    /// The same for data times `unit`.
    pub(crate) fn times(&self, unit: f64) -> Self {
        let run_errors = self.run_errors.iter().map(|e| e * unit).collect();
        Self { error: self.error * unit, run_errors }
    }

    /// E_ℓ of every group.
    #[must_use]
    pub fn errors<'a>(of: impl IntoIterator<Item = &'a Self>) -> Vec<f64> {
        of.into_iter().map(|baseline| baseline.error).collect()
    }

    /// The criterion against E_ℓ of a group of this norm.
    #[must_use]
    pub fn criterion(&self, norm: f64) -> Criterion {
        Criterion { offset: self.error, scale: norm }
    }

    /// Standard deviation of the runs' errors (divisor T − 1); none with fewer than two runs.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        let count = self.run_errors.len() as f64;
        (count >= 2.0).then(|| {
            let mean = self.run_errors.iter().sum::<f64>() / count;
            let squares: f64 = self.run_errors.iter().map(|e| (e - mean) * (e - mean)).sum();
            (squares / (count - 1.0)).sqrt()
        })
    }
}

/// Whether given baselines are one per group, finite and not negative.
pub(crate) fn check_given<'a>(
    names: impl ExactSizeIterator<Item = &'a str>,
    errors: &[f64],
) -> Result<()> {
    if errors.len() != names.len() {
        return Err(Error::Baseline {
            reason: format!(
                "{} values for {} groups: give one per group",
                errors.len(),
                names.len()
            ),
        });
    }
    match names.zip(errors).find(|(_, e)| !(e.is_finite() && **e >= 0.0)) {
        None => Ok(()),
        Some((name, e)) => Err(Error::Baseline {
            reason: format!("group '{name}' has {e}: must be finite and not negative"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_what_their_names_say() {
        let (paper, best) = (Estimate::paper(), Estimate::best());
        assert_eq!((paper.update, paper.summary, paper.runs), (Update::Mu, Summary::Mean, 5));
        assert_eq!((best.update, best.summary, best.runs), (Update::Hals, Summary::Lowest, 5));
        assert_eq!((paper.stopping.tolerance, paper.stopping.max_iterations), (1e-4, 10_000));
        assert_eq!((best.stopping.tolerance, best.stopping.max_iterations), (1e-6, 2_000));
        for estimate in [&paper, &best] {
            assert_eq!(estimate.stopping.relative_error_below, Some(EXACT));
        }
    }

    #[test]
    fn a_baseline_knows_its_runs_and_whether_it_is_the_lowest_of_them() {
        let held_out = Baseline::HeldOut { folds: 5, runs: 3 };
        let none = [held_out, Baseline::Zero, Baseline::Given { errors: vec![0.1] }];
        assert!(none.iter().all(|b| !b.is_lowest() && b.runs() == 0));
        assert!(Baseline::best().is_lowest() && Baseline::adjusted().is_lowest());
        assert!(!Baseline::paper().is_lowest());
        let runs = |runs| Estimate { runs, ..Estimate::best() };
        assert_eq!(Baseline::Estimate(runs(3)).runs(), 3);
        assert_eq!(Baseline::Adjusted { estimate: runs(7), draws: 40 }.runs(), 7);
    }

    #[test]
    fn a_spread_is_the_standard_deviation_of_the_runs() {
        let of = |run_errors: &[f64]| GroupBaseline { error: 1.0, run_errors: run_errors.to_vec() };
        // Mean 3, squares 4 + 1 + 9.
        assert!((of(&[1.0, 2.0, 6.0]).sd().unwrap() - 7.0f64.sqrt()).abs() < 1e-15);
        assert_eq!(of(&[2.0, 2.0]).sd(), Some(0.0));
        assert_eq!((of(&[2.0]).sd(), of(&[]).sd()), (None, None));
        assert_eq!(of(&[1.0, 2.0]).times(3.0).run_errors, [3.0, 6.0]);
    }
}
