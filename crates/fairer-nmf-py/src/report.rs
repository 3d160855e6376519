//! The page of an audit: the library's statistics, drawn by the report crate, by the code that the
//! program uses.

use crate::audit::in_scaled_features;
use crate::data::{Groups, Input, Scaling, View, for_element, grouped};
use crate::errors::to_python;
use crate::run::run;
use fairer_nmf::{
    AuditOptions, AuditReport, Baseline, Element, Fit, GroupedData, Method, Model, Observer,
    Parameters, Status, TradeOffOptions,
};
use fairer_nmf_report as page;
use fairer_nmf_report::library::{self, Audited, Fitted, setting};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The name of the audited dictionary on the page.
const MODEL: &str = "Your dictionary";
/// The name of what it is compared with.
const REFERENCE: &str = "Standard NMF";

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
    for_element!(Input::of(x)?, owned => {
        let view = owned.view()?;
        let task = |observer: &Observer<'_>| {
            find(&view, groups.as_ref(), h, w, &settings, observer)
        };
        run(py, settings.threads, None, task)?.map_err(to_python)
    })
}

/// What the library finds out.
struct Findings<T> {
    main: AuditReport,
    /// Standard NMF and its audit, where the dictionary is compared.
    reference: Option<(Fit<T>, AuditReport)>,
    global_bound: Option<f64>,
}

fn find<T: Element>(
    view: &View<'_, T>,
    groups: Option<&Groups>,
    h: Array2<f64>,
    w: Option<ArrayView2<'_, f64>>,
    s: &PageSettings,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<page::Report> {
    let data = grouped(view, groups, Scaling::of(s.normalize, None))?;
    let h = in_scaled_features(h, &data);
    let options = AuditOptions {
        draws: s.draws,
        level: s.level,
        permutations: s.permutations,
        folds: s.folds,
        trade_off: s.compare.then(TradeOffOptions::default),
        seed: s.seed,
        ..AuditOptions::default()
    };
    let standard = s.compare.then(|| standard(&data, h.nrows(), s, observer)).transpose()?;
    if standard.as_ref().is_some_and(|fit| fit.model.status == Status::Stopped) {
        // Nobody sees this: the exception that stopped the fit is raised instead.
        return Ok(page::Report::default());
    }
    let reference = standard.as_ref().map(|fit| fit.model.components.view());
    let main =
        fairer_nmf::audit_pair(&data, h.view(), w, &s.baselines, reference, &options, observer)?;
    // What the page shows of the reference: intervals and the test.
    let less = AuditOptions { folds: 0, trade_off: None, ..options };
    let audited = |fit: Fit<T>| {
        let h = fit.model.components.view();
        let audit = fairer_nmf::audit(&data, h, &s.baselines, None, &less, observer)?;
        Ok((fit, audit))
    };
    let found = Findings {
        main,
        reference: standard.map(audited).transpose()?,
        global_bound: fairer_nmf::global_bound(&data, h.nrows(), &s.baselines).value,
    };
    Ok(report(&data, &found, s))
}

/// Standard NMF of the same rank, against the same baselines.
fn standard<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    s: &PageSettings,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<Fit<T>> {
    let parameters = Parameters {
        method: Method::standard(),
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
    let standard = found.reference.as_ref().map(|(fit, _)| fit);
    let reference = found.reference.as_ref().map(|(_, audit)| Audited { name: REFERENCE, audit });
    let fits = standard.map(|fit| Fitted {
        name: REFERENCE,
        model: &fit.model,
        seconds: Some(fit.fit_time.as_secs_f64()),
    });
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
        models: library::models(reference.map(|r| r.name), main),
        who_pays: page::WhoPays {
            baseline_runs: s.baseline_runs,
            groups: (0..data.groups().len())
                .map(|l| group(l, &found.main, standard.map(|fit| &fit.model), s))
                .collect(),
        },
        is_it_real: library::is_it_real(reference, main),
        cost: library::cost(main.audit),
        quality: Some(library::quality(fits, found.global_bound)),
        topics: Some(library::topics(main.audit, |j| {
            let name = s.feature_names.as_ref().and_then(|names| names.get(j));
            name.cloned().unwrap_or_else(|| format!("feature {j}"))
        })),
        warnings: standard.and_then(|fit| unfinished(&fit.model)).into_iter().collect(),
        min_group_size: s.min_group_size,
        ..page::Report::default()
    }
}

fn group(
    l: usize,
    audit: &AuditReport,
    standard: Option<&Model>,
    s: &PageSettings,
) -> page::GroupOutcome {
    let group = &audit.groups[l];
    let result = |relative_error, loss| page::ModelResult { relative_error, loss };
    let standard = standard.map(|s| result(s.groups[l].relative_error, s.groups[l].loss));
    let own = result(group.relative_error, group.loss);
    let spread = s.baseline_spreads.as_ref().map(|spreads| spreads[l]);
    library::group(group, spread, standard.into_iter().chain([own]).collect())
}

/// A sentence where the comparison did not converge.
fn unfinished(standard: &Model) -> Option<String> {
    let most = standard.parameters.stopping.max_iterations;
    (standard.status != Status::Converged)
        .then(|| format!("standard NMF, the comparison, did not converge within {most} iterations"))
}
