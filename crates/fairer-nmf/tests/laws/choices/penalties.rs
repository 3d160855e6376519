//! Penalties: what is found satisfies the optimality conditions of scikit-learn's objective, in the units of the user.

use fairer_nmf::fit::{Start, fit_from};
use fairer_nmf::{
    Baseline, GroupedData, Method, Model, Parameters, Penalties, Stopping, Update, fit, silent,
};
use ndarray::{Array2, Axis, concatenate};

use super::low_rank;

fn parameters(update: Update, penalties: Penalties) -> Parameters {
    Parameters::new(3).with(|p| {
        p.method = Method::Penalised { update, penalties };
        p.baseline = Baseline::Zero;
        p.bound = false;
        p.n_init = 2;
        p.stopping = Stopping::default().with(|s| {
            s.tolerance = 1e-13;
            s.max_iterations = 20_000;
        });
    })
}

/// The objective, and the gradients in W and H.
fn objective(
    x: &Array2<f64>,
    w: &Array2<f64>,
    h: &Array2<f64>,
    p: Penalties,
) -> (f64, Array2<f64>, Array2<f64>) {
    let (m, n) = x.dim();
    let (of_w, of_h) = (p.alpha_w * n as f64, p.alpha_h.unwrap_or(p.alpha_w) * m as f64);
    let (l1, l2) = (p.l1_ratio, 1.0 - p.l1_ratio);
    let cost = |f: &Array2<f64>| l1 * f.sum() + 0.5 * l2 * f.mapv(|v| v * v).sum();
    let residual = w.dot(h) - x;
    let value = 0.5 * residual.mapv(|v| v * v).sum() + of_w * cost(w) + of_h * cost(h);
    let by_w = residual.dot(&h.t()) + of_w * (l2 * w + l1);
    let by_h = w.t().dot(&residual) + of_h * (l2 * h + l1);
    (value, by_w, by_h)
}

#[test]
fn the_optimality_conditions_of_scikit_learns_objective_hold() {
    let x = low_rank(40, 9, 3, 0.2);
    let cases = [
        Penalties { alpha_w: 0.002, alpha_h: None, l1_ratio: 0.0 },
        Penalties { alpha_w: 0.002, alpha_h: None, l1_ratio: 1.0 },
        Penalties { alpha_w: 0.004, alpha_h: Some(0.001), l1_ratio: 0.5 },
        Penalties { alpha_w: 0.001, alpha_h: Some(0.002), l1_ratio: 0.3 },
    ];
    for penalties in cases {
        for update in [Update::Hals, Update::Nnls] {
            for unit in [1.0, 30.0] {
                let x = &x * unit;
                let data = GroupedData::one_group(x.view()).unwrap();
                let found = fit(&data, &parameters(update, penalties), &silent).unwrap();
                let (w, h) = (&found.representation.to_f64(), &found.model.components);
                let (value, by_w, by_h) = objective(&x, w, h, penalties);
                let told = found.model.penalised_objective.unwrap();
                assert!((told - value).abs() <= 1e-9 * value, "{told} and {value}");
                let size = x.mapv(|v| v * v).sum();
                for (factor, gradient) in [(w, by_w), (h, by_h)] {
                    let largest = factor.iter().copied().fold(0.0, f64::max);
                    for (f, g) in factor.iter().zip(&gradient) {
                        assert!(*g * largest >= -1e-6 * size, "{update:?} {penalties:?}: {g}");
                        assert!((f * g).abs() <= 1e-6 * size, "{update:?} {penalties:?}: {f} {g}");
                    }
                }
                let again = found.model.transform(x.view()).unwrap();
                let apart = (&again - w).mapv(f64::abs).sum() / w.sum();
                assert!(apart < 1e-6, "new rows get the penalised coordinates too: {apart}");
            }
        }
    }
}

#[test]
fn without_alphas_it_is_standard_nmf_and_more_shrinks_more() {
    let x = low_rank(30, 8, 3, 0.3);
    let data = GroupedData::one_group(x.view()).unwrap();
    let at = |alpha: f64, l1_ratio: f64| -> Model {
        let penalties = Penalties { alpha_w: alpha, alpha_h: None, l1_ratio };
        fit(&data, &parameters(Update::Hals, penalties), &silent).unwrap().model
    };
    let standard =
        parameters(Update::Hals, Penalties::default()).with(|p| p.method = Method::standard());
    let standard = fit(&data, &standard, &silent).unwrap().model.total_error();
    assert!((at(0.0, 0.0).total_error() - standard).abs() < 1e-4 * standard);
    let zeros = |model: &Model| model.components.iter().filter(|v| **v == 0.0).count();
    let (little, much) = (at(0.001, 1.0), at(0.02, 1.0));
    assert!(zeros(&much) > zeros(&little), "{} and {}", zeros(&much), zeros(&little));
    assert!(much.total_error() > little.total_error());
}

#[test]
fn whole_weights_are_repeated_rows() {
    let x = low_rank(20, 7, 3, 0.2);
    let weights: Vec<f64> = (0..20).map(|i| f64::from(1 + (i % 3) as u32)).collect();
    let rows: Vec<usize> =
        (0..20).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let often = x.select(Axis(0), &rows);
    let penalties = Penalties { alpha_w: 0.003, alpha_h: None, l1_ratio: 0.5 };
    let parameters = parameters(Update::Nnls, penalties);
    let h = Array2::from_shape_fn((3, 7), |(k, j)| super::number(k, j, 9));
    let start = Start { components: Some(h), representation: None };
    let one = GroupedData::one_group(x.view()).unwrap().with_weights(&weights).unwrap();
    let other = GroupedData::one_group(often.view()).unwrap();
    let one = fit_from(&one, &parameters, &start, &silent).unwrap().model;
    let other = fit_from(&other, &parameters, &start, &silent).unwrap().model;
    let (a, b) = (one.penalised_objective.unwrap(), other.penalised_objective.unwrap());
    assert!((a - b).abs() < 1e-7 * a, "{a} and {b}");
    let both = concatenate![Axis(0), one.components, other.components];
    assert!(both.iter().all(|v| v.is_finite()));
}

#[test]
fn models_keep_them() {
    let x = low_rank(20, 6, 3, 0.2);
    let data = GroupedData::one_group(x.view()).unwrap();
    let penalties = Penalties { alpha_w: 0.01, alpha_h: None, l1_ratio: 0.5 };
    let model = fit(&data, &parameters(Update::Hals, penalties), &silent).unwrap().model;
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(back.parameters.method, model.parameters.method);
    assert_eq!(back.penalised_objective, model.penalised_objective);
    assert_eq!(back.transform(x.view()).unwrap(), model.transform(x.view()).unwrap());
}
