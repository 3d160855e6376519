//! Sparse rows: both products by plain loops along rows of length r, in whole vectors.
//!
//! X_bHᵀ is summed in the type of the data, which W is stored in anyway; the sums over rows, which
//! may be many, in f64.
//!
//! Rows of C and W lie without gaps; see [`crate::kernel::products`] for why whole vectors may be
//! read and written all the same.

use crate::data::{Csr, Indices};
use crate::kernel::{LANES, LONGEST_SUM, Pack, fused, padded, settled, vectorised};
use crate::number::Number;

/// Vectors of a row that are kept in registers; longer rows take the general loop.
const WIDEST: usize = 8;

/// The columns of a panel's rows and where those of each begin: as they lie, or narrowed, so that loops are compiled
/// for one width.
#[derive(Default)]
pub(super) struct Columns {
    narrowed: Vec<i32>,
    places: Vec<usize>,
}

impl Columns {
    /// Makes them available.
    pub fn load<T>(&mut self, x: &Csr<'_, T>, rows: &[usize]) {
        self.places.clear();
        self.narrowed.clear();
        match x.indices {
            Indices::I32(_) => self.places.extend(rows.iter().map(|&row| x.starts[row])),
            Indices::I64(indices) => {
                for &row in rows {
                    self.places.push(self.narrowed.len());
                    let own = &indices[x.starts[row]..x.starts[row + 1]];
                    // There are no more columns than an i32 counts, by validation.
                    self.narrowed.extend(own.iter().map(|&j| j as i32));
                }
            }
        }
    }

    /// All columns that the places are of.
    fn of<'a, T>(&'a self, x: &Csr<'a, T>) -> &'a [i32] {
        match x.indices {
            Indices::I32(indices) => indices,
            Indices::I64(_) => &self.narrowed,
        }
    }
}

/// The number of vectors of a row as a constant, 0 for any number.
macro_rules! for_width {
    ($p:expr, $function:ident, $($arg:expr),*) => {
        match $p / LANES {
            1 => $function::<_, 1>($($arg),*),
            2 => $function::<_, 2>($($arg),*),
            3 => $function::<_, 3>($($arg),*),
            4 => $function::<_, 4>($($arg),*),
            5 => $function::<_, 5>($($arg),*),
            6 => $function::<_, 6>($($arg),*),
            7 => $function::<_, 7>($($arg),*),
            WIDEST => $function::<_, WIDEST>($($arg),*),
            _ => $function::<_, 0>($($arg),*),
        }
    };
}

/// X_bHᵀ (k×r) of a panel's rows, whose columns are loaded; `h`: Hᵀ, n rows padded; `out` has room for the last vectors.
pub(super) fn times_dictionary<T: Number>(
    (x, columns): (&Csr<'_, T>, &Columns),
    rows: &[usize],
    h: &[T],
    r: usize,
    out: &mut [f64],
) {
    let (p, starts, values) = (padded(r), &x.starts[..], x.values);
    let (places, columns) = (&columns.places[..], columns.of(x));
    for_width!(p, gather, starts, places, columns, values, rows, r, p, h, out);
}

/// Adds X_bᵀW_b of a panel's rows to `cross` (n rows, padded); `w`: k×r with room for the last
/// vectors.
pub(super) fn add_cross<T: Number>(
    (x, columns): (&Csr<'_, T>, &Columns),
    rows: &[usize],
    w: &[f64],
    r: usize,
    cross: &mut [f64],
) {
    let (p, starts, values) = (padded(r), &x.starts[..], x.values);
    let (places, columns) = (&columns.places[..], columns.of(x));
    for_width!(p, scatter, starts, places, columns, values, rows, r, p, w, cross);
}

vectorised! {
    /// out_i = Σ_j x_ij·h_j for every row; V vectors a row (0: any number).
    fn gather<const V: usize; T: Number>(
        starts: &[usize], places: &[usize], columns: &[i32], values: &[T], rows: &[usize], r: usize, p: usize, h: &[T], out: &mut [f64],
    ) {
        for (i, &row) in rows.iter().enumerate() {
            let out = &mut out[i * r..][..p];
            let range = starts[row]..starts[row + 1];
            let entries = columns[places[i]..][..range.len()].iter().zip(&values[range]);
            out.fill(0.0);
            if V == 0 {
                for (&j, &x) in entries {
                    let x = x.to_f64();
                    let h = &h[j as usize * p..][..p];
                    out.iter_mut().zip(h).for_each(|(o, &h)| *o = fused::<FMA>(x, h.to_f64(), *o));
                }
                continue;
            }
            let mut entries = entries;
            while entries.len() > 0 {
                let mut sum = [[T::default(); LANES]; V];
                for (&j, &x) in entries.by_ref().take(LONGEST_SUM) {
                    let h = &h[j as usize * V * LANES..][..V * LANES];
                    for v in 0..V {
                        for l in 0..LANES {
                            sum[v][l] = x.times_plus::<FMA>(h[v * LANES + l], sum[v][l]);
                        }
                    }
                }
                let sum = settled(sum);
                for v in 0..V {
                    for l in 0..LANES {
                        out[v * LANES + l] += sum[v][l].to_f64();
                    }
                }
            }
        }
    }
}

vectorised! {
    /// cross_j += x_ij·w_i for every entry of every row; V vectors a row (0: any number).
    fn scatter<const V: usize; T: Number>(
        starts: &[usize], places: &[usize], columns: &[i32], values: &[T], rows: &[usize], r: usize, p: usize, w: &[f64], cross: &mut [f64],
    ) {
        for (i, &row) in rows.iter().enumerate() {
            let range = starts[row]..starts[row + 1];
            let entries = columns[places[i]..][..range.len()].iter().zip(&values[range]);
            if V == 0 {
                let w = &w[i * r..][..p];
                for (&j, &x) in entries {
                    let (x, cross) = (x.to_f64(), &mut cross[j as usize * p..][..p]);
                    cross.iter_mut().zip(w).for_each(|(c, &w)| *c = fused::<FMA>(x, w, *c));
                }
            } else {
                let w: [Pack; V] = Pack::load(&w[i * r..]);
                for (&j, &x) in entries {
                    let cross = &mut cross[j as usize * V * LANES..][..V * LANES];
                    let old: [Pack; V] = Pack::load(cross);
                    for v in 0..V {
                        let new = old[v].add_product::<FMA>(Pack::all(x.to_f64()), w[v]);
                        cross[v * LANES..][..LANES].copy_from_slice(&new.0);
                    }
                }
            }
        }
    }
}
