//! The spectral side of the bound: Gram matrices on the smaller side, the search for weights with
//! a tracked subspace, and the exact spectrum.

use super::{even, root};
use crate::Element;
use crate::data::{GroupedData, Matrix};
use crate::dictionary::dot;
use crate::random::{Purpose, Stream};
use crate::simd::panel::{add_cross, cross_places, cross_room};
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Steps of the search over the weights.
const STEPS: usize = 120;

/// Largest side at which the weights are searched with the exact spectrum.
const SMALL_SIDE: usize = 64;

/// The maximum on [0, 1] of a quasi-concave function.
fn golden(f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..32 {
        if fa > fb {
            (high, b, fb) = (b, a, fa);
            a = high - RATIO * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + RATIO * (high - low);
            fb = f(b);
        }
    }
    0.5 * (low + high)
}

/// Pieces that the rows of a group are cut into for its Gram matrix, and rows of one at the least.
const PIECES: usize = 4;
const LEAST_PIECE: usize = 1024;
/// Rows that are multiplied at once.
const PANEL: usize = 64;

/// Σ xᵢᵀxᵢ of rows that `fill` writes.
fn dense_gram(n: usize, rows: &[usize], fill: impl Fn(usize, &mut [f64])) -> DMatrix<f64> {
    let mut x = vec![0.0; PANEL.min(rows.len()) * n];
    let (mut sums, mut tail) = (vec![0.0; cross_room::<f64>(n, n)], Vec::new());
    for panel in rows.chunks(PANEL) {
        x.chunks_exact_mut(n).zip(panel).for_each(|(out, &row)| fill(row, out));
        let x = &x[..panel.len() * n];
        add_cross(x, n, x, n, &mut tail, &mut sums);
    }
    let mut gram = DMatrix::zeros(n, n);
    cross_places::<f64>(n, n, |i, j, at| gram[(i, j)] = sums[at]);
    gram
}

/// The same from pairs of stored entries; the lower triangle only.
fn sparse_gram<T: Element>(data: &GroupedData<'_, T>, rows: &[usize], norm: f64) -> DMatrix<f64> {
    let n = data.features();
    let mut gram = DMatrix::zeros(n, n);
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for &row in rows {
        entries.clear();
        data.for_each_in_row(row, |j, x| entries.push((j, x / norm)));
        for &(j, x) in &entries {
            for &(i, y) in entries.iter().filter(|(i, _)| *i >= j) {
                gram[(i, j)] += x * y;
            }
        }
    }
    gram
}

/// Gram matrices of the data, on whichever side is smaller.
pub(super) enum Spectrum {
    /// X_ℓᵀX_ℓ/N_ℓ² (n×n each).
    Features { rank: usize, grams: Vec<DMatrix<f64>> },
    /// XXᵀ with row i of group ℓ divided by N_ℓ (m×m), and the group of every row.
    Samples { rank: usize, gram: DMatrix<f64>, group: Vec<usize>, groups: usize },
}

impl Spectrum {
    pub fn new<T: Element>(data: &GroupedData<'_, T>, rank: usize) -> Self {
        let n = data.features();
        let rows: usize = data.groups().iter().map(|g| g.rows.len()).sum();
        let dense_row = |row: usize, norm: f64, out: &mut [f64]| {
            out.fill(0.0);
            data.for_each_in_row(row, |j, x| out[j] = x / norm);
        };
        if rows < n {
            let mut x = vec![0.0; rows * n];
            let mut group = Vec::with_capacity(rows);
            for (l, g) in data.groups().iter().enumerate() {
                for &row in &g.rows {
                    let at = group.len() * n;
                    dense_row(row, g.norm(), &mut x[at..at + n]);
                    group.push(l);
                }
            }
            let gram = DMatrix::from_fn(rows, rows, |i, j| {
                if i < j { 0.0 } else { dot(&x[i * n..(i + 1) * n], &x[j * n..(j + 1) * n]) }
            });
            return Self::Samples {
                rank,
                gram: symmetric(&gram),
                group,
                groups: data.groups().len(),
            };
        }
        let grams = data.groups().iter().map(|g| {
            // A fixed number of pieces, so that sums come in the same order for any number of
            // threads; each has a matrix of its own.
            let piece = g.rows.len().div_ceil(PIECES).max(LEAST_PIECE);
            let of_piece = |rows: &[usize]| match data.matrix() {
                Matrix::Dense(_) => dense_gram(n, rows, |row, out| dense_row(row, g.norm(), out)),
                Matrix::Sparse(_) => sparse_gram(data, rows, g.norm()),
            };
            let pieces: Vec<DMatrix<f64>> = g.rows.par_chunks(piece).map(of_piece).collect();
            let sum = pieces.into_iter().reduce(|a, b| a + b);
            symmetric(&sum.expect("every group has rows"))
        });
        Self::Features { rank, grams: grams.collect() }
    }

    fn rank(&self) -> usize {
        match self {
            Self::Features { rank, .. } | Self::Samples { rank, .. } => *rank,
        }
    }

    fn groups(&self) -> usize {
        match self {
            Self::Features { grams, .. } => grams.len(),
            Self::Samples { groups, .. } => *groups,
        }
    }

    fn side(&self) -> usize {
        match self {
            Self::Features { grams, .. } => grams[0].nrows(),
            Self::Samples { gram, .. } => gram.nrows(),
        }
    }

    /// The sum of all but the r largest eigenvalues of S(w), from the whole spectrum.
    pub fn exact_tail(&self, weights: &[f64]) -> Option<f64> {
        let n = self.side();
        let s = match self {
            Self::Features { grams, .. } => {
                let mut s = DMatrix::zeros(n, n);
                for (g, &w) in grams.iter().zip(weights) {
                    s += g * w;
                }
                s
            }
            Self::Samples { gram, group, .. } => {
                let root: Vec<f64> = group.iter().map(|&l| weights[l].sqrt()).collect();
                DMatrix::from_fn(n, n, |i, j| gram[(i, j)] * root[i] * root[j])
            }
        };
        let mut values: Vec<f64> = s.symmetric_eigenvalues().iter().copied().collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(values[..n - self.rank()].iter().map(|v| v.max(0.0)).sum())
    }

    /// Weights worth an exact look.
    pub fn search(&self, e: &[f64]) -> Vec<Vec<f64>> {
        let groups = self.groups();
        let mut candidates = vec![even(groups)];
        if groups > 1 {
            candidates.extend(self.ascend(e));
        }
        if (2..=3).contains(&groups) && self.side() <= SMALL_SIDE {
            candidates.push(self.section(e));
        }
        for w in &mut candidates {
            let total: f64 = w.iter().sum();
            w.iter_mut().for_each(|w| *w /= total);
        }
        candidates
    }

    /// Golden sections with the exact spectrum, one inside the other for three groups. The bound is
    /// quasi-concave in w, but has kinks where eigenvalues meet (as they do in symmetric data),
    /// and a section does not mind kinks.
    fn section(&self, e: &[f64]) -> Vec<f64> {
        let value = |w: &[f64]| self.exact_tail(w).map_or(f64::NEG_INFINITY, |t| root(w, e, t));
        if e.len() == 2 {
            let x = golden(|x| value(&[x, 1.0 - x]));
            return vec![x, 1.0 - x];
        }
        let split = |x: f64, y: f64| [x, (1.0 - x) * y, (1.0 - x) * (1.0 - y)];
        let x = golden(|x| value(&split(x, golden(|y| value(&split(x, y))))));
        split(x, golden(|y| value(&split(x, y)))).to_vec()
    }

    /// Exponentiated gradient ascent. Each step turns a tracked subspace towards the top of S(w)
    /// and moves w towards the groups that it serves worst.
    fn ascend(&self, e: &[f64]) -> [Vec<f64>; 2] {
        let groups = self.groups();
        let mut weights = even(groups);
        let mut subspace = self.random_subspace();
        for _ in 0..3 {
            subspace = self.turn(&weights, &subspace).1;
        }
        let mut best = (f64::NEG_INFINITY, weights.clone());
        let mut average = vec![0.0; groups];
        for step in 0..STEPS {
            let (left, next) = self.turn(&weights, &subspace);
            subspace = next;
            let tail: f64 = weights.iter().zip(&left).map(|(w, a)| w * a).sum();
            let t = root(&weights, e, tail);
            if t > best.0 {
                best = (t, weights.clone());
            }
            let slope: Vec<f64> = left.iter().zip(e).map(|(a, e)| a - (t + e) * (t + e)).collect();
            let mean: f64 = weights.iter().zip(&slope).map(|(w, s)| w * s).sum();
            let size = slope.iter().fold(1e-300f64, |a, s| a.max((s - mean).abs()));
            let rate = 1.0 / (size * (1.0 + step as f64).sqrt() * 1.5);
            weights.iter_mut().zip(&slope).for_each(|(w, s)| *w *= ((s - mean) * rate).exp());
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w = (*w / total).max(1e-6));
            if step >= STEPS / 2 {
                average.iter_mut().zip(&weights).for_each(|(a, w)| *a += w);
            }
        }
        [best.1, average]
    }

    fn random_subspace(&self) -> DMatrix<f64> {
        let mut stream = Stream::new(0, Purpose::Spectral, 0);
        orthonormal(DMatrix::from_fn(self.side(), self.rank(), |_, _| stream.normal()))
    }

    /// What the subspace leaves of every group (f_ℓ²), and the subspace turned by S(w).
    fn turn(&self, weights: &[f64], v: &DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
        match self {
            Self::Features { grams, .. } => {
                let mut next = DMatrix::zeros(v.nrows(), v.ncols());
                let left = grams
                    .iter()
                    .zip(weights)
                    .map(|(g, &w)| {
                        let product = g * v;
                        let kept = v.dot(&product);
                        next += product * w;
                        (1.0 - kept).max(0.0)
                    })
                    .collect();
                (left, orthonormal(next))
            }
            Self::Samples { gram, group, groups, .. } => {
                // With U orthonormal in sample space, the subspace of features is that of
                // X̃ᵀU; its orthonormal basis comes from the Cholesky factor of UᵀK(w)U.
                let root: Vec<f64> = group.iter().map(|&l| weights[l].sqrt()).collect();
                let scaled = DMatrix::from_fn(v.nrows(), v.ncols(), |i, k| root[i] * v[(i, k)]);
                let product = gram * &scaled;
                let mut kept = vec![0.0; *groups];
                let small = DMatrix::from_fn(v.ncols(), v.ncols(), |a, b| {
                    (0..v.nrows()).map(|i| scaled[(i, a)] * product[(i, b)]).sum::<f64>()
                });
                let coordinates = whiten(&product, &small);
                for (i, &l) in group.iter().enumerate() {
                    kept[l] += (0..v.ncols()).map(|k| coordinates[(i, k)].powi(2)).sum::<f64>();
                }
                let next = DMatrix::from_fn(v.nrows(), v.ncols(), |i, k| root[i] * product[(i, k)]);
                (kept.iter().map(|k| (1.0 - k).max(0.0)).collect(), orthonormal(next))
            }
        }
    }
}

fn symmetric(lower: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(lower.nrows(), lower.ncols(), |i, j| lower[(i.max(j), i.min(j))])
}

/// Modified Gram–Schmidt, twice; a dependent column becomes zero.
fn orthonormal(mut v: DMatrix<f64>) -> DMatrix<f64> {
    for _ in 0..2 {
        for k in 0..v.ncols() {
            for p in 0..k {
                let along: f64 = v.column(p).dot(&v.column(k));
                for i in 0..v.nrows() {
                    v[(i, k)] -= along * v[(i, p)];
                }
            }
            let norm = v.column(k).norm();
            let factor = if norm > 1e-150 { 1.0 / norm } else { 0.0 };
            v.column_mut(k).scale_mut(factor);
        }
    }
    v
}

/// P·C⁻ᵀ where small = CCᵀ.
fn whiten(product: &DMatrix<f64>, small: &DMatrix<f64>) -> DMatrix<f64> {
    let r = small.nrows();
    let mut c = DMatrix::zeros(r, r);
    for i in 0..r {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| c[(i, k)] * c[(j, k)]).sum();
            let rest = small[(i, j)] - known;
            c[(i, j)] = match i == j {
                true if rest > 1e-13 * small[(i, i)] => rest.sqrt(),
                // A dependent direction adds nothing.
                true => f64::INFINITY,
                false => rest / c[(j, j)],
            };
        }
    }
    let mut out = product.clone();
    for i in 0..out.nrows() {
        for k in 0..r {
            let known: f64 = (0..k).map(|p| c[(k, p)] * out[(i, p)]).sum();
            out[(i, k)] = (out[(i, k)] - known) / c[(k, k)];
        }
    }
    out
}
