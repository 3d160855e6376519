//! Who is better and worse off than under a reference dictionary (usually standard NMF).
//!
//! Group ℓ's change is R-Error − R-Error of the reference; its baseline is the same under both, so
//! this is the change of the R-Loss too. A sample is worse off where its own error rises by more
//! than rounding: ‖x_i − w_iH‖ > ‖x_i − w_iH_reference‖ + tolerance·‖x_i‖, each with its best w_i,
//! with a tolerance of 1e-9 (1e-6 for f32 data, whose W is rounded).

use super::{Evaluation, RowErrors};
use crate::GroupedData;
use serde::{Deserialize, Serialize};

/// How a group fares against the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Its error is lower.
    Better,
    /// Its error is the same to rounding.
    Same,
    /// Its error is higher.
    Worse,
}

/// What the move from the reference to the audited dictionary means for one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChange {
    /// R-Error under the reference.
    pub reference_error: f64,
    /// R-Loss under the reference.
    pub reference_loss: f64,
    /// Change of the R-Error, and equally of the R-Loss; negative is better.
    pub change: f64,
    /// The sign of the change, beyond rounding.
    pub direction: Direction,
    /// Share of the group's samples whose own error rises.
    pub share_worse: f64,
    /// Share of the group's samples whose own error falls.
    pub share_better: f64,
}

/// What the move from the reference to the audited dictionary means for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Individuals {
    /// Groups, in their order.
    pub groups: Vec<GroupChange>,
    /// Share of all samples whose own error rises.
    pub share_worse: f64,
    /// Share of all samples whose own error falls.
    pub share_better: f64,
    /// ‖X − WH‖/‖X‖ under the reference.
    pub reference_total_error: f64,
    /// ‖X − WH‖/‖X‖ under the audited dictionary.
    pub total_error: f64,
}

/// Compares two evaluations of the same data and baselines.
///
/// ```
/// use fairer_nmf::audit::{Direction, compare_individuals};
/// use fairer_nmf::{GroupedData, audit::evaluate};
/// use ndarray::array;
/// let x = array![[3.0, 0.0], [0.0, 4.0], [1.0, 0.0]];
/// let data = GroupedData::new(x.view(), &["a", "b", "a"])?;
/// let first = evaluate(&data, array![[1.0, 0.0]].view(), None, &[0.0, 0.0])?;
/// let second = evaluate(&data, array![[0.0, 1.0]].view(), None, &[0.0, 0.0])?;
/// let found = compare_individuals(&data, &second, &first);
/// assert_eq!(found.groups[0].direction, Direction::Worse);
/// assert_eq!(found.groups[1].change, -1.0);
/// assert_eq!(found.share_worse, 2.0 / 3.0);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
#[must_use]
pub fn compare_individuals(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    reference: &Evaluation,
) -> Individuals {
    let tolerance = if data.matrix().is_single() { 1e-6 } else { 1e-9 };
    let rows = RowErrors::new(data, &evaluation.row_squared_errors);
    let rise =
        |row: usize| rows.squared_errors[row].sqrt() - reference.row_squared_errors[row].sqrt();
    let beyond = |row: usize| tolerance * rows.squared_norms[row].sqrt();
    let mass =
        |rows: &mut dyn Iterator<Item = &usize>| -> f64 { rows.map(|&row| data.weight(row)).sum() };
    let worse = |set: &[usize]| mass(&mut set.iter().filter(|&&row| rise(row) > beyond(row)));
    let better = |set: &[usize]| mass(&mut set.iter().filter(|&&row| rise(row) < -beyond(row)));
    let groups: Vec<GroupChange> = data
        .groups()
        .iter()
        .enumerate()
        .map(|(l, group)| {
            let change = evaluation.relative_errors[l] - reference.relative_errors[l];
            let count = mass(&mut group.rows.iter());
            GroupChange {
                reference_error: reference.relative_errors[l],
                reference_loss: reference.losses[l],
                change,
                direction: match change {
                    c if c < -tolerance => Direction::Better,
                    c if c > tolerance => Direction::Worse,
                    _ => Direction::Same,
                },
                share_worse: worse(&group.rows) / count,
                share_better: better(&group.rows) / count,
            }
        })
        .collect();
    let all: Vec<usize> = data.grouped_rows().collect();
    Individuals {
        groups,
        share_worse: worse(&all) / mass(&mut all.iter()),
        share_better: better(&all) / mass(&mut all.iter()),
        reference_total_error: RowErrors::new(data, &reference.row_squared_errors)
            .relative_error(&all),
        total_error: rows.relative_error(&all),
    }
}
