//! What a fit costs all rows together: a rise of the total error against standard NMF, and who caused it.

use super::{Model, Warning};
use crate::Note;

/// Rise of the total error against standard NMF beyond which a fit says who caused it: two points
/// of a hundred.
const RISE: f64 = 0.02;
/// The same as a share of standard NMF's error, where that is small.
const RISE_SHARE: f64 = 0.05;
/// Less than this is nothing, whatever standard NMF loses.
const RISE_LEAST: f64 = 0.002;

/// Models that a sentence names at the most.
const NAMED: usize = 4;

impl Warning {
    /// A rise of the total error ‖X − WH‖/‖X‖ against standard NMF's that has to be said, and for whom: of the
    /// groups that the fit sets out to help the one whose error fell most.
    #[must_use]
    pub fn of_rise(model: &Model, found: f64, (standard, beside): (f64, &Model)) -> Option<Self> {
        // A fit that was cut short has an error of its own making.
        if model.status.is_cut_short() {
            return None;
        }
        let groups = model.groups.iter().zip(&beside.groups);
        let helped = groups.filter(|(g, _)| !g.outside && !Self::leaves(&model.warnings, &g.name));
        let falls = helped.map(|(g, s)| (&g.name[..], g.rows, s.relative_error - g.relative_error));
        Self::of_falls(falls, found, standard)
    }

    /// The same of groups that a model sets out to help: name, rows, and by how much the relative error fell.
    pub(crate) fn of_falls<'a>(
        helped: impl Iterator<Item = (&'a str, usize, f64)>,
        found: f64,
        standard: f64,
    ) -> Option<Self> {
        let (group, rows, _) = helped.max_by(|a, b| a.2.total_cmp(&b.2))?;
        let group = group.to_owned();
        let noticed = RISE.min((RISE_SHARE * standard).max(RISE_LEAST));
        (found > standard + noticed).then_some(Self::TotalErrorRose {
            standard,
            found,
            group,
            rows,
        })
    }

    /// The same of a method that sets out to help nobody in particular: one that helps nobody was bent for nobody.
    #[must_use]
    pub fn of_helped<'a>(
        falls: impl Iterator<Item = (&'a str, usize, f64)>,
        found: f64,
        standard: f64,
    ) -> Option<Self> {
        Self::of_falls(falls.filter(|(_, _, fall)| *fall > 0.0), found, standard)
    }

    /// Whether a fit with these warnings did not set out to help a group, so that it is not bent for it.
    pub(crate) fn leaves(warnings: &[Self], name: &str) -> bool {
        let alone = |w: &Self| matches!(w, Self::GroupsLikeChance { groups, .. } if groups.iter().any(|g| g == name));
        warnings.iter().any(alone)
    }

    /// What it says of a model that is named otherwise than "this fit".
    #[must_use]
    pub fn said_of(&self, who: &str) -> String {
        match self {
            Self::TotalErrorRose { standard, found, group, rows } => format!(
                "{who} loses {:.1} % of all data where standard NMF loses {:.1} %: it was bent for group '{group}' ({rows} {}); is that what you want?",
                100.0 * found,
                100.0 * standard,
                if *rows == 1 { "row" } else { "rows" },
            ),
            other => other.to_string(),
        }
    }

    /// The rises of several models, each with what it is called: a sentence for every group that models were bent for.
    #[must_use]
    pub fn said_of_several(rises: &[(String, Self)]) -> Vec<Note> {
        let found = rises.iter().filter_map(|(who, rise)| match rise {
            Self::TotalErrorRose { standard, found, group, rows } => {
                Some(Rise { who, rise, standard: *standard, found: *found, group, rows: *rows })
            }
            _ => None,
        });
        let found: Vec<Rise<'_>> = found.collect();
        let first = |at: &usize| found[..*at].iter().all(|rise| rise.group != found[*at].group);
        (0..found.len())
            .filter(first)
            .map(|at| {
                let of_group: Vec<&Rise<'_>> =
                    found.iter().filter(|rise| rise.group == found[at].group).collect();
                Note::new(Note::TOTAL_ERROR_ROSE, said_together(&of_group))
            })
            .collect()
    }
}

/// A model whose total error rose.
struct Rise<'a> {
    who: &'a str,
    rise: &'a Warning,
    standard: f64,
    found: f64,
    group: &'a str,
    rows: usize,
}

/// What is said of models that were bent for one group; the one that rose most has the numbers.
fn said_together(rises: &[&Rise<'_>]) -> String {
    let by = |rise: &&&Rise<'_>| rise.found - rise.standard;
    let Some(most) = rises.iter().max_by(|a, b| by(a).total_cmp(&by(b))) else {
        return String::new();
    };
    if rises.len() == 1 {
        return most.rise.said_of(most.who);
    }
    let named: Vec<&str> = rises.iter().take(NAMED).map(|rise| rise.who).collect();
    let names = match (&named[..], rises.len() - named.len()) {
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (names, more) => format!("{} and {more} more", names.join(", ")),
    };
    format!(
        "{names} lose more of all data than standard NMF, {} most ({:.1} % in place of {:.1} %): they were bent for group '{}' ({} {}); is that what you want?",
        most.who,
        100.0 * most.found,
        100.0 * most.standard,
        most.group,
        most.rows,
        if most.rows == 1 { "row" } else { "rows" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rose(found: f64, group: &str) -> Warning {
        Warning::TotalErrorRose { standard: 0.2, found, group: group.to_owned(), rows: 15 }
    }

    #[test]
    fn models_bent_for_one_group_share_a_sentence() {
        let named = |who: &str, rise: Warning| (who.to_owned(), rise);
        let said = Warning::said_of_several(&[
            named("a", rose(0.25, "few")),
            named("b", rose(0.3, "few")),
            named("c", rose(0.26, "some")),
        ]);
        let said: Vec<&str> = said.iter().map(|note| &note.sentence[..]).collect();
        assert_eq!(
            said,
            [
                "a and b lose more of all data than standard NMF, b most (30.0 % in place of 20.0 %): they were bent for group 'few' (15 rows); is that what you want?",
                "c loses 26.0 % of all data where standard NMF loses 20.0 %: it was bent for group 'some' (15 rows); is that what you want?",
            ]
        );
    }
}
