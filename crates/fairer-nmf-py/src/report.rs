//! The page of an audit: the library's statistics, drawn by the report crate.

use crate::audit::in_scaled_features;
use crate::data::{Groups, Input, Scaling, View, for_element, grouped};
use crate::errors::to_python;
use crate::run::run;
use fairer_nmf::{Bootstrap, Element, Evaluation, GroupedData, Permutation, Topic};
use fairer_nmf_report as page;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The name of the audited dictionary on the page.
const MODEL: &str = "Your dictionary";
/// Features named per topic.
const STRONGEST: usize = 10;

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
    let groups = Groups::of(Some(groups));
    let h = components.as_array().to_owned();
    let w = representation.as_ref().map(|w| w.as_array());
    for_element!(Input::of(x)?, owned => {
        let view = owned.view()?;
        let task = |_: &fairer_nmf::Observer<'_>| {
            write(&view, groups.as_ref(), h, w, &settings)
        };
        run(py, settings.threads, None, task)?.map_err(to_python)
    })
}

/// What the library finds out.
struct Findings<T> {
    evaluation: Evaluation<T>,
    bootstrap: Option<Bootstrap>,
    permutation: Option<Permutation>,
    topics: Vec<Topic>,
}

fn write<T: Element>(
    view: &View<'_, T>,
    groups: Option<&Groups>,
    h: Array2<f64>,
    w: Option<ArrayView2<'_, f64>>,
    s: &PageSettings,
) -> fairer_nmf::Result<String> {
    let data = grouped(view, groups, Scaling::of(s.normalize, None))?;
    let h = in_scaled_features(h, &data);
    let evaluation = fairer_nmf::evaluate(&data, h.view(), w, &s.baselines)?;
    let bootstrap =
        || fairer_nmf::bootstrap(&data, &evaluation, &s.baselines, s.draws, s.level, s.seed);
    let permutation = || fairer_nmf::permutation_test(&data, &evaluation, s.permutations, s.seed);
    let found = Findings {
        bootstrap: (s.draws > 0).then(bootstrap).transpose()?,
        permutation: (s.permutations > 0).then(permutation).transpose()?,
        topics: fairer_nmf::describe_topics(&data, h.view(), &evaluation, STRONGEST)?,
        evaluation,
    };
    Ok(page::render_html(&report(&data, h.nrows(), &found, s)))
}

fn report<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    found: &Findings<T>,
    s: &PageSettings,
) -> page::Report {
    let squared: f64 = found.evaluation.row_squared_errors.iter().sum();
    page::Report {
        title: s.title.clone(),
        subtitle: format!("{MODEL} of rank {rank}"),
        generated: format!("Made by fairer-nmf {} for Python", env!("CARGO_PKG_VERSION")),
        data: page::DataSummary {
            rows: data.rows(),
            features: data.features(),
            groups: data.groups().len(),
            density: None,
            normalized: s.normalize,
        },
        models: vec![page::ModelSummary {
            name: MODEL.to_owned(),
            rank,
            total_error: Some((squared / data.squared_norm()).sqrt()),
        }],
        who_pays: page::WhoPays {
            baseline_runs: s.baseline_runs,
            groups: (0..data.groups().len()).map(|l| group(data, rank, l, found, s)).collect(),
        },
        is_it_real: is_it_real(data, found, s),
        topics: Some(page::Topics {
            topics: (found.topics.iter().enumerate())
                .map(|(k, t)| topic(data, k, t, s.feature_names.as_deref()))
                .collect(),
        }),
        min_group_size: s.min_group_size,
        ..page::Report::default()
    }
}

fn group<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    l: usize,
    found: &Findings<T>,
    s: &PageSettings,
) -> page::GroupOutcome {
    let group = &data.groups()[l];
    // N is positive by validation.
    let share = |error: f64| error / group.norm();
    page::GroupOutcome {
        name: group.name.clone(),
        rows: group.rows.len(),
        norm: Some(group.norm()),
        baseline_error: share(s.baselines[l]),
        baseline_std: s.baseline_spreads.as_ref().map(|spreads| share(spreads[l])),
        small_group: fairer_nmf::is_small(group.rows.len(), rank),
        results: vec![page::ModelResult {
            relative_error: found.evaluation.relative_errors[l],
            loss: found.evaluation.losses[l],
        }],
    }
}

fn is_it_real<T: Element>(
    data: &GroupedData<'_, T>,
    found: &Findings<T>,
    s: &PageSettings,
) -> Option<page::IsItReal> {
    let (bootstrap, permutation) = (found.bootstrap.as_ref(), found.permutation.as_ref());
    bootstrap.map(|_| ()).or(permutation.map(|_| ()))?;
    let interval = |i: &fairer_nmf::Interval| page::Interval { lo: i.low, hi: i.high };
    let evidence = |(l, group): (usize, &fairer_nmf::Group)| page::Evidence {
        group: group.name.clone(),
        model: MODEL.to_owned(),
        relative_error: bootstrap.map(|b| interval(&b.groups[l].relative_error)),
        loss: bootstrap.map(|b| interval(&b.groups[l].loss)),
        p_value: permutation.map(|p| p.groups[l].relative_error.p),
        held_out_loss: None,
    };
    Some(page::IsItReal {
        level: s.level,
        draws: bootstrap.map_or(0, |b| b.draws),
        mode: page::BootstrapMode::DictionaryFixed,
        permutation: permutation.map(|p| page::Permutation {
            draws: p.draws,
            tested: "the group's error with that of random groups of its size".to_owned(),
        }),
        evidence: data.groups().iter().enumerate().map(evidence).collect(),
    })
}

fn topic<T: Element>(
    data: &GroupedData<'_, T>,
    k: usize,
    topic: &Topic,
    names: Option<&[String]>,
) -> page::Topic {
    let name = |j: usize| match names.and_then(|names| names.get(j)) {
        Some(name) => name.clone(),
        None => format!("feature {j}"),
    };
    page::Topic {
        name: format!("Topic {}", k + 1),
        features: (topic.features.iter())
            .map(|f| page::Feature { name: name(f.feature), weight: f.share })
            .collect(),
        usage: (data.groups().iter().zip(&topic.group_use))
            .map(|(group, &share)| page::Usage { group: group.name.clone(), share })
            .collect(),
        main_group: topic.main_group.map(|l| data.groups()[l].name.clone()),
        matched: None,
    }
}
