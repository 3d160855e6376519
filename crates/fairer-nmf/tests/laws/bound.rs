//! The lower bound on the worst loss of any model: against spectra that NumPy computed in full
//! (references/make_bound_oracle.py), and against the best fits of many random problems.

use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::{Baseline, GroupedData, Method, Parameters, bound::global_bound, fit, silent};
use ndarray::Array2;
use serde_json::Value;

/// The oracle's recipe.
fn weyl(
    rows: usize,
    columns: usize,
    groups: usize,
    salt: f64,
    skew: f64,
) -> (Array2<f64>, Vec<String>) {
    let group = |i: usize| (i * i + i / 3) % groups;
    let x = Array2::from_shape_fn((rows, columns), |(i, j)| {
        let t = ((i * columns + j) as f64 + salt) * 0.754_877_666_246_692_7;
        let v = t - t.floor();
        v * v + ((j * (group(i) + 1)) % 5) as f64 * skew
    });
    (x, (0..rows).map(|i| group(i).to_string()).collect())
}

fn oracle() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bound_oracle.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_bound_is_the_best_that_cutting_planes_with_full_spectra_find() {
    for case in oracle() {
        let count = |name: &str| case[name].as_u64().unwrap() as usize;
        let number = |name: &str| case[name].as_f64().unwrap();
        let (x, labels) =
            weyl(count("rows"), count("columns"), count("groups"), number("salt"), number("skew"));
        let shares: Vec<f64> =
            case["shares"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let norms = data.groups().iter().map(|g| g.norm());
        let errors: Vec<f64> =
            norms.enumerate().map(|(l, n)| n * shares[l % shares.len()]).collect();
        let bound = global_bound(&data, count("rank"), &errors);
        let value = bound.value.unwrap();
        // Valid: not above what any weights can give. Good: not below the best.
        assert!(value <= number("high") + 1e-12, "{value} is above {case}");
        assert!(value >= number("low") - 1e-6, "{value} is below {case}");
        assert!((bound.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

/// What is left of the squared norm beside the r largest eigenvalues, by Jacobi rotations until
/// nothing is off the diagonal: another way to a full spectrum than any in the library.
fn full_tail(data: &GroupedData<'_>, x: &Array2<f64>, weights: &[f64], rank: usize) -> f64 {
    let n = x.ncols();
    let mut s = Array2::<f64>::zeros((n, n));
    for (group, w) in data.groups().iter().zip(weights) {
        for &row in &group.rows {
            for i in 0..n {
                for j in 0..n {
                    s[(i, j)] += w * x[(row, i)] * x[(row, j)] / group.squared_norm;
                }
            }
        }
    }
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if s[(p, q)] == 0.0 {
                    continue;
                }
                let theta = (s[(q, q)] - s[(p, p)]) / (2.0 * s[(p, q)]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                for k in 0..n {
                    let (a, b) = (s[(k, p)], s[(k, q)]);
                    (s[(k, p)], s[(k, q)]) = (c * a - t * c * b, t * c * a + c * b);
                }
                for k in 0..n {
                    let (a, b) = (s[(p, k)], s[(q, k)]);
                    (s[(p, k)], s[(q, k)]) = (c * a - t * c * b, t * c * a + c * b);
                }
            }
        }
    }
    let mut values: Vec<f64> = s.diag().to_vec();
    values.sort_by(f64::total_cmp);
    values[..n - rank].iter().sum()
}

#[test]
fn the_bound_is_what_the_full_spectrum_at_its_weights_says_and_no_fit_is_below_it() {
    let mut close = 0;
    for case in 0..440 {
        let (rows, columns) = (12 + case % 37, 2 + case % 11);
        let groups = 1 + case % 7;
        let rank = 1 + case % columns.min(4);
        let (x, labels) =
            weyl(rows, columns, groups, case as f64 * 0.37, [0.0, 0.1, 0.5][case % 3]);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let share = |l: usize| [0.0, 0.05 * l as f64, 0.4 * l as f64][case / 3 % 3];
        let errors: Vec<f64> =
            data.groups().iter().enumerate().map(|(l, g)| share(l) * g.norm()).collect();
        let stopping = Parameters::new(rank).stopping.with(|s| s.max_iterations = 200);
        let parameters = Parameters::new(rank).with(|p| {
            p.baseline = Baseline::Given { errors: errors.clone() };
            p.stopping = stopping;
            p.n_init = 2;
        });
        let model = fit(&data, &parameters, &silent).unwrap().model;
        let bound = model.global_bound.value.unwrap();
        assert!(bound <= model.worst_loss() + 1e-13, "{case}: {bound} {}", model.worst_loss());
        close += usize::from(model.worst_loss() - bound < 1e-4);

        let e: Vec<f64> = (0..errors.len()).map(share).collect();
        let trivial = e.iter().map(|e| -e).fold(f64::NEG_INFINITY, f64::max);
        if rank < rows.min(columns) && bound > trivial {
            let w = &model.global_bound.weights;
            let left: f64 = w.iter().zip(&e).map(|(w, e)| w * (bound + e).powi(2)).sum();
            let tail = full_tail(&data, &x, w, rank);
            assert!(left <= tail && left > tail - 1e-7, "{case}: {left} of {tail}");
        }
        // The same numbers in f32: what is said stays true of what is measured there.
        let single = x.mapv(|v| v as f32);
        let data = GroupedData::new(single.view(), &labels).unwrap();
        let model = fit(&data, &parameters, &silent).unwrap().model;
        let single = model.global_bound.value.unwrap();
        assert!(single <= model.worst_loss(), "{case}: {single} {}", model.worst_loss());
        assert!((single - bound).abs() < 1e-3, "{case}: {single} in f32, {bound} in f64");
    }
    assert!(close > 40, "only {close} fits reach their bound: too weak a test");
}

#[test]
fn baselines_above_the_norms_leave_the_bound_of_the_group_that_has_none() {
    let (x, labels) = weyl(80, 10, 4, 0.6, 0.1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
    let alone = |l: usize| {
        let mut errors: Vec<f64> = norms.iter().map(|n| 3.0 * n).collect();
        errors[l] = 0.08 * norms[l];
        let bound = global_bound(&data, 2, &errors);
        let tail = full_tail(&data, &x, &(0..4).map(|k| f64::from(k == l)).collect::<Vec<_>>(), 2);
        assert!((bound.value.unwrap() - (tail.sqrt() - 0.08)).abs() < 1e-6);
        assert!(bound.weights[l] > 1.0 - 1e-5, "{:?}", bound.weights);
    };
    (0..data.groups().len()).for_each(alone);
}

#[test]
fn sparse_dense_wide_and_tall_data_have_one_bound() {
    let (x, labels) = weyl(60, 45, 3, 0.2, 0.0);
    let thin = x.mapv(|v| if v < 0.4 { 0.0 } else { v });
    let mut indices = Vec::new();
    let (mut starts, mut values) = (vec![0usize], Vec::new());
    for row in thin.rows() {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            indices.push(j as i32);
            values.push(v);
        }
        starts.push(values.len());
    }
    let csr = Csr::new(45, &starts, Indices::I32(&indices), &values).unwrap();
    // Columns of zeros and pairs of columns that stand for one make the same problem wide.
    let wide = Array2::from_shape_fn((60, 200), |(i, j)| match j {
        0..90 => thin[(i, j / 2)] * [0.6, 0.8][j % 2],
        _ => 0.0,
    });
    let dense = GroupedData::new(thin.view(), &labels).unwrap();
    let sparse = GroupedData::new(csr, &labels).unwrap();
    let wide = GroupedData::new(wide.view(), &labels).unwrap();
    let errors: Vec<f64> = dense.groups().iter().map(|g| 0.1 * g.norm()).collect();
    let value = |data: &GroupedData<'_>| global_bound(data, 4, &errors).value.unwrap();
    assert!(value(&dense) > 0.1);
    assert!((value(&dense) - value(&sparse)).abs() < 1e-6);
    assert!((value(&dense) - value(&wide)).abs() < 1e-6);
}

/// Groups with no more rows than topics stay outside the maximum, and outside what is said of it.
#[test]
fn groups_outside_have_no_part_in_the_bound() {
    let (x, mut labels) = weyl(60, 7, 2, 0.3, 0.4);
    labels[..3].fill("few".to_owned());
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let few = data.groups().iter().position(|g| g.name == "few").unwrap();
    let of = |l: usize| if l == few { 0.0 } else { 0.9 * data.groups()[l].norm() };
    let errors: Vec<f64> = (0..3).map(of).collect();
    let mut counted = errors.clone();
    counted[few] = 1e9;
    let bound = |errors: &[f64]| global_bound(&data, 4, errors).value.unwrap();
    // Three rows of four topics lose nothing; the others lose less than nothing.
    let (all, others) = (bound(&errors), bound(&counted));
    assert!(others < all - 0.1, "nothing was tested: {others}, {all}");
    for method in [Method::standard(), Method::am()] {
        let parameters = Parameters::new(4).with(|p| {
            (p.method, p.allow_small_groups) = (method, false);
            p.baseline = Baseline::Given { errors: errors.clone() };
        });
        let model = fit(&data, &parameters, &silent).unwrap().model;
        let found = model.global_bound.value.unwrap();
        assert!(model.groups[few].outside && (found - others).abs() < 1e-6, "{found}, {others}");
        assert!(found <= model.worst_loss());
    }
}
