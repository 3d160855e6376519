//! NNDSVD: a start from the leading singular vectors (Boutsidis and Gallopoulos, Pattern
//! Recognition 41, 2008).
//!
//! X ≈ Σ_j σ_j u_j v_jᵀ. The first pair is non-negative. Of each further one the positive parts
//! (u₊, v₊) or the negative (u₋, v₋) are kept, whichever pair has the larger ‖u±‖‖v±‖:
//! row j of H is √(σ_j‖u±‖‖v±‖)·v±/‖v±‖, and column j of W likewise. NNDSVDa puts the mean of X, in
//! units in which its root mean square is one, in the place of zeros, which multiplicative updates
//! can never leave.
//!
//! The singular vectors are exact to the tolerance below: subspace iteration on XᵀX with
//! Rayleigh–Ritz steps, which reads X once a step. Nothing is random.

use super::Start;
use crate::data::GroupedData;
use crate::kernel::eigen::{Dependent, orthonormal, symmetric, times, transposed_times};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};
use ndarray::{Array2, s};
use rayon::prelude::*;

/// Directions beyond the rank, which speed up convergence.
const BESIDE: usize = 10;
/// Largest residual of a singular pair, relative to the largest σ²; steps at the most.
const TOLERANCE: f64 = 1e-9;
const MOST_STEPS: usize = 200;
/// Pieces that the rows are cut into; fixed, so that sums do not depend on the threads.
const PIECES: usize = 8;

impl Start {
    /// The NNDSVD of the data, or, with `fill`, NNDSVDa.
    ///
    /// # Errors
    /// The rank is larger than the matrix: there are not as many singular vectors.
    pub fn nndsvd(data: &GroupedData<'_>, rank: usize, fill: bool) -> Result<Self> {
        data.complete_for("a start from singular vectors")?;
        let (m, n) = (data.rows(), data.features());
        if rank > m.min(n) {
            return Err(Error::Parameter {
                name: "rank",
                value: rank.to_string(),
                expected: "a start by NNDSVD needs one that is at most the smaller side of the matrix",
            });
        }
        let (squares, v) = leading(data, rank);
        let mut w = left(data, &v);
        let mut h = v.reversed_axes();
        for (j, square) in squares.iter().enumerate() {
            let sigma = square.max(0.0).sqrt();
            let mut u = w.column_mut(j);
            // A direction without a share in X has no partner.
            u.mapv_inplace(|x| if sigma > 0.0 { x / sigma } else { 0.0 });
            let mut v = h.row_mut(j);
            let parts = |sign: f64| {
                let norm = |x: ndarray::ArrayView1<'_, f64>| {
                    x.iter().map(|x| (sign * x).max(0.0).powi(2)).sum::<f64>().sqrt()
                };
                (norm(u.view()), norm(v.view()))
            };
            let (plus, minus) = (parts(1.0), parts(-1.0));
            // The first pair has one sign but for rounding.
            let sign = if plus.0 * plus.1 >= minus.0 * minus.1 { 1.0 } else { -1.0 };
            let (of_u, of_v) = if sign > 0.0 { plus } else { minus };
            let size = (sigma * of_u * of_v).sqrt();
            let part = |x: f64, norm: f64| match norm > 0.0 {
                true => size * (sign * x).max(0.0) / norm,
                false => 0.0,
            };
            u.mapv_inplace(|x| part(x, of_u));
            v.mapv_inplace(|x| part(x, of_v));
        }
        if data.is_weighted() {
            for (row, mut own) in w.rows_mut().into_iter().enumerate() {
                // A row without weight has no share in the vectors.
                let root = data.root(row);
                own.mapv_inplace(|v| if root > 0.0 { v / root } else { 0.0 });
            }
        }
        if fill {
            let level = level(data);
            w.mapv_inplace(|x| if x == 0.0 { level } else { x });
            h.mapv_inplace(|x| if x == 0.0 { level } else { x });
        }
        Ok(Self { components: Some(h.as_standard_layout().to_owned()), representation: Some(w) })
    }
}

/// The largest eigenvalues of XᵀX (falling) and their eigenvectors (n×r).
fn leading(data: &GroupedData<'_>, rank: usize) -> (Vec<f64>, Array2<f64>) {
    let n = data.features();
    let wanted = (rank + BESIDE).min(data.rows().min(n));
    let mut stream = Stream::new(0, Purpose::Spectral, 1);
    let mut image: Vec<f64> = (0..n * wanted).map(|_| stream.uniform()).collect();
    let mut p = wanted;
    let mut step = 0;
    loop {
        step += 1;
        let (basis, found) = orthonormal(&image, p, Dependent::Replace);
        p = found;
        image = gram_times(data, &basis, p);
        let small = symmetric(&transposed_times(&basis, p, &image, p), p);
        let vectors = times(&basis, p, &small.vectors, p);
        image = times(&image, p, &small.vectors, p);
        let residual = |j: usize| {
            let rows = image.chunks_exact(p).zip(vectors.chunks_exact(p));
            rows.map(|(a, v)| (a[j] - small.values[j] * v[j]).powi(2)).sum::<f64>().sqrt()
        };
        let still = (0..rank).all(|j| residual(j) <= TOLERANCE * small.values[0]);
        if still || step >= MOST_STEPS {
            let vectors = Array2::from_shape_vec((n, p), vectors).expect("n rows of p numbers");
            return (small.values[..rank].to_vec(), vectors.slice(s![.., ..rank]).to_owned());
        }
    }
}

/// XᵀX·V (n×p) for V (n×p), row by row.
fn gram_times(data: &GroupedData<'_>, v: &[f64], p: usize) -> Vec<f64> {
    let rows: Vec<usize> = (0..data.rows()).collect();
    let pieces: Vec<Vec<f64>> = rows
        .par_chunks(rows.len().div_ceil(PIECES))
        .map(|rows| {
            let (mut image, mut own) = (vec![0.0; v.len()], vec![0.0; p]);
            for &row in rows {
                own.fill(0.0);
                data.for_each_in_row(row, |j, x| add(&mut own, x, &v[j * p..(j + 1) * p]));
                data.for_each_in_row(row, |j, x| add(&mut image[j * p..(j + 1) * p], x, &own));
            }
            image
        })
        .collect();
    pieces
        .into_iter()
        .reduce(|mut a, b| {
            add(&mut a, 1.0, &b);
            a
        })
        .unwrap_or_default()
}

/// X·V (m×r) for V (n×r).
fn left(data: &GroupedData<'_>, v: &Array2<f64>) -> Array2<f64> {
    let (m, r) = (data.rows(), v.ncols());
    let mut w = vec![0.0; m * r];
    w.par_chunks_mut(r).enumerate().for_each(|(row, own)| {
        data.for_each_in_row(row, |j, x| {
            own.iter_mut().zip(v.row(j)).for_each(|(w, v)| *w += x * v);
        });
    });
    Array2::from_shape_vec((m, r), w).expect("m rows of r numbers")
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(t, w)| *t += factor * w);
}

/// The mean of X in units in which its root mean square is one, in the units of W and of H, which
/// are those of √X.
fn level(data: &GroupedData<'_>) -> f64 {
    let rows: f64 = (0..data.rows()).map(|row| data.weight(row)).sum();
    let cells = rows * data.features() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for row in 0..data.rows() {
        let root = data.root(row);
        data.for_each_in_row(row, |_, x| {
            sum += root * x;
            squares += x * x;
        });
    }
    // Positive: data without a positive entry is refused.
    sum / cells / (squares / cells).sqrt().sqrt()
}
