//! Populations from which groups are drawn, so that a dictionary's true loss can be measured on as
//! many rows as one likes.

use super::estimators::{Solver, row_errors, sum};
use super::random::Rng;
use ndarray::{Array2, Axis, concatenate};

/// The kinds of populations.
pub const KINDS: [&str; 7] =
    ["alike", "noise", "own-topics", "heavy", "text", "planted", "planted-text"];

/// One population with groups of its own.
pub struct Population {
    kind: &'static str,
    features: usize,
    /// Topics that all groups share.
    shared: Array2<f64>,
    /// One more topic per group.
    own: Array2<f64>,
    /// How strong the planted group's own topic is.
    strength: f64,
    groups: usize,
}

impl Population {
    /// A population of a kind of [`KINDS`] with `groups` groups and `topics` shared topics. In the
    /// planted kinds group 0 has a topic of its own, of the given strength.
    ///
    /// # Panics
    /// For a kind that does not exist.
    #[must_use]
    pub fn new(kind: &str, groups: usize, topics: usize, strength: f64, seed: u64) -> Self {
        let kind = *KINDS.iter().find(|k| **k == kind).expect("a kind of KINDS");
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9).wrapping_add(17));
        let features = if kind.ends_with("text") { 40 } else { 20 };
        let mut topics_of = |count: usize| {
            let mut t =
                Array2::from_shape_simple_fn((count, features), || rng.uniform().powi(3) + 0.01);
            t.rows_mut().into_iter().for_each(|mut row| {
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                row.mapv_inplace(|v| v / norm);
            });
            t
        };
        let (shared, own) = (topics_of(topics), topics_of(groups));
        Self { kind, features, shared, own, strength, groups }
    }

    /// Number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// `rows` rows of a group.
    pub fn draw(&self, group: usize, rows: usize, rng: &mut Rng) -> Array2<f64> {
        let mut x = Array2::zeros((rows, self.features));
        for mut row in x.rows_mut() {
            let mut signal = vec![0.0; self.features];
            let text = self.kind.ends_with("text");
            for topic in self.shared.rows() {
                // Documents are mostly about one topic.
                let weight = if text { rng.uniform().powi(4) } else { 0.2 + rng.uniform() };
                signal.iter_mut().zip(topic).for_each(|(s, t)| *s += weight * t);
            }
            let strength = match self.kind {
                "own-topics" => 0.6,
                "planted" | "planted-text" if group == 0 => self.strength,
                _ => 0.0,
            };
            if strength > 0.0 {
                let weight = strength * (0.2 + 1.6 * rng.uniform()) * if text { 0.5 } else { 1.0 };
                let own = self.own.row(group);
                signal.iter_mut().zip(own).for_each(|(s, t)| *s += weight * t);
            }
            if text {
                words(&signal, 15, rng).into_iter().zip(row.iter_mut()).for_each(|(c, x)| *x = c);
                continue;
            }
            let noise = match self.kind {
                "noise" => 0.05 * (1 + 2 * (group % 3)) as f64,
                _ => 0.1,
            };
            let size = if self.kind == "heavy" { rng.normal().exp() } else { 1.0 };
            for (x, s) in row.iter_mut().zip(&signal) {
                *x = (size * (s + noise * rng.normal())).max(0.0);
            }
        }
        x
    }
}

/// `count` words drawn in proportion to the signal, as shares of unit length.
fn words(signal: &[f64], count: usize, rng: &mut Rng) -> Vec<f64> {
    let total: f64 = signal.iter().sum();
    let mut counts = vec![0.0; signal.len()];
    for _ in 0..count {
        let mut at = rng.uniform() * total;
        let chosen = signal.iter().position(|s| {
            at -= s;
            at < 0.0
        });
        counts[chosen.unwrap_or(0)] += 1.0;
    }
    let norm = counts.iter().map(|c| c * c).sum::<f64>().sqrt();
    counts.iter().map(|c| c / norm).collect()
}

/// Rows of all groups under each other, and where each group stands.
///
/// # Panics
/// Never: blocks of a population have one width.
#[must_use]
pub fn draw(population: &Population, sizes: &[usize], seed: u64) -> (Array2<f64>, Vec<Vec<usize>>) {
    let mut rng = Rng(seed);
    let blocks: Vec<Array2<f64>> =
        sizes.iter().enumerate().map(|(g, &m)| population.draw(g, m, &mut rng)).collect();
    let views: Vec<_> = blocks.iter().map(|b| b.view()).collect();
    (concatenate(Axis(0), &views).expect("blocks of one width"), places(sizes))
}

/// Where groups stand that are under each other.
#[must_use]
pub fn places(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut next = 0;
    let at = sizes.iter().map(|&m| {
        next += m;
        (next - m..next).collect()
    });
    at.collect()
}

/// Fresh rows of every group: many more than any sample has, so that the truth is no second sample.
const TRUTH_ROWS: usize = 12_000;

/// The population's side: many rows of every group and their own best error.
pub struct Truth {
    rows: Vec<Array2<f64>>,
    norm: Vec<f64>,
    own: Vec<f64>,
}

impl Truth {
    /// `TRUTH_ROWS` rows of every group, with their best dictionary of four runs.
    #[must_use]
    pub fn new(population: &Population, solver: &Solver) -> Self {
        let solver = Solver { runs: 4, tolerance: 1e-6, iterations: 2_000, ..*solver };
        let mut rng = Rng(77);
        let rows: Vec<Array2<f64>> =
            (0..population.groups()).map(|g| population.draw(g, TRUTH_ROWS, &mut rng)).collect();
        let norm: Vec<f64> = rows.iter().map(|x| x.iter().map(|v| v * v).sum()).collect();
        let of = |(x, n): (&Array2<f64>, &f64)| {
            (sum(&row_errors(x.view(), &solver.dictionary(x.view(), None, 5))) / n).sqrt()
        };
        let own = rows.iter().zip(&norm).map(of).collect();
        Self { rows, norm, own }
    }

    /// The true error of a group under a dictionary.
    #[must_use]
    pub fn error(&self, h: &Array2<f64>, group: usize) -> f64 {
        (sum(&row_errors(self.rows[group].view(), h)) / self.norm[group]).sqrt()
    }

    /// The true loss of a group under a dictionary.
    #[must_use]
    pub fn loss(&self, h: &Array2<f64>, group: usize) -> f64 {
        self.error(h, group) - self.own[group]
    }
}
