//! What the statistics behind a page are asked for, and what they leave to say.

use fairer_nmf::audit::{Comparison, Refit, Remark, TradeOffOptions};
use fairer_nmf::{AuditOptions, Parameters, Status};
use fairer_nmf_report::library;

use crate::args::AuditArgs;
use crate::progress;
use fairer_nmf_io::Failure;

/// What was asked for. `fitted` says how to fit anew; a dictionary from elsewhere cannot be.
pub(crate) fn options(
    args: &AuditArgs,
    fitted: Option<&Parameters>,
    trade_off: bool,
    seed: u64,
) -> Result<AuditOptions, Failure> {
    if !(args.level > 0.0 && args.level < 1.0) {
        let level = args.level;
        return Err(Failure::wrong(format!("--level {level}: must lie between 0 and 1")));
    }
    if args.folds == 1 {
        return Err(Failure::wrong("--folds 1: at least two folds are needed, or 0 for none"));
    }
    let refit = match (args.refit, fitted) {
        (None | Some(0), _) => None,
        (Some(draws), Some(parameters)) => Some(Refit {
            draws: draws as usize,
            permutations: draws as usize,
            parameters: parameters.clone(),
        }),
        (Some(_), None) => {
            return Err(Failure::wrong(
                "--refit needs a model of ours: how a dictionary from elsewhere was fitted is not known",
            ));
        }
    };
    Ok(AuditOptions {
        draws: args.draws as usize,
        level: args.level,
        permutations: args.permutations as usize,
        folds: args.folds as usize,
        trade_off: trade_off.then(TradeOffOptions::default),
        refit,
        seed,
        ..AuditOptions::default()
    })
}

/// What the peers and the audits of a comparison leave to say, with the options that help.
pub(crate) fn warnings(found: &Comparison) -> Vec<String> {
    found.remarks.iter().filter_map(warning).chain(unfinished(found)).collect()
}

/// A remark on a peer with the option that helps.
pub(crate) fn warning(remark: &Remark) -> Option<String> {
    let raise = match remark {
        Remark::NotConverged { status: Status::IterationLimit, .. } => "--max-iter or --tol",
        _ => "--time-limit",
    };
    Some(format!("{}: raise {raise}", library::sentence(remark)?))
}

/// What a stop, by the user or by the time limit, has left out, in a sentence.
pub(crate) fn unfinished(found: &Comparison) -> Option<String> {
    let parts = library::missing_parts(&found.remarks)?;
    Some(match progress::stopped() {
        true => format!("the audit was stopped before it was done: it has no {parts}"),
        false => format!(
            "the time limit ended the audit before it was done: it has no {parts}; raise --time-limit"
        ),
    })
}
