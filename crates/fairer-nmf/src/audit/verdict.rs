//! The verdict: what an audit says first, in one or two sentences, everywhere in the same words.
//!
//! `evidence`: some group pays more than the others, with an adjusted p of at most 1 − level, and more than random groups of
//! its size, likewise: `adjusted_p` is the larger of the two.
//! `no-evidence`: none does, and for every group a difference that would matter is ruled out.
//! `too-few-rows`: anything else; the group that could differ most is named, of two the smaller one unless it is the
//! larger alone that could. `not-tested`: one group only, or a test that was not asked for or not finished: also where only random groups could tell, and there are none.
//!
//! That all groups pay is the cost of sharing, and no evidence: the verdict is about differences.

use super::difference::Differences;
use super::findings::{Findings, VerdictCode, smaller_of_two};
use super::sentence::{coarse, cost, favoured, percent, sentence, slight, unsettled};
use crate::Note;
use serde::{Deserialize, Serialize};

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
    /// How sure that is: p of the difference and of random groups that stand out as much, adjusted over the groups, the
    /// larger of the two.
    pub adjusted_p: Option<f64>,
    /// One or two sentences.
    pub sentence: String,
    /// The answer for every group, in their order; empty where nothing was tested.
    pub groups: Vec<VerdictCode>,
    /// What a reader has to know besides.
    pub notes: Vec<Note>,
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

/// Share of the data beyond which a model that leaves it unexplained is said to.
const LITTLE: f64 = 0.5;

/// There is no band of chance.
const CHANCE_SPENT: &str = "What random groups of the same sizes would pay is not known: the time for their draws was up before there were enough of them.";

/// Of a dictionary that may have seen the rows, nobody knows how.
const AS_IT_IS: &str = "The model is not standard NMF of these rows, so that it is judged as if it had not seen them. If it was fitted to them in another way, the errors of small groups look too low.";

/// The verdict of an audit.
pub(super) fn verdict(found: &Findings<'_>) -> Verdict {
    let mut notes = Vec::new();
    if found.total_error > LITTLE {
        let sentence = format!(
            "This model leaves {} of the data unexplained, whoever they belong to.",
            percent(found.total_error)
        );
        notes.push(Note::new(Note::MUCH_UNEXPLAINED, sentence));
    }
    if found.chance_spent {
        notes.push(Note::new(Note::CHANCE_OUT_OF_TIME, CHANCE_SPENT));
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
    notes.extend(unsettled(found, differences));
    notes.extend(differences.taken_as_it_is.then(|| Note::new("taken-as-it-is", AS_IT_IS)));
    let answers: Vec<VerdictCode> =
        (0..differences.groups.len()).map(|l| answer(l, found, differences)).collect();
    if answers.contains(&VerdictCode::NotTested) {
        let why = match found.chance_spent {
            true => "the time for draws of random groups was up before there were enough of them",
            false => {
                "no random groups were drawn, without which uneven rows look like evidence too often"
            }
        };
        let sentence =
            format!("Whether some group pays more than the others cannot be told: {why}.");
        notes.retain(|note| note.code != Note::CHANCE_OUT_OF_TIME);
        return Verdict { notes, groups: answers, ..Verdict::not_tested(sentence) };
    }
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
    // Limits end at one: where several do, the estimate tells.
    let estimate = |l: usize| differences.groups[l].difference.estimate;
    let more = |a: &usize, b: &usize| {
        weight(*a).total_cmp(&weight(*b)).then(estimate(*a).total_cmp(&estimate(*b)))
    };
    let l = of_code.max_by(more).unwrap_or(0);
    // Two groups differ by the same, with the other sign; it is the smaller one whose rows are too few.
    let l = match (code, smaller_of_two(found.groups)) {
        (VerdictCode::TooFewRows, Some(smaller)) if answers[smaller] == code => smaller,
        _ => l,
    };
    notes.extend(favoured(code, found, differences));
    notes.extend(coarse(code, found, differences));
    notes.extend(slight(code, l, differences));
    notes.extend(cost(code, found, differences));
    Verdict {
        code,
        group: Some(found.groups[l].name.clone()),
        excess_loss: found.chance.map(|c| c.groups[l].excess_loss),
        difference: Some(differences.groups[l].difference.estimate),
        adjusted_p: Some(found.adjusted_p(l, differences)),
        sentence: sentence(code, l, found, differences, &answers),
        groups: answers,
        notes,
    }
}

/// Evidence is against chance twice: beyond the sampling of rows, and beyond what random groups pay. Real rows are not as even
/// as those of docs/calibration.md, and groups of twenty of them differ by more than limits allow for.
fn answer(l: usize, found: &Findings<'_>, differences: &Differences) -> VerdictCode {
    let group = &differences.groups[l];
    let sure = |p: f64| p <= 1.0 - differences.level;
    if sure(group.adjusted_p) && found.chance.is_none() {
        VerdictCode::NotTested
    } else if sure(found.adjusted_p(l, differences)) {
        VerdictCode::Evidence
    } else if group.difference.high <= differences.matters {
        VerdictCode::NoEvidence
    } else {
        VerdictCode::TooFewRows
    }
}

#[cfg(test)]
mod tests {
    use super::super::chance::{GroupChance, RandomGroups};
    use super::super::difference::{GroupDifference, Range};
    use super::*;

    /// Evidence is beyond random groups, too, and cannot be told without them.
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
        let differences =
            Differences { level, matters, taken_as_it_is: false, groups: vec![group] };
        let answered = |p_and_draws: Option<(f64, usize)>| {
            let chance = p_and_draws.map(|(adjusted_p, p_draws)| {
                let (loss, mean, low, high, excess_loss) = (0.08, 0.06, 0.02, 0.11, 0.02);
                let group = GroupChance { loss, mean, low, high, excess_loss, adjusted_p, p_draws };
                let draws = p_draws;
                RandomGroups { draws, draws_asked: draws, groups: vec![group], best_losses: None }
            });
            let found = Findings {
                groups: &[],
                rank: 3,
                differences: Some(&differences),
                chance: chance.as_ref(),
                baseline: None,
                total_error: 0.1,
                asked: true,
                chance_spent: false,
                without_families: false,
            };
            let p = (found.adjusted_p(0, &differences), found.p_is_least(0, &differences));
            (answer(0, &found, &differences), p)
        };
        assert_eq!(answered(None), (VerdictCode::NotTested, (0.01, false)));
        assert_eq!(answered(Some((0.02, 100))), (VerdictCode::Evidence, (0.02, false)));
        assert_eq!(answered(Some((0.3, 100))), (VerdictCode::TooFewRows, (0.3, false)));
        assert_eq!(answered(Some((0.002, 1000))), (VerdictCode::Evidence, (0.01, false)));
        // A p that no draw has reached is a limit and no estimate, unless the rows are less sure.
        let (least, second) = (1.0 / 81.0, 2.0 / 81.0);
        assert_eq!(answered(Some((least, 80))), (VerdictCode::Evidence, (least, true)));
        assert_eq!(answered(Some((second, 80))), (VerdictCode::Evidence, (second, false)));
        let below = answered(Some((1.0 / 401.0, 400)));
        assert_eq!(below, (VerdictCode::Evidence, (0.01, false)));
    }
}
