//! The loop by itself, on rows in memory.

use super::momentum::Momentum;
use super::*;
use crate::criterion::Criterion;
use crate::data::Group;
use crate::dictionary::Dictionary;
use crate::measured::Measured;
use crate::penalties::Cost;
use crate::random::{Purpose, Stream};
use crate::rows::{RowStep, Units, hold};
use crate::stopping::Stopping;
use crate::update::Update;
use crate::weights::WeightRule;
use crate::{GroupedData, silent};
use ndarray::Array2;

/// Rows of few topics in noise, which more topics explain in many ways: a run goes on for hundreds of iterations.
fn noisy(rows: usize, features: usize) -> Array2<f32> {
    let mut stream = Stream::new(5, Purpose::Spectral, 0);
    let mut uniform = || stream.uniform();
    let topics = Array2::from_shape_simple_fn((4, features), || uniform().powi(4));
    let weights = Array2::from_shape_simple_fn((rows, 4), &mut uniform);
    weights.dot(&topics).mapv(|v| (v + 0.2 * uniform()) as f32)
}

/// W shrinks as H grows, and nothing sees it: looking ahead must not let them run out of what numbers hold.
#[test]
fn the_size_of_the_factors_does_not_run_away_in_a_long_run() {
    let x = noisy(400, 40);
    let labels: Vec<&str> = (0..400).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let of_group = |g: &Group| Criterion { offset: 0.0, scale: g.norm() };
    let criteria: Vec<Criterion> = data.groups().iter().map(of_group).collect();
    let run = |max_iterations: usize| {
        let stopping = Stopping { tolerance: 0.0, max_iterations, ..Stopping::default() };
        let context = Context::without_limit(&silent);
        let task = Task::alone(Scheme::min_max(1e-7), &criteria, &stopping, context);
        let rows = hold(&data, Units::Given);
        let run = run_once(rows, 16, &Init::Random, 0, &task).unwrap();
        (run.dictionary.largest().log2(), run.measured.worst())
    };
    let (begun, ended) = (run(100), run(800));
    assert!(ended.0.abs() < 40.0, "the largest entry of H is 2^{}", ended.0);
    assert!(ended.1 <= begun.1, "the worst loss went from {} to {}", begun.1, ended.1);
}

/// Where nothing looks ahead, rows are not made anew for the dictionary that is delivered: it has to stay theirs, however large it is.
#[test]
fn a_large_dictionary_stays_that_of_its_rows() {
    let x = noisy(60, 12).mapv(f64::from);
    let labels: Vec<&str> = (0..60).map(|i| ["a", "b"][i % 2]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let of_group = |g: &Group| Criterion { offset: 0.0, scale: g.norm() };
    let criteria: Vec<Criterion> = data.groups().iter().map(of_group).collect();
    let stopping = Stopping { tolerance: 0.0, max_iterations: 4, ..Stopping::default() };
    for weights in [WeightRule::Uniform, WeightRule::Decaying { even_start: true }] {
        let scheme = Scheme { looks_ahead: false, ..Scheme::weighted(Update::Nnls, weights) };
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let mut rows = hold(&data, Units::Given);
        let mut begin = start::make(&mut *rows, 3, &Init::Random, 0, 7).unwrap();
        begin.dictionary *= 2.0_f64.powi(50);
        begin.first = First::Pass(RowStep::EXACT);
        let mut run = iterate(rows, begin, &task).unwrap();
        assert!(run.dictionary.largest() > 2.0_f64.powi(40));
        let kept = run.rows.pass(&run.dictionary, RowStep::Keep).unwrap();
        let found = measure(&*run.rows, &kept, &run.dictionary, &criteria).unwrap();
        for (said, is) in run.measured.losses.iter().zip(&found.losses) {
            assert!((said - is).abs() < 1e-12, "{said} {is}");
        }
    }
}

/// Where rows belong to another dictionary than the last, or cost something, they are made for what is delivered.
#[test]
fn the_rows_that_are_delivered_are_the_best_for_the_dictionary() {
    let x = noisy(50, 10).mapv(f64::from);
    let labels: Vec<&str> = (0..50).map(|i| ["a", "b"][i % 2]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let criteria: Vec<Criterion> =
        data.groups().iter().map(|g| Criterion { offset: 0.0, scale: g.norm() }).collect();
    let stopping = Stopping { tolerance: 0.0, max_iterations: 6, ..Stopping::default() };
    let cost = Cost { l1: 0.1, l2: 0.2 };
    let hals = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    for scheme in [Scheme::min_max(1e-6), hals, hals.penalised((cost, cost))] {
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let mut run = run_once(hold(&data, Units::Given), 3, &Init::Random, 0, &task).unwrap();
        let best = run.rows.pass(&run.dictionary, scheme.row_step(Update::Nnls)).unwrap();
        let found = measure(&*run.rows, &best, &run.dictionary, &criteria).unwrap();
        for (said, is) in run.measured.errors.iter().zip(&found.errors) {
            assert!((said - is).abs() < 1e-9, "{said} {is}");
        }
    }
}

/// A rule that moves weights by losses asks first what the start achieves.
#[test]
fn the_first_weights_are_those_of_the_start() {
    let x = noisy(40, 8).mapv(f64::from);
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b"][i % 2]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let stopping = Stopping { tolerance: 0.0, max_iterations: 1, ..Stopping::default() };
    let scheme = Scheme::weighted(Update::Mu, WeightRule::Decaying { even_start: false });
    for worst in [0, 1] {
        let offset = |l: usize| if l == worst { 0.0 } else { 0.9 };
        let groups = data.groups().iter().enumerate();
        let criteria: Vec<Criterion> = groups
            .map(|(l, g)| Criterion { offset: offset(l) * g.norm(), scale: g.norm() })
            .collect();
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let run = run_once(hold(&data, Units::Given), 3, &Init::Random, 0, &task).unwrap();
        assert_eq!(run.weights[worst], 1.0);
    }
}

/// Penalties go with the sum: whatever a scheme was, none loses them, and the dictionary keeps the update that it had.
#[test]
fn penalties_stay_whatever_they_are_added_to() {
    let cost = Cost { l1: 0.1, l2: 0.2 };
    let weighted = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    let exact = [Scheme::min_max(1e-6), Scheme::between(0.5, 1.0)].map(|s| (s, Update::Nnls));
    for (scheme, own) in [(weighted, Update::Hals)].into_iter().chain(exact) {
        let penalised = scheme.penalised((cost, cost));
        let kept = matches!(penalised.dictionary, DictionaryRule::Weighted { update, .. } if update == own);
        assert!(kept, "{:?}", penalised.dictionary);
        assert_eq!(penalised.costs(), Some((cost, cost)));
        assert_eq!((penalised.rows, penalised.looks_ahead), (Update::Nnls, false));
        assert_eq!(penalised.objective, Objective::Sum);
    }
}

#[test]
fn looking_ahead_goes_further_while_it_helps_and_less_after_it_did_not() {
    let of = |values: [f64; 3]| Dictionary { rank: 1, features: 3, values: values.to_vec() };
    let (last, h) = (of([1.0, 2.0, 4.0]), of([2.0, 1.5, 0.5]));
    let mut momentum = Momentum::new();
    assert_eq!(momentum.ahead(&h, None), h);
    assert!(!momentum.looked_ahead, "without a step there is no direction");
    // Half of the last step, and nothing below zero.
    assert_eq!(momentum.ahead(&h, Some(&last)), of([2.5, 1.25, 0.0]));
    assert!(momentum.looked_ahead);
    let mut reach = || momentum.ahead(&h, Some(&last)).values[0] - 2.0;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(reach(), 0.5 * 1.05);
    close(reach(), 0.5 * 1.05 * 1.05);
    // Up to a limit that begins at one and rises slowly.
    let all: Vec<f64> = (3..400).map(|_| reach()).collect();
    let limit = |time: i32| 1.01_f64.powi(time);
    assert!(all.iter().zip(3..).all(|(r, time)| *r <= limit(time - 1) * (1.0 + 1e-12)));
    close(all[30], limit(32));
    close(*all.last().unwrap(), 10.0);
    // After a step that was taken back the limit is where it failed, and the reach well below.
    let mut momentum = Momentum::new();
    (0..5).for_each(|_| drop(momentum.ahead(&h, Some(&last))));
    momentum.take_back();
    assert!(!momentum.looked_ahead);
    let all: Vec<f64> = (0..40).map(|_| momentum.ahead(&h, Some(&last)).values[0] - 2.0).collect();
    let failed = 0.5 * 1.05_f64.powi(5);
    close(all[0], 0.6 * failed);
    close(all[1], 0.6 * failed * 1.05);
    close(all[20], failed * limit(19));
}

/// By a power of two, so that no bit of it changes.
#[test]
fn a_dictionary_far_from_one_comes_back_and_no_other_moves() {
    let of =
        |largest: f64| Dictionary { rank: 2, features: 1, values: vec![0.1 * largest, largest] };
    let far = 2.0_f64.powi(32);
    for near in [0.0, 1.0 / far, 1e-9, 1.0, 1e9, far] {
        assert_eq!(Momentum::way_back(&of(near)), None, "{near:e}");
    }
    for away in [1.5 * far, 1e30, 0.9 / far, 1e-30] {
        let by = Momentum::way_back(&of(away)).unwrap();
        assert!(by.log2().fract() == 0.0 && (0.5..=1.0).contains(&(by * away)), "{away:e} {by:e}");
    }
}

/// 0.5·‖X − WH‖² and what the entries cost, from the factors themselves.
#[test]
fn the_penalised_objective_is_that_of_the_factors() {
    let x = noisy(30, 7).mapv(f64::from);
    let names = || ["a", "b"].map(|name| (name.to_owned(), None)).to_vec();
    let members = |first: usize| {
        Array2::from_shape_fn((30, 2), |(i, l)| if l == 0 { i < 18 } else { i >= first })
    };
    let stopping = Stopping { tolerance: 0.0, max_iterations: 7, ..Stopping::default() };
    for (overlapping, l1, l2) in
        [(false, 0.3, 0.2), (true, 0.1, 0.4), (false, 0.0, 0.3), (true, 0.2, 0.0)]
    {
        let members = members(if overlapping { 12 } else { 18 });
        let data = GroupedData::with_members(x.view(), names(), members.view()).unwrap();
        let criteria: Vec<Criterion> =
            data.groups().iter().map(|g| Criterion { offset: 0.0, scale: g.norm() }).collect();
        let (of_w, of_h) = (Cost { l1, l2 }, Cost { l1: 2.0 * l1, l2: 3.0 * l2 });
        let scheme = Scheme::weighted(Update::Nnls, WeightRule::Uniform).penalised((of_w, of_h));
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let run = run_once(hold(&data, Units::Given), 2, &Init::Random, 0, &task).unwrap();
        let crate::rows::Representation::F64(w) = run.rows.representation().unwrap() else {
            panic!("double precision")
        };
        let h = run.dictionary.to_components();
        let square = |a: &Array2<f64>| a.iter().map(|v| v * v).sum::<f64>();
        let cost = |c: Cost, a: &Array2<f64>| c.l1 * a.sum() + 0.5 * c.l2 * square(a);
        let expected = 0.5 * square(&(&x - &w.dot(&h))) + cost(of_w, &w) + cost(of_h, &h);
        let found = run.penalised((of_w, of_h));
        assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
    }
}

#[test]
fn every_run_of_a_fit_has_a_name_of_its_own() {
    let parts = [
        Part::Restart,
        Part::Standard,
        Part::Exchange { round: 1, number: 2 },
        Part::Split { round: 1, number: 2 },
        Part::Finish,
        Part::Baseline { group: 1, run: 2 },
    ];
    let names: Vec<String> = parts.iter().map(|part| part.name(3)).collect();
    let expected =
        ["restart-3", "standard-3", "exchange-1-2", "split-1-2", "finish-3", "baseline-1-2"];
    assert_eq!(names, expected);
}

/// Close to an exact fit the statistics cancel, and the residual is looked at itself.
#[test]
fn errors_are_those_of_the_residuals_however_small() {
    let mut stream = Stream::new(6, Purpose::Spectral, 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let (w, h) = (uniform(24, 2), uniform(2, 6));
    let noise = uniform(24, 6);
    let labels: Vec<&str> = (0..24).map(|i| ["a", "b"][i % 2]).collect();
    for size in [1.0, 1e-3, 1e-8, 1e-10] {
        // Both far from one: what is trusted is a share of the group's own norm.
        for unit in [1e-4, 1.0, 1e5] {
            let x = unit * (w.dot(&h) + size * &noise);
            let data = GroupedData::new(x.view(), &labels).unwrap();
            let given = Start { components: Some(unit * &h), representation: Some(w.clone()) };
            let mut rows = hold(&data, Units::Given);
            let begin = start::given(&mut *rows, 2, 0, &given).unwrap();
            let statistics = rows.pass(&begin.dictionary, RowStep::Keep).unwrap();
            let criteria = criteria(&*rows, &[0.0, 0.5 * size * data.groups()[1].norm()]);
            let found = measure(&*rows, &statistics, &begin.dictionary, &criteria).unwrap();
            for (l, group) in data.groups().iter().enumerate() {
                let squares: f64 =
                    group.rows.iter().map(|&i| noise.row(i).dot(&noise.row(i))).sum();
                let error = unit * size * squares.sqrt();
                assert!((found.errors[l] - error).abs() < 1e-4 * error, "{size:e} {unit:e}");
                let relative = found.errors[l] / group.norm();
                assert!((found.relative_errors[l] - relative).abs() < 1e-12 * relative);
                let loss = relative - [0.0, 0.5 * size][l];
                assert!((found.losses[l] - loss).abs() < 1e-10 * size);
            }
            assert_eq!(found.whole, None);
        }
    }
}

/// What runs are compared by.
#[test]
fn the_objective_is_the_sum_the_worst_or_between() {
    let measured = Measured {
        errors: vec![3.0, 4.0],
        relative_errors: vec![0.3, 0.2],
        losses: vec![0.1, 0.15],
        whole: None,
    };
    assert_eq!(Objective::Sum.of(&measured), 25.0);
    assert_eq!(Objective::Worst.of(&measured), 0.15);
    let between = Objective::Mixture { alpha: 0.25, squared_norm: 100.0 };
    assert!((between.of(&measured) - (0.75 * 0.5 + 0.25 * 0.15)).abs() < 1e-12);
    let overlapping = Measured { whole: Some(16.0), ..measured };
    assert_eq!(Objective::Sum.of(&overlapping), 16.0);
}

/// A start in other units is the same start: WH is that of the user's units times the unit, and H has the size of random numbers.
#[test]
fn a_given_start_keeps_its_product_in_other_units() {
    let mut stream = Stream::new(8, Purpose::Spectral, 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let (w, h) = (uniform(9, 3), uniform(3, 5));
    for size in [1e-6, 0.3, 40.0, 1e9] {
        let given = Start { components: Some(size * &h), representation: Some(w.clone()) };
        assert_eq!(given.in_own_units(1.0), (given.clone(), 1.0));
        for unit in [0.25, 1024.0] {
            let (own, split) = given.in_own_units(unit);
            let (of_w, of_h) = (own.representation.unwrap(), own.components.unwrap());
            let product = of_w.dot(&of_h);
            let expected = unit * size * w.dot(&h);
            assert!(product.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-12 * b));
            assert_eq!((split.log2().fract(), of_w), (0.0, &w * split));
            // Uniform numbers on [0, 1) have a mean square of a third.
            let mean_square = of_h.iter().map(|v| v * v).sum::<f64>() / 15.0;
            assert!((1.0..=4.0).contains(&(3.0 * mean_square)), "{size} {unit}: {mean_square}");
        }
    }
    // Without H, or with one of zeros, there is nothing to take the size of.
    let rows = Start { components: None, representation: Some(w.clone()) };
    assert_eq!(rows.in_own_units(8.0), (rows.clone(), 1.0));
    let zeros = Start { components: Some(Array2::zeros((3, 5))), representation: Some(w) };
    assert_eq!(zeros.in_own_units(8.0), (zeros.clone(), 1.0));
}

#[test]
fn a_start_that_does_not_fit_is_refused() {
    let start = |(r, n): (usize, usize), (m, s): (usize, usize)| Start {
        components: Some(Array2::ones((r, n))),
        representation: Some(Array2::ones((m, s))),
    };
    let fits = |start: &Start| start.check((7, 5), 2).is_ok();
    assert!(fits(&start((2, 5), (7, 2))) && fits(&Start::default()));
    for (h, w) in [((3, 5), (7, 2)), ((2, 4), (7, 2)), ((2, 5), (6, 2)), ((2, 5), (7, 3))] {
        assert!(!fits(&start(h, w)), "{h:?} {w:?}");
    }
    for (bad, ok) in [(-1.0, false), (f64::NAN, false), (f64::INFINITY, false), (0.0, true)] {
        let mut one = start((2, 5), (7, 2));
        one.components.as_mut().unwrap()[[1, 3]] = bad;
        let mut other = start((2, 5), (7, 2));
        other.representation.as_mut().unwrap()[[4, 1]] = bad;
        assert_eq!([fits(&one), fits(&other)], [ok; 2], "{bad}");
    }
}

/// As the paper has them: which scheme looks ahead, begins softly and lowers what.
#[test]
fn schemes_are_what_their_methods_promise() {
    use crate::Method;
    let decaying = WeightRule::Decaying { even_start: true };
    let uniform = WeightRule::Uniform;
    let weighted = [
        (Update::Mu, decaying, Objective::Worst, false),
        (Update::Hals, decaying, Objective::Worst, false),
        (Update::Mu, uniform, Objective::Sum, false),
        (Update::Hals, uniform, Objective::Sum, true),
        (Update::Nnls, uniform, Objective::Sum, true),
    ];
    for (update, weights, objective, looks_ahead) in weighted {
        let scheme = Scheme::weighted(update, weights);
        assert_eq!((scheme.rows, scheme.soft), (update, 0));
        assert_eq!((scheme.objective, scheme.looks_ahead), (objective, looks_ahead));
    }
    let am = Scheme::min_max(1e-6);
    assert!(am.looks_ahead && am.soft > 0);
    assert_eq!((am.rows, am.searching().rows), (Update::Nnls, Update::Hals));
    let (between, point) = (Scheme::between(0.5, 2.0), Scheme::mixture(0.5, 2.0));
    assert_eq!((between.looks_ahead, between.soft), (true, am.soft));
    assert_eq!((point.looks_ahead, point.soft), (false, 0));
    assert_eq!((between.objective, between.dictionary), (point.objective, point.dictionary));
    assert_eq!(
        Method::am().scheme(2.0),
        Scheme::min_max(match Method::am() {
            Method::Am { gap, .. } => gap,
            _ => unreachable!(),
        })
    );
    assert_eq!(Method::between(0.0).scheme(2.0), Method::standard().scheme(2.0));
    assert_eq!(Method::between(0.5).scheme(2.0), between);
}
