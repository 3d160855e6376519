//! What a run becomes: a model, and what is asked of weights before one.

use crate::baseline::GroupBaseline;
use crate::bound::BoundReport;
use crate::data::GroupRows;
use crate::iteration::Run;
use crate::model::{GroupFit, Model, Warning};
use crate::parameters::Parameters;
use crate::rows::Rows;
use crate::{Error, Result};

/// Start weights with sum 1.
pub(super) fn checked_weights(weights: &[f64], groups: usize) -> Result<Vec<f64>> {
    let bad = |value: String, expected| Error::Parameter { name: "start weights", value, expected };
    if weights.len() != groups {
        let value = format!("{} values for {groups} groups", weights.len());
        return Err(bad(value, "give one per group"));
    }
    if let Some(weight) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        return Err(bad(weight.to_string(), "must be finite and not negative"));
    }
    let total: f64 = weights.iter().sum();
    if !(total.is_finite() && total > 0.0) {
        return Err(bad(format!("a sum of {total}"), "at least one must be positive"));
    }
    Ok(weights.iter().map(|w| w / total).collect())
}

pub(super) fn into_model<'r>(
    parameters: &Parameters,
    baselines: Vec<GroupBaseline>,
    run: Run<'r>,
    bound: BoundReport,
) -> (Model, Box<dyn Rows + 'r>) {
    let unit = run.rows.unit();
    let groups: Vec<GroupFit> = run
        .rows
        .groups()
        .iter()
        .zip(baselines)
        .enumerate()
        .map(|(l, (group, baseline))| GroupFit {
            group: GroupRows::new(&group.name, group.rows, group.norm() / unit),
            baseline,
            relative_error: run.measured.relative_errors[l],
            loss: run.measured.losses[l],
            weight: run.weights[l],
            allowance: None,
            random_groups: None,
            outside: false,
        })
        .collect();
    let model = Model {
        components: run.dictionary.to_components(),
        warnings: Warning::of(&groups, parameters, run.status),
        groups,
        overlap_error: run.measured.whole.map(|squared| squared.sqrt() / unit),
        parameters: parameters.clone(),
        status: run.status,
        history: run.history,
        step_gap: run.step_gap,
        global_bound: bound,
        scale: None,
        feature_names: None,
        preparation: None,
        kept: None,
        penalised_objective: None,
        worst_share: None,
        found_groups: None,
    };
    (model, run.rows)
}

#[cfg(test)]
mod tests {
    use super::checked_weights;

    #[test]
    fn start_weights_are_taken_with_sum_one_or_refused() {
        assert_eq!(checked_weights(&[1.0, 3.0, 0.0], 3).unwrap(), [0.25, 0.75, 0.0]);
        let refused: [&[f64]; 5] =
            [&[1.0], &[1.0, -1.0], &[1.0, f64::NAN], &[0.0, 0.0], &[1e308; 2]];
        assert!(refused.iter().all(|weights| checked_weights(weights, 2).is_err()));
    }
}
