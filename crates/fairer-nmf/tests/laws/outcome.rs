//! How runs end, and which of several is kept.

use crate::common::{fixed, noisy};
use fairer_nmf::stopping::Status;
use fairer_nmf::{
    Baseline, GroupedData, Method, Parameters, Progress, Stopping, Update, Warning,
    baseline::Estimate, baseline::Summary, fit, fit::estimate_baselines, silent,
};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn end(stopping: Stopping, observer: &fairer_nmf::Observer<'_>) -> (Status, usize, Vec<Warning>) {
    let (x, labels) = noisy(31, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let parameters = fixed(3, Method::mu(), 0).with(|p| p.stopping = stopping);
    let model = fit(&data, &parameters, observer).unwrap().model;
    (model.status, model.iterations(), model.warnings)
}

#[test]
fn every_status_is_reached() {
    let (status, iterations, warnings) = end(Stopping::default(), &silent);
    assert_eq!(status, Status::Converged);
    assert!(iterations > 1 && warnings.is_empty(), "{warnings:?}");

    let limit = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.max_iterations = 7;
    });
    let (status, iterations, warnings) = end(limit, &silent);
    assert_eq!((status, iterations), (Status::IterationLimit, 7));
    assert!(warnings[0].to_string().contains("7 iterations"), "{warnings:?}");

    let limit = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.time_limit = Some(Duration::ZERO);
    });
    let (status, iterations, _) = end(limit, &silent);
    assert_eq!((status, iterations), (Status::TimeLimit, 1));

    let at_five = |progress: &Progress<'_>| match progress {
        Progress::Iteration { iteration: 5, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let (status, iterations, _) = end(Stopping::default().with(|s| s.tolerance = 0.0), &at_five);
    assert_eq!((status, iterations), (Status::Stopped, 5));
}

#[test]
fn one_break_stops_the_whole_fit() {
    let (x, labels) = noisy(31, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let answered = AtomicBool::new(false);
    let once = |progress: &Progress<'_>| match progress {
        Progress::Iteration { iteration: 5, .. } if !answered.swap(true, Ordering::Relaxed) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let endless = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.max_iterations = 100_000;
    });
    let parameters = fixed(3, Method::mu(), 0).with(|p| {
        p.stopping = endless;
        p.n_init = 3;
    });
    let model = fit(&data, &parameters, &once).unwrap().model;
    assert_eq!(model.status, Status::Stopped);
    assert!(model.iterations() < 10_000, "{} iterations", model.iterations());
}

#[test]
fn a_stop_during_the_baselines_invents_none() {
    let (x, labels) = noisy(32, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let at_once = |_: &Progress<'_>| ControlFlow::Break(());
    let error = fit(&data, &Parameters::new(3), &at_once).unwrap_err();
    assert!(matches!(error, fairer_nmf::Error::Stopped), "{error}");

    // One run of each group is enough for a baseline; only finished runs count.
    let later = |progress: &Progress<'_>| match progress {
        Progress::Baselines { done, .. } if *done >= 13 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let whole = fit(&data, &Parameters::new(3), &silent).unwrap().model;
    let model = fit(&data, &Parameters::new(3), &later).unwrap().model;
    assert_eq!(model.status, Status::Stopped);
    for (cut, whole) in model.groups.iter().zip(&whole.groups) {
        let runs = &cut.baseline.run_errors;
        assert!(!runs.is_empty() && runs.iter().all(|e| whole.baseline.run_errors.contains(e)));
    }
    assert!(model.groups.iter().any(|g| g.baseline.run_errors.len() < 5));
}

#[test]
fn a_time_limit_ends_the_baselines_too() {
    let (x, labels) = noisy(32, 200, 30);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let endless = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.max_iterations = usize::MAX;
    });
    let parameters = Parameters::new(4).with(|p| {
        p.baseline = Baseline::Estimate(Estimate::paper().with(|e| e.stopping = endless));
        p.stopping = endless.with(|s| s.time_limit = Some(Duration::from_millis(20)));
    });
    let model = fit(&data, &parameters, &silent).unwrap().model;
    assert_eq!(model.status, Status::TimeLimit);
    let why = model.global_bound.absent.as_ref().unwrap();
    assert_eq!((&*why.code, &*why.sentence), ("bound-out-of-time", "the time was up"));
    assert!(model.warnings.contains(&Warning::BaselinesCutShort), "{:?}", model.warnings);
}

/// Neither those that had all the time they wanted, nor those that took none, whatever the time.
#[test]
fn only_baselines_that_a_limit_ended_are_said_to_be_cut_short() {
    let (x, labels) = noisy(34, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let errors = data.groups().iter().map(|g| 0.1 * g.norm()).collect();
    let at_once = Some(Duration::from_nanos(1));
    let cases = [
        (Baseline::Estimate(Estimate::paper()), None, Status::IterationLimit),
        (Baseline::Given { errors }, at_once, Status::TimeLimit),
        (Baseline::Zero, at_once, Status::TimeLimit),
    ];
    for (baseline, time_limit, status) in cases {
        let parameters = fixed(3, Method::am(), 4).with(|p| {
            p.baseline = baseline;
            p.stopping.time_limit = time_limit;
        });
        let model = fit(&data, &parameters, &silent).unwrap().model;
        assert_eq!(model.status, status);
        assert!(!model.warnings.contains(&Warning::BaselinesCutShort), "{:?}", model.warnings);
    }
}

#[test]
fn settled_groups_end_a_run() {
    let error = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.relative_error_below = Some(2.0);
    });
    assert_eq!(end(error, &silent).0, Status::Converged);
    let loss = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.loss_below = Some(2.0);
    });
    assert_eq!(end(loss, &silent).0, Status::Converged);
}

#[test]
fn restarts_keep_the_run_with_the_lowest_worst_loss() {
    let (x, labels) = noisy(33, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let last = Mutex::new(vec![f64::NAN; 6]);
    let observer = |progress: &Progress<'_>| {
        if let Progress::Iteration { restart, worst_loss, restarts: 6, .. } = *progress {
            last.lock().unwrap()[restart] = worst_loss;
        }
        ControlFlow::Continue(())
    };
    let parameters = fixed(4, Method::mu(), 10).with(|p| p.n_init = 6);
    let model = fit(&data, &parameters, &observer).unwrap().model;
    let last = last.into_inner().unwrap();
    assert!(last.iter().all(|v| v.is_finite()), "{last:?}");
    let best = last.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(model.worst_loss(), best, "{last:?}");
    assert!(last.iter().any(|&v| v > best), "the restarts differ");
    assert_eq!(model.history.last().unwrap().iter().copied().fold(f64::MIN, f64::max), best);
}

#[test]
fn baselines_keep_every_run() {
    let (x, labels) = noisy(34, 90, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let parameters =
        fixed(3, Method::mu(), 2).with(|p| p.baseline = Baseline::Estimate(Estimate::paper()));
    for group in fit(&data, &parameters, &silent).unwrap().model.groups {
        let runs = &group.baseline.run_errors;
        assert_eq!(runs.len(), 5);
        assert!((group.baseline.error - runs.iter().sum::<f64>() / 5.0).abs() < 1e-12);
        assert!(group.baseline.sd().unwrap() > 0.0);
    }
}

#[test]
fn a_rank_above_the_matrix_is_a_warning() {
    let (x, labels) = noisy(35, 30, 4);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let model = fit(&data, &fixed(6, Method::am(), 3), &silent).unwrap().model;
    let expected = Warning::RankAboveMatrix { rank: 6, limit: 4 };
    assert!(model.warnings.contains(&expected), "{:?}", model.warnings);
}

/// Which restart is kept, by what every method lowers: (kept, by the sum, by the worst loss).
fn judged(method: Method, seed: u64) -> (usize, usize, usize) {
    let (x, labels) = noisy(41, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let norms: Vec<f64> = data.groups().iter().map(|g| g.norm()).collect();
    let parameters = fixed(3, method, 25).with(|p| {
        p.n_init = 5;
        p.seed = seed;
    });
    let last = Mutex::new(vec![Vec::new(); 5]);
    let observer = |progress: &Progress<'_>| {
        if let Progress::Iteration { restart, losses, .. } = progress {
            last.lock().unwrap()[*restart] = losses.to_vec();
        }
        ControlFlow::Continue(())
    };
    let model = fit(&data, &parameters, &observer).unwrap().model;
    let last = last.into_inner().unwrap();
    let least = |value: &dyn Fn(&Vec<f64>) -> f64| {
        let order = |a: &usize, b: &usize| value(&last[*a]).total_cmp(&value(&last[*b]));
        (0..last.len()).min_by(order).unwrap()
    };
    // Baselines are zero: losses are relative errors.
    let sum = |l: &Vec<f64>| l.iter().zip(&norms).map(|(g, n)| (g * n) * (g * n)).sum();
    let worst = |l: &Vec<f64>| l.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let kept = last.iter().position(|l| Some(l) == model.history.last()).unwrap();
    (kept, least(&sum), least(&worst))
}

#[test]
fn restarts_are_judged_by_what_the_method_lowers() {
    let mu = Update::Mu;
    let mut apart = 0;
    for seed in 0..8 {
        let (kept, by_sum, by_worst) = judged(Method::Standard { update: mu }, seed);
        assert_eq!(kept, by_sum, "standard NMF, seed {seed}");
        apart += usize::from(by_sum != by_worst);
        let (kept, by_sum, by_worst) = judged(Method::mu(), seed);
        assert_eq!(kept, by_worst, "the MU scheme, seed {seed}");
        apart += usize::from(by_sum != by_worst);
    }
    assert!(apart > 0, "the two judgements never differ: the test says nothing");
}

#[test]
fn a_baseline_is_the_mean_or_the_lowest_of_its_runs() {
    let (x, labels) = noisy(42, 60, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let mut first_is_lowest = true;
    for estimate in [Estimate::paper(), Estimate::best()] {
        let stopping = estimate.stopping.with(|s| s.max_iterations = 15);
        let kind = Baseline::Estimate(estimate.clone().with(|e| e.stopping = stopping));
        for found in estimate_baselines(&data, 3, &kind, 0, &silent).unwrap() {
            let runs = &found.run_errors;
            assert_eq!(runs.len(), 5);
            let lowest = runs.iter().copied().fold(f64::INFINITY, f64::min);
            let mean = runs.iter().sum::<f64>() / 5.0;
            let expected = if estimate.summary == Summary::Lowest { lowest } else { mean };
            assert!((found.error - expected).abs() < 1e-12 * expected);
            first_is_lowest &= runs[0] == lowest;
        }
    }
    assert!(!first_is_lowest, "the lowest run is always the first: the test says nothing");
}

/// Rows that share nothing: a dictionary of one topic explains one of them.
#[test]
fn groups_that_their_own_topics_do_not_explain_are_named() {
    let mut x = ndarray::Array2::<f64>::eye(300);
    x.slice_mut(ndarray::s![150.., ..]).fill(1.0);
    let labels: Vec<&str> = (0..300).map(|i| if i < 150 { "apart" } else { "alike" }).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let model = fit(&data, &Parameters::new(1), &silent).unwrap().model;
    let expected = Warning::BaselineNearNorm { groups: vec!["apart".to_owned()] };
    assert!(model.warnings.contains(&expected), "{:?}", model.warnings);
    assert!(expected.to_string().contains("'apart'") && expected.code() == "baseline-near-norm");
}
