//! Exact non-negative least squares for many right-hand sides that share one Gram matrix.
//!
//! For every row `f` of F (k×r) this solves
//!
//! ```text
//! minimise ½ f G fᵀ − c·f   over f ≥ 0,      G: r×r symmetric positive semidefinite
//! ```
//!
//! whose optimality (KKT) conditions are, with the gradient y = G f − c,
//! `f ≥ 0`, `y ≥ 0` and `f_i y_i = 0`.
//!
//! *Method.* Block principal pivoting (Kim & Park, SIAM J. Sci. Comput. 33, 2011) with the backup
//! rule of Júdice & Pires: guess the passive set (where f may be positive), solve G_PP f_P = c_P,
//! exchange every variable with a wrong sign, repeat. Eight rows advance together, one per SIMD
//! lane, each with its own passive set compressed to the front; a lane whose row is finished takes
//! the next row. A row that is not solved after `MAX_ROUNDS` rounds, or whose optimality
//! conditions do not hold to rounding, goes to the monotone active-set method in `active_set`.
//!
//! *Guarantee.* Exact: every row is returned feasible and with a relative KKT residual
//! (`kkt_residual`) of at most `TOLERANCE` whenever the problem is bounded and G and c are
//! consistent to rounding. A lane never looks at its neighbours, so the answer for a row is bitwise
//! the same whatever rows it is solved with.

mod active_set;
mod lanes;
#[cfg(test)]
mod tests;

use crate::kernel::{LANES, Pack};
use crate::limit::Limit;
use lanes::pad;

/// Rounds of block pivoting before a row goes to the active-set method.
const MAX_ROUNDS: usize = 10;
/// Block exchanges allowed without fewer violations before the backup rule (Kim & Park's value).
const PATIENCE: usize = 3;
/// Widest register tile of the factorisation.
const MAX_TILE: usize = 4;
/// Topics from which on a call looks at the clock inside.
const LOOKING_RANK: usize = 64;
/// Accepted KKT residual, relative to |c|_∞ + (|G||f|)_∞; some hundred roundings at rank 50.
const TOLERANCE: f64 = 1e-12;
/// A Cholesky pivot at or below this times r·g_ii is rounding: the topic depends on earlier ones.
const DEPENDENT: f64 = 4.0 * f64::EPSILON;

/// What a call to [`solve`] needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NnlsReport {
    /// Rows that needed the active-set fallback.
    pub fallback_rows: usize,
    /// Most rounds of block pivoting any row took.
    pub max_rounds: usize,
}

/// Solves every row of `f` (k×r, warm start on entry, solution on exit) for gram `g` (r×r) and
/// right-hand sides `c` (k×r).
///
/// The warm start is the support of the incoming row; a row of zeros is a cold start.
pub fn solve(g: &[f64], c: &[f64], f: &mut [f64], r: usize, scratch: &mut Scratch) -> NnlsReport {
    if r == 0 || f.is_empty() {
        return NnlsReport::default();
    }
    let problem = Problem { g, c, r };
    scratch.prepare(g, r);
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has avx512f and fma, checked on the line above.
            return unsafe { pivot_avx512(problem, f, scratch) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has avx2 and fma, checked on the line above.
            return unsafe { pivot_avx2(problem, f, scratch) };
        }
    }
    pivot::<2, { cfg!(target_arch = "aarch64") }>(problem, f, scratch)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn pivot_avx512(problem: Problem, f: &mut [f64], scratch: &mut Scratch) -> NnlsReport {
    pivot::<4, true>(problem, f, scratch)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pivot_avx2(problem: Problem, f: &mut [f64], scratch: &mut Scratch) -> NnlsReport {
    pivot::<2, true>(problem, f, scratch)
}

#[derive(Clone, Copy)]
struct Problem<'a> {
    g: &'a [f64],
    c: &'a [f64],
    r: usize,
}

/// The row a lane is working on.
#[derive(Clone, Copy, Default)]
struct Lane {
    row: Option<usize>,
    /// The row came without a support to start from.
    cold: bool,
    /// Size of the passive set.
    passive: usize,
    rounds: usize,
    fewest_violations: usize,
    patience: usize,
}

/// Buffers that one thread reuses from call to call.
#[derive(Default)]
pub struct Scratch {
    /// G and |G| with a zero variable r appended; `stride` numbers a row. |G| is empty when G ≥ 0.
    gram: Vec<f64>,
    gram_abs: Vec<f64>,
    stride: usize,
    r: usize,
    /// L of L D Lᵀ in row panels of T, column after column; the current panel of L D; 1/D; and f_P.
    factor: Vec<Pack>,
    panel: Vec<Pack>,
    inverse: Vec<Pack>,
    x: Vec<Pack>,
    /// `order[a][lane]`: the a-th passive variable of a lane, r beyond the last.
    order: Vec<[usize; LANES]>,
    is_passive: Vec<[bool; LANES]>,
    /// Variables of wrong sign in the lane at hand.
    is_wrong: Vec<bool>,
    /// Per variable: c, f, |f|, G f and |G||f|.
    c: Vec<Pack>,
    f: Vec<Pack>,
    f_abs: Vec<Pack>,
    gf: Vec<Pack>,
    gf_abs: Vec<Pack>,
    /// Variables that are not zero in every lane.
    union: Vec<usize>,
    /// |c|_∞ of every lane.
    c_max: Pack,
    active_set: active_set::Work,
    /// Until when rows are solved.
    pub(crate) limit: Limit,
}

impl Scratch {
    /// Takes the Gram matrix; allocates only when the rank grows.
    fn prepare(&mut self, g: &[f64], r: usize) {
        // Room for the appended zero variable and for the widest panel.
        let padded = (r + 1).next_multiple_of(MAX_TILE);
        self.stride = padded;
        pad(g, r, padded, &mut self.gram);
        self.gram_abs.clear();
        if g.iter().any(|&v| v < 0.0) {
            pad(g, r, padded, &mut self.gram_abs);
            self.gram_abs.iter_mut().for_each(|v| *v = v.abs());
        }
        if self.r == r {
            return;
        }
        self.r = r;
        self.factor.resize(padded * (padded + MAX_TILE) / 2, Pack::ZERO);
        self.panel.resize(padded * MAX_TILE, Pack::ZERO);
        for buffer in [
            &mut self.inverse,
            &mut self.x,
            &mut self.f,
            &mut self.f_abs,
            &mut self.gf,
            &mut self.gf_abs,
        ] {
            buffer.resize(padded, Pack::ZERO);
        }
        // The appended variable has c = 0 and is never passive.
        self.c.clear();
        self.c.resize(padded, Pack::ZERO);
        self.order.resize(padded, [r; LANES]);
        self.is_passive.resize(padded, [false; LANES]);
        self.is_wrong.resize(padded, false);
    }
}

/// Block principal pivoting on all rows. `T` is the register tile of the factorisation; it does
/// not change the order of any sum.
#[inline(always)]
fn pivot<const T: usize, const FMA: bool>(
    problem: Problem,
    f: &mut [f64],
    s: &mut Scratch,
) -> NnlsReport {
    let Problem { g, c, r } = problem;
    let mut report = NnlsReport::default();
    let mut lanes = [Lane::default(); LANES];
    let mut next = 0;
    for (l, lane) in lanes.iter_mut().enumerate() {
        s.load(lane, l, &mut next, problem, f);
    }
    // A round of few topics takes less than a look at the clock.
    let looks = s.limit.is_some() && r >= LOOKING_RANK;
    while lanes.iter().any(|lane| lane.row.is_some()) {
        if looks && s.limit.is_over() {
            // Rows that are not solved are as they came: feasible.
            return report;
        }
        let largest = lanes.iter().fold(0, |p, lane| p.max(lane.passive));
        s.solve_passive::<T, FMA>(largest.div_ceil(T), r);
        s.scatter(&lanes, r);
        s.gradient::<FMA>(r);
        let (solved, bound) = s.check(r);
        for (l, lane) in lanes.iter_mut().enumerate() {
            let Some(row) = lane.row else { continue };
            lane.rounds += 1;
            report.max_rounds = report.max_rounds.max(lane.rounds);
            if !solved[l] && s.exchange(lane, l, bound.0[l], r) {
                continue;
            }
            let at = row * r..(row + 1) * r;
            // The fallback of a warm row starts from the row itself, of a cold one from here.
            if solved[l] || lane.cold {
                for (out, value) in f[at.clone()].iter_mut().zip(&s.f) {
                    *out = if value.0[l] > 0.0 { value.0[l] } else { 0.0 };
                }
            }
            if !solved[l] {
                report.fallback_rows += 1;
                let limit = if looks { s.limit } else { Limit::NONE };
                active_set::solve_row(g, &c[at.clone()], &mut f[at], limit, &mut s.active_set);
            }
            s.load(lane, l, &mut next, problem, f);
        }
    }
    report
}

impl Scratch {
    /// Gives lane `l` the next row, or leaves it idle with an empty passive set.
    #[inline(always)]
    fn load(&mut self, lane: &mut Lane, l: usize, next: &mut usize, problem: Problem, f: &[f64]) {
        let Problem { c, r, .. } = problem;
        let at = *next * r..(*next + 1) * r;
        *lane = Lane { fewest_violations: usize::MAX, patience: PATIENCE, ..Lane::default() };
        self.c_max.0[l] = 0.0;
        if at.end > f.len() {
            for i in 0..r {
                self.c[i].0[l] = 0.0;
                self.is_passive[i][l] = false;
            }
        } else {
            lane.row = Some(*next);
            *next += 1;
            lane.cold = !f[at.clone()].iter().any(|&f| f > 0.0);
            for (i, (&f, &c)) in f[at.clone()].iter().zip(&c[at]).enumerate() {
                self.c[i].0[l] = c;
                self.c_max.0[l] = if c.abs() > self.c_max.0[l] { c.abs() } else { self.c_max.0[l] };
                // From f = 0 the first exchange is known: every variable with c_i > 0.
                self.is_passive[i][l] = if lane.cold { c > 0.0 } else { f > 0.0 };
            }
        }
        self.compress(lane, l, r);
    }

    /// Lists the passive variables of lane `l` in `order`, padded with the zero variable.
    #[inline(always)]
    fn compress(&mut self, lane: &mut Lane, l: usize, r: usize) {
        let mut passive = 0;
        for i in 0..r {
            self.order[passive][l] = i;
            passive += usize::from(self.is_passive[i][l]);
        }
        self.order[passive..].iter_mut().for_each(|order| order[l] = r);
        lane.passive = passive;
    }

    /// Solves G_PP f_P = c_P in every lane; the result stands in `x`, in the order of the lanes.
    #[inline(always)]
    fn solve_passive<const T: usize, const FMA: bool>(&mut self, panels: usize, r: usize) {
        let factor = self.factor.as_chunks_mut::<T>().0;
        for a in 0..panels * T {
            let row = &mut factor[lanes::panel_start::<T>(a / T)..][..=a];
            let gram: [&[f64]; LANES] = std::array::from_fn(|l| {
                &self.gram[self.order[a][l] * self.stride..][..self.stride]
            });
            for (column, order) in row.iter_mut().zip(&self.order) {
                let pack = &mut column[a % T];
                for l in 0..LANES {
                    pack.0[l] = gram[l][order[l]];
                }
            }
        }
        for (x, order) in self.x[..panels * T].iter_mut().zip(&self.order) {
            for (l, &i) in order.iter().enumerate() {
                x.0[l] = self.c[i].0[l];
            }
        }
        let dependent = DEPENDENT * r as f64;
        lanes::factorise::<T, FMA>(
            &mut self.factor,
            &mut self.panel,
            &mut self.inverse,
            panels,
            dependent,
        );
        lanes::substitute::<T, FMA>(&self.factor, &self.inverse, &mut self.x, panels);
    }

    /// Spreads x over all variables and lists those that are not zero in every lane.
    #[inline(always)]
    fn scatter(&mut self, lanes: &[Lane; LANES], r: usize) {
        self.f[..r].fill(Pack::ZERO);
        for l in 0..LANES {
            for (x, order) in self.x[..lanes[l].passive].iter().zip(&self.order) {
                self.f[order[l]].0[l] = x.0[l];
            }
        }
        self.union.clear();
        for i in 0..r {
            if self.f[i].0 != [0.0; LANES] {
                self.union.push(i);
            }
        }
    }

    /// G f, and |G||f| where G has negative entries.
    #[inline(always)]
    fn gradient<const FMA: bool>(&mut self, r: usize) {
        lanes::product::<FMA>(&self.gram, self.stride, &self.union, &self.f, &mut self.gf, r);
        if !self.gram_abs.is_empty() {
            for &j in &self.union {
                self.f_abs[j] = Pack(self.f[j].0.map(f64::abs));
            }
            lanes::product::<FMA>(
                &self.gram_abs,
                self.stride,
                &self.union,
                &self.f_abs,
                &mut self.gf_abs,
                r,
            );
        }
    }

    /// Which lanes satisfy the KKT conditions, and the violation each may have.
    #[inline(always)]
    fn check(&self, r: usize) -> ([bool; LANES], Pack) {
        let sizes = if self.gram_abs.is_empty() { &self.gf } else { &self.gf_abs };
        let (mut size, mut f_min, mut y_min, mut y_max) =
            (Pack::ZERO, Pack::ZERO, Pack::ZERO, Pack::ZERO);
        for (i, &abs) in sizes.iter().enumerate().take(r) {
            let (f, y) = (self.f[i], self.gf[i].zip(self.c[i], |a, b| a - b));
            size = size.max(abs);
            f_min = f_min.min(f);
            y_min = y_min.min(y);
            y_max = y_max.max(f.zip(y, |f, y| if f > 0.0 { y } else { 0.0 }));
        }
        let bound = size.zip(self.c_max, |a, b| TOLERANCE * (a + b));
        let solved = std::array::from_fn(|l| {
            f_min.0[l] >= 0.0 && y_min.0[l] >= -bound.0[l] && y_max.0[l] <= bound.0[l]
        });
        (solved, bound)
    }

    /// Exchanges the variables of wrong sign in lane `l`. False when pivoting should stop: too many
    /// rounds, or nothing to exchange although the conditions do not hold.
    #[inline(always)]
    fn exchange(&mut self, lane: &mut Lane, l: usize, bound: f64, r: usize) -> bool {
        if lane.rounds >= MAX_ROUNDS {
            return false;
        }
        let (mut violations, mut last) = (0, 0);
        for i in 0..r {
            let passive = self.is_passive[i][l];
            let y = self.gf[i].0[l] - self.c[i].0[l];
            let wrong = (passive & (self.f[i].0[l] < 0.0)) | (!passive & (y < -bound));
            self.is_wrong[i] = wrong;
            self.is_passive[i][l] = passive ^ wrong;
            violations += usize::from(wrong);
            last = if wrong { i } else { last };
        }
        if violations == 0 {
            return false;
        }
        if violations < lane.fewest_violations {
            lane.fewest_violations = violations;
            lane.patience = PATIENCE;
        } else if lane.patience > 0 {
            lane.patience -= 1;
        } else {
            // Júdice & Pires: only the violation with the largest index; the others go back.
            for i in 0..last {
                self.is_passive[i][l] ^= self.is_wrong[i];
            }
        }
        self.compress(lane, l, r);
        true
    }
}
