//! Multiplying the data by a constant changes nothing but the scale.

use crate::common::{OwnedCsr, Rng, distance, fixed, history_distance, methods, noisy};
use fairer_nmf::audit::{AuditOptions, TradeOffOptions, audit, trade_off};
use fairer_nmf::data::{AnyMatrix, Element};
use fairer_nmf::{
    Baseline, Error, Fit, GroupedData, Method, Parameters, Stopping, audit::evaluate,
    baseline::Estimate, bound::global_bound, fit, fit::Start, fit::fit_from, silent,
};
use ndarray::Array2;

const CONSTANTS: [f64; 8] = [1e-30, 1e-15, 1e-5, 1e-4, 3.0, 1e4, 1e15, 1e30];

fn times<T: Element>(x: &Array2<f64>, c: f64) -> Array2<T> {
    x.mapv(|v| T::from_f64(v * c))
}

fn grouped<'a>(
    matrix: impl Into<AnyMatrix<'a>>,
    labels: &[&str],
    normalize: bool,
) -> GroupedData<'a> {
    let data = GroupedData::new(matrix, labels).unwrap();
    if normalize { data.normalize_features().unwrap() } else { data }
}

/// Every number of a fit that has no unit.
fn unitless(fit: &Fit) -> Vec<f64> {
    let of_groups = fit
        .model
        .groups
        .iter()
        .flat_map(|g| [g.relative_error, g.loss, g.baseline.error / g.norm, g.weight]);
    of_groups.chain(fit.model.history.iter().flatten().copied()).collect()
}

fn fits_agree<T: Element>(tolerance: f64) {
    let (x, labels) = noisy(31, 60, 9);
    let stopping = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.max_iterations = 20;
    });
    for (method, normalize) in methods().into_iter().flat_map(|m| [(m, false), (m, true)]) {
        for estimate in [Estimate::paper(), Estimate::best()] {
            let estimate = estimate.with(|e| {
                e.runs = 2;
                e.stopping = stopping;
            });
            let parameters = fixed(3, method, 12).with(|p| {
                p.baseline = Baseline::Estimate(estimate);
                p.polish = true;
                p.n_init = 1;
            });
            let run = |c: f64| {
                let x = times::<T>(&x, c);
                fit(&grouped(x.view(), &labels, normalize), &parameters, &silent).unwrap()
            };
            let one = unitless(&run(1.0));
            for c in CONSTANTS {
                let off = distance(&one, &unitless(&run(c)));
                assert!(off < tolerance, "{method:?}, times {c:e}, {normalize}: {off:e}");
            }
        }
    }
}

#[test]
fn a_multiple_of_the_data_has_the_same_errors_and_losses() {
    fits_agree::<f64>(1e-9);
}

#[test]
fn a_multiple_of_the_data_has_the_same_errors_and_losses_in_f32() {
    fits_agree::<f32>(1e-4);
}

#[test]
fn a_multiple_of_sparse_data_has_the_same_errors_and_losses() {
    let (x, labels) = noisy(32, 60, 9);
    for method in methods() {
        let parameters = fixed(3, method, 12).with(|p| p.n_init = 1);
        let run = |c: f64| {
            let x = OwnedCsr::of(&times::<f64>(&x, c));
            unitless(&fit(&grouped(x.narrow(), &labels, false), &parameters, &silent).unwrap())
        };
        let one = run(1.0);
        for c in CONSTANTS {
            assert!(distance(&one, &run(c)) < 1e-9, "{method:?}, times {c:e}");
        }
    }
}

#[test]
fn whole_default_fits_of_a_multiple_end_alike() {
    let (x, labels) = noisy(33, 80, 10);
    let run = |c: f64| {
        let x = times::<f64>(&x, c);
        fit(&grouped(x.view(), &labels, false), &Parameters::new(3), &silent).unwrap().model
    };
    let one = run(1.0);
    for c in [1e-30, 1e-4, 1e30] {
        let other = run(c);
        assert!((one.worst_loss() - other.worst_loss()).abs() < 1e-5, "times {c:e}");
        let bounds = (one.global_bound.value.unwrap(), other.global_bound.value.unwrap());
        assert!((bounds.0 - bounds.1).abs() < 1e-5, "times {c:e}: {bounds:?}");
        assert_eq!(one.worst_group().name, other.worst_group().name);
    }
}

#[test]
fn a_given_start_is_in_the_units_of_the_data() {
    let (x, labels) = noisy(34, 50, 8);
    let (h, w) = (Rng(1).matrix(3, 8), Rng(2).matrix(50, 3));
    for method in methods() {
        let run = |c: f64| {
            let x = times::<f64>(&x, c);
            let start = Start { components: Some(&h * c), representation: Some(w.clone()) };
            let data = grouped(x.view(), &labels, false);
            fit_from(&data, &fixed(3, method, 9), &start, &silent).unwrap()
        };
        let one = run(1.0);
        for c in CONSTANTS {
            let other = run(c);
            assert!(history_distance(&one.model.history, &other.model.history) < 1e-9);
            let h = &other.model.components / c;
            assert!(distance(&one.model.components, &h) < 1e-8, "{method:?}, times {c:e}");
            assert!(distance(&one.representation.to_f64(), &other.representation.to_f64()) < 1e-8);
        }
    }
}

#[test]
fn audits_and_new_rows_of_a_multiple_agree() {
    let (x, labels) = noisy(35, 50, 8);
    let h = Rng(3).matrix(3, 8);
    let baselines = [0.3, 0.2, 0.1];
    for c in CONSTANTS {
        // All of the constant in the data, and half of it in the dictionary.
        for share in [c, 1.0, c.sqrt()] {
            let (scaled, components) = (times::<f64>(&x, c), &h * share);
            let (single, plain) = (times::<f32>(&x, c), times::<f32>(&x, 1.0));
            let e: Vec<f64> = baselines.iter().map(|b| b * c).collect();
            let data = grouped(scaled.view(), &labels, false);
            let one = grouped(x.view(), &labels, false);
            let a = evaluate(&one, h.view(), None, &baselines).unwrap();
            let b = evaluate(&data, components.view(), None, &e).unwrap();
            assert!(distance(&a.losses, &b.losses) < 1e-12, "times {c:e}");
            let w = b.representation.to_f64().mapv(|v| v * share / c);
            assert!(distance(&a.representation.to_f64(), &w) < 1e-12);
            if share == c {
                let data = grouped(single.view(), &labels, false);
                let b = evaluate(&data, components.view(), None, &e).unwrap();
                let one = grouped(plain.view(), &labels, false);
                let a = evaluate(&one, h.view(), None, &baselines).unwrap();
                assert!(distance(&a.losses, &b.losses) < 1e-5, "f32 times {c:e}");
            }
        }
        let scaled = times::<f64>(&x, c);
        let data = grouped(scaled.view(), &labels, false);
        let options = TradeOffOptions::default().with(|t| {
            t.points = 3;
            t.max_iterations = 5;
        });
        let curve = |data: &GroupedData<'_>, h: &Array2<f64>, e: &[f64]| {
            let points = trade_off(data, &[h.view()], e, &[], &options).unwrap().points;
            points.iter().flat_map(|p| [p.total_error, p.worst_loss]).collect::<Vec<_>>()
        };
        let one = grouped(x.view(), &labels, false);
        let e: Vec<f64> = baselines.iter().map(|b| b * c).collect();
        let off = distance(&curve(&one, &h, &baselines), &curve(&data, &(&h * c), &e));
        assert!(off < 1e-9, "curve, times {c:e}: {off:e}");
        let bounds = (global_bound(&one, 2, &baselines), global_bound(&data, 2, &e));
        let off = (bounds.0.value.unwrap() - bounds.1.value.unwrap()).abs();
        assert!(off < 1e-9, "bound, times {c:e}: {off:e}");
    }
}

/// A group with a norm far below the others' keeps its own baseline.
#[test]
fn a_tiny_group_has_the_baseline_that_it_has_alone() {
    let (x, labels) = noisy(36, 90, 8);
    for c in [1e-12, 1e-7, 1e7, 1e12] {
        let mut y = x.clone();
        for (mut row, _) in y.rows_mut().into_iter().zip(&labels).filter(|(_, l)| **l == "b") {
            row *= c;
        }
        let of_b = |x: &Array2<f64>| {
            let data = grouped(x.view(), &labels, false);
            let stopping = Stopping::default().with(|s| s.max_iterations = 50);
            let estimate = Baseline::Estimate(Estimate::paper().with(|e| e.stopping = stopping));
            let b =
                &fairer_nmf::fit::estimate_baselines(&data, 3, &estimate, 0, &silent).unwrap()[1];
            b.error / data.groups()[1].norm()
        };
        let (one, other) = (of_b(&x), of_b(&y));
        assert!((one - other).abs() < 1e-4, "times {c:e}: {one} and {other}");
    }
}

#[test]
fn what_cannot_be_squared_is_refused_and_zero_is_told_from_small() {
    let refused = |value: f64| {
        let x = ndarray::array![[1.0, 2.0], [value, value]];
        GroupedData::new(x.view(), &["a", "b"]).unwrap_err()
    };
    assert!(matches!(refused(0.0), Error::ZeroGroup { .. }));
    assert!(matches!(refused(1e-170), Error::Underflow { .. }));
    assert!(matches!(refused(1e200), Error::Overflow { .. }));
}

/// Representations that f32 cannot hold end in an error, not in infinity.
#[test]
fn nothing_that_is_not_finite_leaves_the_library() {
    let (x, labels) = noisy(37, 40, 6);
    for method in [Method::am(), Method::mu(), Method::standard()] {
        for c in [1e-44f64, 1e-40, 1e-38, 1e18, 1e20, 1e36, 1e38] {
            let x = times::<f32>(&x, c / 4.0);
            let Ok(data) = GroupedData::new(x.view(), &labels) else { continue };
            let Ok(fit) = fit(&data, &fixed(3, method, 10), &silent) else { continue };
            let losses = fit.model.groups.iter().flat_map(|g| [g.loss, g.relative_error]);
            assert!(losses.into_iter().all(f64::is_finite), "{method:?} times {c:e}");
            assert!(fit.model.components.iter().all(|v| v.is_finite()));
            assert!(fit.representation.to_f64().iter().all(|v| v.is_finite()));
        }
    }
}

/// A saved model brings its scaling along: its audit is that of the fit, to the last bit.
#[test]
fn remembered_factors_are_those_of_normalisation() {
    let (x, labels) = noisy(37, 60, 9);
    let found = grouped(x.view(), &labels, true);
    let scale = found.scale().unwrap().to_vec();
    let remembered = grouped(x.view(), &labels, false).with_scale(scale).unwrap();
    let p = fixed(3, Method::standard(), 30).with(|p| p.method = Method::standard());
    let model = fit(&found, &p, &silent).unwrap().model;
    assert_eq!(fit(&remembered, &p, &silent).unwrap().model.components, model.components);
    let options = AuditOptions::default().with(|o| {
        o.draws = 20;
        o.permutations = 20;
    });
    let [own, later] = [&found, &remembered].map(|data| {
        let baselines = model.baseline_errors();
        let seen = audit(data, model.components.view(), &baselines, None, &options, &silent);
        serde_json::to_string(&seen.unwrap()).unwrap()
    });
    assert!(own == later, "{own}\n{later}");
}
