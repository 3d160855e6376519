//! Eigenvalues and eigenvectors of a small symmetric matrix, and products of thin matrices.
//!
//! Householder's reduction to a tridiagonal matrix and implicit QL steps (the EISPACK routines
//! TRED2 and TQL2 of Bowdler, Martin, Reinsch and Wilkinson, 1968): backward stable, so every
//! eigenvalue is good to some eps·‖A‖. Nothing of the bound's validity rests on them.

use crate::kernel::products::dot;
use crate::kernel::{padded, products, vectorised};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// A = U·diag(values)·Uᵀ.
pub(crate) struct Eigen {
    /// Falling.
    pub values: Vec<f64>,
    /// U (n×n, row by row): eigenvectors as columns, in the order of the values.
    pub vectors: Vec<f64>,
}

/// The eigen-decomposition of a symmetric n×n matrix.
pub(crate) fn symmetric(a: &[f64], n: usize) -> Eigen {
    let mut v = a.to_vec();
    let (mut d, mut e) = (vec![0.0; n], vec![0.0; n]);
    decompose(&mut v, n, &mut d, &mut e);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[j].total_cmp(&d[i]));
    // `v` holds eigenvectors as rows.
    let mut vectors = vec![0.0; n * n];
    for (k, &from) in order.iter().enumerate() {
        for i in 0..n {
            vectors[i * n + k] = v[from * n + i];
        }
    }
    Eigen { values: order.iter().map(|&i| d[i]).collect(), vectors }
}

/// The projection on the d leading eigenvectors of a symmetric n×n matrix, n×n.
pub fn leading_projection(a: &[f64], n: usize, d: usize) -> Vec<f64> {
    let vectors = symmetric(a, n).vectors;
    let mut p = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let row = |i: usize| &vectors[i * n..][..d];
            p[i * n + j] = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
        }
    }
    p
}

vectorised! {
    /// The rows of `v` become the eigenvectors, `d` the eigenvalues.
    fn decompose(v: &mut [f64], n: usize, d: &mut [f64], e: &mut [f64]) {
        tridiagonal(v, n, d, e);
        implicit_ql(v, n, d, e);
    }
}

/// Householder's reduction. `d` gets the diagonal, `e` the sub-diagonal (e[i] beside d[i−1] and
/// d[i]), and the rows of `v` the transposed transformation. The leading block is kept with both triangles, so that
/// every loop runs along rows.
#[inline(always)]
fn tridiagonal(v: &mut [f64], n: usize, d: &mut [f64], e: &mut [f64]) {
    for i in 0..n {
        (0..i).for_each(|j| v[j * n + i] = v[i * n + j]);
    }
    d.copy_from_slice(&v[(n - 1) * n..]);
    for i in (1..n).rev() {
        let scale: f64 = d[..i].iter().map(|x| x.abs()).sum();
        let mut h = 0.0;
        if scale == 0.0 {
            e[i] = d[i - 1];
            d[..i].copy_from_slice(&v[(i - 1) * n..][..i]);
            v[i * n..][..i].fill(0.0);
            (0..i).for_each(|j| v[j * n + i] = 0.0);
        } else {
            for x in &mut d[..i] {
                *x /= scale;
                h += *x * *x;
            }
            let f = d[i - 1];
            let g = if f > 0.0 { -h.sqrt() } else { h.sqrt() };
            e[i] = scale * g;
            h -= f * g;
            d[i - 1] = f - g;
            (0..i).for_each(|j| v[j * n + i] = d[j]);
            e[..i].fill(0.0);
            for (row, d) in v.chunks_exact(n).zip(&d[..i]) {
                add(&mut e[..i], *d, &row[..i]);
            }
            let mut f = 0.0;
            for j in 0..i {
                e[j] /= h;
                f += e[j] * d[j];
            }
            let hh = f / (h + h);
            for j in 0..i {
                e[j] -= hh * d[j];
            }
            for (row, (d_row, e_row)) in v.chunks_exact_mut(n).zip(d[..i].iter().zip(&e[..i])) {
                for (v, (d, e)) in row[..i].iter_mut().zip(d[..i].iter().zip(&e[..i])) {
                    *v -= d * e_row + e * d_row;
                }
            }
            d[..i].copy_from_slice(&v[(i - 1) * n..][..i]);
            v[i * n..][..i].fill(0.0);
        }
        d[i] = h;
    }
    accumulate(v, n, d);
    e[0] = 0.0;
    // The rotations that follow run over columns: as rows they are contiguous.
    for i in 0..n {
        for j in 0..i {
            v.swap(i * n + j, j * n + i);
        }
    }
}

/// a + x·b.
#[inline(always)]
fn add(a: &mut [f64], x: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += x * b);
}

/// The product of all reflections, in place of what they were stored in.
#[inline(always)]
fn accumulate(v: &mut [f64], n: usize, d: &mut [f64]) {
    let mut along = vec![0.0; n];
    for i in 0..n - 1 {
        v[(n - 1) * n + i] = v[i * n + i];
        v[i * n + i] = 1.0;
        let h = d[i + 1];
        if h != 0.0 {
            let along = &mut along[..=i];
            along.fill(0.0);
            for (row, d) in v.chunks_exact(n).zip(&mut d[..=i]) {
                add(along, row[i + 1], &row[..=i]);
                *d = row[i + 1] / h;
            }
            for (row, d) in v.chunks_exact_mut(n).zip(&d[..=i]) {
                add(&mut row[..=i], -*d, along);
            }
        }
        (0..=i).for_each(|k| v[k * n + i + 1] = 0.0);
    }
    for j in 0..n {
        d[j] = v[(n - 1) * n + j];
        v[(n - 1) * n + j] = 0.0;
    }
    v[n * n - 1] = 1.0;
}

/// Steps after which an eigenvalue is taken as it is; a handful are needed.
const MOST_STEPS: usize = 60;

/// Implicit QL steps; the rows of `v` become the eigenvectors.
#[inline(always)]
fn implicit_ql(v: &mut [f64], n: usize, d: &mut [f64], e: &mut [f64]) {
    e.rotate_left(1);
    e[n - 1] = 0.0;
    let (mut f, mut largest) = (0.0, 0.0f64);
    for l in 0..n {
        largest = largest.max(d[l].abs() + e[l].abs());
        // e[n − 1] = 0 ends the search.
        let small = |e: f64| e.abs() <= f64::EPSILON * largest;
        let m = (l..n).find(|&m| small(e[m])).unwrap_or(n - 1);
        if m > l {
            for _ in 0..MOST_STEPS {
                let g = d[l];
                let mut p = (d[l + 1] - g) / (2.0 * e[l]);
                let r = if p < 0.0 { -p.hypot(1.0) } else { p.hypot(1.0) };
                d[l] = e[l] / (p + r);
                d[l + 1] = e[l] * (p + r);
                let next = d[l + 1];
                let h = g - d[l];
                d[l + 2..].iter_mut().for_each(|x| *x -= h);
                f += h;
                p = d[m];
                let (mut c, mut c2, mut c3) = (1.0, 1.0, 1.0);
                let beside = e[l + 1];
                let (mut s, mut s2) = (0.0, 0.0);
                for i in (l..m).rev() {
                    (c3, c2, s2) = (c2, c, s);
                    let g = c * e[i];
                    let h = c * p;
                    let r = p.hypot(e[i]);
                    e[i + 1] = s * r;
                    s = e[i] / r;
                    c = p / r;
                    p = c * d[i] - s * g;
                    d[i + 1] = h + s * (c * g + s * d[i]);
                    let (low, high) = v.split_at_mut((i + 1) * n);
                    for (a, b) in low[i * n..].iter_mut().zip(&mut high[..n]) {
                        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
                    }
                }
                p = -s * s2 * c3 * beside * e[l] / next;
                e[l] = s * p;
                d[l] = c * p;
                if small(e[l]) {
                    break;
                }
            }
        }
        d[l] += f;
        e[l] = 0.0;
    }
}

/// Rows that one thread multiplies at once; multiplications below which there is but one thread.
const ROWS: usize = 64;
const WORTH_SHARING: usize = 1 << 20;

/// A·B (k×r) for A (k×n) and B (n×r), row by row.
pub(crate) fn times(a: &[f64], n: usize, b: &[f64], r: usize) -> Vec<f64> {
    let k = a.len() / n;
    let mut packed = Vec::new();
    products::pad_rows(b, r, &mut packed);
    let mut out = vec![0.0; k * r];
    let block = |(a, out): (&[f64], &mut [f64])| {
        let rows = a.len() / n;
        let mut room = vec![0.0; products::room(rows, r)];
        products::times(a, (rows, n, n), &packed, r, &mut room);
        out.copy_from_slice(&room[..rows * r]);
    };
    if k * n * r < WORTH_SHARING {
        a.chunks(ROWS * n).zip(out.chunks_mut(ROWS * r)).for_each(block);
    } else {
        a.par_chunks(ROWS * n).zip(out.par_chunks_mut(ROWS * r)).for_each(block);
    }
    out
}

/// AᵀB (n×r) for A (k×n) and B (k×r).
pub(crate) fn transposed_times(a: &[f64], n: usize, b: &[f64], r: usize) -> Vec<f64> {
    let k = a.len() / n;
    let mut sums = vec![0.0; n * padded(r)];
    products::add_transposed_times(a, (k, n, n), b, r, &mut sums);
    let mut out = vec![0.0; n * r];
    products::unpad_rows(&sums, r, &mut out);
    out
}

/// What becomes of a column that depends on those before it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Dependent {
    /// It is left out.
    Drop,
    /// A random direction takes its place.
    Replace,
}

/// Below this share of its length a column is what rounding left of it.
const NOTHING: f64 = 1e-13;

/// An orthonormal basis (k×q) of the columns of A (k×p), in their order, and q: Gram–Schmidt, each
/// column twice. A basis has at most k columns.
pub(crate) fn orthonormal(a: &[f64], p: usize, dependent: Dependent) -> (Vec<f64>, usize) {
    let k = a.len() / p;
    let mut stream = Stream::new(1, Purpose::Spectral, 0);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(p);
    for c in 0..p.min(if dependent == Dependent::Replace { k } else { p }) {
        let mut column: Vec<f64> = a.chunks_exact(p).map(|row| row[c]).collect();
        // A random direction has a share beside fewer than k others; a few are tried.
        for _ in 0..5 {
            if basis.len() < k && deflate(&mut column, &basis) {
                basis.push(column);
                break;
            }
            if dependent == Dependent::Drop {
                break;
            }
            column = (0..k).map(|_| stream.normal()).collect();
        }
    }
    let q = basis.len();
    let mut out = vec![0.0; k * q];
    for (c, column) in basis.iter().enumerate() {
        out.chunks_exact_mut(q).zip(column).for_each(|(row, v)| row[c] = *v);
    }
    (out, q)
}

/// Takes the directions of the basis out of a column and gives it unit length; false where nothing
/// is left.
fn deflate(column: &mut [f64], basis: &[Vec<f64>]) -> bool {
    for _ in 0..2 {
        let before = dot(column, column).sqrt();
        for b in basis {
            let along = dot(b, column);
            column.iter_mut().zip(b).for_each(|(c, b)| *c -= along * b);
        }
        let after = dot(column, column).sqrt();
        // Also where it is zero or not finite.
        if after.is_nan() || after <= NOTHING * before {
            return false;
        }
        column.iter_mut().for_each(|c| *c /= after);
    }
    true
}

#[cfg(test)]
mod tests;
