//! The outcome of a fit, and of the audit that a page needs.

use fairer_nmf::audit::{ChanceBand, PeerPlan, Remark, Role, Subject, compare};
use fairer_nmf::{Baseline, GroupedData, Method, Model, Note, Update, baseline::GroupBaseline};
use fairer_nmf_io::{Failure, Loaded};
use fairer_nmf_report::GroupResult;
use fairer_nmf_report::library::{About, Normalized};

use super::audited::page_of;
use super::outcome::{DataFacts, GroupOutcome, Outcome, Penalised, Seconds};
use crate::args::AuditArgs;
use crate::meaning;
use crate::screen::Bar;
use crate::work::{Compared, peers_beside, warnings};

/// The outcome of a fit, beside standard NMF where that was wanted.
pub(crate) fn of_fit(
    compared: &Compared,
    wanted: bool,
    loaded: &Loaded,
    data: &GroupedData<'_>,
) -> Outcome {
    let fit = &compared.fit;
    let is_standard = fit.model.parameters.method.is_standard();
    let standard = match &compared.peers.standard {
        Some(standard) => Some(&standard.model),
        // Standard NMF is its own comparison.
        None => (wanted && is_standard).then_some(&fit.model),
    };
    let seconds = Seconds {
        read: loaded.seconds,
        baselines: fit.baseline_time.as_secs_f64(),
        fit: fit.fit_time.as_secs_f64(),
    };
    let normalized = if data.scale().is_some() { Normalized::Features } else { Normalized::None };
    let facts = DataFacts::of(loaded, data, normalized);
    Outcome::of_model(&fit.model, standard, &compared.random_groups, seconds, facts)
}

/// Under which model random groups pay what stands beside the losses of a fit, and by how many draws.
pub(crate) fn drawn_beside(outcome: &Outcome, compared: &Compared) -> Option<Note> {
    let has = |result: &GroupResult| result.chance_mean.is_some();
    let shown = |g: &GroupOutcome| has(&g.own) || g.standard.as_ref().is_some_and(has);
    outcome.groups.iter().any(shown).then(|| {
        let (draws, with) = match compared.fit.model.parameters.baseline {
            Baseline::Adjusted { draws, .. } => (draws, ""),
            Baseline::Given { .. } => (ChanceBand::DRAWS, ", with their best baselines"),
            _ => (ChanceBand::DRAWS, ""),
        };
        let sentence = format!(
            "What random groups show is under standard NMF, by {draws} draws of groups of every size{with}."
        );
        Note::new("draws-of-random-groups", sentence)
    })
}

/// What a reader has to know of choices that are not the paper's.
pub(crate) fn choice_notes(model: &Model) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(found) = &model.worst_share {
        let sentence = format!(
            "the worst {} % of rows lose {:.4} of themselves on average, each of them {:.4} or more; groups were not asked",
            100.0 * found.share,
            found.error,
            found.threshold
        );
        notes.push(Note::new("worst-share", sentence));
    }
    if let Some(found) = &model.found_groups {
        let how = found.found_by.name();
        let rounds = match found.rounds {
            1 => String::new(),
            rounds => format!(" in {rounds} rounds"),
        };
        let sentence = format!(
            "the groups were found in these rows by {how}{rounds}: their losses say nothing of groups of people, and no test against chance holds for them"
        );
        notes.push(Note::new("groups-found", sentence));
    }
    if let Some(Penalised { objective: Some(objective), .. }) = Penalised::of(model) {
        let sentence = format!(
            "with its penalties the objective is {objective:.6e}; losses are against baselines without penalties"
        );
        notes.push(Note::new("penalised", sentence));
    }
    notes
}

/// Adds to the outcome of a fit what the library's audit says of it, and the page's content.
pub(crate) fn audit_fit(
    about: About<'_>,
    data: &GroupedData<'_>,
    compared: Compared,
    outcome: &mut Outcome,
    args: &AuditArgs,
    bar: &Bar,
) -> Result<(), Failure> {
    bar.stage("auditing");
    let observer = |p: &fairer_nmf::Progress<'_>| bar.observe(p);
    let (model, mut peers) = (&compared.fit.model, compared.peers);
    let parameters = &model.parameters;
    let seed = parameters.seed;
    let options = meaning::audit_options(args, Some(parameters), &parameters.baseline, true, seed)?;
    let baselines: Vec<GroupBaseline> = model.groups.iter().map(|g| g.baseline.clone()).collect();
    let errors = GroupBaseline::errors(&baselines);
    // The comparison of standard NMF is what Fairer-NMF would make of it.
    if outcome.groups.iter().any(|g| g.standard.is_some()) {
        let plan = PeerPlan::beside(Some(parameters.method), Update::Hals);
        let plan = PeerPlan { standard: None, ..plan };
        let more = peers_beside(data, plan, parameters, &errors, bar)?;
        peers.fairer = more.fairer;
        peers.out_of_time.extend(more.out_of_time);
    }
    // Coordinates that were penalised are not the best ones: they are taken as they are, as in the fit.
    let penalised = matches!(parameters.method, Method::Penalised { .. });
    let own = penalised.then(|| compared.fit.representation.to_f64());
    let subject = Subject::of_model(model, data, parameters).with(|s| {
        s.representation = own.as_ref().map(|w| w.view());
        s.bound = Some(model.global_bound.clone());
    });
    let mut found = compare(data, &subject, &errors, peers, &options, &observer)?;
    // What this fit costs all together it has said itself.
    let of_fit = |r: &Remark| matches!(r, Remark::TotalErrorRose { role: Role::Subject, .. });
    found.remarks.retain(|remark| !of_fit(remark));
    bar.finish();
    let mut missing = warnings(&found);
    missing.retain(|warning| !outcome.warnings.contains(warning));
    outcome.warnings.extend(missing);
    outcome.take(&found);
    let fitted = Some((model, Some(compared.fit.fit_time.as_secs_f64())));
    let report = page_of(about, data, (&found, &baselines), fitted, compared.warnings, outcome);
    outcome.verdict = report.verdict.clone();
    outcome.report = Some(report);
    outcome.audit = Some(found.subject);
    Ok(())
}
