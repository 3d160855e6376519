//! Words that stand for something: groups, ranges of a number, 0/1 columns.

use std::borrow::Cow;
use std::collections::HashMap;

use fairer_nmf::Note;
use fairer_nmf::rows::GroupCodes;

use super::dataset::{Dataset, LeftOut};
use super::error::InputError;
use super::options::{Bins, Cuts};
use super::plan::GROUP_SEPARATOR;
use super::written::{self, Decimal};

/// The name of a range of numbers, cut at `cuts`.
pub(crate) fn range(value: f64, cuts: &[f64]) -> String {
    match cuts.partition_point(|cut| *cut <= value) {
        0 => format!("under {}", cuts.first().unwrap_or(&f64::INFINITY)),
        n if n == cuts.len() => format!("{} and over", cuts[n - 1]),
        n => format!("{} to under {}", cuts[n - 1], cuts[n]),
    }
}

/// The numbers that words are; the first that is none is an error.
fn numbers(
    words: &[String],
    decimal: Decimal,
    column: &str,
) -> Result<Vec<Option<f64>>, InputError> {
    let number = |word: &String| match word.as_str() {
        "" => Ok(None),
        word => match written::parse(word, decimal) {
            Some(number) => Ok(Some(number.value)),
            None => Err(InputError::BadOption {
                option: "--bins",
                what: format!(
                    "column `{column}` holds `{word}`, which is no number: only numbers can be cut into ranges"
                ),
            }),
        },
    };
    words.iter().map(number).collect()
}

/// Turns the words of a column into the names of ranges, and tells where it was cut. `more` are
/// the words of rows that were left out, which do not settle the cuts.
pub(crate) fn cut(
    bins: &Bins,
    decimal: Decimal,
    words: &mut [String],
    more: &mut [String],
) -> Result<Vec<f64>, InputError> {
    let column = &bins.column;
    let found = numbers(words, decimal, column)?;
    let cuts = match &bins.cuts {
        Cuts::At(cuts) => cuts.clone(),
        Cuts::Quantiles(count) => quantiles(found.iter().flatten().copied().collect(), *count),
    };
    if cuts.is_empty() {
        let what = format!("column `{column}` holds too few different numbers to be cut like this");
        return Err(InputError::BadOption { option: "--bins", what });
    }
    let others = numbers(more, decimal, column)?;
    for (word, number) in words.iter_mut().zip(found).chain(more.iter_mut().zip(others)) {
        if let Some(number) = number {
            *word = range(number, &cuts);
        }
    }
    Ok(cuts)
}

/// Cuts into `count` ranges of about as many rows; fewer where values repeat.
fn quantiles(mut values: Vec<f64>, count: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let mut cuts: Vec<f64> =
        (1..count).filter_map(|k| values.get(k * values.len() / count)).copied().collect();
    cuts.dedup();
    // Below the smallest there is nothing.
    cuts.retain(|cut| values.first().is_some_and(|least| cut > least));
    cuts
}

/// The label of a combination of cells.
pub(crate) fn combined<'a>(cells: impl Iterator<Item = &'a String>) -> String {
    cells.map(|cell| name_in_combination(cell)).collect::<Vec<_>>().join(GROUP_SEPARATOR)
}

/// In quotes where the cell holds a bar, so that no two combinations have the same name.
fn name_in_combination(cell: &str) -> Cow<'_, str> {
    match cell.contains('|') || cell.starts_with('"') {
        true => Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\""))),
        false => Cow::Borrowed(cell),
    }
}

/// What is the same in all spellings of a label: case and blanks do not count.
fn essence(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Labels that differ only in case or blanks: every set with its spellings, the most frequent first.
pub fn spellings<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<Vec<(String, usize)>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    labels.for_each(|label| *counts.entry(label).or_default() += 1);
    sets_of(counts)
}

fn sets_of(counts: HashMap<&str, usize>) -> Vec<Vec<(String, usize)>> {
    let mut sets: HashMap<String, Vec<(String, usize)>> = HashMap::new();
    for (label, count) in counts {
        sets.entry(essence(label)).or_default().push((label.to_owned(), count));
    }
    let mut several: Vec<Vec<(String, usize)>> =
        sets.into_values().filter(|set| set.len() > 1).collect();
    for set in &mut several {
        set.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    }
    several.sort();
    several
}

/// What rows are counted under whose group is missing itself.
const NO_GROUP: &str = "(no group)";

/// Settles the labels once all are known: spellings are merged or noted, rows that were left out
/// are counted by group.
pub(crate) fn settle(dataset: &mut Dataset, merge: bool) {
    let mut lost = std::mem::take(&mut dataset.lost_labels);
    lost.iter_mut().filter(|label| label.is_empty()).for_each(|label| *label = NO_GROUP.to_owned());
    if let Some(labels) = &mut dataset.labels {
        let found = match merge {
            true => merge_spellings(labels, &mut lost),
            false => about_spellings(&all_spellings(labels, &lost), false),
        };
        dataset.notes.extend(found);
    }
    if dataset.rows_left_out == 0 {
        return;
    }
    dataset.left_out = by_group(dataset.labels.as_deref().unwrap_or_default(), &lost);
    for ((family, kept), (_, lost)) in dataset.families.iter().zip(&dataset.lost_families) {
        let named = |labels: &[String]| -> Vec<String> {
            labels.iter().map(|label| format!("{family}={label}")).collect()
        };
        dataset.left_out.extend(by_group(&named(kept), &named(lost)));
    }
    let all = dataset.matrix.shape().0 + dataset.rows_left_out;
    let note = left_out_note(dataset.rows_left_out, all, &dataset.left_out);
    dataset.notes.insert(0, note);
}

fn all_spellings(labels: &[String], lost: &[String]) -> Vec<Vec<(String, usize)>> {
    spellings(labels.iter().chain(lost).map(String::as_str))
}

/// Gives labels that differ in case or blanks only the most frequent spelling; says so in a note.
pub(crate) fn merge_spellings(labels: &mut [String], lost: &mut [String]) -> Option<Note> {
    let sets = all_spellings(labels, lost);
    let to: HashMap<&str, &str> = (sets.iter())
        .flat_map(|set| set[1..].iter().map(|(label, _)| (label.as_str(), set[0].0.as_str())))
        .collect();
    for label in labels.iter_mut().chain(lost) {
        if let Some(to) = to.get(label.as_str()) {
            *label = (*to).to_owned();
        }
    }
    about_spellings(&sets, true)
}

fn about_spellings(sets: &[Vec<(String, usize)>], merged: bool) -> Option<Note> {
    const NAMED: usize = 5;
    if sets.is_empty() {
        return None;
    }
    let named = |set: &Vec<(String, usize)>| {
        let spellings = set.iter().map(|(label, rows)| format!("`{label}` ({rows})"));
        spellings.take(NAMED).collect::<Vec<_>>().join(" and ")
    };
    let mut text = sets.iter().take(NAMED).map(named).collect::<Vec<_>>().join(", ");
    if sets.len() > NAMED {
        text += &format!(" and {} more", sets.len() - NAMED);
    }
    Some(match merged {
        true => Note::new(
            "spellings-merged",
            format!("groups whose labels differ in case or blanks only were merged: {text}"),
        ),
        false => Note::new(
            "spellings-differ",
            format!(
                "groups whose labels differ in case or blanks only: {text}; if they are the same, say --merge-spellings"
            ),
        ),
    })
}

/// How many rows every group lost, in order of first appearance, those without loss included.
fn by_group(kept: &[String], lost: &[String]) -> Vec<LeftOut> {
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<LeftOut> = Vec::new();
    let labels = kept.iter().map(|label| (label, 0)).chain(lost.iter().map(|label| (label, 1)));
    for (label, lost) in labels {
        let at = *place.entry(label).or_insert_with(|| {
            found.push(LeftOut { group: label.clone(), rows: 0, of: 0 });
            found.len() - 1
        });
        found[at].rows += lost;
        found[at].of += 1;
    }
    found
}

/// Notes on the labels of rows that are not in memory, as [`settle`] makes them, and how many rows every
/// group lost; `lost`: those of rows that were left out.
pub(crate) fn counted(
    groups: &GroupCodes,
    lost: &HashMap<String, usize>,
    dropped: usize,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Note> {
    let mut rows = vec![0; groups.names.len()];
    groups.codes.iter().for_each(|code| rows[*code as usize] += 1);
    let mut notes = Vec::new();
    if dropped > 0 {
        let of_group = |(name, rows): (&String, &usize)| {
            let lost = lost.get(name).copied().unwrap_or(0);
            LeftOut { group: name.clone(), rows: lost, of: rows + lost }
        };
        left_out.extend(groups.names.iter().zip(&rows).map(of_group));
        let known = |name: &&String| !groups.names.contains(name);
        let mut gone: Vec<&String> = lost.keys().filter(known).collect();
        gone.sort();
        for name in gone {
            let group = if name.is_empty() { NO_GROUP.to_owned() } else { name.clone() };
            left_out.push(LeftOut { group, rows: lost[name], of: lost[name] });
        }
        notes.push(left_out_note(dropped, groups.codes.len() + dropped, left_out));
    }
    let mut counts: HashMap<&str, usize> =
        groups.names.iter().map(String::as_str).zip(rows).collect();
    lost.iter().for_each(|(name, rows)| *counts.entry(name).or_default() += rows);
    notes.extend(about_spellings(&sets_of(counts), false));
    notes
}

/// The note about rows that were left out.
pub(crate) fn left_out_note(rows: usize, of: usize, groups: &[LeftOut]) -> Note {
    Note::new("rows-left-out", left_out_sentence(rows, of, groups))
}

fn left_out_sentence(rows: usize, of: usize, groups: &[LeftOut]) -> String {
    const NAMED: usize = 8;
    let mut text = format!("{rows} of {of} rows left out because of missing cells");
    let mut hit: Vec<&LeftOut> = groups.iter().filter(|group| group.rows > 0).collect();
    if groups.len() < 2 || hit.is_empty() {
        return text;
    }
    let share = |group: &LeftOut| group.rows as f64 / group.of as f64;
    hit.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let named = |group: &&LeftOut| {
        let LeftOut { group: name, rows, of } = group;
        format!("{rows} of {of} of `{name}` ({:.1} %)", 100.0 * share(group))
    };
    text += ": ";
    text += &hit.iter().take(NAMED).map(named).collect::<Vec<_>>().join(", ");
    if hit.len() > NAMED {
        text += &format!(" and some of {} more groups", hit.len() - NAMED);
    } else if hit.len() < groups.len() {
        text += ", none of the others";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_meet_at_their_cuts() {
        let cuts = [18.0, 30.5];
        assert_eq!(range(17.9, &cuts), "under 18");
        assert_eq!(range(18.0, &cuts), "18 to under 30.5");
        assert_eq!(range(30.5, &cuts), "30.5 and over");
    }

    #[test]
    fn quantiles_hold_about_as_many_rows_and_leave_no_range_empty() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(quantiles(values, 4), [25.0, 50.0, 75.0]);
        assert_eq!(quantiles(vec![0.0, 0.0, 0.0, 0.0, 5.0], 4), [] as [f64; 0]);
        assert_eq!(quantiles(vec![1.0, 1.0, 2.0, 2.0], 2), [2.0]);
        assert!(quantiles(vec![3.0; 9], 3).is_empty());
    }

    #[test]
    fn spellings_differ_in_case_and_blanks() {
        let labels = ["female", "Female", "female", "male", "Fe male", "MALE ", "x"];
        let found = spellings(labels.into_iter());
        let names: Vec<Vec<&str>> =
            found.iter().map(|set| set.iter().map(|(label, _)| label.as_str()).collect()).collect();
        assert_eq!(names, [vec!["MALE ", "male"], vec!["female", "Female"]]);
    }
}
