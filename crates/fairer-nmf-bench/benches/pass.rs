//! One iteration of standard MU (a pass and the small work of the driver) on large random data.
//!
//! `compare_pass.py` beside this file sets the same numbers against NumPy and SciPy.

// The macros of criterion make public items without a word.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fairer_nmf::{
    Baseline, Csr, Element, GroupedData, Indices, Init, Matrix, Method, Parameters, Stopping,
    Update, fit, silent,
};
use ndarray::ArrayView2;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROWS: usize = 100_000;

/// Uniform numbers (SplitMix64); what they are does not matter to the clock.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Time of a fit of so many iterations, start and first statistics included.
fn time<T: Element>(data: &GroupedData<'_, T>, rank: usize, iterations: usize) -> Duration {
    let stopping = Stopping { tolerance: 0.0, max_iterations: iterations, ..Stopping::default() };
    let parameters = Parameters {
        method: Method::Standard { update: Update::Mu },
        init: Init::Random,
        baseline: Baseline::Zero,
        stopping,
        polish: false,
        bound: false,
        n_init: 1,
        ..Parameters::new(rank)
    };
    let begin = Instant::now();
    black_box(fit(data, &parameters, &silent).expect("valid parameters"));
    begin.elapsed()
}

fn bench<T: Element>(c: &mut Criterion, name: &str, matrix: Matrix<'_, T>) {
    let data = GroupedData::one_group(matrix).expect("positive data");
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for rank in [20, 50] {
        group.bench_function(BenchmarkId::new(T::NAME, rank), |b| {
            // The difference of two fits leaves the iterations alone.
            b.iter_custom(|n| {
                let n = n as usize;
                time(&data, rank, n + 1).saturating_sub(time(&data, rank, 1))
            });
        });
    }
}

fn dense<T: Element>(c: &mut Criterion) {
    let (columns, mut state) = (1_000, 1);
    let x: Vec<T> = (0..ROWS * columns).map(|_| T::from_f64(uniform(&mut state))).collect();
    let view = ArrayView2::from_shape((ROWS, columns), &x).expect("rows × columns");
    bench(c, "dense 100000x1000", view.into());
}

fn sparse(c: &mut Criterion) {
    let (columns, per_row, mut state) = (20_000, 100, 1);
    let bin = columns / per_row;
    let starts: Vec<usize> = (0..=ROWS).map(|i| i * per_row).collect();
    let indices: Vec<i32> = (0..ROWS * per_row)
        .map(|i| ((i % per_row) * bin) as i32 + (uniform(&mut state) * bin as f64) as i32)
        .collect();
    let values: Vec<f64> = indices.iter().map(|_| uniform(&mut state)).collect();
    let csr = Csr::new(columns, &starts, Indices::I32(&indices), &values).expect("in order");
    bench(c, "csr 100000x20000 0.5%", csr.into());
}

criterion_group!(benches, dense::<f64>, dense::<f32>, sparse);
criterion_main!(benches);
