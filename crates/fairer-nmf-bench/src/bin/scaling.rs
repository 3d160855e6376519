//! How the cost of a fit grows with the rows, in memory and on disk, and a generator of large data.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin scaling -- make FILE.npy ROWS FEATURES
//!     cargo run --release -p fairer-nmf-bench --features studies --bin scaling -- measure FOLDER [ROWS] [FEATURES] [RANK]
//!
//! `make` writes 32-bit floats near a factorisation of rank 8 in four groups, row by row, and
//! FILE.npy.txt with the group of every row. `measure` takes ROWS/100, ROWS/10 and ROWS rows and prints
//! the time of an iteration of the AM scheme (exact rows) over the rows, in memory and from the file with a
//! third of its size as budget (of every iteration the shortest of several fits, the sizes in turns), and their ratios: of the
//! iterations of a fit after its first, and after its beginning. The
//! file is written before, so that it is in the page cache where that is large enough. docs/scaling.md has what came out.

use fairer_nmf::fit::fit_rows;
use fairer_nmf::rows::FeatureScaling;
use fairer_nmf::{Baseline, GroupedData, Init, Observer, Parameters, Progress, Stopping, fit};
use fairer_nmf_bench::paper::Failure;
use fairer_nmf_io::{
    DenseView, GroupsSource, InputLimit, Matrix, Precision, ReadOptions, open_shards, read,
    read_groups,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Iterations of a fit, and how many its beginning has: topics of a random start are the more alike the more rows there are, so that
/// rows cost more pivots at first.
const MANY: usize = 100;
const BEGINNING: usize = 30;
const REPEATS: usize = 3;
const TOPICS: usize = 8;
const GROUPS: [&str; 4] = ["north", "east", "south", "west"];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: usize| match arguments.get(at) {
        Some(text) => text.parse().map_err(Failure::from),
        None => Ok(otherwise),
    };
    match arguments.first().map(String::as_str) {
        Some("make") => {
            let path = arguments.get(1).ok_or("give the file to write")?;
            make(path, number(2, 100_000)?, number(3, 500)?)
        }
        Some("measure") => {
            let folder = arguments.get(1).ok_or("give a folder to write to")?;
            measure(folder, number(2, 1_000_000)?, number(3, 100)?, number(4, 20)?)
        }
        _ => Err("the first argument is `make` or `measure`".into()),
    }
}

/// SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn uniform(a: usize, b: usize, purpose: u64) -> f32 {
    (mix(mix(a as u64 ^ (purpose << 56)) ^ b as u64) >> 40) as f32 / (1u64 << 24) as f32
}

fn make(path: &str, rows: usize, features: usize) -> Result<(), Failure> {
    let topics: Vec<Vec<f32>> =
        (0..TOPICS).map(|k| (0..features).map(|j| uniform(k, j, 1).powi(4)).collect()).collect();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut labels = BufWriter::new(File::create(format!("{path}.txt"))?);
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {features}), }}\n");
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    let mut line = vec![0.0_f32; features];
    for row in 0..rows {
        let group = (uniform(row, 0, 2) * GROUPS.len() as f32) as usize % GROUPS.len();
        writeln!(labels, "{}", GROUPS[group])?;
        for (j, entry) in line.iter_mut().enumerate() {
            *entry = 0.2 * uniform(row, j, 3);
        }
        for (k, topic) in topics.iter().enumerate() {
            // Every group has topics of its own beside those of all.
            let weight = if k % GROUPS.len() == group || k < 3 { uniform(row, k, 4) } else { 0.0 };
            line.iter_mut().zip(topic).for_each(|(entry, t)| *entry += weight * t);
        }
        for entry in &line {
            out.write_all(&entry.to_le_bytes())?;
        }
    }
    out.flush()?;
    Ok(labels.flush()?)
}

/// Seconds of every iteration after the first, the lowest of the repeats of each: iterations differ in what they
/// have to do, and a machine is busy for some of them only.
struct Taken(Vec<f64>);

impl Taken {
    fn none() -> Self {
        Self(vec![f64::INFINITY; MANY - 1])
    }

    /// One fit more, which is given an observer to tell of its iterations.
    fn again(
        &mut self,
        run: impl FnOnce(&Observer<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let ends = Mutex::new(vec![None; MANY + 1]);
        run(&|progress: &Progress<'_>| {
            if let Progress::Iteration { iteration, .. } = progress {
                let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
                ends[*iteration] = Some(Instant::now());
            }
            ControlFlow::Continue(())
        })?;
        let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (kept, two) in self.0.iter_mut().zip(ends[1..].windows(2)) {
            if let [Some(begin), Some(end)] = two {
                *kept = kept.min((*end - *begin).as_secs_f64());
            }
        }
        Ok(())
    }

    /// Nanoseconds a row and iteration, after the first so many.
    fn per_row(&self, rows: usize, after: usize) -> f64 {
        let counted = &self.0[after..];
        1e9 * counted.iter().sum::<f64>() / (rows * counted.len()) as f64
    }
}

/// What a number of rows costs.
struct Cost {
    rows: usize,
    memory: Taken,
    disk: Taken,
    reads: usize,
    apart: f64,
}

fn measure(folder: &str, most: usize, features: usize, rank: usize) -> Result<(), Failure> {
    let parameters = Parameters::new(rank).with(|p| {
        p.init = Init::Random;
        p.n_init = 1;
        p.baseline = Baseline::Zero;
        p.bound = false;
        p.stopping = Stopping::default().with(|s| {
            s.tolerance = 0.0;
            s.max_iterations = MANY;
        });
    });
    let mut costs: Vec<Cost> = [most / 100, most / 10, most]
        .map(|rows| Cost { rows, memory: Taken::none(), disk: Taken::none(), reads: 0, apart: 0.0 })
        .into();
    for cost in &costs {
        make(&path(folder, cost.rows), cost.rows, features)?;
    }
    // The sizes take turns, so that a busy machine is busy for all of them; small ones more often.
    for _ in 0..REPEATS {
        for cost in &mut costs {
            let path = path(folder, cost.rows);
            let labels: GroupsSource = format!("{path}.txt").parse()?;
            let groups = || read_groups(&labels, "--groups", InputLimit::default());
            let codes = groups()?;
            let each: Vec<&str> =
                codes.codes.iter().map(|&code| codes.names[code as usize].as_str()).collect();
            let options = ReadOptions::default().with(|o| o.groups = Some(labels.clone()));
            let dataset = read(&path, &options)?;
            let Matrix::Dense(dense) = &dataset.matrix else { return Err("not dense".into()) };
            let DenseView::F32(view) = dense.view() else { return Err("not f32".into()) };
            let copy = view.to_owned();
            let data = GroupedData::new(copy.view(), &each)?.normalize_features()?;
            let budget = (4 * cost.rows * features / 3).max(16 << 20);
            for _ in 0..(most / cost.rows).isqrt() {
                let mut own = 0.0;
                cost.memory.again(|observer| {
                    own = fit(&data, &parameters, observer)?.model.worst_loss();
                    Ok(())
                })?;
                cost.disk.again(|observer| {
                    let limit = InputLimit::default();
                    let shards =
                        open_shards(std::slice::from_ref(&path), budget, Precision::Stored, limit)?;
                    let held = shards.hold(groups()?, &FeatureScaling::Unit, budget)?;
                    let found = fit_rows(&*held, &parameters, observer)?;
                    cost.reads = held.reads();
                    cost.apart = (own - found.model.worst_loss()).abs();
                    Ok(())
                })?;
            }
        }
    }
    show(&costs, 0);
    show(&costs, BEGINNING);
    Ok(())
}

fn show(costs: &[Cost], after: usize) {
    println!(
        "| rows, iterations {} to {MANY} | in memory, ns a row and iteration | of the least | on disk | of the least | disk over memory | reads | worst loss differs by |",
        after + 2
    );
    println!("|---|---|---|---|---|---|---|---|");
    let least = |of: fn(&Cost) -> &Taken| {
        costs.iter().map(|c| of(c).per_row(c.rows, after)).fold(f64::INFINITY, f64::min)
    };
    let (memory, disk) = (least(|c| &c.memory), least(|c| &c.disk));
    for c in costs {
        let (here, there) = (c.memory.per_row(c.rows, after), c.disk.per_row(c.rows, after));
        println!(
            "| {} | {here:.0} | {:.2} | {there:.0} | {:.2} | {:.2} | {} | {:.1e} |",
            c.rows,
            here / memory,
            there / disk,
            there / here,
            c.reads,
            c.apart
        );
    }
}

fn path(folder: &str, rows: usize) -> String {
    Path::new(folder).join(format!("{rows}.npy")).display().to_string()
}
