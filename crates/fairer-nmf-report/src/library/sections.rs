//! The sections of a page behind the first, from what the library found.

use fairer_nmf::audit::{self, AuditReport, GroupAudit, GroupChange, Individuals};
use fairer_nmf::fit::{Allowance, Minimised};

use super::{Audited, Fitted};
use crate::content as page;

/// Section 2, where anything was asked for that belongs there: `main` is the audit in full,
/// `audits` are those of all models of the page, in its order.
pub(super) fn is_it_real(main: &AuditReport, audits: &[Audited<'_>]) -> Option<page::IsItReal> {
    let shown =
        |a: &Audited<'_>| a.audit.differences.is_some() || a.audit.bootstrap_refit.is_some();
    let tested = main.shown_permutation().is_some() || main.held_out.is_some();
    if !(tested || audits.iter().any(shown)) {
        return None;
    }
    Some(page::IsItReal { level: main.options.level, draws: audits.iter().map(draws).collect() })
}

fn draws(Audited { name, audit, .. }: &Audited<'_>) -> page::ModelDraws {
    page::ModelDraws {
        model: (*name).to_owned(),
        bootstrap: audit.bootstrap_refit.as_ref().map(|b| page::Bootstrap { draws: b.draws }),
        unseen: audit.differences.is_some(),
        permutation: audit.shown_permutation().map(|p| page::Permutation {
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
pub(super) fn cost(
    subject: &AuditReport,
    individuals: &Individuals,
    criterion: Minimised,
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
pub(super) fn quality<'a>(
    fits: impl IntoIterator<Item = Fitted<'a>>,
    global_bound: Option<f64>,
    criterion: Minimised,
    subject: &AuditReport,
) -> page::Quality {
    let allowances = &subject.options.allowances;
    let fit = |Fitted { name, model, seconds }: Fitted<'a>| page::FitQuality {
        model: name.to_owned(),
        status: model.status,
        iterations: model.iterations(),
        seconds,
        history: model
            .history
            .iter()
            .map(|losses| worst_counted(model.minimised(), losses, allowances))
            .collect(),
        step_gap: model.step_gap,
        global_bound,
    };
    page::Quality { criterion, fits: fits.into_iter().map(fit).collect() }
}

/// The largest of what an iteration reached, by the rule of [`fairer_nmf::Model::worst_criterion`]. A fit that allowed for
/// nothing has losses in its history, another has had what it allows taken off.
fn worst_counted(reached: Minimised, losses: &[f64], allowances: &[Allowance]) -> f64 {
    let of = |(l, &loss): (usize, &f64)| {
        let allowed = allowances.get(l).copied().unwrap_or_default();
        (
            loss,
            match reached {
                Minimised::Loss => allowed,
                Minimised::AdjustedLoss => Allowance { loss: 0.0, outside: !allowed.counts() },
            },
        )
    };
    Allowance::largest(losses.iter().enumerate().map(of)).unwrap_or(f64::NEG_INFINITY)
}

/// Section 6: the topics of a dictionary, and the name of the one they were matched with;
/// `feature` gives the name of a column.
pub(super) fn topics(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_a_fit_ends_at_the_criterion_that_stands_beside_it() {
        // Inside; outside and allowed what it pays, so that it counts; outside and not known of.
        let of = |loss, outside| Allowance { loss, outside };
        let allowances = [of(0.02, false), of(0.05, true), of(-0.01, true)];
        let losses = [0.04, 0.11, 0.5];
        let criterion = Allowance::largest(losses.into_iter().zip(allowances)).unwrap();
        assert_eq!(criterion, 0.11 - 0.05, "the group outside is what the fit could not lower");
        let reached = [0.04 - 0.02, 0.11 - 0.05, 0.5];
        assert_eq!(worst_counted(Minimised::AdjustedLoss, &reached, &allowances), criterion);
        assert_eq!(worst_counted(Minimised::Loss, &losses, &allowances), criterion);
        assert_eq!(worst_counted(Minimised::Loss, &losses, &[]), 0.5);
    }
}
