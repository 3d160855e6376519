//! The loop's own rules: what it starts from, keeps and ends by.

use super::super::{Context, Objective, Part, run_once};
use super::*;
use crate::criterion::Criterion;
use crate::init::Init;
use crate::limit::Limit;
use crate::progress::Progress;
use crate::random::{Purpose, Stream};
use crate::rows::{Units, hold};
use crate::stopping::Status;
use crate::weights::WeightRule;
use crate::{GroupedData, silent};
use ndarray::Array2;
use std::ops::ControlFlow;
use std::sync::Mutex;

fn noisy(seed: u64, rows: usize, features: usize) -> (Array2<f64>, Vec<&'static str>) {
    let mut stream = Stream::new(seed, Purpose::Synthetic(0), 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let x = uniform(rows, 3).dot(&uniform(3, features)) + 0.5 * uniform(rows, features);
    (x, (0..rows).map(|row| ["a", "b"][usize::from(row % 3 == 0)]).collect())
}

fn criteria_of(data: &GroupedData<'_>) -> Vec<Criterion> {
    data.groups().iter().map(|g| Criterion { offset: 0.05 * g.norm(), scale: g.norm() }).collect()
}

fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Stopping::default() }
}

/// Factors that were cut short get the scale at which all groups together lose least.
#[test]
fn a_dictionary_that_was_cut_short_has_the_best_scale() {
    let mut stream = Stream::new(3, Purpose::Synthetic(0), 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let (x, w) = (uniform(20, 5), uniform(20, 2));
    let labels: Vec<&str> = (0..20).map(|i| ["a", "b"][i % 2]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let statistics = crate::rows::group_statistics(&data, w.view()).unwrap();
    let of = |h: &Dictionary| -> f64 {
        let gram = h.gram();
        statistics.iter().map(|s| s.squared_error(h, &gram)).sum()
    };
    for size in [1e-3, 0.5, 7.0] {
        let begun = Dictionary::from_components((size * uniform(2, 5)).view());
        let mut h = begun.clone();
        scaled_to_fit(&statistics, &mut h);
        let least = of(&h);
        let by = h.values[0] / begun.values[0];
        assert!(h.values.iter().zip(&begun.values).all(|(a, b)| (a - by * b).abs() < 1e-12));
        for factor in [0.99, 1.01] {
            let mut other = h.clone();
            other *= factor;
            assert!(of(&other) > least, "{size} {factor}");
        }
    }
    // Where either is nothing, or what they share, there is no scale.
    let mut nothing = Dictionary::zero(2, 5);
    scaled_to_fit(&statistics, &mut nothing);
    assert_eq!(nothing, Dictionary::zero(2, 5));
    let apart = Dictionary { rank: 1, features: 2, values: vec![0.0, 1.0] };
    let statistics = Statistics { gram: vec![1.0], cross: vec![1.0, 0.0], squared_norm: 1.0 };
    let mut h = apart.clone();
    scaled_to_fit(&[statistics], &mut h);
    assert_eq!(h, apart);
}

/// Once the time is up, what is delivered is measured as it is, at that scale.
#[test]
fn a_run_without_time_delivers_what_is_there_at_its_best_scale() {
    let (x, labels) = noisy(1, 30, 8);
    let large = 1e4 * &x;
    let data = GroupedData::new(large.view(), &labels).unwrap();
    let (criteria, stopping) = (criteria_of(&data), stopping(1e-4, 50));
    let context = Context { limit: Limit::over(), ..Context::without_limit(&silent) };
    for scheme in [Scheme::min_max(1e-6), Scheme::weighted(Update::Hals, WeightRule::Uniform)] {
        let task = Task::alone(scheme, &criteria, &stopping, context);
        let mut run = run_once(hold(&data, Units::Given), 3, &Init::Random, 0, &task).unwrap();
        assert!(run.measured.relative_errors.iter().all(|e| *e < 0.999), "{:?}", run.measured);
        let kept = run.rows.pass(&run.dictionary, RowStep::Keep).unwrap();
        let found = measure(&*run.rows, &kept, &run.dictionary, &criteria).unwrap();
        for (said, is) in run.measured.losses.iter().zip(&found.losses) {
            assert!((said - is).abs() < 1e-9, "{said} {is}");
        }
        assert_eq!(run.step_gap, None);
    }
}

/// A tenth of a percent of what statistics of single precision are trusted with; only where steps are exact, and never where none
/// was asked for.
#[test]
fn no_tolerance_is_finer_than_what_the_numbers_can_tell() {
    let (x, labels) = noisy(2, 12, 5);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let rows = hold(&data, Units::Given);
    let finest = 1e-3 * rows.trusted_squared_error();
    let of = |tolerance: f64, scheme: Scheme| told(&stopping(tolerance, 7), &*rows, scheme);
    let (exact, between) = (Scheme::min_max(1e-6), Scheme::between(0.5, 1.0));
    let weighted = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    for scheme in [exact, between] {
        assert_eq!(of(0.1 * finest, scheme).tolerance, finest);
        assert_eq!(of(10.0 * finest, scheme).tolerance, 10.0 * finest);
        assert_eq!(of(0.0, scheme).tolerance, 0.0);
    }
    assert_eq!(of(0.1 * finest, weighted).tolerance, 0.1 * finest);
    assert_eq!(of(0.0, weighted).tolerance, 0.0);
    assert_eq!(of(0.1, exact).max_iterations, 7);
}

#[test]
fn a_finished_run_stands_still_by_ten_tolerances_of_itself() {
    let rule = stopping(1e-4, 1);
    let close = |worst: f64, expected: f64| assert!((still(&rule, worst) - expected).abs() < 1e-15);
    close(0.5, 5e-4);
    close(-0.5, 5e-4);
    close(0.02, 2e-5);
    // A tenth of the tolerance where there is next to nothing left.
    close(0.001, 1e-5);
    close(0.0, 1e-5);
}

/// What an observer hears of a run, and the run's losses.
fn heard(
    scheme: Scheme,
    change: impl Fn(&mut Task<'_>),
    rank: usize,
) -> (Vec<(usize, f64)>, Vec<f64>, Status) {
    let (x, labels) = noisy(4, 48, 9);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let criteria = criteria_of(&data);
    let all = Mutex::new(Vec::new());
    let observer = |progress: &Progress<'_>| {
        if let Progress::Iteration { iteration, worst_loss, .. } = *progress {
            all.lock().unwrap().push((iteration, worst_loss));
        }
        ControlFlow::Continue(())
    };
    let stopping = stopping(1e-4, 60);
    let mut task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&observer));
    task.part = Part::Finish;
    change(&mut task);
    let run = run_once(hold(&data, Units::Given), rank, &Init::Random, 1, &task).unwrap();
    let squares = run.measured.squares();
    let numbers = vec![run.measured.worst(), squares];
    (all.into_inner().unwrap(), numbers, run.status)
}

/// Start weights make the start of a run with a soft beginning: as many iterations, which are told and not counted.
#[test]
fn weights_lead_up_to_a_soft_beginning_and_to_no_other() {
    const WEIGHTS: &[f64] = &[0.9, 0.1];
    let count = |scheme: Scheme, weights: Option<&'static [f64]>| {
        let (all, ..) = heard(scheme, |task| task.start_weights = weights, 3);
        assert_eq!(all.iter().find(|(i, _)| *i > 0).unwrap().0, 1);
        all.iter().filter(|(iteration, _)| *iteration == 0).count()
    };
    let soft = Scheme::min_max(1e-4);
    assert_eq!((count(soft, Some(WEIGHTS)), count(soft, None)), (soft.soft, 0));
    assert_eq!(count(Scheme { soft: 0, ..soft }, Some(WEIGHTS)), 0);
    // A stop ends it at once.
    let (x, labels) = noisy(4, 48, 9);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let (criteria, stopping) = (criteria_of(&data), stopping(1e-4, 60));
    let told = Mutex::new(0);
    let observer = |_: &Progress<'_>| {
        *told.lock().unwrap() += 1;
        ControlFlow::Break(())
    };
    let context = Context::without_limit(&observer);
    let task =
        Task { start_weights: Some(WEIGHTS), ..Task::alone(soft, &criteria, &stopping, context) };
    let run = run_once(hold(&data, Units::Given), 3, &Init::Random, 1, &task).unwrap();
    assert_eq!((*told.lock().unwrap(), run.status), (2, Status::Stopped));
}

/// The soft beginning is no reason to stop, and rows go half of the way in it: the first losses differ from those of exact rows.
#[test]
fn a_soft_beginning_goes_half_of_the_way_for_as_long_as_it_lasts() {
    let soft = Scheme::min_max(1e-4);
    let run = |soft: Scheme| heard(soft, |_| (), 3).0;
    let (begun, at_once) = (run(soft), run(Scheme { soft: 0, ..soft }));
    assert_eq!(begun[0], at_once[0], "the first dictionary is for the first rows");
    assert!(begun[1].1 > at_once[1].1, "exact rows are better than half of the way to them");
    assert!(begun.len() > soft.soft);
    let late = run(Scheme { soft: 40, ..soft });
    assert!(late.len() > 40 && late[..soft.soft] == begun[..soft.soft], "{}", late.len());
    assert!(late[soft.soft + 1] != begun[soft.soft + 1]);
}

/// A run that looks ahead never raises what it lowers, but for the step that is taken back and not told.
#[test]
fn looking_ahead_never_raises_the_objective_and_gets_there_sooner() {
    for scheme in [
        Scheme { soft: 0, ..Scheme::min_max(1e-9) },
        Scheme { soft: 0, ..Scheme::min_max(1e-9).searching() },
    ] {
        let (all, ..) = heard(scheme, |_| (), 4);
        for pair in all.windows(2) {
            assert!(pair[1].1 <= pair[0].1 * (1.0 + 1e-7), "{pair:?}");
        }
    }
    let squares = |scheme, iterations| {
        let stopping: &'static Stopping = Box::leak(Box::new(stopping(0.0, iterations)));
        heard(scheme, |task| task.stopping = stopping, 4).1[1]
    };
    for update in [Update::Hals, Update::Nnls] {
        let ahead = Scheme::weighted(update, WeightRule::Uniform);
        let plain = Scheme { looks_ahead: false, ..ahead };
        let (sooner, later) = (squares(ahead, 30), squares(plain, 40));
        assert!(ahead.looks_ahead && sooner < later, "{update:?}: {sooner} {later}");
    }
}

/// Where no step is kept that does not help, a run ends where one gains too little, and never with more than it had.
#[test]
fn a_run_ends_where_an_iteration_gains_less_than_the_least_fall() {
    let scheme = Scheme { looks_ahead: false, soft: 0, ..Scheme::min_max(1e-9) };
    let iterations = |least: f64| {
        let (all, numbers, status) = heard(scheme, |task| task.least_fall = Some(least), 3);
        let falls: Vec<f64> = all.windows(2).map(|pair| pair[0].1 - pair[1].1).collect();
        let lowest = all.iter().map(|(_, worst)| *worst).fold(f64::INFINITY, f64::min);
        if status == Status::Converged {
            let (last, earlier) = falls.split_last().unwrap();
            assert!(*last <= least && earlier.iter().all(|fall| *fall > least), "{falls:?}");
        }
        // What is delivered is measured with the rows that follow it.
        assert!(numbers[0] <= lowest + 1e-12, "{} {lowest}", numbers[0]);
        (all.len(), status)
    };
    let (coarse, fine) = (iterations(1e-2), iterations(1e-4));
    assert_eq!((coarse.1, fine.1), (Status::Converged, Status::Converged));
    assert!(1 < coarse.0 && coarse.0 < fine.0, "{coarse:?} {fine:?}");
}

/// A run that is finished goes on until the worst loss has stood still over a window, counted from where it began.
#[test]
fn a_finished_run_looks_at_a_window_of_iterations_of_its_own() {
    let scheme = Scheme { soft: 0, ..Scheme::min_max(1e-7) };
    let tolerance = 2e-3;
    let stopping: &'static Stopping = Box::leak(Box::new(stopping(tolerance, 500)));
    let finish = |task: &mut Task<'_>| {
        task.finishing = true;
        task.stopping = stopping;
    };
    let (all, _, status) = heard(scheme, finish, 3);
    assert_eq!(status, Status::Converged);
    let worst: Vec<f64> = all.iter().map(|(_, worst)| *worst).collect();
    let stands = |now: usize| worst[now - WINDOW] - worst[now] <= still(stopping, worst[now]);
    // It ended at the first iteration at which it stood still, and not before a window was there.
    let last = worst.len() - 1;
    assert!(last >= WINDOW && stands(last), "{worst:?}");
    assert!((WINDOW..last).all(|now| !stands(now)), "{worst:?}");
    assert!(last > WINDOW, "{last}");
}

/// A step that does not help is neither kept nor told, and ends the run: on the way from the least worst loss to the least sum the worst one rises.
#[test]
fn a_step_that_raises_the_objective_is_not_kept() {
    let (x, labels) = noisy(4, 48, 9);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let criteria: Vec<Criterion> = data
        .groups()
        .iter()
        .zip([0.15, 0.0])
        .map(|(g, e)| Criterion { offset: e * g.norm(), scale: g.norm() })
        .collect();
    let stopping = stopping(0.0, 20);
    let alone = |scheme| Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
    let fair =
        run_once(hold(&data, Units::Given), 3, &Init::Random, 1, &alone(Scheme::min_max(1e-7)));
    let fair = fair.unwrap().dictionary.to_components();
    let given = super::super::Start { components: Some(fair), representation: None };
    let scheme = Scheme {
        objective: Objective::Worst,
        looks_ahead: false,
        ..Scheme::weighted(Update::Nnls, WeightRule::Uniform)
    };
    let worst = |losses: &Vec<f64>| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let run = |least_fall| {
        let mut rows = hold(&data, Units::Given);
        let begin = super::super::start::given(&mut *rows, 3, 0, &given).unwrap();
        let run = iterate(rows, begin, &Task { least_fall, ..alone(scheme) }).unwrap();
        let all: Vec<f64> = run.history.iter().map(worst).collect();
        (all, run.measured.worst(), run.status)
    };
    let (kept, delivered, status) = run(Some(-1.0));
    let (all, ..) = run(None);
    let rises = (1..all.len()).find(|&at| all[at] > all[at - 1] + 1e-6).expect("it rises");
    assert_eq!(kept, all[..rises]);
    assert!((delivered - kept[rises - 1]).abs() < 1e-12, "{delivered} {kept:?}");
    assert_eq!(status, Status::Converged);
}

/// ‖X‖ is that of the rows, in their units.
#[test]
fn a_run_between_the_sum_and_the_worst_is_the_same_in_all_units() {
    let (x, labels) = noisy(5, 40, 8);
    let losses = |unit: f64| {
        let x = unit * &x;
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let (criteria, stopping) = (criteria_of(&data), stopping(0.0, 12));
        let scheme = Scheme::mixture(0.5, data.squared_norm());
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let mut rows = hold(&data, Units::Given);
        let mut begin = super::super::start::make(&mut *rows, 3, &Init::Random, 0, 2).unwrap();
        begin.dictionary *= unit;
        iterate(rows, begin, &task).unwrap().measured.losses
    };
    for (one, other) in losses(1.0).iter().zip(losses(1024.0)) {
        assert!((one - other).abs() < 1e-6, "{one} {other}");
    }
}

/// Exact rows follow H wherever it goes; rows that go on from where they were do not.
#[test]
fn only_what_exact_rows_follow_is_brought_back() {
    let (x, labels) = noisy(6, 40, 8);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let (criteria, stopping) = (criteria_of(&data), stopping(0.0, 5));
    for (scheme, stays) in
        [(Scheme::min_max(1e-6), false), (Scheme::min_max(1e-6).searching(), true)]
    {
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let mut rows = hold(&data, Units::Given);
        let mut begin = super::super::start::make(&mut *rows, 3, &Init::Random, 0, 2).unwrap();
        begin.dictionary *= 2.0_f64.powi(50);
        begin.first = First::Pass(RowStep::EXACT);
        let run = iterate(rows, begin, &task).unwrap();
        assert_eq!(run.dictionary.largest() > 2.0_f64.powi(40), stays);
        let worst = |losses: &Vec<f64>| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for pair in run.history.windows(2) {
            assert!(worst(&pair[1]) <= worst(&pair[0]) + 1e-6, "{:?}", run.history);
        }
    }
}

/// Rows of a random start are not the best ones, so that nothing follows from them for the sizes of the factors.
#[test]
fn the_first_penalised_dictionary_is_for_the_rows_of_the_start() {
    let (x, labels) = noisy(7, 30, 6);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let (criteria, stopping) = (criteria_of(&data), stopping(0.0, 1));
    let cost = crate::penalties::Cost { l1: 0.2, l2: 0.5 };
    let scheme = Scheme::weighted(Update::Nnls, WeightRule::Uniform).penalised((cost, cost));
    let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
    let mut rows = hold(&data, Units::Given);
    let begin = super::super::start::make(&mut *rows, 3, &Init::Random, 0, 2).unwrap();
    let mut expected = begin.dictionary.clone();
    let first = rows.pass(&expected, RowStep::Keep).unwrap();
    let sum = Statistics::weighted(&first, &[1.0; 2], 3, 6);
    crate::penalties::step(Update::Nnls, sum, cost, &mut expected, Limit::NONE);
    let run = iterate(rows, begin, &task).unwrap();
    let apart = run.dictionary.values.iter().zip(&expected.values).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-9);
}
