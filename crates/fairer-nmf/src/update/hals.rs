//! Hierarchical alternating least squares (Cichocki and Phan 2009; several sweeps as Gillis and
//! Glineur 2012 advise): f_k ← max(0, f_k + (c_k − (fG)_k) / g_kk), coordinate by coordinate.
//!
//! Each coordinate step is an exact minimisation, so the objective never rises; not exact after
//! finitely many sweeps. Several rows advance side by side, one per vector lane; no lane looks
//! at another, so a row's answer does not depend on its neighbours.

// Loops over lanes read like the formulas only with indices.
#![allow(clippy::needless_range_loop)]

use crate::kernel::{fused, vectorised};

/// Sweeps at the most; what others cost is in docs/measurements.md.
const MAX_SWEEPS: usize = 4;
/// A row is left when a sweep moved it by less than this fraction of its first sweep.
const ENOUGH: f64 = 0.01;
/// Rows side by side: four AVX-512 registers, or four of AVX2, for each of the two partial sums of
/// a coordinate, so that none waits for another.
const WIDE_ROWS: usize = 32;
const NARROW_ROWS: usize = 16;

/// Buffers that one thread reuses from call to call.
#[derive(Default)]
pub struct Scratch {
    /// f and c of the rows at hand, coordinate by coordinate; 1/g_kk.
    f: Vec<f64>,
    c: Vec<f64>,
    inverse: Vec<f64>,
}

/// Sweeps over every row of `f` (k×r) until it hardly moves; `g`: r×r, `c`: k×r.
pub fn sweeps(g: &[f64], c: &[f64], f: &mut [f64], r: usize, scratch: &mut Scratch) {
    scratch.f.resize(r * WIDE_ROWS, 0.0);
    scratch.c.resize(r * WIDE_ROWS, 0.0);
    // A topic that is zero everywhere has g_kk = 0: any value is as good, keep the old.
    let inverse = |g_kk: f64| if g_kk > 0.0 { 1.0 / g_kk } else { 0.0 };
    scratch.inverse.clear();
    scratch.inverse.extend((0..r).map(|k| inverse(g[k * r + k])));
    sweep_all(g, c, f, r, scratch);
}

vectorised! {
    fn sweep_all(g: &[f64], c: &[f64], f: &mut [f64], r: usize, scratch: &mut Scratch) {
        let rows = if WIDE { WIDE_ROWS } else { NARROW_ROWS };
        for (f, c) in f.chunks_mut(rows * r).zip(c.chunks(rows * r)) {
            if WIDE {
                sweep_pack::<WIDE_ROWS, FMA>(g, c, f, r, scratch);
            } else {
                sweep_pack::<NARROW_ROWS, FMA>(g, c, f, r, scratch);
            }
        }
    }
}

#[inline(always)]
fn sweep_pack<const ROWS: usize, const FMA: bool>(
    g: &[f64],
    c: &[f64],
    rows: &mut [f64],
    r: usize,
    scratch: &mut Scratch,
) {
    let inverse = &scratch.inverse[..];
    let own_f = &mut scratch.f.as_chunks_mut::<ROWS>().0[..r];
    let own_c = &mut scratch.c.as_chunks_mut::<ROWS>().0[..r];
    if rows.len() < ROWS * r {
        // Lanes without a row stay at zero.
        own_f.fill([0.0; ROWS]);
        own_c.fill([0.0; ROWS]);
    }
    for (l, (row, c)) in rows.chunks_exact(r).zip(c.chunks_exact(r)).enumerate() {
        for k in 0..r {
            own_f[k][l] = row[k];
            own_c[k][l] = c[k];
        }
    }
    let mut first = [0.0; ROWS];
    // 1 while a lane moves, 0 once it is left.
    let mut moving = [1.0; ROWS];
    for sweep in 0..MAX_SWEEPS {
        let mut moved = [0.0; ROWS];
        for k in (0..r).filter(|&k| inverse[k] > 0.0) {
            let gradient = gradient::<ROWS, FMA>(&own_c[k], &g[k * r..(k + 1) * r], own_f);
            let f = &mut own_f[k];
            for l in 0..ROWS {
                let new = fused::<FMA>(gradient[l], inverse[k], f[l]);
                let new = if new > 0.0 { new } else { 0.0 };
                let step = moving[l] * (new - f[l]);
                f[l] += step;
                moved[l] = fused::<FMA>(g[k * r + k] * step, step, moved[l]);
            }
        }
        if sweep == 0 {
            first = moved;
        }
        for l in 0..ROWS {
            if moved[l] <= ENOUGH * ENOUGH * first[l] {
                moving[l] = 0.0;
            }
        }
        if moving == [0.0; ROWS] {
            break;
        }
    }
    for (l, row) in rows.chunks_exact_mut(r).enumerate() {
        for k in 0..r {
            // A step of new − f can leave f a rounding below zero.
            row[k] = own_f[k][l].max(0.0);
        }
    }
}

/// c_k − (fG)_k. Two sums over the coordinates: a sum cannot be taken apart by the compiler, which
/// otherwise gathers across rows, and one sum would wait for itself.
#[inline(always)]
fn gradient<const ROWS: usize, const FMA: bool>(
    c: &[f64; ROWS],
    g: &[f64],
    f: &[[f64; ROWS]],
) -> [f64; ROWS] {
    let (mut even, mut odd) = (*c, [0.0; ROWS]);
    let (pairs, last) = f.as_chunks::<2>();
    let (g_pairs, g_last) = g.as_chunks::<2>();
    for (f, g) in pairs.iter().zip(g_pairs) {
        for l in 0..ROWS {
            even[l] = fused::<FMA>(-g[0], f[0][l], even[l]);
            odd[l] = fused::<FMA>(-g[1], f[1][l], odd[l]);
        }
    }
    if let ([f], [g]) = (last, g_last) {
        for l in 0..ROWS {
            even[l] = fused::<FMA>(-g, f[l], even[l]);
        }
    }
    for l in 0..ROWS {
        even[l] += odd[l];
    }
    even
}
