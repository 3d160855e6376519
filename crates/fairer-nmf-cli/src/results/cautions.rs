//! What a result might be misread for, a sentence each with what to do.

use fairer_nmf::GroupedData;
use fairer_nmf_io::{Dataset, Matrix, typed_columns};
use fairer_nmf_report::Remark;
use ndarray::ArrayView2;

use crate::screen::listed;

/// A feature with more of the squared norm than this is what the fit is about.
const MOST: f64 = 0.9;
/// A topic whose coordinates vary less than this, relative to their mean, tells no rows apart.
const STEADY: f64 = 0.05;
/// More groups than this are hard to read, and the worst of them is extreme by chance alone.
const MANY: usize = 25;

/// That so many entries are zero in f32, where there are any.
pub(crate) fn of_vanished(entries: usize) -> Option<Remark> {
    let (entries, them) = match entries {
        0 => return None,
        1 => ("1 entry is".to_owned(), "it is"),
        several => (format!("{several} entries are"), "they are"),
    };
    let sentence = format!(
        "{entries} too small for f32 and zero there: {them} gone from the fit; read with --precision f64, or multiply the data by a constant"
    );
    Some(Remark::new("vanished-in-f32", sentence))
}

/// What to mind about the data, whatever is fitted to them.
pub(crate) fn of_data(data: &GroupedData<'_>, dataset: &Dataset) -> Vec<Remark> {
    let mut found = Vec::new();
    let mut remark = |code: &str, sentence: String| {
        found.push(Remark::new(code, sentence));
    };
    if let Some((feature, share)) = heaviest(dataset).filter(|_| data.scale().is_none())
        && share > MOST
        && data.features() > 1
    {
        let name = &dataset.features[feature];
        let leave_out = match dataset.is_table() {
            true => {
                format!(
                    ", or leave it out with `{}`",
                    typed_columns("--drop", std::slice::from_ref(name))
                )
            }
            false => String::new(),
        };
        remark(
            "one-feature",
            format!(
                "feature `{name}` carries {:.0} % of the sum of all squares, so that the topics are about it and hardly anything else: scale the features with --normalize features{leave_out}",
                100.0 * share
            ),
        );
    }
    let single: Vec<String> =
        data.groups().iter().filter(|g| g.rows.len() == 1).map(|g| g.name.clone()).collect();
    if !single.is_empty() {
        let who = match &single[..] {
            [only] => format!("group {only} has one row"),
            several => {
                format!("{} groups have one row each ({})", several.len(), listed(several, 5))
            }
        };
        remark(
            "one-row-groups",
            format!(
                "{who}: alone one row is fitted exactly, so that its loss says nothing of a group; merge such groups, or leave them out"
            ),
        );
    }
    if data.groups().len() > MANY {
        remark(
            "many-groups",
            format!(
                "there are {} groups: the worst of so many is far from the others by chance alone; merge them, or cut a column of numbers into ranges with --bins",
                data.groups().len()
            ),
        );
    }
    let vanished = match &dataset.matrix {
        Matrix::Sparse(sparse) if data.matrix().is_single() => {
            sparse.values.iter().filter(|v| **v != 0.0 && **v as f32 == 0.0).count()
        }
        _ => dataset.vanished,
    };
    let gone: Vec<String> =
        dataset.left_out.iter().filter(|g| g.rows == g.of).map(|g| g.group.clone()).collect();
    if !gone.is_empty() {
        remark(
            "group-left-out",
            format!(
                "every row of {} has missing cells, so that nothing here is about them: fill the cells in, or leave the columns out that lack them",
                listed(&gone, 5)
            ),
        );
    }
    found.extend(of_vanished(vanished));
    found
}

/// The feature with the largest share of the squared norm, and its share.
fn heaviest(dataset: &Dataset) -> Option<(usize, f64)> {
    let squares = dataset.matrix.column_squares();
    let total: f64 = squares.iter().sum();
    let (feature, most) = squares.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (total > 0.0).then(|| (feature, most / total))
}

/// A topic that all rows have alike, or none.
pub(crate) fn of_topics(representation: ArrayView2<'_, f64>) -> Option<Remark> {
    let rows = representation.nrows() as f64;
    let mut alike = Vec::new();
    for (k, column) in representation.columns().into_iter().enumerate() {
        let mean = column.iter().sum::<f64>() / rows;
        let spread = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows;
        if spread.sqrt() <= STEADY * mean {
            alike.push((k + 1).to_string());
        }
    }
    // With one topic there is nothing else that it could be.
    if alike.is_empty() || rows < 2.0 || representation.ncols() == 1 {
        return None;
    }
    let which = match &alike[..] {
        [only] => format!("topic {only} is"),
        several => format!("topics {} are", several.join(", ")),
    };
    let sentence = format!(
        "{which} nearly the same in all rows, so that nothing sets them apart there: it is a level that all share, as of columns that hardly vary; leave those out (inspect lists them)"
    );
    Some(Remark::new("constant-topic", sentence))
}

#[cfg(test)]
mod tests {
    use super::of_topics;
    use ndarray::{Array2, array};

    #[test]
    fn a_topic_that_all_rows_share_is_said() {
        let found = of_topics(array![[3.0, 1.0], [3.1, 0.0], [3.0, 4.0]].view()).unwrap();
        assert!(found.sentence.starts_with("topic 1 is nearly the same"), "{}", found.sentence);
        let both = of_topics(array![[3.0, 0.0], [3.1, 0.0]].view()).unwrap();
        assert!(both.sentence.starts_with("topics 1, 2 are"), "{}", both.sentence);
        assert!(of_topics(array![[3.0, 1.0], [0.1, 2.0]].view()).is_none());
        // One topic is a level that all share, and nothing else.
        assert!(of_topics(Array2::from_elem((5, 1), 2.0).view()).is_none());
    }
}
