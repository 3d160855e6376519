//! From the results of the library `fairer-nmf` to a [`Report`](crate::Report): what the program
//! and the Python package share, so that both write the same page. No statistics here either.

use fairer_nmf::audit::{
    self, Comparison, GroupAudit, GroupChances, GroupChange, Individuals, Permutation, Remark,
    Role, VerdictCode,
};
use fairer_nmf::{
    Element, GroupedData, Method, Model, Status, audit::AuditReport, baseline::GroupBaseline,
    fit::Allowance,
};

use crate::content as page;
pub use crate::escape::YOURS;

/// An audit, under the name that the page gives the dictionary.
#[derive(Clone, Copy, Debug)]
struct Audited<'a> {
    /// Display name, as in [`ModelSummary::name`](crate::ModelSummary::name).
    name: &'a str,
    /// Who it is in the comparison.
    role: Role,
    /// What the library found.
    audit: &'a AuditReport,
}

/// A fit, under the name that the page gives the model.
#[derive(Clone, Copy, Debug)]
struct Fitted<'a> {
    /// Display name, as in [`ModelSummary::name`](crate::ModelSummary::name).
    name: &'a str,
    /// The model.
    model: &'a Model,
    /// Seconds the fit took, where that is known.
    seconds: Option<f64>,
}

/// What a page says besides numbers.
#[derive(Clone, Debug, Default)]
pub struct About<'a> {
    /// Heading of the page.
    pub title: String,
    /// By what it was made.
    pub generated: String,
    /// The command that makes it again.
    pub command: Option<String>,
    /// Names of the features, in column order; where there are none they are numbered.
    pub features: &'a [String],
    /// How features were scaled: `features`, `none`, or `model`.
    pub normalize: &'a str,
    /// The seed of the fits and draws.
    pub seed: u64,
    /// Remarks on the data.
    pub notes: Vec<String>,
    /// Things to know before reading on.
    pub warnings: Vec<page::Remark>,
    /// Groups with fewer rows are hidden; 0 hides none.
    pub min_group_size: usize,
}

/// The page of a comparison; `fitted` is the model whose dictionary it is about, where it is ours,
/// with the seconds of its fit where they are known.
pub fn report<T: Element>(
    about: About<'_>,
    data: &GroupedData<'_, T>,
    found: &Comparison,
    baselines: &[GroupBaseline],
    fitted: Option<(&Model, Option<f64>)>,
    global_bound: Option<f64>,
) -> page::Report {
    let title = |role| title(role, found.method);
    let shown: Vec<Audited<'_>> = (found.in_order().into_iter())
        .map(|(role, audit)| Audited { name: title(role), role, audit })
        .collect();
    let fits = found.in_order().into_iter().filter_map(|(role, _)| match found.peer(role) {
        Some(peer) => {
            let seconds = Some(peer.fit_time.as_secs_f64());
            Some(Fitted { name: title(role), model: &peer.model, seconds })
        }
        None => fitted.map(|(model, seconds)| Fitted { name: title(role), model, seconds }),
    });
    let criterion = match found.subject.criterion_name() {
        "loss" => page::Criterion::Loss,
        _ => page::Criterion::ExcessLoss,
    };
    let main = Audited { name: title(Role::Subject), role: Role::Subject, audit: &found.subject };
    let reference = found.standard.as_ref().map(|_| title(Role::Standard));
    let feature = |j: usize| about.features.get(j).cloned().unwrap_or_else(|| format!("f{j}"));
    page::Report {
        title: about.title,
        subtitle: format!("{} of rank {}", main.name, main.audit.rank),
        generated: about.generated,
        command: about.command,
        data: data_summary(data),
        settings: settings::<T>(found, about.seed, about.normalize, fitted.map(|(model, _)| model)),
        models: models(&shown),
        who_pays: page::WhoPays {
            baseline_runs: baselines.first().map_or(0, |b| b.run_errors.len()),
            groups: (baselines.iter().enumerate())
                .map(|(l, baseline)| page::GroupOutcome {
                    group: page::Group {
                        allowance: (found.subject.options.allowances.get(l))
                            .filter(|_| criterion == page::Criterion::ExcessLoss)
                            .map(|a| a.chance),
                        ..group(&found.subject.groups[l], baseline)
                    },
                    results: shown.iter().map(|a| result(a.audit, main.audit, l)).collect(),
                    feature_errors: (shown[0].audit.feature_errors.get(l).into_iter().flatten())
                        .map(|f| page::FeatureError {
                            name: feature(f.feature),
                            share: f.share,
                            share_of_all: f.share_of_all,
                        })
                        .collect(),
                })
                .collect(),
        },
        verdict: Some(verdict(found)),
        is_it_real: is_it_real(main.audit, &shown),
        cost: (found.change.as_ref()).map(|change| cost(&found.subject, change, criterion)),
        quality: Some(quality(fits, global_bound, criterion, &found.subject)),
        topics: Some(topics(main, reference, feature)),
        warnings: [about.warnings, found.remarks.iter().filter_map(remark).collect()].concat(),
        notes: about.notes.into_iter().chain(data.weights_note().map(str::to_owned)).collect(),
        min_group_size: about.min_group_size,
        ..page::Report::default()
    }
}

/// The display name of a model that weighs the total error against the worst loss.
const BETWEEN: &str = "Fairer-NMF in part";

/// The display name of a model of a comparison, of which `method` fitted the subject.
pub fn title(role: Role, method: Option<Method>) -> &'static str {
    match role {
        Role::Subject => match method {
            Some(method) if between(&method.fairness()) => BETWEEN,
            method => method.map_or(YOURS, |method| method_title(method.name())),
        },
        Role::Standard => method_title("standard"),
        Role::Fairer => method_title("am"),
    }
}

/// The display name of a method.
pub fn method_title(method: &str) -> &'static str {
    match method {
        "am" => "Fairer-NMF (AM)",
        "mu" => "Fairer-NMF (MU)",
        "standard" => "Standard NMF",
        "worst-share" => "Worst share of rows",
        _ => YOURS,
    }
}

/// A remark on a peer; parts that a stop has left out are the caller's, who knows of the stop.
pub fn remark(remark: &Remark) -> Option<page::Remark> {
    let who = |role: Role| match role {
        Role::Subject => "the dictionary",
        Role::Standard => "standard NMF",
        Role::Fairer => "Fairer-NMF",
    };
    let (code, sentence) = match *remark {
        Remark::NotConverged { role, status: Status::TimeLimit, .. } => (
            "peer-not-converged",
            format!("{}, the comparison, did not converge within the time limit", who(role)),
        ),
        Remark::NotConverged { role, max_iterations, .. } => (
            "peer-not-converged",
            format!(
                "{}, the comparison, did not converge within {max_iterations} iterations",
                who(role)
            ),
        ),
        Remark::OutOfTime { role } => {
            ("peer-out-of-time", format!("no time was left to fit {} for comparison", who(role)))
        }
        _ => return None,
    };
    Some(page::Remark { code: code.to_owned(), sentence })
}

/// What the audit says first, in the words of the library.
pub fn verdict(found: &Comparison) -> page::Verdict {
    let said = found.verdict();
    page::Verdict {
        code: match said.code {
            VerdictCode::Evidence => page::VerdictCode::Evidence,
            VerdictCode::NoEvidence => page::VerdictCode::NoEvidence,
            VerdictCode::TooFewRows => page::VerdictCode::TooFewRows,
            VerdictCode::NotTested => page::VerdictCode::NotTested,
        },
        group: said.group.clone(),
        excess_loss: said.excess_loss,
        difference: said.difference,
        adjusted_p: said.adjusted_p,
        sentence: said.sentence.clone(),
        notes: said.notes.clone(),
    }
}

/// The parts that stops have left out of the audits, in words.
pub fn missing_parts(remarks: &[Remark]) -> Option<String> {
    let part = |remark: &Remark| match *remark {
        Remark::Unfinished { role, part } => Some(match role {
            Role::Subject => part.name().to_owned(),
            Role::Standard => format!("{} of standard NMF", part.name()),
            Role::Fairer => format!("{} of Fairer-NMF", part.name()),
        }),
        _ => None,
    };
    let parts: Vec<String> = remarks.iter().filter_map(part).collect();
    Some(match parts.split_last()? {
        (last, []) => last.clone(),
        (last, others) => format!("{} and {last}", others.join(", ")),
    })
}

/// Whether a fairness is neither that of standard NMF nor that of Fairer-NMF.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "what `Option::filter` hands over")]
fn between(fairness: &f64) -> bool {
    *fairness > 0.0 && *fairness < 1.0
}

fn settings<T: Element>(
    found: &Comparison,
    seed: u64,
    normalize: &str,
    model: Option<&Model>,
) -> Vec<page::Setting> {
    let mut settings = vec![
        setting("method", found.method.map_or("given", |method| method.name())),
        setting("rank", found.subject.rank),
        setting("seed", seed),
        setting("normalize", normalize),
        setting("precision", T::NAME),
    ];
    if let Some(fairness) = found.method.map(|method| method.fairness()).filter(between) {
        settings.insert(1, setting("fairness", fairness));
    }
    if let Some(model) = model {
        let p = &model.parameters;
        settings.push(setting("n_init", p.n_init));
        settings.push(setting("tolerance", p.stopping.tolerance));
        settings.push(setting("max_iterations", p.stopping.max_iterations));
    }
    settings
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
fn density<T: Element>(data: &GroupedData<'_, T>) -> f64 {
    let nonzeros = data.nonzeros();
    nonzeros as f64 / (data.rows() as f64 * data.features() as f64)
}

/// The models of the page, in its order.
fn models(audits: &[Audited<'_>]) -> Vec<page::ModelSummary> {
    let summary = |Audited { name, role, audit }: &Audited<'_>| page::ModelSummary {
        name: (*name).to_owned(),
        role: match role {
            Role::Subject => page::Role::Subject,
            Role::Standard => page::Role::Standard,
            Role::Fairer => page::Role::Fairer,
        },
        rank: audit.rank,
        total_error: Some(audit.total_error),
    };
    audits.iter().map(summary).collect()
}

/// A group, whatever the model.
pub fn group(group: &GroupAudit, baseline: &GroupBaseline) -> page::Group {
    // N is positive by validation.
    let share = |error: f64| error / group.norm;
    page::Group {
        name: group.name.clone(),
        family: group.family.clone(),
        rows: group.rows,
        effective_rows: group.effective_rows,
        observed: None,
        norm: Some(group.norm),
        baseline_error: Some(baseline.error),
        relative_baseline: share(baseline.error),
        relative_baseline_sd: baseline.spread().map(share),
        small: group.small,
        outside: group.outside,
        allowance: None,
    }
}

/// The row of results of group `l`: `audit` is of its dictionary, `main` the audit in full of the
/// comparison.
pub fn result(audit: &AuditReport, main: &AuditReport, l: usize) -> page::GroupResult {
    let group = &audit.groups[l];
    // Where everything was fitted anew, since somebody asked for it, that is shown; else the limits
    // that hold for small groups. Those of a bootstrap with the dictionary fixed do not.
    let anew = audit.bootstrap_refit.as_ref().map(|b| &b.groups[l]);
    let ranges = audit.differences.as_ref().map(|d| &d.groups[l]);
    let error = anew.map(|i| (i.relative_error.low, i.relative_error.high));
    let error = error.or(ranges.map(|d| (d.relative_error.low, d.relative_error.high)));
    let loss = anew.map(|i| (i.loss.low, i.loss.high));
    let loss = loss.or(ranges.map(|d| (d.loss.low, d.loss.high)));
    // A group's own dictionary does not depend on the shared one: its held-out error was measured
    // once, in the audit in full, and holds for all models.
    let own = main.held_out.as_ref().and_then(|h| h.groups[l].relative_baseline);
    let chance = audit.chance.as_ref().map(|c| &c.groups[l]);
    let differs = audit.differences.as_ref().map(|d| &d.groups[l]);
    page::GroupResult {
        relative_error: group.relative_error,
        relative_error_low: error.map(|(low, _)| low),
        relative_error_high: error.map(|(_, high)| high),
        loss: group.loss,
        loss_low: loss.map(|(low, _)| low),
        loss_high: loss.map(|(_, high)| high),
        held_out_loss: own.map(|own| group.relative_error - own),
        p_value: permutation(audit).map(|p| p_value(&p.groups[l])),
        chance_mean: chance.map(|c| c.mean),
        chance_low: chance.map(|c| c.low),
        chance_high: chance.map(|c| c.high),
        excess_loss: chance.map(|c| c.excess_loss),
        difference: differs.map(|d| d.difference.estimate),
        difference_low: differs.map(|d| d.difference.low),
        difference_high: differs.map(|d| d.difference.high),
        adjusted_p: differs.map(|d| d.adjusted_p),
    }
}

/// How often chance does as badly: by the loss where every random group got a baseline of its
/// own, else by the error.
fn p_value(chances: &GroupChances) -> f64 {
    chances.loss.as_ref().unwrap_or(&chances.relative_error).p
}

/// Section 2, where anything was asked for that belongs there: `main` is the audit in full,
/// `audits` are those of all models of the page, in its order.
fn is_it_real(main: &AuditReport, audits: &[Audited<'_>]) -> Option<page::IsItReal> {
    let shown =
        |a: &Audited<'_>| a.audit.differences.is_some() || a.audit.bootstrap_refit.is_some();
    let tested = permutation(main).is_some() || main.held_out.is_some();
    if !(tested || audits.iter().any(shown)) {
        return None;
    }
    Some(page::IsItReal { level: main.options.level, draws: audits.iter().map(draws).collect() })
}

/// The test that is shown, likewise.
fn permutation(audit: &AuditReport) -> Option<&Permutation> {
    audit.permutation_refit.as_ref().or(audit.permutation.as_ref())
}

fn draws(Audited { name, audit, .. }: &Audited<'_>) -> page::ModelDraws {
    page::ModelDraws {
        model: (*name).to_owned(),
        bootstrap: audit
            .bootstrap_refit
            .as_ref()
            .map(|b| page::Bootstrap { draws: b.draws, mode: page::BootstrapMode::Refit }),
        unseen: audit.differences.is_some(),
        permutation: permutation(audit).map(|p| page::Permutation {
            draws: p.draws,
            tested: match p.refit {
                true => page::Tested::Loss,
                false => page::Tested::RelativeError,
            },
        }),
    }
}

/// Section 3: what the last model of the page changes for the groups and samples of the first, and
/// the curve between total error and worst loss.
fn cost(
    subject: &AuditReport,
    individuals: &Individuals,
    criterion: page::Criterion,
) -> page::Cost {
    let (groups, trade_off) = (&subject.groups, &subject.trade_off);
    let point = |p: &audit::TradeOffPoint| page::TradeOffPoint {
        alpha: p.alpha,
        total_error: p.total_error,
        worst_loss: p.worst_loss,
        worst_criterion: p.worst_criterion,
    };
    let change = |(group, change): (&GroupAudit, &GroupChange)| page::Change {
        group: group.name.clone(),
        change: change.change,
        share_worse: Some(change.share_worse),
    };
    page::Cost {
        curve: trade_off.iter().flat_map(|t| &t.points).map(point).collect(),
        criterion,
        changes: groups.iter().zip(&individuals.groups).map(change).collect(),
        share_worse: Some(individuals.share_worse),
    }
}

/// Section 4: the fits in the order of the models, and the bound that holds for all of them.
fn quality<'a>(
    fits: impl IntoIterator<Item = Fitted<'a>>,
    global_bound: Option<f64>,
    criterion: page::Criterion,
    subject: &AuditReport,
) -> page::Quality {
    let allowances = &subject.options.allowances;
    let fit = |Fitted { name, model, seconds }: Fitted<'a>| page::FitQuality {
        model: name.to_owned(),
        status: match model.status {
            Status::Converged => page::FitStatus::Converged,
            Status::IterationLimit => page::FitStatus::IterationLimit,
            Status::TimeLimit => page::FitStatus::TimeLimit,
            Status::Stopped => page::FitStatus::Stopped,
        },
        iterations: model.iterations(),
        seconds,
        history: model
            .history
            .iter()
            .map(|losses| worst_inside(model, losses, allowances))
            .collect(),
        step_gap: model.step_gap,
        global_bound,
    };
    page::Quality { criterion, fits: fits.into_iter().map(fit).collect() }
}

/// The largest of what an iteration reached over the groups inside the maximum. A fit that allowed for
/// nothing has losses in its history.
fn worst_inside(model: &Model, losses: &[f64], allowances: &[Allowance]) -> f64 {
    let of = |l: usize| {
        let allowed = allowances.get(l).copied().unwrap_or_default();
        let later = if model.groups[l].chance.is_some() { 0.0 } else { allowed.chance };
        (!allowed.outside).then_some(losses[l] - later)
    };
    (0..losses.len()).filter_map(of).fold(f64::NEG_INFINITY, f64::max)
}

/// Section 6: the topics of a dictionary, and the name of the one they were matched with;
/// `feature` gives the name of a column.
fn topics(
    Audited { name, audit, .. }: Audited<'_>,
    reference: Option<&str>,
    feature: impl Fn(usize) -> String,
) -> page::Topics {
    let topic = |(k, topic): (usize, &audit::Topic)| page::Topic {
        name: format!("Topic {}", k + 1),
        features: (topic.features.iter())
            .map(|f| page::Feature { name: feature(f.feature), share: f.share })
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

/// By what and on which day a page was made.
pub fn made_by(program: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = now.map_or(0, |now| now.as_secs() / 86_400);
    format!("{}, made by {program}", date(days))
}

/// The date so many days after 1 January 1970 (Hinnant's days-to-civil).
fn date(days: u64) -> String {
    const MONTHS: [&str; 12] = [
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "January",
        "February",
    ];
    // Counted from 1 March 0000, so that leap days come last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let year = 400 * era + year + u64::from(month >= 10);
    format!("{} {} {year}", day - (153 * month + 2) / 5 + 1, MONTHS[month as usize])
}

/// A setting of the run.
pub fn setting(name: &str, value: impl std::fmt::Display) -> page::Setting {
    page::Setting { name: name.to_owned(), value: value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_dates() {
        // As `date -u -d @$((86400 * N))` has them.
        for (days, expected) in [
            (0, "1 January 1970"),
            (59, "1 March 1970"),
            (11_016, "29 February 2000"),
            (19_782, "29 February 2024"),
            (20_453, "31 December 2025"),
            (20_772, "15 November 2026"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
