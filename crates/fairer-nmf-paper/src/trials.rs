//! The trials of a data set: baselines, standard NMF, AM and MU with the paper's settings.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fairer_nmf::stopping::Status;
use fairer_nmf::{
    Baseline, GroupedData, Init, Method, Observer, Parameters, Progress, Stopping,
    baseline::Estimate, baseline::GroupBaseline, fit, fit::estimate_baselines, stopping::Change,
};
use fairer_nmf_io::Failure;

use super::approach::Approach;
use super::metric::Metric;
use super::sets::Set;
use super::store::{Row, Store};
use super::{Settings, Watch};

/// Runs what is not finished yet.
pub(super) fn run(
    set: &'static Set,
    settings: &Settings<'_>,
    store: &mut Store,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let ranks = set.ranks(settings.quick);
    let jobs: Vec<(usize, usize)> = (0..settings.trials)
        .flat_map(|trial| ranks.iter().rev().map(move |&rank| (rank, trial)))
        .filter(|&(rank, trial)| !store.has(set, rank, trial))
        .collect();
    if jobs.is_empty() {
        return Ok(());
    }
    let held = set.hold(settings)?;
    let data = held.grouped()?;
    watch.counted(set.trials, 0, jobs.len());
    let shared = Mutex::new((store, 0));
    one_thread_each(jobs.len(), watch, |i| {
        let (rank, trial) = jobs[i];
        let seed = settings.seed.wrapping_add(trial as u64);
        let rows = one_trial(set, &data, (rank, trial), seed, watch)?;
        // What a stop cut short is no result.
        if watch.stopped() {
            return Ok(());
        }
        let mut shared = shared.lock().map_err(|_| Failure::failed("a trial failed"))?;
        shared.0.add(rows)?;
        shared.1 += 1;
        watch.counted(set.trials, shared.1, jobs.len());
        Ok(())
    })
}

/// Runs jobs side by side, each on one thread of its own, so that the seconds of one do not
/// hold the work of another. Stops at the first failure, and when the user asks.
pub(super) fn one_thread_each(
    jobs: usize,
    watch: &dyn Watch,
    work: impl Fn(usize) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), Failure> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|e| Failure::failed(format!("cannot start a thread: {e}")))?;
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs || watch.stopped() {
                return Ok(());
            }
            pool.install(|| work(job)).inspect_err(|_| {
                next.store(jobs, Ordering::Relaxed);
            })?;
        }
    };
    let count = rayon::current_num_threads().clamp(1, jobs.max(1));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        let ended = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(Failure::failed("a trial failed unexpectedly")))
        });
        // All are waited for; the first failure is told.
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Stops where the user asks.
pub(super) fn observe(watch: &dyn Watch) -> ControlFlow<()> {
    if watch.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The baselines of a trial; none where a stop left a group without.
///
/// # Errors
/// As [`estimate_baselines`], but for a stop.
pub fn trial_baselines(
    data: &GroupedData<'_>,
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

/// The rule that fits the authors' arrays: the change of every group's loss, and on synthetic
/// data also a loss below 0.1 %.
fn papers_rule(set: &Set) -> Stopping {
    Stopping::default().with(|s| {
        s.change = Change::Loss;
        s.loss_below = set.is_synthetic().then_some(1e-3);
    })
}

/// One random start with given baselines, as the paper's figures have it.
pub(super) fn papers_parameters(
    rank: usize,
    method: Method,
    baselines: &[f64],
    stopping: Stopping,
    seed: u64,
) -> Parameters {
    Parameters::new(rank).with(|p| {
        p.method = method;
        p.init = Init::Random;
        p.n_init = 1;
        p.baseline = Baseline::Given { errors: baselines.to_vec() };
        p.stopping = stopping;
        p.polish = false;
        p.bound = false;
        p.seed = seed;
    })
}

fn one_trial(
    set: &'static Set,
    data: &GroupedData<'_>,
    (rank, trial): (usize, usize),
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Row>, Failure> {
    let observer = |_: &Progress<'_>| observe(watch);
    let begin = Instant::now();
    let estimate = Estimate::paper();
    let baseline = Baseline::Estimate(estimate.clone());
    let Some(baselines) = trial_baselines(data, rank, &baseline, seed, &observer)? else {
        return Ok(Vec::new());
    };
    let baseline_seconds = begin.elapsed().as_secs_f64();
    let errors = GroupBaseline::errors(&baselines);
    let row = |method, metric, group, value| Row {
        dataset: set.key,
        method,
        metric,
        group,
        rank,
        trial,
        value,
    };
    let mut rows = Vec::new();
    for ((group, baseline), &name) in data.groups().iter().zip(&baselines).zip(set.groups) {
        let last = baseline.run_errors.last().copied().unwrap_or(baseline.error);
        let percent = 100.0 * last / group.norm();
        rows.push(row(Approach::Alone, Metric::ErrorPercent, name, percent));
    }
    let rule = papers_rule(set);
    // The published standard NMF knows no groups: it watches the error of all data together.
    let together = estimate.stopping.with(|s| s.change = Change::Total);
    let approaches = [(Approach::Standard, together), (Approach::Am, rule), (Approach::Mu, rule)];
    for (approach, stopping) in approaches {
        let parameters = papers_parameters(rank, approach.method(), &errors, stopping, seed);
        let fit = fit(data, &parameters, &observer)?;
        if fit.model.status == Status::Stopped {
            return Ok(Vec::new());
        }
        for (group, &called) in fit.model.groups.iter().zip(set.groups) {
            rows.push(row(approach, Metric::ErrorPercent, called, 100.0 * group.relative_error));
            rows.push(row(approach, Metric::Loss, called, group.loss));
        }
        if approach != Approach::Standard {
            let seconds = baseline_seconds + fit.fit_time.as_secs_f64();
            rows.push(row(approach, Metric::Seconds, "all", seconds));
        }
    }
    Ok(rows)
}
