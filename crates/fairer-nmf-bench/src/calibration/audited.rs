//! What the library says of a data set's dictionary.

use super::estimators::Solver;
use fairer_nmf::audit::{AuditOptions, AuditReport, DrawBudget, audit};
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::{
    Baseline, GroupedData, Parameters, baseline::Estimate, fit, fit::estimate_baselines, silent,
};
use ndarray::Array2;
use std::time::Duration;

/// How a dictionary was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// By standard NMF.
    Standard,
    /// To even the groups out, and the audit does not know.
    Evened,
    /// To even the groups out, which the audit knows.
    KnownEvened,
}

/// What the library finds of a data set's dictionary, standard or evened out, which is returned beside
/// it. With no draws of random groups these are left out.
///
/// # Panics
/// If the library refuses the rows.
#[must_use]
pub fn audited(
    x: &Array2<f64>,
    at: &[Vec<usize>],
    solver: &Solver,
    (made, chance_draws): (Made, usize),
    seed: u64,
) -> (Array2<f64>, AuditReport) {
    let mut codes = vec![0; x.nrows()];
    at.iter().enumerate().for_each(|(g, rows)| rows.iter().for_each(|&r| codes[r] = g));
    let names = (0..at.len()).map(|g| g.to_string()).collect();
    let data = GroupedData::with_codes(x.view(), names, &codes).expect("valid data");
    let best = Baseline::Estimate(Estimate::best().with(|e| e.runs = 2));
    let found = estimate_baselines(&data, solver.rank, &best, seed, &silent).expect("baselines");
    let baselines = GroupBaseline::errors(&found);
    let h = match made {
        Made::Evened | Made::KnownEvened => {
            let baseline = Baseline::Given { errors: baselines.clone() };
            let parameters = Parameters::new(solver.rank).with(|p| {
                p.seed = seed;
                p.baseline = baseline;
                p.bound = false;
            });
            fit(&data, &parameters, &silent).expect("a fit").model.components
        }
        Made::Standard => solver.dictionary(x.view(), None, seed),
    };
    let options = AuditOptions::default().with(|o| {
        o.draws = 200;
        o.permutations = 0;
        o.folds = 0;
        o.trade_off = None;
        o.evened = made == Made::KnownEvened;
        o.chance = DrawBudget { draws: chance_draws, time: Duration::MAX };
        o.seed = seed;
    });
    let report = audit(&data, h.view(), &baselines, None, &options, &silent).expect("an audit");
    (h, report)
}
