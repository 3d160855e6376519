//! The AM scheme (the paper's Algorithm 2): the exact min-max dictionary for the rows, the exact
//! rows for the dictionary, in turn, with two additions that the paper does not have.
//!
//! *A soft beginning.* The first rows go only part of the way to their exact values, so that a
//! random start does not freeze topics at zero before they mean anything.
//!
//! *Looking ahead.* Near a solution plain alternation creeps. The rows are therefore computed for
//! a dictionary extrapolated along its last step (as Ang and Gillis 2019 do for standard NMF). If
//! the largest loss then fails to fall, the step is taken back and repeated without looking ahead.
//!
//! Guarantee: the largest loss after each accepted dictionary step never rises. Not guaranteed:
//! a global optimum; the problem is not convex.

use super::{Context, Driver, Run, Scheme, measure, start};
use crate::Element;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::fit::Progress;
use crate::pass::{self, RowStep};
use crate::stopping::{Measured, Status, Stopping};
use crate::update::Update;
use std::time::Instant;

/// Iterations of the soft beginning, and how far rows go in each.
const SOFT_ITERATIONS: usize = 15;
const SOFT_SHARE: f64 = 0.5;

const EXACT: RowStep = RowStep::Update(Update::Nnls);

pub(super) fn run<T: Element>(
    data: &GroupedData<'_, T>,
    begin: start::Begin<T>,
    scheme: Scheme,
    baselines: &[f64],
    stopping: &Stopping,
    context: &Context<'_>,
    (restart, restarts): (usize, usize),
) -> Run<T> {
    let start::Begin { dictionary: mut h, representation: mut w, step } = begin;
    // A start that already has exact rows needs no soft beginning.
    let soft = if step == RowStep::Keep { SOFT_ITERATIONS } else { 0 };
    let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
    let mut driver = Driver::new(scheme, &norms, baselines);
    let mut statistics = pass::run(data, &h, step, &mut w);
    let mut momentum = Momentum::new();
    let mut accepted: Option<(Dictionary, Measured)> = None;
    let mut history: Vec<Vec<f64>> = Vec::new();
    let mut status = Status::IterationLimit;

    while history.len() < stopping.max_iterations {
        driver.exact_dictionary(&statistics, &mut h);
        let now = measure(data, &statistics, &h, &w, baselines);
        if let Some((last, before)) = &accepted
            && now.worst() > before.worst()
            && momentum.looked_ahead
        {
            h.values.copy_from_slice(&last.values);
            momentum.take_back();
            statistics = pass::run(data, &h, EXACT, &mut w);
            continue;
        }
        history.push(now.losses.clone());
        let iteration = history.len();
        let (losses, worst_loss) = (&now.losses, now.worst());
        let progress = Progress::Iteration { restart, restarts, iteration, losses, worst_loss };
        if (context.observer)(&progress).is_break() {
            status = Status::Stopped;
            break;
        }
        let settled = accepted.as_ref().is_some_and(|(_, before)| stopping.met(before, &now));
        if settled && iteration > soft {
            status = Status::Converged;
            break;
        }
        if context.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            status = Status::TimeLimit;
            break;
        }
        if let Some((_, before)) = &accepted {
            driver.improvement = before.worst() - worst_loss;
        }
        let last = accepted.replace((h.clone(), now)).map(|(h, _)| h);
        statistics = if iteration <= soft {
            pass::run(data, &h, RowStep::Toward { update: Update::Nnls, share: SOFT_SHARE }, &mut w)
        } else {
            pass::run(data, &momentum.ahead(&h, last.as_ref()), EXACT, &mut w)
        };
    }
    // The rows that belong to the final dictionary; this can only lower every group's error.
    let statistics = pass::run(data, &h, EXACT, &mut w);
    let measured = measure(data, &statistics, &h, &w, baselines);
    Run {
        dictionary: h,
        representation: w,
        measured,
        history,
        status,
        step_gap: driver.gap,
        weights: driver.lambda,
    }
}

/// How far to look ahead: further while it helps, less after it did not.
struct Momentum {
    reach: f64,
    limit: f64,
    looked_ahead: bool,
}

impl Momentum {
    fn new() -> Self {
        Self { reach: 0.5, limit: 1.0, looked_ahead: false }
    }

    /// H + reach·(H − H_last), kept non-negative.
    fn ahead(&mut self, h: &Dictionary, last: Option<&Dictionary>) -> Dictionary {
        let mut ahead = h.clone();
        let Some(last) = last else { return ahead };
        for (a, l) in ahead.values.iter_mut().zip(&last.values) {
            *a = (*a + self.reach * (*a - l)).max(0.0);
        }
        self.looked_ahead = true;
        self.reach = (self.reach * 1.05).min(self.limit);
        self.limit = (self.limit * 1.01).min(10.0);
        ahead
    }

    fn take_back(&mut self) {
        self.limit = self.reach;
        self.reach *= 0.6;
        self.looked_ahead = false;
    }
}
