//! From the results of the library `fairer-nmf` to a [`Report`](crate::Report): what the program
//! and the Python package share, so that both write the same page. No statistics here either.

use fairer_nmf::{
    AuditReport, Bootstrap, Element, GroupAudit, GroupChances, GroupChange, GroupedData,
    Individuals, Matrix, Model, Permutation, Status, TradeOff,
};

use crate::content as page;
pub use crate::escape::YOURS;

/// An audit, under the name that the page gives the dictionary.
#[derive(Clone, Copy, Debug)]
pub struct Audited<'a> {
    /// Display name, as in [`ModelSummary::name`](crate::ModelSummary::name).
    pub name: &'a str,
    /// What the library found.
    pub audit: &'a AuditReport,
}

/// A fit, under the name that the page gives the model.
#[derive(Clone, Copy, Debug)]
pub struct Fitted<'a> {
    /// Display name, as in [`ModelSummary::name`](crate::ModelSummary::name).
    pub name: &'a str,
    /// The model.
    pub model: &'a Model,
    /// Seconds the fit took, where that is known.
    pub seconds: Option<f64>,
}

/// Shape and preparation of the data.
pub fn data_summary<T: Element>(data: &GroupedData<'_, T>) -> page::DataSummary {
    page::DataSummary {
        rows: data.rows(),
        features: data.features(),
        groups: data.groups().len(),
        density: Some(density(data)),
        normalized: data.scale().is_some(),
    }
}

/// Share of entries that are not zero.
pub fn density<T: Element>(data: &GroupedData<'_, T>) -> f64 {
    let nonzeros = match data.matrix() {
        Matrix::Dense(view) => view.iter().filter(|v| v.to_f64() != 0.0).count(),
        Matrix::Sparse(csr) => csr.stored(),
    };
    // Neither side is zero by validation.
    nonzeros as f64 / (data.rows() as f64 * data.features() as f64)
}

/// The order of a page's models: what one starts from comes first, the fairer model last. A fairer
/// model that is audited itself starts from standard NMF.
pub fn in_order<T>(
    main: T,
    is_fairer: bool,
    standard: Option<T>,
    fairer: Option<T>,
) -> impl Iterator<Item = T> {
    let (before, after) = if is_fairer { (standard, None) } else { (None, standard) };
    before.into_iter().chain([main]).chain(after).chain(fairer)
}

/// The models of the page, in its order.
pub fn models(audits: &[Audited<'_>]) -> Vec<page::ModelSummary> {
    let summary = |Audited { name, audit }: &Audited<'_>| page::ModelSummary {
        name: (*name).to_owned(),
        rank: audit.rank,
        total_error: Some(audit.total_error),
    };
    audits.iter().map(summary).collect()
}

/// A group; `spread` is the standard deviation of its baseline's runs, in the units of its norm,
/// and `results` are in the order of the models.
pub fn group(
    group: &GroupAudit,
    spread: Option<f64>,
    results: Vec<page::ModelResult>,
) -> page::GroupOutcome {
    // N is positive by validation.
    let share = |error: f64| error / group.norm;
    page::GroupOutcome {
        name: group.name.clone(),
        rows: group.rows,
        norm: Some(group.norm),
        relative_baseline: share(group.baseline_error),
        relative_baseline_std: spread.map(share),
        small_group: group.small,
        results,
    }
}

/// How often chance does as badly: by the loss where every random group got a baseline of its
/// own, else by the error.
pub fn p_value(chances: &GroupChances) -> f64 {
    chances.loss.as_ref().unwrap_or(&chances.relative_error).p
}

/// Section 2, where anything was asked for that belongs there: `main` is the audit in full,
/// `audits` are those of all models of the page, in its order.
pub fn is_it_real(main: &AuditReport, audits: &[Audited<'_>]) -> Option<page::IsItReal> {
    if bootstrap(main).is_none() && permutation(main).is_none() && main.held_out.is_none() {
        return None;
    }
    Some(page::IsItReal {
        level: main.options.level,
        draws: audits.iter().map(draws).collect(),
        evidence: audits.iter().flat_map(|&audited| evidence(audited, main)).collect(),
    })
}

/// The intervals that are shown: where everything was fitted anew, that is the better answer.
fn bootstrap(audit: &AuditReport) -> Option<&Bootstrap> {
    audit.bootstrap_refit.as_ref().or(audit.bootstrap.as_ref())
}

/// The test that is shown, likewise.
fn permutation(audit: &AuditReport) -> Option<&Permutation> {
    audit.permutation_refit.as_ref().or(audit.permutation.as_ref())
}

fn draws(Audited { name, audit }: &Audited<'_>) -> page::ModelDraws {
    page::ModelDraws {
        model: (*name).to_owned(),
        bootstrap: bootstrap(audit).map(|b| page::Bootstrap {
            draws: b.draws,
            mode: match b.refit {
                true => page::BootstrapMode::Refit,
                false => page::BootstrapMode::DictionaryFixed,
            },
        }),
        permutation: permutation(audit).map(|p| page::Permutation {
            draws: p.draws,
            tested: match p.refit {
                true => "the group's loss with that of random groups of its size, each with a baseline of its own",
                false => "the group's error with that of random groups of its size",
            }
            .to_owned(),
        }),
    }
}

fn evidence(Audited { name, audit }: Audited<'_>, main: &AuditReport) -> Vec<page::Evidence> {
    let interval = |i: &fairer_nmf::Interval| page::Interval { lo: i.low, hi: i.high };
    let (bootstrap, permutation) = (bootstrap(audit), permutation(audit));
    // A group's own dictionary does not depend on the shared one: its held-out error was measured
    // once, in the audit in full, and holds for all models.
    let own = |l: usize| main.held_out.as_ref().and_then(|h| h.groups[l].relative_baseline);
    let of = |(l, group): (usize, &GroupAudit)| page::Evidence {
        group: group.name.clone(),
        model: name.to_owned(),
        relative_error: bootstrap.map(|b| interval(&b.groups[l].relative_error)),
        loss: bootstrap.map(|b| interval(&b.groups[l].loss)),
        p_value: permutation.map(|p| p_value(&p.groups[l])),
        tested: match permutation.is_some_and(|p| p.groups[l].loss.is_some()) {
            true => page::Tested::Loss,
            false => page::Tested::Error,
        },
        held_out_loss: own(l).map(|own| group.relative_error - own),
    };
    audit.groups.iter().enumerate().map(of).collect()
}

/// Section 3: what the last model of the page changes for the groups and samples of the first, and
/// the curve between total error and worst loss.
pub fn cost(
    groups: &[GroupAudit],
    individuals: &Individuals,
    trade_off: Option<&TradeOff>,
) -> page::Cost {
    let point = |p: &fairer_nmf::TradeOffPoint| page::TradeOffPoint {
        alpha: p.alpha,
        total_error: p.total_error,
        worst_loss: p.worst_loss,
    };
    let change = |(group, change): (&GroupAudit, &GroupChange)| page::Change {
        group: group.name.clone(),
        change: change.change,
        share_of_samples_worse: Some(change.share_worse),
    };
    page::Cost {
        curve: trade_off.iter().flat_map(|t| &t.points).map(point).collect(),
        changes: groups.iter().zip(&individuals.groups).map(change).collect(),
        share_of_samples_worse: Some(individuals.share_worse),
    }
}

/// Section 4: the fits in the order of the models, and the bound that holds for all of them.
pub fn quality<'a>(
    fits: impl IntoIterator<Item = Fitted<'a>>,
    global_bound: Option<f64>,
) -> page::Quality {
    let fit = |Fitted { name, model, seconds }: Fitted<'a>| page::FitQuality {
        model: name.to_owned(),
        status: match model.status {
            Status::Converged => "converged",
            Status::IterationLimit => "reached the iteration limit",
            Status::TimeLimit => "reached the time limit",
            Status::Stopped => "was stopped",
        }
        .to_owned(),
        converged: model.status == Status::Converged,
        iterations: model.iterations(),
        seconds,
        history: model
            .history
            .iter()
            .map(|losses| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .collect(),
        step_gap: model.step_gap,
        global_bound,
    };
    page::Quality { fits: fits.into_iter().map(fit).collect(), sentence: None }
}

/// Section 6: the topics of a dictionary, and the name of the one they were matched with;
/// `feature` gives the name of a column.
pub fn topics(
    Audited { name, audit }: Audited<'_>,
    reference: Option<&str>,
    feature: impl Fn(usize) -> String,
) -> page::Topics {
    let topic = |(k, topic): (usize, &fairer_nmf::Topic)| page::Topic {
        name: format!("Topic {}", k + 1),
        features: (topic.features.iter())
            .map(|f| page::Feature { name: feature(f.feature), weight: f.share })
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
    page::Topics {
        model: Some(name.to_owned()),
        reference: reference.map(ToOwned::to_owned),
        topics: audit.topics.iter().enumerate().map(topic).collect(),
    }
}

/// A setting of the run.
pub fn setting(name: &str, value: impl std::fmt::Display) -> page::Setting {
    page::Setting { name: name.to_owned(), value: value.to_string() }
}
