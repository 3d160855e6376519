//! What the bound takes beside the default fit that it is a bound for.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin bound -- SHARED [THREADS]
//!
//! SHARED is the folder with the paper's data sets: 20 Newsgroups at three ranks. The other data are planted, four groups that
//! share most of their topics. Baselines are given; the bound is that of the same baselines.

use fairer_nmf::bound::global_bound;
use fairer_nmf::{Baseline, GroupedData, Parameters, fit, silent};
use fairer_nmf_bench::paper::{self, Failure};
use ndarray::Array2;
use std::time::Instant;

/// Rows, features, rank of planted data.
const PLANTED: [(usize, usize, usize); 3] =
    [(1_500, 5_000, 6), (20_000, 500, 20), (50_000, 2_000, 20)];

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let shared = arguments.next().ok_or("give the folder with the paper's data sets")?;
    let threads = arguments.next().map_or(Ok(2), |t| t.parse())?;
    println!(
        "{threads} threads\n\n| data | rank | fit, s | bound, s | bound / fit | bound | worst |"
    );
    println!("|---|---|---|---|---|---|---|");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| {
        let set = paper::SETS.iter().find(|s| s.name == "20n").ok_or("no such set")?;
        let dataset = set.read(&shared)?;
        for rank in [5, 10, 20] {
            row("20 Newsgroups, 1,500 × 200", &paper::grouped(&dataset)?, rank)?;
        }
        for (rows, features, rank) in PLANTED {
            let x = planted(rows, features, rank);
            let labels: Vec<String> = (0..rows).map(|i| (i % 4).to_string()).collect();
            let name = format!("planted, {rows} × {features}");
            row(&name, &GroupedData::new(x.view(), &labels)?, rank)?;
        }
        Ok(())
    })
}

fn row(name: &str, data: &GroupedData<'_>, rank: usize) -> Result<(), Failure> {
    let data = &data.clone().normalize_features()?;
    // A little less than standard NMF leaves, as baselines of their own are.
    let standard = Parameters::new(rank).with(|p| {
        (p.method, p.baseline, p.bound) = (fairer_nmf::Method::standard(), Baseline::Zero, false);
    });
    let groups = fit(data, &standard, &silent)?.model.groups;
    let errors: Vec<f64> = groups.iter().map(|g| 0.95 * g.relative_error * g.norm).collect();
    let asked = Parameters::new(rank).with(|p| {
        (p.baseline, p.bound) = (Baseline::Given { errors: errors.clone() }, false);
    });
    let found = fit(data, &asked, &silent)?;
    let begin = Instant::now();
    let bound = global_bound(data, rank, &errors);
    let (own, fitted) = (begin.elapsed().as_secs_f64(), found.fit_time.as_secs_f64());
    let value = bound.value.map_or_else(|| "none".to_owned(), |v| format!("{v:.4}"));
    println!(
        "| {name} | {rank} | {fitted:.2} | {own:.2} | {:.2} | {value} | {:.4} |",
        own / fitted,
        found.model.worst_loss()
    );
    Ok(())
}

/// Topics of a tenth of the features each, three in a row; one of four is a group's own.
fn planted(rows: usize, features: usize, rank: usize) -> Array2<f64> {
    let weyl = |at: usize| (at as f64 * 0.754_877_666_246_692_7).fract();
    let topics = rank + 4;
    let topic = |k: usize, j: usize| weyl(k * features + j).powi(6);
    let h = Array2::from_shape_fn((topics, features), |(k, j)| topic(k, j));
    let mut w = Array2::zeros((rows, topics));
    for (i, mut row) in w.rows_mut().into_iter().enumerate() {
        for k in 0..3 {
            row[(weyl(7 * i + k) * rank as f64) as usize] += weyl(1_000_000 + 5 * i + k);
        }
        row[rank + i % 4] += weyl(2_000_000 + 3 * i);
    }
    let mut x: Array2<f64> = w.dot(&h);
    for (at, value) in x.iter_mut().enumerate() {
        *value *= 0.8 + 0.4 * weyl(3_000_000 + at);
    }
    x
}
