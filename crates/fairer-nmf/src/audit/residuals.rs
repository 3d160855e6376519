//! Where a group's error lies: the features with the largest share of it.
//!
//! Σ_i (x_ij − (WH)_ij)² of feature j follows from statistics of the group alone,
//! Σx_ij² − 2⟨cross_·j, H_·j⟩ + H_·jᵀ gram H_·j, so that no residual is ever formed; where cells are unobserved,
//! they have no error, and the residual of every row is.

use super::Evaluation;
use crate::rows::all_statistics;
use crate::statistics::Statistics;
use crate::{GroupedData, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// A feature and its share of a group's squared error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureError {
    /// Number of the feature, from 0.
    pub feature: usize,
    /// Its share of the group's squared error.
    pub share: f64,
    /// Its share of the squared error of all rows.
    pub share_of_all: f64,
}

/// The `strongest` features by their share of every group's error, in the order of the groups;
/// empty for a group without any error.
///
/// # Errors
/// A dictionary or an evaluation of another shape than the data.
pub fn feature_errors(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
    strongest: usize,
) -> Result<Vec<Vec<FeatureError>>> {
    crate::evaluate::check_components(data, components)?;
    let (by_group, whole) = match data.has_gaps() {
        true => of_cells(data, components, evaluation),
        false => of_statistics(data, components, evaluation)?,
    };
    // Where groups overlap they do not add up to all rows.
    let sum = |j: usize| by_group.iter().map(|errors| errors[j]).sum();
    let all = whole.unwrap_or_else(|| (0..data.features()).map(sum).collect());
    let total: f64 = all.iter().sum();
    let of_group = |errors: &Vec<f64>| {
        let own: f64 = errors.iter().sum();
        let mut order: Vec<usize> = (0..errors.len()).filter(|&j| errors[j] > 0.0).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        order.truncate(strongest);
        // Where a feature is listed, its error is positive, and so are both sums.
        let one = |j: usize| FeatureError {
            feature: j,
            share: errors[j] / own,
            share_of_all: all[j] / total,
        };
        order.into_iter().map(one).collect()
    };
    Ok(by_group.iter().map(of_group).collect())
}

/// Squared errors by feature: of every group, and of all rows where groups overlap.
type ByFeature = (Vec<Vec<f64>>, Option<Vec<f64>>);

fn of_statistics(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
) -> Result<ByFeature> {
    let statistics = all_statistics(data, evaluation.representation.to_f64().view())?;
    let of_rows = |rows: &mut dyn Iterator<Item = usize>, s: &Statistics| {
        let mut squares = vec![0.0; data.features()];
        for row in rows {
            data.for_each_in_row(row, |j, x| squares[j] += x * x);
        }
        let cross = s.cross();
        let gram_h = s.gram().dot(&components);
        for (j, square) in squares.iter_mut().enumerate() {
            let h = components.column(j);
            let error = *square - 2.0 * cross.column(j).dot(&h) + h.dot(&gram_h.column(j));
            // Cancellation can undercut zero where a feature is fitted exactly, and leaves
            // some 1e-12 of the square where the truth is zero.
            *square = if error > 1e-12 * *square { error } else { 0.0 };
        }
        squares
    };
    let groups = data.groups();
    let by_group = (groups.iter().zip(&statistics))
        .map(|(group, s)| of_rows(&mut group.rows.iter().copied(), s))
        .collect();
    let whole = statistics.get(groups.len()).map(|s| of_rows(&mut data.grouped_rows(), s));
    Ok((by_group, whole))
}

/// The same of observed cells, residual by residual.
fn of_cells(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
) -> ByFeature {
    let of_rows = |rows: &mut dyn Iterator<Item = usize>| {
        let mut squares = vec![0.0; data.features()];
        for row in rows {
            let root = data.root(row);
            let w = evaluation.representation.row(row).mapv(|v| root * v);
            let mut residual = w.dot(&components);
            data.for_each_in_row(row, |j, x| residual[j] -= x);
            data.gaps_of(row).iter().for_each(|&j| residual[j as usize] = 0.0);
            squares.iter_mut().zip(&residual).for_each(|(sum, v)| *sum += v * v);
        }
        squares
    };
    let by_group =
        data.groups().iter().map(|group| of_rows(&mut group.rows.iter().copied())).collect();
    (by_group, data.overlaps().then(|| of_rows(&mut data.grouped_rows())))
}
