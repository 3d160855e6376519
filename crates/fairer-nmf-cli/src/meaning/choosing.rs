//! What is to be minimised, and for whom.

use fairer_nmf::discover::Discover;
use fairer_nmf::fit::Ties;
use fairer_nmf::{Method, Penalties, Update};
use fairer_nmf_io::Failure;

use super::method;
use crate::args::ChoiceArgs;

/// The method of a fit, with how fair it is, what it does among ties, what it costs, or whose rows count.
pub(crate) fn chosen_method(args: &ChoiceArgs, standard: Update) -> Result<Method, Failure> {
    match (penalties(args, standard)?, args.worst_share) {
        (Some(penalised), None) => Ok(penalised),
        (Some(_), Some(share)) => Err(Failure::wrong(format!(
            "--worst-share {share} does not go with penalties: leave --alpha-w and --alpha-h out"
        ))),
        (None, Some(share)) => worst_share(args, share),
        (None, None) => fair_method(args.method, standard, args.fairness, args.ties),
    }
}

fn worst_share(args: &ChoiceArgs, share: f64) -> Result<Method, Failure> {
    let wrong = |sentence: String| Err(Failure::wrong(sentence));
    if !(share > 0.0 && share <= 1.0) {
        return wrong(format!(
            "--worst-share {share}: must lie above 0 and be at most 1 (the mean over all rows)"
        ));
    }
    let others = [
        ("--method mu", matches!(args.method, Method::Weighted { .. })),
        ("--method standard", args.method.is_standard()),
        ("--fairness", args.fairness.is_some()),
        ("--ties leximin", args.ties == Ties::Leximin),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => wrong(format!(
            "--worst-share {share} does not go with {option}: it has an objective of its own, without groups"
        )),
        None => Ok(Method::WorstShare { share }),
    }
}

/// Standard NMF with penalties, where there are any.
fn penalties(args: &ChoiceArgs, standard: Update) -> Result<Option<Method>, Failure> {
    let penalties = Penalties {
        alpha_w: args.alpha_w.unwrap_or(0.0),
        alpha_h: args.alpha_h,
        l1_ratio: args.l1_ratio.unwrap_or(0.0),
    };
    if args.alpha_w.is_none() && args.alpha_h.is_none() {
        return match args.l1_ratio {
            None => Ok(None),
            Some(ratio) => Err(Failure::wrong(format!(
                "--l1-ratio {ratio} divides penalties that were not given: give --alpha-w or --alpha-h"
            ))),
        };
    }
    if !args.method.is_standard() {
        return Err(Failure::wrong(
            "--alpha-w and --alpha-h need --method standard: with penalties the step of the min-max criterion has no proven gap",
        ));
    }
    Ok((!penalties.is_none()).then_some(Method::Penalised { update: standard, penalties }))
}

/// How groups are to be found, and how many.
pub(crate) fn discovery(args: &ChoiceArgs) -> Option<(Discover, usize)> {
    Some((args.discover?, args.discover_groups.map_or(GROUPS, |groups| groups as usize)))
}

/// Groups to find unless told otherwise.
const GROUPS: usize = 2;

/// The method of a fit, with how fair it is and what it does among ties.
fn fair_method(
    chosen: Method,
    standard: Update,
    fairness: Option<f64>,
    ties: Ties,
) -> Result<Method, Failure> {
    let wrong = |sentence: String| Err(Failure::wrong(sentence));
    let is_am = matches!(chosen, Method::Am { .. });
    match (fairness, ties == Ties::Leximin) {
        (None, false) => Ok(method(chosen, standard)),
        (Some(alpha), _) if !(0.0..=1.0).contains(&alpha) => wrong(format!(
            "--fairness {alpha}: must lie between 0 (standard NMF) and 1 (the worst loss alone)"
        )),
        (Some(alpha), _) if !is_am => wrong(format!(
            "--fairness {alpha} needs --method am: the other methods have none to choose"
        )),
        (None, true) if !is_am => {
            wrong("--ties leximin needs --method am: the other methods know of no ties".to_owned())
        }
        (Some(alpha), true) if alpha < 1.0 => wrong(format!(
            "--ties leximin does not go with --fairness {alpha}: it has no regard to the total error before the end"
        )),
        (_, true) => Ok(Method::leximin()),
        (Some(alpha), false) => Ok(Method::between(alpha)),
    }
}
