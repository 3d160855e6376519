//! The fit: what groups are allowed and held against (`yardsticks`), then the search (`search`).

mod adjusted;
mod gain;
mod held;
mod settle;
mod worst_share;

pub use crate::criterion::{Allowance, Criterion, Minimised};
pub use crate::iteration::{Checkpoint, Start};
pub use crate::model::{Choice, ShareReport};
pub use crate::parameters::{StartWeights, Ties};
pub use crate::search::{Fit, RowsFit};
pub use crate::yardsticks::{baselines_of_rows, estimate_baselines};
pub use adjusted::allowances;
pub(crate) use adjusted::fit_beside;
pub use held::{fit_rows, fit_rows_kept};

use crate::Result;
use crate::baseline::Baseline;
use crate::data::GroupedData;
use crate::parameters::{Method, Parameters};
use crate::progress::Observer;
use crate::search::{fit_outside, within};

/// Fits a model: baselines first, then a search as long as `n_init` says, of which the best run is kept.
///
/// # Errors
/// Parameters outside their range, or baselines that do not fit the groups. Not converging is no
/// error: see [`Model::status`](crate::Model::status).
///
/// ```
/// use fairer_nmf::{GroupedData, Parameters, fit, silent, synthetic};
/// let (x, labels) = synthetic::first(0);
/// let data = GroupedData::new(x.view(), &labels)?.normalize_features()?;
/// let fit = fit(&data, &Parameters::new(4), &silent)?;
/// assert!(fit.model.worst_loss() < 0.5);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn fit(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    observer: &Observer<'_>,
) -> Result<Fit> {
    fit_kept(data, parameters, None, observer)
}

/// The same, with its state in a checkpoint, or from one: a fit that goes on ends with the model that it
/// would have ended with.
///
/// # Errors
/// As [`fit`]; files that cannot be written, or a checkpoint of other data or parameters.
pub fn fit_kept(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit> {
    fit_with(data, parameters, None, checkpoint, observer)
}

/// Fits a model from a given start instead of `parameters.init`; `n_init` is ignored.
///
/// # Errors
/// As [`fit`]; also a start whose shape does not fit or that has negative entries.
pub fn fit_from(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    start: &Start,
    observer: &Observer<'_>,
) -> Result<Fit> {
    start.check((data.rows(), data.features()), parameters.rank)?;
    fit_with(data, parameters, Some(start), None, observer)
}

fn fit_with(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    start: Option<&Start>,
    checkpoint: Option<&Checkpoint>,
    observer: &Observer<'_>,
) -> Result<Fit> {
    let made = match parameters.init.fill().filter(|_| start.is_none()) {
        Some(fill) => {
            parameters.check()?;
            Some(Start::nndsvd(data, parameters.rank, fill)?)
        }
        None => None,
    };
    let start = start.or(made.as_ref());
    let limited = within(data, parameters);
    let data = limited.as_ref().unwrap_or(data);
    if let Method::WorstShare { share } = parameters.method {
        return worst_share::fit_share(data, parameters, share, (start, checkpoint), observer);
    }
    let outside = allowances(data, parameters);
    let left_out = outside.iter().any(|a| a.outside);
    let needs_data = matches!(parameters.baseline, Baseline::Adjusted { .. });
    if matches!(parameters.baseline, Baseline::HeldOut { .. }) {
        parameters.check()?;
        return adjusted::fit_allowed(data, parameters, outside, (start, checkpoint), observer);
    }
    // Standard NMF minimises no loss, and one group has nobody beside it.
    let is_standard = parameters.method.is_standard();
    if data.groups().len() > 1 && !is_standard && (needs_data || left_out) {
        parameters.check()?;
        return adjusted::fit_allowed(data, parameters, outside, (start, checkpoint), observer);
    }
    let mut found = fit_outside(data, parameters, &outside, (start, checkpoint), observer)?;
    let model = &mut found.model;
    for (group, allowance) in model.groups.iter_mut().zip(&outside) {
        group.outside = allowance.outside;
    }
    Ok(found)
}
