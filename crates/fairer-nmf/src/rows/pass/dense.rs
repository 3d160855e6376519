//! Dense panels: both products from a panel that is in cache.

use crate::kernel::panel::{self, Packed, cross_places, cross_room};
use crate::number::Number;
use ndarray::ArrayView2;

/// Panels whose products are summed in the type of the data before they are added to the f64
/// sums.
const PANELS_PER_FLUSH: usize = 4;

/// Buffers of a thread for dense data.
#[derive(Default)]
pub(super) struct Buffers<T> {
    /// A copy of the panel, k×n row-major, where the rows do not lie together.
    copy: Vec<T>,
    copied: bool,
    /// The last columns of the panel in whole vectors.
    tail: Vec<T>,
    /// WᵀX in the type of the data, as the panel sums it, and how many panels it holds.
    partial: Vec<T>,
    panels: usize,
    /// The same over all panels of the chunk.
    total: Vec<f64>,
}

impl<T: Number> Buffers<T> {
    pub fn begin(&mut self, rank: usize, features: usize) {
        let entries = cross_room::<T>(features, rank);
        self.panels = 0;
        self.partial.clear();
        self.partial.resize(entries, T::default());
        self.total.clear();
        self.total.resize(entries, 0.0);
    }

    /// Makes the panel's rows available: as they lie where they are neighbours in a row-major
    /// matrix, else as a copy that stays in cache.
    pub fn load(&mut self, x: &ArrayView2<'_, T>, rows: &[usize]) {
        let neighbours = rows.windows(2).all(|w| w[1] == w[0] + 1);
        self.copied = !(neighbours && x.is_standard_layout());
        if !self.copied {
            return;
        }
        let n = x.ncols();
        self.copy.resize(rows.len() * n, T::default());
        if x.strides()[1] == 1 || n == 1 {
            for (out, &row) in self.copy.chunks_exact_mut(n).zip(rows) {
                out.copy_from_slice(x.row(row).to_slice().expect("a row without gaps"));
            }
        } else {
            // Column by column, so that a column-major matrix is read along its lines.
            for (j, column) in x.columns().into_iter().enumerate() {
                for (i, &row) in rows.iter().enumerate() {
                    self.copy[i * n + j] = column[row];
                }
            }
        }
    }

    /// X_bHᵀ (k×r) of the loaded panel; `out` has room for the last vectors.
    pub fn times_dictionary(
        &self,
        x: &ArrayView2<'_, T>,
        rows: &[usize],
        h: &Packed<T>,
        out: &mut [f64],
    ) {
        panel::times(loaded(&self.copy, self.copied, x, rows), h, out);
    }

    /// Adds W_bᵀX_b of the loaded panel to the own sums; `w`: k×r.
    pub fn add_cross(&mut self, x: &ArrayView2<'_, T>, rows: &[usize], w: &[T], r: usize) {
        let rows = loaded(&self.copy, self.copied, x, rows);
        panel::add_cross(rows, x.ncols(), w, r, &mut self.tail, &mut self.partial);
        self.panels += 1;
        if self.panels == PANELS_PER_FLUSH {
            self.flush();
        }
    }

    /// Takes the sums of the last panels into those of the chunk.
    pub fn flush(&mut self) {
        for (total, partial) in self.total.iter_mut().zip(&mut self.partial) {
            *total += std::mem::take(partial).to_f64();
        }
        self.panels = 0;
    }

    /// Adds the chunk's XᵀW to `out`, whose rows are the features from `first` on.
    pub fn add_to(&self, out: &mut [f64], first: usize, r: usize) {
        let sums = &self.total[first * r..];
        cross_places::<T>(out.len() / r, r, |j, t, at| out[j * r + t] += sums[at]);
    }
}

/// The loaded panel, k×n without gaps.
fn loaded<'a, T: Number>(
    copy: &'a [T],
    copied: bool,
    x: &'a ArrayView2<'_, T>,
    rows: &[usize],
) -> &'a [T] {
    let entries = rows.len() * x.ncols();
    if copied {
        return &copy[..entries];
    }
    let whole = x.to_slice().expect("`load` copies the rows of a matrix with gaps");
    &whole[rows[0] * x.ncols()..][..entries]
}
