//! What a run is asked for, and what it writes down as it goes.

use super::checkpoint::Keeper;
use super::made::Part;
use super::scheme::Scheme;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::measured::Measured;
use crate::progress::{Observer, Progress};
use crate::rows::RowStep;
use crate::statistics::Statistics;
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use std::ops::ControlFlow;
use std::time::Instant;

/// What a run shares with its caller: who watches, and until when.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub observer: &'a Observer<'a>,
    pub deadline: Option<Instant>,
    /// When an iteration that is under way ends inside.
    pub limit: Limit,
    /// Who keeps the state of the run, where it is kept.
    pub keeper: Option<&'a Keeper>,
}

impl<'a> Context<'a> {
    /// Without limits and without a keeper.
    pub fn without_limit(observer: &'a Observer<'a>) -> Self {
        Self { observer, deadline: None, limit: Limit::NONE, keeper: None }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Where a run begins: H, and what the first pass does with a W that the rows hold already.
pub(crate) struct Begin {
    pub dictionary: Dictionary,
    pub first: First,
    /// What earlier iterations of the same run left, where it goes on.
    pub history: Vec<Vec<f64>>,
}

/// How the first statistics come about.
pub(crate) enum First {
    /// By a pass.
    Pass(RowStep),
    /// They are known, with what the dictionary achieves.
    Known(Vec<Statistics>, Measured),
}

/// What a run is asked for, wherever it begins.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub scheme: Scheme<'a>,
    /// The rows' last update, for the final dictionary, where the loop has not just made them; none where nobody asks for rows.
    pub closing: Option<Update>,
    /// The criterion of every group.
    pub criteria: &'a [Criterion],
    /// Weights w_ℓ (sum 1) of the squared relative errors that a soft beginning leads up with.
    pub start_weights: Option<&'a [f64]>,
    pub stopping: &'a Stopping,
    /// End where the objective falls by less than this, and keep no step that does not lower it.
    pub least_fall: Option<f64>,
    /// Go on until the worst loss stands still over many iterations, not the errors over one.
    pub finishing: bool,
    pub context: Context<'a>,
    /// Number of the run, from 0, and how many there are.
    pub restart: usize,
    pub restarts: usize,
    /// What the run is for.
    pub part: Part,
}

impl<'a> Task<'a> {
    /// A run by itself, until its errors stand still, with exact rows at the end.
    pub fn alone(
        scheme: Scheme<'a>,
        criteria: &'a [Criterion],
        stopping: &'a Stopping,
        context: Context<'a>,
    ) -> Self {
        Self {
            scheme,
            closing: Some(Update::Nnls),
            criteria,
            start_weights: None,
            stopping,
            least_fall: None,
            finishing: false,
            context,
            restart: 0,
            restarts: 1,
            part: Part::Restart,
        }
    }

    /// What the checkpoint of the run is called.
    pub fn name(&self) -> String {
        self.part.name(self.restart)
    }

    /// Tells the observer of an iteration, and brings back its answer.
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
}

/// What a run writes down as it goes, and how it ended.
pub(super) struct Journal {
    pub history: Vec<Vec<f64>>,
    pub status: Status,
}

impl Journal {
    pub fn new(history: Vec<Vec<f64>>) -> Self {
        Self { history, status: Status::IterationLimit }
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
        } else if task.context.is_over() {
            Status::TimeLimit
        } else {
            return false;
        };
        self.status = ended;
        true
    }
}
