//! The statistics behind a page: the library's audit of a dictionary, and of the one it is
//! compared with.

use fairer_nmf::{
    AuditOptions, AuditPart, AuditReport, Baseline, Element, Fit, GroupedData, Individuals, Method,
    Model, Parameters, Progress, Refit, Status, TradeOffOptions, audit, compare_individuals,
    evaluate, fit,
};
use ndarray::ArrayView2;

use crate::args::AuditArgs;
use crate::fitting;
use crate::progress::{self, Bar};
use fairer_nmf_io::Failure;

/// A dictionary's audit, and those of what it is compared with.
pub(crate) struct Audits {
    pub main: AuditReport,
    pub standard: Option<AuditReport>,
    pub fairer: Option<Fairer>,
}

/// What Fairer-NMF would make of a dictionary that is not fairer itself.
pub(crate) struct Fairer {
    pub model: Model,
    /// Seconds of its fit.
    pub seconds: f64,
    pub audit: AuditReport,
    /// From the audited dictionary to this one.
    pub change: Individuals,
    pub unfinished: Option<String>,
}

/// Whether a method minimises the worst loss, so that no other has to show what that would cost.
pub(crate) fn is_fairer(method: &str) -> bool {
    matches!(method, "am" | "mu")
}

/// Fairer-NMF with baselines that are known already; nothing where it was stopped.
pub(crate) fn fit_fairer<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    baselines: &[f64],
    bar: &Bar,
) -> Result<Option<Fit<T>>, Failure> {
    let mut parameters = Parameters {
        method: Method::am(),
        baseline: Baseline::Given { errors: baselines.to_vec() },
        bound: false,
        ..parameters.clone()
    };
    if let Some(left) = bar.time_left() {
        parameters.stopping.time_limit = Some(left);
    }
    bar.next_fit("Fairer-NMF: ", &parameters.stopping);
    let fitted = fit(data, &parameters, &|p| bar.observe(p))?;
    Ok(Some(fitted).filter(|f| f.model.status != Status::Stopped))
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

/// Audits a dictionary with baselines E_ℓ, and standard NMF and Fairer-NMF beside it.
pub(crate) fn audits<T: Element>(
    data: &GroupedData<'_, T>,
    components: ArrayView2<'_, f64>,
    baselines: &[f64],
    standard: Option<&Model>,
    fairer: Option<Fit<T>>,
    options: &AuditOptions,
    bar: &Bar,
) -> Result<Audits, Failure> {
    let reference = standard.map(|s| s.components.view());
    let observer = |p: &Progress<'_>| bar.observe(p);
    // The curve ends at the fairer model: where there is another one, it is drawn with that.
    let trade_off = options.trade_off;
    let curve = trade_off.filter(|_| fairer.is_none());
    let all = AuditOptions { trade_off: curve, ..options.clone() };
    bar.next_work("audit");
    let mut main = audit(data, components, baselines, reference, &all, &observer)?;
    // What the page shows of the others: intervals and the test, in the same mode.
    let less = |method: Method, trade_off| AuditOptions {
        folds: 0,
        trade_off,
        refit: options.refit.as_ref().map(|refit| refit.of(method)),
        ..options.clone()
    };
    bar.next_work("audit of standard NMF");
    let of_standard = |model: &Model| {
        let options = less(model.parameters.method, None);
        audit(data, model.components.view(), baselines, None, &options, &observer)
    };
    let standard = standard.map(of_standard).transpose()?;
    let fairer = match fairer {
        None => None,
        Some(fitted) => {
            bar.next_work("audit of Fairer-NMF");
            let h = fitted.model.components.view();
            let from = reference.unwrap_or(components);
            let options = less(fitted.model.parameters.method, trade_off);
            let mut audit = audit(data, h, baselines, Some(from), &options, &observer)?;
            main.trade_off = audit.trade_off.take();
            main.options.trade_off = trade_off;
            if let Some(at) = audit.unfinished.iter().position(|p| *p == AuditPart::TradeOff) {
                main.unfinished.push(audit.unfinished.remove(at));
            }
            let before = evaluate(data, components, None, baselines)?;
            let change = compare_individuals(data, &evaluate(data, h, None, baselines)?, &before);
            let unfinished = fitting::unfinished(&fitted, "Fairer-NMF, the comparison,");
            let seconds = fitted.fit_time.as_secs_f64();
            Some(Fairer { model: fitted.model, seconds, audit, change, unfinished })
        }
    };
    Ok(Audits { main, standard, fairer })
}

impl Audits {
    /// What a stop, by the user or by the time limit, has left out, in a sentence.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let of = |audit: &AuditReport, whose: &str| -> Vec<String> {
            audit.unfinished.iter().map(|part| format!("{}{whose}", part.name())).collect()
        };
        let mut parts = of(&self.main, "");
        parts.extend(self.standard.iter().flat_map(|audit| of(audit, " of standard NMF")));
        parts.extend(self.fairer.iter().flat_map(|fairer| of(&fairer.audit, " of Fairer-NMF")));
        let parts = match parts.split_last()? {
            (last, []) => last.clone(),
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
