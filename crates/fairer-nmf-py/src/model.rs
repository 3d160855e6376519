//! The fitted model.

use crate::data::{Input, to_array};
use crate::errors::to_python;
use crate::run::run;
use fairer_nmf::GroupFit;
use numpy::{IntoPyArray, PyArray1, PyArray2, ToPyArray, ndarray::Array2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A fitted model; read-only. The estimator shows its parts under scikit-learn's names.
#[pyclass(frozen, module = "fairer_nmf._core")]
pub struct Model(pub fairer_nmf::Model);

impl Model {
    fn per_group<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&GroupFit) -> f64,
    ) -> Bound<'py, PyArray1<f64>> {
        self.0.groups.iter().map(value).collect::<Vec<_>>().into_pyarray(py)
    }
}

#[pymethods]
impl Model {
    /// H (r×n), in scaled features where the data was scaled.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.components.to_pyarray(py)
    }

    /// Factor of every feature, or None.
    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.scale.as_ref().map(|scale| scale.to_pyarray(py))
    }

    #[getter]
    fn groups(&self) -> Vec<String> {
        self.0.groups.iter().map(|g| g.name.clone()).collect()
    }

    #[getter]
    fn families(&self) -> Vec<Option<String>> {
        self.0.groups.iter().map(|g| g.family.clone()).collect()
    }

    /// Whether groups share rows.
    #[getter]
    fn overlaps(&self) -> bool {
        self.0.overlap_error.is_some()
    }

    #[getter]
    fn total_error(&self) -> f64 {
        self.0.total_error()
    }

    #[getter]
    fn rows(&self) -> Vec<usize> {
        self.0.groups.iter().map(|g| g.rows).collect()
    }

    #[getter]
    fn norms<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.norm)
    }

    #[getter]
    fn baseline_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.baseline.error)
    }

    #[getter]
    fn relative_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.relative_error)
    }

    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.loss)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.weight)
    }

    #[getter]
    fn worst_loss(&self) -> f64 {
        self.0.worst_loss()
    }

    /// What the fit made as small as it could, of the group where it is largest.
    #[getter]
    fn worst_criterion(&self) -> f64 {
        self.0.worst_criterion()
    }

    #[getter]
    fn criterion(&self) -> &'static str {
        self.0.minimised().code()
    }

    /// What every group's error is held against, allowances included.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let of =
            |(g, a): (&GroupFit, fairer_nmf::fit::Allowance)| a.offset(g.baseline.error, g.norm);
        let offsets: Vec<f64> = self.0.groups.iter().zip(self.0.allowances()).map(of).collect();
        offsets.into_pyarray(py)
    }

    /// What was allowed every group beyond its baseline, as a share of its norm.
    #[getter]
    fn allowances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_group(py, |g| g.allowance.unwrap_or(0.0))
    }

    /// What random groups of every group's size pay under standard NMF (mean, and the ends of nine of ten; L×3),
    /// where the fit has looked.
    #[getter]
    fn random_groups<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let bands: Option<Vec<_>> = self.0.groups.iter().map(|g| g.random_groups).collect();
        let bands = bands?;
        let of = |(l, end): (usize, usize)| {
            let band = bands[l];
            [band.mean, band.low, band.high][end]
        };
        Some(Array2::from_shape_fn((bands.len(), 3), of).into_pyarray(py))
    }

    /// Whether it was fitted to even out groups of these names: what an audit says of them is then about standard NMF.
    fn evened_out(&self, names: Vec<String>) -> bool {
        self.0.evened_out(names.iter().map(String::as_str))
    }

    #[getter]
    fn outside(&self) -> Vec<bool> {
        self.0.groups.iter().map(|g| g.outside).collect()
    }

    #[getter]
    fn step_gap(&self) -> Option<f64> {
        self.0.step_gap
    }

    #[getter]
    fn global_bound(&self) -> Option<f64> {
        self.0.global_bound.value
    }

    #[getter]
    fn certificate(&self) -> String {
        self.0.certificate().sentence
    }

    /// Losses (iterations×L).
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(self.history_array()?.into_pyarray(py))
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.0.iterations()
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.name()
    }

    /// (kind, sentence) of everything a user should know.
    #[getter]
    fn warnings(&self) -> Vec<(&'static str, String)> {
        self.0.warnings.iter().map(|w| (w.code(), w.to_string())).collect()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names.clone()
    }

    /// The share of every group's cells that are observed; None where all are.
    #[getter]
    fn observed<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let some = self.0.groups.iter().any(|g| g.observed.is_some());
        some.then(|| self.per_group(py, |g| g.observed.unwrap_or(1.0)))
    }

    /// What the worst share of rows loses, and from which error on; None where it was not minimised.
    #[getter]
    fn worst_share(&self) -> Option<(f64, f64, Vec<f64>)> {
        let found = self.0.worst_share.as_ref()?;
        Some((found.error, found.threshold, found.history.clone()))
    }

    /// The number of every row's group, where the groups were found.
    #[getter]
    fn found_labels(&self) -> Option<Vec<usize>> {
        self.0.found_groups.as_ref().map(|found| found.labels.clone())
    }

    /// How groups were found and how many were asked for.
    #[getter]
    fn found_by(&self) -> Option<(&'static str, usize)> {
        self.0.found_groups.as_ref().map(|found| (found.found_by.name(), found.groups))
    }

    /// The parameters of the fit as JSON.
    #[getter]
    fn parameters(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.parameters)
            .map_err(|e| PyValueError::new_err(format!("parameters: {e}")))
    }

    /// Coordinates of rows (m×r), in the number type of the rows.
    #[pyo3(signature = (x, threads, unobserved=false))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: usize,
        unobserved: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = Input::of(x)?;
        let given = input.given(unobserved)?;
        let task = |_: &fairer_nmf::Observer<'_>| self.0.coordinates(given.matrix()?, given.mask());
        let w = run(py, threads, None, task)?.map_err(to_python)?;
        Ok(to_array(py, w))
    }

    /// Writes the file that the program `fairer-nmf` reads, and with it what the estimator keeps.
    #[pyo3(signature = (path, kept=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, kept: Option<String>) -> PyResult<()> {
        let model = fairer_nmf::Model { kept, ..self.0.clone() };
        py.detach(|| model.save(path)).map_err(to_python)
    }

    /// What the estimator has kept in the file.
    #[getter]
    fn kept(&self) -> Option<String> {
        self.0.kept.clone()
    }

    /// Reads a file that `save` or the program wrote.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| fairer_nmf::Model::load(path)).map(Self).map_err(to_python)
    }

    /// The model behind the content of a file that `save` wrote.
    #[staticmethod]
    fn _from_bytes(content: &[u8]) -> PyResult<Self> {
        fairer_nmf::Model::from_bytes(content).map(Self).map_err(to_python)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let content = self.0.to_bytes().map_err(to_python)?;
        let make = py.get_type::<Self>().getattr("_from_bytes")?;
        Ok((make, (PyBytes::new(py, &content),)))
    }
}

impl Model {
    fn history_array(&self) -> PyResult<Array2<f64>> {
        let (history, groups) = (&self.0.history, self.0.groups.len());
        let values = history.iter().flatten().copied().collect();
        Array2::from_shape_vec((history.len(), groups), values)
            .map_err(|e| PyValueError::new_err(format!("history: {e}")))
    }
}
