//! Multiplicative update (Lee and Seung, NIPS 2000): F ← F ⊙ C ⊘ max(FG, ε).
//!
//! Never raises the objective ½⟨F, FG⟩ − ⟨C, F⟩ for G, C ≥ 0; zeros stay zero; not exact.

use crate::kernel::products::{pad_rows, room, times};
use crate::kernel::vectorised;

/// Floor of the denominators: the f32 machine epsilon, as in the paper's published code.
pub const DENOMINATOR_FLOOR: f64 = f32::EPSILON as f64;
/// Entries below this are zero: they never matter again, and the subnormal numbers they would
/// shrink to slow the arithmetic by a factor of a hundred.
const NEGLIGIBLE: f64 = 1e-150;
/// Rows whose denominators are held at once.
const ROWS: usize = 256;

/// Buffers that one thread reuses from call to call.
#[derive(Default)]
pub struct Scratch {
    gram: Vec<f64>,
    denominators: Vec<f64>,
}

/// One step for every row of `f` (k×r); `g`: r×r, `c`: k×r.
pub fn step(g: &[f64], c: &[f64], f: &mut [f64], r: usize, scratch: &mut Scratch) {
    pad_rows(g, r, &mut scratch.gram);
    scratch.denominators.resize(room(ROWS, r), 0.0);
    for (f, c) in f.chunks_mut(ROWS * r).zip(c.chunks(ROWS * r)) {
        times(f, (f.len() / r, r, r), &scratch.gram, r, &mut scratch.denominators);
        multiply(f, c, &scratch.denominators);
    }
}

vectorised! {
    /// f ← f·c/max(d, ε). The floor keeps the denominator positive.
    fn multiply(f: &mut [f64], c: &[f64], d: &[f64]) {
        for ((f, &c), &d) in f.iter_mut().zip(c).zip(d) {
            let new = *f * c / if d > DENOMINATOR_FLOOR { d } else { DENOMINATOR_FLOOR };
            *f = if new < NEGLIGIBLE { 0.0 } else { new };
        }
    }
}
