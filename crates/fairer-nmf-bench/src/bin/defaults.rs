//! Which criterion a fit has by default (docs/calibration.md): what chance does to it, and whom it helps.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin defaults -- [DATA_SETS] [heart_disease.csv] [CRITERION]
//!
//! *Chance*: labels at random, one group of 8 rows or twenty of them; how often is the total error of
//! Fairer-NMF within 1 % of standard NMF's, and how far above is it at most? *Planted*: the first group has a topic of its own;
//! by how much does its excess (loss less that of random groups of its size) fall?

use fairer_nmf::audit::chance_losses;
use fairer_nmf::{
    Baseline, GroupedData, Method, Model, Parameters, baseline::Estimate, fit, silent,
};
use fairer_nmf_bench::calibration::heart::{heart, shuffled};
use fairer_nmf_bench::calibration::populations::{Population, draw};
use ndarray::Array2;

const KINDS: [&str; 4] = ["adjusted", "best", "held-out", "paper"];

/// The criteria that are looked at.
type Kinds = [&'static str];

/// Rows of a group of which hardly anything can be said, and many such groups.
const SMALL: usize = 8;
const MANY: usize = 20;

/// `tiny` small groups and the others.
fn beside(tiny: usize, others: &[usize]) -> Vec<usize> {
    [vec![SMALL; tiny], others.to_vec()].concat()
}

fn baseline(kind: &str) -> Baseline {
    match kind {
        "adjusted" => Baseline::adjusted(),
        "best" => Baseline::Estimate(Estimate::best()),
        "held-out" => Baseline::HeldOut { folds: Baseline::FOLDS, runs: 2 },
        _ => Baseline::Estimate(Estimate::paper()),
    }
}

fn fitted(data: &GroupedData<'_>, rank: usize, method: Method, baseline: Baseline) -> Model {
    let careful = Parameters::careful(rank).with(|p| {
        p.method = method;
        p.baseline = baseline;
        p.bound = false;
    });
    fit(data, &careful, &silent).expect("data that can be fitted").model
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sets: usize = arguments.first().map_or(20, |v| v.parse().expect("a number of data sets"));
    let asked = |kind: &&str| arguments.get(2).is_none_or(|asked| asked == kind);
    let kinds: Vec<&'static str> = KINDS.into_iter().filter(asked).collect();
    println!("| data | rank | groups | {} |", kinds.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(kinds.len()));
    if let Some(path) = arguments.get(1) {
        let x = heart(path);
        let tiny = |tiny: usize| beside(tiny, &[60, x.nrows() - 60 - SMALL * tiny]);
        let twenty = |groups: usize| [vec![20; groups], vec![x.nrows() - 20 * groups]].concat();
        for sizes in [tiny(1), tiny(MANY), twenty(10), twenty(5)] {
            chance(&kinds, ("Heart Disease, random labels", 5), &sizes, sets, |s| {
                shuffled(&x, 900 + s)
            });
        }
    }
    for (kind, rank, tiny) in
        [("alike", 3, 1), ("alike", 5, 1), ("alike", 5, MANY), ("heavy", 3, 1), ("text", 3, 1)]
    {
        let sizes = beside(tiny, &[90, 150]);
        let population = Population::new(kind, sizes.len(), rank, 0.0, 1);
        chance(&kinds, (kind, rank), &sizes, sets, |s| draw(&population, &sizes, 500 + s).0);
    }
    println!();
    println!("| data | rows | excess under standard NMF | {} |", kinds.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(kinds.len()));
    for (kind, strength) in [("planted", 0.4), ("planted-text", 0.8)] {
        for rows in [12, 30, 100] {
            planted(&kinds, (kind, strength), rows, sets.div_ceil(2));
        }
    }
}

/// Groups of the sizes under each other; labels that mean nothing.
fn chance(
    kinds: &Kinds,
    (name, rank): (&str, usize),
    sizes: &[usize],
    sets: usize,
    rows: impl Fn(u64) -> Array2<f64>,
) {
    let mut found = vec![Vec::new(); kinds.len()];
    for s in 0..sets {
        let x = rows(s as u64);
        let labels = labels(sizes);
        let data = GroupedData::new(x.view(), &labels).expect("groups of rows");
        let standard = fitted(&data, rank, Method::standard(), Baseline::Zero).total_error();
        for (k, kind) in kinds.iter().enumerate() {
            let fairer = fitted(&data, rank, Method::am(), baseline(kind));
            found[k].push(fairer.total_error() / standard - 1.0);
        }
    }
    let cell = |rises: &Vec<f64>| {
        let within = rises.iter().filter(|r| **r <= 0.01).count();
        let most = rises.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{within} of {sets}, at most {:+.1} %", 100.0 * most)
    };
    let cells: Vec<String> = found.iter().map(cell).collect();
    println!("| {name} | {rank} | {} | {} |", listed(sizes), cells.join(" | "));
}

/// The first group, of `m` rows, has a topic of its own.
fn planted(kinds: &Kinds, (kind, strength): (&str, f64), m: usize, sets: usize) {
    let rank = 3;
    let population = Population::new(kind, 3, rank, strength, 1);
    let (mut before, mut after) = (0.0, vec![0.0; kinds.len()]);
    for s in 0..sets {
        let sizes = [m, 100, 150];
        let (x, _) = draw(&population, &sizes, 700 + s as u64);
        let labels = labels(&sizes);
        let data = GroupedData::new(x.view(), &labels).expect("groups of rows");
        let standard =
            fitted(&data, rank, Method::standard(), Baseline::Estimate(Estimate::best()));
        let c = chance_losses(&data, standard.components.view(), 20, s as u64, &silent)
            .expect("random groups")[0];
        let own = standard.groups[0].baseline.error / standard.groups[0].norm;
        before += (standard.groups[0].relative_error - own - c) / sets as f64;
        for (k, kind) in kinds.iter().enumerate() {
            let fairer = fitted(&data, rank, Method::am(), baseline(kind));
            after[k] += (fairer.groups[0].relative_error - own - c) / sets as f64;
        }
    }
    let cells: Vec<String> =
        after.iter().map(|a| format!("{a:+.4} (falls by {:.4})", before - a)).collect();
    println!("| {kind} {strength} | {m} | {before:+.4} | {} |", cells.join(" | "));
}

fn labels(sizes: &[usize]) -> Vec<String> {
    sizes.iter().enumerate().flat_map(|(g, &m)| vec![format!("group {g}"); m]).collect()
}

fn listed(sizes: &[usize]) -> String {
    let count = |size: usize| sizes.iter().filter(|s| **s == size).count();
    let name = |size: usize| match count(size) {
        1 => size.to_string(),
        many => format!("{many} × {size}"),
    };
    let mut names: Vec<String> = sizes.iter().map(|&size| name(size)).collect();
    names.dedup();
    names.join(", ")
}
