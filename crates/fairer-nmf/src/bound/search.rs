//! The search for the weights of the bound, with a few directions of the features in hand.
//!
//! In turn: the leading eigenvectors of S(w) for the present weights, tracked by Chebyshev filters
//! from those of the weights before; then the best weights as far as these and the last directions
//! tell ([`super::reduced`]). What is told never falls below the truth and meets it at the weights
//! whose eigenvectors are among the directions, so that the weights converge (the subspace method
//! for eigenvalue optimisation of Kangal, Meerbergen, Mengi and Michiels, 2018). Nothing here need
//! be exact: any weights give a valid bound, and [`super::certify`] proves it.

use super::reduced::Reduced;
use crate::Result;
use crate::kernel::eigen::{Dependent, Eigen, orthonormal, symmetric, times, transposed_times};
use crate::random::{Purpose, Stream};
use crate::rows::Moments;
use std::time::Instant;

/// Rounds at the most, and the rise of t that is not worth another.
const ROUNDS: usize = 25;
const STANDS: f64 = 1e-7;
/// What t was open by where weights were last looked for closely.
const FINE: f64 = 1e-5;
/// Numbers that the reduced matrices of all groups may have together.
const REDUCED_ENTRIES: usize = 1 << 26;

/// Weights worth a certificate, with columns near the leading eigenvectors of their S(w).
pub(super) struct Found {
    pub weights: Vec<f64>,
    /// n×`columns`, orthonormal.
    pub vectors: Vec<f64>,
    pub columns: usize,
}

/// Columns that are tracked: the topics' and some more, so that filters see where the rest begins.
fn block(rank: usize, side: usize) -> usize {
    (rank + (rank / 3).clamp(4, 12)).min(side)
}

/// The best weights found by the deadline.
pub(super) fn search(
    moments: &dyn Moments,
    rank: usize,
    e: &[f64],
    deadline: Option<Instant>,
) -> Result<Found> {
    let (groups, n) = (moments.groups(), moments.features());
    let block = block(rank, moments.side());
    let apply = |w: &[f64], v: &[f64], p: usize| Ok(moments.products(w, v, p)?.image);
    let mut weights = vec![1.0 / groups as f64; groups];
    let mut stream = Stream::new(0, Purpose::Spectral, 0);
    let random = (0..n * block).map(|_| stream.normal()).collect();
    let mut ritz = Ritz::new(random, block, |v, p| apply(&weights, v, p))?;
    for _ in 0..2 {
        ritz = ritz.filtered(rank, |v, p| apply(&weights, v, p))?;
    }
    if groups == 1 || groups * 9 * block * block > REDUCED_ENTRIES {
        ritz = ritz.filtered(rank, |v, p| apply(&weights, v, p))?;
        return Ok(Found { weights, vectors: ritz.vectors, columns: ritz.columns });
    }
    let mut old: (Vec<f64>, usize) = (Vec::new(), 0);
    let mut last = (f64::INFINITY, f64::NEG_INFINITY);
    let mut unsure = f64::INFINITY;
    for _ in 0..ROUNDS {
        let both = beside(&ritz.vectors, ritz.columns, &old.0, old.1);
        let (v, p) = orthonormal(&both, ritz.columns + old.1, Dependent::Drop);
        let grams = moments.products(&weights, &v, p)?.grams;
        let reduced = Reduced { rank, p, grams: &grams, e };
        let here = reduced.t(&weights, &symmetric(&reduced.sum(&weights), p).values);
        // The present weights are as good as any, and their eigenvectors stand still.
        let over = deadline.is_some_and(|d| Instant::now() >= d);
        let stands = last.0 - here < STANDS && (here - last.1).abs() < STANDS;
        // After a coarse look nothing stands for certain.
        if over || (stands && unsure < FINE) {
            break;
        }
        unsure = last.0 - here;
        let (next, t) = reduced.maximise(&weights, unsure);
        last = (t, here);
        weights = next;
        // What was known stays, beside better leading directions at the new weights.
        let eigen = symmetric(&reduced.sum(&weights), p);
        let (count, stay) = (block.min(p), p.min(2 * block));
        old = (leading(&v, p, &eigen, stay), stay);
        let top = leading(&v, p, &eigen, count);
        ritz = Ritz { vectors: top, columns: count, values: eigen.values[..count].to_vec() };
        ritz = ritz.filtered(rank, |v, p| apply(&weights, v, p))?;
    }
    Ok(Found { weights, vectors: ritz.vectors, columns: ritz.columns })
}

/// Ritz pairs of a symmetric positive matrix.
pub(super) struct Ritz {
    /// Orthonormal columns.
    pub vectors: Vec<f64>,
    pub columns: usize,
    /// Falling.
    pub values: Vec<f64>,
}

impl Ritz {
    /// From any columns of a length.
    pub fn new(
        columns: Vec<f64>,
        p: usize,
        apply: impl Fn(&[f64], usize) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let (v, p) = orthonormal(&columns, p, Dependent::Replace);
        let image = apply(&v, p)?;
        let eigen = symmetric(&symmetrised(transposed_times(&v, p, &image, p), p), p);
        Ok(Self { vectors: times(&v, p, &eigen.vectors, p), columns: p, values: eigen.values })
    }

    /// The columns after a Chebyshev polynomial that is small on [0, smallest value] and grows
    /// beyond, and their Ritz pairs.
    pub fn filtered(
        self,
        rank: usize,
        apply: impl Fn(&[f64], usize) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let p = self.columns;
        let cut = self.values[p - 1].max(1e-10 * self.values[0]);
        let degree = degree(self.values[0] / cut, self.values[rank - 1] / cut);
        // T_k(2S/c − 1)·V by the three-term recurrence.
        let mut before = self.vectors.clone();
        let mut now = apply(&before, p)?;
        now.iter_mut().zip(&before).for_each(|(s, v)| *s = 2.0 / cut * *s - v);
        for _ in 1..degree {
            let mut next = apply(&now, p)?;
            for ((s, v), b) in next.iter_mut().zip(&now).zip(&before) {
                *s = 2.0 * (2.0 / cut * *s - v) - b;
            }
            (before, now) = (now, next);
        }
        Self::new(now, p, apply)
    }
}

/// The highest degree, up to 8, that leaves the r-th direction visible beside the first.
fn degree(first: f64, last: f64) -> usize {
    let angle = |x: f64| (2.0 * x - 1.0).max(1.0).acosh();
    let apart = angle(first) - angle(last);
    (2..=8).rev().find(|&d| d as f64 * apart < 16.0).unwrap_or(1)
}

fn symmetrised(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
            a[i * n + j] = mean;
            a[j * n + i] = mean;
        }
    }
    a
}

/// V·U for the first eigenvectors.
fn leading(v: &[f64], p: usize, eigen: &Eigen, count: usize) -> Vec<f64> {
    let turn: Vec<f64> =
        eigen.vectors.chunks_exact(p).flat_map(|row| &row[..count]).copied().collect();
    times(v, p, &turn, count)
}

/// Two sets of columns as one.
fn beside(a: &[f64], p: usize, b: &[f64], q: usize) -> Vec<f64> {
    if q == 0 {
        return a.to_vec();
    }
    let rows = a.chunks_exact(p).zip(b.chunks_exact(q));
    rows.flat_map(|(a, b)| a.iter().chain(b).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_columns_more_than_topics_are_tracked_and_no_more_than_there_are() {
        for (rank, wanted) in [(1, 5), (12, 16), (15, 20), (30, 40), (36, 48), (60, 72)] {
            assert_eq!(block(rank, 1000), wanted);
            assert_eq!(block(rank, rank + 1), rank + 1);
        }
    }

    /// T_8 of the first is at most e¹⁶ times that of the last, which rounding leaves visible.
    #[test]
    fn filters_are_as_steep_as_rounding_allows() {
        let growth = |x: f64| (2.0 * x - 1.0).max(1.0).acosh();
        for (first, last) in
            [(1.0, 1.0), (3.0, 1.0), (50.0, 1.0), (50.0, 9.0), (1e4, 1.5), (1e9, 1.0)]
        {
            let d = degree(first, last);
            let apart = growth(first) - growth(last);
            assert!((1..=8).contains(&d) && (d == 1 || d as f64 * apart < 16.0), "{first} {last}");
            assert!(d == 8 || (d + 1) as f64 * apart >= 16.0, "{first} {last}: {d}");
        }
        assert_eq!(degree(0.2, 0.1), 8, "below the cut nothing grows");
    }

    /// For a diagonal matrix the polynomial is known entry by entry.
    #[test]
    fn a_filter_is_a_chebyshev_polynomial_of_the_matrix() {
        let diagonal = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
        let (n, p, rank) = (8, 4, 2);
        let apply = |v: &[f64], p: usize| {
            let row = |(row, d): (&[f64], &f64)| row.iter().map(|v| v * d).collect::<Vec<_>>();
            Ok(v.chunks_exact(p).zip(&diagonal).flat_map(row).collect::<Vec<_>>())
        };
        let mut stream = Stream::new(4, Purpose::Spectral, 0);
        let begin: Vec<f64> = (0..n * p).map(|_| stream.normal()).collect();
        let ritz = Ritz::new(begin, p, apply).unwrap();
        assert!(ritz.values.windows(2).all(|two| two[0] >= two[1]));
        let image = transposed_times(&ritz.vectors, p, &apply(&ritz.vectors, p).unwrap(), p);
        for (i, j) in (0..p * p).map(|at| (at / p, at % p)) {
            let wanted = if i == j { ritz.values[i] } else { 0.0 };
            assert!((image[i * p + j] - wanted).abs() < 1e-12, "{i} {j}");
        }
        let cut = ritz.values[p - 1];
        let d = degree(ritz.values[0] / cut, ritz.values[rank - 1] / cut);
        assert!(d > 1);
        let polynomial = |x: f64| {
            let x = 2.0 * x / cut - 1.0;
            if x > 1.0 { (d as f64 * x.acosh()).cosh() } else { (d as f64 * x.acos()).cos() }
        };
        let wanted: Vec<f64> =
            (0..n * p).map(|at| ritz.vectors[at] * polynomial(diagonal[at / p])).collect();
        let found = ritz.filtered(rank, apply).unwrap();
        // What was wanted lies in what was found.
        let inside = times(&found.vectors, p, &transposed_times(&found.vectors, p, &wanted, p), p);
        for k in 0..p {
            let column = |v: &[f64]| -> Vec<f64> { v.iter().skip(k).step_by(p).copied().collect() };
            let (inside, wanted) = (column(&inside), column(&wanted));
            let size = wanted.iter().fold(0.0f64, |a, v| a.max(v.abs()));
            for (a, b) in inside.iter().zip(&wanted) {
                assert!((a - b).abs() < 1e-8 * size, "{k}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_mean_with_the_transposed_is_symmetric() {
        let a = symmetrised((0..9).map(f64::from).collect(), 3);
        assert_eq!(a, [0.0, 2.0, 4.0, 2.0, 4.0, 6.0, 4.0, 6.0, 8.0]);
    }
}
