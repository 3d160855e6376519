//! Seconds of one pass over large random data, for `crates/fairer-nmf-bench/benches/compare_pass.py`.
//!
//! ```text
//! pass_time dense|csr f32|f64 rows columns rank threads [filled] [update]
//! ```
//!
//! Makes the data, prints `ready`, and then for every line on standard input the seconds of one
//! iteration of standard NMF (one pass and the small work of the driver), by the clock and of
//! processor time: the difference between a fit of several iterations and a fit of one, divided
//! by the difference in their number. On end of input it prints the peak memory beyond the data,
//! in units of W.

use fairer_nmf::data::Element;
use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::{
    Baseline, GroupedData, Init, Matrix, Method, Parameters, Stopping, Update, fit, silent,
};
use ndarray::ArrayView2;
use std::io::BufRead;
use std::time::Instant;

struct Job {
    rows: usize,
    columns: usize,
    rank: usize,
    filled: f64,
    update: Update,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args[i].parse::<usize>().expect("a whole number");
    let job = Job {
        rows: number(2),
        columns: number(3),
        rank: number(4),
        filled: args.get(6).map_or(0.005, |f| f.parse().expect("a fraction")),
        update: match args.get(7).map(String::as_str) {
            Some("hals") => Update::Hals,
            Some("nnls") => Update::Nnls,
            _ => Update::Mu,
        },
    };
    let threads = number(5);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| match (args[0].as_str(), args[1].as_str()) {
        ("dense", "f32") => dense::<f32>(&job),
        ("dense", _) => dense::<f64>(&job),
        (_, "f32") => sparse::<f32>(&job),
        _ => sparse::<f64>(&job),
    });
}

/// Uniform numbers (SplitMix64); what they are does not matter to the clock.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn dense<T: Element>(job: &Job) {
    let mut state = 1;
    let values: Vec<T> =
        (0..job.rows * job.columns).map(|_| T::from_f64(uniform(&mut state))).collect();
    let view = ArrayView2::from_shape((job.rows, job.columns), &values).expect("rows × columns");
    answer(view.into(), std::mem::size_of_val(&values[..]), job);
}

fn sparse<T: Element>(job: &Job) {
    let mut state = 1;
    let per_row = ((job.columns as f64 * job.filled).round() as usize).max(1);
    let (mut starts, mut indices, mut values) = (vec![0usize], Vec::new(), Vec::new());
    let bin = job.columns / per_row;
    for _ in 0..job.rows {
        for b in 0..per_row {
            indices.push((b * bin) as i32 + (uniform(&mut state) * bin as f64) as i32);
            values.push(T::from_f64(uniform(&mut state)));
        }
        starts.push(values.len());
    }
    let bytes = std::mem::size_of_val(&values[..]) + std::mem::size_of_val(&indices[..]);
    let csr = Csr::new(job.columns, &starts, Indices::I32(&indices), &values).expect("in order");
    answer(csr.into(), bytes, job);
}

fn answer<T: Element>(matrix: Matrix<'_, T>, bytes: usize, job: &Job) {
    let data = GroupedData::one_group(matrix).expect("positive data");
    let iterations = if job.rows * job.columns < 1_000_000 { 4_000 } else { 4 };
    let seconds = |iterations: usize| {
        let parameters = Parameters::new(job.rank).with(|p| {
            p.method = Method::Standard { update: job.update };
            p.init = Init::Random;
            p.baseline = Baseline::Zero;
            p.stopping = Stopping::default().with(|s| {
                s.tolerance = 0.0;
                s.max_iterations = iterations;
            });
            p.polish = false;
            p.bound = false;
            p.n_init = 1;
        });
        let (begin, used) = (Instant::now(), processor_time());
        fit(&data, &parameters, &silent).expect("valid parameters");
        [begin.elapsed().as_secs_f64(), processor_time() - used]
    };
    println!("ready");
    for _ in std::io::stdin().lock().lines() {
        let (many, one) = (seconds(iterations + 1), seconds(1));
        let per_iteration = |i: usize| (many[i] - one[i]) / iterations as f64;
        println!("{:e} {:e}", per_iteration(0), per_iteration(1));
    }
    let w = (job.rows * job.rank * size_of::<T>()) as f64;
    let beyond = peak() as f64 - bytes as f64;
    println!("peak memory beyond X: {:.0} MB = {:.2} W", beyond / 1e6, beyond / w);
}

/// Processor time of all threads of this process in seconds (Linux; elsewhere 0).
fn processor_time() -> f64 {
    let of_thread = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks.filter_map(of_thread).sum::<f64>() * 1e-9
}

/// Peak resident memory of this process in bytes (Linux; elsewhere 0).
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.split_whitespace().next().and_then(|v| v.parse::<usize>().ok()).unwrap_or(0) * 1024
}
