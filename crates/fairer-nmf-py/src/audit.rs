//! What a dictionary costs each group.

use crate::data::{Gaps, GivenGroups, Groups, Input, Scaling, for_element, grouped};
use crate::errors::to_python;
use crate::run::run;
use fairer_nmf::audit::{DrawBudget, Evaluation, GroupIntervals, audit_pair};
use fairer_nmf::rows::Element;
use fairer_nmf::{audit::AuditOptions, data::Group};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::prelude::*;

/// The baselines E of an evaluation.
enum Errors {
    /// In the units of the group's norm.
    Absolute(Vec<f64>),
    /// As shares E/N, carried over from other data of the same groups.
    Relative(Vec<f64>),
}

/// Norms, relative errors, losses and W of a dictionary in unscaled features.
#[pyfunction]
#[pyo3(signature = (x, groups, components, representation, baselines, relative, normalize, scale, threads, unobserved=false))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn evaluate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    baselines: Vec<f64>,
    relative: bool,
    normalize: bool,
    scale: Option<Vec<f64>>,
    threads: usize,
    unobserved: bool,
) -> PyResult<(Vec<f64>, Vec<f64>, Vec<f64>, Bound<'py, PyAny>)> {
    let groups = Groups::of(groups)?;
    let scaling = Scaling::of(normalize, scale);
    let baselines =
        if relative { Errors::Relative(baselines) } else { Errors::Absolute(baselines) };
    let h = components.as_array().to_owned();
    let w = representation.as_ref().map(|w| w.as_array());
    for_element!(Input::of(x)?, owned => {
        let view = owned.view()?;
        let gaps = Gaps::of(&view, unobserved);
        let task = |_: &fairer_nmf::Observer<'_>| {
            evaluate_view(&gaps, groups.as_ref(), scaling, h, w, baselines)
        };
        let (norms, found) = run(py, threads, None, task)?.map_err(to_python)?;
        let w = found.representation.into_pyarray(py).into_any();
        Ok((norms, found.relative_errors, found.losses, w))
    })
}

fn evaluate_view<T: Element>(
    gaps: &Gaps<'_, T>,
    groups: Option<&Groups>,
    scaling: Scaling,
    h: Array2<f64>,
    w: Option<ArrayView2<'_, f64>>,
    baselines: Errors,
) -> fairer_nmf::Result<(Vec<f64>, Evaluation<T>)> {
    let view = gaps.view();
    let data = gaps.applied(grouped(&view, groups, scaling)?)?;
    let h = in_scaled_features(h, data.scale());
    let norms: Vec<f64> = data.groups().iter().map(Group::norm).collect();
    let errors = match baselines {
        Errors::Absolute(errors) => errors,
        Errors::Relative(shares) => shares.iter().zip(&norms).map(|(e, n)| e * n).collect(),
    };
    Ok((norms, fairer_nmf::audit::evaluate(&data, h.view(), w, &errors)?))
}

/// Ends of the bootstrap intervals of the groups' relative errors.
#[pyfunction]
#[pyo3(signature = (x, groups, components, representation, baselines, normalize, draws_level_seed, threads, listener=None, unobserved=false))]
#[allow(clippy::too_many_arguments)]
pub fn intervals<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    baselines: Vec<f64>,
    normalize: bool,
    draws_level_seed: (usize, f64, u64),
    threads: usize,
    listener: Option<Py<PyAny>>,
    unobserved: bool,
) -> PyResult<Vec<[f64; 2]>> {
    let (draws, level, seed) = draws_level_seed;
    let groups = Groups::of(groups)?;
    let scaling = Scaling::of(normalize, None);
    let h = components.as_array().to_owned();
    let w = representation.as_ref().map(|w| w.as_array());
    // The intervals alone, by way of the audit, which can be stopped.
    let options = AuditOptions {
        draws,
        level,
        seed,
        permutations: 0,
        folds: 0,
        differences: false,
        chance: DrawBudget { draws: 0, ..DrawBudget::default() },
        trade_off: None,
        ..AuditOptions::default()
    };
    for_element!(Input::of(x)?, owned => {
        let view = owned.view()?;
        let gaps = Gaps::of(&view, unobserved);
        let task = |observer: &fairer_nmf::Observer<'_>| {
            let view = gaps.view();
            let data = gaps.applied(grouped(&view, groups.as_ref(), scaling)?)?;
            let h = in_scaled_features(h, data.scale());
            audit_pair(&data, h.view(), w, &baselines, None, &options, observer)
        };
        let found = run(py, threads, listener, task)?.map_err(to_python)?;
        let groups = found.bootstrap.map_or(Vec::new(), |b| b.groups);
        let ends = |g: &GroupIntervals| [g.relative_error.low, g.relative_error.high];
        Ok(groups.iter().map(ends).collect())
    })
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
