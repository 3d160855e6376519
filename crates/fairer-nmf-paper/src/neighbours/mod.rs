//! The neighbours: what others would do with the same rows, groups and rank, written from their papers as
//! references to compare with, under one audit.
//!
//! Every one leaves relative errors of the groups; error, loss, excess loss, total error and the number of
//! parameters follow from these alike. Where a paper leaves something open, the file says what was chosen.

mod apart;
mod named;
mod pca;
mod rise;
mod study;
#[cfg(test)]
mod tests;
mod weighted;

pub use named::named;
pub(crate) use study::rank;
pub use study::study;

use std::time::Instant;

use fairer_nmf::audit::{ChanceBand, chance_bands, evaluate};
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::bound::{BoundReport, global_bound};
use fairer_nmf::fit::{Criterion, estimate_baselines};
use fairer_nmf::{Baseline, Error, GroupedData, Method, Note, Observer, Parameters, Result, fit};
use ndarray::{Array2, ArrayView2};
use serde::Serialize;

/// A method to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbour {
    /// Standard NMF.
    Standard,
    /// Fairer-NMF by the AM scheme.
    Fairer,
    /// Standard NMF in which every group counts the same per row of its own: weights 1/m.
    ByRows,
    /// Standard NMF in which every group counts the same: weights 1/N².
    ByNorm,
    /// Fair GLRM: a power mean of the groups' average costs.
    Power,
    /// Fair GLRM: the logarithm of a sum of exponentials of the average costs.
    Exponential,
    /// Fair GLRM: the sum of the average costs and a penalty on their disparity.
    Disparity,
    /// Distributionally robust multi-objective NMF.
    Robust,
    /// Fair PCA.
    FairPca,
    /// Fair PCA's relaxation with the criterion of Fairer-NMF.
    PcaLoss,
    /// Topics divided over the groups, each free to use all.
    SharedBudget,
    /// A model for every group.
    Separate,
}

/// All of them, in the order of every table.
pub const ALL: [Neighbour; 12] = [
    Neighbour::Standard,
    Neighbour::Fairer,
    Neighbour::ByRows,
    Neighbour::ByNorm,
    Neighbour::Power,
    Neighbour::Exponential,
    Neighbour::Disparity,
    Neighbour::Robust,
    Neighbour::FairPca,
    Neighbour::PcaLoss,
    Neighbour::SharedBudget,
    Neighbour::Separate,
];

impl Neighbour {
    /// What is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Fairer => "am",
            Self::ByRows => "reweighted-rows",
            Self::ByNorm => "reweighted-norms",
            Self::Power => "glrm-power",
            Self::Exponential => "glrm-exponential",
            Self::Disparity => "glrm-disparity",
            Self::Robust => "robust",
            Self::FairPca => "fair-pca",
            Self::PcaLoss => "fair-pca-loss",
            Self::SharedBudget => "shared-budget",
            Self::Separate => "separate",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Standard => "Standard NMF",
            Self::Fairer => "Fairer-NMF (AM)",
            Self::ByRows => "Reweighted NMF, 1/m",
            Self::ByNorm => "Reweighted NMF, 1/N²",
            Self::Power => "Fair GLRM, power mean",
            Self::Exponential => "Fair GLRM, exponential",
            Self::Disparity => "Fair GLRM, disparity",
            Self::Robust => "Robust multi-objective NMF",
            Self::FairPca => "Fair PCA",
            Self::PcaLoss => "PCA with our criterion",
            Self::SharedBudget => "Shared budget of topics",
            Self::Separate => "Separate models",
        }
    }
}

/// What a method leaves, before the audit.
struct Left {
    /// ‖X_ℓ − X̂_ℓ‖/N_ℓ.
    relative_errors: Vec<f64>,
    /// Numbers of its dictionaries.
    parameters: usize,
    remark: Option<Note>,
}

/// A method under the audit.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// What is typed.
    pub method: &'static str,
    /// For people.
    pub title: &'static str,
    /// ‖X − X̂‖/‖X‖.
    pub total_error: f64,
    /// The largest loss.
    pub worst_loss: f64,
    /// The largest loss beyond what a random group of the size pays.
    pub worst_excess: f64,
    /// R-Error of every group.
    pub relative_errors: Vec<f64>,
    /// R-Loss of every group.
    pub losses: Vec<f64>,
    /// R-Loss less what a random group of the size pays.
    pub excess_losses: Vec<f64>,
    /// Numbers of its dictionaries.
    pub parameters: usize,
    /// How long it took.
    pub seconds: f64,
    /// What a reader has to know.
    pub remark: Option<Note>,
}

/// The methods side by side.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// The groups, in the order of every list.
    pub groups: Vec<String>,
    /// Their rows.
    pub rows: Vec<usize>,
    /// E/N of every group: what rank-r NMF of the group alone leaves.
    pub relative_baselines: Vec<f64>,
    /// What a random group of the size pays on average.
    pub chance_mean: Vec<f64>,
    /// One in twenty random groups pays less.
    pub chance_low: Vec<f64>,
    /// One in twenty pays more.
    pub chance_high: Vec<f64>,
    /// Random groups of every size behind them.
    pub chance_draws: usize,
    /// No model of the rank has a worst loss below this.
    pub global_bound: Option<f64>,
    /// Topics.
    pub rank: usize,
    /// The methods, in the order asked for.
    pub methods: Vec<Outcome>,
    /// Of methods that lose clearly more of all data than standard NMF, for whom.
    pub warnings: Vec<Note>,
}

/// What all methods share.
struct Task<'a, 'd> {
    data: &'a GroupedData<'d>,
    parameters: Parameters,
    /// E_ℓ.
    baselines: &'a [f64],
    bound: &'a BoundReport,
    observer: &'a Observer<'a>,
}

/// Fits every method at a rank against the same baselines. `parameters` say rank, baselines, restarts and seed.
///
/// # Errors
/// Rows with weights or groups that overlap, a rank that is too small for a method, or what [`fit()`] refuses.
pub fn compare(
    data: &GroupedData<'_>,
    methods: &[Neighbour],
    parameters: &Parameters,
    observer: &Observer<'_>,
) -> Result<Compared> {
    let refused =
        |name, value: &str, expected| Error::Parameter { name, value: value.to_owned(), expected };
    if data.is_weighted() || data.overlaps() {
        let value = match data.overlaps() {
            true => "asked for with groups that overlap",
            false => "asked for with weights of rows",
        };
        let expected = "the neighbours know of neither weights nor groups with common rows";
        return Err(refused("compare", value, expected));
    }
    if data.has_gaps() {
        return Err(Error::Unobserved { what: "compare" });
    }
    let (rank, seed) = (parameters.rank, parameters.seed);
    if methods.contains(&Neighbour::SharedBudget) && rank < data.groups().len() {
        return Err(refused(
            "rank",
            &rank.to_string(),
            "shared-budget gives every group a topic: raise the rank, or leave it out of the methods",
        ));
    }
    let found = estimate_baselines(data, rank, &parameters.baseline, seed, observer)?;
    let baselines = GroupBaseline::errors(&found);
    let bound = global_bound(data, rank, &baselines);
    let given = Baseline::Given { errors: baselines.clone() };
    let kind = parameters.baseline.clone();
    let parameters = parameters.clone().with(|p| {
        p.baseline = given;
        p.bound = false;
    });
    let standard = parameters.clone().with(|p| p.method = Method::standard());
    let standard = fit(data, &standard, observer)?.model;
    let bands =
        chance_bands(data, standard.components.view(), &kind, ChanceBand::DRAWS, seed, observer)?;
    let each = |of: fn(&ChanceBand) -> f64| -> Vec<f64> { bands.iter().map(of).collect() };
    let chance = each(|band| band.mean);
    let task = Task { data, parameters, baselines: &baselines, bound: &bound, observer };
    let methods = methods.iter().map(|&method| task.outcome(method, &chance));
    let methods = methods.collect::<Result<Vec<Outcome>>>()?;
    Ok(Compared {
        groups: data.groups().iter().map(|g| g.name.clone()).collect(),
        rows: data.groups().iter().map(|g| g.rows.len()).collect(),
        relative_baselines: data
            .groups()
            .iter()
            .zip(&baselines)
            .map(|(g, e)| e / g.norm())
            .collect(),
        global_bound: bound.value,
        rank,
        warnings: rise::warnings(data, &standard, &methods),
        methods,
        chance_mean: chance,
        chance_low: each(|band| band.low),
        chance_high: each(|band| band.high),
        chance_draws: ChanceBand::DRAWS,
    })
}

impl Task<'_, '_> {
    fn outcome(&self, method: Neighbour, chance: &[f64]) -> Result<Outcome> {
        let begin = Instant::now();
        let left = self.left(method)?;
        let seconds = begin.elapsed().as_secs_f64();
        let groups = self.data.groups();
        let losses: Vec<f64> = (left.relative_errors.iter().zip(self.baselines).zip(groups))
            .map(|((&error, &offset), g)| {
                Criterion { offset, scale: g.norm() }.relative_loss(error)
            })
            .collect();
        let excess: Vec<f64> = losses.iter().zip(chance).map(|(g, c)| g - c).collect();
        let squares = left.relative_errors.iter().zip(groups).map(|(f, g)| f * f * g.squared_norm);
        let worst = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Outcome {
            method: method.name(),
            title: method.title(),
            total_error: (squares.sum::<f64>() / self.data.squared_norm()).sqrt(),
            worst_loss: worst(&losses),
            worst_excess: worst(&excess),
            relative_errors: left.relative_errors,
            losses,
            excess_losses: excess,
            parameters: left.parameters,
            seconds,
            remark: left.remark,
        })
    }

    fn left(&self, method: Neighbour) -> Result<Left> {
        let groups = self.data.groups();
        match method {
            Neighbour::Standard => self.by(Method::standard()),
            Neighbour::Fairer => self.by(Method::am()),
            Neighbour::ByRows => self
                .reweighted(&groups.iter().map(|g| 1.0 / g.rows.len() as f64).collect::<Vec<_>>()),
            Neighbour::ByNorm => {
                self.reweighted(&groups.iter().map(|g| 1.0 / g.squared_norm).collect::<Vec<_>>())
            }
            Neighbour::Power => self.aggregate(weighted::Aggregate::power(8.0)),
            Neighbour::Exponential => self.aggregate(weighted::Aggregate::exponential(10.0)),
            Neighbour::Disparity => self.aggregate(weighted::Aggregate::disparity(5.0)),
            Neighbour::Robust => self.robust(),
            Neighbour::FairPca => self.fair_pca(),
            Neighbour::PcaLoss => self.pca_loss(),
            Neighbour::SharedBudget => self.shared_budget(),
            Neighbour::Separate => self.separate(),
        }
    }

    /// A method of the library.
    fn by(&self, method: Method) -> Result<Left> {
        let parameters = self.parameters.clone().with(|p| p.method = method);
        let found = fit(self.data, &parameters, self.observer)?.model;
        self.of_dictionary(&found.components, None)
    }

    /// What a dictionary leaves with the best coordinates of every row.
    fn of_dictionary(&self, h: &Array2<f64>, remark: Option<Note>) -> Result<Left> {
        Ok(Left { relative_errors: self.errors(h.view())?, parameters: h.len(), remark })
    }

    /// R-Error of every group under a dictionary.
    fn errors(&self, h: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        Ok(evaluate(self.data, h, None, self.baselines)?.relative_errors)
    }
}
