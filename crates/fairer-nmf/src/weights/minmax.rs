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
//! ascent on it ([`newton`]) converges quadratically. Where Newton cannot proceed, small
//! multiplicative steps on λ do, and convex combinations of the dictionaries seen, which can only
//! lower the largest loss below their mixed losses. The returned H is never worse than the one
//! given.

mod newton;

use crate::dictionary::Dictionary;
use crate::statistics::Statistics;
use crate::update::Update;

/// The step's data: statistics of every group, with N_ℓ > 0 and E_ℓ ≥ 0.
pub(crate) struct Problem<'a> {
    pub statistics: &'a [Statistics],
    pub norms: &'a [f64],
    pub baselines: &'a [f64],
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
/// NNLS solves at the most.
const MAX_SOLVES: usize = 200;

/// H(w) with everything that follows from it.
#[derive(Clone)]
struct Point {
    weights: Vec<f64>,
    /// f_ℓ and g_ℓ.
    errors: Vec<f64>,
    losses: Vec<f64>,
    lambda: Vec<f64>,
    dual: f64,
    h: Dictionary,
}

struct Solver<'a> {
    problem: &'a Problem<'a>,
    solves: usize,
    lower: f64,
    upper: f64,
    best: Dictionary,
}

/// Replaces `h` by the min-max dictionary, to a gap of `gap` if it can be reached.
///
/// `lambda` is where the search begins: the multipliers of the last step, or even ones.
pub(crate) fn solve(problem: &Problem<'_>, h: &mut Dictionary, lambda: &[f64], gap: f64) -> Step {
    let mut solver = Solver::new(problem, h);
    let mut at = solver.first_point(h, lambda);
    let mut stuck = 0;
    while solver.gap() > gap && solver.solves < MAX_SOLVES && at.lambda.len() > 1 {
        let next = solver.newton(&at).unwrap_or_else(|| {
            stuck += 1;
            solver.small_step(&at, stuck)
        });
        at = next;
    }
    if solver.gap() > gap && at.lambda.len() > 1 {
        solver.mix(&at.h);
    }
    *h = solver.best;
    Step { lambda: at.lambda, lower: solver.lower, upper: solver.upper, solves: solver.solves }
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem<'a>, h: &Dictionary) -> Self {
        let mut solver = Self {
            problem,
            solves: 0,
            // An error is never negative, so no loss is below −e_ℓ.
            lower: problem
                .baselines
                .iter()
                .zip(problem.norms)
                .map(|(e, n)| -e / n)
                .fold(f64::NEG_INFINITY, f64::max),
            upper: f64::INFINITY,
            best: h.clone(),
        };
        let errors = solver.errors(h);
        solver.upper = worst(&solver.losses(&errors));
        solver
    }

    fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    /// f_ℓ of a dictionary.
    fn errors(&self, h: &Dictionary) -> Vec<f64> {
        let gram = h.gram();
        let relative = |(s, n): (&Statistics, &f64)| s.squared_error(h, &gram).sqrt() / n;
        self.problem.statistics.iter().zip(self.problem.norms).map(relative).collect()
    }

    fn losses(&self, errors: &[f64]) -> Vec<f64> {
        let p = self.problem;
        errors.iter().zip(p.baselines).zip(p.norms).map(|((f, e), n)| f - e / n).collect()
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
            weights.iter().zip(self.problem.norms).map(|(w, n)| w / (n * n)).collect();
        let sum = Statistics::weighted(self.problem.statistics, &absolute, h.rank, h.features);
        Update::Nnls.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank);
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
        self.lower = self.lower.max(dual);
        self.offer(&h, worst(&losses));
        Point { weights, errors, losses, lambda, dual, h }
    }

    fn offer(&mut self, h: &Dictionary, upper: f64) {
        if upper < self.upper {
            self.upper = upper;
            self.best.values.copy_from_slice(&h.values);
        }
    }

    /// A Newton step with backtracking; none if it does not raise D.
    fn newton(&mut self, at: &Point) -> Option<Point> {
        let model = newton::Model::new(self.problem, at)?;
        let mut radius = 1.0;
        for _ in 0..4 {
            let step = model.step(at, radius);
            let weights = model.weights(at, &step);
            let next = self.point(weights, &at.h);
            // Rises in D below rounding count as progress only while the gap falls too.
            if next.dual > at.dual + 1e-15 * at.dual.abs() {
                return Some(next);
            }
            radius *= 0.25;
        }
        None
    }

    /// λ_ℓ ← λ_ℓ·exp(η(g_ℓ − ḡ)) with a falling η: slow, but always towards the optimum.
    fn small_step(&mut self, at: &Point, count: usize) -> Point {
        let spread = worst(&at.losses) - at.dual;
        let rate = 1.0 / (spread.max(1e-300) * (1.0 + count as f64));
        let lambda = normalised(
            at.lambda
                .iter()
                .zip(&at.losses)
                .map(|(l, g)| l.max(FLOOR) * ((g - at.dual) * rate).clamp(-2.0, 2.0).exp())
                .collect(),
        );
        let weights = lambda.iter().zip(&at.errors).map(|(l, f)| l / f.max(TINY_ERROR)).collect();
        self.point(weights, &at.h)
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

fn worst(losses: &[f64]) -> f64 {
    losses.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn normalised(mut values: Vec<f64>) -> Vec<f64> {
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|v| *v /= total);
    values
}
