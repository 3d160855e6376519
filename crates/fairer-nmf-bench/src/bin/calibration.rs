//! The calibration study of docs/calibration.md, one table a study:
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin calibration -- STUDY [DATA_SETS] [KIND] [SIZES] [STRENGTH] [RANK] [POPULATION] [DICTIONARY] [DRAWS]
//!
//! `alternatives`: ways to estimate a group's loss that were tried. `verdict`: what the library says
//! of groups drawn from a population, of standard NMF or (DICTIONARY `am`) of a dictionary that was fitted
//! to even these groups out and comes from elsewhere, so that nobody knows (`am-known`: it is known), with DRAWS of random groups (0: the limits alone).
//! `shuffled`: the same of real rows in random groups; in the place of KIND stands the Heart Disease table. `pictures`: the two
//! pictures, into a folder (third argument), that of power with as many draws as by default.

use fairer_nmf::audit::{AuditReport, DrawBudget, VerdictCode};
use fairer_nmf::internals::quantile;
use fairer_nmf_bench::calibration::audited::{Made, audited};
use fairer_nmf_bench::calibration::estimators::{Rows, SOLVER, Solver, row_errors};
use fairer_nmf_bench::calibration::heart::{heart, shuffled};
use fairer_nmf_bench::calibration::picture::{Line, chart};
use fairer_nmf_bench::calibration::populations::{KINDS, Population, Truth, draw, places};
use fairer_nmf_bench::calibration::random::Rng;
use ndarray::Array2;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let sets: usize = text(1, "100").parse().expect("a number of data sets");
    let sizes: Vec<usize> =
        text(3, "10,40,60,100").split(',').map(|v| v.parse().expect("sizes as 10,40")).collect();
    let strength: f64 = text(4, "0").parse().expect("a strength");
    let rank: usize = text(5, "3").parse().expect("a rank");
    let seed: u64 = text(6, "1").parse().expect("the number of a population");
    match text(0, "") {
        "alternatives" => alternatives(sets),
        "verdict" => {
            let (kind, made) = (text(2, "alike"), text(7, "standard"));
            let draws = text(8, "0").parse().expect("a number of draws");
            let made = match made {
                "am" => Made::Evened,
                "am-known" => Made::KnownEvened,
                _ => Made::Standard,
            };
            verdict(sets, &Case { kind, sizes: &sizes, strength, rank, seed, made, draws });
        }
        "shuffled" => of_shuffled(sets, text(2, "data/heart_disease.csv"), &sizes, rank),
        "pictures" => pictures(sets, text(2, "docs")),
        _ => eprintln!(
            "studies: alternatives, verdict, shuffled, pictures; kinds: {}",
            KINDS.join(", ")
        ),
    }
}

/// Coverage of a group's loss by ways to correct its baseline, with groups of 60, 100 and 200 rows
/// beside it.
fn alternatives(sets: usize) {
    let names = [
        "in the sample",
        "less chance",
        "baseline over chance's ratio",
        "less chance, block jackknife",
        "middle of seen and unseen",
        "unseen",
    ];
    println!("| population | rows | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(names.len()));
    for kind in ["alike", "noise", "own-topics", "heavy", "text"] {
        for m in [10usize, 30, 100] {
            let population = Population::new(kind, 4, 3, 0.0, 1);
            let truth = Truth::new(&population, &SOLVER);
            let mut hit = [0.0; 6];
            let mut bias = [0.0; 6];
            for s in 0..sets {
                let (x, at) = draw(&population, &[m, 60, 100, 200], 1000 + s as u64);
                let h = SOLVER.dictionary(x.view(), None, s as u64);
                let shared = row_errors(x.view(), &h);
                let rows = Rows::new(&x, &at[0], &shared, &h, &SOLVER, 5, s as u64);
                let (c, ratio) = chance(&x, &shared, &h, m, 10, s as u64);
                let t = truth.loss(&h, 0);
                let plain = rows.estimate(&rows.own);
                let times: Vec<f64> = rows.own.iter().map(|b| b / (ratio * ratio)).collect();
                let found = [
                    plain,
                    (plain.0 - c, plain.1),
                    rows.estimate(&times),
                    jackknife(&x, &at[0], &shared, &h, s as u64),
                    rows.estimate(&rows.middle()),
                    rows.estimate(&rows.crossed),
                ];
                for (k, (value, se)) in found.into_iter().enumerate() {
                    let df = if k == 3 { 9.0 } else { m as f64 - 1.0 };
                    hit[k] += f64::from((value - t).abs() <= quantile(0.025, df) * se);
                    bias[k] += (value - t) / sets as f64;
                }
            }
            let cell =
                |k: usize| format!("{:.0} % ({:+.3})", 100.0 * hit[k] / sets as f64, bias[k]);
            let cells: Vec<String> = (0..6).map(cell).collect();
            println!("| {kind} | {m} | {} |", cells.join(" | "));
        }
    }
}

/// Mean chance loss, and mean ratio of own to shared error, of random groups of m rows.
fn chance(
    x: &Array2<f64>,
    shared: &[f64],
    h: &Array2<f64>,
    m: usize,
    draws: usize,
    seed: u64,
) -> (f64, f64) {
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    let (mut c, mut ratio) = (0.0, 0.0);
    for b in 0..draws {
        let seed = seed * 1_000 + b as u64;
        Rng(seed).shuffle(&mut order);
        let rows = Rows::new(x, &order[..m], shared, h, &SOLVER, 0, seed);
        c += rows.loss() / draws as f64;
        ratio += rows.baseline() / rows.error() / draws as f64;
    }
    (c, ratio)
}

/// Delete-a-block jackknife of the loss less chance: ten blocks, baselines and chance at the
/// reduced size estimated anew.
fn jackknife(
    x: &Array2<f64>,
    at: &[usize],
    shared: &[f64],
    h: &Array2<f64>,
    seed: u64,
) -> (f64, f64) {
    const BLOCKS: usize = 10;
    let blocks = BLOCKS.min(at.len());
    let value = |rows: &[usize]| Rows::new(x, rows, shared, h, &SOLVER, 0, seed).loss();
    let full = value(at) - chance(x, shared, h, at.len(), 10, seed).0;
    let left = at.len() - at.len() / blocks;
    let reduced = chance(x, shared, h, left, 10, seed).0;
    let without: Vec<f64> = (0..blocks)
        .map(|j| {
            let kept: Vec<usize> =
                at.iter().enumerate().filter(|(i, _)| i % blocks != j).map(|(_, &r)| r).collect();
            value(&kept) - reduced
        })
        .collect();
    let count = blocks as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|v| (v - mean) * (v - mean)).sum();
    (full, (squares * (count - 1.0) / count).sqrt())
}

/// What the library said over many data sets of one population; shares of one.
struct Summary {
    sizes: Vec<usize>,
    /// Some group got `evidence`; some group with d ≤ 0 did; some lower limit of d was above it; some
    /// upper limit below.
    alarms: [f64; 4],
    /// By group: error covered by the bootstrap and by the limits, loss covered likewise.
    covered: Vec<[f64; 4]>,
    /// By group: true loss, usual loss, estimate, true d.
    means: Vec<[f64; 4]>,
    /// By group: evidence, no evidence, too few rows.
    answers: Vec<[f64; 3]>,
}

/// Groups of a population, and the dictionary.
struct Case<'a> {
    kind: &'a str,
    sizes: &'a [usize],
    strength: f64,
    rank: usize,
    /// Which of the populations of its kind.
    seed: u64,
    /// How the dictionary was made.
    made: Made,
    /// Random groups that evidence has to be beyond, too.
    draws: usize,
}

/// Groups of the sizes, alike, at rank 3.
fn of(sizes: &[usize]) -> Case<'_> {
    Case { kind: "alike", sizes, strength: 0.0, rank: 3, seed: 1, made: Made::Standard, draws: 0 }
}

fn summary(sets: usize, case: &Case<'_>) -> Summary {
    let &Case { kind, sizes, strength, rank, seed, made, draws } = case;
    let solver = Solver { rank, ..SOLVER };
    let groups = sizes.len();
    let population = Population::new(kind, groups, rank, strength, seed);
    let truth = Truth::new(&population, &solver);
    let mut found = Summary {
        sizes: sizes.to_vec(),
        alarms: [0.0; 4],
        covered: vec![[0.0; 4]; groups],
        means: vec![[0.0; 4]; groups],
        answers: vec![[0.0; 3]; groups],
    };
    for s in 0..sets {
        let (x, at) = draw(&population, sizes, 1000 + s as u64);
        let (h, report) = audited(&x, &at, &solver, (made, draws), s as u64);
        found.add(&truth, &h, &report, 1.0 / sets as f64);
    }
    found
}

impl Summary {
    /// Counts one data set with a weight of `share`.
    fn add(&mut self, truth: &Truth, h: &Array2<f64>, report: &AuditReport, share: f64) {
        let (Some(now), Some(before)) = (&report.differences, &report.bootstrap) else { return };
        let groups = self.sizes.len();
        let all = self.sizes.iter().sum::<usize>() as f64;
        let loss: Vec<f64> = (0..groups).map(|l| truth.loss(h, l)).collect();
        let total: f64 = loss.iter().zip(&self.sizes).map(|(v, &m)| v * m as f64).sum();
        let d: Vec<f64> = (loss.iter().zip(&self.sizes))
            .map(|(v, &m)| v - (total - v * m as f64) / (all - m as f64))
            .collect();
        let codes = &report.verdict.groups;
        // Without draws the limits alone are asked.
        let alone = report.chance.is_none();
        let sure = |l: usize| alone && now.groups[l].adjusted_p <= 1.0 - now.level;
        let alarm = |l: usize| codes[l] == VerdictCode::Evidence || sure(l);
        let events = [
            (0..groups).any(alarm),
            (0..groups).any(|l| alarm(l) && d[l] <= 0.0),
            (0..groups).any(|l| now.groups[l].difference.low > d[l]),
            (0..groups).any(|l| now.groups[l].difference.high < d[l]),
        ];
        self.alarms.iter_mut().zip(events).for_each(|(t, e)| *t += share * f64::from(e));
        for l in 0..groups {
            let (g, old) = (&now.groups[l], &before.groups[l]);
            let error = truth.error(h, l);
            let inside = |v: f64, low: f64, high: f64| f64::from(low <= v && v <= high);
            let hits = [
                inside(error, old.relative_error.low, old.relative_error.high),
                inside(error, g.relative_error.low, g.relative_error.high),
                inside(loss[l], old.loss.low, old.loss.high),
                inside(loss[l], g.loss.low, g.loss.high),
            ];
            self.covered[l].iter_mut().zip(hits).for_each(|(t, h)| *t += share * h);
            let numbers = [loss[l], report.groups[l].loss, g.loss.estimate, d[l]];
            self.means[l].iter_mut().zip(numbers).for_each(|(t, n)| *t += share * n);
            let answer = match codes[l] {
                _ if alarm(l) => 0,
                VerdictCode::NoEvidence => 1,
                _ => 2,
            };
            self.answers[l][answer] += share;
        }
    }
}

/// One population as a table.
fn verdict(sets: usize, case: &Case<'_>) {
    let found = summary(sets, case);
    let Case { kind, sizes, strength, rank, seed, made, draws } = case;
    let [any, wrong, above, below] = found.alarms.map(|v| 100.0 * v);
    let made = match made {
        Made::Standard => "standard",
        Made::Evened => "AM",
        Made::KnownEvened => "AM (known)",
    };
    println!(
        "\n{kind}, {made} dictionaries, sizes {sizes:?}, rank {rank}, strength {strength}, population {seed}, {draws} draws, {sets} data sets: evidence in {any:.1} %, for a group with d ≤ 0 in {wrong:.1} %; some lower limit above its d in {above:.1} %, some upper below in {below:.1} %\n"
    );
    println!(
        "| rows | error covered: bootstrap | error covered | loss covered: bootstrap | loss covered | true loss | usual loss | estimate | true d | evidence / no / too few |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (l, size) in sizes.iter().enumerate() {
        let percent = |v: &f64| format!("{:.0} %", 100.0 * v);
        let c: Vec<String> = found.covered[l].iter().map(percent).collect();
        let m: Vec<String> = found.means[l].iter().map(|v| format!("{v:.4}")).collect();
        let a: Vec<String> = found.answers[l].iter().map(|v| format!("{:.0}", 100.0 * v)).collect();
        println!("| {size} | {} | {} | {} |", c.join(" | "), m.join(" | "), a.join(" / "));
    }
}

/// How often there is evidence where labels mean nothing, on real rows: by the limits alone, and beyond random groups, too.
fn of_shuffled(sets: usize, table: &str, sizes: &[usize], rank: usize) {
    let solver = Solver { rank, runs: 4, ..SOLVER };
    let (x, at) = (heart(table), places(sizes));
    assert_eq!(sizes.iter().sum::<usize>(), x.nrows(), "sizes that make up the table");
    let (mut limits, mut both, mut few) = (0, 0, 0);
    for s in 0..sets as u64 {
        let x = shuffled(&x, 3000 + s);
        let draws = DrawBudget::default().draws;
        let (_, report) = audited(&x, &at, &solver, (Made::Standard, draws), s);
        let differences = report.differences.iter().flat_map(|d| &d.groups);
        limits += usize::from(differences.map(|g| g.adjusted_p).fold(1.0, f64::min) <= 0.05);
        both += usize::from(report.verdict.code == VerdictCode::Evidence);
        few += usize::from(report.verdict.code == VerdictCode::TooFewRows);
    }
    println!("| {sizes:?} | {rank} | {limits} of {sets} | {both} of {sets} | {few} of {sets} |");
}

/// The two pictures of docs/calibration.md, into a folder.
fn pictures(sets: usize, folder: &str) {
    let sizes = [8usize, 10, 15, 20, 30, 60, 100, 300];
    let of_kind = |kind: &str| -> Vec<(f64, [f64; 4])> {
        let one = |&m: &usize| {
            (m as f64, summary(sets, &Case { kind, ..of(&[m, 60, 100, 200]) }).covered[0])
        };
        sizes.iter().map(one).collect()
    };
    let (dense, text) = (of_kind("alike"), of_kind("text"));
    let line = |name, found: &[(f64, [f64; 4])], at: usize, dashed| Line {
        name,
        points: found.iter().map(|(m, covered)| (*m, covered[at])).collect(),
        dashed,
    };
    let coverage = chart(
        "True loss of a group inside its 95 % limits",
        "rows of the group",
        &[
            line("limits, dense data", &dense, 3, false),
            line("bootstrap, dense data", &dense, 2, true),
            line("limits, text", &text, 3, false),
            line("bootstrap, text", &text, 2, true),
        ],
        0.95,
        true,
    );
    let power = |name, m: usize| {
        let one = |k: usize| {
            let strength = 0.05 * k as f64;
            let sizes = [m, 100, 150, 250];
            let draws = DrawBudget::default().draws;
            let found = summary(sets, &Case { kind: "planted", strength, draws, ..of(&sizes) });
            (100.0 * found.means[0][3], found.answers[0][0])
        };
        let mut points: Vec<(f64, f64)> = (0..6).map(one).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { name, points, dashed: false }
    };
    let power = chart(
        "Evidence against a group that pays more than the others",
        "true difference, in points of a hundred",
        &[power("12 rows", 12), power("30 rows", 30), power("100 rows", 100)],
        0.05,
        false,
    );
    for (name, text) in [("calibration-coverage.svg", coverage), ("calibration-power.svg", power)] {
        let path = std::path::Path::new(folder).join(name);
        std::fs::write(&path, text).expect("a folder that can be written to");
    }
}
