//! What a comparison leaves to say, with the options that help.

use fairer_nmf::audit::{Comparison, Remark};
use fairer_nmf::stopping::Status;
use fairer_nmf_report as page;
use fairer_nmf_report::library;

use crate::screen::stopped;

/// What the peers and the audits of a comparison leave to say, with the options that help.
pub(crate) fn warnings(found: &Comparison) -> Vec<page::Remark> {
    found.remarks.iter().filter_map(warning).chain(unfinished(found)).collect()
}

/// A remark on a model of the comparison, with the option that helps, if one does.
pub(crate) fn warning(remark: &Remark) -> Option<page::Remark> {
    let raise = match remark {
        Remark::TotalErrorRose { .. } => return library::remark(remark),
        Remark::BetterPoint { .. } => "--n-init",
        Remark::NotConverged { status: Status::IterationLimit, .. } => "--max-iter or --tol",
        _ => "--time-limit",
    };
    let page::Remark { code, sentence } = library::remark(remark)?;
    Some(page::Remark { code, sentence: format!("{sentence}: raise {raise}") })
}

/// What a stop, by the user or by the time limit, has left out, in a sentence.
pub(crate) fn unfinished(found: &Comparison) -> Option<page::Remark> {
    let parts = library::missing_parts(&found.remarks)?;
    let sentence = match stopped() {
        true => format!("the audit was stopped before it was done: it has no {parts}"),
        false => format!(
            "the time limit ended the audit before it was done: it has no {parts}; raise --time-limit"
        ),
    };
    Some(page::Remark::new("audit-unfinished", sentence))
}
