//! One row of non-negative least squares by a monotone active-set method.
//!
//! Lawson & Hanson (1974) on the normal equations, as Bro & de Jong (1997), started from any
//! feasible row: move to the minimiser over the passive variables, stop at the first that reaches
//! zero and drop it; when none does, let the variable with the steepest descent enter. A variable
//! that depends on the passive ones enters by an exchange along the null direction, so the
//! factorised matrix is never singular. Every step lowers the objective, hence no set of passive
//! variables returns; a cap on the steps keeps this true in floating point, where the row with the
//! smallest KKT residual is returned.

use super::{DEPENDENT, TOLERANCE};
use crate::limit::Limit;

/// A component of a null direction below this, relative and in units of the topics' norms, is
/// rounding: condition 1e14 leaves about 1e-8.
const NULL_COMPONENT: f64 = 1e-8;

#[derive(Default)]
pub(super) struct Work {
    r: usize,
    /// Passive variables in the order of the Cholesky factor `l` (row stride r).
    passive: Vec<usize>,
    survivors: Vec<usize>,
    l: Vec<f64>,
    z: Vec<f64>,
    correction: Vec<f64>,
    y: Vec<f64>,
    best: Vec<f64>,
    /// Variables that entered and left again at once, until another one stays.
    blocked: Vec<bool>,
}

/// Solves one row: `g` r×r, `c` and `f` of length r, `f` ≥ 0 on entry. Once the time is up `f` is the best so far.
pub(super) fn solve_row(g: &[f64], c: &[f64], f: &mut [f64], limit: Limit, work: &mut Work) {
    let r = f.len();
    work.reset(r);
    for (i, f) in f.iter_mut().enumerate() {
        if *f > 0.0 && !work.append(g, i) {
            *f = 0.0;
        }
    }
    let mut least = f64::INFINITY;
    let mut entered = None;
    for _ in 0..10 * r + 30 {
        work.minimise_over_passive(g, c, f);
        if entered.is_some_and(|i: usize| f[i] > 0.0) {
            work.blocked.fill(false);
        }
        let (violation, bound) = work.gradient(g, c, f);
        if violation < least {
            least = violation;
            work.best.copy_from_slice(f);
        }
        if violation <= TOLERANCE {
            return;
        }
        if limit.is_over() {
            break;
        }
        loop {
            let Some(i) = work.steepest(g, f, bound) else {
                f.copy_from_slice(&work.best);
                return;
            };
            work.blocked[i] = true;
            if work.enter(g, f, i) {
                entered = Some(i);
                break;
            }
        }
    }
    f.copy_from_slice(&work.best);
}

impl Work {
    fn reset(&mut self, r: usize) {
        self.r = r;
        self.passive.clear();
        self.l.resize(r * r, 0.0);
        for buffer in [&mut self.z, &mut self.correction, &mut self.y, &mut self.best] {
            buffer.clear();
            buffer.resize(r, 0.0);
        }
        self.blocked.clear();
        self.blocked.resize(r, false);
    }

    /// Adds variable `i` to the passive set unless it depends on it; leaves L⁻¹ G_Pi in the next
    /// row of `l` either way.
    fn append(&mut self, g: &[f64], i: usize) -> bool {
        let (r, p) = (self.r, self.passive.len());
        if p == r {
            return false;
        }
        let (done, rest) = self.l.split_at_mut(p * r);
        let row = &mut rest[..r];
        let mut pivot = g[i * r + i];
        for (b, &j) in self.passive.iter().enumerate() {
            let other = &done[b * r..][..=b];
            // other[b] > 0: only positive pivots are appended
            row[b] = (g[i * r + j] - dot(&row[..b], &other[..b])) / other[b];
            pivot -= row[b] * row[b];
        }
        let independent = pivot > DEPENDENT * r as f64 * g[i * r + i];
        if independent {
            row[p] = pivot.sqrt();
            self.passive.push(i);
        }
        independent
    }

    /// Drops the passive variables that are not positive and repairs the factor.
    fn drop_zeros(&mut self, g: &[f64], f: &mut [f64]) {
        let Some(first) = self.passive.iter().position(|&i| f[i] <= 0.0) else {
            return;
        };
        self.survivors.clear();
        for i in self.passive.drain(first..) {
            if f[i] > 0.0 {
                self.survivors.push(i);
            } else {
                f[i] = 0.0;
            }
        }
        for a in 0..self.survivors.len() {
            let i = self.survivors[a];
            if !self.append(g, i) {
                f[i] = 0.0;
            }
        }
    }

    /// v ← (L Lᵀ)⁻¹ v
    fn substitute(l: &[f64], v: &mut [f64], r: usize) {
        for a in 0..v.len() {
            v[a] = (v[a] - dot(&l[a * r..][..a], &v[..a])) / l[a * r + a];
        }
        Self::substitute_back(l, v, r);
    }

    /// v ← L⁻ᵀ v
    fn substitute_back(l: &[f64], v: &mut [f64], r: usize) {
        for a in (0..v.len()).rev() {
            v[a] /= l[a * r + a];
            let (before, at) = v.split_at_mut(a);
            before.iter_mut().zip(&l[a * r..]).for_each(|(v, l)| *v -= l * at[0]);
        }
    }

    /// Moves f to the minimiser over the passive set, dropping what reaches zero on the way.
    fn minimise_over_passive(&mut self, g: &[f64], c: &[f64], f: &mut [f64]) {
        let r = self.r;
        loop {
            let p = self.passive.len();
            let (z, correction) = (&mut self.z[..p], &mut self.correction[..p]);
            z.iter_mut().zip(&self.passive).for_each(|(z, &i)| *z = c[i]);
            Self::substitute(&self.l, z, r);
            // One step of iterative refinement.
            for (a, &i) in self.passive.iter().enumerate() {
                let gz: f64 = self.passive.iter().zip(&*z).map(|(&j, z)| g[i * r + j] * z).sum();
                correction[a] = c[i] - gz;
            }
            Self::substitute(&self.l, correction, r);
            z.iter_mut().zip(&*correction).for_each(|(z, d)| *z += d);

            let (mut step, mut blocking) = (1.0, None);
            for (a, &i) in self.passive.iter().enumerate() {
                if z[a] <= 0.0 {
                    // f_i > 0 ≥ z_a, or f_i = 0 for the variable that has just entered
                    let reach = if f[i] > 0.0 { f[i] / (f[i] - z[a]) } else { 0.0 };
                    if blocking.is_none() || reach < step {
                        (step, blocking) = (reach, Some(i));
                    }
                }
            }
            for (a, &i) in self.passive.iter().enumerate() {
                f[i] = if blocking.is_none() { z[a] } else { f[i] + step * (z[a] - f[i]) };
            }
            let Some(i) = blocking else { return };
            f[i] = 0.0;
            self.drop_zeros(g, f);
        }
    }

    /// Sets y = G f − c; returns the relative KKT residual and the absolute size of [`TOLERANCE`].
    fn gradient(&mut self, g: &[f64], c: &[f64], f: &[f64]) -> (f64, f64) {
        let (mut worst, mut c_max, mut size) = (0.0f64, 0.0f64, 0.0f64);
        for (i, row) in g.chunks_exact(self.r).enumerate() {
            let (mut sum, mut abs) = (0.0, 0.0);
            for (g, f) in row.iter().zip(f) {
                sum += g * f;
                abs += (g * f).abs();
            }
            let y = sum - c[i];
            self.y[i] = y;
            worst = worst.max(if f[i] > 0.0 { y.abs() } else { -y });
            c_max = c_max.max(c[i].abs());
            size = size.max(abs);
        }
        let scale = (c_max + size).max(f64::MIN_POSITIVE);
        (worst / scale, TOLERANCE * scale)
    }

    /// The zero variable along which the objective falls fastest, topics taken at unit norm.
    fn steepest(&self, g: &[f64], f: &[f64], bound: f64) -> Option<usize> {
        let mut best = (0.0, None);
        for i in 0..self.r {
            let norm2 = g[i * self.r + i];
            // norm2 = 0: an empty topic, on which the objective does not depend
            if f[i] <= 0.0 && !self.blocked[i] && norm2 > 0.0 && -self.y[i] > bound {
                let slope = -self.y[i] / norm2.sqrt();
                if slope > best.0 {
                    best = (slope, Some(i));
                }
            }
        }
        best.1
    }

    /// Makes `i` passive. If it depends on the passive set, f moves along the null direction
    /// (1 at i, −G_PP⁻¹ G_Pi at P), on which the objective falls, until a variable is zero.
    fn enter(&mut self, g: &[f64], f: &mut [f64], i: usize) -> bool {
        let r = self.r;
        while !self.append(g, i) {
            let p = self.passive.len();
            let direction = &mut self.z[..p];
            direction.copy_from_slice(&self.l[p * r..][..p]);
            Self::substitute_back(&self.l, direction, r);
            let (mut step, mut blocking) = (f64::INFINITY, None);
            for (d, &j) in direction.iter().zip(&self.passive) {
                let relative = d * (g[j * r + j] / g[i * r + i]).sqrt();
                if relative > NULL_COMPONENT && f[j] / d < step {
                    (step, blocking) = (f[j] / d, Some(j));
                }
            }
            let Some(j) = blocking else {
                f[i] = 0.0;
                return false;
            };
            for (d, &j) in direction.iter().zip(&self.passive) {
                f[j] -= step * d;
            }
            f[i] += step;
            f[j] = 0.0;
            self.drop_zeros(g, f);
        }
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
