//! What the words of a table become: group labels, names and weights of rows, 0/1 columns.

use std::collections::BTreeMap;

use fairer_nmf::Note;
use ndarray::Array2;

use super::categories;
use super::cells::{Number, Part};
use super::columns::typed;
use super::error::InputError;
use super::options::Unseen;
use super::plan::{Plan, Role};

/// The group of every row.
pub(crate) fn group_labels(plan: &Plan, words: &[Vec<String>], rows: usize) -> Vec<String> {
    if let [only] = plan.groups[..] {
        return words[only].clone();
    }
    let label = |row: usize| categories::combined(plan.groups.iter().map(|&g| &words[g][row]));
    (0..rows).map(label).collect()
}

/// The words of a list for every record, those of rows that were left out in their places.
pub(crate) fn in_file_order(part: &Part, list: usize) -> Vec<String> {
    let mut all = vec![None; part.records];
    for (row, word) in part.words[list].iter().enumerate() {
        let record = part.places.find(row).map_or(row, |(record, _)| record);
        all[record] = Some(word.clone());
    }
    let mut lost = part.lost[list].iter();
    all.into_iter().map(|word| word.or_else(|| lost.next().cloned()).unwrap_or_default()).collect()
}

/// The features of rows: their numbers, their names, and of one-hot columns the values.
pub(crate) struct Features<T> {
    pub(crate) array: Array2<T>,
    pub(crate) names: Vec<String>,
    pub(crate) one_hot: Vec<(String, Vec<String>)>,
}

/// The numeric columns in file order, then the one-hot columns in the order they were asked for.
pub(crate) fn dense<T: Number>(
    plan: &Plan,
    numbers: Vec<T>,
    part: &Part,
    notes: &mut Vec<Note>,
) -> Result<Features<T>, InputError> {
    let is_feature = |role: &Role| matches!(role, Role::Number(_));
    let columns = plan.names.iter().zip(&plan.roles);
    let mut features: Vec<String> =
        columns.filter(|(_, role)| is_feature(role)).map(|(name, _)| name.clone()).collect();
    let array = Array2::from_shape_vec((part.rows, plan.numbers), numbers)
        .expect("Table::new cut the numbers to rows × columns");
    if plan.one_hot.is_empty() {
        return Ok(Features { array, names: features, one_hot: Vec::new() });
    }
    let mut first = Vec::new();
    let mut categories = Vec::new();
    for one_hot in &plan.one_hot {
        let values: Vec<String> = match &one_hot.known {
            Some(known) => known.clone(),
            None => {
                let mut values = part.words[one_hot.list].clone();
                values.sort();
                values.dedup();
                values
            }
        };
        first.push(features.len());
        features.extend(values.iter().map(|value| format!("{}={value}", one_hot.name)));
        categories.push(values);
    }
    let (rows, columns) = (part.rows, features.len());
    let what = format!("has {rows} rows and, with --one-hot, {columns} columns");
    let zeros = plan.room().zeros(what, rows, columns)?;
    let mut wide = Array2::from_shape_vec((rows, columns), zeros).expect("rows × columns zeros");
    wide.slice_mut(ndarray::s![.., ..plan.numbers]).assign(&array);
    for ((first, values), one_hot) in first.iter().zip(&categories).zip(&plan.one_hot) {
        let place: BTreeMap<&String, usize> = values.iter().zip(0..).collect();
        let mut unseen: BTreeMap<&String, usize> = BTreeMap::new();
        for (row, word) in part.words[one_hot.list].iter().enumerate() {
            match place.get(word) {
                Some(value) => wide[[row, first + value]] = T::ONE,
                None => *unseen.entry(word).or_default() += 1,
            }
        }
        if !unseen.is_empty() {
            notes.push(about_unseen(plan, &one_hot.name, &unseen)?);
        }
    }
    let kept = plan.one_hot.iter().zip(categories);
    let one_hot = kept.map(|(one_hot, values)| (one_hot.name.clone(), values)).collect();
    Ok(Features { array: wide, names: features, one_hot })
}

/// Values that the model does not know: a note, or the error that was asked for.
fn about_unseen(
    plan: &Plan,
    column: &str,
    unseen: &BTreeMap<&String, usize>,
) -> Result<Note, InputError> {
    const NAMED: usize = 5;
    let rows: usize = unseen.values().sum();
    let mut named: Vec<String> =
        unseen.keys().take(NAMED).map(|value| format!("`{value}`")).collect();
    if unseen.len() > NAMED {
        named.push(format!("{} more", unseen.len() - NAMED));
    }
    let what = format!(
        "column `{column}` of {} has values that the model has not seen: {}, in {rows} {}",
        plan.path,
        named.join(", "),
        if rows == 1 { "row" } else { "rows" }
    );
    match plan.unseen {
        Unseen::Zero => {
            let sentence =
                format!("{what}: they count as none of its values (`--unseen error` refuses them)");
            Ok(Note::new("unseen-values", sentence))
        }
        Unseen::Error => Err(InputError::BadOption {
            option: "--unseen error",
            what: format!(
                "{what}; mend them, or leave the column out of the model with `{}` when it is fitted",
                typed("--drop", &[column.to_owned()])
            ),
        }),
    }
}

/// A weight of a row, which stands in a line of a file.
pub(crate) fn weight(text: &str, path: &str, line: u64) -> Result<f64, InputError> {
    let weight = text.parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0);
    weight.ok_or_else(|| InputError::BadLine {
        path: path.into(),
        line,
        what: format!("the weight is `{text}`: a number that is not negative is expected"),
    })
}
