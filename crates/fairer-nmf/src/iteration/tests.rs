//! The loop by itself, on rows in memory.

use super::*;
use crate::criterion::Criterion;
use crate::data::Group;
use crate::random::{Purpose, Stream};
use crate::rows::{Element as _, RowStep, Units};
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
        let rows = f32::hold(&data, Units::Given);
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
        let mut rows = f64::hold(&data, Units::Given);
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

/// Penalties go with the sum: whatever a scheme was, none loses them.
#[test]
fn penalties_stay_whatever_they_are_added_to() {
    let cost = crate::penalties::Cost { l1: 0.1, l2: 0.2 };
    let weighted = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    for scheme in [weighted, Scheme::min_max(1e-6), Scheme::between(0.5, 1.0)] {
        let penalised = scheme.penalised((cost, cost));
        assert_eq!(penalised.costs(), Some((cost, cost)));
        assert_eq!((penalised.rows, penalised.looks_ahead), (Update::Nnls, false));
        assert_eq!(penalised.objective, Objective::Sum);
    }
}
