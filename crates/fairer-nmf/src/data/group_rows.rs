//! A group's rows in numbers.

use super::GroupedData;
use serde::{Deserialize, Serialize};

/// What there is of a group, whatever is fitted to it or measured of it: results of fits and audits begin with it, and show
/// its fields as their own, in files too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRows {
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
}

impl GroupRows {
    /// A group of so many rows and that norm, of which nothing else is known.
    #[must_use]
    pub fn new(name: impl Into<String>, rows: usize, norm: f64) -> Self {
        let name = name.into();
        Self { name, family: None, rows, effective_rows: None, observed: None, norm }
    }
}

impl GroupedData<'_> {
    /// The rows of a group in numbers.
    #[must_use]
    pub fn group_rows(&self, group: usize) -> GroupRows {
        let of = &self.groups[group];
        GroupRows {
            family: of.family.clone(),
            effective_rows: self.is_weighted().then(|| self.effective_rows(group)),
            observed: self.observed_share(group),
            ..GroupRows::new(&of.name, of.rows.len(), of.norm())
        }
    }
}
