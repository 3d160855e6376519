//! The safe steps by themselves, and what a search says of itself when it is cut short.

use super::*;
use crate::GroupedData;
use crate::random::{Purpose, Stream};
use crate::rows::group_statistics;
use ndarray::Array2;

pub(super) struct Instance {
    statistics: Vec<Statistics>,
    criteria: Vec<Criterion>,
    pub(super) start: Dictionary,
}

/// A random step, hard in the way that `number` says: nearly dependent topics, a group twice,
/// a group fitted exactly, norms 1 : 1e6, twenty groups.
pub(super) fn instance(number: u64) -> Instance {
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
    pub(super) fn problem(&self) -> Problem<'_> {
        Problem { statistics: &self.statistics, criteria: &self.criteria, limit: Limit::NONE }
    }

    pub(super) fn even(&self) -> Vec<f64> {
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

/// λ ∝ w·f and its bound, and the root with what is missing there, as the formulas say.
#[test]
fn a_point_says_what_its_weights_bound() {
    let mut trivial = 0;
    for number in 0..40 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        let uneven: Vec<f64> = (0..problem.criteria.len()).map(|l| 1.0 + l as f64).collect();
        let at = solver.point(uneven.clone(), &instance.start);
        assert_eq!((solver.solves, &at.weights), (1, &uneven));
        let (mut total, mut sum) = (0.0, 0.0);
        for (w, f) in uneven.iter().zip(&at.errors) {
            (total, sum) = (total + w * f, sum + w);
        }
        let (mut dual, mut balance) = (0.0, 0.0);
        for (l, (w, f)) in uneven.iter().zip(&at.errors).enumerate() {
            let e = problem.criteria[l].relative_offset();
            assert!((at.lambda[l] - w * f / total).abs() < 1e-14);
            assert!((at.losses[l] - (f - e)).abs() < 1e-14);
            dual += w * f / total * (f - e);
            balance += w / sum * (f * f - (at.root + e) * (at.root + e));
        }
        assert!((at.dual - dual).abs() < 1e-13 && (at.balance - balance).abs() < 1e-12);
        // The root has no balance, unless it is the trivial bound.
        assert!(
            balance.abs() < 1e-12 || (balance < 0.0 && at.root == -least(&problem)),
            "{number}"
        );
        trivial += usize::from(balance < -1e-6);
    }
    assert!(trivial > 0);
}

/// The smallest e_ℓ.
fn least(problem: &Problem<'_>) -> f64 {
    problem.criteria.iter().map(Criterion::relative_offset).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_search_ends_once_its_gap_is_reached() {
    let mut fewer = 0;
    for number in 0..30 {
        let instance = instance(number);
        let problem = instance.problem();
        let solved = |gap: f64| solve(&problem, &mut instance.start.clone(), &instance.even(), gap);
        let (loose, rough, fine) = (solved(10.0), solved(1e-3), solved(1e-9));
        assert_eq!(loose.solves, 1, "instance {number}: the first point is enough");
        assert!(rough.solves <= fine.solves && rough.gap() <= 1e-3, "instance {number}");
        fewer += usize::from(rough.solves < fine.solves);
        for step in [loose, rough, fine] {
            assert!((step.gap() - (step.upper - step.lower)).abs() < 1e-12 && step.gap() >= 0.0);
        }
    }
    assert!(fewer > 20, "{fewer}");
    let rounded = Step { lambda: vec![1.0], lower: 0.5, upper: 0.5 - 1e-16, solves: 1 };
    assert_eq!(rounded.gap(), 0.0, "rounding is no gap");
}

/// On the segment between two dictionaries nothing is better than what is found.
#[test]
fn a_mixture_is_the_best_of_its_segment() {
    let mut better = 0;
    for number in 0..30 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        // The best dictionary of the first group alone.
        let weights =
            (0..problem.criteria.len()).map(|l| if l == 0 { 1.0 } else { 1e-6 }).collect();
        let other = solver.point(weights, &instance.start).h;
        let mut solver = Solver::new(&problem, &instance.start);
        let before = solver.upper;
        solver.mix(&other);
        let mut grid = f64::INFINITY;
        for k in 0..=200 {
            let mut h = instance.start.clone();
            let blend = |(a, b): (&mut f64, &f64)| *a += f64::from(k) / 200.0 * (b - *a);
            h.values.iter_mut().zip(&other.values).for_each(blend);
            grid = grid.min(worst(&solver.losses(&solver.errors(&h))));
        }
        assert!(solver.upper <= grid + 1e-6, "instance {number}: {} {grid}", solver.upper);
        better += usize::from(solver.upper < before - 1e-3);
    }
    assert!(better > 10, "{better}");
}

#[test]
fn groups_that_are_fitted_exactly_have_even_multipliers_and_no_error() {
    let one = |offset: f64| {
        let (gram, cross) = (ndarray::array![[1.0]], ndarray::array![[1.0, 2.0]]);
        let s = Statistics::new(gram.view(), cross.view(), 5.0).unwrap();
        (s, Criterion { offset, scale: 5.0f64.sqrt() })
    };
    let (statistics, criteria): (Vec<_>, Vec<_>) = [one(0.5), one(1.0)].into_iter().unzip();
    let problem = Problem { statistics: &statistics, criteria: &criteria, limit: Limit::NONE };
    let mut h = Dictionary { rank: 1, features: 2, values: vec![1.0, 1.0] };
    let step = solve(&problem, &mut h, &[0.5, 0.5], 1e-9);
    assert_eq!(h.values, [1.0, 2.0]);
    assert!((step.upper + 0.5 / 5.0f64.sqrt()).abs() < 1e-15 && step.gap() < 1e-15);
    assert!(step.lambda.iter().all(|l| l.is_finite()), "{:?}", step.lambda);
    assert!((step.lambda.iter().sum::<f64>() - 1.0).abs() < 1e-15);
}
