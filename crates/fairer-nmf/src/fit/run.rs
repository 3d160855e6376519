//! One run: the loop that every method shares.

use super::driver::Driver;
use super::measure::measure;
use super::start::{self, Begin};
use super::{Init, Observer, Progress, alternate};
use crate::Element;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::pass::{self, RowStep};
use crate::stopping::{Measured, Status, Stopping};
use crate::update::Update;
use crate::weights::WeightRule;
use std::ops::ControlFlow;
use std::time::Instant;

/// What a run shares with its caller: who watches, and until when.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub observer: &'a Observer<'a>,
    pub deadline: Option<Instant>,
}

impl Context<'_> {
    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The three interchangeable pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheme {
    pub rows: Update,
    pub dictionary: Update,
    pub weights: WeightRule,
}

impl Scheme {
    pub fn standard(update: Update) -> Self {
        Self { rows: update, dictionary: update, weights: WeightRule::Uniform }
    }
}

/// One restart's factors *and* what they achieve.
pub(crate) struct Run<T> {
    pub dictionary: Dictionary,
    /// W, rows in the order of the groups.
    pub representation: Vec<T>,
    pub measured: Measured,
    pub history: Vec<Vec<f64>>,
    pub status: Status,
    pub step_gap: Option<f64>,
    pub weights: Vec<f64>,
}

/// What a run is asked for, wherever it begins.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub scheme: Scheme,
    /// The rows' last update, for the final dictionary (not under multiplicative updates, which have
    /// none).
    pub closing: Update,
    /// E_ℓ of every group.
    pub baselines: &'a [f64],
    /// Weights w_ℓ (sum 1) of the squared relative errors that the AM scheme begins with.
    pub start_weights: Option<&'a [f64]>,
    pub stopping: &'a Stopping,
    pub context: Context<'a>,
    /// Number of the run, from 0, and how many there are.
    pub restart: usize,
    pub restarts: usize,
}

impl Task<'_> {
    /// Tells the observer of an iteration, and brings back his answer.
    pub fn tell(&self, iteration: usize, now: &Measured, weights: &[f64]) -> ControlFlow<()> {
        (self.context.observer)(&Progress::Iteration {
            restart: self.restart,
            restarts: self.restarts,
            iteration,
            losses: &now.losses,
            weights,
            worst_loss: now.worst(),
        })
    }

    /// Whether its time is up.
    pub fn is_over(&self) -> bool {
        self.context.is_over()
    }
}

/// One run from an initialisation: what baselines are made of.
pub(crate) fn run_once<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    init: &Init,
    seed: u64,
    task: &Task<'_>,
) -> Run<T> {
    iterate(data, start::make(data, rank, init, task.restart, seed), task)
}

/// The loop: dictionary, rows, losses, until nothing moves.
pub(super) fn iterate<T: Element>(
    data: &GroupedData<'_, T>,
    begin: Begin<T>,
    task: &Task<'_>,
) -> Run<T> {
    // Multiplicative updates are as published; the others look ahead.
    if task.scheme.rows != Update::Mu {
        return alternate::run(data, begin, task);
    }
    let Begin { dictionary: mut h, representation: mut w, step } = begin;
    let mut driver = Driver::new(data, task);
    let mut journal = Journal::new();
    let mut statistics = pass::run(data, &h, step, &mut w);
    let mut now = measure(data, &statistics, &h, &w, task.baselines);

    while journal.iterations() < task.stopping.max_iterations {
        driver.update_dictionary(&statistics, &now.losses, &mut h);
        statistics = pass::run(data, &h, RowStep::Update(task.scheme.rows), &mut w);
        let before =
            std::mem::replace(&mut now, measure(data, &statistics, &h, &w, task.baselines));
        let settled = journal.iterations() > 0 && task.stopping.met(&before, &now);
        if journal.ends(task, &now, &driver.lambda, settled) {
            break;
        }
    }
    journal.close(h, w, now, driver)
}

/// What a run writes down as it goes, and how it ended.
pub(super) struct Journal {
    history: Vec<Vec<f64>>,
    status: Status,
}

impl Journal {
    pub fn new() -> Self {
        Self { history: Vec::new(), status: Status::IterationLimit }
    }

    /// Number of iterations so far.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// Enters an iteration, tells the observer, and says whether it was the last one.
    pub fn ends(
        &mut self,
        task: &Task<'_>,
        now: &Measured,
        weights: &[f64],
        settled: bool,
    ) -> bool {
        self.history.push(now.losses.clone());
        let ended = if task.tell(self.iterations(), now, weights).is_break() {
            Status::Stopped
        } else if settled {
            Status::Converged
        } else if task.is_over() {
            Status::TimeLimit
        } else {
            return false;
        };
        self.status = ended;
        true
    }

    /// The run that was recorded, with its last factors.
    pub fn close<T>(
        self,
        dictionary: Dictionary,
        representation: Vec<T>,
        measured: Measured,
        driver: Driver<'_>,
    ) -> Run<T> {
        Run {
            dictionary,
            representation,
            measured,
            history: self.history,
            status: self.status,
            step_gap: driver.gap,
            weights: driver.lambda,
        }
    }
}
