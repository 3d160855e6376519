//! Fits and baselines.

use crate::audit::in_scaled_features;
use crate::data::{Given, GivenGroups, Groups, Input, Reading, Scaling, to_array};
use crate::errors::to_python;
use crate::model::Model;
use crate::run::run;
use fairer_nmf::audit::rank::{self, RankOptions};
use fairer_nmf::discover::{Discover, discover};
use fairer_nmf::fit::{Checkpoint, Start, StartWeights, Ties};
use fairer_nmf::rows::FeatureScaling;
use fairer_nmf::{
    Baseline, Method, Observer, Parameters, Penalties, UnknownName, Update, baseline::GroupBaseline,
};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// The parameters of a fit, as the package hands them over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    rank: usize,
    method: String,
    fairness: f64,
    ties: String,
    worst_share: Option<f64>,
    discover: Option<String>,
    discover_groups: usize,
    alpha_w: f64,
    alpha_h: Option<f64>,
    l1_ratio: f64,
    unobserved: bool,
    update: String,
    init: String,
    /// A name; none where errors are given.
    baseline: Option<String>,
    baseline_runs: usize,
    baseline_errors: Option<Vec<f64>>,
    n_init: usize,
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    /// A name; none where weights are given.
    start_weights: Option<String>,
    given_weights: Option<Vec<f64>>,
    normalize: bool,
    polish: bool,
    bound: bool,
    allow_small_groups: bool,
    seed: u64,
    pub threads: usize,
    pub feature_names: Option<Vec<String>>,
    checkpoint: Option<PathBuf>,
    every: f64,
    resume: bool,
}

fn unknown<T>(name: &str, value: &str, expected: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("{name} is '{value}': expected {expected}")))
}

impl Settings {
    pub fn parameters(&self) -> PyResult<Parameters> {
        let mut p = Parameters::new(self.rank);
        p.method = self.method()?;
        p.init = named("init", &self.init)?;
        p.start_weights = self.start_weights()?;
        p.n_init = self.n_init;
        let errors = self.baseline_errors.clone();
        p.baseline = baseline(self.baseline.as_deref(), self.baseline_runs, errors)?;
        p.stopping.tolerance = self.tolerance;
        p.stopping.max_iterations = self.max_iterations;
        p.stopping.time_limit = self.time_limit()?;
        p.polish = self.polish;
        p.bound = self.bound;
        p.allow_small_groups = self.allow_small_groups;
        p.seed = self.seed;
        Ok(p)
    }

    pub fn normalize(&self) -> bool {
        self.normalize
    }

    /// Where the state of the fit is kept, and how often.
    pub fn checkpoint(&self) -> PyResult<Option<Checkpoint>> {
        let every = match Duration::try_from_secs_f64(self.every) {
            Ok(every) => every,
            Err(_) => return unknown("every", &self.every.to_string(), "seconds, zero or more"),
        };
        let kept = |path| Checkpoint::new(path, every).with(|c| c.resume = self.resume);
        Ok(self.checkpoint.as_ref().map(kept))
    }

    /// How features are scaled, of rows that are not in memory.
    pub fn scaling(&self) -> FeatureScaling {
        if self.normalize { FeatureScaling::Unit } else { FeatureScaling::AsTheyAre }
    }

    fn method(&self) -> PyResult<Method> {
        let penalties =
            Penalties { alpha_w: self.alpha_w, alpha_h: self.alpha_h, l1_ratio: self.l1_ratio };
        let method = match method(&self.method, &self.update)? {
            Method::Standard { update } if !penalties.is_none() => {
                Method::Penalised { update, penalties }
            }
            _ if !penalties.is_none() => {
                return Err(PyValueError::new_err(
                    "alpha_W and alpha_H need method='standard': with penalties the step of the min-max criterion has no proven gap",
                ));
            }
            method => method,
        };
        let ties = named("ties", &self.ties)?;
        if let Some(share) = self.worst_share {
            let is_am = matches!(method, Method::Am { .. });
            if !is_am || self.fairness != 1.0 || ties != Ties::Any {
                return Err(PyValueError::new_err(
                    "worst_share has an objective of its own, without groups: leave method, fairness and ties as they are",
                ));
            }
            if self.discover.is_some() {
                return Err(PyValueError::new_err(
                    "worst_share does not go with discover: it has no groups",
                ));
            }
            return Ok(Method::WorstShare { share });
        }
        match method {
            Method::Am { gap, .. } => Ok(Method::Am { gap, fairness: self.fairness, ties }),
            _ if ties == Ties::Leximin => {
                unknown("ties", "leximin", "'any' unless the method is 'am'")
            }
            _ if self.fairness == 1.0 => Ok(method),
            _ => unknown("fairness", &self.fairness.to_string(), "1 unless the method is 'am'"),
        }
    }

    fn discovery(&self) -> PyResult<Option<(Discover, usize)>> {
        let how = self.discover.as_deref().map(|how| named("discover", how)).transpose()?;
        Ok(how.map(|how| (how, self.discover_groups)))
    }

    fn start_weights(&self) -> PyResult<StartWeights> {
        let expected = "'even', 'bound' or one weight per group";
        match (&self.given_weights, self.start_weights.as_deref()) {
            (Some(weights), _) => Ok(StartWeights::Given { weights: weights.clone() }),
            (None, Some(name)) => {
                name.parse().or_else(|_| unknown("start_weights", name, expected))
            }
            (None, None) => unknown("start_weights", "None", expected),
        }
    }

    fn time_limit(&self) -> PyResult<Option<Duration>> {
        let Some(seconds) = self.time_limit else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(limit) => Ok(Some(limit)),
            Err(_) => unknown("time_limit", &seconds.to_string(), "seconds, zero or more"),
        }
    }
}

/// A choice of the library by its name.
fn named<T: FromStr<Err = UnknownName>>(what: &str, name: &str) -> PyResult<T> {
    name.parse().or_else(|wrong: UnknownName| unknown(what, name, &wrong.listed('\'', &[])))
}

/// How groups were found, by its name; none where they were given.
pub fn found_by(name: &Bound<'_, PyAny>) -> PyResult<Option<Discover>> {
    let name: Option<String> = name.extract()?;
    name.map(|name| named("found_by", &name)).transpose()
}

/// A method by its name, with the update of standard NMF.
pub fn method(name: &str, update: &str) -> PyResult<Method> {
    let method: Method = named("method", name)?;
    let given: Option<Update> = match update {
        "auto" => None,
        update => Some(update.parse().or_else(|wrong: UnknownName| {
            unknown("update", update, &wrong.listed('\'', &["auto"]))
        })?),
    };
    match (method, given) {
        (method, None)
        | (method @ Method::Am { .. }, Some(Update::Nnls))
        | (method @ Method::Weighted { .. }, Some(Update::Mu)) => Ok(method),
        (Method::Standard { .. }, Some(update)) => Ok(Method::Standard { update }),
        _ => unknown("update", update, "'auto' unless the method is 'standard'"),
    }
}

/// How baselines are found, as the package hands it over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Yardstick {
    /// A name; none where errors are given.
    baseline: Option<String>,
    runs: usize,
    errors: Option<Vec<f64>>,
    pub seed: u64,
}

impl Yardstick {
    pub fn baseline(&self) -> PyResult<Baseline> {
        baseline(self.baseline.as_deref(), self.runs, self.errors.clone())
    }
}

/// A kind of baseline by its name, or the errors that were given.
pub fn baseline(name: Option<&str>, runs: usize, errors: Option<Vec<f64>>) -> PyResult<Baseline> {
    let name = match (errors, name) {
        (Some(errors), _) => return Ok(Baseline::Given { errors }),
        (None, Some(name)) => name,
        (None, None) => return unknown("baseline", "None", "a name or one error per group"),
    };
    let named: Baseline = name.parse().or_else(|wrong: UnknownName| {
        let names = wrong.listed('\'', &[]).replace(" or ", ", ");
        let expected = format!("{names} or one error per group");
        unknown("baseline", name, &expected)
    })?;
    Ok(named.with_runs(runs))
}

/// Fits a model: the model and the representation of the data.
#[pyfunction]
#[pyo3(signature = (x, groups, settings, components=None, representation=None, listener=None))]
pub fn fit<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    settings: Settings,
    components: Option<PyReadonlyArray2<'py, f64>>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Model, Bound<'py, PyAny>)> {
    let (parameters, kept) = (settings.parameters()?, settings.checkpoint()?);
    let discovery = settings.discovery()?;
    let own = |factor: PyReadonlyArray2<'py, f64>| factor.as_array().to_owned();
    let start = Start { components: components.map(own), representation: representation.map(own) };
    let start = (start != Start::default()).then_some(start);
    let groups = Groups::of(groups)?;
    let input = Input::of(x)?;
    let given = input.given(settings.unobserved)?;
    let task = |observer: &Observer<'_>| {
        let asked = (&parameters, discovery, kept.as_ref());
        fit_view(&given, groups.as_ref(), settings.normalize, asked, start, observer)
    };
    let fit = run(py, settings.threads, listener, task)?.map_err(to_python)?;
    let mut model = fit.model;
    model.feature_names = settings.feature_names;
    Ok((Model(model), to_array(py, fit.representation)))
}

/// What a fit is asked for, and where its state is kept.
type Asked<'a> = (&'a Parameters, Option<(Discover, usize)>, Option<&'a Checkpoint>);

/// A start of the user's own is not kept: the package refuses both together.
fn fit_view(
    given: &Given<'_>,
    groups: Option<&Groups>,
    normalize: bool,
    (parameters, discovery, kept): Asked<'_>,
    start: Option<Start>,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<fairer_nmf::Fit> {
    let data = given.data(groups, Scaling::of(normalize, None))?;
    let begin = Instant::now();
    let found = match discovery {
        Some((how, groups)) => Some(discover(&data, how, groups, parameters, observer)?),
        None => None,
    };
    // One limit for finding the groups and fitting them.
    let mut left = parameters.clone();
    if let (Some(limit), true) = (&mut left.stopping.time_limit, found.is_some()) {
        *limit = limit.saturating_sub(begin.elapsed());
    }
    let data = match &found {
        Some(found) => data.with_found(found)?,
        None => data,
    };
    let mut fit = match start {
        Some(mut start) => {
            start.components = start.components.map(|h| in_scaled_features(h, data.scale()));
            fairer_nmf::fit::fit_from(&data, &left, &start, observer)?
        }
        None => fairer_nmf::fit::fit_kept(&data, &left, kept, observer)?,
    };
    fit.model.parameters.stopping.time_limit = parameters.stopping.time_limit;
    fit.model.found_groups = found;
    Ok(fit)
}

/// The rank that bi-cross-validation chooses, as JSON. No group is below it.
#[pyfunction]
#[pyo3(signature = (x, groups, normalize, seed, threads, listener=None))]
pub fn choose_rank<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    normalize: bool,
    seed: u64,
    threads: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let groups = Groups::of(groups)?;
    let input = Input::of(x)?;
    let given = input.given(false)?;
    let task = |observer: &Observer<'_>| {
        let data = given.data(groups.as_ref(), Scaling::of(normalize, None))?;
        let smallest = data.groups().iter().map(|g| g.rows.len()).min().unwrap_or(1);
        let mut options = RankOptions::default().with(|o| o.seed = seed);
        options.at_most = options.at_most.min(smallest);
        rank::choose(&data, &options, observer)
    };
    let found = run(py, threads, listener, task)?.map_err(to_python)?;
    serde_json::to_string(&found).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The baseline of every group: norms N, errors E, and the errors of the runs.
#[pyfunction]
#[pyo3(signature = (x, groups, rank, yardstick, reading, listener=None))]
#[allow(clippy::type_complexity)]
pub fn estimate_baselines<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    rank: usize,
    yardstick: Yardstick,
    reading: Reading,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Vec<f64>, Vec<f64>, Vec<Vec<f64>>)> {
    let (baseline, seed) = (yardstick.baseline()?, yardstick.seed);
    let groups = Groups::of(groups)?;
    let input = Input::of(x)?;
    let given = input.given(reading.unobserved)?;
    let task = |observer: &Observer<'_>| {
        let data = given.data(groups.as_ref(), reading.scaling())?;
        let found = fairer_nmf::fit::estimate_baselines(&data, rank, &baseline, seed, observer)?;
        Ok((data.groups().iter().map(fairer_nmf::data::Group::norm).collect(), found))
    };
    let result: fairer_nmf::Result<(Vec<f64>, Vec<GroupBaseline>)> =
        run(py, reading.threads, listener, task)?;
    let (norms, found) = result.map_err(to_python)?;
    let (errors, run_errors) = found.into_iter().map(|b| (b.error, b.run_errors)).unzip();
    Ok((norms, errors, run_errors))
}
