//! Same seed, same answer: bitwise for any thread count, to rounding for any layout.

use crate::common::{OwnedCsr, fixed, history_distance, methods, noisy};
use fairer_nmf::data::AnyMatrix;
use fairer_nmf::{Baseline, Fit, GroupedData, Matrix, Method, baseline::Estimate, fit};
use fairer_nmf::{Stopping, silent};
use ndarray::{Array2, ShapeBuilder, s};

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

fn bits(fit: &Fit) -> Vec<u64> {
    let model = &fit.model;
    let groups = model.groups.iter().flat_map(|g| [g.loss, g.relative_error, g.baseline.error]);
    let history = model.history.iter().flatten().copied();
    let w = fit.representation.to_f64();
    let all = model.components.iter().copied().chain(groups).chain(history).chain(w);
    all.map(f64::to_bits).collect()
}

fn assert_same_for_any_thread_count<'a, M: Into<AnyMatrix<'a>>>(
    matrix: impl Fn() -> M,
    labels: &[&str],
    what: &str,
) {
    let data = GroupedData::new(matrix(), labels).unwrap().normalize_features().unwrap();
    for method in methods() {
        let stopping = Stopping::default().with(|s| s.max_iterations = 3);
        let estimate = Estimate::paper().with(|e| {
            e.runs = 2;
            e.stopping = stopping;
        });
        let parameters = fixed(7, method, 3).with(|p| {
            p.baseline = Baseline::Estimate(estimate);
            p.n_init = 2;
            p.polish = true;
        });
        let run = || bits(&fit(&data, &parameters, &silent).unwrap());
        let alone = on_threads(1, run);
        for threads in [2, 3] {
            assert!(alone == on_threads(threads, run), "{what}, {method:?}, {threads} threads");
        }
    }
}

#[test]
fn same_seed_gives_bitwise_the_same_model_for_any_thread_count() {
    // Large enough to be shared between threads, with chunks that are not whole panels.
    let (x, labels) = noisy(1, 4501, 70);
    let y = x.mapv(|v| v as f32);
    let (sparse_x, sparse_y) = (OwnedCsr::of(&x), OwnedCsr::of(&y));
    assert_same_for_any_thread_count(|| x.view(), &labels, "dense f64");
    assert_same_for_any_thread_count(|| y.view(), &labels, "dense f32");
    assert_same_for_any_thread_count(|| sparse_x.narrow(), &labels, "sparse f64");
    assert_same_for_any_thread_count(|| sparse_y.wide(), &labels, "sparse f32");
}

#[test]
fn the_layout_of_the_matrix_does_not_matter() {
    let (x, labels) = noisy(2, 333, 21);
    let mut column_major = Array2::zeros(x.raw_dim().f());
    column_major.assign(&x);
    let mut roomy = Array2::zeros((2 * x.nrows(), 3 * x.ncols()));
    roomy.slice_mut(s![..;2, ..;3]).assign(&x);
    let mut backwards = Array2::zeros(x.raw_dim());
    backwards.slice_mut(s![..;-1, ..;-1]).assign(&x);
    let sparse = OwnedCsr::of(&x);
    let layouts: Vec<(&str, Matrix<'_, f64>)> = vec![
        ("column-major", column_major.view().into()),
        ("strided", roomy.slice(s![..;2, ..;3]).into()),
        ("negative strides", backwards.slice(s![..;-1, ..;-1]).into()),
        ("csr i32", sparse.narrow().into()),
        ("csr i64", sparse.wide().into()),
    ];
    for method in methods() {
        let run = |matrix: Matrix<'_, f64>| {
            let data = GroupedData::new(matrix, &labels).unwrap();
            fit(&data, &fixed(5, method, 6), &silent).unwrap().model.history
        };
        let expected = run(x.view().into());
        for (name, matrix) in &layouts {
            let off = history_distance(&expected, &run(matrix.clone()));
            assert!(off < 1e-10, "{method:?}, {name}: {off:e}");
        }
    }
}

#[test]
fn wide_matrices_do_not_depend_on_the_layout_either() {
    let (x, labels) = noisy(3, 150, 400);
    let mut column_major = Array2::zeros(x.raw_dim().f());
    column_major.assign(&x);
    let sparse = OwnedCsr::of(&x);
    let run = |matrix: Matrix<'_, f64>| {
        let data = GroupedData::new(matrix, &labels).unwrap();
        fit(&data, &fixed(6, Method::mu(), 6), &silent).unwrap().model.history
    };
    let expected = run(x.view().into());
    for matrix in [column_major.view().into(), sparse.narrow().into()] {
        assert!(history_distance(&expected, &run(matrix)) < 1e-10);
    }
}

#[test]
fn row_order_does_not_matter() {
    let (x, labels) = noisy(4, 301, 15);
    let m = x.nrows();
    // 11 and 301 = 7·43 share no factor: a permutation.
    let order: Vec<usize> = (0..m).map(|i| (11 * i + 5) % m).collect();
    let y = Array2::from_shape_fn(x.dim(), |(i, j)| x[[order[i], j]]);
    let y_labels: Vec<&str> = order.iter().map(|&i| labels[i]).collect();
    let keys: Vec<u64> = order.iter().map(|&i| i as u64).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let permuted = GroupedData::new(y.view(), &y_labels).unwrap().with_row_keys(keys).unwrap();
    for method in methods() {
        let parameters = fixed(4, method, 8);
        let a = fit(&data, &parameters, &silent).unwrap();
        let b = fit(&permuted, &parameters, &silent).unwrap();
        assert!(history_distance(&a.model.history, &b.model.history) < 1e-10, "{method:?}");
        let h = crate::common::distance(&a.model.components, &b.model.components);
        assert!(h < 1e-9, "{method:?}: H {h:e}");
        let w = Array2::from_shape_fn((m, 4), |(i, k)| a.representation.to_f64()[[order[i], k]]);
        let w = crate::common::distance(&w, &b.representation.to_f64());
        assert!(w < 1e-9, "{method:?}: W {w:e}");
    }
}
