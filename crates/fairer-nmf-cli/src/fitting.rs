//! A fit, and standard NMF beside it on the same data and baselines.

use std::time::Instant;

use fairer_nmf::{
    Baseline, Element, Fit, GroupBaseline, GroupedData, Method, Observer, Parameters, Status,
    Update, Warning, estimate_baselines, fit,
};

use crate::progress::{self, Bar};
use crate::report::Timed;
use fairer_nmf_io::Failure;

/// A fit and what it is compared with.
pub(crate) struct Compared<T> {
    pub fit: Fit<T>,
    /// Standard NMF; where the fit itself is standard NMF, nothing.
    pub standard: Option<Fit<T>>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

impl<T> Compared<T> {
    /// Both models with their seconds, for a page.
    pub(crate) fn timed(&self) -> (Timed<'_>, Option<Timed<'_>>) {
        (timed(&self.fit), self.standard.as_ref().map(timed))
    }
}

/// A fit's model and seconds, for a page.
pub(crate) fn timed<T>(fit: &Fit<T>) -> Timed<'_> {
    (&fit.model, Some(fit.fit_time.as_secs_f64()))
}

/// Fits, and fits standard NMF with `compare` where that is wanted.
pub(crate) fn fit_and_compare<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    compare: Option<Update>,
    bar: &Bar,
) -> Result<Compared<T>, Failure> {
    let start = Instant::now();
    bar.next_fit("", &parameters.stopping);
    let main = fit(data, parameters, &|p| bar.observe(p))?;
    if bar.baselines_were_cut() {
        return Err(Failure::failed(
            "stopped while the baselines were measured; without them there is nothing to write",
        ));
    }
    let (one_group, others): (Vec<&Warning>, Vec<&Warning>) =
        main.model.warnings.iter().partition(|w| **w == Warning::OneGroup);
    let notes = one_group.into_iter().map(ToString::to_string).collect();
    let mut warnings: Vec<String> = others.into_iter().filter_map(in_words).collect();
    let limit = parameters.stopping.time_limit;
    if limit.is_some_and(|limit| main.baseline_time >= limit) {
        warnings.push(
            "the time limit ended the baselines early, so the losses are too low: raise --time-limit"
                .to_owned(),
        );
    }
    let is_standard = matches!(parameters.method, Method::Standard { .. });
    let standard = match compare {
        Some(update) if !is_standard && main.model.status != Status::Stopped => {
            let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                warnings.push(
                    "no time was left to fit standard NMF for comparison: raise --time-limit"
                        .to_owned(),
                );
                None
            } else {
                let baselines: Vec<_> =
                    main.model.groups.iter().map(|g| g.baseline.clone()).collect();
                let mut parameters = parameters.clone();
                parameters.stopping.time_limit = left;
                bar.next_fit("standard NMF: ", &parameters.stopping);
                let standard = fit_standard(data, &parameters, update, &baselines, bar)?;
                warnings.extend(unfinished(&standard, "standard NMF, the comparison,"));
                Some(standard).filter(|s| s.model.status != Status::Stopped)
            }
        }
        _ => None,
    };
    Ok(Compared { fit: main, standard, warnings, notes })
}

/// Standard NMF with baselines that are known already.
pub(crate) fn fit_standard<T: Element>(
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
    update: Update,
    baselines: &[GroupBaseline],
    bar: &Bar,
) -> Result<Fit<T>, Failure> {
    let mut parameters = Parameters {
        method: Method::Standard { update },
        baseline: Baseline::Given { errors: baselines.iter().map(|b| b.error).collect() },
        bound: false,
        ..parameters.clone()
    };
    if let Some(left) = bar.time_left() {
        parameters.stopping.time_limit = Some(left);
    }
    Ok(fit(data, &parameters, &|p| bar.observe(p))?)
}

/// The baselines of a trial; none where a stop left a group without.
pub(crate) fn trial_baselines<T: Element>(
    data: &GroupedData<'_, T>,
    rank: usize,
    baseline: &Baseline,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Option<Vec<GroupBaseline>>, Failure> {
    match estimate_baselines(data, rank, baseline, seed, observer) {
        Err(fairer_nmf::Error::Stopped) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// A sentence where a fit did not converge.
pub(crate) fn unfinished<T>(fit: &Fit<T>, what: &str) -> Option<String> {
    match fit.model.status {
        Status::Converged | Status::Stopped => None,
        Status::IterationLimit => Some(format!(
            "{what} did not converge within {} iterations: raise --max-iter or --tol",
            fit.model.parameters.stopping.max_iterations
        )),
        Status::TimeLimit => {
            Some(format!("{what} did not converge within the time limit: raise --time-limit"))
        }
    }
}

/// The library's warnings with the names of our options.
fn in_words(warning: &Warning) -> Option<String> {
    match warning {
        Warning::NotConverged { status: Status::Stopped, .. } => None,
        Warning::NotConverged { status: Status::IterationLimit, max_iterations } => Some(format!(
            "not converged within {max_iterations} iterations: raise --max-iter or --tol"
        )),
        Warning::NotConverged { status: Status::TimeLimit, .. } => {
            Some("not converged within the time limit: raise --time-limit".to_owned())
        }
        other => Some(other.to_string()),
    }
}

/// What a command that was stopped, and has written what it had, says in the end.
pub(crate) fn stopped(written: &[String]) -> Result<(), Failure> {
    stopped_without(written, &[])
}

/// The same, where files that were asked for could not be made of what there was.
pub(crate) fn stopped_without(written: &[String], missing: &[&str]) -> Result<(), Failure> {
    if !progress::stopped() {
        return Ok(());
    }
    Err(Failure::failed(match (written, missing) {
        ([], _) => "stopped; nothing was written".to_owned(),
        (files, []) => format!("stopped; wrote {}", files.join(", ")),
        (files, missing) => {
            format!("stopped; wrote {}, but not {}", files.join(", "), missing.join(", "))
        }
    }))
}
