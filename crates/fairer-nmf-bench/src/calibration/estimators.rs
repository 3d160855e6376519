//! What was tried: fits of a set of rows alone, in the sample and cross-fitted, and the group's
//! estimated loss with its standard error by each way of correcting the baseline.

use super::random::Rng;
use fairer_nmf::{
    Baseline, GroupedData, Method, Parameters, Stopping, audit::evaluate, fit, fit::Start,
    fit::fit_from, silent,
};
use ndarray::{Array2, ArrayView2, Axis};

/// How a dictionary is fitted wherever the study needs one.
#[derive(Clone, Copy, Debug)]
pub struct Solver {
    /// Number of topics.
    pub rank: usize,
    /// Random starts.
    pub runs: usize,
    /// Whether one more run begins at the shared dictionary.
    pub warm: bool,
    /// Tolerance of the error's relative change.
    pub tolerance: f64,
    /// Iterations at the most.
    pub iterations: usize,
}

/// The solver of the study, at rank 3.
pub const SOLVER: Solver =
    Solver { rank: 3, runs: 1, warm: true, tolerance: 1e-5, iterations: 500 };

impl Solver {
    /// Standard NMF of rows: dictionary (r×n), the best of the solver's runs.
    ///
    /// # Panics
    /// If the library refuses the rows.
    #[must_use]
    pub fn dictionary(
        &self,
        x: ArrayView2<'_, f64>,
        shared: Option<&Array2<f64>>,
        seed: u64,
    ) -> Array2<f64> {
        let data = GroupedData::one_group(x).expect("rows that are not all zero");
        let p = Parameters::new(self.rank).with(|p| {
            p.method = Method::standard();
            p.n_init = self.runs.max(1);
            p.baseline = Baseline::Zero;
            p.stopping = Stopping::default().with(|s| {
                s.tolerance = self.tolerance;
                s.max_iterations = self.iterations;
                s.relative_error_below = Some(1e-6);
            });
            p.bound = false;
            p.finish = false;
            p.seed = seed;
        });
        let mut found = Vec::new();
        if let Some(h) = shared.filter(|_| self.warm) {
            let start = Start { components: Some(h.clone()), representation: None };
            found.push(fit_from(&data, &p, &start, &silent).expect("a fit from the shared one"));
        }
        if self.runs > 0 || found.is_empty() {
            found.push(fit(&data, &p, &silent).expect("a fit"));
        }
        let best = found
            .into_iter()
            .min_by(|a, b| {
                let of = |f: &fairer_nmf::Fit| f.model.groups[0].relative_error;
                of(a).total_cmp(&of(b))
            })
            .expect("one run at least");
        best.model.components
    }
}

/// Squared errors of rows under a dictionary, each with its best coordinates.
///
/// # Panics
/// If the library refuses the rows.
#[must_use]
pub fn row_errors(x: ArrayView2<'_, f64>, h: &Array2<f64>) -> Vec<f64> {
    let data = GroupedData::one_group(x).expect("rows that are not all zero");
    evaluate(&data, h.view(), None, &[0.0]).expect("shapes fit").row_squared_errors
}

/// A group as the estimators see it: one number per row of each kind.
#[derive(Clone, Debug)]
pub struct Rows {
    /// ‖x‖².
    pub norm: Vec<f64>,
    /// Squared error under the shared dictionary, which has seen the row.
    pub shared: Vec<f64>,
    /// Under the group's own, which has seen the row.
    pub own: Vec<f64>,
    /// Under the group's own without the row's fold; empty where not asked for.
    pub crossed: Vec<f64>,
}

impl Rows {
    /// Measures the rows `at` of a matrix, with `folds` folds (0 for none).
    #[must_use]
    pub fn new(
        x: &Array2<f64>,
        at: &[usize],
        shared: &[f64],
        h: &Array2<f64>,
        solver: &Solver,
        folds: usize,
        seed: u64,
    ) -> Self {
        let rows = x.select(Axis(0), at);
        let own_h = solver.dictionary(rows.view(), Some(h), seed);
        let mut crossed = Vec::new();
        let folds = folds.min(at.len());
        if folds > 1 {
            crossed = vec![0.0; at.len()];
            let mut order: Vec<usize> = (0..at.len()).collect();
            Rng(seed ^ 0xF01D).shuffle(&mut order);
            for fold in 0..folds {
                let part = |held: bool| -> Vec<usize> {
                    let chosen = order.iter().enumerate();
                    chosen.filter(|(i, _)| (i % folds == fold) == held).map(|(_, &r)| r).collect()
                };
                let (rest, held) = (part(false), part(true));
                let other = solver.dictionary(
                    rows.select(Axis(0), &rest).view(),
                    Some(&own_h),
                    seed + 1 + fold as u64,
                );
                let errors = row_errors(rows.select(Axis(0), &held).view(), &other);
                held.iter().zip(errors).for_each(|(&r, e)| crossed[r] = e);
            }
        }
        Self {
            norm: rows.rows().into_iter().map(|r| r.iter().map(|v| v * v).sum()).collect(),
            shared: at.iter().map(|&r| shared[r]).collect(),
            own: row_errors(rows.view(), &own_h),
            crossed,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.norm.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.norm.is_empty()
    }

    /// The usual loss: in the sample.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.error() - self.baseline()
    }

    /// R-Error under the shared dictionary.
    #[must_use]
    pub fn error(&self) -> f64 {
        (sum(&self.shared) / sum(&self.norm)).sqrt()
    }

    /// E/N in the sample.
    #[must_use]
    pub fn baseline(&self) -> f64 {
        (sum(&self.own) / sum(&self.norm)).sqrt()
    }

    /// Loss and standard error with the squared errors `own` of the rows under their own
    /// dictionary, by the delta method: to first order the lowest squared error of a set of rows
    /// changes with the weight of a row by that row's squared error (envelope theorem), so that
    /// nothing has to be fitted anew.
    #[must_use]
    pub fn estimate(&self, own: &[f64]) -> (f64, f64) {
        let count = self.len() as f64;
        let n2 = sum(&self.norm);
        let (f, b) = ((sum(&self.shared) / n2).sqrt(), (sum(own) / n2).sqrt());
        let part = |e2: f64, x2: f64, r: f64| {
            if r > 0.0 { (e2 - r * r * x2) / (2.0 * r) } else { 0.0 }
        };
        let squares: f64 = (0..self.len())
            .map(|i| {
                let x2 = self.norm[i];
                let u = (part(self.shared[i], x2, f) - part(own[i], x2, b)) / n2;
                u * u
            })
            .sum();
        (f - b, (squares * count / (count - 1.0).max(1.0)).sqrt())
    }

    /// The middle of in-sample and cross-fitted squared errors, row by row.
    #[must_use]
    pub fn middle(&self) -> Vec<f64> {
        self.own.iter().zip(&self.crossed).map(|(a, b)| 0.5 * (a + b)).collect()
    }
}

/// Sum of a slice.
#[must_use]
pub fn sum(v: &[f64]) -> f64 {
    v.iter().sum()
}
