//! What a dictionary costs each group.

use crate::data::{Given, GivenGroups, Groups, Input, Reading, Scaling, to_array};
use crate::errors::to_python;
use crate::run::run;
use fairer_nmf::audit::{DrawBudget, Evaluation, GroupIntervals, Pair, audit_pair};
use fairer_nmf::{audit::AuditOptions, data::Group};
use numpy::PyReadonlyArray2;
use numpy::ndarray::{Array2, ArrayView2};
use pyo3::prelude::*;

/// H in unscaled features, and W where it is known.
type Factors<'py> = (PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray2<'py, f64>>);

/// The baselines E of an evaluation, as the package hands them over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Offsets {
    errors: Vec<f64>,
    /// Whether they are shares E/N, carried over from other data of the same groups.
    relative: bool,
}

/// Norms, relative errors, losses and W of a dictionary.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn evaluate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    factors: Factors<'py>,
    offsets: Offsets,
    reading: Reading,
) -> PyResult<(Vec<f64>, Vec<f64>, Vec<f64>, Bound<'py, PyAny>)> {
    let groups = Groups::of(groups)?;
    let h = factors.0.as_array().to_owned();
    let w = factors.1.as_ref().map(|w| w.as_array());
    let input = Input::of(x)?;
    let given = input.given(reading.unobserved)?;
    let task = |_: &fairer_nmf::Observer<'_>| {
        evaluate_view(&given, groups.as_ref(), reading.scaling(), h, w, offsets)
    };
    let (norms, found) = run(py, reading.threads, None, task)?.map_err(to_python)?;
    let w = to_array(py, found.representation);
    Ok((norms, found.relative_errors, found.losses, w))
}

fn evaluate_view(
    given: &Given<'_>,
    groups: Option<&Groups>,
    scaling: Scaling,
    h: Array2<f64>,
    w: Option<ArrayView2<'_, f64>>,
    offsets: Offsets,
) -> fairer_nmf::Result<(Vec<f64>, Evaluation)> {
    let data = given.data(groups, scaling)?;
    let h = in_scaled_features(h, data.scale());
    let norms: Vec<f64> = data.groups().iter().map(Group::norm).collect();
    let errors = match offsets.relative {
        false => offsets.errors,
        true => offsets.errors.iter().zip(&norms).map(|(e, n)| e * n).collect(),
    };
    Ok((norms, fairer_nmf::audit::evaluate(&data, h.view(), w, &errors)?))
}

/// A bootstrap, as the package hands it over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Draws {
    baselines: Vec<f64>,
    draws: usize,
    level: f64,
    seed: u64,
}

/// Ends of the bootstrap intervals of the groups' relative errors.
#[pyfunction]
#[pyo3(signature = (x, groups, factors, drawn, reading, listener=None))]
pub fn intervals<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    factors: Factors<'py>,
    drawn: Draws,
    reading: Reading,
    listener: Option<Py<PyAny>>,
) -> PyResult<Vec<[f64; 2]>> {
    let Draws { baselines, draws, level, seed } = drawn;
    let groups = Groups::of(groups)?;
    let h = factors.0.as_array().to_owned();
    let w = factors.1.as_ref().map(|w| w.as_array());
    // The intervals alone, by way of the audit, which can be stopped.
    let options = AuditOptions::default().with(|o| {
        o.draws = draws;
        o.level = level;
        o.seed = seed;
        o.permutations = 0;
        o.folds = 0;
        o.differences = false;
        o.chance = DrawBudget { draws: 0, ..DrawBudget::default() };
        o.trade_off = None;
    });
    let input = Input::of(x)?;
    let given = input.given(reading.unobserved)?;
    let task = |observer: &fairer_nmf::Observer<'_>| {
        let data = given.data(groups.as_ref(), reading.scaling())?;
        let h = in_scaled_features(h, data.scale());
        let pair = Pair::new(h.view(), &baselines).with(|p| p.representation = w);
        audit_pair(&data, &pair, &options, observer)
    };
    let found = run(py, reading.threads, listener, task)?.map_err(to_python)?;
    let groups = found.bootstrap.map_or(Vec::new(), |b| b.groups);
    let ends = |g: &GroupIntervals| [g.relative_error.low, g.relative_error.high];
    Ok(groups.iter().map(ends).collect())
}

/// The library's dictionary lives in scaled features, Python's in the original ones.
pub fn in_scaled_features(mut h: Array2<f64>, scale: Option<&[f64]>) -> Array2<f64> {
    // A dictionary of another width is refused by the library.
    if let Some(scale) = scale {
        for mut row in h.rows_mut() {
            row.iter_mut().zip(scale).for_each(|(h, s)| *h *= s);
        }
    }
    h
}
