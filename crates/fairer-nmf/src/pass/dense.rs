//! Dense panels: both products from a panel that is in cache, by `gemm` or, where the matrix is
//! narrow, by loops of our own: a call of `gemm` packs its operands first, which costs more than
//! a small product.

use super::Prepared;
use crate::Element;
use crate::simd::products;
use gemm::{Parallelism, gemm};
use ndarray::ArrayView2;

/// Features up to which the own loops are faster.
pub(super) const NARROW: usize = 128;
/// Panels whose products are summed in the type of the data before they are added to the f64
/// sums.
const PANELS_PER_FLUSH: usize = 4;

/// Buffers of a thread for dense data.
#[derive(Default)]
pub(super) struct Buffers<T> {
    /// A copy of the panel, k×n row-major, where the rows do not lie together.
    panel: Vec<T>,
    gathered: bool,
    product: Vec<T>,
    /// WᵀX in the type of the data, r×n, and how many panels it holds.
    partial: Vec<T>,
    panels: usize,
    /// WᵀX, r×n.
    total: Vec<f64>,
}

impl<T: Element> Buffers<T> {
    pub fn begin(&mut self, rank: usize, features: usize) {
        self.panels = 0;
        self.partial.resize(rank * features, T::default());
        self.total.clear();
        self.total.resize(rank * features, 0.0);
    }

    /// Makes the panel's rows available: as they lie where they are neighbours in a row-major
    /// matrix, else as a copy that stays in cache.
    pub fn load(&mut self, x: &ArrayView2<'_, T>, rows: &[usize]) {
        let neighbours = rows.windows(2).all(|w| w[1] == w[0] + 1);
        let n = x.ncols();
        self.gathered = if n <= NARROW {
            !(neighbours && x.is_standard_layout())
        } else {
            !(neighbours && x.strides()[1] == 1)
        };
        if !self.gathered {
            return;
        }
        self.panel.resize(rows.len() * n, T::default());
        if x.strides()[1] == 1 || n == 1 {
            for (out, &row) in self.panel.chunks_exact_mut(n).zip(rows) {
                out.iter_mut().zip(x.row(row)).for_each(|(o, &v)| *o = v);
            }
        } else {
            // Column by column, so that a column-major matrix is read along its lines.
            for (j, column) in x.columns().into_iter().enumerate() {
                for (i, &row) in rows.iter().enumerate() {
                    self.panel[i * n + j] = column[row];
                }
            }
        }
    }

    /// The loaded panel as `gemm` sees it: pointer and stride from row to row.
    fn strided(&self, x: &ArrayView2<'_, T>, rows: &[usize]) -> (*const T, isize) {
        if self.gathered {
            (self.panel.as_ptr(), x.ncols() as isize)
        } else {
            (x.row(rows[0]).as_ptr(), x.strides()[0])
        }
    }

    /// The loaded panel of a narrow matrix, k×n without gaps.
    fn contiguous<'a>(&'a self, x: &'a ArrayView2<'_, T>, rows: &[usize]) -> &'a [T] {
        if self.gathered {
            return &self.panel[..rows.len() * x.ncols()];
        }
        let whole = x.to_slice().expect("`load` copies a narrow matrix that is not contiguous");
        &whole[rows[0] * x.ncols()..][..rows.len() * x.ncols()]
    }

    /// X_bHᵀ (k×r) of the loaded panel; `out` has room for the last vectors.
    pub fn times_dictionary(
        &mut self,
        x: &ArrayView2<'_, T>,
        rows: &[usize],
        h: &Prepared<T>,
        out: &mut [f64],
    ) {
        let (k, r, n) = (rows.len(), h.rank, h.features);
        if n <= NARROW {
            products::times(self.contiguous(x, rows), (k, n, n), &h.padded, r, out);
            return;
        }
        self.product.resize(k * r, T::default());
        let (panel, stride) = self.strided(x, rows);
        // SAFETY: `panel` covers k rows of n entries with this stride (a view of x or the copy
        // just made), `plain` is n×r and `product` is k×r, all initialised, none
        // overlapping.
        unsafe {
            gemm(
                r,
                k,
                n,
                self.product.as_mut_ptr(),
                r as isize,
                1,
                false,
                h.plain.as_ptr(),
                r as isize,
                1,
                panel,
                stride,
                1,
                T::default(),
                T::ONE,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
        out.iter_mut().zip(&self.product).for_each(|(o, p)| *o = p.to_f64());
    }

    /// Adds X_bᵀW_b of the loaded panel to `cross` (n rows, padded), where the matrix is narrow;
    /// `w`: k×r with room for the last vectors.
    pub fn add_narrow_cross(
        &self,
        x: &ArrayView2<'_, T>,
        rows: &[usize],
        w: &[f64],
        r: usize,
        cross: &mut [f64],
    ) {
        let (k, n) = (rows.len(), x.ncols());
        products::add_transposed_times(self.contiguous(x, rows), (k, n, n), w, r, cross);
    }

    /// Adds W_bᵀX_b of the loaded panel to the own sums; `w`: k×r.
    pub fn add_cross(&mut self, x: &ArrayView2<'_, T>, rows: &[usize], w: &[T], r: usize) {
        let (k, n) = (rows.len(), x.ncols());
        let (panel, stride) = self.strided(x, rows);
        // SAFETY: as above; `partial` is r×n, `w` is k×r.
        unsafe {
            gemm(
                n,
                r,
                k,
                self.partial.as_mut_ptr(),
                n as isize,
                1,
                self.panels > 0,
                panel,
                stride,
                1,
                w.as_ptr(),
                1,
                r as isize,
                T::ONE,
                T::ONE,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
        self.panels += 1;
        if self.panels == PANELS_PER_FLUSH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.panels > 0 {
            self.total.iter_mut().zip(&self.partial).for_each(|(t, p)| *t += p.to_f64());
            self.panels = 0;
        }
    }

    /// The chunk's XᵀW (n×r).
    pub fn cross(&mut self, out: &mut [f64], r: usize, n: usize) {
        self.flush();
        for (k, row) in self.total.chunks_exact(n).enumerate() {
            row.iter().enumerate().for_each(|(j, &v)| out[j * r + k] = v);
        }
    }
}
