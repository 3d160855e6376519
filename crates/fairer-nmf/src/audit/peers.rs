//! The models that are fitted to be set beside a dictionary: standard NMF and Fairer-NMF of the same rank,
//! against the same baselines.

use super::Remark;
use crate::baseline::GroupBaseline;
use crate::fit::fit_beside;
use crate::progress::Role;
use crate::stopping::Status;
use crate::{
    Baseline, Fit, GroupedData, Method, Model, Observer, Parameters, Progress, Result, Update, fit,
};
use std::time::{Duration, Instant};

/// Which models are fitted to be set beside a dictionary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerPlan {
    /// Standard NMF with this update.
    pub standard: Option<Update>,
    /// Fairer-NMF by the AM scheme.
    pub fairer: bool,
}

impl PeerPlan {
    /// What a dictionary fitted by `method` (none: from elsewhere) is compared with: standard NMF,
    /// unless it is that, and Fairer-NMF, unless it is one with no regard to the total error.
    #[must_use]
    pub fn beside(method: Option<Method>, update: Update) -> Self {
        let is_standard = method.is_some_and(|method| method.is_standard());
        Self {
            standard: (!is_standard).then_some(update),
            fairer: method.is_none_or(|method| method.fairness() < 1.0 || !method.evens_out()),
        }
    }
}

/// A model that was fitted to be set beside a dictionary.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The model.
    pub model: Model,
    /// How long its fit took.
    pub fit_time: Duration,
}

/// The models beside a dictionary; those that were not asked for, or were stopped, are absent.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Standard NMF.
    pub standard: Option<Peer>,
    /// Fairer-NMF.
    pub fairer: Option<Peer>,
    /// Those for which the time limit left nothing.
    pub out_of_time: Vec<Role>,
}

impl Peers {
    /// What a reader has to know of the fits.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remark> {
        let not_converged = |(role, peer): (Role, &Option<Peer>)| {
            let model = &peer.as_ref()?.model;
            let (status, stopping) = (model.status, &model.parameters.stopping);
            (status != Status::Converged).then_some(Remark::NotConverged {
                role,
                status,
                max_iterations: stopping.max_iterations,
            })
        };
        let peers = [(Role::Standard, &self.standard), (Role::Fairer, &self.fairer)];
        (self.out_of_time.iter().map(|&role| Remark::OutOfTime { role }))
            .chain(peers.into_iter().filter_map(not_converged))
            .collect()
    }
}

/// Fits what is set beside a dictionary, against baselines E_ℓ that are known.
///
/// Rank, starts, stopping and seed are those of `parameters`; its method is not asked, and its kind of
/// baseline only whether Fairer-NMF allows for chance, under standard NMF beside it or of its own.
/// Its time limit holds for both fits together. The observer hears of each fit as
/// [`Progress::Comparison`] before it begins; a fit that it stops leaves no peer. One group has nobody to be
/// evened out with: beside a model of ours there is nothing then, beside a dictionary from elsewhere standard NMF.
///
/// # Errors
/// As [`fit()`].
pub fn fit_peers(
    data: &GroupedData<'_>,
    plan: PeerPlan,
    asked: &Parameters,
    baselines: &[f64],
    observer: &Observer<'_>,
) -> Result<Peers> {
    let begin = Instant::now();
    let mut peers = Peers::default();
    let PeerPlan { standard, fairer } = match data.groups().len() {
        0 | 1 => PeerPlan { standard: plan.standard.filter(|_| plan.fairer), fairer: false },
        _ => plan,
    };
    let methods = [
        (Role::Standard, standard.map(|update| Method::Standard { update })),
        (Role::Fairer, fairer.then(Method::am)),
    ];
    for (role, method) in methods {
        let Some(method) = method else { continue };
        let mut parameters = Parameters {
            method,
            baseline: Baseline::Given { errors: baselines.to_vec() },
            bound: false,
            ..asked.clone()
        };
        if let Some(limit) = &mut parameters.stopping.time_limit {
            *limit = limit.saturating_sub(begin.elapsed());
            if limit.is_zero() {
                peers.out_of_time.push(role);
                continue;
            }
        }
        let begins = Progress::Comparison { role, fit: Some(&parameters.stopping) };
        if observer(&begins).is_break() {
            break;
        }
        let fitted = match role {
            Role::Fairer => fit_fairer(data, asked, &parameters, baselines, &peers, observer)?,
            _ => fit(data, &parameters, observer)?,
        };
        if fitted.model.status == Status::Stopped {
            break;
        }
        let peer = Some(Peer { model: fitted.model, fit_time: fitted.fit_time });
        match role {
            Role::Fairer => peers.fairer = peer,
            _ => peers.standard = peer,
        }
    }
    Ok(peers)
}

/// Fairer-NMF against known baselines, with what `asked` allows the groups.
fn fit_fairer(
    data: &GroupedData<'_>,
    asked: &Parameters,
    parameters: &Parameters,
    baselines: &[f64],
    peers: &Peers,
    observer: &Observer<'_>,
) -> Result<Fit> {
    let given: Vec<GroupBaseline> =
        baselines.iter().map(|&error| GroupBaseline { error, run_errors: Vec::new() }).collect();
    let adjusted = matches!(asked.baseline, Baseline::Adjusted { .. });
    let own;
    let standard = match &peers.standard {
        Some(peer) => Some(peer.model.components.view()),
        None if adjusted => {
            let standard = Parameters { method: Method::standard(), ..parameters.clone() };
            own = fit(data, &standard, observer)?.model;
            Some(own.components.view())
        }
        None => None,
    };
    let mut parameters = parameters.clone();
    if adjusted {
        parameters.baseline = asked.baseline.clone();
    }
    fit_beside(data, &parameters, &given, standard, observer)
}
