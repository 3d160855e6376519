//! A dictionary beside standard NMF and Fairer-NMF of the same rank, each audited: what the program
//! and the Python package show, put together once.
//!
//! What one starts from comes first: standard NMF where the dictionary is a fairer one itself, else
//! the dictionary. The fairer model comes last, and the trade-off curve ends at it. Peers are fitted
//! against the same baselines, so that losses compare.

use super::subject::is_fairer;
use super::{
    AuditOptions, AuditPart, AuditReport, DrawBudget, Individuals, Pair, Peer, Peers, Refit,
    Remark, Subject, TradeOffOptions, Verdict, VerdictCode, audit, audit_pair, compare_individuals,
    evaluate,
};
use crate::bound::{BoundReport, global_bound};
use crate::criterion::Allowance;
use crate::model::FoundGroups;
use crate::progress::Role;
use crate::{GroupedData, Method, Model, Observer, Progress, Result};
use std::borrow::Cow;
use std::time::Duration;

/// Why there is no verdict on a dictionary that evens out, alone.
const NO_STANDARD: &str = "Whether some group pays more than the others was not tested: this model was fitted to even them out, so that the question is about standard NMF, which was not fitted beside it (left out, or the time was up).";

/// What stands in the audit of such a dictionary, where standard NMF is beside it.
const ABOUT_STANDARD: &str = "This dictionary was fitted to even the groups out: the verdict is about standard NMF, beside it.";

/// A peer and its audit.
#[derive(Clone, Debug)]
pub struct AuditedPeer {
    /// The model.
    pub model: Model,
    /// How long its fit took.
    pub fit_time: Duration,
    /// What it costs each group.
    pub audit: AuditReport,
}

/// A dictionary beside standard NMF and Fairer-NMF.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The method that fitted the dictionary; none for one from elsewhere.
    pub method: Option<Method>,
    /// Its audit in full. The curve ends at the fairer model of the comparison.
    pub subject: AuditReport,
    /// Standard NMF with intervals and tests.
    pub standard: Option<AuditedPeer>,
    /// Fairer-NMF with intervals and tests.
    pub fairer: Option<AuditedPeer>,
    /// What the way from the first model to the fairer one means for groups and samples.
    pub change: Option<Individuals>,
    /// What no model of this rank can go below on these data, whoever made it.
    pub bound: BoundReport,
    /// What is missing or unfinished.
    pub remarks: Vec<Remark>,
}

impl Comparison {
    /// The audits with their roles: what one starts from first, the fairer model last.
    #[must_use]
    pub fn in_order(&self) -> Vec<(Role, &AuditReport)> {
        let order = match is_fairer(self.method) {
            true => [Role::Standard, Role::Subject, Role::Fairer],
            false => [Role::Subject, Role::Standard, Role::Fairer],
        };
        order.into_iter().filter_map(|role| Some((role, self.of(role)?))).collect()
    }

    /// The audit of a model of the comparison.
    #[must_use]
    pub fn of(&self, role: Role) -> Option<&AuditReport> {
        match role {
            Role::Subject => Some(&self.subject),
            Role::Standard | Role::Fairer => self.peer(role).map(|peer| &peer.audit),
        }
    }

    /// What is said first, about the model that one starts from: of a fairer one, which evens out
    /// by construction, the verdict on standard NMF beside it; without that, none. One group is what it is.
    #[must_use]
    pub fn verdict(&self) -> Cow<'_, Verdict> {
        match &self.standard {
            _ if !is_fairer(self.method) || self.subject.groups.len() == 1 => {
                Cow::Borrowed(&self.subject.verdict)
            }
            Some(standard) if standard.audit.verdict.code == VerdictCode::NotTested => {
                Cow::Borrowed(&standard.audit.verdict)
            }
            Some(standard) => {
                let mut verdict = standard.audit.verdict.clone();
                verdict.sentence = format!("Under standard NMF: {}", lowered(&verdict.sentence));
                Cow::Owned(verdict)
            }
            None => Cow::Owned(Verdict::not_tested(NO_STANDARD.to_owned())),
        }
    }

    /// A model beside the dictionary.
    #[must_use]
    pub fn peer(&self, role: Role) -> Option<&AuditedPeer> {
        match role {
            Role::Subject => None,
            Role::Standard => self.standard.as_ref(),
            Role::Fairer => self.fairer.as_ref(),
        }
    }
}

/// Audits a dictionary with baselines E_ℓ, and its peers beside it.
///
/// The peers get intervals and tests in the same mode; the curve is drawn once, to the fairer
/// model. The observer hears of each audit as [`Progress::Comparison`] before it begins.
///
/// # Errors
/// As [`audit`](super::audit()).
///
/// ```
/// use fairer_nmf::audit::{PeerPlan, Subject, compare, fit_peers};
/// use fairer_nmf::{audit::AuditOptions, GroupedData, Parameters, Update, fit, silent, synthetic};
/// let (x, labels) = synthetic::first(0);
/// let data = GroupedData::new(x.view(), &labels)?;
/// let model = fit(&data, &Parameters::new(3), &silent)?.model;
/// let baselines = model.baseline_errors();
/// let subject = Subject::of_model(&model, &data, &model.parameters);
/// let plan = PeerPlan::beside(subject.method, Update::Hals);
/// let peers = fit_peers(&data, plan, &model.parameters, &baselines, &silent)?;
/// let options = AuditOptions::default().with(|o| (o.draws, o.permutations) = (50, 50));
/// let found = compare(&data, &subject, &baselines, peers, &options, &silent)?;
/// assert!(found.standard.is_some() && found.fairer.is_none(), "it is a fairer one itself");
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn compare(
    data: &GroupedData<'_>,
    subject: &Subject<'_>,
    baselines: &[f64],
    peers: Peers,
    options: &AuditOptions,
    observer: &Observer<'_>,
) -> Result<Comparison> {
    let remarks = peers.remarks();
    let options = &allowing(subject, &peers, options);
    let standard = peers.standard.as_ref().map(|peer| peer.model.components.view());
    // The curve ends at the fairer model: where there is another one, it is drawn with that.
    let curve = options.trade_off.filter(|_| peers.fairer.is_none());
    // A stop is heard by the audit itself, which leaves out what is not finished.
    let begins = |role| {
        let _ = observer(&Progress::Comparison { role, fit: None });
    };
    begins(Role::Subject);
    let (h, w) = (subject.components, subject.representation);
    let starts_from_standard = subject.is_fairer() && standard.is_some();
    let mut all = AuditOptions { trade_off: curve, ..options.clone() };
    // Random groups that its dictionary was not fitted to would be worse off than the groups that it was.
    if subject.is_fairer() {
        all = of_fairer(all);
    }
    let pair = Pair { components: h, representation: w, baselines, reference: standard };
    let mut main = audit_pair(data, &pair, &all, observer)?;
    if starts_from_standard {
        main.verdict = main.verdict.taken_back(ABOUT_STANDARD);
    }
    let of_standard = (peers.standard.as_ref())
        .map(|peer| {
            begins(Role::Standard);
            let mut options = of_peer(options, peer, None);
            if !starts_from_standard {
                options = AuditOptions { differences: false, ..without_chance(options) };
            }
            audit(data, peer.model.components.view(), baselines, None, &options, observer)
        })
        .transpose()?;
    let mut change = if subject.is_fairer() { main.individuals.clone() } else { None };
    let fairer = match &peers.fairer {
        None => None,
        Some(peer) => {
            begins(Role::Fairer);
            let last = peer.model.components.view();
            let options = of_fairer(of_peer(options, peer, options.trade_off));
            let from = standard.unwrap_or(h);
            let mut audit = audit(data, last, baselines, Some(from), &options, observer)?;
            audit.verdict = audit.verdict.taken_back(ABOUT_STANDARD);
            hand_over_curve(&mut audit, &mut main);
            let before = match standard.filter(|_| starts_from_standard) {
                Some(first) => evaluate(data, first, None, baselines)?,
                None => evaluate(data, h, w, baselines)?,
            };
            let after = evaluate(data, last, None, baselines)?;
            change = Some(compare_individuals(data, &after, &before));
            Some(audit)
        }
    };
    let audited = |peer: Option<Peer>, audit: Option<AuditReport>| {
        let (Peer { model, fit_time }, audit) = peer.zip(audit)?;
        Some(AuditedPeer { model, fit_time, audit })
    };
    let standard = audited(peers.standard, of_standard);
    let fairer = audited(peers.fairer, fairer);
    // One that is known is of what the subject's own fit allowed.
    let known = subject.bound.clone().filter(|bound| {
        bound.value.is_none() || options.allowances == remembered(&subject.allowances)
    });
    let bound = known.unwrap_or_else(|| global_bound(data, main.rank, &main.offsets()));
    let method = subject.method;
    let mut found = Comparison { method, subject: main, standard, fairer, change, bound, remarks };
    let unfinished = unfinished(&found);
    found.remarks.extend(unfinished);
    let rise = rise(&found, subject);
    found.remarks.extend(rise);
    let better = better_point(&found);
    found.remarks.extend(better);
    if subject.groups_found {
        found.leave_untested(FoundGroups::UNTESTED);
    }
    Ok(found)
}

/// The options with what the fairer model allows; where groups were found in the rows nothing is tested.
fn allowing(subject: &Subject<'_>, peers: &Peers, options: &AuditOptions) -> AuditOptions {
    let allowed = match &peers.fairer {
        Some(peer) => peer.model.allowances(),
        None => subject.allowances.clone(),
    };
    let options = AuditOptions { allowances: remembered(&allowed), ..options.clone() };
    if subject.groups_found { options.untested() } else { options }
}

/// What is allowed, where anything is: nothing allowed is nothing to remember.
fn remembered(allowed: &[Allowance]) -> Vec<Allowance> {
    let nothing = allowed.iter().all(|a| *a == Allowance::default());
    if nothing { Vec::new() } else { allowed.to_vec() }
}

/// Random groups of a dictionary that the verdict is not about say nothing to it.
fn without_chance(of: AuditOptions) -> AuditOptions {
    AuditOptions { chance: DrawBudget { draws: 0, ..of.chance }, ..of }
}

/// A fairer model evens out by construction: a test of it finds differences where labels mean nothing. What is
/// compared of it are rows that it has not seen, for their limits.
fn of_fairer(of: AuditOptions) -> AuditOptions {
    let refit = of.refit.map(|refit| Refit { permutations: 0, ..refit });
    without_chance(AuditOptions { permutations: 0, evened: true, refit, ..of })
}

/// What is asked of a peer: less than of the subject, and fits anew in its own way.
fn of_peer(
    options: &AuditOptions,
    peer: &Peer,
    trade_off: Option<TradeOffOptions>,
) -> AuditOptions {
    let method = peer.model.parameters.method;
    let refit = options.refit.as_ref().map(|refit| refit.of(method));
    AuditOptions { folds: 0, trade_off, refit, ..options.clone() }
}

/// The curve that ends at the fairer model is the subject's, and so is that it was not finished.
fn hand_over_curve(fairer: &mut AuditReport, subject: &mut AuditReport) {
    subject.trade_off = fairer.trade_off.take();
    subject.options.trade_off = fairer.options.trade_off;
    if let Some(at) = fairer.unfinished.iter().position(|p| *p == AuditPart::TradeOff) {
        subject.unfinished.push(fairer.unfinished.remove(at));
    }
}

/// What stops have left out of the audits.
fn unfinished(found: &Comparison) -> Vec<Remark> {
    let parts = |role| found.of(role).into_iter().flat_map(|audit| &audit.unfinished);
    let of = |role| parts(role).map(move |&part| Remark::Unfinished { role, part });
    [Role::Subject, Role::Standard, Role::Fairer].into_iter().flat_map(of).collect()
}

/// What the fairer model costs all together against standard NMF, where that has to be said. A dictionary that allows for
/// chance was fitted beside standard NMF, and its fit has said it.
fn rise(found: &Comparison, subject: &Subject<'_>) -> Option<Remark> {
    let is_standard = subject.method.is_some_and(|method| method.is_standard());
    let standard = found.standard.as_ref().map(|peer| &peer.audit);
    let standard = standard.or(is_standard.then_some(&found.subject))?;
    let said = subject.allowances.iter().any(|a| a.loss != 0.0);
    match &found.fairer {
        Some(peer) => Remark::of_rise((Role::Fairer, &peer.audit), Some(&peer.model), standard),
        None if subject.is_fairer() && !said && !subject.cut_short => {
            Remark::of_rise((Role::Subject, &found.subject), None, standard)
        }
        None => None,
    }
}

/// Whether the curve shows that the fairer model at its end is not the best of its kind.
fn better_point(found: &Comparison) -> Option<Remark> {
    let (role, audit) = found.in_order().pop()?;
    let is_fairer = role == Role::Fairer || is_fairer(found.method);
    let curve = found.subject.trade_off.as_ref().filter(|_| is_fairer)?;
    Remark::of_curve((role, audit), &curve.points)
}

/// A sentence after a colon. A group's name, which keeps its letters, stands in quotation marks.
fn lowered(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
