//! How close the default fit comes to the best worst loss ever found, from every seed.
//!
//!     .venv/bin/python references/export_starts.py target/starts
//!     cargo run --release -p fairer-nmf-bench --features studies --bin starts -- SHARED target/starts [SEEDS] [OTHERS] [ONLY] [RANK] [N_INIT]
//!
//! SHARED is the folder with the paper's data sets. For every set and rank the baselines are estimated
//! once and given to all fits. *Best* is the least worst loss of all fits of the row: the default and
//! the former default (random restarts, not finished) from SEEDS (`6`, or a range, `32..64`), and OTHERS single starts that are
//! finished. *Off*: how many seeds of the default end above the best by more than 0.1 % and 10⁻⁵. ONLY: a set's name, RANK one of its ranks; N_INIT in
//! place of the default's. One thread.

use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::{Baseline, GroupedData, Init, Parameters, fit, fit::estimate_baselines, silent};
use fairer_nmf_bench::paper::{self, Failure};
use ndarray::Array2;
use std::ops::Range;

/// What the command asks for.
struct Asked {
    seeds: Range<u64>,
    others: u64,
    only_rank: Option<usize>,
    n_init: Option<usize>,
}

const HEADER: &str = "\
| set | rank | best | default, mean above best | default, most above best | off | former default, mean above | former, most | s | s, former |
|---|---|---|---|---|---|---|---|---|---|";

/// What a seed may end above the best by: a share of it, or that much.
const MET: (f64, f64) = (1e-3, 1e-5);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shared, folder, rest @ ..] = &arguments[..] else {
        return Err(
            "give the folder with the paper's data sets and that of the exported ones".into()
        );
    };
    let number = |at: usize, default: u64| rest.get(at).map_or(Ok(default), |v| v.parse());
    let seeds = seeds(rest.first().map_or("5", String::as_str))?;
    let others = number(1, 20)?;
    let wanted = |name: &str| rest.get(2).is_none_or(|only| only == name);
    let only_rank = rest.get(3).map(|rank| rank.parse()).transpose()?;
    let n_init = rest.get(4).map(|n| n.parse()).transpose()?;
    let asked = Asked { seeds, others, only_rank, n_init };
    println!("{HEADER}");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for (name, ranks) in [("hd", &[2, 4, 8][..]), ("20n", &[5, 10, 20])] {
            if wanted(name) {
                let set = paper::SETS.iter().find(|s| s.name == name).ok_or("no such set")?;
                let dataset = set.read(shared)?;
                rows(name, &paper::grouped(&dataset)?, ranks, &asked)?;
            }
        }
        for (name, ranks) in
            [("wine", &[2, 5, 10][..]), ("cancer", &[4, 10]), ("digits", &[10, 20, 30])]
        {
            if wanted(name) {
                let (x, labels) = table(&format!("{folder}/{name}.csv"))?;
                rows(name, &GroupedData::new(x.view(), &labels)?, ranks, &asked)?;
            }
        }
        for (name, groups, salt) in [("planted 4", 4, 1), ("planted 6", 6, 2)] {
            if wanted(name) {
                let (x, labels) = planted(groups, salt);
                rows(name, &GroupedData::new(x.view(), &labels)?, &[6, 12], &asked)?;
            }
        }
        Ok(())
    })
}

/// As many from 0 on, or those of a range.
fn seeds(given: &str) -> Result<Range<u64>, Failure> {
    Ok(match given.split_once("..") {
        Some((first, end)) => first.parse()?..end.parse()?,
        None => 0..given.parse()?,
    })
}

/// The class and the features of every row.
fn table(path: &str) -> Result<(Array2<f64>, Vec<String>), Failure> {
    let text = std::fs::read_to_string(path)?;
    let mut labels = Vec::new();
    let mut values = Vec::new();
    for line in text.lines() {
        let (label, rest) = line.split_once(',').ok_or("a row without features")?;
        labels.push(label.to_owned());
        for value in rest.split(',') {
            values.push(value.parse::<f64>()?);
        }
    }
    Ok((Array2::from_shape_vec((labels.len(), values.len() / labels.len()), values)?, labels))
}

/// Twelve shared topics and two more of every group, three and one of which make a row.
fn planted(groups: usize, salt: usize) -> (Array2<f64>, Vec<String>) {
    let weyl = |at: usize| ((at + 7919 * salt) as f64 * 0.754_877_666_246_692_7).fract();
    let (m, n, shared) = (400, 60, 12);
    let topic = |k: usize, j: usize| weyl(k * n + j).powi(6);
    let x = Array2::from_shape_fn((m, n), |(i, j)| {
        let pick = |k: usize| (weyl(100_000 + 5 * i + k) * shared as f64) as usize;
        let weight = |k: usize| weyl(200_000 + 4 * i + k);
        let own = shared + 2 * (i % groups) + (i / groups) % 2;
        let noise = 0.9 + 0.2 * weyl(300_000 + i * n + j);
        let common: f64 = (0..3).map(|k| weight(k) * topic(pick(k), j)).sum();
        (common + weight(3) * topic(own, j)) * noise
    });
    (x, (0..m).map(|i| (i % groups).to_string()).collect())
}

fn rows(name: &str, data: &GroupedData<'_>, ranks: &[usize], asked: &Asked) -> Result<(), Failure> {
    let Asked { seeds, others, only_rank, n_init } = asked;
    let data = &data.clone().normalize_features()?;
    for &rank in ranks.iter().filter(|rank| only_rank.is_none_or(|only| only == **rank)) {
        let defaults = Parameters::new(rank).with(|p| p.bound = false);
        let found = estimate_baselines(data, rank, &defaults.baseline, 0, &silent)?;
        let errors = GroupBaseline::errors(&found);
        let defaults = defaults.with(|p| p.baseline = Baseline::Given { errors });
        let former = defaults.clone().with(|p| p.init = Init::Random);
        let single = defaults.clone().with(|p| p.n_init = 1);
        let ours = defaults.clone().with(|p| p.n_init = n_init.unwrap_or(p.n_init));
        let run = |parameters: &Parameters, seeds: Range<u64>| {
            let mut seconds = 0.0;
            let mut values = Vec::new();
            for seed in seeds {
                let found = fit(data, &parameters.clone().with(|p| p.seed = seed), &silent)?;
                seconds += found.fit_time.as_secs_f64();
                values.push(found.model.worst_loss());
            }
            Ok::<_, Failure>((seconds / values.len().max(1) as f64, values))
        };
        let (seconds, ours) = run(&ours, seeds.clone())?;
        let (former_seconds, theirs) = run(&former, seeds.clone())?;
        let (_, singles) = run(&single, 1000..1000 + *others)?;
        let all = ours.iter().chain(&theirs).chain(&singles);
        let best = all.copied().fold(f64::INFINITY, f64::min);
        let above = |values: &[f64]| {
            let above = values.iter().map(|v| v - best);
            let mean = above.clone().sum::<f64>() / values.len() as f64;
            let most = above.fold(0.0f64, f64::max);
            let share = |v: f64| format!("{v:.1e} ({:.2} %)", 100.0 * v / best.abs());
            format!("{} | {}", share(mean), share(most))
        };
        let allowed = (MET.0 * best.abs()).max(MET.1);
        let off = ours.iter().filter(|v| **v > best + allowed).count();
        println!(
            "| {name} | {rank} | {best:.6} | {} | {off} of {} | {} | {seconds:.2} | {former_seconds:.2} |",
            above(&ours),
            ours.len(),
            above(&theirs)
        );
    }
    Ok(())
}
