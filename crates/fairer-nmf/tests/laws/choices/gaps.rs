//! Unobserved cells: monotone, as good as a direct masked solver, exact coordinates, and nothing where there are no gaps.

use fairer_nmf::audit::evaluate;
use fairer_nmf::data::split_unobserved;
use fairer_nmf::fit::{Start, StartWeights, fit_from};
use fairer_nmf::{
    Baseline, GroupedData, Method, Model, Parameters, Stopping, Update, audit, fit, silent,
};
use ndarray::{Array2, Axis};

use super::{low_rank, number};

const RANK: usize = 3;

/// Rows with a fifth of their cells unobserved, more in the second group.
fn gappy(noise: f64) -> (Array2<f64>, Array2<bool>, Vec<&'static str>) {
    let x = low_rank(36, 8, RANK, noise);
    let labels: Vec<&str> = (0..36).map(|i| if i < 24 { "a" } else { "b" }).collect();
    let holes =
        Array2::from_shape_fn((36, 8), |(i, j)| number(i, j, 8) < if i < 24 { 0.15 } else { 0.3 });
    let mut x = x;
    x.zip_mut_with(&holes, |v, hole| {
        if *hole {
            *v = f64::NAN
        }
    });
    let (x, mask) = split_unobserved(x.view());
    assert_eq!(mask, holes);
    (x, mask, labels)
}

fn start() -> Start {
    let h = Array2::from_shape_fn((RANK, 8), |(k, j)| 0.1 + number(k, j, 9));
    let w = Array2::from_shape_fn((36, RANK), |(i, k)| 0.1 + number(i, k, 10));
    Start { components: Some(h), representation: Some(w) }
}

fn parameters(method: Method) -> Parameters {
    Parameters::new(RANK).with(|p| {
        p.method = method;
        p.baseline = Baseline::Zero;
        p.n_init = 2;
        p.stopping = Stopping::default().with(|s| {
            s.tolerance = 1e-10;
            s.max_iterations = 5_000;
        });
    })
}

/// ‖M∘(X − WH)‖².
fn masked(x: &Array2<f64>, mask: &Array2<bool>, w: &Array2<f64>, h: &Array2<f64>) -> f64 {
    let fit = w.dot(h);
    let cells = x.iter().zip(&fit).zip(mask);
    cells.filter(|(_, gap)| !**gap).map(|((x, y), _)| (x - y).powi(2)).sum()
}

/// Multiplicative updates of weighted NMF with weights 0 and 1.
fn direct(x: &Array2<f64>, mask: &Array2<bool>, rounds: usize) -> f64 {
    let Start { components: Some(mut h), representation: Some(mut w) } = start() else { panic!() };
    let observed = mask.mapv(|gap| if gap { 0.0 } else { 1.0 });
    for _ in 0..rounds {
        let fit = &observed * &w.dot(&h);
        w = &w * &(x.dot(&h.t()) / (fit.dot(&h.t()) + 1e-300));
        let fit = &observed * &w.dot(&h);
        h = &h * &(w.t().dot(x) / (w.t().dot(&fit) + 1e-300));
    }
    masked(x, mask, &w, &h)
}

#[test]
fn it_is_as_good_as_a_direct_masked_solver() {
    let (x, mask, labels) = gappy(0.1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let reference = direct(&x, &mask, 20_000);
    for update in [Update::Hals, Update::Nnls, Update::Mu] {
        let found =
            fit_from(&data, &parameters(Method::Standard { update }), &start(), &silent).unwrap();
        let own = masked(&x, &mask, &found.representation.to_f64(), &found.model.components);
        assert!(own <= reference * 1.01, "{update:?}: {own} and {reference}");
        let told = found.model.total_error().powi(2);
        assert!((told - own).abs() < 1e-6 * own, "{told} and {own}");
    }
}

#[test]
fn the_worst_loss_never_rises_and_is_at_a_minimum() {
    let (x, mask, labels) = gappy(0.15);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let found = fit(&data, &parameters(Method::am()), &silent).unwrap();
    let model = &found.model;
    let worst = |losses: &Vec<f64>| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let path: Vec<f64> = model.history.iter().map(worst).collect();
    assert!(path.windows(2).all(|two| two[1] <= two[0] + 1e-9), "{path:?}");
    assert!(model.worst_loss() <= path[path.len() - 1] + 1e-9);
    assert!(model.global_bound.value.is_none() && model.step_gap.unwrap() < 1e-5);
    assert!(model.groups[0].observed > model.groups[1].observed);
    let why = model.global_bound.absent.as_ref().unwrap();
    assert!(why.code == "bound-unobserved" && why.sentence.contains("unobserved"), "{why:?}");
    let zeros = [0.0; 2];
    let at = |h: &Array2<f64>| evaluate(&data, h.view(), None, &zeros).unwrap().worst_loss();
    let here = at(&model.components);
    assert!((here - model.worst_loss()).abs() < 1e-6);
    for seed in 0..40 {
        let mut h = model.components.clone();
        let mean = h.sum() / h.len() as f64;
        h.indexed_iter_mut().for_each(|((k, j), v)| {
            *v = (*v + 0.01 * mean * (2.0 * number(k, j, 50 + seed) - 1.0)).max(0.0);
        });
        assert!(at(&h) >= here - 1e-4, "{} below {here}", at(&h));
    }
}

#[test]
fn cells_of_a_low_rank_matrix_are_foretold() {
    let (x, mask, labels) = gappy(0.0);
    let truth = low_rank(36, 8, RANK, 0.0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let found = fit(&data, &parameters(Method::am()), &silent).unwrap();
    let apart =
        (found.representation.to_f64().dot(&found.model.components) - &truth).mapv(|v| v * v).sum();
    let size = truth.mapv(|v| v * v).sum();
    assert!((apart / size).sqrt() < 0.1, "{}", (apart / size).sqrt());
}

#[test]
fn coordinates_of_rows_with_gaps_are_those_of_their_observed_features() {
    let (x, mask, labels) = gappy(0.1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let model = fit(&data, &parameters(Method::am()), &silent).unwrap().model;
    let found = model.transform_unobserved(x.view(), mask.view()).unwrap();
    for (i, row) in x.rows().into_iter().enumerate() {
        let seen: Vec<usize> = (0..8).filter(|&j| !mask[[i, j]]).collect();
        let part = row.insert_axis(Axis(0)).select(Axis(1), &seen);
        let h = model.components.select(Axis(1), &seen);
        let alone = GroupedData::one_group(part.view()).unwrap();
        let exact = evaluate(&alone, h.view(), None, &[0.0]).unwrap().representation.to_f64();
        let apart = (&found.row(i) - &exact.row(0)).mapv(f64::abs).sum();
        assert!(apart < 1e-7 * (1.0 + exact.sum()), "row {i}: {apart}");
    }
    // Without gaps it is the usual one.
    let none = Array2::from_elem(x.dim(), false);
    let usual = model.transform(x.view()).unwrap();
    assert_eq!(model.transform_unobserved(x.view(), none.view()).unwrap(), usual);
}

#[test]
fn weights_and_scaling_hold_with_gaps() {
    let (x, mask, labels) = gappy(0.1);
    let weights: Vec<f64> = (0..36).map(|i| f64::from(1 + (i % 2) as u32)).collect();
    let rows: Vec<usize> =
        (0..36).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let (often, gaps) = (x.select(Axis(0), &rows), mask.select(Axis(0), &rows));
    let their: Vec<&str> = rows.iter().map(|&row| labels[row]).collect();
    let one = GroupedData::new(x.view(), &labels).unwrap().with_weights(&weights).unwrap();
    let one = one.with_unobserved(mask.view()).unwrap().normalize_features().unwrap();
    let other = GroupedData::new(often.view(), &their).unwrap();
    let other = other.with_unobserved(gaps.view()).unwrap().normalize_features().unwrap();
    let start = Start { components: start().components, representation: None };
    for method in [Method::am(), Method::standard()] {
        let of = |data| fit_from(data, &parameters(method), &start, &silent).unwrap().model;
        let (a, b): (Model, Model) = (of(&one), of(&other));
        for (a, b) in a.relative_errors().iter().zip(b.relative_errors()) {
            assert!((a - b).abs() < 1e-5, "{method:?}: {a} and {b}");
        }
    }
}

#[test]
fn what_needs_every_cell_says_so() {
    let (x, mask, labels) = gappy(0.1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let refused = Start::nndsvd(&data, RANK, false).unwrap_err();
    assert!(refused.to_string().contains("needs every cell"), "{refused}");
    let mut full = mask.clone();
    full.column_mut(3).fill(true);
    let mut zero = x.clone();
    zero.column_mut(3).fill(0.0);
    let data =
        GroupedData::new(zero.view(), &labels).unwrap().with_unobserved(full.view()).unwrap();
    let refused = fit(&data, &parameters(Method::am()), &silent).unwrap_err().to_string();
    assert!(refused.contains("column 3"), "{refused}");
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let refused = data.with_unobserved(full.view()).unwrap_err().to_string();
    assert!(refused.contains("zero in the matrix"), "{refused}");
}

#[test]
fn an_audit_is_of_observed_cells() {
    let (x, mask, labels) = gappy(0.1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let weights: Vec<f64> = (0..36).map(|i| 1.0 + (i % 3) as f64).collect();
    let weighted = data.clone().with_weights(&weights).unwrap();
    for (data, weights) in [(data, vec![1.0; 36]), (weighted, weights)] {
        let data = data.with_unobserved(mask.view()).unwrap();
        let model = fit(&data, &parameters(Method::standard()), &silent).unwrap().model;
        let reference = fit(&data, &parameters(Method::am()), &silent).unwrap().model.components;
        let options = audit::AuditOptions::default().with(|o| {
            o.draws = 50;
            o.permutations = 50;
            o.folds = 5;
            o.trade_off = Some(audit::TradeOffOptions::default().with(|t| t.points = 3));
            o.chance = audit::DrawBudget { draws: 20, ..audit::DrawBudget::default() };
        });
        let h = model.components.view();
        let found = audit(&data, h, &[0.0; 2], Some(reference.view()), &options, &silent).unwrap();
        assert!(found.unfinished.is_empty() && found.chance.is_some(), "{:?}", found.unfinished);
        assert!(found.differences.is_some() && found.held_out.is_some());
        // Where the error lies, cell by cell.
        let w = model.transform_unobserved(x.view(), mask.view()).unwrap();
        let residual = &x - &w.dot(&h);
        for (l, group) in data.groups().iter().enumerate() {
            let own = |j: usize| -> f64 {
                let seen = group.rows.iter().filter(|&&i| !mask[[i, j]]);
                seen.map(|&i| weights[i] * residual[[i, j]].powi(2)).sum()
            };
            let all: f64 = (0..8).map(own).sum();
            let told = found.groups[l].relative_error * group.norm();
            assert!((told.powi(2) - all).abs() < 1e-6 * all, "{} {all}", told.powi(2));
            assert!(!found.feature_errors[l].is_empty());
            for f in &found.feature_errors[l] {
                assert!((f.share - own(f.feature) / all).abs() < 1e-6, "{f:?}");
            }
        }
        // The curve begins at or below the dictionary that it starts from.
        let curve = found.trade_off.unwrap().points;
        assert!(curve[0].total_error <= found.total_error + 1e-9);
    }
}

#[test]
fn random_groups_with_gaps_are_no_evidence_and_a_missing_feature_is_no_error() {
    let mut alarms = 0;
    for seed in 0..12 {
        let x = Array2::from_shape_fn((90, 8), |(i, j)| {
            let topic = |k: usize| number(j, k, 2).powi(3) * number(i + 1000 * seed, k, 1).powi(2);
            (0..RANK).map(topic).sum::<f64>() + 0.2 * number(i + 1000 * seed, j, 3)
        });
        // The last feature is rare: folds and small groups without any value of it are common.
        let rare = |j: usize| if j == 7 { 0.85 } else { 0.2 };
        let mask = Array2::from_shape_fn(x.dim(), |(i, j)| number(i + 1000 * seed, j, 8) < rare(j));
        let x = &x * &mask.mapv(|gap| if gap { 0.0 } else { 1.0 });
        let labels: Vec<&str> = (0..90).map(|i| ["a", "b", "c"][(i / 10).min(2)]).collect();
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let data = data.with_unobserved(mask.view()).unwrap();
        let careful = Parameters::careful(RANK).with(|p| p.n_init = 1);
        let model = fit(&data, &careful, &silent).unwrap().model;
        assert!(model.groups.iter().all(|g| g.loss.is_finite()));
        let standard = fit(&data, &parameters(Method::standard()), &silent).unwrap().model;
        let baselines = model.baseline_errors();
        let options = audit::AuditOptions::default().with(|o| {
            o.draws = 0;
            o.permutations = 0;
        });
        let h = standard.components.view();
        let found = audit(&data, h, &baselines, None, &options, &silent).unwrap();
        alarms += usize::from(found.verdict.code == audit::VerdictCode::Evidence);
    }
    println!("{alarms} alarms of 12");
    // 5 % of 12: more than 2 with a probability of 2 %.
    assert!(alarms <= 2, "{alarms}");
}

/// Beside gaps there is no bound, and so there are no weights of it to begin with: a fit begins with even ones.
#[test]
fn weights_of_a_bound_that_is_absent_are_even() {
    let (x, mask, labels) = gappy(0.2);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let data = data.with_unobserved(mask.view()).unwrap();
    let with = |start_weights| {
        let p = parameters(Method::am()).with(|p| {
            p.start_weights = start_weights;
            p.n_init = 1;
        });
        fit(&data, &p, &silent).unwrap().model.components
    };
    assert_eq!(with(StartWeights::Bound), with(StartWeights::Even));
}
