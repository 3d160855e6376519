//! Hiding small groups, so that a published report discloses nobody: the rules, once, for the page,
//! its charts and every JSON file.
//!
//! - A group below the minimum size leaves every section and every list.
//! - With it goes every number over *all* groups (totals, worst losses along a path, the global
//!   bound) and what adds up over groups (norms, absolute baselines: with normalised features the
//!   squares of norms add up to the number of features): from a total and the groups shown, the one
//!   hidden could be had by subtraction. So do differences from all other groups, and limits that follow from them.
//! - Free text that names it is dropped or blanked; a verdict on it says only that there is none.
//! - Nothing compares models by the groups shown alone: a model may have served a hidden one.

use std::borrow::Cow;
use std::collections::HashSet;

use fairer_nmf::Note;

use crate::content::{Answer, Group, GroupResult, Remark, Report, Verdict, VerdictCode};

/// Stands where free text named a hidden group.
const REDACTED: &str = "(hidden)";

/// What is said of it where groups are hidden.
const ROSE_SOMEWHERE: &str = "a model that evens the groups out loses clearly more of all data than standard NMF; by how much and for whom is left out, since some groups are not shown";

/// Notes of a verdict that compare totals, in words alone.
const WITHOUT_TOTALS: [(&str, &str); 2] = [
    (
        Note::MUCH_UNEXPLAINED,
        "This model leaves more than half of the data unexplained, whoever they belong to.",
    ),
    (
        Note::MATTERS_BEYOND_ERROR,
        "What counts as noticeable here is more than this model loses of all data: a smaller difference may matter (option “matters”).",
    ),
];

/// The groups that are not to be seen, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden(HashSet<String>);

impl Hidden {
    /// Those of the groups (name and rows) that are below a size; none where none is.
    pub fn of<'a>(
        groups: impl IntoIterator<Item = (&'a str, usize)>,
        min_group_size: usize,
    ) -> Option<Self> {
        let small = groups.into_iter().filter(|(_, rows)| *rows < min_group_size);
        let names: HashSet<String> = small.map(|(name, _)| name.to_owned()).collect();
        (!names.is_empty()).then_some(Self(names))
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether a group may be seen.
    pub fn shows(&self, name: &str) -> bool {
        !self.0.contains(name)
    }

    /// Whether a text names none of them, as whole words.
    pub fn allows(&self, text: &str) -> bool {
        !self.0.iter().any(|name| mentions(text, name))
    }

    /// The remarks that may be made: they name none of them, and have no totals. That the total error rose is said once,
    /// without a number and without a name, whoever it was for: what is left is that a sum over all groups is beyond a limit,
    /// which nothing can be taken off.
    pub fn remarks(&self, remarks: &mut Vec<Remark>) {
        let rose = remarks.iter().any(|remark| remark.code == Note::TOTAL_ERROR_ROSE);
        remarks.retain(|remark| {
            self.allows(&remark.sentence) && remark.code != Note::TOTAL_ERROR_ROSE
        });
        remarks.extend(rose.then(|| Remark::new(Note::TOTAL_ERROR_ROSE, ROSE_SOMEWHERE)));
    }

    /// A note of a verdict as it may be shown: it names none of them, and has no number, which may be a total.
    fn note(&self, note: Remark) -> Option<Remark> {
        let note = match WITHOUT_TOTALS.iter().find(|(code, _)| note.code == *code) {
            Some((code, sentence)) => Remark::new(code, *sentence),
            None => note,
        };
        let has_number = note.sentence.contains(|letter: char| letter.is_ascii_digit());
        (self.allows(&note.sentence) && !has_number).then_some(note)
    }

    /// The notes that stay beside a verdict that does not: what is said of the model whatever the answer. That a difference
    /// may matter which is smaller is said beside one answer only, and would tell that.
    fn of_the_model(&self, notes: Vec<Remark>) -> Vec<Remark> {
        let of_model = notes.into_iter().filter(|note| note.code == Note::MUCH_UNEXPLAINED);
        of_model.filter_map(|note| self.note(note)).collect()
    }

    /// Takes away what adds up over groups.
    pub fn clear(&self, group: &mut Group) {
        (group.norm, group.baseline_error) = (None, None);
    }

    /// Takes away what compares a group with all others: the hidden ones could be worked out from it.
    pub fn clear_result(&self, result: &mut GroupResult) {
        (result.difference, result.difference_low, result.difference_high) = (None, None, None);
        (result.loss_low, result.loss_high, result.adjusted_p) = (None, None, None);
        (result.refit_loss_low, result.refit_loss_high) = (None, None);
        result.cross_fitted_loss = None;
    }

    /// The verdict as it may be said.
    pub fn verdict(&self, verdict: Verdict) -> Verdict {
        let named = verdict.group.as_deref().is_some_and(|name| !self.shows(name));
        match named || !self.allows(&verdict.sentence) {
            false => Verdict {
                sentence: without_numbers(&verdict),
                notes: verdict.notes.into_iter().filter_map(|note| self.note(note)).collect(),
                difference: None,
                adjusted_p: None,
                ..verdict
            },
            true if verdict.code == Answer::default() => Verdict {
                notes: self.of_the_model(verdict.notes),
                ..Verdict::not_tested(
                    "Whether some group pays more than the others was not tested.",
                )
            },
            true => Verdict {
                code: Answer::Withheld,
                sentence:
                    "The verdict is about a group that is too small to be shown, and is left out."
                        .into(),
                notes: self.of_the_model(verdict.notes),
                ..Verdict::default()
            },
        }
    }

    fn redact(&self, text: &mut String) {
        for name in &self.0 {
            *text = blank(text, name);
        }
    }
}

/// The sentence of a verdict on a group that is shown, where others are not: a difference from all others tells of those.
fn without_numbers(verdict: &Verdict) -> String {
    const UNDER: &str = "Under standard NMF: ";
    let said = match (verdict.code, &verdict.group) {
        (Answer::Given(VerdictCode::Evidence), Some(group)) => format!(
            "“{group}” pays more than the other groups for sharing one model, beyond what chance explains; by how much is left out, since some groups are not shown."
        ),
        (Answer::Given(VerdictCode::NoEvidence), _) => {
            "No group pays noticeably more than the others for sharing one model.".to_owned()
        }
        (Answer::Given(VerdictCode::TooFewRows), _) => {
            "There is no evidence that a group pays more than the others, but too few rows to rule it out.".to_owned()
        }
        _ => return verdict.sentence.clone(),
    };
    if !verdict.sentence.starts_with(UNDER) {
        return said;
    }
    let mut letters = said.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("{UNDER}{first}{}", letters.as_str())
}

impl Report {
    /// The report as it may be shown: without groups below `min_group_size`.
    ///
    /// Every renderer of this crate calls this first. Notes, which count rows of
    /// the data, are dropped; other free text (title, settings, command) that
    /// names a hidden group is dropped or blanked; names of *features* are not
    /// looked at, and a caller that hides groups should not write totals into
    /// free text.
    pub fn published(&self) -> Cow<'_, Report> {
        let groups = self.who_pays.groups.iter().map(|g| (g.name.as_str(), g.rows));
        let Some(hidden) = Hidden::of(groups, self.min_group_size) else {
            return Cow::Borrowed(self);
        };
        let mut report = self.clone();
        report.drop_groups(&hidden);
        report.drop_totals(&hidden);
        report.redact_text(&hidden);
        Cow::Owned(report)
    }

    fn drop_groups(&mut self, hidden: &Hidden) {
        self.hidden_groups += hidden.count();
        self.verdict = self.verdict.take().map(|verdict| hidden.verdict(verdict));
        self.who_pays.groups.retain(|g| hidden.shows(&g.name));
        if let Some(cost) = &mut self.cost {
            cost.changes.retain(|c| hidden.shows(&c.group));
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.series.retain(|s| hidden.shows(&s.group));
        }
        if let Some(topics) = &mut self.topics {
            // A topic that exists mainly for a hidden group describes its few members.
            let serves_hidden =
                |main: &Option<String>| main.as_ref().is_some_and(|name| !hidden.shows(name));
            topics.topics.retain(|t| !serves_hidden(&t.main_group));
            for topic in &mut topics.topics {
                topic.usage.retain(|u| hidden.shows(&u.group));
            }
        }
    }

    fn drop_totals(&mut self, hidden: &Hidden) {
        self.data.groups = self.who_pays.groups.len();
        self.data.rows = self.who_pays.groups.iter().map(|g| g.rows).sum();
        self.data.density = None;
        // Worst losses and totals over all groups.
        self.compared = None;
        for model in &mut self.models {
            model.total_error = None;
        }
        self.who_pays.groups.iter_mut().for_each(|g| hidden.clear(&mut g.group));
        let results = self.who_pays.groups.iter_mut().flat_map(|g| &mut g.results);
        results.for_each(|result| hidden.clear_result(result));
        // Shares of the error of all rows are totals too.
        self.who_pays.groups.iter_mut().for_each(|g| g.feature_errors.clear());
        if let Some(cost) = &mut self.cost {
            cost.curve.clear();
            cost.share_worse = None;
        }
        if let Some(quality) = &mut self.quality {
            for fit in &mut quality.fits {
                fit.history.clear();
                fit.global_bound = None;
            }
        }
    }

    fn redact_text(&mut self, hidden: &Hidden) {
        self.notes.clear();
        hidden.remarks(&mut self.warnings);
        let redact = |text: &mut String| hidden.redact(text);
        redact(&mut self.title);
        redact(&mut self.subtitle);
        redact(&mut self.generated);
        if let Some(command) = &mut self.command {
            redact(command);
        }
        for setting in &mut self.settings {
            redact(&mut setting.name);
            redact(&mut setting.value);
        }
        self.models.iter_mut().for_each(|m| redact(&mut m.name));
        if let Some(real) = &mut self.is_it_real {
            real.draws.iter_mut().for_each(|draws| redact(&mut draws.model));
        }
        if let Some(quality) = &mut self.quality {
            for fit in &mut quality.fits {
                redact(&mut fit.model);
            }
        }
        if let Some(topics) = &mut self.topics {
            topics.model.iter_mut().chain(&mut topics.reference).for_each(redact);
        }
        for topic in self.topics.iter_mut().flat_map(|t| &mut t.topics) {
            redact(&mut topic.name);
            topic.matched.iter_mut().for_each(|m| redact(&mut m.topic));
        }
    }
}

/// Start and end of each place where `name` stands in `text` as whole words.
fn places(text: &str, name: &str) -> Vec<(usize, usize)> {
    if name.is_empty() {
        return Vec::new();
    }
    let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let starts_in_word = in_word(name.chars().next());
    let ends_in_word = in_word(name.chars().next_back());
    text.match_indices(name)
        .map(|(start, found)| (start, start + found.len()))
        .filter(|&(start, end)| {
            let cuts_before = starts_in_word && in_word(text[..start].chars().next_back());
            let cuts_after = ends_in_word && in_word(text[end..].chars().next());
            !cuts_before && !cuts_after
        })
        .collect()
}

/// Whether a text names a group, as whole words.
fn mentions(text: &str, name: &str) -> bool {
    !places(text, name).is_empty()
}

fn blank(text: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in places(text, name) {
        out.push_str(&text[from..start]);
        out.push_str(REDACTED);
        from = end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_blanked() {
        assert_eq!(blank("men, women and men", "men"), "(hidden), women and (hidden)");
        assert!(!mentions("women", "men"));
        assert!(mentions("group <b>: none", "<b>"));
    }

    #[test]
    fn nothing_to_hide_borrows() {
        assert!(matches!(Report::default().published(), Cow::Borrowed(_)));
    }
}
