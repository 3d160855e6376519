//! The methods of others beside Fairer-NMF.

use crate::data::{GivenGroups, Groups, Input, Scaling};
use crate::errors::to_python;
use crate::fit::Settings;
use crate::run::run;
use fairer_nmf::Observer;
use fairer_nmf_paper::neighbours;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Fits methods at a rank against the same baselines: what the program's `compare --json` has, as JSON.
#[pyfunction]
#[pyo3(signature = (x, groups, methods, settings, listener=None))]
pub fn compare<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    methods: Vec<String>,
    settings: Settings,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parameters = settings.parameters()?;
    let methods = neighbours::named(&methods).map_err(|wrong| {
        let names = wrong.expected.join(", ");
        PyValueError::new_err(format!("methods has '{}': expected some of {names}", wrong.given))
    })?;
    let groups = Groups::of(groups)?;
    let input = Input::of(x)?;
    let given = input.given(false)?;
    let task = |observer: &Observer<'_>| {
        let data = given.data(groups.as_ref(), Scaling::of(settings.normalize(), None))?;
        neighbours::compare(&data, &methods, &parameters, observer)
    };
    let found = run(py, settings.threads, listener, task)?.map_err(to_python)?;
    serde_json::to_string(&found).map_err(|e| PyValueError::new_err(e.to_string()))
}
