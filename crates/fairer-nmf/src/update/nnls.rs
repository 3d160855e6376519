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
mod side_by_side;
#[cfg(test)]
mod tests;

use crate::kernel::LANES;
use crate::limit::Limit;
pub use side_by_side::Scratch;
use side_by_side::{Lane, Problem, is_whole};

/// Accepted KKT residual, relative to |c|_∞ + (|G||f|)_∞; some hundred roundings at rank 50.
const TOLERANCE: f64 = 1e-12;
/// A Cholesky pivot at or below this times r·g_ii is rounding: the topic depends on earlier ones.
const DEPENDENT: f64 = 4.0 * f64::EPSILON;
/// Topics from which on a call looks at the clock inside.
const LOOKING_RANK: usize = 64;

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
        if is_whole(r, largest) {
            s.solve_whole::<T, FMA>(r.div_ceil(T), r);
        } else {
            for (l, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.listed) {
                s.compress(lane, l, r);
            }
            s.solve_passive::<T, FMA>(largest.div_ceil(T), r);
            s.scatter(&lanes, r);
        }
        s.find_union(r);
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
