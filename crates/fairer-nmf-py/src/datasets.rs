//! Data that comes with the library.

use fairer_nmf::synthetic as draw;
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The Heart Disease table, as CSV.
#[pyfunction]
pub fn heart_disease_csv() -> &'static str {
    fairer_nmf_paper::HEART_DISEASE
}

/// Synthetic data set 1 or 2 of the paper: X and one label per row.
#[pyfunction]
pub fn synthetic(
    py: Python<'_>,
    number: usize,
    seed: u64,
) -> PyResult<(Bound<'_, PyArray2<f64>>, Vec<&'static str>)> {
    let (x, labels) = match number {
        1 => draw::first(seed),
        2 => draw::second(seed),
        _ => return Err(PyValueError::new_err("there are synthetic data sets 1 and 2")),
    };
    Ok((x.into_pyarray(py), labels))
}
