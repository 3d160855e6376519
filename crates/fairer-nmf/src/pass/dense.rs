//! Dense panels: two products by `gemm`, both from a panel that is in cache.

use super::{PANEL, Prepared};
use crate::Element;
use gemm::{Parallelism, gemm};
use ndarray::ArrayView2;

/// Panels whose f32 products are summed before they are added to the f64 sums.
const PANELS_PER_FLUSH: usize = 8;

/// Buffers of a thread for dense data.
#[derive(Default)]
pub(super) struct Buffers<T> {
    /// A copy of the panel, PANEL×n row-major, where the rows do not lie together.
    panel: Vec<T>,
    gathered: bool,
    product: Vec<T>,
    /// WᵀX in the type of the data, r×n, and how many panels it holds.
    partial: Vec<T>,
    panels: usize,
    /// WᵀX, r×n.
    total: Vec<f64>,
}

/// A panel as `gemm` sees it: pointer, row stride, column stride.
type Strided<T> = (*const T, isize, isize);

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
        self.gathered = !(neighbours && x.strides()[1] == 1);
        if !self.gathered {
            return;
        }
        let n = x.ncols();
        self.panel.resize(PANEL * n, T::default());
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

    fn strided(&self, x: &ArrayView2<'_, T>, rows: &[usize]) -> Strided<T> {
        if self.gathered {
            (self.panel.as_ptr(), x.ncols() as isize, 1)
        } else {
            let first = x.row(rows[0]);
            (first.as_ptr(), x.strides()[0], x.strides()[1])
        }
    }

    /// X_bHᵀ (k×r) of the loaded panel.
    pub fn times_dictionary(
        &mut self,
        x: &ArrayView2<'_, T>,
        rows: &[usize],
        h: &Prepared<T>,
        out: &mut [f64],
    ) {
        let (k, r, n) = (rows.len(), h.rank, h.features);
        self.product.resize(PANEL * r, T::default());
        let (panel, row_stride, column_stride) = self.strided(x, rows);
        // SAFETY: `panel` covers k×n entries with these strides (a view of x or the copy just
        // made), `scaled` is n×r and `product` at least k×r, all initialised, none overlapping.
        unsafe {
            gemm(
                r,
                k,
                n,
                self.product.as_mut_ptr(),
                r as isize,
                1,
                false,
                h.scaled.as_ptr(),
                r as isize,
                1,
                panel,
                row_stride,
                column_stride,
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

    /// Adds W_bᵀX_b of the loaded panel; `w`: k×r.
    pub fn add_cross(&mut self, x: &ArrayView2<'_, T>, rows: &[usize], w: &[T], r: usize) {
        let (k, n) = (rows.len(), x.ncols());
        let (panel, row_stride, column_stride) = self.strided(x, rows);
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
                row_stride,
                column_stride,
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
    pub fn cross(&mut self, r: usize, n: usize) -> Vec<f64> {
        self.flush();
        let mut cross = vec![0.0; n * r];
        for (k, row) in self.total.chunks_exact(n).enumerate() {
            for (j, &v) in row.iter().enumerate() {
                cross[j * r + k] = v;
            }
        }
        cross
    }
}
