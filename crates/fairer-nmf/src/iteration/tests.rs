//! The loop by itself, on rows in memory.

use super::*;
use crate::criterion::Criterion;
use crate::data::Group;
use crate::random::{Purpose, Stream};
use crate::rows::{Element as _, Units};
use crate::stopping::Stopping;
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
        let largest = run.dictionary.values.iter().copied().fold(0.0, f64::max);
        (largest.log2(), run.measured.worst())
    };
    let (begun, ended) = (run(100), run(800));
    assert!(ended.0.abs() < 40.0, "the largest entry of H is 2^{}", ended.0);
    assert!(ended.1 <= begun.1, "the worst loss went from {} to {}", begun.1, ended.1);
}
