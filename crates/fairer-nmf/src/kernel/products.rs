//! Products with a thin factor that are summed in f64 whatever the type of the data; those of a
//! panel of the pass are in [`super::panel`].
//!
//! Thin factors lie row by row without gaps, r numbers a row. Whole vectors are read and written
//! all the same: what is read beyond a row belongs to the next one and lands in places that are
//! never looked at, what is written beyond a row is overwritten by the next.

use super::{LANES, Pack, for_width, padded, settled, vectorised};
use crate::number::Number;

/// Vectors of a row that one call keeps in registers.
const WIDEST: usize = 4;

/// Σ aᵢbᵢ.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight partial sums let the compiler use vector registers without reordering by itself.
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f64>() + tail
}

/// B (k×r) with every row padded by zeros to whole vectors.
pub(crate) fn pad_rows(b: &[f64], r: usize, out: &mut Vec<f64>) {
    let p = padded(r);
    out.clear();
    out.resize(b.len() / r * p, 0.0);
    for (out, row) in out.chunks_exact_mut(p).zip(b.chunks_exact(r)) {
        out[..r].copy_from_slice(row);
    }
}

/// What a k×r result needs as a buffer for [`times`]: room for the last row's vectors.
pub(crate) fn room(k: usize, r: usize) -> usize {
    k * r + LANES
}

/// A·B for A (k×n, `stride` numbers from row to row) and B (n×r, padded): `out` gets k rows of r
/// without gaps and is at least [`room`] long.
pub(crate) fn times<T: Number>(
    a: &[T],
    (k, n, stride): (usize, usize, usize),
    b: &[f64],
    r: usize,
    out: &mut [f64],
) {
    let vectors = padded(r) / LANES;
    // From the last columns to the first: the overhang of a row falls on the first columns of
    // the next, which are written last.
    for first in (0..vectors).step_by(WIDEST).rev() {
        let here = (vectors - first).min(WIDEST);
        let at = first * LANES;
        for_width!(here, times_block[T], a, k, n, stride, &b[at..], vectors, r, &mut out[at..]);
    }
}

vectorised! {
    /// V vectors of every row of A·B.
    fn times_block<const V: usize; T: Number>(
        a: &[T], k: usize, n: usize, stride: usize, b: &[f64], vectors: usize, r: usize, out: &mut [f64],
    ) {
        let mut i = 0;
        while i + 4 <= k {
            times_rows::<T, V, 4, FMA>(&a[i * stride..], n, stride, b, vectors * LANES, r, &mut out[i * r..]);
            i += 4;
        }
        while i < k {
            times_rows::<T, V, 1, FMA>(&a[i * stride..], n, stride, b, vectors * LANES, r, &mut out[i * r..]);
            i += 1;
        }
    }
}

#[inline(always)]
fn times_rows<T: Number, const V: usize, const R: usize, const FMA: bool>(
    a: &[T],
    n: usize,
    stride: usize,
    b: &[f64],
    p: usize,
    r: usize,
    out: &mut [f64],
) {
    let mut sum = [[Pack::ZERO; V]; R];
    let rows: [&[T]; R] = std::array::from_fn(|i| &a[i * stride..][..n]);
    for j in 0..n {
        let b: [Pack; V] = Pack::load(&b[j * p..]);
        for i in 0..R {
            let x = rows[i][j].to_f64();
            for v in 0..V {
                sum[i][v] = sum[i][v].add_product::<FMA>(Pack::all(x), b[v]);
            }
        }
    }
    let sum = settled(sum);
    for i in 0..R {
        for v in 0..V {
            out[i * r + v * LANES..][..LANES].copy_from_slice(&sum[i][v].0);
        }
    }
}

/// Adds AᵀB to `out` (n rows, padded) for A (k×n, `stride` numbers from row to row) and B (k×r).
pub(crate) fn add_transposed_times<T: Number>(
    a: &[T],
    (k, n, stride): (usize, usize, usize),
    b: &[f64],
    r: usize,
    out: &mut [f64],
) {
    let p = padded(r);
    // Rows whose vectors end inside `b`; the few others are copied.
    let safe = if b.len() < p { 0 } else { ((b.len() - p) / r + 1).min(k) };
    add_blocks(a, (safe, n, stride), b, r, out);
    if safe < k {
        let mut rest = vec![0.0; (k - safe) * r + p];
        rest[..(k - safe) * r].copy_from_slice(&b[safe * r..k * r]);
        add_blocks(&a[safe * stride..], (k - safe, n, stride), &rest, r, out);
    }
}

fn add_blocks<T: Number>(
    a: &[T],
    (k, n, stride): (usize, usize, usize),
    b: &[f64],
    r: usize,
    out: &mut [f64],
) {
    let vectors = padded(r) / LANES;
    for first in (0..vectors).step_by(WIDEST) {
        let here = (vectors - first).min(WIDEST);
        let at = first * LANES;
        for_width!(here, add_block[T], a, k, n, stride, &b[at..], r, &mut out[at..], vectors);
    }
}

vectorised! {
    /// V vectors of every row of AᵀB.
    fn add_block<const V: usize; T: Number>(
        a: &[T], k: usize, n: usize, stride: usize, b: &[f64], r: usize, out: &mut [f64], vectors: usize,
    ) {
        let p = vectors * LANES;
        let mut j = 0;
        while j + 4 <= n {
            add_columns::<T, V, 4, FMA>(&a[j..], k, stride, b, r, &mut out[j * p..], p);
            j += 4;
        }
        while j < n {
            add_columns::<T, V, 1, FMA>(&a[j..], k, stride, b, r, &mut out[j * p..], p);
            j += 1;
        }
    }
}

#[inline(always)]
fn add_columns<T: Number, const V: usize, const C: usize, const FMA: bool>(
    a: &[T],
    k: usize,
    stride: usize,
    b: &[f64],
    r: usize,
    out: &mut [f64],
    p: usize,
) {
    let mut sum = [[Pack::ZERO; V]; C];
    for i in 0..k {
        let a = &a[i * stride..][..C];
        let b: [Pack; V] = Pack::load(&b[i * r..]);
        for c in 0..C {
            let x = a[c].to_f64();
            for v in 0..V {
                sum[c][v] = sum[c][v].add_product::<FMA>(Pack::all(x), b[v]);
            }
        }
    }
    let sum = settled(sum);
    for c in 0..C {
        let out = &mut out[c * p..][..V * LANES];
        for v in 0..V {
            for l in 0..LANES {
                out[v * LANES + l] += sum[c][v].0[l];
            }
        }
    }
}

/// Copies the first r numbers of every padded row.
pub(crate) fn unpad_rows(padded_rows: &[f64], r: usize, out: &mut [f64]) {
    for (out, row) in out.chunks_exact_mut(r).zip(padded_rows.chunks_exact(padded(r))) {
        out.copy_from_slice(&row[..r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, so that every order of summation gives the same.
    fn whole(len: usize, step: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * step) % 11) as f64 - 3.0).collect()
    }

    #[test]
    fn products_equal_the_plain_sums_for_every_shape() {
        for r in [1, 2, 7, 8, 9, 16, 20, 33, 63, 64, 65, 70, 130] {
            for (k, n, gap) in [(1, 1, 0), (3, 5, 2), (4, 12, 0), (9, 9, 1), (17, 20, 0)] {
                let stride = n + gap;
                let a = whole((k - 1) * stride + n, 7);
                let b = whole(n * r, 5);
                let mut padded_b = Vec::new();
                pad_rows(&b, r, &mut padded_b);
                let mut out = vec![f64::NAN; room(k, r)];
                times(&a, (k, n, stride), &padded_b, r, &mut out);
                for i in 0..k {
                    for c in 0..r {
                        let sum: f64 = (0..n).map(|j| a[i * stride + j] * b[j * r + c]).sum();
                        assert_eq!(out[i * r + c], sum, "A·B {k}x{n}, r = {r}");
                    }
                }
                let b = whole(k * r, 3);
                let mut out = vec![1.0; n * padded(r)];
                add_transposed_times(&a, (k, n, stride), &b, r, &mut out);
                for j in 0..n {
                    for c in 0..r {
                        let sum: f64 = (0..k).map(|i| a[i * stride + j] * b[i * r + c]).sum();
                        assert_eq!(out[j * padded(r) + c], 1.0 + sum, "AᵀB {k}x{n}, r = {r}");
                    }
                }
            }
        }
    }
}
