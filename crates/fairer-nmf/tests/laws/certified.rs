//! Laws of the AM scheme and its certificates.

use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::fit::Minimised;
use fairer_nmf::stopping::Status;
use fairer_nmf::{
    Baseline, GroupedData, Init, Method, Model, Parameters, Progress, Stopping, Update,
    baseline::Estimate, fit, fit::StartWeights, rows::group_statistics, silent, synthetic,
    weights::min_max_step,
};
use ndarray::Array2;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Non-negative pseudo-random numbers: a Weyl sequence, squared to spread.
fn random(rows: usize, columns: usize, salt: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let t = ((i * columns + j) as f64 + salt) * 0.754_877_666_246_692_7;
        (t - t.floor()).powi(2)
    })
}

fn labels(rows: usize, groups: usize) -> Vec<String> {
    (0..rows).map(|i| format!("g{}", (i * i + i / 3) % groups)).collect()
}

fn cases() -> Vec<(Array2<f64>, Vec<String>, usize)> {
    let own = |(x, names): (Array2<f64>, Vec<&str>)| {
        (x, names.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let (first, first_labels) = own(synthetic::first(3));
    let (second, second_labels) = own(synthetic::second(3));
    vec![
        (first.clone(), first_labels.clone(), 3),
        (first, first_labels, 7),
        (second, second_labels, 4),
        (random(60, 20, 0.3), labels(60, 4), 5),
        (random(90, 8, 0.7), labels(90, 9), 8),
        (random(30, 50, 0.1), labels(30, 2), 4),
        (random(25, 6, 0.9), labels(25, 1), 2),
    ]
}

fn parameters(rank: usize, seed: u64) -> Parameters {
    let stopping = Stopping::default().with(|s| {
        s.tolerance = 1e-7;
        s.max_iterations = 300;
    });
    // The laws hold for any baselines: short runs will do.
    let short = Stopping::default().with(|s| s.max_iterations = 40);
    let estimate = Estimate::best().with(|e| {
        e.runs = 1;
        e.stopping = short;
    });
    let baseline = Baseline::Estimate(estimate);
    Parameters::new(rank).with(|p| {
        p.stopping = stopping;
        p.baseline = baseline;
        p.n_init = 1;
        p.bound = false;
        p.seed = seed;
    })
}

#[test]
fn am_worst_loss_never_rises() {
    let mut iterations = 0;
    for (x, labels, rank) in cases() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        for seed in 0..3 {
            let model = fit(&data, &parameters(rank, seed), &silent).unwrap().model;
            let worst: Vec<f64> = model
                .history
                .iter()
                .map(|losses| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max))
                .collect();
            for pair in worst.windows(2) {
                assert!(pair[1] <= pair[0] + 1e-9, "rose from {} to {}", pair[0], pair[1]);
            }
            assert!(model.worst_loss() <= worst[worst.len() - 1] + 1e-9);
            iterations += worst.len();
        }
    }
    assert!(iterations > 300, "the law was tested on {iterations} iterations only");
}

#[test]
fn am_worst_loss_never_rises_in_hard_cases() {
    let owned = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (first, first_labels) = synthetic::first(0);
    let (second, second_labels) = synthetic::second(0);
    let (first_labels, second_labels) = (owned(first_labels), owned(second_labels));
    let noisy = random(60, 12, 0.3);
    let three = labels(60, 3);
    let mut uneven = noisy.clone();
    uneven.slice_mut(ndarray::s![..20, ..]).mapv_inplace(|v| 1e6 * v);
    let blocks: Vec<String> = (0..60).map(|i| (i / 20).to_string()).collect();
    let column = random(60, 1, 0.0);
    let hard = [
        ("an exact fit", &first, &first_labels, 9),
        ("an exact fit", &second, &second_labels, 6),
        ("rank 1", &noisy, &three, 1),
        ("more topics than features", &noisy, &three, 15),
        ("one feature", &column, &three, 1),
        ("norms 1 : 1e6", &uneven, &blocks, 3),
    ];
    for (name, x, labels, rank) in hard {
        let data = GroupedData::new(x.view(), labels).unwrap();
        for baseline in [Baseline::Zero, parameters(rank, 0).baseline] {
            let (worst, _, model) =
                watched(&data, &parameters(rank, 0).with(|p| p.baseline = baseline));
            for pair in worst.windows(2) {
                assert!(pair[1] <= pair[0] + 1e-9, "{name}: from {} to {}", pair[0], pair[1]);
            }
            assert!(model.worst_loss() <= worst[worst.len() - 1] + 1e-9, "{name}");
        }
    }
}

/// The largest loss and the weights of every iteration of a run.
fn watched(data: &GroupedData<'_>, parameters: &Parameters) -> (Vec<f64>, Vec<Vec<f64>>, Model) {
    let seen = Mutex::new((Vec::new(), Vec::new()));
    let watch = |progress: &Progress<'_>| {
        if let Progress::Iteration { iteration: 1.., worst_loss, weights, .. } = *progress {
            let mut seen = seen.lock().unwrap();
            seen.0.push(worst_loss);
            seen.1.push(weights.to_vec());
        }
        ControlFlow::Continue(())
    };
    let model = fit(data, parameters, &watch).unwrap().model;
    let (worst, weights) = seen.into_inner().unwrap();
    (worst, weights, model)
}

#[test]
fn a_group_without_a_say_can_get_one_later_and_the_worst_loss_still_never_rises() {
    let mut came_back = 0;
    for (x, labels, rank) in cases() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        for seed in 0..4 {
            let (worst, weights, model) = watched(&data, &parameters(rank, seed));
            for pair in worst.windows(2) {
                assert!(pair[1] <= pair[0] + 1e-9, "rose from {} to {}", pair[0], pair[1]);
            }
            for iteration in &weights {
                assert!((iteration.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            let last: Vec<f64> = model.groups.iter().map(|g| g.weight).collect();
            assert_eq!(weights.last(), Some(&last));
            came_back += (0..model.groups.len())
                .filter(|&l| {
                    let silent = weights.iter().position(|w| w[l] < 1e-6);
                    silent.is_some_and(|at| weights[at..].iter().any(|w| w[l] > 1e-2))
                })
                .count();
        }
    }
    assert!(came_back >= 3, "only {came_back} groups came back");
}

#[test]
fn a_fit_can_start_from_the_weights_of_the_bound_or_from_given_ones() {
    for (x, labels, rank) in cases() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        let with = |start_weights: StartWeights| {
            watched(
                &data,
                &parameters(rank, 1).with(|p| {
                    p.start_weights = start_weights;
                    p.bound = true;
                }),
            )
        };
        let (worst, _, bound) = with(StartWeights::Bound);
        for pair in worst.windows(2) {
            assert!(pair[1] <= pair[0] + 1e-9, "rose from {} to {}", pair[0], pair[1]);
        }
        // The bound's weights, given in any unit, are the same start.
        let weights = bound.global_bound.weights.iter().map(|w| 4.0 * w).collect();
        let (_, _, given) = with(StartWeights::Given { weights });
        assert_eq!(given.components, bound.components);
        let (_, _, even) = with(StartWeights::Even);
        assert_ne!(even.components, bound.components);
        // The report of the bound is what was asked for, whatever the start needs.
        let unasked = parameters(rank, 1).with(|p| {
            p.start_weights = StartWeights::Bound;
            p.bound = false;
        });
        let unasked = fit(&data, &unasked, &silent).unwrap().model;
        assert_eq!((unasked.global_bound.value, unasked.components), (None, bound.components));
    }
}

#[test]
fn start_weights_that_do_not_fit_are_refused() {
    let (x, labels) = synthetic::first(0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for (weights, sentence) in [
        (vec![1.0], "start weights is 1 values for 2 groups: give one per group"),
        (vec![1.0, -1.0], "start weights is -1: must be finite and not negative"),
        (vec![0.0; 2], "start weights is a sum of 0: at least one must be positive"),
    ] {
        let start_weights = StartWeights::Given { weights };
        let parameters = parameters(2, 0).with(|p| p.start_weights = start_weights);
        assert_eq!(fit(&data, &parameters, &silent).unwrap_err().to_string(), sentence);
    }
}

#[test]
fn no_fit_of_any_method_is_below_the_global_bound() {
    for (x, labels, rank) in cases() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        let methods = [Method::am(), Method::mu(), Method::Standard { update: Update::Nnls }];
        for method in methods {
            let model = fit(
                &data,
                &parameters(rank, 1).with(|p| {
                    p.method = method;
                    p.bound = true;
                }),
                &silent,
            )
            .unwrap()
            .model;
            let bound = model.global_bound.value.expect("small data has a bound");
            assert!(model.worst_loss() >= bound - 1e-9, "{} < {bound}", model.worst_loss());
            let total: f64 = model.global_bound.weights.iter().sum();
            assert!((total - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_default_fit_reaches_the_bound_on_synthetic_data() {
    for (rank, (x, labels)) in [
        (1, synthetic::first(0)),
        (3, synthetic::first(0)),
        (5, synthetic::first(0)),
        (8, synthetic::first(0)),
        (1, synthetic::second(0)),
        (5, synthetic::second(0)),
    ] {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        let model = fit(&data, &Parameters::new(rank), &silent).unwrap().model;
        let bound = model.global_bound.value.expect("small data has a bound");
        assert_eq!(model.status, Status::Converged);
        assert!(
            model.worst_loss() - bound < 1e-3,
            "rank {rank}: {} against a bound of {bound}",
            model.worst_loss()
        );
    }
}

#[test]
fn the_certificate_is_a_sentence_with_both_numbers() {
    let (x, labels) = synthetic::first(0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let model = fit(&data, &Parameters::new(2), &silent).unwrap().model;
    let sentence = model.certificate().sentence;
    // One number, one rounding: that of every table.
    for worst in [model.worst_loss(), 0.00894, 0.00896, -0.00002, 0.0] {
        let said = model.global_bound.certificate(2, Minimised::Loss, worst).sentence;
        let table = format!("{worst:.4}").replace("-0.0000", "0.0000");
        assert!(said.starts_with(&format!("worst loss {table}; ")), "{said}");
    }
    // The bound's rounding must not make it false.
    let said: Vec<f64> = sentence.split([' ', ';']).filter_map(|word| word.parse().ok()).collect();
    let bound = model.global_bound.value.unwrap();
    assert!(said[1] <= bound && said[1] > bound - 1e-4, "{sentence}");
    assert!(sentence.contains("no rank-2 model can be below 0."), "{sentence}");
    assert!(model.step_gap.expect("AM has a step gap") <= 1e-6);
}

#[test]
fn beyond_its_size_limit_the_bound_is_absent_with_the_reason() {
    let side = 10_050;
    let (starts, columns): (Vec<usize>, Vec<i32>) =
        ((0..=side).collect(), (0..side as i32).collect());
    let values = vec![1.0; side];
    let x = Csr::new(side, &starts, Indices::I32(&columns), &values).unwrap();
    let data = GroupedData::new(x, &labels(side, 2)).unwrap();
    let parameters = Parameters::new(1).with(|p| {
        p.baseline = Baseline::Zero;
        p.method = Method::Standard { update: Update::Mu };
        p.init = Init::Random;
        p.n_init = 1;
        p.stopping = Stopping::default().with(|s| s.max_iterations = 1);
    });
    let model = fit(&data, &parameters, &silent).unwrap().model;
    assert!(model.global_bound.value.is_none());
    let why = model.global_bound.absent.as_ref().unwrap();
    assert_eq!(why.code, "bound-too-large");
    assert!(why.sentence.contains("10050"), "{why}");
    assert!(model.certificate().sentence.contains("size limit"), "{}", model.certificate());
}

#[test]
fn a_step_is_never_worse_than_its_start_and_says_what_it_reached() {
    for (x, labels, rank) in cases() {
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let w = random(x.nrows(), rank, 0.5);
        let statistics = group_statistics(&data, w.view()).unwrap();
        let baselines: Vec<f64> = data.groups().iter().map(|g| 0.1 * g.norm()).collect();
        let start = random(rank, x.ncols(), 0.8);
        let rough = min_max_step(&statistics, &baselines, start.view(), 1e3).unwrap();
        let fine = min_max_step(&statistics, &baselines, rough.components.view(), 1e-9).unwrap();
        assert!(fine.upper <= rough.upper + 1e-12);
        assert!(fine.upper - fine.lower <= 1e-9, "gap {}", fine.upper - fine.lower);
        assert!(fine.lower <= rough.upper && rough.lower <= fine.upper + 1e-12);
    }
}
