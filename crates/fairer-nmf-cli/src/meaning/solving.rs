//! How a fit is to be made, and what an audit is asked for.

use std::collections::HashMap;
use std::path::Path;

use fairer_nmf::audit::{DrawBudget, Refit, TradeOffOptions};
use fairer_nmf::{Baseline, GroupedData, Method, Parameters, Update, audit::AuditOptions};
use fairer_nmf_io::{Failure, GroupsSource, InputLimit, closest_name, read_names};

use crate::args::{AuditArgs, BaselineArgs, BaselineKind, CommonArgs, SolverArgs};

/// A method by its name, with the update of standard NMF.
pub(crate) fn method(named: Method, standard: Update) -> Method {
    match named {
        Method::Standard { .. } => Method::Standard { update: standard },
        other => other,
    }
}

/// In the order given, each once.
pub(crate) fn each_once<T: PartialEq + Copy>(given: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for &value in given {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// The parameters of a fit, baselines apart.
pub(crate) fn parameters(rank: usize, method: Method, solver: &SolverArgs) -> Parameters {
    Parameters::careful(rank).with(|p| {
        p.method = method;
        p.init = solver.init;
        p.start_weights = solver.start_weights.clone();
        p.n_init = solver.n_init as usize;
        p.stopping.tolerance = solver.tol;
        p.stopping.max_iterations = solver.max_iter as usize;
        p.stopping.time_limit = solver.time_limit.map(|t| t.0);
        p.allow_small_groups = solver.allow_small_groups;
        p.seed = solver.seed;
    })
}

/// The baselines of the groups called `names`, in this order; `default` where none were asked for.
pub(crate) fn baseline(
    args: &BaselineArgs,
    names: &[&str],
    default: Baseline,
    limit: InputLimit,
) -> Result<Baseline, Failure> {
    let named = match &args.baseline {
        None => default,
        Some(BaselineKind::Named(baseline)) => baseline.clone(),
        Some(BaselineKind::File(path)) => {
            return Ok(Baseline::Given { errors: baseline_file(path, names, limit)? });
        }
    };
    Ok(named.with_runs(args.baseline_runs as usize))
}

fn baseline_file(path: &str, names: &[&str], limit: InputLimit) -> Result<Vec<f64>, Failure> {
    let wrong = |what: String| Failure::wrong(format!("{path} (--baseline): {what}"));
    if !Path::new(path).exists() {
        return Err(Failure::wrong(format!(
            "--baseline {path}: expected adjusted, best, held-out, paper, zero, or a file, and there is no such file"
        )));
    }
    let column = |name: &str| {
        let column = Some(name.to_owned());
        read_names(&GroupsSource { path: path.to_owned(), column }, "--baseline", limit)
    };
    let (groups, errors) = (column("group")?, column("baseline_error")?);
    let mut known: HashMap<&str, f64> = HashMap::new();
    for (group, text) in groups.iter().zip(&errors) {
        let error = text.parse::<f64>().ok().filter(|e| e.is_finite() && *e >= 0.0);
        let error = error.ok_or_else(|| {
            wrong(format!(
                "group `{group}` has `{text}`: a number that is not negative is expected"
            ))
        })?;
        if known.insert(group, error).is_some() {
            return Err(wrong(format!("group `{group}` is there twice: leave one out")));
        }
    }
    names
        .iter()
        .map(|name| {
            known.get(name).copied().ok_or_else(|| {
                let near = match closest_name(name, &groups) {
                    Some(near) => format!(" (it has `{near}`)"),
                    None => String::new(),
                };
                wrong(format!("no line for group `{name}`{near}: give one line for every group"))
            })
        })
        .collect()
}

/// The parameters of a fit of the data, baselines included.
pub(crate) fn fit_parameters(
    rank: usize,
    method: Method,
    args: &CommonArgs,
    data: &GroupedData<'_>,
    limit: InputLimit,
) -> Result<Parameters, Failure> {
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    let baseline = baseline(&args.baseline, &names, Baseline::adjusted(), limit)?;
    Ok(parameters(rank, method, &args.solver).with(|p| p.baseline = baseline))
}

/// What an audit is asked for. `fitted` says how to fit anew; a dictionary from elsewhere cannot be.
/// Random groups get baselines as the groups got theirs.
pub(crate) fn audit_options(
    args: &AuditArgs,
    fitted: Option<&Parameters>,
    baseline: &Baseline,
    trade_off: bool,
    seed: u64,
) -> Result<AuditOptions, Failure> {
    let defaults = AuditOptions::default();
    let share = |name: &str, typed: Option<f64>, default: f64| match typed.unwrap_or(default) {
        value if value > 0.0 && value < 1.0 => Ok(value),
        value => Err(Failure::wrong(format!("{name} {value}: must lie between 0 and 1"))),
    };
    let count = |typed: Option<u32>, default: usize| typed.map_or(default, |n| n as usize);
    if args.folds == Some(1) {
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
    let chance = DrawBudget {
        draws: count(args.chance_draws, defaults.chance.draws),
        time: args.chance_time.map_or(defaults.chance.time, |time| time.0),
    };
    chance.check()?;
    let level = share("--level", args.level, defaults.level)?;
    let matters = share("--matters", args.matters, defaults.matters)?;
    Ok(defaults.with(|o| {
        o.draws = count(args.draws, o.draws);
        o.level = level;
        o.matters = matters;
        o.permutations = count(args.permutations, o.permutations);
        o.folds = count(args.folds, o.folds);
        o.baseline = Some(baseline.clone());
        o.chance = chance;
        o.trade_off = trade_off.then(TradeOffOptions::default);
        o.refit = refit;
        o.seed = seed;
    }))
}
