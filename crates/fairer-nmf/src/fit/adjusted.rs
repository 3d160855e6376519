//! A criterion that the size of a group cannot bend.
//!
//! E_ℓ is fitted on the group's own rows, so that a small group seems to pay whatever is done. The
//! size-adjusted criterion allows for what a random group of its size pays under standard NMF
//! (docs/calibration.md):
//!
//!   (error − E_ℓ)/N_ℓ − c_ℓ,   that is offset E_ℓ + c_ℓN_ℓ, scale N_ℓ,
//!
//! so that the largest *excess* loss is minimised; c_ℓ → 0 for large groups, where it is the
//! paper's. The steps keep their guarantees: they hold for any offset ≥ 0.

use super::{Fit, estimate_baselines, fit, fit_unadjusted};
use crate::baseline::{Baseline, Estimate};
use crate::{Element, GroupedData, Method, Observer, Parameters, Result, audit, iteration::Start};

/// Fits with the size-adjusted criterion.
pub(super) fn fit_adjusted<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    (estimate, draws): (&Estimate, usize),
    start: Option<&Start>,
    observer: &Observer<'_>,
) -> Result<Fit<T>> {
    let begin = std::time::Instant::now();
    let (rank, seed) = (parameters.rank, parameters.seed);
    let plain = Baseline::Estimate(estimate.clone());
    let baselines = estimate_baselines(data, rank, &plain, seed, observer)?;
    let standard = Parameters {
        method: Method::standard(),
        baseline: Baseline::Zero,
        bound: false,
        ..parameters.clone()
    };
    let standard = fit(data, &standard, observer)?;
    let h = standard.model.components.view();
    let chance = audit::chance_losses(data, h, draws, seed, observer)?;
    let groups = data.groups().iter();
    let offsets = baselines.iter().zip(&chance).zip(groups);
    let errors = offsets.map(|((b, c), group)| b.error + c * group.norm()).collect();
    let given = Parameters { baseline: Baseline::Given { errors }, ..parameters.clone() };
    let baseline_time = begin.elapsed();
    let mut found = fit_unadjusted(data, &given, start, observer)?;
    found.baseline_time += baseline_time;
    found.model.parameters = parameters.clone();
    for ((group, baseline), c) in found.model.groups.iter_mut().zip(baselines).zip(chance) {
        // The loss stays the paper's, against E; what was minimised is that less c.
        group.loss = group.relative_error - baseline.error / group.norm;
        group.baseline = baseline;
        group.chance = Some(c);
    }
    Ok(found)
}
