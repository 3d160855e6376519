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

#[cfg(test)]
mod tests {
    use super::super::difference::{GroupDifference, Range};
    use super::*;

    /// A p that no draw of random groups has reached is a limit and no estimate.
    #[test]
    fn a_p_is_the_least_where_no_draw_stands_out_as_much() {
        let range = Range { estimate: 0.06, low: 0.01, high: 0.11 };
        let of_rows = |adjusted_p: f64| Differences {
            level: 0.95,
            matters: 0.05,
            taken_as_it_is: false,
            groups: vec![GroupDifference {
                relative_error: range,
                loss: range,
                difference: range,
                p_value: adjusted_p,
                adjusted_p,
                rows_needed: None,
            }],
        };
        let least = |of_draws: Option<f64>, rows: f64| {
            let chance = of_draws.map(|adjusted_p| {
                let (loss, mean, low, high, excess_loss) = (0.08, 0.06, 0.02, 0.11, 0.02);
                let p_draws = 80;
                let group = GroupChance { loss, mean, low, high, excess_loss, adjusted_p, p_draws };
                let (draws, draws_asked, best_losses) = (40, 40, None);
                RandomGroups { draws, draws_asked, groups: vec![group], best_losses }
            });
            let found = Findings {
                groups: &[],
                differences: None,
                chance: chance.as_ref(),
                baseline: None,
                total_error: 0.1,
                asked: true,
                chance_spent: false,
                without_families: false,
            };
            found.p_is_least(0, &of_rows(rows))
        };
        assert!(least(Some(1.0 / 81.0), 0.001));
        // One draw did, the rows are less sure, or there are no draws.
        assert!(!least(Some(2.0 / 81.0), 0.001) && !least(Some(1.0 / 81.0), 0.03));
        assert!(!least(None, 0.001));
    }
}
