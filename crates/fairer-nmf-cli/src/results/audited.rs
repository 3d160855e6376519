//! The outcome of an audit, and the page of an audited dictionary, whoever made it.

use fairer_nmf::audit::{Comparison, GroupAudit, Role};
use fairer_nmf::{GroupedData, Model, baseline::GroupBaseline};
use fairer_nmf_io::{Loaded, Scaling};
use fairer_nmf_report::library::{self, About};
use fairer_nmf_report::{Group, Remark, Report};

use super::outcome::{DataFacts, GroupOutcome, Outcome, Timed, normalized};
use crate::work::unfinished;

/// The outcome of the audit of a dictionary; `model`: where it is one of ours. With `itself` standard NMF stands beside
/// itself.
pub(crate) fn of_audit(
    (loaded, scaling): (&Loaded, &Scaling),
    data: &GroupedData<'_>,
    (found, baselines): (&Comparison, &[GroupBaseline]),
    model: Option<&Model>,
    itself: bool,
) -> Outcome {
    let audit = &found.subject;
    // What the fit of a model of ours allowed these groups, and said of it.
    let of_fit = model.filter(|model| model.is_of(data));
    let group = |(l, group): (usize, &GroupAudit)| {
        let allowance = of_fit.and_then(|model| model.groups[l].allowance);
        let of = |role| found.of(role).map(|audit| library::result(audit, &found.subject, l));
        let own = library::result(audit, audit, l);
        GroupOutcome {
            group: Group { allowance, ..library::group(group, &baselines[l], audit.rank) },
            own,
            standard: of(Role::Standard).or(itself.then_some(own)),
            fairer: of(Role::Fairer),
        }
    };
    let facts = DataFacts::of(loaded, data, normalized(scaling));
    Outcome {
        verdict: Some(library::verdict(found)),
        choices: model.map(Model::choices).unwrap_or_default(),
        status: model.map(|m| m.status),
        iterations: model.map_or(0, Model::iterations),
        timed: Timed::Audit,
        worst_loss: audit.worst_loss,
        worst_group: audit.groups[audit.worst_group].name.clone(),
        criterion: audit.minimised(),
        worst_criterion: audit.worst_criterion(),
        step_gap: model.and_then(|m| m.step_gap),
        global_bound: found.bound.value,
        groups: audit.groups.iter().enumerate().map(group).collect(),
        left_alone: of_fit.and_then(Model::left_alone),
        drawn: library::drawn(found),
        notes: loaded.dataset.notes.iter().cloned().chain(data.reader_notes()).collect(),
        certificate: Some(audit.certificate(&found.bound)),
        audit: Some(audit.clone()),
        baseline_runs: baselines.first().map_or(0, |b| b.run_errors.len()),
        ..Outcome::begun(model.map(|m| m.parameters.method), audit.rank, facts)
    }
}

/// The page of an audited dictionary: what the comparison found, and what the outcome knows besides. `own` is what the fit
/// itself has warned of; `about` has the cautions.
pub(crate) fn page_of(
    about: About<'_>,
    data: &GroupedData<'_>,
    (found, baselines): (&Comparison, &[GroupBaseline]),
    fitted: Option<(&Model, Option<f64>)>,
    own: Vec<Remark>,
    outcome: &Outcome,
) -> Report {
    let about = About {
        normalize: outcome.data.normalize,
        seed: outcome.seed,
        warnings: (own.into_iter())
            .chain(outcome.explains_little())
            .chain(about.warnings)
            .chain(unfinished(found))
            .collect(),
        ..about
    };
    library::report(about, data, found, baselines, fitted)
}
