//! Speed of the exact dictionary step against the cone solver, side by side, cold starts.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin step

use fairer_nmf::{GroupedData, rows::Statistics, rows::group_statistics, weights::min_max_step};
use fairer_nmf_bench::cone_step;
use ndarray::Array2;
use std::time::Instant;

fn main() {
    println!("r   n    L   ours (s)    solves  gap      cone (s)   iterations  ratio  difference");
    for (r, n, groups, rows) in [(20, 200, 6, 250), (5, 13, 2, 150), (10, 13, 2, 150)] {
        let (statistics, baselines) = problem(r, n, groups, rows);
        let start = Array2::from_elem((r, n), 0.5);
        let ours = || min_max_step(&statistics, &baselines, start.view(), 1e-6).expect("it fits");
        let (mut best, mut cone_best) = (f64::INFINITY, f64::INFINITY);
        let (mut step, mut cone) = (None, None);
        // Interleaved, so that a busy moment of the machine hits both.
        for _ in 0..3 {
            for _ in 0..5 {
                let begin = Instant::now();
                step = Some(ours());
                best = best.min(begin.elapsed().as_secs_f64());
            }
            let begin = Instant::now();
            cone = Some(cone_step(&statistics, &baselines));
            cone_best = cone_best.min(begin.elapsed().as_secs_f64());
        }
        let (Some(step), Some(cone)) = (step, cone) else { continue };
        println!(
            "{r:<3} {n:<4} {groups:<3} {best:<11.6} {:<7} {:<8.1e} {cone_best:<10.5} {:<11} {:<6.0} {:.1e}",
            step.solves,
            step.upper - step.lower,
            cone.iterations,
            cone_best / best,
            (step.upper - cone.value).abs() / cone.value.abs(),
        );
    }
}

/// Groups with dictionaries of their own, seen through one random W.
fn problem(r: usize, n: usize, groups: usize, rows: usize) -> (Vec<Statistics>, Vec<f64>) {
    let mut state = 88_172_645_463_325_252u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let m = rows * groups;
    let dictionaries: Vec<Array2<f64>> = (0..groups)
        .map(|_| Array2::from_shape_fn((r, n), |_| (uniform() - 0.6).max(0.0)))
        .collect();
    let w = Array2::from_shape_fn((m, r), |_| (uniform() - 0.3).max(0.0));
    let x = Array2::from_shape_fn((m, n), |(i, j)| {
        let h = &dictionaries[i / rows];
        let fit: f64 = (0..r).map(|k| w[(i, k)] * h[(k, j)]).sum();
        fit + 0.3 * uniform() * (1 + i / rows) as f64
    });
    let codes: Vec<usize> = (0..m).map(|i| i / rows).collect();
    let names = (0..groups).map(|l| l.to_string()).collect();
    let data = GroupedData::with_codes(x.view(), names, &codes).expect("valid by construction");
    let statistics = group_statistics(&data, w.view()).expect("the shapes fit");
    let baselines = statistics.iter().map(|s| 0.1 * s.squared_norm().sqrt()).collect();
    (statistics, baselines)
}
