//! JSON that may be published: without groups that are too small, and without what would tell of
//! them by subtraction, by the rules of the page (`hide.rs` of the report crate).

use std::borrow::Cow;
use std::collections::HashSet;

use fairer_nmf_report::mentions;
use serde::Serialize;

use super::outcome::Outcome;
use super::sweep::Sweep;

impl Outcome {
    /// As JSON without groups that are too small; numbers that are not finite become `null`.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        json(&*self.published())
    }

    /// As it may be published. Numbers over all groups are gone, and so are norms and absolute
    /// baselines: with scaled features the squared norms add up to the number of features. The
    /// worst loss is that of the groups that are left.
    fn published(&self) -> Cow<'_, Self> {
        let small = self.groups.iter().filter(|g| g.rows < self.min_group_size);
        let hidden: HashSet<&str> = small.map(|g| g.name.as_str()).collect();
        if hidden.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut outcome = self.clone();
        outcome.report = outcome.report.map(|report| report.published().into_owned());
        outcome.hidden_groups = hidden.len();
        outcome.groups.retain(|g| !hidden.contains(g.name.as_str()));
        for group in &mut outcome.groups {
            (group.norm, group.baseline_error, group.baseline_std) = (f64::NAN, f64::NAN, None);
        }
        let worst = outcome.groups.iter().max_by(|a, b| a.loss.total_cmp(&b.loss));
        (outcome.worst_loss, outcome.worst_group) =
            worst.map_or((f64::NAN, String::new()), |g| (g.loss, g.name.clone()));
        (outcome.global_bound, outcome.certificate, outcome.audit) = (None, None, None);
        outcome.data.rows = outcome.groups.iter().map(|g| g.rows).sum();
        outcome.warnings.retain(|text| names_none(text, &hidden));
        // They count the rows of the file.
        outcome.notes.clear();
        Cow::Owned(outcome)
    }
}

impl Sweep {
    /// As JSON without groups that are too small.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        json(&*self.published())
    }

    /// As it may be published; see [`Outcome`].
    fn published(&self) -> Cow<'_, Self> {
        let small = self.records.iter().filter(|r| r.rows < self.min_group_size);
        let hidden: HashSet<&str> = small.map(|r| r.group.as_str()).collect();
        if hidden.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut sweep = self.clone();
        sweep.report = sweep.report.map(|report| report.published().into_owned());
        sweep.hidden_groups = hidden.len();
        sweep.records.retain(|r| !hidden.contains(r.group.as_str()));
        for record in &mut sweep.records {
            (record.norm, record.baseline_error, record.baseline_std) = (f64::NAN, f64::NAN, None);
            record.worst_loss = f64::NAN;
        }
        sweep.warnings.retain(|text| names_none(text, &hidden));
        Cow::Owned(sweep)
    }
}

fn names_none(text: &str, hidden: &HashSet<&str>) -> bool {
    !hidden.iter().any(|name| mentions(text, name))
}

/// Any of our results as indented JSON with a line end.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    // Serialising fails only for maps with odd keys or failing writers; we have neither.
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
