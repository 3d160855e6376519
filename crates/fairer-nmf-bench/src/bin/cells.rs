//! Quality and speed on the paper's 45 cells (4 data sets × their ranks), beside the authors'.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin cells -- SHARED [SEEDS] [PYTHON]
//!
//! prints the table of docs/cells.md; what is said above the table there is written by hand. SHARED is the folder with the paper's data sets; PYTHON, an interpreter with NumPy, adds the time
//! of a plain NumPy transcription of the paper's MU scheme (references/paper_mu.py), measured in
//! the same run on one thread.

use fairer_nmf::{GroupedData, Init, Parameters, Stopping, fit, silent, stopping::Change};
use fairer_nmf_bench::paper::{self, Failure};
use std::collections::HashMap;
use std::process::Command;

/// The authors' mean and standard deviation of the worst loss, by (data set, method, rank).
type Authors = HashMap<(String, String, usize), (f64, f64)>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let shared = arguments.next().ok_or("give the folder with the paper's data sets")?;
    let seeds: u64 = arguments.next().map_or(Ok(10), |s| s.parse())?;
    let python = arguments.next();
    let authors = authors()?;
    println!("{HEADER}");
    // One thread: the times are those of one core.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for set in &paper::SETS {
            let dataset = set.read(&shared)?;
            let data = paper::grouped(&dataset)?;
            for rank in 1..=set.ranks {
                let numpy = python.as_deref().map(|p| numpy_seconds(p, set.name, rank));
                let numpy = numpy.transpose()?;
                row(set.name, &data, rank, seeds, &authors, numpy)?;
            }
        }
        Ok(())
    })
}

const HEADER: &str = "\
| set | rank | authors AM | authors MU | ours, paper's start | ours, default | bound | s, paper's start (baselines + fit) | s, default fit | NumPy MU, s |
|---|---|---|---|---|---|---|---|---|---|";

fn row(
    name: &str,
    data: &GroupedData<'_>,
    rank: usize,
    seeds: u64,
    authors: &Authors,
    numpy: Option<f64>,
) -> Result<(), Failure> {
    let (mut paper, mut default, mut bound) = (vec![], vec![], vec![]);
    let (mut seconds, mut default_seconds) = (0.0, 0.0);
    for seed in 0..seeds {
        let start = fit(data, &papers_start(rank, seed), &silent)?;
        seconds += (start.baseline_time + start.fit_time).as_secs_f64();
        paper.push(start.model.worst_loss());
        let ours = fit(data, &Parameters::new(rank).with(|p| p.seed = seed), &silent)?;
        default_seconds += ours.fit_time.as_secs_f64();
        default.push(ours.model.worst_loss());
        bound.extend(ours.model.global_bound.value);
    }
    let of = |method: &str| {
        let key = (name.to_owned(), method.to_owned(), rank);
        let (mean, sd) = authors.get(&key).copied().unwrap_or((f64::NAN, f64::NAN));
        format!("{mean:.5} ± {sd:.5}")
    };
    let count = seeds as f64;
    println!(
        "| {name} | {rank} | {} | {} | {} | {} | {:.5} | {:.3} | {:.3} | {} |",
        of("fairer_am"),
        of("fairer_mu"),
        spread(&paper),
        spread(&default),
        bound.iter().sum::<f64>() / bound.len().max(1) as f64,
        seconds / count,
        default_seconds / count,
        numpy.map_or("–".to_owned(), |s| format!("{s:.3}")),
    );
    Ok(())
}

/// A single random start, and the stopping rule that fits the authors' arrays.
fn papers_start(rank: usize, seed: u64) -> Parameters {
    let stopping = Stopping::default().with(|s| {
        s.change = Change::Loss;
        s.loss_below = Some(1e-3);
    });
    Parameters::new(rank).with(|p| {
        p.init = Init::Random;
        p.n_init = 1;
        p.stopping = stopping;
        p.bound = false;
        p.seed = seed;
    })
}

fn spread(values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    format!("{mean:.5} ± {:.5}", (squares / (count - 1.0).max(1.0)).sqrt())
}

fn authors() -> Result<Authors, Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../references/paper_cells.csv");
    let mut cells = Authors::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        if let [dataset, method, "worst_loss", _, rank, mean, sd, _] = fields[..] {
            let key = (dataset.to_owned(), method.to_owned(), rank.parse()?);
            cells.insert(key, (mean.parse()?, sd.parse()?));
        }
    }
    Ok(cells)
}

/// Seconds of the NumPy transcription, baselines included, for one seed.
fn numpy_seconds(python: &str, name: &str, rank: usize) -> Result<f64, Failure> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../references/time_mu.py");
    let output = Command::new(python)
        .args([script, name, &rank.to_string()])
        .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
