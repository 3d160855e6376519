//! Rows that are spread over processes: a worker's share of them, and the driver that asks all
//! shares by way of a Python callable.

use crate::audit::in_scaled_features;
use crate::data::{Input, Owned, Scaling, View, for_element};
use crate::errors::to_python;
use crate::fit::{Settings, Yardstick};
use crate::model::Model;
use crate::run::{run, run_asking};
use fairer_nmf::audit::Resampling;
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::data::{Csr, Element};
use fairer_nmf::rows::{Request, Rows, Share as Kept, Shares, Spread};
use fairer_nmf::{Error, Matrix, Observer};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// Rows that a worker holds, with the W of every run.
#[pyclass(frozen, module = "fairer_nmf._core")]
pub struct Share {
    x: Py<PyAny>,
    /// Row starts of a CSR matrix, which are checked once.
    starts: Option<Vec<usize>>,
    kept: Mutex<Either>,
}

enum Either {
    F32(Kept<f32>),
    F64(Kept<f64>),
}

/// Which of the two a number type is.
trait Single: Element + numpy::Element {
    fn keep(kept: Kept<Self>) -> Either;
    fn kept(either: &mut Either) -> Option<&mut Kept<Self>>;
}

macro_rules! single {
    ($type:ty, $own:ident) => {
        impl Single for $type {
            fn keep(kept: Kept<Self>) -> Either {
                Either::$own(kept)
            }
            fn kept(either: &mut Either) -> Option<&mut Kept<Self>> {
                match either {
                    Either::$own(kept) => Some(kept),
                    _ => None,
                }
            }
        }
    };
}
single!(f32, F32);
single!(f64, F64);

/// An answer, or none where the W that the question is about is lost.
type Answer<'py> = Option<Bound<'py, PyArray1<f64>>>;

#[pymethods]
impl Share {
    /// Checks the rows `x` with the number of every row's group, among `groups`; `first` is the
    /// number of the first row among the rows of all shares.
    #[new]
    fn new(
        py: Python<'_>,
        x: Bound<'_, PyAny>,
        codes: PyReadonlyArray1<'_, i64>,
        groups: usize,
        first: u64,
    ) -> PyResult<Self> {
        let codes: Vec<usize> = codes.as_array().iter().map(|&code| code as usize).collect();
        fn made<T: Single>(
            py: Python<'_>,
            owned: &Owned<'_, T>,
            codes: &[usize],
            groups: usize,
            first: u64,
        ) -> PyResult<(Either, Option<Vec<usize>>)> {
            let view = owned.view()?;
            let task = |_: &Observer<'_>| {
                let matrix = view.matrix()?;
                let kept = Kept::new(&matrix, codes, groups, first)?;
                let starts = match &matrix {
                    Matrix::Sparse(csr) => Some(csr.starts().to_vec()),
                    Matrix::Dense(_) => None,
                };
                Ok((T::keep(kept), starts))
            };
            run(py, 1, None, task)?.map_err(to_python)
        }
        let (kept, starts) =
            for_element!(Input::of(&x)?, owned => made(py, &owned, &codes, groups, first)?);
        Ok(Self { x: x.unbind(), starts, kept: Mutex::new(kept) })
    }

    /// Answers questions, one after the other, with the GIL released.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        questions: Vec<Vec<u8>>,
        threads: usize,
    ) -> PyResult<Vec<Answer<'py>>> {
        fn all<T: Single>(
            share: &Share,
            py: Python<'_>,
            owned: &Owned<'_, T>,
            questions: &[Vec<u8>],
            threads: usize,
        ) -> PyResult<Vec<Option<Vec<f64>>>> {
            let view = owned.view()?;
            let task = |_: &Observer<'_>| {
                let matrix = share.matrix(&view)?;
                let mut kept = share.kept.lock().unwrap_or_else(PoisonError::into_inner);
                let kept = T::kept(&mut kept).ok_or_else(|| Error::Rows {
                    reason: "a share of the rows has changed its number type".to_owned(),
                })?;
                let answers = questions.iter().map(|question| kept.answer(&matrix, question));
                answers.collect::<fairer_nmf::Result<Vec<_>>>()
            };
            run(py, threads, None, task)?.map_err(to_python)
        }
        let answers = for_element!(
            Input::of(self.x.bind(py))?,
            owned => all(self, py, &owned, &questions, threads)?
        );
        Ok(answers.into_iter().map(|a| a.map(|a| a.into_pyarray(py))).collect())
    }
}

impl Share {
    /// The matrix, its structure checked when the share was made.
    fn matrix<'v, T: Element>(&self, view: &'v View<'_, T>) -> fairer_nmf::Result<Matrix<'v, T>> {
        match (view, &self.starts) {
            (View::Sparse { columns, indices, values, .. }, Some(starts)) => {
                Ok(Matrix::Sparse(Csr::again(*columns, starts.clone(), *indices, values)?))
            }
            _ => view.matrix(),
        }
    }
}

/// The whole of a question, made when a share has lost its W.
#[pyclass(frozen, module = "fairer_nmf._core")]
struct Whole(Request);

#[pymethods]
impl Whole {
    fn __call__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes(true))
    }
}

/// Shares that a Python callable reaches: `ask(question, whole)` gives the sum of all answers.
struct Asked {
    ask: Py<PyAny>,
    /// What the callable raised.
    raised: Mutex<Option<PyErr>>,
}

impl Asked {
    fn new(ask: Py<PyAny>) -> Self {
        Self { ask, raised: Mutex::new(None) }
    }

    /// The library's error as Python's; what the callable raised as it was.
    fn to_python(&self, error: Error) -> PyErr {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.unwrap_or_else(|| to_python(error))
    }
}

impl Shares for Asked {
    fn sum(&self, request: &Request) -> fairer_nmf::Result<Vec<f64>> {
        let asked = |py: Python<'_>| -> PyResult<Vec<f64>> {
            let question = PyBytes::new(py, &request.to_bytes(false));
            let whole = Bound::new(py, Whole(request.clone()))?;
            let sum: PyReadonlyArray1<'_, f64> =
                self.ask.bind(py).call1((question, whole))?.extract()?;
            Ok(sum.as_array().to_vec())
        };
        Python::attach(asked).map_err(|raised| {
            let reason = raised.to_string();
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
            Error::Rows { reason }
        })
    }
}

/// What all shares together are: names of the groups, features, whether they are f32, and the
/// scaling of the features.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct About {
    names: Vec<String>,
    features: usize,
    single: bool,
    normalize: bool,
    scale: Option<Vec<f64>>,
}

impl About {
    fn spread<'a>(&self, shares: &'a dyn Shares) -> fairer_nmf::Result<Spread<'a>> {
        let scale = Scaling::of(self.normalize, self.scale.clone()).of_features();
        Spread::new(shares, self.names.clone(), self.features, self.single, scale)
    }
}

/// Fits a model to the rows of all shares; `threads` of the settings are the questions that may be
/// under way at a time.
#[pyfunction]
#[pyo3(signature = (ask, about, settings, listener=None))]
pub fn fit_shares(
    py: Python<'_>,
    ask: Py<PyAny>,
    about: About,
    settings: Settings,
    listener: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (parameters, kept) = (settings.parameters()?, settings.checkpoint()?);
    let shares = Asked::new(ask);
    let task = |observer: &Observer<'_>| {
        let rows = about.spread(&shares)?;
        let fit = fairer_nmf::fit::fit_rows_kept(&rows, &parameters, kept.as_ref(), observer)?;
        let mut model = fit.model;
        model.scale = rows.scale().map(<[f64]>::to_vec);
        Ok(model)
    };
    let mut model =
        run_asking(py, settings.threads, listener, task)?.map_err(|e| shares.to_python(e))?;
    model.feature_names = settings.feature_names;
    Ok(Model(model))
}

/// What a dictionary in unscaled features costs each group of the rows of all shares: rows, norms,
/// baselines, relative errors, and the ends of bootstrap intervals of these, where there are draws.
#[pyfunction]
#[pyo3(signature = (ask, about, components, yardstick, draws_level, threads, listener=None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn evaluate_shares(
    py: Python<'_>,
    ask: Py<PyAny>,
    about: About,
    components: PyReadonlyArray2<'_, f64>,
    yardstick: Yardstick,
    draws_level: Option<(usize, f64)>,
    threads: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Vec<usize>, Vec<f64>, Vec<f64>, Vec<f64>, Vec<[f64; 2]>)> {
    let (baseline, seed) = (yardstick.baseline()?, yardstick.seed);
    let h = components.as_array().to_owned();
    let shares = Asked::new(ask);
    let task = |observer: &Observer<'_>| {
        let rows = about.spread(&shares)?;
        let h = in_scaled_features(h, rows.scale());
        let rank = h.nrows();
        let found = fairer_nmf::fit::baselines_of_rows(&rows, rank, &baseline, seed, observer)?;
        let errors = GroupBaseline::errors(&found);
        let draws = draws_level.map(|(draws, level)| Resampling { draws, level, seed });
        let (relative, intervals) = fairer_nmf::audit::evaluate_spread(&rows, h.view(), draws)?;
        let ends = intervals.iter().map(|i| [i.low, i.high]).collect();
        let groups = rows.groups();
        let norms = groups.iter().map(|g| g.norm() / rows.unit()).collect();
        Ok((groups.iter().map(|g| g.rows).collect(), norms, errors, relative, ends))
    };
    run_asking(py, threads, listener, task)?.map_err(|e| shares.to_python(e))
}
