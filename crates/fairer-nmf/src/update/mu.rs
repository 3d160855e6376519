//! Multiplicative update (Lee and Seung, NIPS 2000): F ← F ⊙ C ⊘ max(FG, ε).
//!
//! Never raises the objective ½⟨F, FG⟩ − ⟨C, F⟩ for G, C ≥ 0; zeros stay zero; not exact.

/// Floor of the denominators: the f32 machine epsilon, as in the paper's published code.
pub const DENOMINATOR_FLOOR: f64 = f32::EPSILON as f64;

/// One step for every row of `f` (k×r); `g`: r×r, `c`: k×r.
pub fn step(g: &[f64], c: &[f64], f: &mut [f64], r: usize, denominator: &mut Vec<f64>) {
    denominator.resize(r, 0.0);
    for (f, c) in f.chunks_exact_mut(r).zip(c.chunks_exact(r)) {
        denominator.fill(0.0);
        for (&x, g) in f.iter().zip(g.chunks_exact(r)) {
            if x != 0.0 {
                denominator.iter_mut().zip(g).for_each(|(d, g)| *d += x * g);
            }
        }
        // The floor keeps the denominator positive.
        for ((f, &c), &d) in f.iter_mut().zip(c).zip(denominator.iter()) {
            *f *= c / d.max(DENOMINATOR_FLOOR);
        }
    }
}
