//! The two synthetic data sets of the paper, and data of a known rank, drawn anew from a seed.

use crate::random::{Purpose, Stream};
use ndarray::Array2;

/// Rows of every group.
const ROWS: usize = 500;
const FEATURES: usize = 12;
/// Standard deviation of the noise in the second set.
const NOISE: f64 = 0.1;

/// Synthetic data set 1 (1000×12): "Low rank" draws its rows evenly from e1+e4, e2+e5, e3+e6,
/// "High rank" from e7, …, e12. Two groups of 500 in orthogonal subspaces.
///
/// ```
/// let (x, labels) = fairer_nmf::synthetic::first(0);
/// assert_eq!(x.dim(), (1000, 12));
/// assert_eq!(labels[0], "Low rank");
/// ```
#[must_use]
pub fn first(seed: u64) -> (Array2<f64>, Vec<&'static str>) {
    let groups = [("Low rank", Kind::Pairs { first: 0 }), ("High rank", Kind::Singles)];
    draw(seed, &groups)
}

/// Synthetic data set 2 (1500×12): groups 1 and 2 draw their rows from e1+e4, e2+e5, e3+e6, and
/// group 2 has Gaussian noise (σ = 0.1, negative entries set to 0) on every entry; group 3 draws
/// from e7+e10, e8+e11, e9+e12.
///
/// ```
/// let (x, labels) = fairer_nmf::synthetic::second(0);
/// assert_eq!(x.dim(), (1500, 12));
/// assert_eq!(labels[1499], "Group 3");
/// ```
#[must_use]
pub fn second(seed: u64) -> (Array2<f64>, Vec<&'static str>) {
    let groups = [
        ("Group 1", Kind::Pairs { first: 0 }),
        ("Group 2", Kind::NoisyPairs { first: 0 }),
        ("Group 3", Kind::Pairs { first: 6 }),
    ];
    draw(seed, &groups)
}

/// Data of a known rank (300×40): "many" (240 rows) shares `rank − 1` topics with "few" (60 rows),
/// which has one more of its own. A topic holds about a third of the features; a row has about half
/// of its topics, with exponential weights. Gaussian noise of `noise` times the root mean square of
/// the entries, negative ones set to 0.
///
/// ```
/// let (x, labels) = fairer_nmf::synthetic::planted(0, 4, 0.3);
/// assert_eq!((x.dim(), labels[299]), ((300, 40), "few"));
/// ```
#[must_use]
pub fn planted(seed: u64, rank: usize, noise: f64) -> (Array2<f64>, Vec<&'static str>) {
    const MANY: usize = 240;
    const FEW: usize = 60;
    const WIDE: usize = 40;
    let stream =
        |what: u64, index: usize| Stream::new(seed, Purpose::Synthetic(what), index as u64);
    let mut h = Array2::zeros((rank, WIDE));
    for (k, mut topic) in h.rows_mut().into_iter().enumerate() {
        let mut stream = stream(100, k);
        for (j, value) in topic.iter_mut().enumerate() {
            // Some features whatever the coin says, so that no topic is empty.
            if stream.uniform() < 0.3 || j % rank == k && j < 4 * rank {
                *value = 0.5 + stream.uniform();
            }
        }
    }
    let mut w = Array2::zeros((MANY + FEW, rank));
    for (i, mut row) in w.rows_mut().into_iter().enumerate() {
        let mut stream = stream(101, i);
        let topics = if i < MANY { rank.max(2) - 1 } else { rank };
        let sure = stream.below(topics);
        for (k, value) in row.iter_mut().enumerate().take(topics) {
            if stream.uniform() < 0.5 || k == sure {
                *value = -(1.0 - stream.uniform()).ln();
            }
        }
    }
    let mut x = w.dot(&h);
    let size = noise * x.iter().map(|v| v * v).sum::<f64>().sqrt() / (x.len() as f64).sqrt();
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let mut stream = stream(102, i);
        row.iter_mut().for_each(|v| *v = (*v + size * stream.normal()).max(0.0));
    }
    let labels = [["many"; MANY].as_slice(), ["few"; FEW].as_slice()].concat();
    (x, labels)
}

#[derive(Clone, Copy)]
enum Kind {
    /// e_i + e_{i+3} for one of three i from `first`.
    Pairs { first: usize },
    /// The same with noise.
    NoisyPairs { first: usize },
    /// One of e7, …, e12.
    Singles,
}

fn draw(seed: u64, groups: &[(&'static str, Kind)]) -> (Array2<f64>, Vec<&'static str>) {
    let mut x = Array2::zeros((ROWS * groups.len(), FEATURES));
    for (g, &(_, kind)) in groups.iter().enumerate() {
        for i in 0..ROWS {
            let mut stream = Stream::new(seed, Purpose::Synthetic(g as u64), i as u64);
            let mut row = x.row_mut(g * ROWS + i);
            match kind {
                Kind::Singles => row[6 + stream.below(6)] = 1.0,
                Kind::Pairs { first } | Kind::NoisyPairs { first } => {
                    let at = first + stream.below(3);
                    row[at] = 1.0;
                    row[at + 3] = 1.0;
                }
            }
            if let Kind::NoisyPairs { .. } = kind {
                row.iter_mut().for_each(|v| *v = (*v + NOISE * stream.normal()).max(0.0));
            }
        }
    }
    (x, groups.iter().flat_map(|&(name, _)| [name; ROWS]).collect())
}
