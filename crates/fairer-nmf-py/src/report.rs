//! The page of an audit: the library's statistics, drawn by the report crate, by the code that the
//! program uses.

use crate::audit::in_scaled_features;
use crate::data::{Groups, Input, Scaling, View, for_element, grouped};
use crate::errors::to_python;
use crate::fit::{baseline, method};
use crate::run::run;
use fairer_nmf::{
    AuditOptions, AuditReport, Baseline, Element, Fit, GroupedData, Individuals, Method, Observer,
    Parameters, Refit, Status, TradeOffOptions,
};
use fairer_nmf_report as page;
use fairer_nmf_report::library::{self, Audited, Fitted, setting};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The name of the audited dictionary on the page.
const MODEL: &str = library::YOURS;
/// The names of what it is compared with.
const STANDARD: &str = "Standard NMF";
const FAIRER: &str = "Fairer-NMF (AM)";

/// What a page needs besides data and factors, as the package hands it over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PageSettings {
    title: String,
    normalize: bool,
    baselines: Vec<f64>,
    baseline_runs: usize,
    baseline_spreads: Option<Vec<f64>>,
    feature_names: Option<Vec<String>>,
    draws: usize,
    permutations: usize,
    folds: usize,
    compare: bool,
    level: f64,
    min_group_size: usize,
    /// Draws of the intervals and of the test in which everything is fitted anew; 0 for none.
    refit: usize,
    /// The method of the audited dictionary, where it is fitted anew.
    fitted_by: String,
    /// The kind of the baselines, as they are estimated anew; empty where they were given.
    baseline: String,
    seed: u64,
    threads: usize,
}

/// One self-contained HTML page.
#[pyfunction]
pub fn audit_page<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: (Vec<String>, PyReadonlyArray1<'py, i64>),
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    settings: PageSettings,
) -> PyResult<String> {
    let report = audited(py, x, groups, components, representation, settings)?;
    Ok(page::render_html(&report))
}

/// The content of the page as JSON.
#[pyfunction]
pub fn audit_json<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: (Vec<String>, PyReadonlyArray1<'py, i64>),
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    settings: PageSettings,
) -> PyResult<String> {
    let report = audited(py, x, groups, components, representation, settings)?;
    Ok(page::render_json(&report))
}

/// A file's name and its bytes.
type File<'py> = (String, Bound<'py, PyBytes>);

/// The charts of the page as files, SVG and PNG.
#[pyfunction]
pub fn audit_charts<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: (Vec<String>, PyReadonlyArray1<'py, i64>),
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    settings: PageSettings,
) -> PyResult<Vec<File<'py>>> {
    const PIXELS_PER_UNIT: f32 = 3.0;
    let report = audited(py, x, groups, components, representation, settings)?;
    let mut files = Vec::new();
    for (stem, svg) in page::charts(&report) {
        let png = page::png::render(&svg, PIXELS_PER_UNIT)
            .map_err(|e| PyRuntimeError::new_err(format!("cannot draw {stem}.png: {e}")))?;
        files.push((format!("{stem}.svg"), PyBytes::new(py, svg.as_bytes())));
        files.push((format!("{stem}.png"), PyBytes::new(py, &png)));
    }
    Ok(files)
}

fn audited<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    groups: (Vec<String>, PyReadonlyArray1<'py, i64>),
    components: PyReadonlyArray2<'py, f64>,
    representation: Option<PyReadonlyArray2<'py, f64>>,
    settings: PageSettings,
) -> PyResult<page::Report> {
    let groups = Groups::of(Some(groups));
    let h = components.as_array().to_owned();
    let w = representation.as_ref().map(|w| w.as_array());
    let refit = refit(&settings, h.nrows())?;
    for_element!(Input::of(x)?, owned => {
        let view = owned.view()?;
        let task = |observer: &Observer<'_>| {
            find(&view, groups.as_ref(), (h, w), &settings, refit, observer)
        };
        run(py, settings.threads, None, task)?.map_err(to_python)
    })
}

/// How to fit the audited dictionary anew, where that was asked for.
fn refit(s: &PageSettings, rank: usize) -> PyResult<Option<Refit>> {
    if s.refit == 0 {
        return Ok(None);
    }
    let given = s.baseline.is_empty().then(|| s.baselines.clone());
    let parameters = Parameters {
        method: method(&s.fitted_by, "auto")?,
        baseline: baseline(&s.baseline, s.baseline_runs, given)?,
        bound: false,
        seed: s.seed,
        ..Parameters::new(rank)
    };
    Ok(Some(Refit { draws: s.refit, permutations: s.refit, parameters }))
}

/// What the library finds out.
struct Findings<T> {
    main: AuditReport,
    /// Where the dictionary is compared.
    compared: Option<Compared<T>>,
    global_bound: Option<f64>,
}

/// Standard NMF and Fairer-NMF beside the dictionary, each with its audit.
struct Compared<T> {
    standard: (Fit<T>, AuditReport),
    fairer: (Fit<T>, AuditReport),
    /// From the dictionary to Fairer-NMF.
    change: Individuals,
}

fn find<T: Element>(
    view: &View<'_, T>,
    groups: Option<&Groups>,
    (h, w): (Array2<f64>, Option<ArrayView2<'_, f64>>),
    s: &PageSettings,
    refit: Option<Refit>,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<page::Report> {
    let data = grouped(view, groups, Scaling::of(s.normalize, None))?;
    let h = in_scaled_features(h, &data);
    let options = AuditOptions {
        draws: s.draws,
        level: s.level,
        permutations: s.permutations,
        folds: s.folds,
        trade_off: None,
        refit,
        seed: s.seed,
        ..AuditOptions::default()
    };
    let fit = |method| fit_of_rank(&data, h.nrows(), method, s, observer);
    let fits = match s.compare {
        true => Some((fit(Method::standard())?, fit(Method::am())?)),
        false => None,
    };
    let stopped = |fit: &Fit<T>| fit.model.status == Status::Stopped;
    if fits.as_ref().is_some_and(|(standard, fairer)| stopped(standard) || stopped(fairer)) {
        // Nobody sees this: the exception that stopped the fit is raised instead.
        return Ok(page::Report::default());
    }
    let reference = fits.as_ref().map(|(standard, _)| standard.model.components.view());
    let main =
        fairer_nmf::audit_pair(&data, h.view(), w, &s.baselines, reference, &options, observer)?;
    let compared = fits
        .map(|(standard, fairer)| {
            compare(&data, (h.view(), w), standard, fairer, s, &options, observer)
        })
        .transpose()?;
    let global_bound = fairer_nmf::global_bound(&data, h.nrows(), &s.baselines).value;
    Ok(report(&data, &Findings { main, compared, global_bound }, s))
}

/// Audits the two fits for what the page shows of them: intervals, the test, and the trade-off,
/// which runs from one to the other.
fn compare<T: Element>(
    data: &GroupedData<'_, T>,
    (h, w): (ArrayView2<'_, f64>, Option<ArrayView2<'_, f64>>),
    standard: Fit<T>,
    fairer: Fit<T>,
    s: &PageSettings,
    options: &AuditOptions,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<Compared<T>> {
    let less = |fit: &Fit<T>| AuditOptions {
        folds: 0,
        refit: options.refit.as_ref().map(|refit| refit.of(fit.model.parameters.method)),
        ..options.clone()
    };
    let (low, high) = (standard.model.components.view(), fairer.model.components.view());
    let of_standard = fairer_nmf::audit(data, low, &s.baselines, None, &less(&standard), observer)?;
    let curve = AuditOptions { trade_off: Some(TradeOffOptions::default()), ..less(&fairer) };
    let of_fairer = fairer_nmf::audit(data, high, &s.baselines, Some(low), &curve, observer)?;
    let before = fairer_nmf::evaluate(data, h, w, &s.baselines)?;
    let after = fairer_nmf::evaluate(data, high, None, &s.baselines)?;
    let change = fairer_nmf::compare_individuals(data, &after, &before);
    Ok(Compared { standard: (standard, of_standard), fairer: (fairer, of_fairer), change })
}

/// A fit of the same rank, against the same baselines.
fn fit_of_rank<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    method: Method,
    s: &PageSettings,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<Fit<T>> {
    let parameters = Parameters {
        method,
        n_init: 1,
        baseline: Baseline::Given { errors: s.baselines.clone() },
        bound: false,
        seed: s.seed,
        ..Parameters::new(rank)
    };
    fairer_nmf::fit(data, &parameters, observer)
}

fn report<T: Element>(
    data: &GroupedData<'_, T>,
    found: &Findings<T>,
    s: &PageSettings,
) -> page::Report {
    let main = Audited { name: MODEL, audit: &found.main };
    let rank = found.main.rank;
    let others: Vec<(&str, &(Fit<T>, AuditReport))> = (found.compared.iter())
        .flat_map(|c| [(STANDARD, &c.standard), (FAIRER, &c.fairer)])
        .collect();
    let shown: Vec<Audited<'_>> = std::iter::once(main)
        .chain(others.iter().map(|(name, (_, audit))| Audited { name, audit }))
        .collect();
    let fits = others.iter().map(|(name, (fit, _))| Fitted {
        name,
        model: &fit.model,
        seconds: Some(fit.fit_time.as_secs_f64()),
    });
    let reference = found.compared.as_ref().map(|_| STANDARD);
    page::Report {
        title: s.title.clone(),
        subtitle: format!("{MODEL} of rank {rank}"),
        generated: format!("Made by fairer-nmf {} for Python", env!("CARGO_PKG_VERSION")),
        data: library::data_summary(data),
        settings: vec![
            setting("rank", rank),
            setting("seed", s.seed),
            setting("normalize", if s.normalize { "features" } else { "none" }),
            setting("precision", T::NAME),
        ],
        models: library::models(&shown),
        who_pays: page::WhoPays {
            baseline_runs: s.baseline_runs,
            groups: (0..data.groups().len()).map(|l| group(l, &shown, s)).collect(),
        },
        is_it_real: library::is_it_real(main.audit, &shown),
        cost: found
            .compared
            .as_ref()
            .map(|c| library::cost(&found.main.groups, &c.change, c.fairer.1.trade_off.as_ref())),
        quality: Some(library::quality(fits, found.global_bound)),
        topics: Some(library::topics(main, reference, |j| {
            let name = s.feature_names.as_ref().and_then(|names| names.get(j));
            name.cloned().unwrap_or_else(|| format!("feature {j}"))
        })),
        warnings: others.iter().filter_map(|(name, (fit, _))| unfinished(name, fit)).collect(),
        min_group_size: s.min_group_size,
        ..page::Report::default()
    }
}

/// A group under every model of the page.
fn group(l: usize, audits: &[Audited<'_>], s: &PageSettings) -> page::GroupOutcome {
    let result = |a: &Audited<'_>| page::ModelResult {
        relative_error: a.audit.groups[l].relative_error,
        loss: a.audit.groups[l].loss,
    };
    let spread = s.baseline_spreads.as_ref().map(|spreads| spreads[l]);
    library::group(&audits[0].audit.groups[l], spread, audits.iter().map(result).collect())
}

/// A sentence where a comparison did not converge.
fn unfinished<T>(name: &str, fit: &Fit<T>) -> Option<String> {
    let most = fit.model.parameters.stopping.max_iterations;
    (fit.model.status != Status::Converged)
        .then(|| format!("{name}, the comparison, did not converge within {most} iterations"))
}
