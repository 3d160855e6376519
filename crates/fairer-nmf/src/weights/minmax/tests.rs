//! The safe steps by themselves, and what a search says of itself when it is cut short.

use super::*;
use crate::GroupedData;
use crate::random::{Purpose, Stream};
use crate::rows::group_statistics;
use ndarray::Array2;

struct Instance {
    statistics: Vec<Statistics>,
    criteria: Vec<Criterion>,
    start: Dictionary,
}

/// A random step, hard in the way that `number` says: nearly dependent topics, a group twice,
/// a group fitted exactly, norms 1 : 1e6, twenty groups.
fn instance(number: u64) -> Instance {
    let mut stream = Stream::new(number, Purpose::Spectral, 1);
    let groups = if number % 7 == 6 { 20 } else { 2 + (number as usize % 5) };
    let (rank, features, rows) = (2 + number as usize % 4, 4 + number as usize % 9, 12);
    let mut w = Array2::from_shape_fn((groups * rows, rank), |_| stream.uniform());
    if number % 5 == 1 {
        for mut row in w.rows_mut() {
            row[1] = row[0] + 1e-7 * row[1];
        }
    }
    let h = Array2::from_shape_fn((rank, features), |_| (stream.uniform() - 0.3).max(0.0));
    let mut x = w.dot(&h);
    for (i, v) in x.iter_mut().enumerate() {
        let exact = number % 5 == 2 && i / features < rows;
        *v += if exact { 0.0 } else { 0.7 * stream.uniform() };
    }
    if number % 5 == 3 {
        let (mut x0, mut w0) =
            (x.slice_mut(ndarray::s![..rows, ..]), w.slice_mut(ndarray::s![..rows, ..]));
        x0 *= 1e6;
        w0 *= 1e6;
    }
    let codes: Vec<usize> = (0..groups * rows).map(|i| i / rows).collect();
    let names = (0..groups).map(|l| l.to_string()).collect();
    let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
    let mut statistics = group_statistics(&data, w.view()).unwrap();
    // Up to 0.3 of the norm as a rule; up to all of it in every eighth instance, where the
    // trivial bound can be the best.
    let most = if number % 8 == 7 { 1.0 } else { 0.3 };
    let mut baselines: Vec<f64> =
        statistics.iter().map(|s| most * stream.uniform() * s.squared_norm.sqrt()).collect();
    if number % 16 == 7 {
        baselines[0] = 0.0;
    }
    if number % 5 == 4 {
        statistics.push(statistics[0].clone());
        baselines.push(baselines[0]);
    }
    let of_group =
        |(s, offset): (&Statistics, f64)| Criterion { offset, scale: s.squared_norm.sqrt() };
    let criteria = statistics.iter().zip(baselines).map(of_group).collect();
    let start = Dictionary { rank, features, values: vec![0.5; rank * features] };
    Instance { statistics, criteria, start }
}

impl Instance {
    fn problem(&self) -> Problem<'_> {
        Problem { statistics: &self.statistics, criteria: &self.criteria, limit: Limit::NONE }
    }

    fn even(&self) -> Vec<f64> {
        vec![1.0 / self.criteria.len() as f64; self.criteria.len()]
    }
}

const NO_NEWTON: Limits = Limits { solves: 5_000, newton: 0 };

#[test]
fn safe_steps_alone_always_rise_and_reach_the_gap() {
    for number in 0..70 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut newton = instance.start.clone();
        let exact = solve(&problem, &mut newton, &instance.even(), 1e-9);

        let mut solver = Solver::new(&problem, &instance.start);
        let mut at = solver.first_point(&instance.start, &instance.even());
        let mut steps = 0;
        while solver.gap() > 1e-6 && solver.solves < NO_NEWTON.solves {
            let Some(next) = solver.safe_step(&at) else { break };
            assert!(rises(&at, &next), "instance {number}, step {steps}");
            at = next;
            steps += 1;
        }
        assert!(solver.gap() <= 1e-6, "instance {number}: gap {}", solver.gap());
        let off = (solver.upper - exact.upper).abs();
        assert!(off <= 1e-6 + exact.gap(), "instance {number}: off by {off}");
    }
}

#[test]
fn a_search_cut_short_brackets_the_optimum_and_says_its_gap() {
    for number in 0..70 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut newton = instance.start.clone();
        let exact = solve(&problem, &mut newton, &instance.even(), 1e-9);
        for solves in [1, 2, 4, 8] {
            let mut solver = Solver::new(&problem, &instance.start);
            let limits = Limits { solves, newton: 0 };
            solver.search(&instance.start, &instance.even(), 1e-12, limits);
            assert!(solver.lower <= exact.upper + 1e-12, "instance {number}, {solves} solves");
            assert!(solver.upper >= exact.lower - 1e-12, "instance {number}, {solves} solves");
            assert!(solver.upper - exact.upper <= solver.gap() + 1e-12);
            let errors = solver.errors(&solver.best);
            assert_eq!(worst(&solver.losses(&errors)), solver.upper, "the gap belongs to H");
        }
    }
}

#[test]
fn the_search_goes_on_where_newton_is_cut_off() {
    for number in 0..70 {
        let instance = instance(number);
        let problem = instance.problem();
        for newton in 1..4 {
            let mut solver = Solver::new(&problem, &instance.start);
            let limits = Limits { newton, ..NO_NEWTON };
            solver.search(&instance.start, &instance.even(), 1e-6, limits);
            assert!(solver.gap() <= 1e-6, "instance {number}: gap {}", solver.gap());
        }
    }
}

/// At a gap of 1e-10 the rise of D that is left to Newton is below rounding on many instances.
#[test]
fn safe_steps_close_the_gap_where_newton_ends_in_rounding() {
    let mut took_over = 0;
    for number in 0..200 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        solver.search(&instance.start, &instance.even(), 1e-10, LIMITS);
        assert!(solver.gap() <= 1e-10, "instance {number}: gap {}", solver.gap());
        // Only a safe step moves the rate.
        took_over += usize::from(solver.rate != Solver::new(&problem, &instance.start).rate);
    }
    assert!(took_over >= 20, "the safe steps were needed {took_over} times only");
}

/// A step whose time is up gives a dictionary that is no worse than the one given, and a bound that no exact step contradicts.
#[test]
fn a_step_whose_time_is_up_claims_nothing_that_is_not_so() {
    for number in 0..16 {
        let Instance { statistics, criteria, start } = instance(number);
        let even = vec![1.0 / criteria.len() as f64; criteria.len()];
        let solved = |limit| {
            let problem = Problem { statistics: &statistics, criteria: &criteria, limit };
            let mut h = start.clone();
            let step = solve(&problem, &mut h, &even, 1e-9);
            let own = Solver::new(&problem, &h);
            assert!((own.upper - step.upper).abs() <= 1e-12 * own.upper.abs());
            (step, Solver::new(&problem, &start).upper)
        };
        let ((cut, before), (full, _)) = (solved(Limit::over()), solved(Limit::NONE));
        assert_eq!((cut.solves, cut.upper), (0, before), "instance {number}");
        assert!(cut.upper <= before && cut.upper >= full.lower - 1e-9, "instance {number}");
        assert!(cut.lower <= full.upper + 1e-9, "instance {number}: {} {}", cut.lower, full.upper);
    }
}

/// The model is that of H(w) itself: its slopes are those of the errors of dictionaries for weights a little off.
#[test]
fn the_curvature_is_how_errors_follow_the_weights() {
    let mut compared = 0;
    for number in (0..70).filter(|number| number % 5 != 1) {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        let at = solver.first_point(&instance.start, &instance.even());
        let m = curvature::curvature(&problem, &at).expect("no limit");
        let groups = at.weights.len();
        for k in 0..groups {
            let by = 1e-5 * at.weights[k];
            let mut off = |by: f64| {
                let mut weights = at.weights.clone();
                weights[k] += by;
                solver.point(weights, &at.h)
            };
            let (low, high) = (off(-by), off(by));
            // Where a topic of a feature comes or goes there is a kink.
            let positive = |point: &Point| point.h.values.iter().map(|v| *v > 0.0).collect();
            let supports: [Vec<bool>; 2] = [positive(&low), positive(&high)];
            if supports[0] != supports[1] {
                continue;
            }
            for l in (0..groups).filter(|&l| at.errors[l] > 1e-3) {
                let slope = (high.errors[l] - low.errors[l]) / (2.0 * by);
                let expected = -m[l * groups + k] / at.errors[l];
                let off = (slope - expected).abs();
                assert!(
                    off <= 1e-4 * (slope.abs() + expected.abs()) + 1e-6,
                    "{number}: {slope} {expected}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} slopes only");
}
