//! Section 5: a sweep over ranks.

use super::{Maker, number};
use serde::{Deserialize, Serialize};

/// Section 5: a sweep over ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ranks {
    /// A worst loss up to this is acceptable to the reader.
    pub threshold: Option<f64>,
    /// Number of trials behind each mean.
    pub trials: usize,
    /// One entry per method and group.
    pub series: Vec<RankSeries>,
}

/// One group under one method, over ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankSeries {
    /// The method.
    pub method: Maker,
    /// Name of the group.
    pub group: String,
    /// In order of rank.
    pub points: Vec<RankPoint>,
}

/// Mean and standard deviation over trials at one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RankPoint {
    /// Number of topics.
    pub rank: usize,
    /// Mean relative error.
    #[serde(deserialize_with = "number")]
    pub relative_error_mean: f64,
    /// Standard deviation of the relative error.
    #[serde(deserialize_with = "number")]
    pub relative_error_sd: f64,
    /// Mean loss.
    #[serde(deserialize_with = "number")]
    pub loss_mean: f64,
    /// Standard deviation of the loss.
    #[serde(deserialize_with = "number")]
    pub loss_sd: f64,
    /// Mean loss of random groups of the group's size under standard NMF of the rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_mean: Option<f64>,
    /// Lower end of the range of their losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_low: Option<f64>,
    /// Upper end of the range of their losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_high: Option<f64>,
}

impl RankPoint {
    /// The range of chance.
    pub fn chance(&self) -> Option<(f64, f64)> {
        self.chance_low.zip(self.chance_high)
    }
}
