//! M against differences, and where topics depend on each other.

use super::super::Solver;
use super::super::tests::instance;
use super::*;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;
use ndarray::{Array2, array};

/// The model is that of H(w) itself: its slopes are those of the errors of dictionaries for weights a little off.
#[test]
fn the_curvature_is_how_errors_follow_the_weights() {
    let mut compared = 0;
    for number in (0..70).filter(|number| number % 5 != 1) {
        let instance = instance(number);
        let problem = instance.problem();
        let mut solver = Solver::new(&problem, &instance.start);
        let at = solver.first_point(&instance.start, &instance.even());
        let m = curvature(&problem, &at).expect("no limit");
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

/// Σ_j b_ℓᵀ(A_PP)⁻¹b_k by elimination, one feature after the other, for any number of groups and topics.
#[test]
fn many_columns_and_groups_at_once_are_as_each_alone() {
    let mut sizes = std::collections::BTreeSet::new();
    for number in 0..70 {
        let instance = instance(number);
        let problem = instance.problem();
        let at =
            Solver::new(&problem, &instance.start).first_point(&instance.start, &instance.even());
        let (groups, r) = (at.weights.len(), at.h.rank);
        let squared = |l: usize| problem.criteria[l].scale * problem.criteria[l].scale;
        let mut expected = vec![0.0; groups * groups];
        for j in 0..at.h.features {
            let h = &at.h.values[j * r..(j + 1) * r];
            let passive: Vec<usize> = (0..r).filter(|&k| h[k] > 0.0).collect();
            let gradient = |l: usize, k: usize| {
                let s = &problem.statistics[l];
                let product: f64 = (0..r).map(|q| s.gram[k * r + q] * h[q]).sum();
                (product - s.cross[j * r + k]) / squared(l)
            };
            let weighted = |l: usize, i: usize, k: usize| {
                at.weights[l] / squared(l) * problem.statistics[l].gram[i * r + k]
            };
            // A on the passive set, and the gradients of all groups beside it.
            let mut table: Vec<Vec<f64>> = passive
                .iter()
                .map(|&i| {
                    let a = passive.iter().map(|&k| (0..groups).map(|l| weighted(l, i, k)).sum());
                    a.chain((0..groups).map(|l| gradient(l, i))).collect()
                })
                .collect();
            let p = passive.len();
            for i in 0..p {
                let pivot = table[i].clone();
                for row in table.iter_mut().skip(i + 1) {
                    let times = row[i] / pivot[i];
                    row.iter_mut().zip(&pivot).for_each(|(v, pivot)| *v -= times * pivot);
                }
            }
            // bᵀA⁻¹b = Σ y²/d for A = LDLᵀ and y = L⁻¹b.
            for (i, row) in table.iter().enumerate() {
                for l in 0..groups {
                    for k in 0..groups {
                        expected[l * groups + k] += row[p + l] * row[p + k] / row[i];
                    }
                }
            }
        }
        let largest = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        crate::kernel::tests::at_every_level(|| {
            let m = curvature(&problem, &at).expect("no limit");
            for (found, expected) in m.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-6 * largest, "{number}: {found} {expected}");
            }
        });
        sizes.insert((groups % TILE, at.h.features % LANES));
    }
    assert!(sizes.len() > 5, "{sizes:?}");
}

/// A topic twice counts once: the second is shut off. More features than a vector has lanes, some without topics.
#[test]
fn a_topic_that_depends_on_others_adds_nothing() {
    let of_group = |l: usize| {
        let cross = Array2::from_shape_fn((1, 11), |(_, j)| ((j * (l + 2)) % 4) as f64);
        let criterion = Criterion { offset: 0.1, scale: 9.0 + l as f64 };
        let once = Statistics::new(array![[2.0 + l as f64]].view(), cross.view(), 90.0).unwrap();
        let twice = Array2::from_shape_fn((2, 11), |(_, j)| cross[[0, j]]);
        let gram = Array2::from_elem((2, 2), 2.0 + l as f64);
        (once, Statistics::new(gram.view(), twice.view(), 90.0).unwrap(), criterion)
    };
    let groups: Vec<_> = (0..3).map(of_group).collect();
    let criteria: Vec<Criterion> = groups.iter().map(|g| g.2).collect();
    let once: Vec<Statistics> = groups.iter().map(|g| g.0.clone()).collect();
    let twice: Vec<Statistics> = groups.iter().map(|g| g.1.clone()).collect();
    let of = |statistics| Problem { statistics, criteria: &criteria, limit: Limit::NONE };
    let (alone, both) = (of(&once[..]), of(&twice[..]));
    let start = Dictionary { rank: 1, features: 11, values: vec![1.0; 11] };
    let at = Solver::new(&alone, &start).point(vec![0.2, 0.3, 0.5], &start);
    assert!(at.h.values.contains(&0.0) && at.h.values.iter().any(|v| *v > 0.0));
    let halves = at.h.values.iter().flat_map(|v| [0.5 * v, 0.5 * v]).collect();
    let shared = Point { h: Dictionary { rank: 2, features: 11, values: halves }, ..at.clone() };
    let (alone, both) = (curvature(&alone, &at).unwrap(), curvature(&both, &shared).unwrap());
    for (a, b) in alone.iter().zip(&both) {
        assert!((a - b).abs() <= 1e-12 * a.abs() && *a != 0.0, "{a} {b}");
    }
}
