//! What an audit knows of one group.

use serde::{Deserialize, Serialize};

/// What the dictionary costs one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAudit {
    /// The group's label.
    pub name: String,
    /// The family that it is of, where groups come in families.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Its number of rows, those of weight zero left out.
    pub rows: usize,
    /// Kish's effective number of rows, where they have weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_rows: Option<f64>,
    /// The share of its cells that are observed, where some are not; errors and norm are then over those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<f64>,
    /// N_ℓ = ‖X_ℓ‖ after scaling.
    pub norm: f64,
    /// E_ℓ.
    pub baseline_error: f64,
    /// R-Error.
    pub relative_error: f64,
    /// R-Loss.
    pub loss: f64,
    /// Whether it has fewer rows than 2 × rank: its baseline is too low by construction.
    pub small: bool,
    /// Whether it stays outside the maximum.
    #[serde(default)]
    pub outside: bool,
}
