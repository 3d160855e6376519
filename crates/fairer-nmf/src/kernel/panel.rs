//! The two products of a dense panel, in the number type of the data.
//!
//! A panel is k rows of n numbers without gaps. Both products keep a block of the result in
//! registers while they run along the panel; nothing is packed first, which is what a general
//! library spends much of its time on when one factor is thin.

use super::{LONGEST_SUM, settled, vectorised};
use crate::kernel::buffer::Buffer;
use crate::number::Number;

/// Rows that are taken through all blocks of H before the next ones.
const GROUP: usize = 8;
/// Vectors of topics that a block keeps in registers, for all rows of a group.
const WIDEST: usize = 3;
/// Topics beyond whole vectors up to which dot products along the rows are faster than another
/// vector that is mostly empty.
const MOST_DOTS: usize = 4;
/// Vectors of a row below which they never are.
const LONG: usize = 8;

/// Hᵀ (n×r) in the form that [`times`] reads.
pub struct Packed<T> {
    rank: usize,
    features: usize,
    /// Whole vectors: n rows of `vectors`·N numbers.
    main: Buffer<T>,
    vectors: usize,
    /// The last topics one by one, n numbers each.
    dots: Vec<T>,
    count: usize,
}

/// Numbers of a vector: one AVX-512 register (two of AVX2).
const fn lanes<T>() -> usize {
    64 / size_of::<T>()
}

impl<T: Number> Packed<T> {
    /// `value(j, t)`: feature j of topic t.
    pub fn new(rank: usize, features: usize, value: impl Fn(usize, usize) -> T) -> Self {
        let n = lanes::<T>();
        let beyond = rank % n;
        let count = if beyond <= MOST_DOTS && features >= LONG * n { beyond } else { 0 };
        let vectors = (rank - count).div_ceil(n);
        let mut main = Buffer::new(features * vectors * n);
        for (j, row) in main.chunks_exact_mut((vectors * n).max(1)).enumerate() {
            row[..rank - count].iter_mut().enumerate().for_each(|(t, v)| *v = value(j, t));
        }
        let dots = (rank - count..rank).flat_map(|t| (0..features).map(move |j| (j, t)));
        let dots = dots.map(|(j, t)| value(j, t)).collect();
        Self { rank, features, main, vectors, dots, count }
    }
}

/// What a k×r result of [`times`] needs as a buffer: room for the last row's vectors.
pub fn room(k: usize, r: usize) -> usize {
    k * r + lanes::<f32>()
}

/// X_bHᵀ (k×r) of a panel; `out` is at least [`room`] long.
pub fn times<T: Number>(x: &[T], h: &Packed<T>, out: &mut [f64]) {
    if T::SINGLE { times_in::<T, 16>(x, h, out) } else { times_in::<T, 8>(x, h, out) }
}

vectorised! {
    fn times_in<const N: usize; T: Number>(x: &[T], h: &Packed<T>, out: &mut [f64]) {
        let (n, r) = (h.features, h.rank);
        let blocks = h.vectors.div_ceil(WIDEST);
        let longest = if T::SINGLE { LONGEST_SUM } else { n };
        for (i, x) in x.chunks(GROUP * n).enumerate() {
            let out = &mut out[i * GROUP * r..];
            for from in (0..n).step_by(longest) {
                let of = Shape { n, p: h.vectors * N, r, from, to: n.min(from + longest) };
                // From the last block to the first: the overhang of a row falls on the first topics
                // of the next, which are written later (with the first features; then it is zero).
                let mut end = h.vectors;
                for left in (1..=blocks).rev() {
                    let here = end.div_ceil(left);
                    end -= here;
                    let (main, out) = (&h.main[end * N..], &mut out[end * N..]);
                    match here {
                        1 => block::<T, N, 1, FMA, WIDE>(x, main, of, out),
                        2 => block::<T, N, 2, FMA, WIDE>(x, main, of, out),
                        _ => block::<T, N, WIDEST, FMA, WIDE>(x, main, of, out),
                    }
                }
            }
            let out = &mut out[r - h.count..];
            match h.count {
                0 => {}
                1 => dots::<T, N, 1, FMA, WIDE>(x, &h.dots, n, r, out),
                2 => dots::<T, N, 2, FMA, WIDE>(x, &h.dots, n, r, out),
                3 => dots::<T, N, 3, FMA, WIDE>(x, &h.dots, n, r, out),
                _ => dots::<T, N, 4, FMA, WIDE>(x, &h.dots, n, r, out),
            }
        }
    }
}

/// n features of which those in `from..to` are summed, p numbers of H a feature, rank r.
#[derive(Clone, Copy)]
struct Shape {
    n: usize,
    p: usize,
    r: usize,
    from: usize,
    to: usize,
}

/// V vectors of the topics for a group of rows, as many rows at once as the registers hold.
#[inline(always)]
fn block<T: Number, const N: usize, const V: usize, const FMA: bool, const WIDE: bool>(
    x: &[T],
    h: &[T],
    shape: Shape,
    out: &mut [f64],
) {
    let Shape { n, r, .. } = shape;
    let k = x.len() / n;
    let mut i = 0;
    if WIDE {
        if k == GROUP {
            return block_rows::<T, N, V, GROUP, FMA>(x, h, shape, out);
        }
    } else if V == 1 {
        while i + 4 <= k {
            block_rows::<T, N, V, 4, FMA>(&x[i * n..], h, shape, &mut out[i * r..]);
            i += 4;
        }
    } else {
        while i + 2 <= k {
            block_rows::<T, N, V, 2, FMA>(&x[i * n..], h, shape, &mut out[i * r..]);
            i += 2;
        }
    }
    while i < k {
        block_rows::<T, N, V, 1, FMA>(&x[i * n..], h, shape, &mut out[i * r..]);
        i += 1;
    }
}

#[inline(always)]
fn block_rows<T: Number, const N: usize, const V: usize, const R: usize, const FMA: bool>(
    x: &[T],
    h: &[T],
    Shape { n, p, r, from, to }: Shape,
    out: &mut [f64],
) {
    let mut sum = [[[T::default(); N]; V]; R];
    let rows: [&[T]; R] = std::array::from_fn(|i| &x[i * n + from..i * n + to]);
    let h = &h[from * p..];
    for j in 0..to - from {
        let h: [[T; N]; V] = load(&h[j * p..]);
        for i in 0..R {
            let x = rows[i][j];
            for v in 0..V {
                for l in 0..N {
                    sum[i][v][l] = x.times_plus::<FMA>(h[v][l], sum[i][v][l]);
                }
            }
        }
    }
    let sum = settled(sum);
    for i in 0..R {
        for v in 0..V {
            let out = &mut out[i * r + v * N..][..N];
            for l in 0..N {
                out[l] = sum[i][v][l].to_f64() + if from == 0 { 0.0 } else { out[l] };
            }
        }
    }
}

/// D topics for a group of rows, along the rows.
#[inline(always)]
fn dots<T: Number, const N: usize, const D: usize, const FMA: bool, const WIDE: bool>(
    x: &[T],
    h: &[T],
    n: usize,
    r: usize,
    out: &mut [f64],
) {
    let k = x.len() / n;
    let mut i = 0;
    while WIDE && i + 4 <= k {
        dots_of_rows::<T, N, D, 4, FMA>(&x[i * n..], h, n, r, &mut out[i * r..]);
        i += 4;
    }
    while i < k {
        dots_of_rows::<T, N, D, 1, FMA>(&x[i * n..], h, n, r, &mut out[i * r..]);
        i += 1;
    }
}

#[inline(always)]
fn dots_of_rows<T: Number, const N: usize, const D: usize, const R: usize, const FMA: bool>(
    x: &[T],
    h: &[T],
    n: usize,
    r: usize,
    out: &mut [f64],
) {
    let mut sum = [[[T::default(); N]; D]; R];
    let rows: [&[T]; R] = std::array::from_fn(|i| &x[i * n..][..n]);
    let topics: [&[T]; D] = std::array::from_fn(|d| &h[d * n..][..n]);
    let whole = n / N * N;
    for j in (0..whole).step_by(N) {
        let h: [[T; N]; D] = std::array::from_fn(|d| load::<T, N, 1>(&topics[d][j..])[0]);
        for i in 0..R {
            let [x]: [[T; N]; 1] = load(&rows[i][j..]);
            for d in 0..D {
                for l in 0..N {
                    sum[i][d][l] = x[l].times_plus::<FMA>(h[d][l], sum[i][d][l]);
                }
            }
        }
    }
    let sum = settled(sum);
    for i in 0..R {
        for d in 0..D {
            let whole_part: f64 = sum[i][d].iter().map(|s| s.to_f64()).sum();
            let rest = rows[i][whole..].iter().zip(&topics[d][whole..]);
            out[i * r + d] = whole_part + rest.map(|(x, h)| x.to_f64() * h.to_f64()).sum::<f64>();
        }
    }
}

/// V vectors from the start of `values`, checked once.
#[inline(always)]
fn load<T: Number, const N: usize, const V: usize>(values: &[T]) -> [[T; N]; V] {
    let values = &values[..V * N];
    let mut vectors = [[T::default(); N]; V];
    for v in 0..V {
        vectors[v].copy_from_slice(&values[v * N..(v + 1) * N]);
    }
    vectors
}

/// WᵀX_b as [`add_cross`] sums it: N columns after N columns, and of these topic after topic, so
/// that what is added at once lies together. Length for n columns.
pub(crate) fn cross_room<T>(n: usize, r: usize) -> usize {
    n.next_multiple_of(lanes::<T>()) * r
}

/// Visits the sums of [`add_cross`]: `visit(column, topic, index)`.
pub(crate) fn cross_places<T>(n: usize, r: usize, mut visit: impl FnMut(usize, usize, usize)) {
    let lanes = lanes::<T>();
    for first in (0..n).step_by(lanes) {
        for t in 0..r {
            for j in first..n.min(first + lanes) {
                visit(j, t, first * r + t * lanes + j - first);
            }
        }
    }
}

/// Adds WᵀX_b of a panel to `out` ([`cross_room`]); `w`: k×r; `tail`: a buffer for the last
/// columns.
pub(crate) fn add_cross<T: Number>(
    x: &[T],
    n: usize,
    w: &[T],
    r: usize,
    tail: &mut Vec<T>,
    out: &mut [T],
) {
    let lanes = lanes::<T>();
    let (k, beyond) = (x.len() / n, n % lanes);
    tail.clear();
    if beyond > 0 {
        tail.resize(k * lanes, T::default());
        for (tail, x) in tail.chunks_exact_mut(lanes).zip(x.chunks_exact(n)) {
            tail[..beyond].copy_from_slice(&x[n - beyond..]);
        }
    }
    if T::SINGLE {
        add_cross_in::<T, 16>(x, n, w, r, tail, out);
    } else {
        add_cross_in::<T, 8>(x, n, w, r, tail, out);
    }
}

vectorised! {
    fn add_cross_in<const N: usize; T: Number>(
        x: &[T], n: usize, w: &[T], r: usize, tail: &[T], out: &mut [T],
    ) {
        let k = x.len() / n;
        let whole = n / N;
        let mut at = 0;
        while at < whole {
            let (x, out) = (&x[at * N..], &mut out[at * N * r..]);
            if at + 2 <= whole {
                columns::<T, N, 2, FMA, WIDE>((x, n), w, (k, r), out);
                at += 2;
            } else {
                columns::<T, N, 1, FMA, WIDE>((x, n), w, (k, r), out);
                at += 1;
            }
        }
        if !tail.is_empty() {
            columns::<T, N, 1, FMA, WIDE>((tail, N), w, (k, r), &mut out[whole * N * r..]);
        }
    }
}

/// V vectors of columns for all topics; the rows of `x` lie `stride` apart.
#[inline(always)]
fn columns<T: Number, const N: usize, const V: usize, const FMA: bool, const WIDE: bool>(
    (x, stride): (&[T], usize),
    w: &[T],
    (k, r): (usize, usize),
    out: &mut [T],
) {
    let mut t = 0;
    macro_rules! topics {
        ($count:literal) => {
            while r - t >= $count {
                let (w, out) = (&w[t..], &mut out[t * N..]);
                column_topics::<T, N, V, $count, FMA>((x, stride), w, (k, r), out);
                t += $count;
            }
        };
    }
    // No powers of two where there is a choice: the compiler then turns the loops inside out and
    // gathers.
    if WIDE {
        topics!(10);
        topics!(5);
        topics!(3);
    }
    topics!(2);
    topics!(1);
}

#[inline(always)]
fn column_topics<T: Number, const N: usize, const V: usize, const R: usize, const FMA: bool>(
    (x, stride): (&[T], usize),
    w: &[T],
    (k, r): (usize, usize),
    out: &mut [T],
) {
    let mut sum = [[[T::default(); N]; V]; R];
    for i in 0..k {
        // The next columns of the row: rows are too far apart for the processor to foresee it.
        prefetch(x, i * stride + V * N);
        prefetch(x, i * stride + (V + 1) * N);
        let x: [[T; N]; V] = load(&x[i * stride..]);
        let w = &w[i * r..][..R];
        for t in 0..R {
            for v in 0..V {
                for l in 0..N {
                    sum[t][v][l] = w[t].times_plus::<FMA>(x[v][l], sum[t][v][l]);
                }
            }
        }
    }
    let sum = settled(sum);
    for v in 0..V {
        let out = &mut out[v * N * r..][..R * N];
        for t in 0..R {
            for l in 0..N {
                out[t * N + l] = out[t * N + l].plus(sum[t][v][l]);
            }
        }
    }
}

/// Asks for the cache line of `values[at]`, which may lie beyond the end.
#[inline(always)]
fn prefetch<T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing and accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

#[cfg(test)]
mod tests;
