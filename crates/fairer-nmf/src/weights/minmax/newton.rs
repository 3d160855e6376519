//! The Newton model of D(λ) at H(w): gradient g and Hessian Q, and its maximiser on a box of the
//! simplex.
//!
//! With A = Σ w_ℓ gram_ℓ/N_ℓ², P_j the positive entries of column j of H(w) and
//! b_ℓj = ((gram_ℓ H − cross_ℓ)/N_ℓ²)_{P_j,j}, the implicit function theorem gives
//! df_ℓ/dw_k = −M_ℓk/f_ℓ with M_ℓk = Σ_j b_ℓjᵀ A_{P_jP_j}⁻¹ b_kj. As λ = w·f,
//! dλ/dw = diag(f) − diag(w/f)M, and Q = (dg/dw)(dλ/dw)⁻¹, symmetric and negative semidefinite.

#[cfg(test)]
mod tests;

use super::curvature::curvature;
use super::{FLOOR, Point, Problem, TINY_ERROR, normalised};

/// How far a step may take λ_ℓ: up to this factor either way (times the radius).
const FACTOR: f64 = 8.0;

pub(super) struct Model {
    /// Q, L×L.
    hessian: Vec<f64>,
}

impl Model {
    /// None where the linear system is singular or not finite, or the time is up.
    pub fn new(problem: &Problem<'_>, at: &Point) -> Option<Self> {
        let groups = at.weights.len();
        let m = curvature(problem, at)?;
        let f: Vec<f64> = at.errors.iter().map(|f| f.max(TINY_ERROR)).collect();
        // K = dλ/dw, solved against dg/dw from the right: Q·K = dg/dw, so Kᵀ·Qᵀ = (dg/dw)ᵀ.
        let mut k_transposed = vec![0.0; groups * groups];
        let mut right = vec![0.0; groups * groups];
        for l in 0..groups {
            for k in 0..groups {
                let slope = -m[l * groups + k] / f[l];
                k_transposed[k * groups + l] =
                    at.weights[l] * slope + if l == k { f[l] } else { 0.0 };
                right[k * groups + l] = slope;
            }
        }
        let q = solve_square(k_transposed, right, groups)?;
        let mut hessian = vec![0.0; groups * groups];
        for i in 0..groups {
            for j in 0..groups {
                hessian[i * groups + j] = 0.5 * (q[i * groups + j] + q[j * groups + i]);
            }
        }
        hessian.iter().all(|v| v.is_finite()).then_some(Self { hessian })
    }

    /// The step d that maximises ⟨g, d⟩ + ½⟨d, Qd⟩ with Σd = 0 and λ + d within a factor of λ.
    pub fn step(&self, at: &Point, radius: f64) -> Vec<f64> {
        let factor = 1.0 + (FACTOR - 1.0) * radius;
        let bounds: Vec<(f64, f64)> = at
            .lambda
            .iter()
            .map(|&l| {
                let low = (l / factor).max(FLOOR.min(l));
                let high = (l * factor).max(l + 0.05 * radius);
                (low - l, high - l)
            })
            .collect();
        maximise(&self.hessian, &at.losses, &bounds)
    }

    /// The weights that the model expects to give λ + d: (λ + d)/(f + Qd).
    pub fn weights(&self, at: &Point, step: &[f64]) -> Vec<f64> {
        let groups = step.len();
        let lambda =
            normalised(at.lambda.iter().zip(step).map(|(l, d)| (l + d).max(FLOOR)).collect());
        (0..groups)
            .map(|l| {
                let row = &self.hessian[l * groups..(l + 1) * groups];
                let change: f64 = row.iter().zip(step).map(|(q, d)| q * d).sum();
                let f = at.errors[l].max(TINY_ERROR);
                lambda[l] / (f + change).clamp(0.2 * f, 5.0 * f)
            })
            .collect()
    }
}

/// Solves KY = R for L×L matrices by elimination with partial pivoting.
fn solve_square(mut k: Vec<f64>, mut right: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for c in 0..n {
        let pivot = (c..n).max_by(|&a, &b| k[a * n + c].abs().total_cmp(&k[b * n + c].abs()))?;
        if k[pivot * n + c] == 0.0 || !k[pivot * n + c].is_finite() {
            return None;
        }
        for x in 0..n {
            k.swap(c * n + x, pivot * n + x);
            right.swap(c * n + x, pivot * n + x);
        }
        for row in (0..n).filter(|&row| row != c) {
            let times = k[row * n + c] / k[c * n + c];
            if times != 0.0 {
                for x in 0..n {
                    k[row * n + x] -= times * k[c * n + x];
                    right[row * n + x] -= times * right[c * n + x];
                }
            }
        }
    }
    for c in 0..n {
        let pivot = k[c * n + c];
        right[c * n..(c + 1) * n].iter_mut().for_each(|v| *v /= pivot);
    }
    Some(right)
}

/// Maximises ⟨g, d⟩ + ½⟨d, Qd⟩ over Σd = 0 and low ≤ d ≤ high (with low ≤ 0 ≤ high), by exact
/// steps along the steepest pair of coordinates.
fn maximise(q: &[f64], g: &[f64], bounds: &[(f64, f64)]) -> Vec<f64> {
    let n = g.len();
    let mut d = vec![0.0; n];
    let mut slope = g.to_vec();
    let scale = g.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    for _ in 0..200 * n * n {
        let up =
            (0..n).filter(|&i| d[i] < bounds[i].1).max_by(|&a, &b| slope[a].total_cmp(&slope[b]));
        let down =
            (0..n).filter(|&i| d[i] > bounds[i].0).min_by(|&a, &b| slope[a].total_cmp(&slope[b]));
        let (Some(i), Some(j)) = (up, down) else { break };
        let rise = slope[i] - slope[j];
        if rise <= 1e-14 * scale {
            break;
        }
        let curvature = -(q[i * n + i] + q[j * n + j] - 2.0 * q[i * n + j]);
        let room = (bounds[i].1 - d[i]).min(d[j] - bounds[j].0);
        let step = if curvature > 0.0 { (rise / curvature).min(room) } else { room };
        d[i] = if step == room && room == bounds[i].1 - d[i] { bounds[i].1 } else { d[i] + step };
        d[j] = if step == room && room == d[j] - bounds[j].0 { bounds[j].0 } else { d[j] - step };
        for k in 0..n {
            slope[k] += step * (q[k * n + i] - q[k * n + j]);
        }
    }
    d
}
