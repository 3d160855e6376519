//! Hiding small groups, so that a published report discloses nobody.
//!
//! A group below [`Report::min_group_size`] leaves every section, and with it
//! goes every number over *all* groups (totals, worst losses along a path, the
//! global bound, group norms): from a total and the groups shown, the one
//! hidden could be had by subtraction.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::content::Report;

/// Stands where free text named a hidden group.
const REDACTED: &str = "(hidden)";

impl Report {
    /// The report as it may be shown: without groups below `min_group_size`.
    ///
    /// Every renderer of this crate calls this first. Notes, which count rows of
    /// the data, are dropped; other free text (title, settings, command) that
    /// names a hidden group is dropped or blanked; names of *features* are not
    /// looked at, and a caller that hides groups should not write totals into
    /// free text.
    pub fn published(&self) -> Cow<'_, Report> {
        let hidden: HashSet<String> = self
            .who_pays
            .groups
            .iter()
            .filter(|group| group.rows < self.min_group_size)
            .map(|group| group.name.clone())
            .collect();
        if hidden.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut report = self.clone();
        report.drop_groups(&hidden);
        report.drop_totals();
        report.redact_text(&hidden);
        Cow::Owned(report)
    }

    fn drop_groups(&mut self, hidden: &HashSet<String>) {
        self.hidden_groups += hidden.len();
        self.who_pays.groups.retain(|g| !hidden.contains(&g.name));
        if let Some(real) = &mut self.is_it_real {
            real.evidence.retain(|e| !hidden.contains(&e.group));
        }
        if let Some(cost) = &mut self.cost {
            cost.changes.retain(|c| !hidden.contains(&c.group));
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.series.retain(|s| !hidden.contains(&s.group));
        }
        if let Some(topics) = &mut self.topics {
            // A topic that exists mainly for a hidden group describes its few members.
            let serves_hidden =
                |main: &Option<String>| main.as_ref().is_some_and(|name| hidden.contains(name));
            topics.topics.retain(|t| !serves_hidden(&t.main_group));
            for topic in &mut topics.topics {
                topic.usage.retain(|u| !hidden.contains(&u.group));
            }
        }
    }

    fn drop_totals(&mut self) {
        self.data.groups = self.who_pays.groups.len();
        self.data.rows = self.who_pays.groups.iter().map(|g| g.rows).sum();
        self.data.density = None;
        for model in &mut self.models {
            model.total_error = None;
        }
        for group in &mut self.who_pays.groups {
            group.norm = None;
        }
        if let Some(cost) = &mut self.cost {
            cost.curve.clear();
            cost.share_of_samples_worse = None;
        }
        if let Some(quality) = &mut self.quality {
            quality.sentence = None;
            for fit in &mut quality.fits {
                fit.history.clear();
                fit.global_bound = None;
            }
        }
    }

    fn redact_text(&mut self, hidden: &HashSet<String>) {
        let clean = |text: &str| !hidden.iter().any(|name| mentions(text, name));
        self.notes.clear();
        self.warnings.retain(|text| clean(text));
        let redact = |text: &mut String| {
            for name in hidden {
                *text = blank(text, name);
            }
        };
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
            real.evidence.iter_mut().for_each(|e| redact(&mut e.model));
            for draws in &mut real.draws {
                redact(&mut draws.model);
                draws.permutation.iter_mut().for_each(|test| redact(&mut test.tested));
            }
        }
        if let Some(quality) = &mut self.quality {
            for fit in &mut quality.fits {
                redact(&mut fit.model);
                redact(&mut fit.status);
            }
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.series.iter_mut().for_each(|s| redact(&mut s.method));
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
pub fn mentions(text: &str, name: &str) -> bool {
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
