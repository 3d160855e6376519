//! What stands beside the losses of a sweep: what random groups pay, and which fits were bent for few rows.

use crate::audit::in_scaled_features;
use crate::data::{GivenGroups, Groups, Input, Reading};
use crate::errors::to_python;
use crate::fit::{Yardstick, method};
use crate::run::run;
use fairer_nmf::audit::{ChanceBand, chance_bands};
use fairer_nmf::{Observer, Warning};
use fairer_nmf_report::Maker;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

/// What random groups of every group's size pay under H in unscaled features: mean, and the ends of nine of ten.
#[pyfunction]
#[pyo3(signature = (x, groups, components, yardstick, reading, listener=None))]
pub fn chance<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    components: PyReadonlyArray2<'py, f64>,
    yardstick: Yardstick,
    reading: Reading,
    listener: Option<Py<PyAny>>,
) -> PyResult<Vec<[f64; 3]>> {
    let (baseline, seed) = (yardstick.baseline()?, yardstick.seed);
    let groups = Groups::of(groups)?;
    let h = components.as_array().to_owned();
    let input = Input::of(x)?;
    let given = input.given(reading.unobserved)?;
    let task = |observer: &Observer<'_>| {
        let data = given.data(groups.as_ref(), reading.scaling())?;
        let h = in_scaled_features(h.clone(), data.scale());
        chance_bands(&data, h.view(), &baseline, ChanceBand::DRAWS, seed, observer)
    };
    let found = run(py, reading.threads, listener, task)?.map_err(to_python)?;
    Ok(found.into_iter().map(|band| [band.mean, band.low, band.high]).collect())
}

/// A fit: its method and rank, its total error and that of standard NMF, and of every group name, rows and fall of the error.
type Fitted = (String, usize, f64, f64, Vec<(String, usize, f64)>);

/// What is said of fits that lose clearly more of all data than standard NMF.
#[pyfunction]
pub fn rises(fits: Vec<Fitted>) -> PyResult<Vec<String>> {
    let rise = |(name, rank, found, standard, falls): Fitted| {
        let falls = falls.iter().map(|(name, rows, fall)| (&name[..], *rows, *fall));
        let title = Maker::of(Some(method(&name, "auto")?)).title();
        let plural = if rank == 1 { "" } else { "s" };
        let who = format!("{title} with {rank} topic{plural}");
        Ok(Warning::of_helped(falls, found, standard).map(|rise| (who, rise)))
    };
    let rises = fits.into_iter().filter_map(|fit| rise(fit).transpose());
    let said = Warning::said_of_several(&rises.collect::<PyResult<Vec<_>>>()?);
    Ok(said.into_iter().map(|note| note.sentence).collect())
}
