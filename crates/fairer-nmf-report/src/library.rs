//! From the results of the library `fairer-nmf` to a [`Report`](crate::Report): what the program
//! and the Python package share, so that both write the same page. No statistics here either.

mod made;
mod normalized;
mod sections;

use fairer_nmf::audit::{Comparison, GroupAudit, Remark, Role};
use fairer_nmf::data::GroupRows;
use fairer_nmf::fit::{Choice, Minimised};
use fairer_nmf::stopping::Status;
use fairer_nmf::{
    GroupFit, GroupedData, Method, Model, Note, audit::AuditReport, baseline::GroupBaseline,
};

use crate::content::{self as page, Maker};
pub use crate::escape::YOURS;
pub use made::made_by;
pub use normalized::Normalized;
use sections::{cost, is_it_real, quality, topics};

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
    /// How features were scaled.
    pub normalize: Normalized,
    /// The seed of the fits and draws.
    pub seed: u64,
    /// Remarks on the data.
    pub notes: Vec<Note>,
    /// Things to know before reading on.
    pub warnings: Vec<page::Remark>,
    /// Groups with fewer rows are hidden; 0 hides none.
    pub min_group_size: usize,
}

/// The page of a comparison; `fitted` is the model whose dictionary it is about, where it is ours,
/// with the seconds of its fit where they are known.
pub fn report(
    about: About<'_>,
    data: &GroupedData<'_>,
    found: &Comparison,
    baselines: &[GroupBaseline],
    fitted: Option<(&Model, Option<f64>)>,
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
    let criterion = found.subject.minimised();
    let main = Audited { name: title(Role::Subject), role: Role::Subject, audit: &found.subject };
    let reference = found.standard.as_ref().map(|_| title(Role::Standard));
    let model = fitted.map(|(model, _)| model);
    let choices = choices(found, model);
    let settings = settings(found, &about, model, &choices, data);
    let found_by = model.and_then(|model| model.found_groups.as_ref()).map(|found| found.found_by);
    let left_alone = model.filter(|model| model.is_of(data)).and_then(Model::left_alone);
    let feature = |j: usize| about.features.get(j).cloned().unwrap_or_else(|| format!("f{j}"));
    page::Report {
        title: about.title,
        subtitle: format!(
            "{}, {} {}{}",
            main.name,
            main.audit.rank,
            if main.audit.rank == 1 { "topic" } else { "topics" },
            Choice::in_heading(&choices)
        ),
        generated: about.generated,
        command: about.command,
        data: data_summary(data),
        found_by,
        settings,
        models: models(&shown),
        who_pays: page::WhoPays {
            baseline_runs: baselines.first().map_or(0, |b| b.run_errors.len()),
            baseline_kind: (found.subject.options.baseline.as_ref()).and_then(page::Yardstick::of),
            groups: (baselines.iter().enumerate())
                .map(|(l, baseline)| page::GroupOutcome {
                    group: page::Group {
                        allowance: (found.subject.options.allowances.get(l))
                            .filter(|_| criterion == Minimised::AdjustedLoss)
                            .map(|a| a.loss),
                        ..group(&found.subject.groups[l], baseline, found.subject.rank)
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
        quality: Some(quality(fits, found.bound.value, criterion, &found.subject)),
        topics: Some(topics(main, reference, feature)),
        warnings: [about.warnings, found.remarks.iter().filter_map(remark).collect()].concat(),
        notes: (about.notes.into_iter().chain(left_alone))
            .chain(data.reader_notes())
            .chain(drawn(found))
            .map(page::Remark::from)
            .collect(),
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
            method => Maker::of(method).title(),
        },
        Role::Standard => Maker::Standard.title(),
        Role::Fairer => Maker::Am.title(),
    }
}

/// A remark on a model of the comparison; parts that a stop has left out are the caller's, who knows of the stop.
pub fn remark(remark: &Remark) -> Option<page::Remark> {
    let who = |role: Role| match role {
        Role::Subject => "the dictionary",
        Role::Standard => "standard NMF",
        Role::Fairer => "Fairer-NMF",
    };
    let itself = |role: Role| if role == Role::Subject { "this model" } else { who(role) };
    Some(match remark {
        Remark::NotConverged { role, status: Status::TimeLimit, .. } => page::Remark::new(
            "peer-not-converged",
            format!("{}, the comparison, did not converge within the time limit", who(*role)),
        ),
        Remark::NotConverged { role, max_iterations, .. } => page::Remark::new(
            "peer-not-converged",
            format!(
                "{}, the comparison, did not converge within {max_iterations} iterations",
                who(*role)
            ),
        ),
        Remark::OutOfTime { role } => page::Remark::new(
            "peer-out-of-time",
            format!("no time was left to fit {} for comparison", who(*role)),
        ),
        Remark::BetterPoint { role } => page::Remark::new(
            "better-on-the-curve",
            format!(
                "{} is not the best of its kind: a point of the curve between total error and worst loss is better in both, and more starts may find it",
                itself(*role)
            ),
        ),
        Remark::TotalErrorRose { role, rise } => {
            page::Remark::new(rise.code(), rise.said_of(itself(*role)))
        }
        _ => return None,
    })
}

/// What the audit says first, in the words of the library.
pub fn verdict(found: &Comparison) -> page::Verdict {
    found.verdict().into_owned().into()
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

/// How many random groups stand behind what chance shows, and what they might have cost.
pub fn drawn(found: &Comparison) -> Option<Note> {
    let audits = || found.in_order().into_iter().map(|(_, audit)| audit);
    let (chance, budget) =
        audits().find_map(|a| a.chance.as_ref().map(|chance| (chance, a.options.chance)))?;
    let (made, asked, seconds) = (chance.draws, chance.draws_asked, budget.time.as_secs_f64());
    let made = if made == asked { made.to_string() } else { format!("{made} of {asked}") };
    let most = chance.groups.iter().map(|g| g.p_draws).max().unwrap_or(0);
    let of_p = match most > chance.draws {
        true => format!(" (p-values from up to {most})"),
        false => String::new(),
    };
    let sentence = format!(
        "What random groups show comes from {made} draws of groups of every size{of_p}, which may take {seconds} s at the most; more of them, or more time, can be asked for (chance draws, chance time)."
    );
    Some(Note::new("draws-of-random-groups", sentence))
}

/// What was chosen that is not the paper's, as far as it is known.
fn choices(found: &Comparison, model: Option<&Model>) -> Vec<Choice> {
    let of_method = || found.method.map(|method| method.choices()).unwrap_or_default();
    model.map_or_else(of_method, Model::choices)
}

/// Whether a fairness is neither that of standard NMF nor that of Fairer-NMF.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "what `Option::filter` hands over")]
fn between(fairness: &f64) -> bool {
    *fairness > 0.0 && *fairness < 1.0
}

fn settings(
    found: &Comparison,
    about: &About<'_>,
    model: Option<&Model>,
    choices: &[Choice],
    data: &GroupedData<'_>,
) -> Vec<page::Setting> {
    let mut settings = vec![
        setting("method", Maker::of(found.method).name()),
        setting("rank", found.subject.rank),
        setting("seed", about.seed),
        setting("normalize", about.normalize.name()),
        setting("precision", data.matrix().precision()),
    ];
    settings.splice(1..1, choices.iter().map(|choice| setting(choice.name, &choice.value)));
    if let Some(model) = model {
        let p = &model.parameters;
        settings.push(setting("n_init", p.n_init));
        settings.push(setting("tolerance", p.stopping.tolerance));
        settings.push(setting("max_iterations", p.stopping.max_iterations));
    }
    settings
}

/// Shape and preparation of the data.
pub fn data_summary(data: &GroupedData<'_>) -> page::DataSummary {
    page::DataSummary {
        rows: data.rows(),
        features: data.features(),
        groups: data.groups().len(),
        density: Some(density(data)),
        normalized: data.scale().is_some(),
    }
}

/// Share of entries that are not zero.
fn density(data: &GroupedData<'_>) -> f64 {
    let nonzeros = data.nonzeros();
    nonzeros as f64 / (data.rows() as f64 * data.features() as f64)
}

/// The models of the page, in its order.
fn models(audits: &[Audited<'_>]) -> Vec<page::ModelSummary> {
    let summary = |Audited { name, role, audit }: &Audited<'_>| page::ModelSummary {
        name: (*name).to_owned(),
        role: *role,
        rank: audit.rank,
        total_error: Some(audit.total_error),
    };
    audits.iter().map(summary).collect()
}

/// A group that was audited beside a dictionary of a rank.
pub fn group(group: &GroupAudit, baseline: &GroupBaseline, rank: usize) -> page::Group {
    let alone = page::Alone::of(baseline, group.norm);
    page::Group { small: group.small, outside: group.outside, ..of_rows(group, alone, rank) }
}

/// A group that a model of a rank was fitted to.
pub fn fitted_group(group: &GroupFit, rank: usize) -> page::Group {
    let alone = page::Alone::of(&group.baseline, group.norm);
    page::Group {
        outside: group.outside,
        allowance: group.allowance,
        ..of_rows(group, alone, rank)
    }
}

/// What is known of a group beside a model of any kind.
fn of_rows(group: &GroupRows, alone: page::Alone, rank: usize) -> page::Group {
    page::Group {
        family: group.family.clone(),
        effective_rows: group.effective_rows,
        observed: group.observed,
        ..page::Group::new(&group.name, group.rows, group.norm, alone, rank)
    }
}

/// The row of results of group `l`: `audit` is of its dictionary, `main` the audit in full of the
/// comparison.
pub fn result(audit: &AuditReport, main: &AuditReport, l: usize) -> page::GroupResult {
    let group = &audit.groups[l];
    // The limits that hold for small groups. Those of a bootstrap do not, and with the dictionary fixed they are not shown.
    let ranges = audit.differences.as_ref().map(|d| &d.groups[l]);
    let anew = audit.bootstrap_refit.as_ref().map(|b| &b.groups[l].loss);
    // A group's own dictionary does not depend on the shared one: its held-out error was measured
    // once, in the audit in full, and holds for all models.
    let own = main.held_out.as_ref().map(|h| &h.groups[l]);
    let chance = audit.chance.as_ref().map(|c| &c.groups[l]);
    let permuted = audit.shown_permutation().map(|p| &p.groups[l]);
    // What a model that evens the groups out leaves between them is its making, and tests nothing.
    let differs = ranges.filter(|_| !audit.options.evened);
    page::GroupResult {
        relative_error: group.relative_error,
        relative_error_low: ranges.map(|d| d.relative_error.low),
        relative_error_high: ranges.map(|d| d.relative_error.high),
        loss: group.loss,
        loss_low: ranges.map(|d| d.loss.low),
        loss_high: ranges.map(|d| d.loss.high),
        cross_fitted_loss: ranges.map(|d| d.loss.estimate),
        refit_loss_low: anew.map(|interval| interval.low),
        refit_loss_high: anew.map(|interval| interval.high),
        held_out_loss: own.and_then(|own| own.loss_of(group.relative_error)),
        relative_error_adjusted_p: permuted
            .filter(|p| p.loss.is_none())
            .map(|p| p.relative_error.adjusted_p),
        refit_loss_adjusted_p: permuted.and_then(|p| p.loss).map(|p| p.adjusted_p),
        chance_mean: chance.map(|c| c.mean),
        chance_low: chance.map(|c| c.low),
        chance_high: chance.map(|c| c.high),
        excess_loss: chance.map(|c| c.excess_loss),
        difference: differs.map(|d| d.difference.estimate),
        difference_low: differs.map(|d| d.difference.low),
        difference_high: differs.map(|d| d.difference.high),
        adjusted_p: differs.and_then(|_| audit.adjusted_p(l)),
    }
}

/// A setting of the run.
pub fn setting(name: &str, value: impl std::fmt::Display) -> page::Setting {
    page::Setting { name: name.to_owned(), value: value.to_string() }
}
