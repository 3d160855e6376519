//! A fit of rows that somebody else holds: on disk, on other machines.

use super::adjusted;
use super::settle::settle;
use crate::baseline::Baseline;
use crate::iteration::Checkpoint;
use crate::model::Warning;
use crate::parameters::{Method, Parameters};
use crate::progress::Observer;
use crate::rows::Rows;
use crate::search::{RowsFit, run};
use crate::{Error, Result};

/// Fits a model to rows that somebody else holds: what [`fit`](crate::fit()) does in memory, with the same
/// results up to the rounding of the holder's sums. Groups with no more rows than topics stay outside the
/// maximum here too, unless [`Parameters::allow_small_groups`].
///
/// # Errors
/// As [`fit`](crate::fit()), and whatever keeps the holder from its rows. What is made from rows in memory is
/// refused: starts from singular vectors, and the size-adjusted criterion.
pub fn fit_rows<'r>(
    rows: &'r dyn Rows,
    parameters: &Parameters,
    observer: &Observer<'_>,
) -> Result<RowsFit<'r>> {
    fit_rows_kept(rows, parameters, None, observer)
}

/// The same, with its state in a checkpoint, or from one.
///
/// # Errors
/// As [`fit_rows`] and [`fit_kept`](super::fit_kept).
pub fn fit_rows_kept<'r>(
    rows: &'r dyn Rows,
    parameters: &Parameters,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<RowsFit<'r>> {
    let refused = |name, value: &str| {
        let expected = "this needs all rows in memory: choose another, or fit there";
        Err(Error::Parameter { name, value: value.to_owned(), expected })
    };
    if parameters.init.fill().is_some() {
        return refused("init", "a start from singular vectors");
    }
    match parameters.method {
        Method::WorstShare { .. } => return refused("method", "worst-share"),
        Method::Penalised { .. } => return refused("penalties", "alpha_W, alpha_H"),
        _ => {}
    }
    if matches!(parameters.baseline, Baseline::Adjusted { .. }) && rows.groups().len() > 1 {
        return refused("baseline", "adjusted");
    }
    let sizes: Vec<usize> = rows.groups().iter().map(|g| g.rows).collect();
    let outside = adjusted::outside_by_rows(&sizes, parameters);
    let mut fit = run(rows, parameters, &outside, None, checkpoint, observer)?;
    // Standard NMF minimises no loss: nobody has to stay outside.
    let kept = if parameters.method.is_standard() { &[][..] } else { &outside };
    if kept.iter().any(|a| a.outside) {
        let baselines: Vec<_> = fit.model.groups.iter().map(|g| g.baseline.clone()).collect();
        settle(&mut fit.model, &baselines, kept);
    }
    for (group, allowance) in fit.model.groups.iter_mut().zip(&outside) {
        group.outside = allowance.outside;
    }
    let count = sizes.iter().sum();
    fit.model.warnings.splice(0..0, Warning::of_shape(count, &fit.model));
    Ok(fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Units, hold};
    use crate::{GroupedData, Init, Penalties, Update, silent};
    use ndarray::Array2;

    #[test]
    fn what_needs_all_rows_in_memory_is_refused_by_name() {
        let x = Array2::from_shape_fn((12, 4), |(i, j)| ((i * j + i) % 5) as f64 + 0.5);
        let refused = |groups: usize, parameters: &Parameters| {
            let names = (0..groups).map(|l| l.to_string()).collect();
            let codes: Vec<usize> = (0..12).map(|i| i % groups).collect();
            let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
            let rows = hold(&data, Units::Own);
            match fit_rows(&*rows, parameters, &silent) {
                Err(Error::Parameter { name, .. }) => Some(name),
                found => found.map(|_| None).unwrap(),
            }
        };
        let plain = Parameters { n_init: 1, bound: false, ..Parameters::new(2) };
        let of = |method| Parameters { method, ..plain.clone() };
        let penalties = Penalties { alpha_w: 0.1, alpha_h: None, l1_ratio: 0.0 };
        assert_eq!(refused(2, &of(Method::WorstShare { share: 0.2 })), Some("method"));
        let penalised = of(Method::Penalised { update: Update::Hals, penalties });
        assert_eq!(refused(2, &penalised), Some("penalties"));
        let vectors = Parameters { init: Init::Nndsvd, ..plain.clone() };
        assert_eq!(refused(2, &vectors), Some("init"));
        let adjusted = Parameters { baseline: Baseline::adjusted(), ..plain.clone() };
        assert_eq!(refused(2, &adjusted), Some("baseline"));
        assert_eq!(refused(1, &adjusted), None, "nobody is beside one group");
        assert_eq!(refused(2, &plain), None);
    }

    #[test]
    fn groups_outside_have_no_part_in_the_bound_here_either() {
        let x = Array2::from_shape_fn((30, 5), |(i, j)| ((i * j + i * i + j) % 7) as f64 + 0.5);
        let labels: Vec<String> =
            (0..30).map(|i| (usize::from(i >= 3) + usize::from(i >= 16)).to_string()).collect();
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let of = |l: usize| 0.9 * data.groups()[l].norm();
        let parameters = Parameters {
            method: Method::standard(),
            baseline: Baseline::Given { errors: vec![0.0, of(1), of(2)] },
            allow_small_groups: false,
            ..Parameters::new(3)
        };
        let rows = hold(&data, Units::Own);
        let fit = fit_rows(&*rows, &parameters, &silent).unwrap();
        let bound =
            |few: f64| crate::bound::global_bound(&data, 3, &[few, of(1), of(2)]).value.unwrap();
        // Without it nobody loses anything; three rows of three topics lose nothing at all.
        let (all, others) = (bound(0.0), bound(1e9));
        let found = fit.model.global_bound.value.unwrap();
        assert!(fit.model.groups[0].outside && others < all - 0.1, "{others}, {all}");
        assert!((found - others).abs() < 1e-9, "{found}, {others}");
        assert!(found <= fit.model.worst_loss());
    }
}
