//! The worst share itself, where its search begins and when it ends.

use super::*;
use crate::random::{Purpose, Stream};

/// The mean of the worst share is min_τ τ + Σω(e − τ)₊/(βΩ), whose minimum is at one of the errors.
#[test]
fn it_is_the_conditional_value_at_risk() {
    let errors = [0.3, 0.9, 0.1, 0.9, 0.0, 0.5];
    let weights = [1.0, 0.5, 2.0, 1.0, 3.0, 0.0];
    let all: f64 = weights.iter().sum();
    for share in [0.01, 0.2, 0.31, 0.5, 0.99, 1.0] {
        let risk = |tau: f64| {
            let over = errors.iter().zip(weights).map(|(e, w)| w * (e - tau).max(0.0));
            tau + over.sum::<f64>() / (share * all)
        };
        let least = errors.iter().map(|&tau| risk(tau)).fold(f64::INFINITY, f64::min);
        let (mean, threshold, q) = worst_share(&errors, &weights, share);
        assert!((mean - least).abs() < 1e-12, "{share}: {mean} and {least}");
        assert!((risk(threshold) - least).abs() < 1e-12);
        assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(q.iter().zip(weights).all(|(q, w)| *q <= w / (share * all) + 1e-15));
    }
}

/// Rows of three kinds, one of them rare, with weights; the last row is zero.
fn rows(seed: u64) -> (Array2<f64>, Vec<usize>) {
    let mut stream = Stream::new(seed, Purpose::Spectral, 11);
    let kind = |i: usize| if i.is_multiple_of(9) { 2 } else { i % 2 };
    let x = Array2::from_shape_fn((36, 7), |(i, j)| match i {
        35 => 0.0,
        _ => stream.uniform().powi(2) + if j / 2 == kind(i) { 1.0 } else { 0.0 },
    });
    (x, (0..36).map(|i| i % 3).collect())
}

fn with_task(seed: u64, share: f64, tolerance: f64, check: impl FnOnce(&Task<'_, '_>)) {
    let (x, codes) = rows(seed);
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
    let weights = vec![1.0; 36];
    let stopping = Stopping { tolerance, ..Stopping::default() };
    let method = Method::WorstShare { share };
    let parameters = Parameters { method, stopping, n_init: 1, ..Parameters::new(2) };
    let norms = (0..36).map(|row| data.row_squared_norm(row)).collect();
    let whole = data.weighted_rows(&weights).unwrap();
    let (deadline, observer) = (None, &crate::silent as &Observer<'_>);
    check(&Task { data: &data, whole, share, weights, norms, parameters, deadline, observer });
}

/// Also the history is told as losses against baselines, and a row of zeros has no error.
#[test]
fn the_best_end_of_three_starts_is_kept() {
    let mut differ = 0;
    for seed in 0..4 {
        with_task(seed, 0.2, 1e-4, |task| {
            let starts = task.starts(None).unwrap();
            assert_eq!(starts.len(), 3);
            assert!(starts.iter().all(|s| s.errors[35] == 0.0 && s.value.is_finite()));
            let ends: Vec<f64> =
                starts.into_iter().map(|s| task.refine(s).unwrap().0.value).collect();
            let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
            differ += usize::from(ends.iter().any(|end| end - least > 1e-6));
            let baseline = Baseline::Given { errors: vec![0.2, 0.3, 0.4] };
            let parameters = Parameters { baseline, ..task.parameters.clone() };
            let asked = (task.share, (None, None));
            let model = fit_share(task.data, &parameters, asked.0, asked.1, task.observer);
            let model = model.unwrap().model;
            assert_eq!(model.worst_share.as_ref().unwrap().error, least);
            assert_eq!(model.status, Status::Converged);
            let last = model.history.last().unwrap();
            for (group, loss) in model.groups.iter().zip(last) {
                assert!((group.loss - loss).abs() < 1e-9, "{} {loss}", group.loss);
                let own = group.relative_error - group.baseline.error / group.norm;
                assert!((group.loss - own).abs() < 1e-12);
            }
        });
    }
    assert!(differ > 0);
    // With all rows among the worst there is no rest to tell them from.
    with_task(0, 1.0, 1e-4, |task| assert_eq!(task.starts(None).unwrap().len(), 2));
}

#[test]
fn three_rounds_that_hardly_fall_are_the_end() {
    let rounds = |tolerance: f64| {
        let mut found = (0, Status::Stopped);
        with_task(1, 0.3, tolerance, |task| {
            let first = task.stand(Array2::from_shape_fn((2, 7), |(k, j)| ((k + j) % 3) as f64));
            let (_, path, status) = task.refine(first.unwrap()).unwrap();
            assert!(path.windows(2).all(|two| two[1].value < two[0].value));
            found = (path.len() - 1, status);
        });
        found
    };
    assert_eq!(rounds(0.5), (STANDING, Status::Converged));
    assert!(rounds(0.0).0 > 2 * STANDING, "{:?}", rounds(0.0));
}

#[test]
fn weights_are_in_units_of_the_largest() {
    assert_eq!(relative(vec![2.0, 4.0, 1e-12, 0.0]), [0.5, 1.0, 0.0, 0.0]);
    assert_eq!(relative(vec![0.0; 2]), [0.0; 2]);
}
