//! Exact NNLS of many rows against the product XHᵀ (n = 1,000) that comes before it in a pass: one
//! thread, panels of 64 rows, by turns, the fastest of each.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin nnls

use fairer_nmf::internals::{Packed, Scratch, room, solve, times};
use std::time::Instant;

const FEATURES: usize = 1_000;
const PANEL: usize = 64;

struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn main() {
    println!(
        "data        r   product (ns/row)  warm / product  cold / product  rows that fell back"
    );
    for correlated in [false, true] {
        for (r, rows) in [(20, 25_600), (50, 12_800)] {
            measure(correlated, r, rows);
        }
    }
}

fn measure(correlated: bool, r: usize, rows: usize) {
    let mut draw = Draw(88_172_645_463_325_252);
    let topic = |u: f64| if correlated { 1.0 + 0.02 * u } else { (u - 0.6).max(0.0) };
    let h0: Vec<f64> = (0..r * FEATURES).map(|_| topic(draw.uniform())).collect();
    let mut x = vec![0.0; rows * FEATURES];
    for x in x.chunks_exact_mut(FEATURES) {
        for h in h0.chunks_exact(FEATURES) {
            let w = (draw.uniform() - 0.5).max(0.0);
            x.iter_mut().zip(h).for_each(|(x, h)| *x += w * h);
        }
        x.iter_mut().for_each(|x| *x += 0.2 * draw.uniform());
    }
    // Two dictionaries of neighbouring iterations: the first gives the warm start.
    let size = if correlated { 1e-3 } else { 0.03 };
    let mut near = |h: &[f64]| -> Vec<f64> {
        h.iter().map(|h| h * (1.0 + size * (draw.uniform() - 0.5))).collect()
    };
    let before = near(&h0);
    let h = near(&before);
    let mut c = vec![0.0; rows * r];
    let mut start = vec![0.0; rows * r];
    product(&x, &before, r, &mut c);
    solve_all(&gram(&before, r), &c, &mut start, r);
    let g = gram(&h, r);
    let mut best = [f64::INFINITY; 3];
    let mut fallback = 0;
    for _ in 0..7 {
        let begin = Instant::now();
        product(&x, &h, r, &mut c);
        best[0] = best[0].min(begin.elapsed().as_secs_f64());
        for (at, from) in [(1, start.clone()), (2, vec![0.0; rows * r])] {
            let mut f = from;
            let begin = Instant::now();
            fallback = solve_all(&g, &c, &mut f, r);
            best[at] = best[at].min(begin.elapsed().as_secs_f64());
        }
    }
    println!(
        "{:<11} {r:<3} {:<17.0} {:<15.2} {:<15.2} {fallback}",
        if correlated { "correlated" } else { "mixture" },
        best[0] / rows as f64 * 1e9,
        best[1] / best[0],
        best[2] / best[0],
    );
}

fn solve_all(g: &[f64], c: &[f64], f: &mut [f64], r: usize) -> usize {
    let mut scratch = Scratch::default();
    let panels = c.chunks(PANEL * r).zip(f.chunks_mut(PANEL * r));
    panels.map(|(c, f)| solve(g, c, f, r, &mut scratch).fallback_rows).sum()
}

fn gram(h: &[f64], r: usize) -> Vec<f64> {
    let mut g = vec![0.0; r * r];
    product(h, h, r, &mut g);
    g
}

/// c (k×r) = A (k×n) · Hᵀ with H r×n, in panels of rows, as the pass computes it.
fn product(a: &[f64], h: &[f64], r: usize, c: &mut [f64]) {
    let n = FEATURES;
    let packed = Packed::new(r, n, |j, t| h[t * n + j]);
    let mut out = vec![0.0; room(PANEL, r)];
    for (a, c) in a.chunks(PANEL * n).zip(c.chunks_mut(PANEL * r)) {
        times(a, &packed, &mut out);
        c.copy_from_slice(&out[..c.len()]);
    }
}
