//! What is missing or unfinished in a comparison, and what a model beside it costs all together.

use super::{AuditPart, AuditReport, TradeOffPoint};
use crate::Warning;
use crate::model::Model;
use crate::progress::Role;
use crate::stopping::Status;
use serde::{Deserialize, Serialize};

/// Something that a reader of a comparison has to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// A model that evens the groups out loses clearly more of all data than standard NMF.
    TotalErrorRose {
        /// Which.
        role: Role,
        /// By how much, and for whom: [`Warning::TotalErrorRose`].
        rise: Warning,
    },
    /// A point of the curve loses less of all data than the fairer model at its end, and has a smaller largest loss.
    BetterPoint {
        /// Which model.
        role: Role,
    },
}

/// Share of a number by which it has to be smaller, or that much, to be better by more than a search can promise.
const BETTER: (f64, f64) = (1e-3, 1e-5);

impl Remark {
    /// What a model that evens the groups out costs all together, where that has to be said; `beside` is the audit of
    /// standard NMF. A fit that was cut short has an error of its own making.
    pub(super) fn of_rise(
        (role, audit): (Role, &AuditReport),
        model: Option<&Model>,
        beside: &AuditReport,
    ) -> Option<Self> {
        if model.is_some_and(|m| m.status.is_cut_short()) {
            return None;
        }
        let warnings = model.map_or(&[][..], |m| &m.warnings);
        let groups = audit.groups.iter().zip(&beside.groups);
        let helped = groups.filter(|(g, _)| !g.outside && !Warning::leaves(warnings, &g.name));
        let falls = helped.map(|(g, s)| (&g.name[..], g.rows, s.relative_error - g.relative_error));
        let rise = Warning::of_falls(falls, audit.total_error, beside.total_error)?;
        Some(Self::TotalErrorRose { role, rise })
    }

    /// That a point of the curve is better in both than the fairer model at its end.
    pub(super) fn of_curve(
        (role, audit): (Role, &AuditReport),
        curve: &[TradeOffPoint],
    ) -> Option<Self> {
        let lower = |a: f64, b: f64| a < b - (BETTER.0 * b.abs()).max(BETTER.1);
        let better = |p: &TradeOffPoint| {
            lower(p.total_error, audit.total_error)
                && lower(p.worst_criterion, audit.worst_criterion())
        };
        curve.iter().any(better).then_some(Self::BetterPoint { role })
    }
}
