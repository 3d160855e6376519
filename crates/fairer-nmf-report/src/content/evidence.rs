//! Section 2: where intervals and tests come from, and the verdict that leads the page.

use super::{Remark, VerdictCode, number};
use fairer_nmf::audit;
use serde::{Deserialize, Serialize};

/// What the audit says in the end, as far as it may be shown: without the answers for single groups, and withheld where
/// its group is too small. The page, the terminal and Python begin with its sentence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// The answer.
    pub code: Answer,
    /// The group it names, where it names one.
    pub group: Option<String>,
    /// That group's loss beyond what a random group of its size pays.
    pub excess_loss: Option<f64>,
    /// Its loss less that of the others.
    pub difference: Option<f64>,
    /// How sure that difference is: its p-value, corrected for the number of groups.
    pub adjusted_p: Option<f64>,
    /// One or two sentences for people.
    pub sentence: String,
    /// What a reader has to know besides, in sentences.
    pub notes: Vec<Remark>,
}

impl Verdict {
    /// That there is none, and why.
    #[must_use]
    pub fn not_tested(sentence: &str) -> Self {
        Self { sentence: sentence.to_owned(), ..Self::default() }
    }
}

impl From<audit::Verdict> for Verdict {
    fn from(said: audit::Verdict) -> Self {
        Self {
            code: said.code.into(),
            group: said.group,
            excess_loss: said.excess_loss,
            difference: said.difference,
            adjusted_p: said.adjusted_p,
            sentence: said.sentence,
            notes: said.notes.into_iter().map(Remark::from).collect(),
        }
    }
}

/// What a page answers: what the audit does, or that it is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// There is an answer, about a group that is too small to be shown.
    Withheld,
    /// That of the audit.
    #[serde(untagged)]
    Given(VerdictCode),
}

impl Answer {
    /// The code as it stands in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Withheld => "withheld",
            Self::Given(code) => code.name(),
        }
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self::Given(VerdictCode::NotTested)
    }
}

impl From<VerdictCode> for Answer {
    fn from(code: VerdictCode) -> Self {
        Self::Given(code)
    }
}

/// Section 2: how sure the numbers of section 1 are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IsItReal {
    /// Level of the intervals, such as 0.95.
    #[serde(deserialize_with = "number")]
    pub level: f64,
    /// What the numbers of each model come from.
    pub draws: Vec<ModelDraws>,
}

/// The draws behind the intervals and tests of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelDraws {
    /// Name of the model, as in [`ModelSummary::name`](super::ModelSummary::name).
    pub model: String,
    /// The bootstrap behind its second intervals, if there was one.
    pub bootstrap: Option<Bootstrap>,
    /// Whether its intervals come from samples that its dictionary has not seen (docs/calibration.md); else there are
    /// none.
    pub unseen: bool,
    /// Its permutation test, if there was one.
    pub permutation: Option<Permutation>,
}

/// A bootstrap over samples, with baselines and dictionary fitted again on every draw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bootstrap {
    /// Number of draws.
    pub draws: usize,
}

/// A permutation test: the group against random groups of its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Permutation {
    /// Number of random relabellings.
    pub draws: usize,
    /// What was compared.
    pub tested: Tested,
}

/// What the random groups of a permutation test are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tested {
    /// The relative error, which needs nothing estimated anew.
    #[default]
    RelativeError,
    /// The loss: every random group got a baseline of its own.
    Loss,
}
