//! The audit: what a dictionary, ours or anyone's, costs each group, and how sure that is.
//!
//! Everything here starts from [`evaluate`], which turns a dictionary into one squared error per
//! sample. Data are touched again only where something is fitted anew.

mod bootstrap;
mod chance;
mod comparison;
mod difference;
mod findings;
mod group;
mod individuals;
mod options;
mod peers;
mod permutation;
pub mod rank;
mod remark;
mod report;
mod residuals;
mod sentence;
mod spread;
mod subject;
mod topics;
mod trade_off;
mod unseen;
mod untested;
mod verdict;

pub use crate::criterion::ChanceBand;
pub use crate::evaluate::{Evaluation, evaluate};
pub use crate::progress::{AuditPart, Role};
pub use crate::yardsticks::{
    HeldOut, HeldOutGroup, chance_bands, chance_losses, held_out, is_small,
};
pub use bootstrap::{Bootstrap, GroupIntervals, Interval, Resampling, bootstrap, bootstrap_refit};
pub use chance::{DrawBudget, GroupChance, RandomGroups};
pub use comparison::{AuditedPeer, Comparison, compare};
pub use difference::{Differences, GroupDifference, Range};
pub use findings::VerdictCode;
pub use group::GroupAudit;
pub use individuals::{Direction, GroupChange, Individuals, compare_individuals};
pub use options::{AuditOptions, Refit};
pub use peers::{Peer, PeerPlan, Peers, fit_peers};
pub use permutation::{
    Chance, GroupChances, Permutation, permutation_test, permutation_test_refit,
};
pub use remark::Remark;
pub use report::{AuditReport, Pair, audit, audit_pair};
pub use residuals::{FeatureError, feature_errors};
pub use spread::{evaluate_rows, evaluate_spread};
pub use subject::Subject;
pub use topics::{Topic, TopicFeature, TopicMatch, describe_topics, match_topics};
pub use trade_off::{TradeOff, TradeOffOptions, TradeOffPoint, trade_off};
pub use verdict::Verdict;

use crate::data::GroupedData;

/// What the tests know of the samples, in the order of the data.
struct RowErrors<'a> {
    /// ‖x_i − w_iH‖².
    squared_errors: &'a [f64],
    /// ‖x_i‖².
    squared_norms: Vec<f64>,
}

impl<'a> RowErrors<'a> {
    fn new(data: &GroupedData<'_>, squared_errors: &'a [f64]) -> Self {
        Self { squared_errors, squared_norms: data.row_squared_norms() }
    }

    /// R-Error of a set of rows, not all of them zero.
    fn relative_error(&self, rows: &[usize]) -> f64 {
        let error: f64 = rows.iter().map(|&row| self.squared_errors[row]).sum();
        let norm: f64 = rows.iter().map(|&row| self.squared_norms[row]).sum();
        (error / norm).sqrt()
    }
}
