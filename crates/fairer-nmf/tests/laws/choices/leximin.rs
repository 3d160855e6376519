//! Lexicographic min-max: the sorted losses are never lexicographically above the plain fit's.

use fairer_nmf::fit::Ties;
use fairer_nmf::{Baseline, GroupedData, Method, Model, Parameters, fit, silent};
use ndarray::Array2;

/// What a held group may rise by.
const ALLOWED: f64 = 1e-6;

/// Groups of which the first has a feature of its own and is fitted exactly, and the others have baselines that they
/// stay below: so the first alone determines the worst loss, and the others are left to chance.
fn data(seed: usize, groups: usize) -> (Array2<f64>, Vec<String>, Vec<f64>) {
    let number = |i: usize, j: usize| {
        let z = (i * 1_000_003 + j * 7919 + seed * 104_729 + 17).wrapping_mul(0x9e37_79b9);
        ((z >> 7) % 10_007) as f64 / 10_007.0
    };
    let x = Array2::from_shape_fn((20 * groups, 9), |(i, j)| match (i / 20, j) {
        (0, 0) => 1.0 + number(i, 0),
        (0, _) | (_, 0) => 0.0,
        (group, _) => number(i, j) * number(j, 50 + group) * group as f64,
    });
    let norm = |group: usize| {
        let rows = x.slice(ndarray::s![20 * group..20 * (group + 1), ..]);
        rows.iter().map(|v| v * v).sum::<f64>().sqrt()
    };
    let baselines = (0..groups).map(|l| if l == 0 { 0.0 } else { 0.95 * norm(l) }).collect();
    (x.clone(), (0..20 * groups).map(|i| format!("g{}", i / 20)).collect(), baselines)
}

fn sorted(model: &Model) -> Vec<f64> {
    let mut losses = model.losses();
    losses.sort_by(|a, b| b.total_cmp(a));
    losses
}

#[test]
fn sorted_losses_are_never_lexicographically_above_the_plain_fits() {
    let mut lowered = 0;
    for seed in 0..6 {
        for groups in [2, 3, 5] {
            let (x, labels, errors) = data(seed, groups);
            let data = GroupedData::new(x.view(), &labels).unwrap();
            let parameters = |method| {
                Parameters::new(2).with(|p| {
                    p.method = method;
                    p.n_init = 1;
                    p.baseline = Baseline::Given { errors: errors.clone() };
                    p.bound = false;
                })
            };
            let plain = fit(&data, &parameters(Method::am()), &silent).unwrap().model;
            let lex = fit(&data, &parameters(Method::leximin()), &silent).unwrap().model;
            for (a, b) in sorted(&lex).iter().zip(sorted(&plain)) {
                assert!(*a <= b + ALLOWED, "seed {seed}, {groups} groups: {a} above {b}");
                if *a < b - 1e-4 {
                    lowered += 1;
                    break;
                }
            }
            assert!(lex.worst_loss() <= plain.worst_loss() + ALLOWED);
            assert!(lex.step_gap.is_some_and(|gap| gap < 1e-3), "{:?}", lex.step_gap);
        }
    }
    assert!(lowered > 0, "nothing was ever lowered: the test says nothing");
}

/// What is certified is the largest loss, as of any fit.
#[test]
fn the_gap_is_that_of_the_largest_loss() {
    let mut large = 0;
    for seed in 0..4 {
        let (x, labels, _) = data(seed, 3);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let (method, baseline) = (Method::leximin(), Baseline::Zero);
        let p = Parameters::new(2).with(|p| {
            p.method = method;
            p.baseline = baseline;
            p.n_init = 1;
            p.bound = false;
        });
        let model = fit(&data, &p, &silent).unwrap().model;
        let (gap, worst) = (model.step_gap.unwrap(), model.worst_loss());
        assert!((0.0..1e-3).contains(&gap), "{gap} of {worst}");
        large += usize::from(worst > 0.1);
    }
    assert!(large > 0, "losses near zero prove nothing");
}

/// With two groups, of which the first needs a topic of its own, the second gets the best single topic there is: no local minimum.
#[test]
fn the_second_level_is_the_best_there_is_where_that_is_known() {
    for seed in 0..6 {
        let (x, labels, errors) = data(seed, 2);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let parameters = Parameters::new(2).with(|p| {
            p.method = Method::leximin();
            p.baseline = Baseline::Given { errors };
            p.bound = false;
        });
        let found = sorted(&fit(&data, &parameters, &silent).unwrap().model)[1];
        let alone = x.slice(ndarray::s![20.., ..]);
        let alone = GroupedData::one_group(alone).unwrap();
        let single = Parameters::new(1).with(|p| {
            p.method = Method::standard();
            p.bound = false;
        });
        let best = fit(&alone, &single, &silent).unwrap().model.groups[0].relative_error - 0.95;
        assert!((found - best).abs() < 1e-4, "seed {seed}: {found} and {best}");
    }
}

/// Of starts that tie in the worst loss, the one with the lower next loss is gone on from: more starts may lower it much, and raise it
/// by no more than what the way from there differs by.
#[test]
fn starts_that_tie_are_told_apart_by_the_next_loss() {
    let mut lowered = 0;
    for seed in 0..6 {
        let (x, labels, errors) = data(seed, 5);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let of = |n_init: usize| {
            let baseline = Baseline::Given { errors: errors.clone() };
            let method = Method::leximin();
            let parameters = Parameters::new(2).with(|p| {
                p.method = method;
                p.n_init = n_init;
                p.baseline = baseline;
                p.bound = false;
            });
            sorted(&fit(&data, &parameters, &silent).unwrap().model)
        };
        let (one, many) = (of(1), of(8));
        assert!(many[0] <= one[0] + ALLOWED && many[1] <= one[1] + 0.01, "{many:?} and {one:?}");
        lowered += usize::from(many[1] < one[1] - 0.05);
    }
    assert!(lowered > 0, "the first start was always the best: the test says nothing");
}

#[test]
fn it_does_not_go_with_fairness_below_one_and_is_kept_in_files() {
    let (x, labels, _) = data(1, 3);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let method = Method::Am { gap: 1e-6, fairness: 0.5, ties: Ties::Leximin };
    let refused = fit(&data, &Parameters::new(2).with(|p| p.method = method), &silent).unwrap_err();
    assert!(refused.to_string().contains("leave fairness at 1"), "{refused}");
    let parameters = Parameters::new(2).with(|p| {
        p.method = Method::leximin();
        p.n_init = 1;
    });
    let model = fit(&data, &parameters, &silent).unwrap().model;
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(back.parameters.method, Method::leximin());
}
