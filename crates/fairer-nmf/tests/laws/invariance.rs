//! What a fit may not depend on, and what it must equal.

use crate::common::{Rng, distance, fixed, history_distance, methods, noisy};
use fairer_nmf::data::Element;
use fairer_nmf::{Baseline, GroupedData, Method, Stopping, baseline::Estimate, fit::Start};
use fairer_nmf::{Update, fit, fit::fit_from, silent};
use ndarray::{Array1, Array2, Axis, Zip};

#[test]
fn scaling_a_group_keeps_its_losses() {
    let (x, labels) = noisy(11, 120, 14);
    let mut y = x.clone();
    for (mut row, _) in y.rows_mut().into_iter().zip(&labels).filter(|(_, l)| **l == "b") {
        row *= 1e3;
    }
    // From a dictionary alone: the first W then scales with its rows. (From a random W it does
    // not, and the first dictionary step of any scheme sees that.)
    let start = Start { components: Some(Rng(12).matrix(4, 14)), representation: None };
    let stopping = Stopping::default().with(|s| s.max_iterations = 60);
    let estimate = Estimate::paper().with(|e| {
        e.runs = 2;
        e.stopping = stopping;
    });
    for method in [Method::am(), Method::mu()] {
        let parameters =
            fixed(4, method, 15).with(|p| p.baseline = Baseline::Estimate(estimate.clone()));
        let run = |x: &Array2<f64>| {
            let data = GroupedData::new(x.view(), &labels).unwrap();
            fit_from(&data, &parameters, &start, &silent).unwrap().model
        };
        let (a, b) = (run(&x), run(&y));
        let off = history_distance(&a.history, &b.history);
        assert!(off < 1e-6, "{method:?}: {off:e}");
        for (a, b) in a.groups.iter().zip(&b.groups) {
            let (e, f) = (a.baseline.error / a.norm, b.baseline.error / b.norm);
            assert!((e - f).abs() < 1e-9, "baseline of {}: {e} and {f}", a.name);
        }
    }
}

#[test]
fn feature_scaling_equals_scaled_data() {
    let (x, labels) = noisy(13, 90, 12);
    let norms: Array1<f64> = x.mapv(|v| v * v).sum_axis(Axis(0)).mapv(f64::sqrt);
    let scaled = &x / &norms;
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let explicit = GroupedData::new(scaled.view(), &labels).unwrap();
    for method in methods() {
        let parameters = fixed(3, method, 8);
        let a = fit(&data, &parameters, &silent).unwrap();
        let b = fit(&explicit, &parameters, &silent).unwrap();
        let off = history_distance(&a.model.history, &b.model.history);
        assert!(off < 1e-10, "{method:?}: {off:e}");
        let (new, _) = noisy(14, 9, 12);
        let scaled = &new / &norms;
        let w = a.model.transform(new.view()).unwrap();
        let v = b.model.transform(scaled.view()).unwrap();
        assert!(distance(&w, &v) < 1e-8, "new rows get the scaling of the fit");
    }
}

#[test]
fn one_group_under_mu_is_standard_mu() {
    let (x, _) = noisy(15, 80, 13);
    let data = GroupedData::one_group(x.view()).unwrap();
    let start = Start {
        components: Some(Rng(1).matrix(4, 13)),
        representation: Some(Rng(2).matrix(80, 4)),
    };
    let run = |method| fit_from(&data, &fixed(4, method, 12), &start, &silent).unwrap();
    let (a, b) = (run(Method::mu()), run(Method::Standard { update: Update::Mu }));
    let off = history_distance(&a.model.history, &b.model.history);
    assert!(off < 1e-10, "{off:e}");
    let off = distance(&a.representation.to_f64(), &b.representation.to_f64());
    assert!(off < 1e-8, "W {off:e}");
}

/// The AM scheme takes its own path (a soft beginning, extrapolation), so that only where it ends
/// can be compared: alternating NNLS finds nothing to improve there.
#[test]
fn one_group_under_am_ends_where_alternating_nnls_stands_still() {
    let (x, _) = noisy(15, 80, 13);
    let data = GroupedData::one_group(x.view()).unwrap();
    let stopping = Stopping::default().with(|s| {
        s.tolerance = 1e-8;
        s.max_iterations = 3_000;
    });
    let am =
        fit(&data, &fixed(4, Method::am(), 0).with(|p| p.stopping = stopping), &silent).unwrap();
    let start = Start {
        components: Some(am.model.components.clone()),
        representation: Some(am.representation.to_f64()),
    };
    let standard = Method::Standard { update: Update::Nnls };
    let further = fit_from(&data, &fixed(4, standard, 20), &start, &silent).unwrap();
    let (a, b) = (am.model.worst_loss(), further.model.worst_loss());
    assert!(b <= a * (1.0 + 1e-10) && a <= b * (1.0 + 1e-4), "{a} then {b}");
}

#[test]
fn standard_nmf_never_raises_the_sum_of_squared_errors() {
    let (x, labels) = noisy(16, 100, 17);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for update in [Update::Mu, Update::Hals, Update::Nnls] {
        let fit = fit(&data, &fixed(5, Method::Standard { update }, 60), &silent).unwrap();
        let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
        // Baselines are zero: the loss is the relative error.
        let total = |losses: &Vec<f64>| -> f64 {
            losses.iter().zip(&norms).map(|(g, n)| (g * n) * (g * n)).sum()
        };
        let sums: Vec<f64> = fit.model.history.iter().map(total).collect();
        for pair in sums.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-12), "{update:?}: {} then {}", pair[0], pair[1]);
        }
    }
}

#[test]
fn transform_gives_the_representation_of_an_exact_fit_and_keeps_the_model() {
    let (x, labels) = noisy(17, 70, 11);
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    for method in methods() {
        let parameters = fixed(4, method, 20).with(|p| p.polish = true);
        let fit = fit(&data, &parameters, &silent).unwrap();
        let before = fit.model.clone();
        let w = fit.model.transform(x.view()).unwrap();
        let off = distance(&fit.representation.to_f64(), &w);
        assert!(off < 1e-8, "{method:?}: {off:e}");
        assert_eq!(before, fit.model);
    }
}

#[test]
fn reported_errors_are_those_of_the_factors() {
    let (x, labels) = noisy(18, 130, 19);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for method in methods() {
        let fit = fit(&data, &fixed(5, method, 10), &silent).unwrap();
        let residual = &x - &fit.representation.to_f64().dot(&fit.model.components);
        for (group, found) in data.groups().iter().zip(&fit.model.groups) {
            let squares = |a: &Array2<f64>| -> f64 {
                group.rows.iter().flat_map(|&i| a.row(i).to_vec()).map(|v| v * v).sum()
            };
            let expected = (squares(&residual) / squares(&x)).sqrt();
            let off = (found.relative_error / expected - 1.0).abs();
            assert!(off < 1e-10, "{method:?}, {}: {off:e}", found.name);
            assert_eq!(found.loss, found.relative_error, "the baselines are zero");
        }
    }
}

/// The relative error reported for given factors of data that they miss by about `miss`, and
/// the true one.
fn almost_exact<T: Element>(miss: f64, columns: usize) -> (f64, f64) {
    let mut rng = Rng(19);
    let w = rng.matrix(200, 3).mapv(|v| T::from_f64(v).to_f64());
    let h = rng.matrix(3, columns);
    let x = w.dot(&h).mapv(|v| T::from_f64(v * (1.0 + miss * (2.0 * rng.uniform() - 1.0))));
    let exact = x.mapv(T::to_f64);
    let norm = |a: &Array2<f64>| a.iter().map(|v| v * v).sum::<f64>().sqrt();
    let expected = norm(&(&exact - &w.dot(&h))) / norm(&exact);
    let data = GroupedData::one_group(x.view()).unwrap();
    let start = Start { components: Some(h), representation: Some(w) };
    let mu = Method::Standard { update: Update::Mu };
    let fit = fit_from(&data, &fixed(3, mu, 0), &start, &silent).unwrap();
    (fit.model.groups[0].relative_error, expected)
}

#[test]
fn almost_exact_fits_are_measured_right() {
    for columns in [10, 300] {
        for miss in [1e-2, 1e-3, 5e-6] {
            let (found, expected) = almost_exact::<f32>(miss, columns);
            assert!((found / expected - 1.0).abs() < 1e-4, "f32: {found:e} for {expected:e}");
        }
        for miss in [1e-2, 1e-5, 1e-9, 1e-12] {
            let (found, expected) = almost_exact::<f64>(miss, columns);
            assert!((found / expected - 1.0).abs() < 1e-4, "f64: {found:e} for {expected:e}");
        }
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let (x, labels) = noisy(20, 400, 30);
    let y = x.mapv(|v| v as f32);
    let double = GroupedData::new(x.view(), &labels).unwrap();
    let single = GroupedData::new(y.view(), &labels).unwrap();
    for method in methods() {
        let a = fit(&double, &fixed(4, method, 6), &silent).unwrap();
        let b = fit(&single, &fixed(4, method, 6), &silent).unwrap();
        let off = history_distance(&a.model.history, &b.model.history);
        assert!(off < 1e-4, "{method:?}: {off:e}");
    }
}

#[test]
fn zero_rows_and_columns_are_legal() {
    let (mut x, mut labels) = noisy(21, 60, 9);
    x.row_mut(7).fill(0.0);
    x.column_mut(4).fill(0.0);
    labels[0] = "a";
    for method in methods() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        let parameters = fixed(3, method, 30).with(|p| p.polish = true);
        let fit = fit(&data, &parameters, &silent).unwrap();
        assert!(
            fit.model.components.iter().chain(&fit.representation.to_f64()).all(|v| v.is_finite())
        );
        assert!(fit.representation.to_f64().row(7).iter().all(|&v| v == 0.0), "{method:?}");
        Zip::from(fit.model.components.column(4)).for_each(|&v| assert!(v < 1e-6));
    }
}
