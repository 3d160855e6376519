//! The worst share of rows: never rises, never above standard NMF, and does what a rare group that nobody named needs.

use fairer_nmf::audit::evaluate;
use fairer_nmf::stopping::Status;
use fairer_nmf::{GroupedData, Method, Model, Parameters, Warning, fit, silent};
use ndarray::{Array2, Axis, concatenate};
use std::time::Duration;

use super::{iterations, low_rank, number};

/// 90 rows of three topics and 10 of another.
fn rare() -> Array2<f64> {
    let many = low_rank(90, 12, 3, 0.05);
    let few = Array2::from_shape_fn((10, 12), |(i, j)| {
        let of = |k: usize| number(i, k, 5) * number(k, j, 6).powi(4);
        0.3 * (of(0) + of(1)) + 0.02 * number(i, j, 7)
    });
    concatenate![Axis(0), many, few]
}

fn parameters(method: Method) -> Parameters {
    Parameters::new(3).with(|p| {
        p.method = method;
        p.bound = false;
        p.n_init = 2;
    })
}

/// The mean relative error of the worst share of rows, from its definition.
fn worst(x: &Array2<f64>, h: &Array2<f64>, share: f64) -> f64 {
    let data = GroupedData::one_group(x.view()).unwrap();
    let squared = evaluate(&data, h.view(), None, &[0.0]).unwrap().row_squared_errors;
    let norms = x.rows().into_iter().map(|row| row.dot(&row));
    let error = |(e, n): (&f64, f64)| if n > 0.0 { (e / n).sqrt() } else { 0.0 };
    let errors: Vec<f64> = squared.iter().zip(norms).map(error).collect();
    let risk = |tau: f64| {
        tau + errors.iter().map(|e| (e - tau).max(0.0)).sum::<f64>() / (share * x.nrows() as f64)
    };
    errors.iter().map(|&tau| risk(tau)).fold(f64::INFINITY, f64::min)
}

fn of(x: &Array2<f64>, share: f64) -> Model {
    let data = GroupedData::one_group(x.view()).unwrap();
    fit(&data, &parameters(Method::WorstShare { share }), &silent).unwrap().model
}

#[test]
fn it_never_rises_and_is_never_above_standard_nmf() {
    let x = rare();
    let data = GroupedData::one_group(x.view()).unwrap();
    let standard = fit(&data, &parameters(Method::standard()), &silent).unwrap().model;
    for share in [0.05, 0.1, 0.3, 1.0] {
        let model = of(&x, share);
        let report = model.worst_share.as_ref().unwrap();
        assert!(report.history.windows(2).all(|two| two[1] <= two[0]), "{:?}", report.history);
        let (own, its) =
            (worst(&x, &model.components, share), worst(&x, &standard.components, share));
        assert!((own - report.error).abs() < 1e-6, "{own} and {}", report.error);
        assert!(own <= its + 1e-9, "{share}: {own} above {its}");
        assert!(report.threshold <= report.error + 1e-12);
        assert!(model.global_bound.value.is_none());
    }
}

/// Small steps of the dictionary in any direction do not lower it by more than some thousandths.
#[test]
fn small_steps_hardly_lower_it() {
    let x = rare();
    let share = 0.2;
    let h = of(&x, share).components;
    let here = worst(&x, &h, share);
    let mean = h.sum() / h.len() as f64;
    for seed in 0..60 {
        let step = |((k, j), v): ((usize, usize), &f64)| {
            (v + 0.02 * mean * (2.0 * number(k, j, 100 + seed) - 1.0)).max(0.0)
        };
        let moved = Array2::from_shape_vec(h.dim(), h.indexed_iter().map(step).collect()).unwrap();
        let there = worst(&x, &moved, share);
        assert!(there >= here * (1.0 - 5e-3), "{there} below {here}");
    }
}

#[test]
fn a_rare_group_that_nobody_named_is_served_better() {
    let x = rare();
    let labels: Vec<&str> = (0..100).map(|i| if i < 90 { "many" } else { "few" }).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let error = |method| {
        let model = fit(&data, &parameters(method), &silent).unwrap().model;
        model.groups.iter().find(|g| g.name == "few").unwrap().relative_error
    };
    let (standard, share) = (error(Method::standard()), error(Method::WorstShare { share: 0.1 }));
    assert!(share < 0.8 * standard, "{share} and {standard}");
}

#[test]
fn rows_of_zeros_have_error_zero_and_units_do_not_matter() {
    let x = concatenate![Axis(0), rare(), Array2::zeros((5, 12))];
    let model = of(&x, 0.1);
    let report = model.worst_share.unwrap();
    assert!(report.error.is_finite() && report.threshold > 0.0);
    let other = of(&(&x * 1024.0), 0.1).worst_share.unwrap();
    assert!((report.error - other.error).abs() < 1e-6, "{} and {}", report.error, other.error);
    let back = Model::from_bytes(&of(&x, 0.5).to_bytes().unwrap()).unwrap();
    assert_eq!(back.worst_share.unwrap().share, 0.5);
    assert_eq!(back.parameters.method.name(), "worst-share");
}

#[test]
fn weights_count_as_repeated_rows_in_the_share() {
    let x = rare();
    let twice = concatenate![Axis(0), x, x];
    let data = GroupedData::one_group(x.view()).unwrap().with_weights(&[2.0; 100]).unwrap();
    let one = fit(&data, &parameters(Method::WorstShare { share: 0.15 }), &silent).unwrap().model;
    let value = |h: &Array2<f64>| worst(&twice, h, 0.15);
    assert!((one.worst_share.unwrap().error - value(&one.components)).abs() < 1e-6);
}

/// One limit for baselines, starts and rounds together: once it is over no other start begins, and the fit says so.
#[test]
fn a_time_limit_is_that_of_the_whole_fit() {
    let x = rare();
    let data = GroupedData::one_group(x.view()).unwrap();
    let mut asked = parameters(Method::WorstShare { share: 0.1 });
    asked.stopping.time_limit = Some(Duration::ZERO);
    let (found, heard) = iterations(|observer| fit(&data, &asked, observer));
    let model = found.unwrap().model;
    assert_eq!(model.status, Status::TimeLimit);
    assert!(model.warnings.contains(&Warning::BaselinesCutShort), "{:?}", model.warnings);
    // An iteration of each restart of the first start.
    assert!(heard <= asked.n_init, "{heard}");
    assert!(model.history.is_empty());
}
