//! From the library's results to the page of `fairer-nmf-report`: the one place that knows both.

use fairer_nmf::{AuditReport, Element, GroupedData, Matrix, Model};
use fairer_nmf_report as page;

use crate::auditing::{Audits, p_value};
use crate::commands::{Sweep, mean_and_sd};
use crate::export::method_title;
use crate::outcome::{GroupOutcome, Outcome};

/// A model and the seconds its fit took.
pub(crate) type Timed<'a> = (&'a Model, Option<f64>);

/// What a page is about.
pub(crate) struct Subject<'a> {
    pub title: String,
    /// Names of the features, in column order.
    pub features: &'a [String],
    pub min_group_size: usize,
    /// Where a remark belongs to the data.
    pub notes: Vec<String>,
}

/// The last part of a path: enough for a title.
pub(crate) fn short_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// The page of a fit or an audit: `model` where it is ours, `standard` where it is compared, each
/// with the seconds its fit took, where that is known.
pub(crate) fn of_audit<T: Element>(
    subject: &Subject<'_>,
    data: &GroupedData<'_, T>,
    outcome: &Outcome,
    audits: &Audits,
    model: Option<Timed<'_>>,
    standard: Option<Timed<'_>>,
) -> String {
    let audit = &audits.main;
    let names = Names::new(outcome, standard.is_some());
    let report = page::Report {
        subtitle: format!("{} of rank {}", names.main, outcome.rank),
        settings: settings(outcome, model.map(|(model, _)| model)),
        models: models(&names, audit),
        who_pays: page::WhoPays {
            baseline_runs: outcome.baseline_runs,
            groups: outcome.groups.iter().map(|g| group(g, outcome.rank)).collect(),
        },
        is_it_real: is_it_real(&names, audits),
        cost: cost(audit),
        quality: Some(quality(&names, outcome, model, standard)),
        topics: Some(topics(audit, subject.features)),
        warnings: outcome.warnings.clone(),
        ..about(subject, data)
    };
    page::render_html(&report)
}

/// The page of a sweep: every rank, and the largest one in detail.
pub(crate) fn of_sweep<T: Element>(
    subject: &Subject<'_>,
    data: &GroupedData<'_, T>,
    sweep: &Sweep,
) -> String {
    let rank = sweep.records.iter().map(|r| r.rank).max().unwrap_or(0);
    // The page compares its first model with its last.
    let order = ["standard", "mu", "am"];
    let methods: Vec<&str> = order.into_iter().filter(|m| sweep.methods.contains(m)).collect();
    let first = methods.first().copied().unwrap_or("standard");
    let group = |name: &str| {
        let records = || sweep.records.iter().filter(move |r| r.group == name && r.rank == rank);
        let some = records().next()?;
        let mean = |method: &str, value: &dyn Fn(&crate::commands::Record) -> f64| {
            let values: Vec<f64> = records().filter(|r| r.method == method).map(value).collect();
            mean_and_sd(&values).map_or(f64::NAN, |(mean, _)| mean)
        };
        let result = |method: &&str| page::ModelResult {
            relative_error: mean(method, &|r| r.relative_error),
            loss: mean(method, &|r| r.loss),
        };
        Some(page::GroupOutcome {
            name: name.to_owned(),
            rows: some.rows,
            norm: Some(some.norm),
            baseline_error: mean(first, &|r| r.baseline_error / r.norm),
            baseline_std: some
                .baseline_std
                .map(|_| mean(first, &|r| r.baseline_std.unwrap_or(f64::NAN) / r.norm)),
            small_group: fairer_nmf::is_small(some.rows, rank),
            results: methods.iter().map(result).collect(),
        })
    };
    let total = |name: &&str| page::ModelSummary {
        name: method_title(name).to_owned(),
        rank,
        total_error: None,
    };
    let names = data.groups().iter().map(|g| g.name.as_str());
    let report = page::Report {
        subtitle: format!(
            "Ranks {}; section 1 shows rank {rank}, means over {} trials",
            sweep.ranks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            sweep.trials
        ),
        settings: vec![
            setting("methods", sweep.methods.join(", ")),
            setting("trials", sweep.trials),
            setting("seed", sweep.seed),
        ],
        models: methods.iter().map(total).collect(),
        who_pays: page::WhoPays {
            baseline_runs: sweep.baseline_runs,
            groups: names.clone().filter_map(group).collect(),
        },
        ranks: Some(page::Ranks {
            threshold: sweep.threshold,
            trials: sweep.trials,
            series: methods
                .iter()
                .flat_map(|method| names.clone().map(move |name| series(sweep, method, name)))
                .collect(),
        }),
        warnings: sweep.warnings.clone(),
        ..about(subject, data)
    };
    page::render_html(&report)
}

fn series(sweep: &Sweep, method: &str, group: &str) -> page::RankSeries {
    let point = |&rank: &usize| {
        let of =
            |r: &&crate::commands::Record| r.rank == rank && r.group == group && r.method == method;
        let records = || sweep.records.iter().filter(of);
        let errors: Vec<f64> = records().map(|r| r.relative_error).collect();
        let losses: Vec<f64> = records().map(|r| r.loss).collect();
        let (error_mean, error_sd) = mean_and_sd(&errors)?;
        let (loss_mean, loss_sd) = mean_and_sd(&losses)?;
        let sd = |sd: Option<f64>| sd.unwrap_or(0.0);
        Some(page::RankPoint {
            rank,
            error_mean,
            error_sd: sd(error_sd),
            loss_mean,
            loss_sd: sd(loss_sd),
        })
    };
    page::RankSeries {
        method: method_title(method).to_owned(),
        group: group.to_owned(),
        points: sweep.ranks.iter().filter_map(point).collect(),
    }
}

/// What every page says about its data.
fn about<T: Element>(subject: &Subject<'_>, data: &GroupedData<'_, T>) -> page::Report {
    page::Report {
        title: subject.title.clone(),
        generated: format!("Made by fairer-nmf {}", env!("CARGO_PKG_VERSION")),
        command: Some(command()),
        data: page::DataSummary {
            rows: data.rows(),
            features: data.features(),
            groups: data.groups().len(),
            density: Some(density(data)),
            normalized: data.scale().is_some(),
        },
        notes: subject.notes.clone(),
        min_group_size: subject.min_group_size,
        ..page::Report::default()
    }
}

/// The display names of the models.
struct Names {
    main: String,
    standard: Option<String>,
}

impl Names {
    fn new(outcome: &Outcome, compared: bool) -> Self {
        let main = match outcome.method.as_str() {
            "given" => "Your dictionary",
            method => method_title(method),
        };
        let standard = (compared && main != "Standard NMF").then(|| "Standard NMF".to_owned());
        Self { main: main.to_owned(), standard }
    }
}

fn models(names: &Names, audit: &AuditReport) -> Vec<page::ModelSummary> {
    let summary = |name: &String, total_error| page::ModelSummary {
        name: name.clone(),
        rank: audit.rank,
        total_error,
    };
    let reference = audit.individuals.as_ref().map(|i| i.reference_total_error);
    let standard = names.standard.as_ref().map(|name| summary(name, reference));
    standard.into_iter().chain([summary(&names.main, Some(audit.total_error))]).collect()
}

fn group(group: &GroupOutcome, rank: usize) -> page::GroupOutcome {
    let own = page::ModelResult { relative_error: group.relative_error, loss: group.loss };
    let standard = group.standard_relative_error.zip(group.standard_loss);
    let standard =
        standard.map(|(relative_error, loss)| page::ModelResult { relative_error, loss });
    page::GroupOutcome {
        name: group.name.clone(),
        rows: group.rows,
        norm: Some(group.norm),
        // N is positive by validation.
        baseline_error: group.baseline_error / group.norm,
        baseline_std: group.baseline_std.map(|spread| spread / group.norm),
        small_group: fairer_nmf::is_small(group.rows, rank),
        results: standard.into_iter().chain([own]).collect(),
    }
}

fn is_it_real(names: &Names, audits: &Audits) -> Option<page::IsItReal> {
    let main = &audits.main;
    // Where everything was fitted anew, that is the better answer.
    let bootstrap = main.bootstrap_refit.as_ref().or(main.bootstrap.as_ref());
    let permutation = main.permutation_refit.as_ref().or(main.permutation.as_ref());
    if bootstrap.is_none() && permutation.is_none() && main.held_out.is_none() {
        return None;
    }
    let interval = |i: &fairer_nmf::Interval| page::Interval { lo: i.low, hi: i.high };
    let evidence = |audit: &AuditReport, model: &str| -> Vec<page::Evidence> {
        let bootstrap = audit.bootstrap_refit.as_ref().or(audit.bootstrap.as_ref());
        let permutation = audit.permutation_refit.as_ref().or(audit.permutation.as_ref());
        let of = |(l, group): (usize, &fairer_nmf::GroupAudit)| page::Evidence {
            group: group.name.clone(),
            model: model.to_owned(),
            relative_error: bootstrap.map(|b| interval(&b.groups[l].relative_error)),
            loss: bootstrap.map(|b| interval(&b.groups[l].loss)),
            p_value: permutation.map(|p| p_value(&p.groups[l])),
            held_out_loss: audit.held_out.as_ref().and_then(|h| h.groups[l].loss),
        };
        audit.groups.iter().enumerate().map(of).collect()
    };
    let mut all = Vec::new();
    if let (Some(audit), Some(name)) = (&audits.standard, &names.standard) {
        all.extend(evidence(audit, name));
    }
    all.extend(evidence(main, &names.main));
    Some(page::IsItReal {
        level: main.options.level,
        draws: bootstrap.map_or(0, |b| b.draws),
        mode: match bootstrap.is_some_and(|b| b.refit) {
            true => page::BootstrapMode::Refit,
            false => page::BootstrapMode::DictionaryFixed,
        },
        permutation: permutation.map(|p| page::Permutation {
            draws: p.draws,
            tested: match p.refit {
                true => "the group's loss with that of random groups of its size, each with a baseline of its own",
                false => "the group's error with that of random groups of its size",
            }
            .to_owned(),
        }),
        evidence: all,
    })
}

fn cost(audit: &AuditReport) -> Option<page::Cost> {
    let individuals = audit.individuals.as_ref()?;
    let point = |p: &fairer_nmf::TradeOffPoint| page::TradeOffPoint {
        alpha: p.alpha,
        total_error: p.total_error,
        worst_loss: p.worst_loss,
    };
    let change =
        |(group, change): (&fairer_nmf::GroupAudit, &fairer_nmf::GroupChange)| page::Change {
            group: group.name.clone(),
            change: change.change,
            share_of_samples_worse: Some(change.share_worse),
        };
    Some(page::Cost {
        curve: audit.trade_off.iter().flat_map(|t| &t.points).map(point).collect(),
        changes: audit.groups.iter().zip(&individuals.groups).map(change).collect(),
        share_of_samples_worse: Some(individuals.share_worse),
    })
}

fn quality(
    names: &Names,
    outcome: &Outcome,
    model: Option<Timed<'_>>,
    standard: Option<Timed<'_>>,
) -> page::Quality {
    let fit = |name: &str, (model, seconds): Timed<'_>| page::FitQuality {
        model: name.to_owned(),
        status: match model.status {
            fairer_nmf::Status::Converged => "converged",
            fairer_nmf::Status::IterationLimit => "reached the iteration limit",
            fairer_nmf::Status::TimeLimit => "reached the time limit",
            fairer_nmf::Status::Stopped => "was stopped",
        }
        .to_owned(),
        converged: model.status == fairer_nmf::Status::Converged,
        iterations: model.iterations(),
        seconds,
        history: model
            .history
            .iter()
            .map(|losses| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .collect(),
        step_gap: model.step_gap,
        global_bound: outcome.global_bound,
    };
    let mut fits = Vec::new();
    if let (Some(standard), Some(name)) = (standard, &names.standard) {
        fits.push(fit(name, standard));
    }
    fits.extend(model.map(|model| fit(&names.main, model)));
    page::Quality { fits, sentence: None }
}

fn topics(audit: &AuditReport, features: &[String]) -> page::Topics {
    let topic = |(k, topic): (usize, &fairer_nmf::Topic)| page::Topic {
        name: format!("Topic {}", k + 1),
        features: topic
            .features
            .iter()
            .map(|f| page::Feature {
                name: features.get(f.feature).cloned().unwrap_or_else(|| format!("f{}", f.feature)),
                weight: f.share,
            })
            .collect(),
        usage: (audit.groups.iter().zip(&topic.group_use))
            .map(|(group, &share)| page::Usage { group: group.name.clone(), share })
            .collect(),
        main_group: topic.main_group.map(|l| audit.groups[l].name.clone()),
        matched: audit.topic_matches.iter().flatten().find(|m| m.topic == k).map(|m| {
            page::TopicMatch {
                topic: format!("Topic {}", m.reference + 1),
                similarity: m.similarity,
            }
        }),
    };
    page::Topics { topics: audit.topics.iter().enumerate().map(topic).collect() }
}

fn settings(outcome: &Outcome, model: Option<&Model>) -> Vec<page::Setting> {
    let mut settings = vec![
        setting("method", &outcome.method),
        setting("rank", outcome.rank),
        setting("seed", outcome.seed),
        setting("normalize", outcome.data.normalize),
        setting("precision", outcome.data.precision),
    ];
    if let Some(model) = model {
        let p = &model.parameters;
        settings.push(setting("n_init", p.n_init));
        settings.push(setting("tolerance", p.stopping.tolerance));
        settings.push(setting("max_iterations", p.stopping.max_iterations));
    }
    settings
}

fn setting(name: &str, value: impl std::fmt::Display) -> page::Setting {
    page::Setting { name: name.to_owned(), value: value.to_string() }
}

/// Share of entries that are not zero.
fn density<T: Element>(data: &GroupedData<'_, T>) -> f64 {
    let nonzeros = match data.matrix() {
        Matrix::Dense(view) => view.iter().filter(|v| v.to_f64() != 0.0).count(),
        Matrix::Sparse(csr) => csr.stored(),
    };
    // Neither side is zero by validation.
    nonzeros as f64 / (data.rows() as f64 * data.features() as f64)
}

/// The command that was typed, quoted for a shell.
fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into()));
    std::iter::once("fairer-nmf".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
