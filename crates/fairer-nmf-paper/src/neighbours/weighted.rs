//! Neighbours that are standard NMF with weights of the groups: reweighted NMF, the aggregates of fair GLRM, and
//! distributionally robust multi-objective NMF.
//!
//! *Fair GLRM* (Buet-Golfouse and Utyagulov 2022): costs a_ℓ = ‖X_ℓ − W_ℓH‖²/m_ℓ without a baseline, and F(a) a power mean
//! (Σ a^p/L)^{1/p}, (1/t)·log Σ e^{ta}/L, or Σ a + γ·Σ(a − ā)². Non-negativity is a penalty there and a constraint here.
//! Chosen here: p = 8, t = 10 and γ = 5 in units of the mean cost of standard NMF; weights ∂F/∂a_ℓ (clipped at zero), some HALS
//! iterations with them, and backtracking towards the last weights until F falls, so that it never rises.
//!
//! *Robust NMF* (Gillis, Hien, Leplat and Tan 2021): D_ℓ = ‖X_ℓ − W_ℓH‖²/E_ℓ², where E_ℓ is positive (else N_ℓ²); a multiplicative sweep
//! for Σ λ_ℓD_ℓ, then λ ← (1 − γ_k)λ + γ_k·e of the largest D, γ_k = 2/(k + 2). Chosen here: 300 sweeps from standard NMF, of
//! which the dictionary with the lowest largest D is kept.

use fairer_nmf::fit::{Start, fit_from};
use fairer_nmf::{GroupedData, Method, Note, Parameters, Result, Update, fit};
use ndarray::Array2;

use super::{Left, Task};

/// Weights, relative to the largest, are at least this: a group without any is no group.
const LEAST: f64 = 1e-6;
/// Rounds of a fair GLRM, and iterations of NMF in each.
const ROUNDS: usize = 40;
const ITERATIONS: usize = 15;
/// Sweeps of robust NMF.
const SWEEPS: usize = 300;

/// A fairness functional of the groups' average costs, in units of the mean cost at the start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aggregate {
    Power(f64),
    Exponential(f64),
    Disparity(f64),
}

impl Aggregate {
    pub fn power(p: f64) -> Self {
        Self::Power(p)
    }

    pub fn exponential(t: f64) -> Self {
        Self::Exponential(t)
    }

    pub fn disparity(gamma: f64) -> Self {
        Self::Disparity(gamma)
    }

    pub fn value(self, costs: &[f64]) -> f64 {
        let count = costs.len() as f64;
        let mean = costs.iter().sum::<f64>() / count;
        match self {
            Self::Power(p) => (costs.iter().map(|a| a.powf(p)).sum::<f64>() / count).powf(1.0 / p),
            Self::Exponential(t) => {
                let largest = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = costs.iter().map(|a| (t * (a - largest)).exp()).sum();
                largest + (sum / count).ln() / t
            }
            Self::Disparity(gamma) => {
                count * mean + gamma * costs.iter().map(|a| (a - mean).powi(2)).sum::<f64>()
            }
        }
    }

    /// ∂F/∂a_ℓ up to a common factor, not negative.
    fn slopes(self, costs: &[f64]) -> Vec<f64> {
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        let largest = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slope = |a: &f64| match self {
            Self::Power(p) => (a / largest).powf(p - 1.0),
            Self::Exponential(t) => (t * (a - largest)).exp(),
            Self::Disparity(gamma) => (1.0 + 2.0 * gamma * (a - mean)).max(0.0),
        };
        costs.iter().map(slope).collect()
    }
}

/// The rows with the weight of their group.
fn with_group_weights<'d>(data: &GroupedData<'d>, weights: &[f64]) -> Result<GroupedData<'d>> {
    let mut codes = vec![0; data.rows()];
    let groups = data.groups();
    for (l, group) in groups.iter().enumerate() {
        group.rows.iter().for_each(|&row| codes[row] = l);
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let of_row: Vec<f64> = codes.iter().map(|&l| (weights[l] / largest).max(LEAST)).collect();
    let names = groups.iter().map(|g| g.name.clone()).collect();
    let weighted = GroupedData::with_codes(data.matrix().clone(), names, &codes)?;
    let weighted = weighted.with_weights(&of_row)?;
    match data.scale() {
        Some(scale) => weighted.with_scale(scale.to_vec()),
        None => Ok(weighted),
    }
}

impl Task<'_, '_> {
    fn standard(&self) -> Parameters {
        let baseline = fairer_nmf::Baseline::Zero;
        self.parameters.clone().with(|p| {
            p.method = Method::standard();
            p.baseline = baseline;
        })
    }

    /// Standard NMF with weights of the groups.
    pub(super) fn reweighted(&self, weights: &[f64]) -> Result<Left> {
        let weighted = with_group_weights(self.data, weights)?;
        let found = fit(&weighted, &self.standard(), self.observer)?.model;
        self.of_dictionary(&found.components, None)
    }

    /// a_ℓ under a dictionary.
    fn costs(&self, h: &Array2<f64>) -> Result<Vec<f64>> {
        let groups = self.data.groups().iter();
        let errors = self.errors(h.view())?;
        Ok(errors
            .iter()
            .zip(groups)
            .map(|(f, g)| f * f * g.squared_norm / g.rows.len() as f64)
            .collect())
    }

    /// A fair GLRM.
    pub(super) fn aggregate(&self, aggregate: Aggregate) -> Result<Left> {
        let (h, rounds) = self.minimise(aggregate)?;
        let remark = format!("{rounds} rounds that lowered the functional");
        self.of_dictionary(&h, Some(Note::new("rounds", remark)))
    }

    /// The dictionary of a fair GLRM, and the rounds that lowered its functional.
    pub(super) fn minimise(&self, aggregate: Aggregate) -> Result<(Array2<f64>, usize)> {
        let sizes: Vec<f64> = self.data.groups().iter().map(|g| g.rows.len() as f64).collect();
        let even: Vec<f64> = sizes.iter().map(|m| 1.0 / m).collect();
        let weighted = with_group_weights(self.data, &even)?;
        let mut h = fit(&weighted, &self.standard(), self.observer)?.model.components;
        let first = self.costs(&h)?;
        // Positive but where everything is fitted exactly, and then nothing is left to do.
        let unit = first.iter().sum::<f64>() / first.len() as f64;
        if unit <= 0.0 {
            return Ok((h, 0));
        }
        let value =
            |costs: &[f64]| aggregate.value(&costs.iter().map(|a| a / unit).collect::<Vec<_>>());
        let mut costs = first;
        let mut weights = vec![1.0; sizes.len()];
        let mut lowered = 0;
        for _ in 0..ROUNDS {
            let relative: Vec<f64> = costs.iter().map(|a| a / unit).collect();
            let wanted = aggregate.slopes(&relative);
            let mut share = 1.0;
            let better = loop {
                let blend = weights.iter().zip(&wanted).map(|(w, s)| (1.0 - share) * w + share * s);
                let blend: Vec<f64> = blend.collect();
                let of_rows: Vec<f64> = blend.iter().zip(&sizes).map(|(w, m)| w / m).collect();
                let next = self.go_on(&h, &of_rows)?;
                let found = self.costs(&next)?;
                if value(&found) < value(&costs) * (1.0 - 1e-7) {
                    break Some((next, found, blend));
                }
                share *= 0.5;
                if share < 0.05 {
                    break None;
                }
            };
            let Some((next, found, blend)) = better else { break };
            (h, costs, weights) = (next, found, blend);
            lowered += 1;
        }
        Ok((h, lowered))
    }

    /// Some iterations of weighted NMF from a dictionary.
    fn go_on(&self, h: &Array2<f64>, weights: &[f64]) -> Result<Array2<f64>> {
        let weighted = with_group_weights(self.data, weights)?;
        let start = Start { components: Some(h.clone()), representation: None };
        let stopping = self.parameters.stopping.with(|s| s.max_iterations = ITERATIONS);
        let parameters = self.standard().with(|p| p.stopping = stopping);
        Ok(fit_from(&weighted, &parameters, &start, self.observer)?.model.components)
    }

    /// Distributionally robust multi-objective NMF.
    pub(super) fn robust(&self) -> Result<Left> {
        let (h, lambda) = self.robust_dictionary(SWEEPS)?;
        let said: Vec<String> = lambda.iter().map(|l| format!("{l:.3}")).collect();
        let remark = format!("λ = {}", said.join(", "));
        self.of_dictionary(&h, Some(Note::new("weights", remark)))
    }

    /// Its dictionary and λ.
    pub(super) fn robust_dictionary(&self, sweeps: usize) -> Result<(Array2<f64>, Vec<f64>)> {
        let groups = self.data.groups();
        // A group that its own dictionary fits exactly is measured by its norm.
        let units: Vec<f64> = groups
            .iter()
            .zip(self.baselines)
            .map(|(g, e)| if *e > 1e-6 * g.norm() { e * e } else { g.squared_norm })
            .collect();
        let first = fit(self.data, &self.standard(), self.observer)?;
        let mut h = first.model.components.clone();
        let mut w = first.representation.to_f64();
        let scaled = |errors: &[f64]| -> Vec<f64> {
            let groups = errors.iter().zip(groups).zip(&units);
            groups.map(|((f, g), u)| f * f * g.squared_norm / u).collect()
        };
        let largest = |d: &[f64]| (0..d.len()).max_by(|&a, &b| d[a].total_cmp(&d[b])).unwrap_or(0);
        let mut d = scaled(&first.model.relative_errors());
        let mut best = (d[largest(&d)], h.clone());
        let mut lambda = vec![1.0 / groups.len() as f64; groups.len()];
        let stopping = self.parameters.stopping.with(|s| {
            s.max_iterations = 1;
            s.tolerance = 0.0;
        });
        let parameters = self.standard().with(|p| {
            p.method = Method::Standard { update: Update::Mu };
            p.polish = false;
            p.stopping = stopping;
        });
        for k in 1..=sweeps {
            let weights: Vec<f64> = lambda.iter().zip(&units).map(|(l, u)| l / u).collect();
            let weighted = with_group_weights(self.data, &weights)?;
            let start = Start { components: Some(h), representation: Some(w) };
            let found = fit_from(&weighted, &parameters, &start, self.observer)?;
            (h, w) = (found.model.components.clone(), found.representation.to_f64());
            d = scaled(&found.model.relative_errors());
            let top = largest(&d);
            if d[top] < best.0 {
                best = (d[top], h.clone());
            }
            let step = 2.0 / (k as f64 + 2.0);
            lambda.iter_mut().for_each(|l| *l *= 1.0 - step);
            lambda[top] += step;
        }
        Ok((best.1, lambda))
    }
}
