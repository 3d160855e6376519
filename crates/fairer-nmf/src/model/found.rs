//! What fits without known groups leave: groups that were found, and the worst share of rows.

use serde::{Deserialize, Serialize};

/// How groups are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Discover {
    /// By the topics of standard NMF.
    Topics,
    /// By the rows' errors, iterated.
    Errors,
    /// By errors under dictionaries that have not seen the rows.
    HeldOutErrors,
}

/// How the groups of a model were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundGroups {
    /// How.
    pub found_by: Discover,
    /// How many were asked for; there may be fewer, never more.
    pub groups: usize,
    /// Rounds until they stayed; 1 where nothing is iterated.
    pub rounds: usize,
    /// The number of every row's group, from 0; files of models are without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<usize>,
}

impl FoundGroups {
    /// Why nothing is tested for such groups.
    pub const UNTESTED: &'static str = "Whether some group pays more than the others was not tested: the groups were found in the same rows, so that no test against chance holds for them.";

    /// Their names, in the order of the numbers: of those by errors the last has the largest.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let count = self.labels.iter().max().map_or(0, |most| most + 1);
        (1..=count).map(|number| format!("found {number}")).collect()
    }
}

/// What the worst share of rows loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareReport {
    /// β.
    pub share: f64,
    /// The mean relative error of the worst share of rows: what was minimised.
    pub error: f64,
    /// The relative error that the worst share begins at.
    pub threshold: f64,
    /// The mean after every round, never rising; the first is that of the start.
    pub history: Vec<f64>,
}
