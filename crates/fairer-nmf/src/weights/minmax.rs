//! The exact min-max dictionary step: minimise over H ≥ 0 the largest loss
//! max_ℓ (‖X_ℓ − W_ℓH‖ − E_ℓ)/N_ℓ, from the groups' statistics alone.
//!
//! The optimal H is a weighted NNLS solution H(w) for some weights w ≥ 0, so the search runs over
//! L numbers instead of r·n. With everything relative to the group's norm (f_ℓ = ‖X_ℓ − W_ℓH‖/N_ℓ,
//! e_ℓ = E_ℓ/N_ℓ, g_ℓ = f_ℓ − e_ℓ), H(w) also minimises Σ λ_ℓ g_ℓ for λ_ℓ ∝ w_ℓ f_ℓ. Hence, at any w,
//!
//!   Σ λ_ℓ g_ℓ  ≤  optimum of the step  ≤  max_ℓ g_ℓ,
//!
//! and the difference certifies H. D(λ) = min_H Σ λ_ℓ g_ℓ is concave with gradient g; Newton
//! ascent on it ([`newton`]) converges quadratically. Where Newton cannot proceed, gradient steps
//! on another bound do, slower but surely ([`Solver::safe_step`]); at the end a segment between
//! two dictionaries is searched, on which the losses are convex. The returned H is never worse
//! than the one given.

mod curvature;
mod newton;
#[cfg(test)]
mod tests;

use crate::criterion::{Criterion, root};
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;
use crate::update::Update;

/// The step's data: statistics and criterion of every group.
pub(crate) struct Problem<'a> {
    pub statistics: &'a [Statistics],
    pub criteria: &'a [Criterion],
    /// Until when it is searched: what was not solved by then bounds nothing.
    pub limit: Limit,
}

/// What a step achieved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Multipliers of the groups, sum 1.
    pub lambda: Vec<f64>,
    /// No H ≥ 0 has a largest loss below this.
    pub lower: f64,
    /// The largest loss of the returned H.
    pub upper: f64,
    /// Number of NNLS problems solved (each for all features).
    pub solves: usize,
}

impl Step {
    /// How far the returned H is from the optimum of its step at the most.
    pub fn gap(&self) -> f64 {
        (self.upper - self.lower).max(0.0)
    }
}

/// λ below this is lifted at a warm start, so that an inactive group can come back.
const WARM_FLOOR: f64 = 1e-3;
/// λ is kept above this inside.
const FLOOR: f64 = 1e-9;
/// Relative errors are treated as at least this where one divides by them.
const TINY_ERROR: f64 = 1e-9;
/// What a search may spend.
#[derive(Clone, Copy)]
struct Limits {
    /// NNLS solves.
    solves: usize,
    /// Newton steps.
    newton: usize,
}

const LIMITS: Limits = Limits { solves: 200, newton: usize::MAX };

/// Groups up to which Newton's method is used: three matrices of 6 MB.
const NEWTON_GROUPS: usize = 900;

/// Safe steps change no weight by more than e to this, and give up after so many shorter tries.
const MAX_RATE: f64 = 3.0;
const SAFE_TRIES: usize = 30;

/// H(w) with everything that follows from it.
#[derive(Clone)]
struct Point {
    weights: Vec<f64>,
    /// f_ℓ and g_ℓ.
    errors: Vec<f64>,
    losses: Vec<f64>,
    lambda: Vec<f64>,
    dual: f64,
    /// The t with Σ w_ℓ(t + e_ℓ)² = Σ w_ℓf_ℓ²: as f_ℓ ≤ t + e_ℓ where the largest loss is t, and
    /// H(w) has the least Σ w_ℓf_ℓ², no H has a largest loss below it.
    root: f64,
    /// Σ w_ℓ(f_ℓ² − (t + e_ℓ)²) at t = `root` (Σw = 1): zero, or negative where no root is above the
    /// trivial bound.
    balance: f64,
    h: Dictionary,
}

struct Solver<'a> {
    problem: &'a Problem<'a>,
    solves: usize,
    lower: f64,
    upper: f64,
    best: Dictionary,
    /// e_ℓ.
    relative: Vec<f64>,
    /// How far the last safe step went.
    rate: f64,
}

/// Replaces `h` by the min-max dictionary, to a gap of `gap` if it can be reached.
///
/// `lambda` is where the search begins: the multipliers of the last step, or even ones.
pub(crate) fn solve(problem: &Problem<'_>, h: &mut Dictionary, lambda: &[f64], gap: f64) -> Step {
    let mut solver = Solver::new(problem, h);
    if solver.is_over() {
        let Solver { lower, upper, .. } = solver;
        return Step { lambda: lambda.to_vec(), lower, upper, solves: 0 };
    }
    let at = solver.search(h, lambda, gap, LIMITS);
    *h = solver.best;
    Step { lambda: at.lambda, lower: solver.lower, upper: solver.upper, solves: solver.solves }
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem<'a>, h: &Dictionary) -> Self {
        let relative: Vec<f64> = problem.criteria.iter().map(Criterion::relative_offset).collect();
        let mut solver = Self {
            problem,
            solves: 0,
            // An error is never negative, so no loss is below −e_ℓ.
            lower: relative.iter().map(|e| -e).fold(f64::NEG_INFINITY, f64::max),
            upper: f64::INFINITY,
            best: h.clone(),
            relative,
            rate: 1.0,
        };
        let errors = solver.errors(h);
        solver.upper = worst(&solver.losses(&errors));
        solver
    }

    fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    fn is_over(&self) -> bool {
        self.problem.limit.is_over()
    }

    /// Newton steps while they raise D, safe steps where they do not.
    fn search(&mut self, h: &Dictionary, lambda: &[f64], gap: f64, limits: Limits) -> Point {
        let mut at = self.first_point(h, lambda);
        if lambda.len() == 1 {
            return at;
        }
        let mut newton_left = limits.newton;
        // Newton's next try after a failure is preceded by so many safe steps: ever more.
        let (mut wait, mut safe) = (1_usize, 0_usize);
        while self.gap() > gap && self.solves < limits.solves && !self.is_over() {
            if safe == 0 && newton_left > 0 {
                newton_left -= 1;
                if let Some(next) = self.newton(&at) {
                    at = next;
                    continue;
                }
                safe = wait;
                wait *= 2;
            }
            safe = safe.saturating_sub(1);
            match self.safe_step(&at) {
                Some(next) => at = next,
                // Neither rises any more: rounding.
                None => break,
            }
        }
        if self.gap() > gap && !self.is_over() {
            self.mix(&at.h);
        }
        at
    }

    /// f_ℓ of a dictionary.
    fn errors(&self, h: &Dictionary) -> Vec<f64> {
        let gram = h.gram();
        let relative =
            |(s, c): (&Statistics, &Criterion)| s.squared_error(h, &gram).sqrt() / c.scale;
        self.problem.statistics.iter().zip(self.problem.criteria).map(relative).collect()
    }

    fn losses(&self, errors: &[f64]) -> Vec<f64> {
        errors.iter().zip(self.problem.criteria).map(|(f, c)| c.relative_loss(*f)).collect()
    }

    fn first_point(&mut self, h: &Dictionary, lambda: &[f64]) -> Point {
        let lambda = normalised(lambda.iter().map(|l| l.max(WARM_FLOOR)).collect());
        let errors = self.errors(h);
        let weights = lambda.iter().zip(&errors).map(|(l, f)| l / f.max(1e-3)).collect();
        self.point(weights, h)
    }

    /// H(w), warm-started, and its bounds. Weights are relative to N_ℓ².
    fn point(&mut self, weights: Vec<f64>, warm: &Dictionary) -> Point {
        let mut h = warm.clone();
        let absolute: Vec<f64> =
            weights.iter().zip(self.problem.criteria).map(|(w, c)| c.of_square(*w)).collect();
        let sum = Statistics::weighted(self.problem.statistics, &absolute, h.rank, h.features);
        let limit = self.problem.limit;
        Update::Nnls.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank, limit);
        let solved = !limit.is_over();
        self.solves += 1;
        let errors = self.errors(&h);
        let losses = self.losses(&errors);
        let raw: Vec<f64> = weights.iter().zip(&errors).map(|(w, f)| w * f).collect();
        let total: f64 = raw.iter().sum();
        // All weighted groups fitted exactly: the trivial bound is then the bound.
        let (lambda, dual) = if total > 0.0 {
            let lambda: Vec<f64> = raw.iter().map(|l| l / total).collect();
            let dual = lambda.iter().zip(&losses).map(|(l, g)| l * g).sum();
            (lambda, dual)
        } else {
            (normalised(weights.clone()), self.lower)
        };
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let left = shares.iter().zip(&errors).map(|(w, f)| w * f * f).sum();
        let root = root(&shares, &self.relative, left);
        let slack = |(w, e): (&f64, &f64)| w * (root + e) * (root + e);
        let balance = left - shares.iter().zip(&self.relative).map(slack).sum::<f64>();
        // The bounds are those of the exact H(w) alone.
        if solved {
            self.lower = self.lower.max(dual).max(root);
        }
        self.offer(&h, worst(&losses));
        Point { weights, errors, losses, lambda, dual, root, balance, h }
    }

    fn offer(&mut self, h: &Dictionary, upper: f64) {
        if upper < self.upper {
            self.upper = upper;
            self.best.values.copy_from_slice(&h.values);
        }
    }

    /// A Newton step with backtracking; none if it does not raise D.
    fn newton(&mut self, at: &Point) -> Option<Point> {
        // Its matrices are L×L: beyond this many groups the safe steps, which have none, do all.
        if at.weights.len() > NEWTON_GROUPS {
            return None;
        }
        let model = newton::Model::new(self.problem, at)?;
        let mut radius = 1.0;
        for _ in 0..4 {
            if self.is_over() {
                return None;
            }
            let step = model.step(at, radius);
            let weights = model.weights(at, &step);
            let next = self.point(weights, &at.h);
            // A rise below rounding is none.
            if next.dual > at.dual + 1e-15 * at.dual.abs() {
                return Some(next);
            }
            radius *= 0.25;
        }
        None
    }

    /// w_ℓ ← w_ℓ·exp(η·s_ℓ), where s_ℓ = f_ℓ² − (t + e_ℓ)² at t = `root`.
    ///
    /// Above the trivial bound dt/dw_ℓ is a positive multiple of s_ℓ, and f is continuous in w > 0,
    /// so t rises for η small enough, unless it is the largest. Where t is the trivial bound itself,
    /// `balance` is concave in w with gradient s and rises instead: until t leaves the trivial bound,
    /// or until no s_ℓ is positive, when H reaches that bound. None where neither rises by more than
    /// rounding.
    fn safe_step(&mut self, at: &Point) -> Option<Point> {
        let slope: Vec<f64> = at
            .errors
            .iter()
            .zip(&self.relative)
            .map(|(f, e)| f * f - (at.root + e) * (at.root + e))
            .collect();
        let steepest = slope.iter().fold(0.0f64, |a, s| a.max(s.abs()));
        if steepest == 0.0 {
            return None;
        }
        for _ in 0..SAFE_TRIES {
            if self.is_over() {
                return None;
            }
            let rate = self.rate / steepest;
            let weights = at.weights.iter().zip(&slope).map(|(w, s)| w * (rate * s).exp());
            let weights = normalised(weights.map(|w| w.max(FLOOR * FLOOR)).collect());
            let next = self.point(weights, &at.h);
            if rises(at, &next) {
                self.rate = (self.rate * 1.5).min(MAX_RATE);
                return Some(next);
            }
            self.rate *= 0.4;
        }
        None
    }

    /// Looks for a better H on the segment between the best one and another (losses are convex).
    fn mix(&mut self, other: &Dictionary) {
        let ends = (self.best.clone(), other);
        let blend = |t: f64| {
            let mut h = ends.0.clone();
            h.values.iter_mut().zip(&ends.1.values).for_each(|(a, b)| *a += t * (b - *a));
            h
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            let value = |t| worst(&self.losses(&self.errors(&blend(t))));
            if value(a) < value(b) { high = b } else { low = a }
        }
        let h = blend(0.5 * (low + high));
        let upper = worst(&self.losses(&self.errors(&h)));
        self.offer(&h, upper);
    }
}

/// Whether a safe step came further.
fn rises(at: &Point, next: &Point) -> bool {
    next.root > at.root || (next.root == at.root && at.balance < 0.0 && next.balance > at.balance)
}

fn worst(losses: &[f64]) -> f64 {
    losses.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn normalised(mut values: Vec<f64>) -> Vec<f64> {
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|v| *v /= total);
    values
}
