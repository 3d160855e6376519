//! Alternation with a look ahead: the AM scheme (the paper's Algorithm 2: the exact min-max dictionary
//! for the rows, the exact rows for the dictionary, in turn) and standard NMF by HALS or NNLS.
//!
//! *A soft beginning* (AM). The first rows go only part of the way to their exact values, so that a
//! random start does not freeze topics at zero before they mean anything. Where start weights are
//! given, as many soft iterations on the weighted sum of squared relative errors come first; they
//! make the start and are not counted, as the worst loss may move either way there.
//!
//! *Looking ahead.* Near a solution plain alternation creeps. The rows are therefore computed for
//! a dictionary extrapolated along its last step (as Ang and Gillis 2019 do for standard NMF). If
//! the objective then fails to fall, the step is taken back: exact rows for the last dictionary,
//! without looking ahead. Measured on standard NMF by HALS, seconds without over seconds with, to
//! the error of iteration 60, three starts each, one thread of a loaded machine: dense 2,000×500 at
//! rank 20 1.5 to 2.0, sparse 5,000×5,000 at rank 20 2.1 to 2.5, sparse 2,000×10,000 at rank 50 2.0 to
//! 2.1; where little is left to gain by then: dense 500×2,000 at rank 50 0.7 to 1.6, 3,000×300 of
//! mostly noise at rank 10 0.7 to 1.3.
//!
//! Guarantee: the objective (AM: the largest loss, standard: the sum of squared errors) after each
//! accepted dictionary step never rises. Not guaranteed: a global optimum; the problem is not
//! convex.

use super::driver::Driver;
use super::measure::measure;
use super::run::{Journal, Run, Task};
use super::start::Begin;
use crate::Element;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::pass::{self, RowStep};
use crate::stopping::Measured;
use crate::update::Update;
use crate::weights::WeightRule;

/// Iterations of the soft beginning, and how far rows go in each.
const SOFT_ITERATIONS: usize = 15;
const SOFT_SHARE: f64 = 0.5;

const SOFT: RowStep = RowStep::Toward { update: Update::Nnls, share: SOFT_SHARE };
const EXACT: RowStep = RowStep::Update(Update::Nnls);

pub(super) fn run<T: Element>(
    data: &GroupedData<'_, T>,
    begin: Begin<T>,
    task: &Task<'_>,
) -> Run<T> {
    let Begin { dictionary: mut h, representation: mut w, step } = begin;
    let mut driver = Driver::new(data, task);
    let mut journal = Journal::new();
    let mut statistics = pass::run(data, &h, step, &mut w);
    let am = matches!(task.scheme.weights, WeightRule::MinMax { .. });
    let rows = RowStep::Update(task.scheme.rows);
    let objective = |measured: &Measured| match am {
        true => measured.worst(),
        false => measured.errors.iter().map(|e| e * e).sum(),
    };
    // A start that already has exact rows needs no soft beginning.
    let soft = if am && step == RowStep::Keep { SOFT_ITERATIONS } else { 0 };
    if let Some(weights) = task.start_weights.filter(|_| soft > 0) {
        for _ in 0..soft {
            driver.weighted_dictionary(weights, &statistics, &mut h);
            statistics = pass::run(data, &h, SOFT, &mut w);
            let now = measure(data, &statistics, &h, &w, task.baselines);
            // The first iteration then ends the run and says why.
            if task.tell(0, &now, weights).is_break() || task.is_over() {
                break;
            }
        }
    }
    let mut momentum = Momentum::new();
    let mut accepted: Option<(Dictionary, Measured)> = None;

    while journal.iterations() < task.stopping.max_iterations {
        if am {
            driver.exact_dictionary(&statistics, &mut h);
        } else {
            driver.even_dictionary(&statistics, &mut h);
        }
        let now = measure(data, &statistics, &h, &w, task.baselines);
        if let Some((last, before)) = &accepted
            && objective(&now) > objective(before)
            && momentum.looked_ahead
        {
            h.values.copy_from_slice(&last.values);
            momentum.take_back();
            statistics = pass::run(data, &h, EXACT, &mut w);
            continue;
        }
        let stands = accepted.as_ref().is_some_and(|(_, before)| task.stopping.met(before, &now));
        if journal.ends(task, &now, &driver.lambda, stands && journal.iterations() >= soft) {
            break;
        }
        if let Some((_, before)) = &accepted {
            driver.improvement = objective(before) - objective(&now);
        }
        let last = accepted.replace((h.clone(), now)).map(|(h, _)| h);
        statistics = if journal.iterations() <= soft {
            pass::run(data, &h, SOFT, &mut w)
        } else {
            pass::run(data, &momentum.ahead(&h, last.as_ref()), rows, &mut w)
        };
    }
    // The rows that belong to the final dictionary; this can only lower every group's error.
    let statistics = pass::run(data, &h, RowStep::Update(task.closing), &mut w);
    let measured = measure(data, &statistics, &h, &w, task.baselines);
    journal.close(h, w, measured, driver)
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
