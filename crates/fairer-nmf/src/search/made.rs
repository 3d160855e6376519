//! What a run becomes: a model, and what is asked of weights before one.

use super::restarts::Found;
use crate::baseline::GroupBaseline;
use crate::bound::BoundReport;
use crate::data::GroupRows;
use crate::iteration::Run;
use crate::measured::Measured;
use crate::model::{GroupFit, Model, Warning};
use crate::parameters::Parameters;
use crate::rows::{Rows, squared_norm};
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
    Found { run, standard }: Found<'r>,
    bound: BoundReport,
) -> (Model, Box<dyn Rows + 'r>) {
    let rise = standard.and_then(|standard| rise(&run, &standard));
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
    let mut warnings = Warning::of(&groups, parameters, run.status);
    warnings.extend(rise);
    let model = Model {
        components: run.dictionary.to_components(),
        warnings,
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

/// By how much a run loses more of all rows than the standard NMF that was met on the way, where that has to be said, and
/// for which group. One outside the maximum, with an offset that no error reaches, is not one of those.
fn rise(run: &Run<'_>, standard: &Measured) -> Option<Warning> {
    if run.status.is_cut_short() {
        return None;
    }
    let (before, after) = (&standard.relative_errors, &run.measured.relative_errors);
    let is_in = |l: &usize| after[*l] - run.measured.losses[*l] < 1.0;
    let groups = run.rows.groups().iter().enumerate().filter(|(l, _)| is_in(l));
    let falls = groups.map(|(l, group)| (&group.name[..], group.rows, before[l] - after[l]));
    let squared_norm = squared_norm(&*run.rows);
    let [found, standard] = [&run.measured, standard].map(|m| m.relative_total(squared_norm));
    Warning::of_falls(falls, found, standard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupedData;
    use crate::dictionary::Dictionary;
    use crate::rows::{Units, hold};
    use crate::stopping::Status;
    use ndarray::array;

    /// Two groups of one row and norm 1, the error of the first with an offset and a fall of its own.
    fn risen(offset: f64, falls: [f64; 2], status: Status) -> Option<Warning> {
        let x = array![[1.0, 0.0], [0.0, 1.0]];
        let data = GroupedData::new(x.view(), &["first", "second"]).unwrap();
        let of = |errors: [f64; 2], total: f64| Measured {
            errors: errors.to_vec(),
            relative_errors: errors.to_vec(),
            losses: vec![errors[0] - offset, errors[1] - 0.1],
            whole: Some(2.0 * total * total),
        };
        let run = Run {
            dictionary: Dictionary::from_components(x.view()),
            rows: hold(&data, Units::Own),
            statistics: Vec::new(),
            measured: of([0.3, 0.4], 0.5),
            history: Vec::new(),
            status,
            step_gap: None,
            weights: vec![0.5; 2],
        };
        rise(&run, &of([0.3 + falls[0], 0.4 + falls[1]], 0.25))
    }

    #[test]
    fn a_rise_is_for_the_group_inside_the_maximum_whose_error_fell_most() {
        let rose = |group: &str| {
            let group = group.to_owned();
            Some(Warning::TotalErrorRose { standard: 0.25, found: 0.5, group, rows: 1 })
        };
        let converged = Status::Converged;
        assert_eq!(risen(0.1, [0.2, 0.1], converged), rose("first"));
        assert_eq!(risen(0.1, [0.1, 0.2], converged), rose("second"));
        assert_eq!(
            risen(2.0, [0.2, 0.1], converged),
            rose("second"),
            "no error reaches its offset"
        );
        assert_eq!(risen(0.1, [0.2, 0.1], Status::TimeLimit), None, "of another making");
    }

    #[test]
    fn start_weights_are_taken_with_sum_one_or_refused() {
        assert_eq!(checked_weights(&[1.0, 3.0, 0.0], 3).unwrap(), [0.25, 0.75, 0.0]);
        let refused: [&[f64]; 5] =
            [&[1.0], &[1.0, -1.0], &[1.0, f64::NAN], &[0.0, 0.0], &[1e308; 2]];
        assert!(refused.iter().all(|weights| checked_weights(weights, 2).is_err()));
    }
}
