//! The best weights for a bound that sees a few directions only.
//!
//! Let V span the directions that matter and A_ℓ = VᵀG_ℓV. For weights w (Σw = 1) and a worst loss t
//! the bound asks for the largest t with φ_t(w) = 1 − Σ w_ℓq_ℓ(t) − σ_r(A(w)) ≥ 0, where
//! q_ℓ(t) = (t + e_ℓ)², A(w) = Σ w_ℓA_ℓ and σ_r is the sum of the r largest eigenvalues, a convex
//! function with kinks where eigenvalues meet, as they do at the best w. It is smoothed as electrons
//! fill levels: σ_r(A) = lim rσ + μΣ log(1 + exp((λ_i − σ)/μ)) as μ → 0, with σ such that the fillings
//! n_i = 1/(1 + exp((σ − λ_i)/μ)) add up to r. Gradient ⟨A_ℓ, P⟩ with P = U·diag(n)·Uᵀ and Hessian are
//! exact, so that Newton's method with a barrier μΣ log w_ℓ follows the maximum down to μ ≈ 0, and t
//! rises with the weights found (as in Dinkelbach's method for quotients). As the eigenvalues in V
//! are at most those of the whole, the optimum here is an upper limit of the bound's.

#[cfg(test)]
mod tests;

use super::root;
use crate::kernel::eigen::{Eigen, symmetric, times, transposed_times};

/// Smoothing at the first search and at later ones, in units of squared relative error, where it ends while much is open and
/// at last, and how it falls.
const FIRST: f64 = 1e-2;
const LATER: f64 = 1e-4;
const COARSE: f64 = 1e-5;
const LAST: f64 = 1e-9;
const FALL: f64 = 0.2;
/// Newton steps for one smoothing at the most.
const STEPS: usize = 12;
/// Groups that Newton looks at together; of more, those that matter.
const ACTIVE: usize = 96;

/// A_ℓ (p×p) of every group.
pub(super) struct Reduced<'a> {
    pub rank: usize,
    pub p: usize,
    pub grams: &'a [Vec<f64>],
    /// e_ℓ.
    pub e: &'a [f64],
}

/// Where the smoothing begins and ends.
#[derive(Clone, Copy)]
struct Levels {
    from: f64,
    to: f64,
}

impl Levels {
    /// For weights whose t is known up to so much: no finer than what further directions change anyway.
    fn of(unsure: f64) -> Self {
        let from = if unsure.is_finite() { (10.0 * unsure).clamp(COARSE, LATER) } else { FIRST };
        Self { from, to: (0.01 * unsure).clamp(LAST, COARSE) }
    }
}

/// Everything at one w.
struct Point {
    eigen: Eigen,
    /// Fillings, sum r.
    filled: Vec<f64>,
    smoothing: f64,
    /// rσ with its smoothing.
    kept: f64,
    /// Σ log w_ℓ.
    barrier: f64,
    /// φ with smoothing and barrier.
    value: f64,
}

impl Point {
    /// The same weights where a group's weight gains otherwise.
    fn gaining(self, w: &[f64], gain: &[f64]) -> Self {
        let gained: f64 = w.iter().zip(gain).map(|(w, g)| w * g).sum();
        Self { value: gained - self.kept + self.smoothing * self.barrier, ..self }
    }
}

impl Reduced<'_> {
    /// A(w).
    pub fn sum(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.p * self.p];
        for (gram, &w) in self.grams.iter().zip(weights).filter(|(_, w)| **w > 0.0) {
            sum.iter_mut().zip(gram).for_each(|(s, g)| *s += w * g);
        }
        sum
    }

    /// The t of weights (sum 1), as far as the directions tell.
    pub fn t(&self, weights: &[f64], values: &[f64]) -> f64 {
        let kept: f64 = values.iter().take(self.rank).sum();
        root(weights, self.e, (1.0 - kept).max(0.0))
    }

    /// Weights that (nearly) maximise t, from given ones, and that t; `unsure`: by how much more
    /// it may be, infinite where nothing is known of the given ones yet.
    pub fn maximise(&self, begin: &[f64], unsure: f64) -> (Vec<f64>, f64) {
        let levels = Levels::of(unsure);
        let mut best = (begin.to_vec(), self.t(begin, &symmetric(&self.sum(begin), self.p).values));
        // Without more directions than topics nothing is lost.
        if begin.len() == 1 || self.p <= self.rank {
            return best;
        }
        if begin.len() <= ACTIVE {
            let active: Vec<usize> = (0..begin.len()).collect();
            self.follow(&active, levels, &mut best);
            return best;
        }
        let mut active: Vec<usize> = Vec::new();
        for round in 0..6 {
            let scores = self.scores(&best.0, best.1);
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|&a, &b| {
                let key = |l: usize| (best.0[l] > 1e-5 && round > 0, scores[l]);
                let ((ka, sa), (kb, sb)) = (key(a), key(b));
                kb.cmp(&ka).then(sb.total_cmp(&sa)).then(a.cmp(&b))
            });
            order.truncate(ACTIVE);
            order.sort_unstable();
            if order == active {
                break;
            }
            active = order;
            self.follow(&active, levels, &mut best);
        }
        best
    }

    /// Slope of φ_t in every weight.
    fn scores(&self, weights: &[f64], t: f64) -> Vec<f64> {
        let p = self.p;
        let eigen = symmetric(&self.sum(weights), p);
        let filled = fill(&eigen.values, self.rank, LATER).0;
        let projection = projection(&eigen.vectors, &filled, p);
        let kept = |gram: &Vec<f64>| gram.iter().zip(&projection).map(|(g, q)| g * q).sum::<f64>();
        self.grams.iter().zip(self.e).map(|(g, e)| 1.0 - kept(g) - (t + e) * (t + e)).collect()
    }

    /// Follows the maximum over the active groups as the smoothing falls.
    fn follow(&self, active: &[usize], levels: Levels, best: &mut (Vec<f64>, f64)) {
        let part = Reduced { grams: &[], ..*self };
        let grams: Vec<&[f64]> = active.iter().map(|&l| &self.grams[l][..]).collect();
        let e: Vec<f64> = active.iter().map(|&l| self.e[l]).collect();
        let mut smoothing = levels.from;
        // Weights on the edge come back inside.
        let mut w: Vec<f64> = active.iter().map(|&l| best.0[l].max(0.1 * smoothing)).collect();
        normalise(&mut w);
        while smoothing >= levels.to {
            let slack = |t: f64| e.iter().map(|e| 1.0 - (t + e) * (t + e)).collect::<Vec<f64>>();
            let mut gain = slack(best.1);
            let mut at = part.point(&grams, &w, &gain, smoothing);
            for _ in 0..STEPS {
                let Some((step, rise)) = part.newton(&grams, &w, &gain, &at) else { break };
                let Some(next) = part.along(&grams, &mut w, &gain, &at, &step) else { break };
                at = next;
                let kept: f64 = at.eigen.values.iter().take(self.rank).sum();
                let t = root(&w, &e, (1.0 - kept).max(0.0));
                if t > best.1 {
                    best.0.fill(0.0);
                    active.iter().zip(&w).for_each(|(&l, w)| best.0[l] = *w);
                    best.1 = t;
                    gain = slack(t);
                    at = at.gaining(&w, &gain);
                }
                if rise < 0.05 * smoothing {
                    break;
                }
            }
            smoothing *= FALL;
        }
    }

    fn point(&self, grams: &[&[f64]], w: &[f64], gain: &[f64], smoothing: f64) -> Point {
        let p = self.p;
        let mut sum = vec![0.0; p * p];
        for (gram, w) in grams.iter().zip(w) {
            sum.iter_mut().zip(*gram).for_each(|(s, g)| *s += w * g);
        }
        let eigen = symmetric(&sum, p);
        let (filled, kept) = fill(&eigen.values, self.rank, smoothing);
        let barrier: f64 = w.iter().map(|w| w.ln()).sum();
        Point { eigen, filled, smoothing, kept, barrier, value: 0.0 }.gaining(w, gain)
    }

    /// Newton's step for the relative change of every weight, and the rise it promises.
    fn newton(
        &self,
        grams: &[&[f64]],
        w: &[f64],
        gain: &[f64],
        at: &Point,
    ) -> Option<(Vec<f64>, f64)> {
        let (p, groups, mu) = (self.p, w.len(), at.smoothing);
        let u = &at.eigen.vectors;
        // w_ℓUᵀA_ℓU of every group; its diagonal gives the slopes.
        let turned: Vec<Vec<f64>> = grams
            .iter()
            .zip(w)
            .map(|(gram, w)| {
                let mut b = transposed_times(u, p, &times(gram, p, u, p), p);
                b.iter_mut().for_each(|b| *b *= w);
                b
            })
            .collect();
        let difference = differences(&at.eigen.values, &at.filled, mu);
        let total: f64 = (0..p).map(|i| difference[i * p + i]).sum();
        let mut slope = vec![0.0; groups];
        let mut level = vec![0.0; groups];
        for (l, b) in turned.iter().enumerate() {
            let kept: f64 = (0..p).map(|i| at.filled[i] * b[i * p + i]).sum();
            slope[l] = w[l] * gain[l] - kept + mu;
            level[l] = (0..p).map(|i| difference[i * p + i] * b[i * p + i]).sum();
        }
        // √D ∘ B as one long row per group: the Hessian is their Gram matrix.
        let long: Vec<f64> = turned
            .iter()
            .flat_map(|b| b.iter().zip(&difference).map(|(b, d)| b * d.sqrt()))
            .collect();
        let mut hessian = vec![0.0; groups * groups];
        for l in 0..groups {
            let a = &long[l * p * p..(l + 1) * p * p];
            for k in 0..=l {
                let b = &long[k * p * p..(k + 1) * p * p];
                let sum = crate::kernel::products::dot(a, b);
                let moved = if total > 0.0 { level[l] * level[k] / total } else { 0.0 };
                let own = if l == k { mu } else { 0.0 };
                hessian[l * groups + k] = sum - moved + own;
            }
        }
        let factor = cholesky(hessian, groups)?;
        let (x, y) = (solve(&factor, groups, &slope), solve(&factor, groups, w));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // Σ w_ℓd_ℓ = 0 keeps the sum of the weights. y ≠ 0 as w > 0.
        let along = dot(w, &x) / dot(w, &y);
        let step: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - along * y).collect();
        let rise = 0.5 * dot(&slope, &step);
        (rise.is_finite() && rise > 0.0).then_some((step, rise))
    }

    /// The first of ever shorter steps that raises φ; moves `w`.
    fn along(
        &self,
        grams: &[&[f64]],
        w: &mut Vec<f64>,
        gain: &[f64],
        at: &Point,
        step: &[f64],
    ) -> Option<Point> {
        let down = step.iter().fold(0.0f64, |a, d| a.max(-d));
        let mut length = if down > 0.9 { 0.9 / down } else { 1.0 };
        for _ in 0..20 {
            let mut next: Vec<f64> =
                w.iter().zip(step).map(|(w, d)| w * (1.0 + length * d)).collect();
            normalise(&mut next);
            let point = self.point(grams, &next, gain, at.smoothing);
            if point.value > at.value {
                *w = next;
                return Some(point);
            }
            length *= 0.3;
        }
        None
    }
}

/// Fillings of the levels (sum `rank` < number of levels), and rσ + μΣ log(1 + exp((λ_i − σ)/μ)).
fn fill(values: &[f64], rank: usize, mu: f64) -> (Vec<f64>, f64) {
    let filling = |sigma: f64, v: f64| 1.0 / (1.0 + ((sigma - v) / mu).exp());
    // The sum falls in σ from above r to below it on this range: e⁻⁵⁰ of any number is nothing.
    let mut low = values[values.len() - 1] - 50.0 * mu;
    let mut high = values[0] + 50.0 * mu;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let sum: f64 = values.iter().map(|&v| filling(middle, v)).sum();
        if sum > rank as f64 { low = middle } else { high = middle }
    }
    let sigma = 0.5 * (low + high);
    let filled = values.iter().map(|&v| filling(sigma, v)).collect();
    let soft = |v: f64| {
        let x = (v - sigma) / mu;
        if x > 0.0 { v - sigma + mu * (-x).exp().ln_1p() } else { mu * x.exp().ln_1p() }
    };
    (filled, rank as f64 * sigma + values.iter().map(|&v| soft(v)).sum::<f64>())
}

/// (n_i − n_j)/(λ_i − λ_j), and the derivative n(1 − n)/μ where they are close; never negative.
fn differences(values: &[f64], filled: &[f64], mu: f64) -> Vec<f64> {
    let p = values.len();
    let mut out = vec![0.0; p * p];
    for i in 0..p {
        for j in 0..=i {
            let gap = values[i] - values[j];
            let d = if gap.abs() > 1e-4 * mu {
                (filled[i] - filled[j]) / gap
            } else {
                let n = 0.5 * (filled[i] + filled[j]);
                n * (1.0 - n) / mu
            };
            out[i * p + j] = d.max(0.0);
            out[j * p + i] = d.max(0.0);
        }
    }
    out
}

/// U·diag(n)·Uᵀ.
fn projection(u: &[f64], filled: &[f64], p: usize) -> Vec<f64> {
    let scaled: Vec<f64> = u.iter().enumerate().map(|(at, u)| u * filled[at % p].sqrt()).collect();
    let mut transposed = vec![0.0; p * p];
    for i in 0..p {
        for j in 0..p {
            transposed[j * p + i] = scaled[i * p + j];
        }
    }
    transposed_times(&transposed, p, &transposed, p)
}

fn normalise(w: &mut [f64]) {
    let total: f64 = w.iter().sum();
    w.iter_mut().for_each(|w| *w /= total);
}

/// The lower Cholesky factor of the lower triangle; none where it is not positive definite.
fn cholesky(mut a: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - known;
            a[i * n + j] = if i != j {
                rest / a[j * n + j]
            } else if rest > 0.0 && rest.is_finite() {
                rest.sqrt()
            } else {
                return None;
            };
        }
    }
    Some(a)
}

/// x with LLᵀx = b.
fn solve(factor: &[f64], n: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        x[i] = (x[i] - known) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - known) / factor[i * n + i];
    }
    x
}
