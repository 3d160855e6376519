//! Newton's model against differences, and its small solvers against what they solve.

use super::super::tests::instance;
use super::super::{Solver, worst};
use super::*;
use crate::random::{Purpose, Stream};

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

#[test]
fn the_model_says_how_losses_move_with_the_multipliers() {
    let mut seen = 0;
    for number in [0, 5, 10, 15, 20, 25, 30] {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        let groups = problem.criteria.len();
        // Uneven weights with Σ w_ℓf_ℓ = 1, so that λ = w·f.
        let mut weights: Vec<f64> = (0..groups).map(|l| 1.0 + 0.3 * l as f64).collect();
        let at = solver.point(weights.clone(), &instance.start);
        let total: f64 = weights.iter().zip(&at.errors).map(|(w, f)| w * f).sum();
        weights.iter_mut().for_each(|w| *w /= total);
        let at = solver.point(weights.clone(), &instance.start);
        let model = Model::new(&problem, &at).unwrap();
        for k in 0..groups {
            let mut moved = |by: f64| {
                let mut weights = weights.clone();
                weights[k] *= 1.0 + by;
                let to = solver.point(weights.clone(), &at.h);
                let lambda: Vec<f64> = weights.iter().zip(&to.errors).map(|(w, f)| w * f).collect();
                (lambda, to)
            };
            let ((above, more), (below, less)) = (moved(1e-5), moved(-1e-5));
            // Where an entry of H becomes zero or positive between the two there is no derivative.
            let support = |h: &[f64]| h.iter().map(|v| *v > 0.0).collect::<Vec<bool>>();
            if support(&more.h.values) != support(&less.h.values) {
                continue;
            }
            seen += 1;
            let change: Vec<f64> = above.iter().zip(&below).map(|(a, b)| a - b).collect();
            for l in 0..groups {
                let row = &model.hessian[l * groups..(l + 1) * groups];
                let expected: f64 = row.iter().zip(&change).map(|(q, d)| q * d).sum();
                let found = more.losses[l] - less.losses[l];
                assert!(near(found, expected, 1e-8), "{number}: {found:e} {expected:e}");
            }
            // The weights that the model gives for that step are those that make it.
            let step: Vec<f64> = above.iter().zip(&at.lambda).map(|(a, l)| a - l).collect();
            let total: f64 = above.iter().sum();
            let given = model.weights(&at, &step);
            for (l, w) in given.iter().enumerate() {
                let wanted = weights[l] * if l == k { 1.0 + 1e-5 } else { 1.0 } / total;
                assert!(near(*w, wanted, 1e-8 * wanted), "{number}: {w} {wanted}");
            }
        }
    }
    assert!(seen > 10, "{seen} derivatives");
}

#[test]
fn steps_keep_the_sum_and_stay_within_a_factor() {
    for number in 0..40 {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        let at = solver.first_point(&instance.start, &instance.even());
        let Some(model) = Model::new(&problem, &at) else { continue };
        for radius in [1.0, 0.25, 1.0 / 64.0] {
            let step = model.step(&at, radius);
            let factor = 1.0 + (FACTOR - 1.0) * radius;
            assert!(near(step.iter().sum(), 0.0, 1e-12), "{number}");
            for (d, l) in step.iter().zip(&at.lambda) {
                assert!(l + d >= l / factor - 1e-15, "{number}: {l} {d}");
                assert!(l + d <= (l * factor).max(l + 0.05 * radius) + 1e-15, "{number}: {l} {d}");
            }
            let gained: f64 = step.iter().zip(&at.losses).map(|(d, g)| d * g).sum();
            let still = worst(&at.losses) - at.losses.iter().fold(0.0f64, |a, g| a.min(*g));
            assert!(gained > 0.0 || still < 1e-9, "{number}: uphill");
        }
    }
}

#[test]
fn square_systems_are_solved_whatever_their_pivots() {
    let mut stream = Stream::new(3, Purpose::Spectral, 5);
    for n in 1..6 {
        let mut k: Vec<f64> = (0..n * n).map(|_| stream.uniform() - 0.5).collect();
        // The first pivot is elsewhere.
        if n > 1 {
            k[0] = 0.0;
        }
        let right: Vec<f64> = (0..n * n).map(|_| stream.uniform()).collect();
        let y = solve_square(k.clone(), right.clone(), n).unwrap();
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            let product: f64 = (0..n).map(|x| k[i * n + x] * y[x * n + j]).sum();
            assert!(near(product, right[i * n + j], 1e-11), "{n}: {i} {j}");
        }
    }
    let right = vec![1.0, 0.0, 0.0, 1.0];
    assert!(solve_square(vec![1.0, 2.0, 2.0, 4.0], right.clone(), 2).is_none(), "singular");
    assert!(solve_square(vec![f64::INFINITY, 0.0, 0.0, 1.0], right, 2).is_none());
    // Every pivot is elsewhere, or is found only below.
    for k in [
        [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 5.0, 0.0],
    ] {
        let unit = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let y = solve_square(k.to_vec(), unit.clone(), 3).unwrap();
        for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
            let product: f64 = (0..3).map(|x| k[i * 3 + x] * y[x * 3 + j]).sum();
            assert!(near(product, unit[i * 3 + j], 1e-14), "{k:?}: {y:?}");
        }
    }
    // Rounding grows with small pivots: the largest is taken.
    let y = solve_square(vec![1e-20, 1.0, 1.0, 1.0], vec![1.0, 0.0, 2.0, 0.0], 2).unwrap();
    assert!(near(y[0], 1.0, 1e-12) && near(y[2], 1.0, 1e-12), "{y:?}");
}

/// No exchange between two coordinates raises the quadratic any more.
#[test]
fn the_maximum_on_a_box_is_one() {
    let mut stream = Stream::new(9, Purpose::Spectral, 5);
    for round in 0..60 {
        let n = 2 + round % 4;
        let b: Vec<f64> = (0..n * n).map(|_| stream.uniform() - 0.5).collect();
        // Every fourth is flat: it ends at the edges.
        let bend = if round % 4 == 3 { 0.0 } else { 4.0 };
        let entry = |i: usize, j: usize| (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>();
        let q: Vec<f64> = (0..n * n).map(|at| -bend * entry(at / n, at % n)).collect();
        let g: Vec<f64> = (0..n).map(|_| stream.uniform() - 0.5).collect();
        let bounds: Vec<(f64, f64)> =
            (0..n).map(|_| (-stream.uniform(), 2.0 * stream.uniform())).collect();
        let d = maximise(&q, &g, &bounds);
        assert!(near(d.iter().sum(), 0.0, 1e-12));
        assert!(d.iter().zip(&bounds).all(|(d, b)| b.0 <= *d && *d <= b.1), "{d:?} {bounds:?}");
        let slope = |i: usize| g[i] + (0..n).map(|k| q[i * n + k] * d[k]).sum::<f64>();
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            if d[i] < bounds[i].1 - 1e-12 && d[j] > bounds[j].0 + 1e-12 {
                assert!(slope(i) - slope(j) <= 1e-9, "{round}: {i} {j}");
            }
        }
    }
}
