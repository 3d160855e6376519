//! Section 1: the groups, and the row of results that every output shares.

use super::number;
use fairer_nmf::audit::is_small;
use fairer_nmf::baseline::{Baseline, GroupBaseline};
use serde::{Deserialize, Serialize};

/// Section 1: each group under each model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WhoPays {
    /// Number of randomised runs behind each baseline.
    pub baseline_runs: usize,
    /// What the baselines are, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_kind: Option<Yardstick>,
    /// One entry per group, in the caller's order. Names are unique.
    pub groups: Vec<GroupOutcome>,
}

/// What groups are held against, as the settings of a fit have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Yardstick {
    /// What dictionaries of their own leave of the very rows that they were fitted to.
    Estimate,
    /// The same, where the fit allowed for chance.
    Adjusted,
    /// What they leave of rows of the group that they have not seen.
    HeldOut,
    /// Numbers that somebody brought.
    Given,
    /// Nothing: a loss is the whole error.
    Zero,
}

impl Yardstick {
    /// What a baseline of the library is.
    #[must_use]
    pub fn of(baseline: &Baseline) -> Option<Self> {
        Some(match baseline {
            Baseline::Estimate(_) => Self::Estimate,
            Baseline::Adjusted { .. } => Self::Adjusted,
            Baseline::HeldOut { .. } => Self::HeldOut,
            Baseline::Given { .. } => Self::Given,
            Baseline::Zero => Self::Zero,
            _ => return None,
        })
    }
}

/// One group: how well it could do alone and how it does under each model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupOutcome {
    /// The group itself.
    #[serde(flatten)]
    pub group: Group,
    /// One entry per model, in the order of [`Report::models`](super::Report::models).
    pub results: Vec<GroupResult>,
    /// The features on which its error under the first model lies, largest share first.
    pub feature_errors: Vec<FeatureError>,
}

/// A feature and its share of a group's squared error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FeatureError {
    /// Name of the feature.
    pub name: String,
    /// Its share of the group's error.
    #[serde(deserialize_with = "number")]
    pub share: f64,
    /// Its share of the error of all rows.
    #[serde(deserialize_with = "number")]
    pub share_of_all: f64,
}

impl std::ops::Deref for GroupOutcome {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.group
    }
}

impl std::ops::DerefMut for GroupOutcome {
    fn deref_mut(&mut self) -> &mut Group {
        &mut self.group
    }
}

/// A group, whatever the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// Name of the group; shown escaped, so any text is safe.
    pub name: String,
    /// The family that it is of, where groups come in families that each divide the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Number of samples.
    pub rows: usize,
    /// Kish's effective number of samples, where they have weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_rows: Option<f64>,
    /// The share of its cells that are observed, where some are not; errors and norm are over those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<f64>,
    /// N = ‖X_ℓ‖, in units of the data. Left out once groups are hidden: with
    /// normalised features the squares add up to the number of features.
    pub norm: Option<f64>,
    /// E, in units of the data; left out with the norm.
    pub baseline_error: Option<f64>,
    /// E/N: relative error of a dictionary of the group's own.
    #[serde(deserialize_with = "number")]
    pub relative_baseline: f64,
    /// Standard deviation of that over the baseline's runs.
    pub relative_baseline_sd: Option<f64>,
    /// The group is so small for the rank that its baseline is too low by
    /// construction; a warning is shown.
    pub small: bool,
    /// It has too few rows to say what sharing costs it and stays outside the maximum: inside the total, and no
    /// candidate for the largest loss.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// What the fairer fit allowed it beyond its baseline, as a share of its norm: the loss that
    /// chance explains. Absent where the fit allowed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<f64>,
}

impl Group {
    /// A group of so many rows and that norm, beside a dictionary of a rank.
    #[must_use]
    pub fn new(name: &str, rows: usize, norm: f64, alone: Alone, rank: usize) -> Self {
        Self {
            name: name.to_owned(),
            rows,
            norm: Some(norm),
            baseline_error: Some(alone.error),
            relative_baseline: alone.relative_error,
            relative_baseline_sd: alone.relative_sd,
            small: is_small(rows, rank),
            ..Self::default()
        }
    }
}

/// What a group is held against: a dictionary of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// E, in units of the data.
    pub error: f64,
    /// E/N.
    pub relative_error: f64,
    /// Standard deviation of that over the runs.
    pub relative_sd: Option<f64>,
}

impl Alone {
    /// Of a group with this norm, which validation keeps above zero.
    #[must_use]
    pub fn of(baseline: &GroupBaseline, norm: f64) -> Self {
        Self {
            error: baseline.error,
            relative_error: baseline.criterion(norm).relative_offset(),
            relative_sd: baseline.sd().map(|sd| sd / norm),
        }
    }
}

/// A group under a model: the row of results that JSON, page, terminal and Python share. Numbers
/// that were not asked for are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupResult {
    /// R-Error: ‖X_ℓ − W_ℓH‖/N.
    #[serde(deserialize_with = "number")]
    pub relative_error: f64,
    /// Lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error_high: Option<f64>,
    /// R-Loss: (‖X_ℓ − W_ℓH‖ − E)/N; may be negative.
    #[serde(deserialize_with = "number")]
    pub loss: f64,
    /// Lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_low: Option<f64>,
    /// Upper end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_high: Option<f64>,
    /// Loss of the population that the samples stand for: neither the shared dictionary nor the group's own
    /// has seen the rows it is measured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_fitted_loss: Option<f64>,
    /// Lower end of the interval of the loss by draws of samples for which all was fitted anew, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit_loss_low: Option<f64>,
    /// Upper end of that interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit_loss_high: Option<f64>,
    /// Loss against a baseline measured on samples it was not fitted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_loss: Option<f64>,
    /// p of the permutation test of the relative error: the share of random groups of this size with as large a one,
    /// adjusted over the groups (Holm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error_adjusted_p: Option<f64>,
    /// In place of it, where every random group got a baseline of its own, p of the test of the loss, adjusted alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit_loss_adjusted_p: Option<f64>,
    /// Mean loss of random groups of this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_mean: Option<f64>,
    /// Lower end of the range of their losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_low: Option<f64>,
    /// Upper end of the range of their losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_high: Option<f64>,
    /// Loss beyond their mean: the number to compare groups by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_loss: Option<f64>,
    /// Loss less that of the other groups, on samples that no dictionary has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// Lower end of its interval, which holds for all groups together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_low: Option<f64>,
    /// Upper end of that interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_high: Option<f64>,
    /// The p that decides about evidence, the larger one of two that are each adjusted over the groups: of the test that the
    /// difference is none, and of random groups that stand out as much, where they were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjusted_p: Option<f64>,
}

impl GroupResult {
    /// Both ends of the interval of the loss.
    pub fn loss_interval(&self) -> Option<(f64, f64)> {
        self.loss_low.zip(self.loss_high)
    }

    /// Both ends of the interval of the relative error.
    pub fn relative_error_interval(&self) -> Option<(f64, f64)> {
        self.relative_error_low.zip(self.relative_error_high)
    }

    /// Whether a permutation test was made of it.
    pub fn is_permuted(&self) -> bool {
        self.relative_error_adjusted_p.is_some() || self.refit_loss_adjusted_p.is_some()
    }

    /// The range of chance.
    pub fn chance(&self) -> Option<(f64, f64)> {
        self.chance_low.zip(self.chance_high)
    }
}
