//! The statistics behind a page: the library's audit of a dictionary, and of the one it is
//! compared with.

use fairer_nmf::{
    AuditOptions, AuditReport, Element, GroupedData, Model, Parameters, Progress, Refit,
    TradeOffOptions, audit,
};
use ndarray::ArrayView2;

use crate::args::AuditArgs;
use crate::failure::Failure;
use crate::progress::{self, Bar};

/// A dictionary's audit, and the reference's.
pub(crate) struct Audits {
    pub main: AuditReport,
    pub standard: Option<AuditReport>,
}

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

/// Audits a dictionary with baselines E_ℓ, and standard NMF beside it.
pub(crate) fn audits<T: Element>(
    data: &GroupedData<'_, T>,
    components: ArrayView2<'_, f64>,
    baselines: &[f64],
    standard: Option<&Model>,
    options: &AuditOptions,
    bar: &Bar,
) -> Result<Audits, Failure> {
    let reference = standard.map(|s| s.components.view());
    let observer = |p: &Progress<'_>| bar.observe(p);
    bar.next_work("audit");
    let main = audit(data, components, baselines, reference, options, &observer)?;
    // What the page shows of the reference: intervals and the test.
    let less = AuditOptions { folds: 0, trade_off: None, refit: None, ..options.clone() };
    bar.next_work("audit of standard NMF");
    let standard =
        reference.map(|h| audit(data, h, baselines, None, &less, &observer)).transpose()?;
    Ok(Audits { main, standard })
}

impl Audits {
    /// What a stop, by the user or by the time limit, has left out, in a sentence.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let mut parts: Vec<&str> = self.main.unfinished.iter().map(|part| part.name()).collect();
        if self.standard.as_ref().is_some_and(|audit| !audit.unfinished.is_empty()) {
            parts.push("intervals and test of standard NMF");
        }
        let parts = match parts.split_last()? {
            (last, []) => (*last).to_owned(),
            (last, others) => format!("{} and {last}", others.join(", ")),
        };
        Some(match progress::stopped() {
            true => format!("the audit was stopped before it was done: it has no {parts}"),
            false => format!(
                "the time limit ended the audit before it was done: it has no {parts}; raise --time-limit"
            ),
        })
    }
}
