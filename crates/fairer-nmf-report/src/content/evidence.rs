//! Section 2: intervals, tests, and the draws behind them.

use super::number;
use serde::{Deserialize, Serialize};

/// Section 2: how sure the numbers of section 1 are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IsItReal {
    /// Level of the intervals, such as 0.95.
    #[serde(deserialize_with = "number")]
    pub level: f64,
    /// What the numbers of each model come from.
    pub draws: Vec<ModelDraws>,
    /// One entry per group and model looked at.
    pub evidence: Vec<Evidence>,
}

/// The draws behind the evidence on one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelDraws {
    /// Name of the model, as in [`ModelSummary::name`].
    pub model: String,
    /// The bootstrap behind its intervals, if there was one.
    pub bootstrap: Option<Bootstrap>,
    /// Its permutation test, if there was one.
    pub permutation: Option<Permutation>,
}

/// A bootstrap over samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bootstrap {
    /// Number of draws.
    pub draws: usize,
    /// What was held fixed while resampling.
    pub mode: BootstrapMode,
}

/// What a bootstrap draw recomputes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapMode {
    /// Samples are drawn again, the dictionary stays.
    #[default]
    DictionaryFixed,
    /// Baselines and dictionary are fitted again on every draw.
    Refit,
}

/// The permutation test in words and numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Permutation {
    /// Number of random relabellings.
    pub draws: usize,
    /// What was compared, as the end of the sentence "The test compares …",
    /// such as "the group's loss with that of random groups of its size".
    pub tested: String,
}

/// Evidence on one group under one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Name of the group.
    pub group: String,
    /// Name of the model, as in [`ModelSummary::name`].
    pub model: String,
    /// Bootstrap interval of the relative error.
    pub relative_error: Option<Interval>,
    /// Bootstrap interval of the loss.
    pub loss: Option<Interval>,
    /// Share of random groups of this size that fare at least as badly.
    pub p_value: Option<f64>,
    /// By which measure they do.
    pub tested: Tested,
    /// Loss against a baseline measured on samples it was not fitted to.
    pub held_out_loss: Option<f64>,
}

/// What the random groups of a permutation test are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tested {
    /// The relative error, which needs nothing estimated anew.
    #[default]
    Error,
    /// The loss: every random group got a baseline of its own.
    Loss,
}

/// A closed interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    #[serde(deserialize_with = "number")]
    pub lo: f64,
    /// Upper end.
    #[serde(deserialize_with = "number")]
    pub hi: f64,
}
