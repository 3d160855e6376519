//! When a run ends, and how it ended.

use crate::measured::Measured;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What has to stand still for a run to have converged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// |Δ‖X_ℓ − W_ℓH‖| relative to itself, in every group: the paper's text.
    Error,
    /// |Δg_ℓ| relative to |g_ℓ|, in every group: the published code. Misbehaves near zero loss.
    Loss,
    /// |Δ‖X − WH‖| relative to itself, all groups together: the published code of standard NMF.
    /// Blind to groups that trade places while their sum stands still.
    Total,
}

/// The rules that end a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stopping {
    /// What is watched.
    pub change: Change,
    /// Largest relative change from one iteration to the next that counts as standing still.
    pub tolerance: f64,
    /// A group whose R-Error is below this counts as settled, whatever its change.
    pub relative_error_below: Option<f64>,
    /// A group whose loss is below this counts as settled, whatever its change.
    pub loss_below: Option<f64>,
    /// Iterations at the most.
    pub max_iterations: usize,
    /// Time at the most, for the whole fit, baselines included; checked once an iteration, and inside one that takes a quarter
    /// of it more (in memory; a second at the least).
    pub time_limit: Option<Duration>,
}

crate::changeable!(Stopping);

impl Default for Stopping {
    fn default() -> Self {
        Self {
            change: Change::Error,
            tolerance: 1e-4,
            relative_error_below: None,
            loss_below: None,
            max_iterations: 10_000,
            time_limit: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The stopping rule was met.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// The callback asked to stop.
    Stopped,
}

impl Status {
    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration-limit",
            Self::TimeLimit => "time-limit",
            Self::Stopped => "stopped",
        }
    }

    /// Whether a stop or a limit on time ended it, so that its error is of that making.
    #[must_use]
    pub fn is_cut_short(self) -> bool {
        matches!(self, Self::TimeLimit | Self::Stopped)
    }
}

impl Stopping {
    pub(crate) fn deadline(&self, start: Instant) -> Option<Instant> {
        self.time_limit.and_then(|limit| start.checked_add(limit))
    }

    /// The same with what is left of the time until a deadline.
    pub(crate) fn until(&self, deadline: Option<Instant>) -> Self {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        Self { time_limit: deadline.map(left), ..*self }
    }

    /// Whether every group stands still between two iterations, or is settled.
    pub(crate) fn met(&self, before: &Measured, now: &Measured) -> bool {
        // `<=` so that what is fitted exactly, with 0 before and after, stands still.
        let still = |old: f64, new: f64| (new - old).abs() <= self.tolerance * old.abs();
        (0..now.losses.len()).all(|l| {
            let settled = self.relative_error_below.is_some_and(|t| now.relative_errors[l] < t)
                || self.loss_below.is_some_and(|t| now.losses[l] < t);
            settled
                || match self.change {
                    Change::Error => still(before.errors[l], now.errors[l]),
                    Change::Loss => still(before.losses[l], now.losses[l]),
                    Change::Total => still(before.total_error(), now.total_error()),
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_still_while_groups_trade_places() {
        let measured = |errors: [f64; 2]| Measured {
            errors: errors.to_vec(),
            relative_errors: errors.to_vec(),
            losses: errors.to_vec(),
            whole: None,
        };
        let (before, now) = (measured([3.0, 4.0]), measured([4.0, 3.0]));
        let met = |change| Stopping { change, ..Stopping::default() }.met(&before, &now);
        assert!(met(Change::Total));
        assert!(!met(Change::Error) && !met(Change::Loss));
        let moved = measured([3.0, 4.1]);
        assert!(!Stopping { change: Change::Total, ..Stopping::default() }.met(&before, &moved));
    }

    /// Relative to the error itself: neither large nor small errors stand still sooner.
    #[test]
    fn the_tolerance_is_relative() {
        let measured = |error: f64| Measured {
            errors: vec![error],
            relative_errors: vec![error],
            losses: vec![error],
            whole: None,
        };
        for change in [Change::Error, Change::Loss, Change::Total] {
            let rule = Stopping { change, tolerance: 1e-4, ..Stopping::default() };
            for size in [1e-6, 1.0, 1e6] {
                let met = |by: f64| rule.met(&measured(size), &measured(size * (1.0 - by)));
                assert!(met(5e-5) && met(-5e-5), "{change:?} at {size:e}");
                assert!(!met(2e-4) && !met(-2e-4), "{change:?} at {size:e}");
            }
        }
        assert!(Stopping::default().met(&measured(0.0), &measured(0.0)));
    }

    /// Below what counts as settled, not at it; each rule by itself.
    #[test]
    fn a_settled_group_may_move() {
        let measured = |error: f64, relative: f64, loss: f64| Measured {
            errors: vec![error],
            relative_errors: vec![relative],
            losses: vec![loss],
            whole: None,
        };
        let before = measured(1.0, 0.5, 0.5);
        let by_error = Stopping { relative_error_below: Some(0.25), ..Stopping::default() };
        assert!(by_error.met(&before, &measured(0.5, 0.24, 0.4)));
        assert!(!by_error.met(&before, &measured(0.5, 0.25, 0.1)));
        let by_loss = Stopping { loss_below: Some(0.25), ..Stopping::default() };
        assert!(by_loss.met(&before, &measured(0.5, 0.4, 0.24)));
        assert!(!by_loss.met(&before, &measured(0.5, 0.1, 0.25)));
    }

    #[test]
    fn until_a_deadline_is_what_is_left_of_the_time() {
        let hour = Duration::from_secs(3600);
        let rule = Stopping { time_limit: Some(hour), ..Stopping::default() };
        let now = Instant::now();
        assert_eq!(rule.deadline(now), Some(now + hour));
        assert_eq!(rule.until(Some(now)).time_limit, Some(Duration::ZERO));
        assert!(rule.until(Some(now + hour / 2)).time_limit.unwrap() <= hour / 2);
        assert_eq!(rule.until(None).time_limit, None);
    }

    #[test]
    fn names_are_those_of_files() {
        for status in
            [Status::Converged, Status::IterationLimit, Status::TimeLimit, Status::Stopped]
        {
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{}\"", status.name()));
        }
    }
}
