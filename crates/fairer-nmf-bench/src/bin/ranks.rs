//! The study behind `--rank auto` (docs/ranks.md): planted ranks, and the paper's synthetic data.
//!
//! `cargo run --release -p fairer-nmf-bench --features studies --bin ranks -- 20` prints the tables for 20 seeds a cell.

use fairer_nmf::audit::rank::{RankOptions, choose};
use fairer_nmf::{GroupedData, silent, synthetic};
use ndarray::Array2;

/// The rank that is found, and what its topics' stability is.
fn found(x: &Array2<f64>, labels: &[&str], seed: u64) -> (usize, f64) {
    let data = GroupedData::new(x.view(), labels).expect("synthetic data are valid");
    let options = RankOptions::default().with(|o| o.seed = seed);
    let report = choose(&data, &options, &silent).expect("there are enough rows and features");
    let point = report.points.iter().find(|p| p.rank == report.rank).expect("it was tried");
    (report.rank, point.stability)
}

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(20);
    println!("| noise | planted | found exactly | within ±1 | mean found | stability |");
    println!("|---|---|---|---|---|---|");
    for noise in [0.1, 0.3, 0.5] {
        for rank in [2, 3, 4, 6, 8] {
            let runs: Vec<(usize, f64)> = (0..seeds)
                .map(|seed| {
                    let (x, labels) = synthetic::planted(1000 + seed, rank, noise);
                    found(&x, &labels, seed)
                })
                .collect();
            let share = |hit: &dyn Fn(usize) -> bool| {
                let hits = runs.iter().filter(|(r, _)| hit(*r)).count();
                100.0 * hits as f64 / runs.len() as f64
            };
            let mean = |of: &dyn Fn(&(usize, f64)) -> f64| {
                runs.iter().map(of).sum::<f64>() / runs.len() as f64
            };
            println!(
                "| {noise} | {rank} | {:.0} % | {:.0} % | {:.2} | {:.3} |",
                share(&|r| r == rank),
                share(&|r| r.abs_diff(rank) <= 1),
                mean(&|r| r.0 as f64),
                mean(&|r| r.1),
            );
        }
    }
    println!("\n| data | ranks found |\n|---|---|");
    type Draw = fn(u64) -> (Array2<f64>, Vec<&'static str>);
    for (name, draw) in
        [("synthetic 1", synthetic::first as Draw), ("synthetic 2", synthetic::second)]
    {
        let ranks: Vec<String> = (0..seeds.min(10))
            .map(|seed| {
                let (x, labels) = draw(seed);
                found(&x, &labels, seed).0.to_string()
            })
            .collect();
        println!("| {name} | {} |", ranks.join(", "));
    }
}
