//! What fits and audits tell while they work, and how they are told to stop.

use crate::stopping::Stopping;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What a fit tells its observer. Returning [`ControlFlow::Break`] stops the fit at the next
/// iteration, with the status [`Status::Stopped`](crate::stopping::Status::Stopped).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Baseline runs finished so far.
    Baselines {
        /// Runs done.
        done: usize,
        /// Runs in all.
        total: usize,
    },
    /// An iteration of a restart ended.
    Iteration {
        /// Number of the restart, from 0.
        restart: usize,
        /// Restarts in all.
        restarts: usize,
        /// Number of the iteration, from 1; 0 while start weights lead up to the first.
        iteration: usize,
        /// What the run lowers, of every group: losses against what the fit holds errors against, which is the baseline and what
        /// is allowed beyond it. Where the worst share of rows is minimised, relative errors.
        losses: &'a [f64],
        /// λ: the share of every group in the dictionary step (sum 1): of the exact one, or by the rule of its weights; even
        /// for standard NMF. A group at 0 has no say in the dictionary of this iteration. All are 0 where the worst share of
        /// rows is minimised: its weights are of rows.
        weights: &'a [f64],
        /// The largest of the losses; the mean relative error of the worst share of rows, where that is minimised.
        worst_loss: f64,
    },
    /// An audit is at work.
    Audit {
        /// On which part.
        part: AuditPart,
        /// Steps of the part done.
        done: usize,
        /// Steps of the part in all.
        total: usize,
    },
    /// The next piece of a comparison begins: a fit with these limits, or else an audit.
    Comparison {
        /// Of which model.
        role: Role,
        /// What limits the fit.
        fit: Option<&'a Stopping>,
    },
}

/// The observer of a fit or an audit: called once an iteration or step, possibly from several
/// threads.
pub type Observer<'a> = dyn Fn(&Progress<'_>) -> ControlFlow<()> + Sync + 'a;

/// An observer that says nothing and never stops anything.
pub fn silent(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A part of an audit that can take long, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AuditPart {
    /// The choice of a rank, before anything else.
    Rank,
    /// Bootstrap intervals with the dictionary fixed.
    Intervals,
    /// The permutation test that estimates nothing anew.
    Permutation,
    /// Held-out baselines.
    HeldOut,
    /// Differences between groups on rows that dictionaries have not seen.
    Differences,
    /// What random groups pay.
    RandomGroups,
    /// The trade-off curve.
    TradeOff,
    /// Bootstrap intervals with a refit in every draw.
    RefitIntervals,
    /// The permutation test with new baselines in every draw.
    RefitPermutation,
}

impl AuditPart {
    /// The part in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rank => "choice of the rank",
            Self::Intervals => "bootstrap intervals",
            Self::Permutation => "permutation test",
            Self::HeldOut => "held-out baselines",
            Self::Differences => "differences between groups",
            Self::RandomGroups => "random groups",
            Self::TradeOff => "trade-off curve",
            Self::RefitIntervals => "bootstrap intervals with refits",
            Self::RefitPermutation => "permutation test with refits",
        }
    }
}

/// Who is who in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The dictionary that the audit is about.
    #[default]
    Subject,
    /// Standard NMF beside it.
    Standard,
    /// Fairer-NMF beside it.
    Fairer,
}
