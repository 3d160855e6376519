use super::*;
use crate::criterion::Criterion;
use crate::iteration::{Context, iterate, start};
use crate::rows::{Units, hold};
use crate::stopping::Stopping;
use crate::update::Update;
use crate::weights::WeightRule;
use crate::{GroupedData, silent};
use ndarray::Array2;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Large runs come one after the other: one has to be, others only while there is time.
#[test]
fn when_the_time_is_up_one_run_has_to_be() {
    let x = Array2::from_shape_fn((12, 5), |(i, j)| 0.1 + ((3 * i + 5 * j) % 7) as f64);
    let labels: Vec<&str> = (0..12).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let rows = hold(&data, Units::Own);
    let criteria = vec![Criterion { offset: 0.0, scale: 1.0 }; 3];
    let stopping = Stopping { max_iterations: 1, ..Stopping::default() };
    let p = Parameters { n_init: 1 << 20, ..Parameters::new(3) };
    for (deadline, wanted) in [(None, 3), (Some(Instant::now()), 1)] {
        let context = Context { deadline, ..Context::without_limit(&silent) };
        let scheme = Scheme::weighted(Update::Hals, WeightRule::Uniform);
        let task = Task::alone(scheme, &criteria, &stopping, context);
        let made = AtomicUsize::new(0);
        let one = |number: usize| {
            assert_eq!(made.fetch_add(1, Ordering::Relaxed), number);
            let mut rows = rows.apart();
            let begin = start::make(&mut *rows, p.rank, &p.init, number, p.seed)?;
            iterate(rows, begin, &task)
        };
        let mut kept = Vec::new();
        each(&*rows, &p, &task, 3, &one, |number, _| kept.push(number)).unwrap();
        assert_eq!(kept, (0..wanted).collect::<Vec<_>>());
        assert_eq!(made.load(Ordering::Relaxed), wanted);
    }
}

/// Sums of squares tie by a share of themselves, losses by so much.
#[test]
fn runs_that_differ_by_rounding_tie_in_the_units_of_what_is_lowered() {
    let x = Array2::from_shape_fn((12, 5), |(i, j)| 0.1 + ((3 * i + 5 * j) % 7) as f64);
    let labels: Vec<&str> = (0..12).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let rows = hold(&data, Units::Own);
    let criteria = vec![Criterion { offset: 0.0, scale: 1.0 }; 3];
    let stopping = Stopping { max_iterations: 1, ..Stopping::default() };
    let p = Parameters::new(3);
    let standard = Scheme::weighted(Update::Hals, WeightRule::Uniform);
    for (scheme, size) in [(standard, 1e8), (standard, 1e-4), (Scheme::min_max(1e-6), 0.01)] {
        let task = Task::alone(scheme, &criteria, &stopping, Context::without_limit(&silent));
        let made = |value: f64| {
            let mut rows = rows.apart();
            let begin = start::make(&mut *rows, p.rank, &p.init, 0, p.seed).unwrap();
            let mut run = iterate(rows, begin, &task).unwrap();
            run.measured.whole = Some(value);
            run.measured.losses.fill(value);
            run
        };
        let judge = Judge::new(&p, scheme);
        let known = made(size);
        assert_eq!(judge.value(&known), size);
        let tie = if scheme.objective == Objective::Sum { 1e-9 * size } else { 1e-9 };
        let is_no_better = |by: f64| judge.is_no_better(&made(size - by * tie), &known);
        assert!(is_no_better(-3.0) && is_no_better(0.5) && !is_no_better(2.0), "{size}");
    }
}

#[test]
fn sorted_losses_are_compared_at_the_first_that_differs() {
    let below = lexicographically_below;
    assert!(below(&[0.1, 0.3], &[0.3, 0.2]) && !below(&[0.3, 0.2], &[0.1, 0.3]));
    assert!(below(&[0.2, 0.2, 0.2], &[0.1, 0.1, 0.3]), "the largest comes first");
    assert!(!below(&[0.3, 0.1], &[0.1, 0.3]), "equal");
    // Rounding does not count.
    assert!(below(&[0.3 + 1e-10, 0.1], &[0.3, 0.2]) && !below(&[0.3 - 1e-10], &[0.3]));
}
