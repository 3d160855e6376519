//! The worst share of rows: no groups at all.
//!
//! A row that is a group of its own is fitted exactly alone, so its loss is its relative error e_i = ‖x_i − w_iH‖/‖x_i‖ (0 for
//! a row of zeros, which zero coordinates fit). Minimised is the mean of the worst share β of them, the conditional value at
//! risk of Rockafellar and Uryasev (2000):
//!
//!   F_β(H) = min_τ τ + Σ_i ω_i(e_i − τ)₊/(βΩ) = max { Σ q_i e_i : Σq = 1, 0 ≤ q_i ≤ ω_i/(βΩ) },   Ω = Σω
//!
//! β = 1 is the mean over all rows; β → 0 the largest error. For given q, e_i ≤ ½(e_i²/a_i + a_i) with equality at the present
//! errors a, so that standard NMF of rows with the weights q_i/(a_i‖x_i‖²) lowers Σ q_i e_i. The q that maximises moves with
//! the errors: it is mixed with those of the last rounds, with half as much of the new each time F falls on no part of the way.
//!
//! Guarantee: a round that does not lower F is not kept, so F never rises; it begins at standard NMF, at standard NMF of rows of
//! equal norm, and at Fairer-NMF for the worst share and the rest, so that none of these has a lower F. Not guaranteed: a global
//! optimum.

#[cfg(test)]
mod tests;

use crate::baseline::{Baseline, GroupBaseline};
use crate::bound::BoundReport;
use crate::data::GroupedData;
use crate::evaluate::evaluate;
use crate::iteration::{Checkpoint, Start};
use crate::model::ShareReport;
use crate::parameters::{Method, Parameters};
use crate::progress::{Observer, Progress};
use crate::search::{Fit, fit_plain};
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use crate::yardsticks::baselines_within;
use crate::{Error, Result};
use ndarray::Array2;
use std::time::Instant;

/// Iterations of standard NMF in one round.
const ITERATIONS: usize = 5;
/// Rounds at the most.
const ROUNDS: usize = 200;
/// The least part of the new weights that is tried.
const LEAST_PART: f64 = 1.0 / 64.0;
/// Parts of the way to the dictionary that weights lead to.
const PARTS: [f64; 4] = [1.0, 0.25, 1.0 / 16.0, 1.0 / 64.0];
/// Errors below this share of the largest count as that much, so that no weight grows without limit.
const LEAST_ERROR: f64 = 1e-3;
/// Rounds in a row that fall by less than the tolerance, and then it stands still.
const STANDING: usize = 3;

/// The worst share of rows with these relative errors and weights: its mean error, the error that it begins at, and q.
pub(crate) fn worst_share(errors: &[f64], weights: &[f64], share: f64) -> (f64, f64, Vec<f64>) {
    let room = share * weights.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
    let (mut taken, mut mean, mut threshold) = (0.0, 0.0, 0.0);
    let mut q = vec![0.0; errors.len()];
    for i in order {
        // A row without weight is no end: there may be room for those after it.
        let part = weights[i].min(room - taken);
        if part <= 0.0 {
            continue;
        }
        // Room is positive: some row has a weight, and β is above zero.
        q[i] = part / room;
        mean += q[i] * errors[i];
        threshold = errors[i];
        taken += part;
    }
    (mean, threshold, q)
}

/// What the rows are at one dictionary.
#[derive(Clone)]
struct Stand {
    components: Array2<f64>,
    /// e_i, in the order of the data.
    errors: Vec<f64>,
    /// ‖X_ℓ − W_ℓH‖/N_ℓ of the groups.
    of_groups: Vec<f64>,
    value: f64,
}

struct Task<'a, 'd> {
    data: &'a GroupedData<'d>,
    /// The same rows in one group.
    whole: GroupedData<'d>,
    share: f64,
    /// ω_i; 0 for rows that play no part.
    weights: Vec<f64>,
    /// ω_i‖x_i‖².
    norms: Vec<f64>,
    parameters: Parameters,
    /// Of the whole fit.
    deadline: Option<Instant>,
    observer: &'a Observer<'a>,
}

/// Whether the time is up.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

pub(super) fn fit_share(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    share: f64,
    (start, checkpoint): (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit> {
    parameters.check()?;
    if checkpoint.is_some() {
        let (name, value) = ("checkpoint", "given".to_owned());
        let expected = "the worst share of rows is fitted without one: leave it out";
        return Err(Error::Parameter { name, value, expected });
    }
    let begin = Instant::now();
    let deadline = parameters.stopping.deadline(begin);
    // Losses of groups are reported, not minimised: no allowance is drawn.
    let baseline = match &parameters.baseline {
        Baseline::Adjusted { estimate, .. } => Baseline::Estimate(estimate.clone()),
        other => other.clone(),
    };
    let (rank, seed) = (parameters.rank, parameters.seed);
    let baselines = baselines_within(data, rank, &baseline, seed, deadline, observer)?;
    let cut_short = is_over(deadline) && matches!(baseline, Baseline::Estimate(_));
    let baseline_time = begin.elapsed();
    let mut weights = vec![0.0; data.rows()];
    let mut norms = weights.clone();
    for row in data.grouped_rows() {
        (weights[row], norms[row]) = (data.weight(row), data.row_squared_norm(row));
    }
    let whole = data.weighted_rows(&weights)?;
    let task = Task {
        data,
        whole,
        share,
        weights,
        norms,
        parameters: parameters.clone(),
        deadline,
        observer,
    };
    let mut best: Option<(Stand, Vec<Stand>, Status)> = None;
    let mut out_of_time = false;
    for first in task.starts(start)? {
        let (end, path, status) = task.refine(first)?;
        out_of_time |= status == Status::TimeLimit;
        if best.as_ref().is_none_or(|(kept, ..)| end.value < kept.value) {
            best = Some((end, path, status));
        }
    }
    let (end, path, mut status) = best.expect("there is at least one start");
    if out_of_time && status != Status::Stopped {
        status = Status::TimeLimit;
    }
    let errors = GroupBaseline::errors(&baselines);
    let closing = Parameters {
        method: Method::Standard { update: Update::Nnls },
        baseline: Baseline::Given { errors },
        stopping: Stopping { max_iterations: 0, time_limit: None, ..parameters.stopping },
        bound: false,
        ..parameters.clone()
    };
    let start = Start { components: Some(end.components), representation: None };
    let mut found = fit_plain(data, &closing, Some(&start), None, observer)?;
    found.baseline_time = baseline_time;
    found.fit_time = begin.elapsed() - baseline_time;
    let model = &mut found.model;
    let norms: Vec<f64> = model.groups.iter().map(|g| g.norm).collect();
    let losses = |stand: &Stand| {
        let of = |l: usize| baselines[l].criterion(norms[l]).relative_loss(stand.of_groups[l]);
        (0..norms.len()).map(of).collect::<Vec<f64>>()
    };
    model.history = path[1..].iter().map(losses).collect();
    for (group, baseline) in model.groups.iter_mut().zip(baselines) {
        group.baseline = baseline;
    }
    model.parameters = parameters.clone();
    model.status = status;
    model.warnings = crate::Warning::of(&model.groups, parameters, status);
    if cut_short {
        model.warnings.push(crate::Warning::BaselinesCutShort);
    }
    let reason = "the worst share of rows was minimised, not the worst loss of groups";
    model.global_bound = BoundReport::absent("bound-of-groups", reason);
    let (error, threshold, _) = worst_share(&end.errors, &task.weights, share);
    let history = path.iter().map(|stand| stand.value).collect();
    model.worst_share = Some(ShareReport { share, error, threshold, history });
    Ok(found)
}

impl Task<'_, '_> {
    /// Where it begins.
    fn starts(&self, given: Option<&Start>) -> Result<Vec<Stand>> {
        if let Some(start) = given {
            let Some(h) = &start.components else {
                let (name, value) = ("start", "a representation alone".to_owned());
                let expected =
                    "the worst share of rows begins at a dictionary: give the components";
                return Err(Error::Parameter { name, value, expected });
            };
            return Ok(vec![self.stand(h.clone())?]);
        }
        let standard = super::fit(&self.whole, &self.standard(), self.observer)?.model.components;
        let mut stands = vec![self.stand(standard)?];
        if is_over(self.deadline) {
            return Ok(stands);
        }
        // Rows of equal norm, however many.
        let even = |(w, n): (&f64, &f64)| if *n > 0.0 { w * w / n } else { 0.0 };
        let even: Vec<f64> = self.weights.iter().zip(&self.norms).map(even).collect();
        let even = self.data.weighted_rows(&relative(even))?;
        let even = super::fit(&even, &self.standard(), self.observer)?.model.components;
        stands.push(self.stand(even)?);
        if is_over(self.deadline) {
            return Ok(stands);
        }
        let divided = self.divided(&stands[0])?;
        stands.extend(divided.map(|h| self.stand(h)).transpose()?);
        Ok(stands)
    }

    /// Fairer-NMF for two groups, the worst share of rows at a dictionary and the rest, each with its relative error: it finds its way
    /// between dictionaries that no small step leads to. None where one of the two is nothing.
    fn divided(&self, at: &Stand) -> Result<Option<Array2<f64>>> {
        let (_, _, q) = worst_share(&at.errors, &self.weights, self.share);
        let (worst, rest): (Vec<usize>, Vec<usize>) =
            self.whole.groups()[0].rows.iter().partition(|&&row| q[row] > 0.0);
        if worst.is_empty() || rest.is_empty() {
            return Ok(None);
        }
        let groups = vec![("rest".to_owned(), rest), ("worst".to_owned(), worst)];
        let two = match self.whole.regrouped(groups) {
            Err(Error::ZeroGroup { .. }) => return Ok(None),
            other => other?,
        };
        let method = Method::am();
        let parameters = Parameters { method, n_init: 1, ..self.standard() };
        Ok(Some(super::fit(&two, &parameters, self.observer)?.model.components))
    }

    fn standard(&self) -> Parameters {
        let (method, baseline, finish) = (Method::standard(), Baseline::Zero, false);
        Parameters {
            method,
            baseline,
            bound: false,
            finish,
            ..self.parameters.until(self.deadline)
        }
    }

    fn stand(&self, components: Array2<f64>) -> Result<Stand> {
        let zeros = vec![0.0; self.data.groups().len()];
        let found = evaluate(self.data, components.view(), None, &zeros)?;
        let error = |(e, n): (&f64, &f64)| if *n > 0.0 { (e / n).sqrt() } else { 0.0 };
        let errors: Vec<f64> =
            found.row_squared_errors.iter().zip(&self.norms).map(error).collect();
        let (value, ..) = worst_share(&errors, &self.weights, self.share);
        Ok(Stand { components, errors, of_groups: found.relative_errors, value })
    }

    /// Rounds until nothing falls.
    fn refine(&self, first: Stand) -> Result<(Stand, Vec<Stand>, Status)> {
        let all: f64 = self.weights.iter().sum();
        let mut mixed: Vec<f64> = self.weights.iter().map(|w| w / all).collect();
        let (mut now, mut path) = (first.clone(), vec![first]);
        let (mut part, mut standing) = (1.0f64, 0);
        let most = ROUNDS.min(self.parameters.stopping.max_iterations);
        for round in 1..=most {
            let (_, _, wanted) = worst_share(&now.errors, &self.weights, self.share);
            let better = loop {
                if is_over(self.deadline) {
                    return Ok((now, path, Status::TimeLimit));
                }
                let mix = |(m, q): (&f64, &f64)| (1.0 - part) * m + part * q;
                let blend: Vec<f64> = mixed.iter().zip(&wanted).map(mix).collect();
                if let Some(next) = self.below(&now, &blend)? {
                    break Some((next, blend));
                }
                part *= 0.5;
                if part < LEAST_PART {
                    break None;
                }
            };
            let Some((next, blend)) = better else { return Ok((now, path, Status::Converged)) };
            let fall = now.value - next.value;
            (now, mixed) = (next, blend);
            path.push(now.clone());
            part = (2.0 * part).min(1.0);
            if self.tell(round, &now).is_break() {
                return Ok((now, path, Status::Stopped));
            }
            standing = if fall <= self.parameters.stopping.tolerance * now.value {
                standing + 1
            } else {
                0
            };
            if standing == STANDING {
                return Ok((now, path, Status::Converged));
            }
        }
        Ok((now, path, Status::IterationLimit))
    }

    /// Where the weights q lead to, or part of the way there, if F falls. The q of the present errors, where it is the only one, leads
    /// downhill.
    fn below(&self, now: &Stand, q: &[f64]) -> Result<Option<Stand>> {
        let goal = self.go_on(now, q)?;
        for part in PARTS {
            let next = self.stand(&now.components * (1.0 - part) + &goal * part)?;
            if next.value < now.value {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn tell(&self, iteration: usize, now: &Stand) -> std::ops::ControlFlow<()> {
        let (restart, restarts, worst_loss) = (0, 1, now.value);
        let (losses, weights) = (&now.of_groups[..], &vec![0.0; now.of_groups.len()][..]);
        (self.observer)(&Progress::Iteration {
            restart,
            restarts,
            iteration,
            losses,
            weights,
            worst_loss,
        })
    }

    /// Some iterations of standard NMF of rows with the weights q_i/(e_i‖x_i‖²).
    fn go_on(&self, now: &Stand, q: &[f64]) -> Result<Array2<f64>> {
        let largest = now.errors.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Ok(now.components.clone());
        }
        let weight = |i: usize| match self.norms[i] {
            norm if norm > 0.0 => {
                let error = now.errors[i].max(LEAST_ERROR * largest);
                // ‖x_i‖² is norm/ω.
                q[i] * self.weights[i] / (error * norm)
            }
            _ => 0.0,
        };
        let rows = self.data.weighted_rows(&relative((0..q.len()).map(weight).collect()))?;
        let start = Start { components: Some(now.components.clone()), representation: None };
        let mut parameters = self.standard();
        parameters.stopping.max_iterations = ITERATIONS;
        Ok(fit_plain(&rows, &parameters, Some(&start), None, &crate::silent)?.model.components)
    }
}

/// Weights in units of the largest; what is next to nothing beside it is nothing.
fn relative(mut weights: Vec<f64>) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        let to = |w: f64| if w > 1e-12 * largest { w / largest } else { 0.0 };
        weights.iter_mut().for_each(|w| *w = to(*w));
    }
    weights
}
