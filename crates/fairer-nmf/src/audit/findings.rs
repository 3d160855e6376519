//! What a verdict is made of, and the answers that it can give.

use super::chance::{GroupChance, RandomGroups};
use super::difference::Differences;
use super::group::GroupAudit;
use crate::Baseline;
use serde::{Deserialize, Serialize};

/// The answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictCode {
    /// A group pays more than the others.
    Evidence,
    /// No group does, by as much as would matter.
    NoEvidence,
    /// The rows do not tell.
    TooFewRows,
    /// Nothing was tested.
    NotTested,
}

impl VerdictCode {
    /// The code as it stands in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::NoEvidence => "no-evidence",
            Self::TooFewRows => "too-few-rows",
            Self::NotTested => "not-tested",
        }
    }
}

/// What the verdict is made of.
pub(super) struct Findings<'a> {
    pub groups: &'a [GroupAudit],
    pub rank: usize,
    pub differences: Option<&'a Differences>,
    pub chance: Option<&'a RandomGroups>,
    /// How the baselines were made, where that is known.
    pub baseline: Option<&'a Baseline>,
    pub total_error: f64,
    /// Why there are no differences where they were asked for.
    pub asked: bool,
    /// Whether random groups were asked for, and their time was up before there were enough.
    pub chance_spent: bool,
    /// Whether there are none because groups share rows and are of no families.
    pub without_families: bool,
}

impl Findings<'_> {
    /// How sure it is that group `l` pays more than the others, for the sampling of rows and for random groups: the larger
    /// p (Berger 1982), since evidence has to be beyond both.
    pub fn adjusted_p(&self, l: usize, differences: &Differences) -> f64 {
        adjusted_p(l, differences, self.chance)
    }

    /// Whether that p is the least that the draws of random groups can show: none of them stands out as much.
    pub fn p_is_least(&self, l: usize, differences: &Differences) -> bool {
        let of_rows = differences.groups[l].adjusted_p;
        // Half a draw: p is a whole number of draws over all of them.
        let least = |c: &GroupChance| c.adjusted_p * (1 + c.p_draws) as f64 <= 1.5;
        let chance = self.chance.map(|chance| &chance.groups[l]);
        chance.is_some_and(|c| least(c) && c.adjusted_p >= of_rows)
    }
}

/// [`Findings::adjusted_p`].
pub(super) fn adjusted_p(
    l: usize,
    differences: &Differences,
    chance: Option<&RandomGroups>,
) -> f64 {
    let of_rows = differences.groups[l].adjusted_p;
    chance.map_or(of_rows, |chance| of_rows.max(chance.groups[l].adjusted_p))
}

/// The smaller one of two groups.
pub(super) fn smaller_of_two(groups: &[GroupAudit]) -> Option<usize> {
    match groups {
        [a, b] if a.rows != b.rows => Some(usize::from(b.rows < a.rows)),
        _ => None,
    }
}
