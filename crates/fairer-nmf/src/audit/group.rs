//! What an audit knows of one group.

use crate::data::GroupRows;
use serde::{Deserialize, Serialize};

/// What the dictionary costs one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAudit {
    /// Its rows in numbers.
    #[serde(flatten)]
    pub group: GroupRows,
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

impl std::ops::Deref for GroupAudit {
    type Target = GroupRows;

    fn deref(&self) -> &GroupRows {
        &self.group
    }
}
