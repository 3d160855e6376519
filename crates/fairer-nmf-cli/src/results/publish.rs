//! JSON that may be published: without groups that are too small, and without what would tell of
//! them by subtraction, by the rules of the page (`hide.rs` of the report crate).

use std::borrow::Cow;

use fairer_nmf_report::Hidden;
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
        let groups = self.groups.iter().map(|g| (g.group.name.as_str(), g.group.rows));
        let Some(hidden) = Hidden::of(groups, self.min_group_size) else {
            return Cow::Borrowed(self);
        };
        let mut outcome = self.clone();
        outcome.report = outcome.report.map(|report| report.published().into_owned());
        outcome.hidden_groups = hidden.count();
        outcome.groups.retain(|g| hidden.shows(&g.group.name));
        outcome.groups.iter_mut().for_each(|g| hidden.clear(&mut g.group));
        for group in &mut outcome.groups {
            let others = [group.standard.as_mut(), group.fairer.as_mut()].into_iter().flatten();
            others.chain([&mut group.own]).for_each(|result| hidden.clear_result(result));
        }
        outcome.verdict = outcome.verdict.map(|verdict| hidden.verdict(verdict));
        let inside = outcome.groups.iter().filter(|g| !g.group.outside);
        let worst = inside.max_by(|a, b| a.own.loss.total_cmp(&b.own.loss));
        (outcome.worst_loss, outcome.worst_group) =
            worst.map_or((f64::NAN, String::new()), |g| (g.own.loss, g.group.name.clone()));
        outcome.worst_criterion = f64::NAN;
        (outcome.global_bound, outcome.certificate, outcome.audit) = (None, None, None);
        outcome.data.rows = outcome.groups.iter().map(|g| g.group.rows).sum();
        hidden.remarks(&mut outcome.warnings);
        // They count the rows of the file.
        outcome.notes.clear();
        outcome.data.left_out.clear();
        outcome.rank_choice = None;
        // Over all rows, and the group of every row.
        outcome.penalties.iter_mut().for_each(|penalised| penalised.objective = None);
        outcome.worst_share = None;
        outcome.discovered.iter_mut().for_each(|found| found.labels.clear());
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
        let groups = self.records.iter().map(|r| (r.group.as_str(), r.rows));
        let Some(hidden) = Hidden::of(groups, self.min_group_size) else {
            return Cow::Borrowed(self);
        };
        let mut sweep = self.clone();
        sweep.report = sweep.report.map(|report| report.published().into_owned());
        sweep.hidden_groups = hidden.count();
        sweep.records.retain(|r| hidden.shows(&r.group));
        for record in &mut sweep.records {
            (record.norm, record.baseline_error) = (f64::NAN, f64::NAN);
            (record.worst_loss, record.total_error) = (f64::NAN, f64::NAN);
        }
        sweep.chance.retain(|random| hidden.shows(&random.group));
        sweep.rank_choice = None;
        hidden.remarks(&mut sweep.warnings);
        Cow::Owned(sweep)
    }
}

/// Any of our results as indented JSON with a line end.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    // Serialising fails only for maps with odd keys or failing writers; we have neither.
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
