//! The page of an audit: the library's comparison, drawn by the report crate, by the code that the
//! program uses.

use crate::audit::in_scaled_features;
use crate::data::{Given, GivenGroups, Groups, Input, Scaling};
use crate::errors::to_python;
use crate::fit::{baseline, method};
use crate::model::Model;
use crate::run::run;
use fairer_nmf::audit::{self, DrawBudget, PeerPlan, Peers, Refit, Subject, TradeOffOptions};
use fairer_nmf::{Observer, Parameters, Update, audit::AuditOptions, baseline::GroupBaseline};
use fairer_nmf_report as page;
use fairer_nmf_report::library::{self, About};
use numpy::PyReadonlyArray2;
use numpy::ndarray::{Array2, ArrayView2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::Duration;

/// What a report needs besides data and factors, as the package hands it over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReportSettings {
    title: String,
    normalize: bool,
    /// Factors of the features that a model remembers, in place of those of these data.
    scale: Option<Vec<f64>>,
    /// Whether NaN stands for unobserved cells.
    unobserved: bool,
    baselines: Vec<f64>,
    /// The error of every run behind each baseline; empty where they were given.
    baseline_run_errors: Vec<Vec<f64>>,
    baseline_runs: usize,
    feature_names: Option<Vec<String>>,
    draws: usize,
    permutations: usize,
    folds: usize,
    compare: bool,
    level: f64,
    matters: f64,
    min_group_size: usize,
    /// Draws of the intervals and of the test in which everything is fitted anew; 0 for none.
    refit: usize,
    /// The method of the audited dictionary, where it is fitted anew.
    fitted_by: Option<String>,
    /// The kind of the baselines, as they are estimated anew; none where they were given.
    baseline: Option<String>,
    allow_small_groups: bool,
    chance_draws: usize,
    /// Seconds at the most for them.
    chance_time: f64,
    seed: u64,
    threads: usize,
}

/// All that an audit has to say, computed once.
#[pyclass(frozen, module = "fairer_nmf._core")]
pub struct Report(page::Report);

/// A file's name and its bytes.
type File<'py> = (String, Bound<'py, PyBytes>);

#[pymethods]
impl Report {
    /// One self-contained HTML page.
    fn html(&self) -> String {
        page::render_html(&self.0)
    }

    /// The content of the page as JSON.
    fn json(&self) -> String {
        page::render_json(&self.0)
    }

    /// The charts of the page as files, SVG and PNG.
    fn charts<'py>(&self, py: Python<'py>) -> PyResult<Vec<File<'py>>> {
        const PIXELS_PER_UNIT: f32 = 3.0;
        let mut files = Vec::new();
        for (stem, svg) in page::charts(&self.0) {
            let png = page::png::render(&svg, PIXELS_PER_UNIT)
                .map_err(|e| PyRuntimeError::new_err(format!("cannot draw {stem}.png: {e}")))?;
            files.push((format!("{stem}.svg"), PyBytes::new(py, svg.as_bytes())));
            files.push((format!("{stem}.png"), PyBytes::new(py, &png)));
        }
        Ok(files)
    }
}

/// The dictionary of an audit: H in unscaled features, W where it is known, and the model that it is of, where that is ours.
type Dictionary<'py> =
    (PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray2<'py, f64>>, Option<PyRef<'py, Model>>);

/// Audits a dictionary in full, beside standard NMF and Fairer-NMF where that is wanted.
#[pyfunction]
#[pyo3(signature = (x, groups, dictionary, settings, listener=None))]
pub fn report<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: GivenGroups<'py>,
    dictionary: Dictionary<'py>,
    settings: ReportSettings,
    listener: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let groups = Groups::of(groups)?;
    let (components, representation, model) = &dictionary;
    let h = components.as_array().to_owned();
    let w = representation.as_ref().map(|w| w.as_array());
    let how = (parameters(&settings, h.nrows())?, refit(&settings, h.nrows())?);
    let audited = (h, w, model.as_ref().map(|model| &model.0));
    if !(settings.chance_time.is_finite() && settings.chance_time >= 0.0) {
        let time = settings.chance_time;
        return Err(PyValueError::new_err(format!("chance_time is {time}: expected seconds")));
    }
    if !(settings.matters > 0.0 && settings.matters < 1.0) {
        let matters = settings.matters;
        return Err(PyValueError::new_err(format!(
            "matters is {matters}: must lie between 0 and 1"
        )));
    }
    let input = Input::of(x)?;
    let given = input.given(settings.unobserved)?;
    let task =
        |observer: &Observer<'_>| find(&given, groups.as_ref(), audited, &settings, how, observer);
    run(py, settings.threads, listener, task)?.map_err(to_python).map(Report)
}

/// How to fit the audited dictionary anew, where that was asked for.
fn refit(s: &ReportSettings, rank: usize) -> PyResult<Option<Refit>> {
    if s.refit == 0 {
        return Ok(None);
    }
    let Some(fitted_by) = &s.fitted_by else {
        return Err(PyValueError::new_err("refit needs fitted_by, the method of the dictionary"));
    };
    let method = method(fitted_by, "auto")?;
    let parameters = parameters(s, rank)?.with(|p| {
        p.method = method;
        p.bound = false;
    });
    Ok(Some(Refit { draws: s.refit, permutations: s.refit, parameters }))
}

/// How models of this rank are fitted.
fn parameters(s: &ReportSettings, rank: usize) -> PyResult<Parameters> {
    let given = s.baseline.is_none().then(|| s.baselines.clone());
    let baseline = baseline(s.baseline.as_deref(), s.baseline_runs, given)?;
    Ok(Parameters::new(rank).with(|p| {
        p.baseline = baseline;
        p.allow_small_groups = s.allow_small_groups;
        p.seed = s.seed;
    }))
}

fn find(
    given: &Given<'_>,
    groups: Option<&Groups>,
    (h, w, model): (Array2<f64>, Option<ArrayView2<'_, f64>>, Option<&fairer_nmf::Model>),
    s: &ReportSettings,
    (parameters, refit): (Parameters, Option<Refit>),
    observer: &Observer<'_>,
) -> fairer_nmf::Result<page::Report> {
    let data = given.data(groups, Scaling::of(s.normalize, s.scale.clone()))?;
    let h = in_scaled_features(h, data.scale());
    let model = model.map(|model| model.beside(&data));
    let model = model.as_deref();
    let subject = match model {
        Some(model) => Subject::of_model(model, &data, &parameters),
        None => Subject::from_elsewhere(h.view(), &data, &parameters),
    };
    // In the scale of its fit a model has its own numbers: to the features as they are and back they round.
    let is_own = model.is_some_and(|model| data.scale() == model.scale.as_deref());
    let components = if is_own { subject.components } else { h.view() };
    let subject =
        subject.with(|subject| (subject.components, subject.representation) = (components, w));
    let options = AuditOptions::default().with(|o| {
        o.draws = s.draws;
        o.level = s.level;
        o.matters = s.matters;
        o.baseline = Some(parameters.baseline.clone());
        o.permutations = s.permutations;
        o.folds = s.folds;
        o.chance = DrawBudget {
            draws: s.chance_draws,
            time: Duration::try_from_secs_f64(s.chance_time).unwrap_or(Duration::MAX),
        };
        o.trade_off = s.compare.then(TradeOffOptions::default);
        o.refit = refit;
        o.seed = s.seed;
    });
    options.chance.check()?;
    let peers = match s.compare {
        true => {
            let plan = PeerPlan::beside(subject.method, Update::Hals);
            audit::fit_peers(&data, plan, &parameters, &s.baselines, observer)?
        }
        false => Peers::default(),
    };
    let found = audit::compare(&data, &subject, &s.baselines, peers, &options, observer)?;
    let run_errors = |l: usize| s.baseline_run_errors.get(l).cloned().unwrap_or_default();
    let baselines: Vec<GroupBaseline> = (s.baselines.iter().enumerate())
        .map(|(l, &error)| GroupBaseline { error, run_errors: run_errors(l) })
        .collect();
    let about = About {
        title: s.title.clone(),
        generated: library::made_by(concat!(
            "fairer-nmf ",
            env!("CARGO_PKG_VERSION"),
            " for Python"
        )),
        features: s.feature_names.as_deref().unwrap_or_default(),
        normalize: Scaling::of(s.normalize, s.scale.clone()).named(),
        seed: s.seed,
        min_group_size: s.min_group_size,
        ..About::default()
    };
    Ok(library::report(about, &data, &found, &baselines, model.map(|model| (model, None))))
}
