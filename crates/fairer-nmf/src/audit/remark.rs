//! What is missing or unfinished in a comparison.

use super::AuditPart;
use crate::progress::Role;
use crate::stopping::Status;
use serde::{Deserialize, Serialize};

/// Something that a reader of a comparison has to know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "code")]
#[non_exhaustive]
pub enum Remark {
    /// A peer did not converge.
    NotConverged {
        /// Which.
        role: Role,
        /// How its fit ended.
        status: Status,
        /// What it was allowed.
        max_iterations: usize,
    },
    /// No time was left to fit a peer.
    OutOfTime {
        /// Which.
        role: Role,
    },
    /// A part of an audit was stopped.
    Unfinished {
        /// Whose audit.
        role: Role,
        /// Which part.
        part: AuditPart,
    },
}
