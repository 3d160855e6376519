//! Data that stay on disk, fitted block by block.

use crate::audit::in_scaled_features;
use crate::data::{GivenGroups, Groups, Reading};
use crate::errors::to_python;
use crate::fit::{Settings, Yardstick};
use crate::model::Model;
use crate::run::run;
use fairer_nmf::audit::evaluate_rows;
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::fit::{Checkpoint, baselines_of_rows, fit_rows_kept};
use fairer_nmf::rows::{GroupCodes, Representation};
use fairer_nmf::{Error, Note, Observer, Parameters, Progress};
use fairer_nmf_io::{
    AnyShards, Failure, InputError, InputLimit, Precision, ReadOptions, column_names, on_disk,
    open_shards, parse_bytes,
};
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Data on disk, ready to be read in blocks.
#[pyclass(frozen, module = "fairer_nmf._core")]
pub struct OnDisk {
    shards: AnyShards,
    memory: usize,
    groups: Option<GroupCodes>,
    /// Where a table was converted to, or found again; none of a matrix.
    #[pyo3(get)]
    note: Option<String>,
    #[pyo3(get)]
    notes: Vec<String>,
    #[pyo3(get)]
    feature_names: Option<Vec<String>>,
}

fn refused(error: InputError) -> PyErr {
    let mut sentence = error.to_string();
    for (option, parameter) in [("--memory", "memory"), ("--group-by", "sensitive_features")] {
        sentence = sentence.replace(option, parameter);
    }
    if sentence.contains("`--") {
        sentence += " (options of the program `fairer-nmf fit`)";
    }
    match Failure::from(error) {
        Failure::Failed(_) => PyOSError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

fn bytes(memory: &str) -> PyResult<usize> {
    parse_bytes(memory).map_err(|e| PyValueError::new_err(format!("memory is '{memory}': {e}")))
}

/// Names of the columns of a table; None where the data are no table.
#[pyfunction]
pub fn columns_on_disk(path: &str, memory: &str) -> PyResult<Option<Vec<String>>> {
    column_names(path, &ReadOptions::default(), bytes(memory)?).map_err(refused)
}

#[pymethods]
impl OnDisk {
    /// `group_by`: the columns of a table that make the groups.
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        group_by: Vec<String>,
        memory: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let memory = bytes(memory)?;
        let options = ReadOptions::default().with(|o| o.group_by = group_by);
        let task = |observer: &Observer<'_>| {
            // Heard by nobody; it tells whether the user wants to stop.
            let watch = |done| observer(&Progress::Baselines { done, total: 0 }).is_continue();
            on_disk(&path, &options, memory, &watch)
        };
        let found = run(py, threads, None, task)?.map_err(refused)?;
        let (feature_names, mut notes) = match found.table {
            Some(table) => (Some(table.features), table.notes),
            None => (None, Vec::new()),
        };
        notes.extend(found.order);
        let limit = InputLimit::default();
        let shards =
            open_shards(&found.shards, memory, Precision::Stored, limit).map_err(refused)?;
        let said = |note: Note| note.sentence;
        let (note, groups) = (found.note.map(said), found.groups);
        let notes = notes.into_iter().map(said).collect();
        Ok(Self { shards, memory, groups, note, notes, feature_names })
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.shards.rows()
    }

    /// Number of features.
    #[getter]
    fn features(&self) -> usize {
        self.shards.features()
    }

    /// Names of the groups that columns of the table make.
    #[getter]
    fn groups(&self) -> Option<Vec<String>> {
        self.groups.as_ref().map(|groups| groups.names.clone())
    }
}

impl OnDisk {
    /// The groups in the order of `names`, where the table has them.
    fn in_order_of(&self, names: &[String]) -> PyResult<Option<GroupCodes>> {
        let Some(own) = &self.groups else { return Ok(None) };
        let place = |name: &String| names.iter().position(|known| known == name);
        let places: Option<Vec<usize>> = own.names.iter().map(place).collect();
        let places = places.ok_or_else(|| PyValueError::new_err("a group has no name"))?;
        let codes = own.codes.iter().map(|&code| places[code as usize] as u32).collect();
        Ok(Some(GroupCodes { names: names.to_vec(), codes }))
    }
}

impl OnDisk {
    /// The group of every row: the table's own, those given, or one for all.
    fn codes(&self, given: Option<Groups>) -> PyResult<GroupCodes> {
        let own = match &given {
            Some(given) => self.in_order_of(given.names())?,
            None => None,
        };
        let rows = self.shards.rows();
        Ok(match (own, given) {
            (Some(own), _) => own,
            (None, Some(given)) => given.into_codes(),
            (None, None) => GroupCodes { names: vec!["all".to_owned()], codes: vec![0; rows] },
        })
    }
}

/// W in its number type.
#[derive(IntoPyObject)]
pub enum Found<'py> {
    F32(Bound<'py, numpy::PyArray2<f32>>),
    F64(Bound<'py, numpy::PyArray2<f64>>),
}

/// Fits data on disk: the model, W where it is wanted, and how often all rows were read. Of groups that
/// the table has, only the names of `groups` count.
#[pyfunction]
#[pyo3(signature = (held, groups, settings, wanted, listener=None))]
pub fn fit_on_disk<'py>(
    py: Python<'py>,
    held: &OnDisk,
    groups: GivenGroups<'py>,
    settings: Settings,
    wanted: bool,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<Found<'py>>, usize)> {
    let (parameters, kept) = (settings.parameters()?, settings.checkpoint()?);
    let (shards, codes) = (&held.shards, held.codes(Groups::of(groups)?)?);
    let about = (&settings, &parameters, kept.as_ref());
    let task =
        |observer: &Observer<'_>| fit_shards(shards, codes, held.memory, about, wanted, observer);
    let (mut model, w, reads) = run(py, settings.threads, listener, task)?.map_err(to_python)?;
    model.feature_names = settings.feature_names.clone().or_else(|| held.feature_names.clone());
    let w = w.map(|w| match w {
        Representation::F32(w) => Found::F32(w.into_pyarray(py)),
        Representation::F64(w) => Found::F64(w.into_pyarray(py)),
    });
    Ok((Model(model), w, reads))
}

/// What a dictionary in unscaled features costs each group of data on disk: rows, norms, baselines and
/// relative errors.
#[pyfunction]
#[pyo3(signature = (held, groups, components, yardstick, reading, listener=None))]
#[allow(clippy::type_complexity)]
pub fn evaluate_on_disk(
    py: Python<'_>,
    held: &OnDisk,
    groups: GivenGroups<'_>,
    components: PyReadonlyArray2<'_, f64>,
    yardstick: Yardstick,
    reading: Reading,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Vec<usize>, Vec<f64>, Vec<f64>, Vec<f64>)> {
    let (baseline, seed) = (yardstick.baseline()?, yardstick.seed);
    let codes = held.codes(Groups::of(groups)?)?;
    let scaling = reading.scaling().of_features();
    let h = components.as_array().to_owned();
    let task = |observer: &Observer<'_>| {
        let rows = held.shards.hold(codes, &scaling, held.memory)?;
        let h = in_scaled_features(h, rows.scale());
        let found = baselines_of_rows(&*rows, h.nrows(), &baseline, seed, observer)?;
        let relative = evaluate_rows(&*rows, h.view())?;
        let groups = rows.groups();
        let norms = groups.iter().map(|g| g.norm() / rows.unit()).collect();
        let errors = GroupBaseline::errors(&found);
        Ok((groups.iter().map(|g| g.rows).collect(), norms, errors, relative))
    };
    run(py, reading.threads, listener, task)?.map_err(to_python)
}

type Fitted = (fairer_nmf::Model, Option<Representation>, usize);

fn fit_shards(
    shards: &AnyShards,
    groups: GroupCodes,
    memory: usize,
    (settings, parameters, kept): (&Settings, &Parameters, Option<&Checkpoint>),
    wanted: bool,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<Fitted> {
    let alone = groups.names.len() == 1;
    let rows = shards.hold(groups, &settings.scaling(), memory);
    let rows = rows.map_err(|error| match error {
        Error::ZeroGroup { .. } if alone => Error::ZeroData,
        other => other,
    })?;
    let fit = fit_rows_kept(&*rows, parameters, kept, observer)?;
    let w = if wanted { Some(fit.representation()?) } else { None };
    let mut model = fit.model;
    model.scale = rows.scale().map(<[f64]>::to_vec);
    Ok((model, w, rows.reads()))
}
