//! Sparse rows: both products by plain loops along rows of length r, padded to whole vectors.

use super::{PANEL, Prepared};
use crate::Element;
use crate::data::{Csr, Indices};
use crate::simd::vectorised;

const LANES: usize = 8;

/// Buffers of a thread for sparse data.
#[derive(Default)]
pub(super) struct Buffers {
    /// Hᵀ scaled, n×p where p is r rounded up to whole vectors.
    h: Vec<f64>,
    /// XᵀW, n×p.
    cross: Vec<f64>,
    /// One panel of C or W, PANEL×p.
    rows: Vec<f64>,
}

fn padded(r: usize) -> usize {
    r.next_multiple_of(LANES)
}

impl Buffers {
    pub fn begin<T: Element>(&mut self, h: &Prepared<T>) {
        let (r, p) = (h.rank, padded(h.rank));
        self.h.clear();
        self.h.resize(h.features * p, 0.0);
        for (out, row) in self.h.chunks_exact_mut(p).zip(h.scaled.chunks_exact(r)) {
            out.iter_mut().zip(row).for_each(|(o, v)| *o = v.to_f64());
        }
        self.cross.clear();
        self.cross.resize(h.features * p, 0.0);
        self.rows.clear();
        self.rows.resize(PANEL * p, 0.0);
    }

    /// X_bHᵀ (k×r) of a panel's rows.
    pub fn times_dictionary<T: Element>(
        &mut self,
        x: &Csr<'_, T>,
        rows: &[usize],
        r: usize,
        out: &mut [f64],
    ) {
        let p = padded(r);
        match x.indices {
            Indices::I32(indices) => gather(x, indices, rows, p, &self.h, &mut self.rows),
            Indices::I64(indices) => gather(x, indices, rows, p, &self.h, &mut self.rows),
        }
        for (o, row) in out.chunks_exact_mut(r).zip(self.rows.chunks_exact(p)) {
            o.copy_from_slice(&row[..r]);
        }
    }

    /// Adds X_bᵀW_b of a panel's rows; `w`: k×r.
    pub fn add_cross<T: Element>(&mut self, x: &Csr<'_, T>, rows: &[usize], w: &[f64], r: usize) {
        let p = padded(r);
        for (row, w) in self.rows.chunks_exact_mut(p).zip(w.chunks_exact(r)) {
            row[..r].copy_from_slice(w);
        }
        match x.indices {
            Indices::I32(indices) => scatter(x, indices, rows, p, &self.rows, &mut self.cross),
            Indices::I64(indices) => scatter(x, indices, rows, p, &self.rows, &mut self.cross),
        }
    }

    /// The chunk's XᵀW (n×r).
    pub fn cross(&self, r: usize, n: usize) -> Vec<f64> {
        let mut cross = vec![0.0; n * r];
        for (out, row) in cross.chunks_exact_mut(r).zip(self.cross.chunks_exact(padded(r))) {
            out.copy_from_slice(&row[..r]);
        }
        cross
    }
}

/// A column number in either width.
trait Column: Copy {
    fn at(self) -> usize;
}
impl Column for i32 {
    fn at(self) -> usize {
        self as usize
    }
}
impl Column for i64 {
    fn at(self) -> usize {
        self as usize
    }
}

/// The number of vectors of a row as a constant lets the compiler keep the row in registers.
macro_rules! for_width {
    ($p:expr, $function:ident, $($arg:expr),*) => {
        match $p / LANES {
            1 => $function::<_, _, 1>($($arg),*),
            2 => $function::<_, _, 2>($($arg),*),
            3 => $function::<_, _, 3>($($arg),*),
            4 => $function::<_, _, 4>($($arg),*),
            5 => $function::<_, _, 5>($($arg),*),
            6 => $function::<_, _, 6>($($arg),*),
            7 => $function::<_, _, 7>($($arg),*),
            8 => $function::<_, _, 8>($($arg),*),
            _ => $function::<_, _, 0>($($arg),*),
        }
    };
}

fn gather<T: Element, I: Column>(
    x: &Csr<'_, T>,
    indices: &[I],
    rows: &[usize],
    p: usize,
    h: &[f64],
    out: &mut [f64],
) {
    for_width!(p, gather_rows, &x.starts, indices, x.values, rows, p, h, out);
}

fn scatter<T: Element, I: Column>(
    x: &Csr<'_, T>,
    indices: &[I],
    rows: &[usize],
    p: usize,
    w: &[f64],
    cross: &mut [f64],
) {
    for_width!(p, scatter_rows, &x.starts, indices, x.values, rows, p, w, cross);
}

vectorised! {
    /// out_i = Σ_j x_ij·h_j for every row; V vectors a row (0: any number).
    fn gather_rows<const V: usize; T: Element, I: Column>(
        starts: &[usize], indices: &[I], values: &[T], rows: &[usize], p: usize, h: &[f64], out: &mut [f64],
    ) {
        for (out, &row) in out.chunks_exact_mut(p).zip(rows) {
            let range = starts[row]..starts[row + 1];
            if V == 0 {
                out.fill(0.0);
                for (&j, &x) in indices[range.clone()].iter().zip(&values[range]) {
                    let x = x.to_f64();
                    out.iter_mut().zip(&h[j.at() * p..][..p]).for_each(|(o, h)| *o += x * h);
                }
            } else {
                let mut sum = [[0.0; LANES]; V];
                for (&j, &x) in indices[range.clone()].iter().zip(&values[range]) {
                    let x = x.to_f64();
                    let h = &h[j.at() * V * LANES..][..V * LANES];
                    for v in 0..V {
                        for l in 0..LANES {
                            sum[v][l] += x * h[v * LANES + l];
                        }
                    }
                }
                for v in 0..V {
                    out[v * LANES..(v + 1) * LANES].copy_from_slice(&sum[v]);
                }
            }
        }
    }
}

vectorised! {
    /// cross_j += x_ij·w_i for every entry of every row; V vectors a row (0: any number).
    fn scatter_rows<const V: usize; T: Element, I: Column>(
        starts: &[usize], indices: &[I], values: &[T], rows: &[usize], p: usize, w: &[f64], cross: &mut [f64],
    ) {
        for (w, &row) in w.chunks_exact(p).zip(rows) {
            let range = starts[row]..starts[row + 1];
            for (&j, &x) in indices[range.clone()].iter().zip(&values[range]) {
                let x = x.to_f64();
                if V == 0 {
                    cross[j.at() * p..][..p].iter_mut().zip(w).for_each(|(c, w)| *c += x * w);
                } else {
                    let cross = &mut cross[j.at() * V * LANES..][..V * LANES];
                    for i in 0..V * LANES {
                        cross[i] += x * w[i];
                    }
                }
            }
        }
    }
}
