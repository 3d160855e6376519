//! Laws of the statistics, which only the crate itself sees.

use super::*;
use crate::data::{AnyMatrix, Csr, Indices};
use crate::limit::Limit;
use crate::random::{Purpose, Stream};
use crate::update::Update;
use crate::{Baseline, Init, Method, Parameters, Stopping, fit, silent};
use ndarray::Array2;
use std::cell::Cell;

thread_local! {
    /// Rows of a panel and of a chunk on this thread, if not the usual ones.
    pub static PANEL: Cell<Option<usize>> = const { Cell::new(None) };
    pub static CHUNK_ROWS: Cell<Option<usize>> = const { Cell::new(None) };
}

fn random(len: usize, index: u64) -> Vec<f64> {
    let mut stream = Stream::new(1, Purpose::Spectral, index);
    (0..len).map(|_| stream.uniform()).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// The statistics and W of the given rows of `x` after one row step.
fn after(
    x: &Array2<f64>,
    rows: Vec<Vec<usize>>,
    h: &Dictionary,
    w: &[f64],
    step: RowStep,
) -> (Vec<Statistics>, Vec<f64>) {
    let data = GroupedData::one_group(x.view()).unwrap();
    let r = h.rank;
    let mut own: Vec<f64> =
        rows.iter().flatten().flat_map(|&i| w[i * r..(i + 1) * r].to_vec()).collect();
    let named = rows.into_iter().enumerate().map(|(i, rows)| (i.to_string(), rows)).collect();
    let data = data.regrouped(named).unwrap();
    let statistics = run(Table::of(&data), h, step, &mut own, &mut Workers::default());
    (statistics, own)
}

#[test]
fn statistics_add_over_blocks() {
    for (m, n, r) in [(230, 12, 9), (230, 200, 20), (150, 30, 70)] {
        let x = Array2::from_shape_vec((m, n), random(m * n, 0)).unwrap();
        let h = Dictionary { rank: r, features: n, values: random(r * n, 1) };
        let w = random(m * r, 2);
        for update in [Update::Mu, Update::Hals, Update::Nnls] {
            let step = RowStep::Update(update);
            let (whole, _) = after(&x, vec![(0..m).collect()], &h, &w, step);
            let blocks = vec![(0..7).collect(), (7..100).collect(), (100..m).collect()];
            let (parts, _) = after(&x, blocks, &h, &w, step);
            let sum = Statistics::weighted(&parts, &[1.0; 3], r, n);
            assert!(distance(&whole[0].gram, &sum.gram) < 1e-12, "{update:?} {m}x{n}");
            assert!(distance(&whole[0].cross, &sum.cross) < 1e-12, "{update:?} {m}x{n}");
            assert!((whole[0].squared_norm / sum.squared_norm - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn statistics_are_the_products_of_the_factors() {
    for (m, n, r) in [(130, 12, 9), (70, 129, 3), (90, 40, 66)] {
        let x = Array2::from_shape_vec((m, n), random(m * n, 3)).unwrap();
        let h = Dictionary { rank: r, features: n, values: random(r * n, 4) };
        let w = Array2::from_shape_vec((m, r), random(m * r, 5)).unwrap();
        let whole = vec![(0..m).collect()];
        let (s, kept) = after(&x, whole, &h, w.as_slice().unwrap(), RowStep::Keep);
        assert_eq!(kept, w.as_slice().unwrap());
        let flat = |a: Array2<f64>| a.iter().copied().collect::<Vec<_>>();
        assert!(distance(&flat(w.t().dot(&w)), &s[0].gram) < 1e-13);
        assert!(distance(&flat(x.t().dot(&w)), &s[0].cross) < 1e-13);
    }
}

#[test]
fn error_from_statistics_equals_the_direct_error() {
    for (m, n, r) in [(500, 12, 9), (300, 200, 20), (64, 7, 12)] {
        let x = Array2::from_shape_vec((m, n), random(m * n, 6)).unwrap();
        let h = Dictionary { rank: r, features: n, values: random(r * n, 7) };
        let step = RowStep::Update(Update::Mu);
        let (s, w) = after(&x, vec![(0..m).collect()], &h, &random(m * r, 8), step);
        let data = GroupedData::one_group(x.view()).unwrap();
        let direct: f64 = row_squared_errors(&data, 0, &h, &w).iter().sum();
        let w = Array2::from_shape_vec((m, r), w).unwrap();
        let residual = &x - &w.dot(&h.to_components());
        let plain: f64 = residual.iter().map(|v| v * v).sum();
        assert!((direct / plain - 1.0).abs() < 1e-12, "{direct} for {plain}");
        let found = s[0].squared_error(&h, &h.gram());
        assert!((found / plain - 1.0).abs() < 1e-10, "{found} for {plain}");
    }
}

/// Losses after 15 iterations with panels and chunks of the given rows.
fn losses_in_blocks<'a>(
    matrix: impl Into<AnyMatrix<'a>>,
    labels: &[&str],
    method: Method,
    blocks: Option<(usize, usize)>,
) -> Vec<f64> {
    let data = GroupedData::new(matrix, labels).unwrap();
    let stopping = Stopping { tolerance: 0.0, max_iterations: 15, ..Stopping::default() };
    let parameters = Parameters {
        method,
        init: Init::Random,
        baseline: Baseline::Zero,
        stopping,
        polish: false,
        bound: false,
        n_init: 1,
        ..Parameters::new(9)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        PANEL.set(blocks.map(|b| b.0));
        CHUNK_ROWS.set(blocks.map(|b| b.1));
        let fit = fit(&data, &parameters, &silent).unwrap();
        fit.model.groups.iter().map(|g| g.loss).collect()
    })
}

#[test]
fn the_size_of_blocks_does_not_matter() {
    let (m, n) = (700, 40);
    let x = Array2::from_shape_vec((m, n), random(m * n, 9)).unwrap();
    let labels: Vec<&str> = (0..m).map(|i| ["a", "b", "c"][i * i % 3]).collect();
    let starts: Vec<usize> = (0..=m).map(|i| i * n).collect();
    let indices: Vec<i32> = (0..m * n).map(|i| (i % n) as i32).collect();
    let csr = Csr::new(n, &starts, Indices::I32(&indices), x.as_slice().unwrap()).unwrap();
    let schemes =
        [Update::Mu, Update::Hals, Update::Nnls].map(|update| Method::Standard { update });
    let mu = Method::mu();
    let mut rounded_otherwise = false;
    for method in schemes.into_iter().chain([mu, Method::am()]) {
        let usual = losses_in_blocks(x.view(), &labels, method, None);
        for blocks in [(1, 1), (3, 7), (64, 64), (50, 1_000), (1_000, 130)] {
            let dense = losses_in_blocks(x.view(), &labels, method, Some(blocks));
            let sparse = losses_in_blocks(csr.clone(), &labels, method, Some(blocks));
            for (found, usual) in dense.iter().chain(&sparse).zip(usual.iter().chain(&usual)) {
                let off = (found - usual).abs();
                rounded_otherwise |= off > 0.0;
                assert!(off < 1e-10, "{method:?} in blocks of {blocks:?}: {off:e}");
            }
        }
    }
    assert!(rounded_otherwise, "the blocks were never cut otherwise");
}

/// Once the time is up rows stay as they are, and the statistics are those of these.
#[test]
fn a_pass_whose_time_is_up_keeps_the_rows_and_measures_them() {
    let (m, n, r) = (150, 30, 70);
    let x = Array2::from_shape_vec((m, n), random(m * n, 0)).unwrap();
    let h = Dictionary { rank: r, features: n, values: random(r * n, 1) };
    let w = random(m * r, 2);
    let data = GroupedData::one_group(x.view()).unwrap();
    let after = |data: &GroupedData<'_>, step| {
        let mut own = w.clone();
        (run(Table::of(data), &h, step, &mut own, &mut Workers::default()), own)
    };
    let (kept, own) = after(&data, RowStep::Keep);
    assert_eq!(own, w);
    for update in [Update::Mu, Update::Hals, Update::Nnls] {
        let (found, own) = after(&data.until(Limit::over()), RowStep::Update(update));
        assert_eq!(own, w, "{update:?}");
        assert_eq!(found, kept, "{update:?}");
        // With time, they move.
        assert_ne!(after(&data, RowStep::Update(update)).1, w, "{update:?}");
    }
}

/// A limit that is not reached changes nothing, to the last bit.
#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let x = Array2::from_shape_vec((160, 90), random(160 * 90, 0)).unwrap();
    let labels: Vec<String> = (0..160).map(|i| format!("{}", i % 3)).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for method in [Method::am(), Method::leximin(), Method::between(0.5), Method::standard()] {
        let of = |time_limit| {
            let stopping = Stopping { max_iterations: 4, time_limit, ..Stopping::default() };
            let (baseline, n_init, bound) = (Baseline::Zero, 1, false);
            // As many topics as calls look at the clock from.
            let p = Parameters { method, baseline, n_init, bound, stopping, ..Parameters::new(66) };
            fit(&data, &p, &silent).unwrap()
        };
        let (free, limited) = (of(None), of(Some(std::time::Duration::from_secs(100_000))));
        assert_eq!(free.model.components, limited.model.components, "{method:?}");
        assert_eq!(free.representation, limited.representation, "{method:?}");
        assert_eq!(free.model.step_gap, limited.model.step_gap);
    }
}
