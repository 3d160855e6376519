//! Trials over ranks and methods: what a sweep is made of.

use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::stopping::Status;
use fairer_nmf::{Baseline, GroupedData, Method, Model, Parameters, fit};
use fairer_nmf_io::Failure;
use fairer_nmf_paper::trial_baselines;
use serde::Serialize;

use super::Maker;
use crate::screen::{Bar, Deadline, stopped};

/// What a sweep fits at every rank, in every trial.
pub(crate) struct Plan {
    pub ranks: Vec<usize>,
    pub trials: usize,
    pub methods: Vec<Method>,
    pub baseline: Baseline,
    /// All but rank, method, baseline and seed of the trial.
    pub parameters: Parameters,
}

impl Plan {
    /// All trials of all ranks, or those that were done when it was stopped, and the first model of standard NMF of
    /// every rank.
    pub(crate) fn run(
        &self,
        data: &GroupedData<'_>,
        deadline: &Deadline,
        bar: &Bar,
    ) -> Result<(Vec<Record>, Vec<Model>), Failure> {
        let (mut all, mut standards): (_, Vec<Model>) = (Vec::new(), Vec::new());
        let jobs = self.ranks.iter().flat_map(|&rank| (0..self.trials).map(move |t| (rank, t)));
        for (done, (rank, trial)) in jobs.enumerate() {
            if stopped() || deadline.passed() {
                break;
            }
            let planned = self.ranks.len() * self.trials;
            let prefix = format!("{}/{planned}, rank {rank}, trial {}: ", done + 1, trial + 1);
            let (records, standard) = one_trial(self, data, (rank, trial), &prefix, deadline, bar)?;
            all.extend(records);
            let new = |model: &Model| standards.iter().all(|known| known.rank() != model.rank());
            standards.extend(standard.filter(new));
        }
        Ok((all, standards))
    }
}

/// One group under one method, rank and trial.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    pub method: Maker,
    pub rank: usize,
    pub trial: usize,
    pub seed: u64,
    pub group: String,
    pub rows: usize,
    pub norm: f64,
    pub baseline_error: f64,
    pub relative_baseline_sd: Option<f64>,
    pub relative_error: f64,
    pub loss: f64,
    /// The largest loss of this fit's groups.
    pub worst_loss: f64,
    /// ‖X − WH‖/‖X‖ of this fit.
    pub total_error: f64,
    pub status: Status,
    pub iterations: usize,
    /// Of the fit, without the baselines.
    pub seconds: f64,
}

/// Baselines once, then every method on them, and the model of standard NMF. No records where it was stopped on the
/// way: half a trial would favour some methods.
fn one_trial(
    plan: &Plan,
    data: &GroupedData<'_>,
    (rank, trial): (usize, usize),
    prefix: &str,
    deadline: &Deadline,
    bar: &Bar,
) -> Result<(Vec<Record>, Option<Model>), Failure> {
    let stopped = || Ok((Vec::new(), None));
    let seed = plan.parameters.seed.wrapping_add(trial as u64);
    bar.next_fit(prefix, &plan.parameters.stopping);
    let observer = |p: &fairer_nmf::Progress<'_>| deadline.observe(p, bar);
    let Some(baselines) = trial_baselines(data, rank, &plan.baseline, seed, &observer)? else {
        return stopped();
    };
    let errors = GroupBaseline::errors(&baselines);
    let (mut records, mut standard) = (Vec::new(), None);
    let norm = data.squared_norm().sqrt();
    for &method in &plan.methods {
        let mut parameters = plan.parameters.clone().with(|p| {
            p.rank = rank;
            p.method = method;
            p.baseline = Baseline::Given { errors: errors.clone() };
            p.bound = false;
            p.seed = seed;
        });
        // The limit is the sweep's, and the observer keeps it.
        parameters.stopping.time_limit = None;
        bar.next_fit(&format!("{prefix}{}: ", method.name()), &parameters.stopping);
        let fit = fit(data, &parameters, &observer)?;
        if fit.model.status == Status::Stopped {
            return stopped();
        }
        let worst_loss = fit.model.worst_loss();
        for (group, baseline) in fit.model.groups.iter().zip(&baselines) {
            records.push(Record {
                method: Maker::of(Some(method)),
                rank,
                trial,
                seed,
                group: group.name.clone(),
                rows: group.rows,
                norm: group.norm,
                baseline_error: baseline.error,
                // N is positive by validation.
                relative_baseline_sd: baseline.sd().map(|sd| sd / group.norm),
                relative_error: group.relative_error,
                loss: group.loss,
                worst_loss,
                // ‖X‖ is positive: a group of zeros is refused.
                total_error: fit.model.total_error() / norm,
                status: fit.model.status,
                iterations: fit.model.iterations(),
                seconds: fit.fit_time.as_secs_f64(),
            });
        }
        if method.is_standard() {
            standard = Some(fit.model);
        }
    }
    Ok((records, standard))
}
