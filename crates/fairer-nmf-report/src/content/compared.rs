//! The methods of others side by side.

use super::number;
use serde::{Deserialize, Serialize};

/// The methods of others under one audit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// No model of the rank has a worst loss below this.
    pub global_bound: Option<f64>,
    /// One entry per method, in the order of the models.
    pub methods: Vec<ComparedMethod>,
}

/// What one method leaves of all groups together, and how long it took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComparedMethod {
    /// Name of the model, as in [`ModelSummary::name`](super::ModelSummary::name).
    pub model: String,
    /// ‖X − X̂‖/‖X‖.
    #[serde(deserialize_with = "number")]
    pub total_error: f64,
    /// The largest loss.
    #[serde(deserialize_with = "number")]
    pub worst_loss: f64,
    /// The largest loss beyond what a random group of the size pays.
    #[serde(deserialize_with = "number")]
    pub worst_excess: f64,
    /// Wall-clock seconds.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// Of every group, in their order.
    pub excess_losses: Vec<Excess>,
}

/// The loss of a group beyond what a random group of its size pays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Excess {
    /// Name of the group.
    pub group: String,
    /// The loss less that of random groups.
    #[serde(deserialize_with = "number")]
    pub excess_loss: f64,
}
