//! The verdict: what an audit says first, in one or two sentences, everywhere in the same words.
//!
//! `evidence`: some group pays more than the others, with an adjusted p of at most 1 − level, and more than random groups of
//! its size, likewise, where they were drawn.
//! `no-evidence`: none does, and for every group a difference that would matter is ruled out.
//! `too-few-rows`: anything else; the group that could differ most is named, of two the smaller. `not-tested`: one
//! group only, or a test that was not asked for or not finished.
//!
//! That all groups pay is the cost of sharing, and no evidence: the verdict is about differences.

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

/// What an audit says first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The answer.
    pub code: VerdictCode,
    /// The group that the sentence is about.
    pub group: Option<String>,
    /// Its loss less that of random groups of its size.
    pub excess_loss: Option<f64>,
    /// Its loss less that of the others.
    pub difference: Option<f64>,
    /// How sure that is: p of the difference, adjusted over the groups.
    pub adjusted_p: Option<f64>,
    /// One or two sentences.
    pub sentence: String,
    /// The answer for every group, in their order; empty where nothing was tested.
    pub groups: Vec<VerdictCode>,
    /// What a reader has to know besides, in sentences.
    pub notes: Vec<String>,
}

impl Verdict {
    /// None in its place, and why; what a reader has to know besides stays.
    pub(super) fn taken_back(self, why: &str) -> Self {
        Self { notes: self.notes, ..Self::not_tested(why.to_owned()) }
    }

    /// That there is none, and why.
    pub(super) fn not_tested(sentence: String) -> Self {
        Self {
            code: VerdictCode::NotTested,
            group: None,
            excess_loss: None,
            difference: None,
            adjusted_p: None,
            sentence,
            groups: Vec::new(),
            notes: Vec::new(),
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

/// Share of the data beyond which a model that leaves it unexplained is said to.
const LITTLE: f64 = 0.5;

/// There is no band of chance.
const CHANCE_SPENT: &str = "What random groups of the same sizes would pay is not known: the time for their draws was up before there were enough of them.";

/// Width of an interval of a difference beyond which the rows say next to nothing.
const NOTHING: f64 = 0.5;

/// Of a dictionary that may have seen the rows, nobody knows how.
const AS_IT_IS: &str = "The model is not standard NMF of these rows, so that it is judged as if it had not seen them. If it was fitted to them in another way, the errors of small groups look too low.";

/// The verdict of an audit.
pub(super) fn verdict(found: &Findings<'_>) -> Verdict {
    let mut notes = Vec::new();
    if found.total_error > LITTLE {
        notes.push(format!(
            "This model leaves {} of the data unexplained, whoever they belong to.",
            percent(found.total_error)
        ));
    }
    if found.chance_spent {
        notes.push(CHANCE_SPENT.to_owned());
    }
    let Some(differences) = found.differences else {
        let why = match (found.groups.len(), found.asked) {
            (1, _) => "there is one group only, and nobody to compare it with",
            _ if found.without_families => {
                "the groups share rows and are of no families, so that nobody knows who a group's others are"
            }
            (_, false) => "no test was asked for",
            _ => "the test was stopped before it was done",
        };
        let sentence =
            format!("Whether some group pays more than the others was not tested: {why}.");
        return Verdict { notes, ..Verdict::not_tested(sentence) };
    };
    let answers: Vec<VerdictCode> =
        (0..differences.groups.len()).map(|l| answer(l, differences, found.chance)).collect();
    let code = [VerdictCode::Evidence, VerdictCode::TooFewRows, VerdictCode::NoEvidence]
        .into_iter()
        .find(|code| answers.contains(code))
        .unwrap_or(VerdictCode::NotTested);
    // Of the groups with that answer, the one about which there is most to say. Holm's first step is
    // Bonferroni's: the largest lower limit lies above zero wherever some group has evidence.
    let weight = |l: usize| {
        let d = &differences.groups[l].difference;
        match code {
            VerdictCode::Evidence => d.low,
            VerdictCode::TooFewRows => d.high,
            VerdictCode::NoEvidence | VerdictCode::NotTested => d.estimate,
        }
    };
    let of_code = (0..answers.len()).filter(|&l| answers[l] == code);
    let l = of_code.max_by(|&a, &b| weight(a).total_cmp(&weight(b))).unwrap_or(0);
    // Two groups differ by the same, with the other sign; it is the smaller one whose rows are too few.
    let l = match (code, found.groups) {
        (VerdictCode::TooFewRows, [a, b]) if a.rows != b.rows => usize::from(b.rows < a.rows),
        _ => l,
    };
    notes.extend(unsettled(found, differences));
    notes.extend(differences.taken_as_it_is.then(|| AS_IT_IS.to_owned()));
    Verdict {
        code,
        group: Some(found.groups[l].name.clone()),
        excess_loss: found.chance.map(|c| c.groups[l].excess_loss),
        difference: Some(differences.groups[l].difference.estimate),
        adjusted_p: Some(differences.groups[l].adjusted_p),
        sentence: sentence(code, l, found, differences, &answers),
        groups: answers,
        notes,
    }
}

/// Evidence is against chance twice: beyond the sampling of rows, and, where random groups were drawn, beyond what these pay.
/// Real rows are not as even as those of docs/calibration.md, and groups of twenty of them differ by more than limits allow for.
fn answer(l: usize, differences: &Differences, chance: Option<&RandomGroups>) -> VerdictCode {
    let group = &differences.groups[l];
    let sure = |p: f64| p <= 1.0 - differences.level;
    // So few draws that none of them could do as badly and p were still above: they say nothing.
    let silent = |c: &GroupChance| c.adjusted_p * (c.p_draws + 1) as f64 <= 1.0 + 1e-9;
    let beyond = |c: &GroupChance| sure(c.adjusted_p) || silent(c);
    if sure(group.adjusted_p) && chance.is_none_or(|c| beyond(&c.groups[l])) {
        VerdictCode::Evidence
    } else if group.difference.high <= differences.matters {
        VerdictCode::NoEvidence
    } else {
        VerdictCode::TooFewRows
    }
}

fn sentence(
    code: VerdictCode,
    l: usize,
    found: &Findings<'_>,
    differences: &Differences,
    answers: &[VerdictCode],
) -> String {
    let (group, d) = (&found.groups[l], &differences.groups[l]);
    let name = format!("“{}”", group.name);
    let rows = match group.rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    };
    let (low, high) = (points(d.difference.low), points(d.difference.high));
    let sure = percent(differences.level);
    match code {
        VerdictCode::Evidence => {
            let others: Vec<String> = (0..answers.len())
                .filter(|&k| k != l && answers[k] == code)
                .map(|k| format!("“{}”", found.groups[k].name))
                .collect();
            let others = match others.as_slice() {
                [] => String::new(),
                [one] => format!(" So does {one}."),
                [most @ .., last] => format!(" So do {} and {last}.", most.join(", ")),
            };
            format!(
                "{name} ({rows}) pays {} points more than the other groups for sharing one model: at least {low} points with {sure} confidence over all {} groups (adjusted p {}).{others}{}",
                points(d.difference.estimate),
                answers.len(),
                p_value(d.adjusted_p),
                chance(l, found),
            )
        }
        VerdictCode::NoEvidence => format!(
            "No group pays noticeably more than the others for sharing one model: the largest difference is that of {name} ({rows}), {} points, and more than {} points is ruled out for every group with {sure} confidence.{}",
            points(d.difference.estimate),
            points(differences.matters),
            cost(found, differences),
        ),
        VerdictCode::TooFewRows | VerdictCode::NotTested => {
            let needed = match d.rows_needed {
                Some(needed) if needed > group.rows => {
                    format!(
                        " About {needed} of its rows would be needed to tell {} points from none.",
                        points(differences.matters)
                    )
                }
                Some(_) => String::new(),
                None => {
                    let matters = points(differences.matters);
                    format!(
                        " To tell {matters} points from none, more rows of the other groups would be needed, too."
                    )
                }
            };
            if d.difference.low > 0.0 {
                return format!(
                    "There is no evidence that a group pays more than the others, but too few rows to rule it out: {name} ({rows}) seems to pay {} points more, and random groups of its size seem to too often to tell.{}",
                    points(d.difference.estimate),
                    chance(l, found),
                );
            }
            if d.difference.high - d.difference.low > NOTHING {
                return format!(
                    "There is no evidence that a group pays more than the others, but too few rows to rule it out: those of {name} ({rows}) say next to nothing.{needed}{}",
                    chance(l, found),
                );
            }
            format!(
                "There is no evidence that a group pays more than the others, but too few rows to rule it out: {name} ({rows}) pays between {low} and {high} points more, with {sure} confidence.{needed}{}",
                chance(l, found),
            )
        }
    }
}

/// What a random group of its size would show.
fn chance(l: usize, found: &Findings<'_>) -> String {
    let Some(chance) = found.chance.map(|c| &c.groups[l]) else { return String::new() };
    format!(
        " Its loss is {}, where a random group of its size would show {} to {}.",
        percent(chance.loss),
        percent(chance.low),
        percent(chance.high)
    )
}

/// The cost of sharing, where every group's loss is above zero and above that of random groups: of groups that mean
/// nothing, too, some dictionary of their own would be better than the shared one.
fn cost(found: &Findings<'_>, differences: &Differences) -> String {
    let Some(chance) = found.chance else { return String::new() };
    let of_groups = || differences.groups.iter().zip(&chance.groups);
    if !of_groups().all(|(g, c)| g.loss.low > 0.0 && c.loss > c.high) {
        return String::new();
    }
    let rows: f64 = found.groups.iter().map(|g| g.rows as f64).sum();
    let sum: f64 = (found.groups.iter().zip(&differences.groups))
        .map(|(g, d)| g.rows as f64 * d.loss.estimate)
        .sum();
    format!(" Sharing costs every group something, {} points on average.", points(sum / rows))
}

/// Where the baselines in use differ from those of the test by more than what is compared.
fn unsettled(found: &Findings<'_>, differences: &Differences) -> Option<String> {
    if found.baseline == Some(&Baseline::Zero) {
        let sentence = "With baselines of zero a loss is the whole error. The verdict compares something else: what the groups lose beyond a dictionary of their own.";
        return Some(sentence.to_owned());
    }
    let chance = found.chance?;
    let best = |l: usize| chance.best_losses.as_ref().map_or(chance.groups[l].loss, |best| best[l]);
    let off = |l: usize| (found.groups[l].loss - best(l)).abs();
    let l = (0..found.groups.len()).max_by(|&a, &b| off(a).total_cmp(&off(b)))?;
    let d = &differences.groups[l].difference;
    if off(l) <= d.estimate.abs().max(0.5 * (d.high - d.low)) {
        return None;
    }
    let (name, off) = (&found.groups[l].name, points(off(l)));
    Some(match found.baseline.is_none_or(Baseline::is_lowest) {
        true => format!(
            "The baseline of “{name}” varies by {off} points from one estimate to the next, more than the groups differ: the lowest error of more runs settles it."
        ),
        false => format!(
            "The baseline of “{name}” lies {off} points from the lowest error of a dictionary of its own, which the verdict holds losses against: more than the groups differ (baseline \"best\" shows those losses)."
        ),
    })
}

/// A share as a percentage with the digits that it deserves.
fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let shown = if value.abs() >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") };
    with_minus(&shown)
}

/// A difference of shares, in points of a hundred.
fn points(share: f64) -> String {
    let value = 100.0 * share;
    // Never "-0.0".
    if value.abs() < 0.05 { "0.0".to_owned() } else { with_minus(&format!("{value:.1}")) }
}

/// In a sentence a minus is one, and no hyphen.
fn with_minus(number: &str) -> String {
    number.replace('-', "−")
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "below 0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::super::difference::{GroupDifference, Range};
    use super::*;

    /// Where random groups were drawn, evidence is beyond them, too; so few of them that they cannot tell are not asked.
    #[test]
    fn evidence_is_beyond_random_groups_too() {
        let range = Range { estimate: 0.06, low: 0.01, high: 0.11 };
        let group = GroupDifference {
            relative_error: range,
            loss: range,
            difference: range,
            p_value: 0.001,
            adjusted_p: 0.01,
            rows_needed: None,
        };
        let (level, matters) = (0.95, 0.05);
        let found = Differences { level, matters, taken_as_it_is: false, groups: vec![group] };
        let answered = |p_and_draws: Option<(f64, usize)>| {
            let chance = p_and_draws.map(|(adjusted_p, p_draws)| {
                let (loss, mean, low, high, excess_loss) = (0.08, 0.06, 0.02, 0.11, 0.02);
                let group = GroupChance { loss, mean, low, high, excess_loss, adjusted_p, p_draws };
                let draws = p_draws;
                RandomGroups { draws, draws_asked: draws, groups: vec![group], best_losses: None }
            });
            answer(0, &found, chance.as_ref())
        };
        assert_eq!(answered(None), VerdictCode::Evidence);
        assert_eq!(answered(Some((0.02, 100))), VerdictCode::Evidence);
        assert_eq!(answered(Some((0.3, 100))), VerdictCode::TooFewRows);
        assert_eq!(answered(Some((1.0 / 6.0, 5))), VerdictCode::Evidence);
        assert_eq!(answered(Some((2.0 / 6.0, 5))), VerdictCode::TooFewRows);
    }
}
