//! What a run is judged by: errors and losses, never rows.

use serde::{Deserialize, Serialize};

/// Errors and losses of all groups at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// ‖X_ℓ − W_ℓH‖.
    pub errors: Vec<f64>,
    /// Relative errors ‖X_ℓ − W_ℓH‖/N_ℓ.
    pub relative_errors: Vec<f64>,
    /// Losses (‖X_ℓ − W_ℓH‖ − E_ℓ)/N_ℓ.
    pub losses: Vec<f64>,
    /// ‖X − WH‖² where groups overlap, so that their squares do not add up to it.
    pub whole: Option<f64>,
}

impl Measured {
    pub fn worst(&self) -> f64 {
        self.losses.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// ‖X − WH‖².
    pub fn squares(&self) -> f64 {
        self.whole.unwrap_or_else(|| self.errors.iter().map(|e| e * e).sum())
    }

    /// ‖X − WH‖.
    pub fn total_error(&self) -> f64 {
        self.squares().sqrt()
    }

    /// ‖X − WH‖/‖X‖ for ‖X‖².
    pub fn relative_total(&self, squared_norm: f64) -> f64 {
        (self.squares() / squared_norm).sqrt()
    }
}
