//! Hierarchical alternating least squares (Cichocki and Phan 2009; several sweeps as Gillis and
//! Glineur 2012 advise): f_k ← max(0, f_k + (c_k − (fG)_k) / g_kk), coordinate by coordinate.
//!
//! Each coordinate step is an exact minimisation, so the objective never rises; not exact after
//! finitely many sweeps.

/// Sweeps at the most; cheap beside the products that made G and C.
const MAX_SWEEPS: usize = 8;
/// A row is left when a sweep moved it by less than this fraction of its first sweep.
const ENOUGH: f64 = 0.01;

/// Sweeps over every row of `f` (k×r) until it hardly moves; `g`: r×r, `c`: k×r.
pub fn sweeps(g: &[f64], c: &[f64], f: &mut [f64], r: usize, gradient: &mut Vec<f64>) {
    gradient.resize(r, 0.0);
    for (f, c) in f.chunks_exact_mut(r).zip(c.chunks_exact(r)) {
        gradient.copy_from_slice(c);
        for (&x, g) in f.iter().zip(g.chunks_exact(r)) {
            if x != 0.0 {
                gradient.iter_mut().zip(g).for_each(|(d, g)| *d -= x * g);
            }
        }
        let mut first = 0.0;
        for sweep in 0..MAX_SWEEPS {
            let moved = sweep_row(g, gradient, f, r);
            if sweep == 0 {
                first = moved;
            }
            if moved <= ENOUGH * ENOUGH * first {
                break;
            }
        }
    }
}

/// One sweep over a row; `gradient` is c − fG and stays so. Returns Σ g_kk·step².
fn sweep_row(g: &[f64], gradient: &mut [f64], f: &mut [f64], r: usize) -> f64 {
    let mut moved = 0.0;
    for k in 0..r {
        let row = &g[k * r..(k + 1) * r];
        // A topic that is zero everywhere has g_kk = 0: any value is as good, keep the old.
        if row[k] <= 0.0 {
            continue;
        }
        let new = (f[k] + gradient[k] / row[k]).max(0.0);
        let step = new - f[k];
        if step != 0.0 {
            f[k] = new;
            gradient.iter_mut().zip(row).for_each(|(d, g)| *d -= step * g);
            moved += row[k] * step * step;
        }
    }
    moved
}
