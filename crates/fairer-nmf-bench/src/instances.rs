//! Random dictionary steps, the hard cases among them.

use fairer_nmf::{GroupedData, rows::Statistics, rows::group_statistics};
use ndarray::Array2;

/// A dictionary step: statistics and baselines of every group, and what is special about it.
pub struct Instance {
    /// What is special about it.
    pub kind: &'static str,
    /// The groups' statistics.
    pub statistics: Vec<Statistics>,
    /// E_ℓ.
    pub baselines: Vec<f64>,
    /// r and n.
    pub shape: (usize, usize),
}

/// The kinds of [`Instance`].
pub const KINDS: [&str; 12] = [
    "ordinary",
    "one group",
    "many groups",
    "zero baselines",
    "fitted exactly",
    "one active",
    "duplicate groups",
    "singular gram",
    "rank one",
    "one feature",
    "uneven norms",
    "overlapping",
];

/// xorshift64*: enough for test instances, and no dependency.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.uniform() * (high - low + 1) as f64) as usize
    }
}

/// Instance number `index` of a kind.
///
/// # Panics
/// Never for a kind of [`KINDS`].
#[must_use]
pub fn instance(kind: &'static str, index: u64) -> Instance {
    let salt = KINDS.iter().position(|k| *k == kind).expect("a kind of KINDS") as u64;
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ (index * 1_000_003 + salt * 7_919 + 1));
    for _ in 0..8 {
        draw.uniform();
    }
    let groups = match kind {
        "one group" => 1,
        "many groups" => draw.between(7, 20),
        _ => draw.between(2, 6),
    };
    let r = if kind == "rank one" { 1 } else { draw.between(2, 6) };
    let n = if kind == "one feature" { 1 } else { draw.between(3, 12) };
    let rows: Vec<usize> = (0..groups).map(|_| draw.between(r + 1, 25)).collect();
    let m: usize = rows.iter().sum();
    let mut w = Array2::from_shape_fn((m, r), |_| draw.uniform());
    if kind == "singular gram" {
        for mut row in w.rows_mut() {
            row[1] = row[0];
        }
    }
    let h = Array2::from_shape_fn((r, n), |_| (draw.uniform() - 0.3).max(0.0));
    let codes: Vec<usize> = rows.iter().enumerate().flat_map(|(l, &k)| vec![l; k]).collect();
    let noise = |l: usize| match kind {
        "fitted exactly" if l == 0 => 0.0,
        "one active" if l > 0 => 0.01,
        _ => 0.7,
    };
    let size = |l: usize| if kind == "uneven norms" && l == 0 { 1e6 } else { 1.0 };
    let mut x = Array2::from_shape_fn((m, n), |(i, j)| {
        let l = codes[i];
        let fit: f64 = (0..r).map(|k| w[(i, k)] * h[(k, j)]).sum();
        fit + noise(l) * draw.uniform()
    });
    for (i, &l) in codes.iter().enumerate() {
        x.row_mut(i).mapv_inplace(|v| v * size(l));
        w.row_mut(i).mapv_inplace(|v| v * size(l));
    }
    let names: Vec<String> = (0..groups).map(|l| l.to_string()).collect();
    let data = match kind {
        // Every row is in its own group, and in each of the others now and then.
        "overlapping" => {
            let among = |i: usize, l: usize, chance: f64| codes[i] == l || chance < 0.4;
            let members = Array2::from_shape_fn((m, groups), |(i, l)| among(i, l, draw.uniform()));
            let names = names.into_iter().map(|name| (name, None)).collect();
            GroupedData::with_members(x.view(), names, members.view())
        }
        _ => GroupedData::with_codes(x.view(), names, &codes),
    };
    let data = data.expect("the instance is valid");
    let mut statistics = group_statistics(&data, w.view()).expect("the shapes fit");
    let mut baselines: Vec<f64> = statistics
        .iter()
        .map(|s| match kind {
            "zero baselines" => 0.0,
            _ => 0.3 * draw.uniform() * s.squared_norm().sqrt(),
        })
        .collect();
    if kind == "duplicate groups" {
        statistics.push(statistics[0].clone());
        baselines.push(baselines[0]);
    }
    Instance { kind, statistics, baselines, shape: (r, n) }
}
