//! Eight small dense problems at once: one number of each per [`Pack`], the lanes of an AVX-512
//! register (two of AVX2; LLVM vectorises the loops over the lanes).
//!
//! `T` is the register tile, `FMA` whether a product and a sum are fused. Every sum runs in the
//! same order for every tile, and no lane reads another, so neither changes a lane's answer
//! beyond the rounding of `FMA`.

// The tile loops read like the formulas only with indices.
#![allow(clippy::needless_range_loop)]

use crate::kernel::{LANES, Pack};

/// Rows of G that share a pass over f in [`product`].
const PRODUCT_TILE: usize = 4;

/// Where panel `i` of the factor starts, in columns of `T` packs.
#[inline(always)]
pub(super) fn panel_start<const T: usize>(i: usize) -> usize {
    T * i * (i + 1) / 2
}

/// G_PP = L D Lᵀ, panel by panel. A pivot at or below `dependent`·g_ii belongs to a variable
/// that depends on the earlier ones: its 1/D and column of L are zero, which keeps it at zero.
#[inline(always)]
pub(super) fn factorise<const T: usize, const FMA: bool>(
    factor: &mut [Pack],
    panel: &mut [Pack],
    inverse: &mut [Pack],
    panels: usize,
    dependent: f64,
) {
    let factor = factor.as_chunks_mut::<T>().0;
    let ld = panel.as_chunks_mut::<T>().0;
    let inverse = inverse.as_chunks_mut::<T>().0;
    for i in 0..panels {
        let (above, rest) = factor.split_at_mut(panel_start::<T>(i));
        let panel = &mut rest[..T * (i + 1)];
        for j in 0..i {
            let other = &above[panel_start::<T>(j)..][..T * (j + 1)];
            let mut tile = [[Pack::ZERO; T]; T];
            tile.copy_from_slice(&panel[T * j..][..T]);
            for (a, b) in ld[..T * j].iter().zip(other) {
                for q in 0..T {
                    for p in 0..T {
                        tile[q][p] = tile[q][p].sub_product::<FMA>(a[p], b[q]);
                    }
                }
            }
            let corner = &other[T * j..][..T];
            for q in 0..T {
                for k in 0..q {
                    for p in 0..T {
                        tile[q][p] = tile[q][p].sub_product::<FMA>(tile[k][p], corner[k][q]);
                    }
                }
            }
            for q in 0..T {
                ld[T * j + q] = tile[q];
                for p in 0..T {
                    panel[T * j + q][p] = tile[q][p].zip(inverse[j][q], |a, b| a * b);
                }
            }
        }
        let (left, corner) = panel.split_at_mut(T * i);
        let mut tile = [[Pack::ZERO; T]; T];
        tile.copy_from_slice(corner);
        for (a, b) in ld[..T * i].iter().zip(&*left) {
            for q in 0..T {
                for p in q..T {
                    tile[q][p] = tile[q][p].sub_product::<FMA>(a[p], b[q]);
                }
            }
        }
        for q in 0..T {
            let inv = corner[q][q].zip(tile[q][q], |whole, pivot| {
                // Positive denominator where it is used.
                if pivot > dependent * whole { 1.0 / pivot } else { 0.0 }
            });
            inverse[i][q] = inv;
            for p in q + 1..T {
                corner[q][p] = tile[q][p].zip(inv, |a, b| a * b);
            }
            for k in q + 1..T {
                for p in k..T {
                    tile[k][p] = tile[k][p].sub_product::<FMA>(tile[q][p], corner[q][k]);
                }
            }
        }
    }
}

/// x ← (L D Lᵀ)⁻¹ x
#[inline(always)]
pub(super) fn substitute<const T: usize, const FMA: bool>(
    factor: &[Pack],
    inverse: &[Pack],
    x: &mut [Pack],
    panels: usize,
) {
    let factor = factor.as_chunks::<T>().0;
    let x = x.as_chunks_mut::<T>().0;
    for i in 0..panels {
        let (left, corner) = factor[panel_start::<T>(i)..][..T * (i + 1)].split_at(T * i);
        let (before, rest) = x.split_at_mut(i);
        let tile = &mut rest[0];
        for (column, x) in left.iter().zip(before.as_flattened()) {
            for p in 0..T {
                tile[p] = tile[p].sub_product::<FMA>(column[p], *x);
            }
        }
        for q in 0..T {
            for p in q + 1..T {
                tile[p] = tile[p].sub_product::<FMA>(corner[q][p], tile[q]);
            }
        }
    }
    for (x, inverse) in x.as_flattened_mut()[..panels * T].iter_mut().zip(inverse) {
        *x = x.zip(*inverse, |a, b| a * b);
    }
    for i in (0..panels).rev() {
        let (left, corner) = factor[panel_start::<T>(i)..][..T * (i + 1)].split_at(T * i);
        let (before, rest) = x.split_at_mut(i);
        let tile = &mut rest[0];
        for q in (0..T).rev() {
            for p in (q + 1..T).rev() {
                tile[q] = tile[q].sub_product::<FMA>(corner[q][p], tile[p]);
            }
        }
        for (column, x) in left.iter().zip(before.as_flattened_mut()) {
            for p in (0..T).rev() {
                *x = x.sub_product::<FMA>(column[p], tile[p]);
            }
        }
    }
}

/// out = G f over the variables in `union`; `g` has `stride` numbers a row.
#[inline(always)]
pub(super) fn product<const FMA: bool>(
    g: &[f64],
    stride: usize,
    union: &[usize],
    f: &[Pack],
    out: &mut [Pack],
    r: usize,
) {
    const T: usize = PRODUCT_TILE;
    for (i, out) in out.as_chunks_mut::<T>().0.iter_mut().enumerate().take(r.div_ceil(T)) {
        let mut tile = [Pack::ZERO; T];
        for &j in union {
            let gram = &g[j * stride + i * T..][..T];
            for p in 0..T {
                tile[p] = tile[p].add_product::<FMA>(Pack([gram[p]; LANES]), f[j]);
            }
        }
        *out = tile;
    }
}

/// G with `stride` numbers a row, zeros at the end.
pub(super) fn pad(g: &[f64], r: usize, stride: usize, out: &mut Vec<f64>) {
    out.clear();
    out.resize(stride * stride, 0.0);
    for (to, from) in out.chunks_exact_mut(stride).zip(g.chunks_exact(r)) {
        to[..r].copy_from_slice(from);
    }
}
