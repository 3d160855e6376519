//! Laws of the audit.

use crate::common::uniform;
use fairer_nmf::audit::{
    Refit, Resampling, TradeOffOptions, bootstrap, bootstrap_refit, held_out, permutation_test,
    permutation_test_refit, trade_off,
};
use fairer_nmf::{
    Baseline, GroupedData, Method, Parameters, Stopping, audit, audit::AuditOptions,
    audit::AuditReport, audit::evaluate, fit, silent, synthetic,
};
use ndarray::{Array2, array, s};

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    Array2::from_shape_simple_fn((rows, columns), || uniform(&mut state).powi(2))
}

/// 150 rows of synthetic 2 (three groups) with an uneven share of them.
pub(crate) fn problem() -> (Array2<f64>, Vec<&'static str>) {
    let (x, labels) = synthetic::second(3);
    let chosen: Vec<usize> = (0..80).chain(500..550).chain(1000..1020).collect();
    let x = Array2::from_shape_fn((chosen.len(), 12), |(i, j)| x[[chosen[i], j]]);
    (x, chosen.iter().map(|&row| labels[row]).collect())
}

fn tight() -> Stopping {
    Stopping::default().with(|s| {
        s.tolerance = 1e-6;
        s.max_iterations = 3_000;
    })
}

#[test]
fn intervals_contain_their_estimates() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for seed in 0..20 {
        let h = random(3, 12, seed);
        let found = evaluate(&data, h.view(), None, &[0.1, 0.2, 0.3]).unwrap();
        let intervals =
            bootstrap(&data, &found, &[0.1, 0.2, 0.3], Resampling { draws: 500, level: 0.9, seed })
                .unwrap();
        for (l, group) in intervals.groups.iter().enumerate() {
            for (i, estimate) in
                [(group.relative_error, found.relative_errors[l]), (group.loss, found.losses[l])]
            {
                assert!(i.low <= i.estimate && i.estimate <= i.high, "{i:?}");
                assert!((i.estimate - estimate).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_group_of_one_row_has_an_interval_of_one_point() {
    let x = array![[1.0, 2.0], [0.5, 0.1], [0.3, 3.0], [0.0, 0.0]];
    let data = GroupedData::new(x.view(), &["a", "b", "b", "b"]).unwrap();
    let found = evaluate(&data, array![[1.0, 1.0]].view(), None, &[0.0, 0.0]).unwrap();
    let i = bootstrap(&data, &found, &[0.0, 0.0], Resampling { draws: 100, level: 0.95, seed: 0 })
        .unwrap();
    let only = i.groups[0].relative_error;
    assert!(only.low == only.estimate && only.high == only.estimate);
    // Draws of the zero row alone are drawn again: nothing is NaN.
    assert!(i.groups[1].relative_error.low > 0.0 && i.groups[1].relative_error.high <= 1.0);
}

/// With a dictionary that knows no labels and exchangeable rows, p is uniform: the
/// Kolmogorov-Smirnov distance of 200 draws is below 0.115 in 99 % of all cases.
#[test]
fn p_values_of_exchangeable_rows_are_uniform() {
    let labels: Vec<&str> = (0..60).map(|i| if i % 4 == 0 { "a" } else { "b" }).collect();
    let mut p = Vec::new();
    for seed in 0..200 {
        let x = random(60, 5, 1_000 + seed);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let found = evaluate(&data, random(2, 5, 7).view(), None, &[0.0, 0.0]).unwrap();
        let test = permutation_test(&data, &found, 199, seed).unwrap();
        p.push(test.groups[0].relative_error.p_value);
    }
    p.sort_by(f64::total_cmp);
    let distance = p
        .iter()
        .enumerate()
        .map(|(i, p)| (p - i as f64 / 200.0).abs().max((p - (i + 1) as f64 / 200.0).abs()))
        .fold(0.0, f64::max);
    println!("Kolmogorov-Smirnov distance {distance:.3}");
    assert!(distance < 0.115, "{distance}");
}

#[test]
fn a_group_that_fares_worse_is_found_by_both_tests() {
    let (x, labels) = synthetic::first(0);
    let x = x.slice(s![400..600, ..]).to_owned();
    let data = GroupedData::new(x.view(), &labels[400..600]).unwrap();
    let standard = Parameters::new(4).with(|p| p.method = Method::standard());
    let model = fit(&data, &standard, &silent).unwrap().model;
    let baselines = model.baseline_errors();
    let found = evaluate(&data, model.components.view(), None, &baselines).unwrap();
    let fixed = permutation_test(&data, &found, 199, 0).unwrap();
    let refit = permutation_test_refit(&data, &found, 4, 1, 39, 0).unwrap();
    let worst = found.losses.iter().position(|g| *g == found.worst_loss()).unwrap();
    println!("{:?}\n{:?}", fixed.groups, refit.groups);
    assert!(fixed.groups[worst].relative_error.p_value < 0.05);
    assert!(refit.groups[worst].loss.unwrap().p_value < 0.05);
}

#[test]
fn a_small_group_is_flagged_and_its_held_out_baseline_is_not_zero() {
    let x = random(40, 8, 5);
    let labels: Vec<&str> = (0..40).map(|i| ["tiny", "big"][usize::from(i > 3)]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let model = fit(&data, &Parameters::new(4), &silent).unwrap().model;
    let baselines = model.baseline_errors();
    let found = evaluate(&data, model.components.view(), None, &baselines).unwrap();
    let held = held_out(&data, &found, 5, 2, 0).unwrap();
    let (big, tiny) = (&held.groups[0], &held.groups[1]);
    println!("{held:?}, usual baselines {baselines:?}");
    assert!(tiny.small && !big.small);
    let usual = baselines[1] / data.groups()[1].norm();
    assert!(usual < 0.05 && tiny.relative_baseline.unwrap() > 0.2);
    // A held-out row is never easier than one the dictionary was fitted on.
    assert!(big.relative_baseline.unwrap() >= baselines[0] / data.groups()[0].norm());
}

#[test]
fn the_trade_off_runs_from_standard_to_min_max_and_is_monotone() {
    let mut x = random(90, 15, 11);
    // Group b lives on other features, c is small and noisy.
    x.slice_mut(s![50..80, ..8]).mapv_inplace(|v| 0.2 * v);
    let labels: Vec<&str> =
        (0..90).map(|i| ["a", "b", "c"][usize::from(i >= 50) + usize::from(i >= 80)]).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let p = Parameters::new(4).with(|p| {
        p.stopping = tight();
        p.bound = false;
    });
    let fairer = fit(&data, &p, &silent).unwrap().model;
    let baselines = fairer.baseline_errors();
    let p = p.with(|p| {
        p.method = Method::standard();
        p.baseline = Baseline::Given { errors: baselines.clone() };
    });
    let standard = fit(&data, &p, &silent).unwrap().model;
    let options = TradeOffOptions::default();
    let starts = [standard.components.view(), fairer.components.view()];
    let begin = std::time::Instant::now();
    let curve = trade_off(&data, &starts, &baselines, &[], &options).unwrap().points;
    println!("{:?} for {} points", begin.elapsed(), curve.len());
    for p in &curve {
        println!("{:.3}: total {:.6}, worst {:.6}", p.alpha, p.total_error, p.worst_loss);
    }
    let total = |components| {
        let found = evaluate(&data, components, None, &baselines).unwrap();
        (found.row_squared_errors.iter().sum::<f64>() / data.squared_norm()).sqrt()
    };
    assert_eq!((curve.len(), curve[0].alpha, curve[8].alpha), (9, 0.0, 1.0));
    let ends = (curve[0].total_error, curve[8].worst_loss);
    // Never worse than the fits given, and no better than more iterations explain.
    assert!(ends.0 <= total(standard.components.view()) + 1e-12);
    assert!(ends.1 <= fairer.worst_loss() + 1e-12);
    assert!((ends.0 - total(standard.components.view())).abs() < 2e-3);
    assert!((ends.1 - fairer.worst_loss()).abs() < 5e-3);
    for pair in curve.windows(2) {
        assert!(pair[1].total_error >= pair[0].total_error - 1e-12);
        assert!(pair[1].worst_loss <= pair[0].worst_loss + 1e-12);
    }
    // The middle is more than the two ends, and each point's dictionary gives its numbers.
    let distinct = curve.windows(2).filter(|w| w[1].total_error > w[0].total_error + 1e-9).count();
    assert!(distinct >= 4, "{distinct} distinct steps");
    // A path of four times as many points finds no mix that is much better.
    let options = options.with(|t| t.points = 33);
    let fine = trade_off(&data, &starts, &baselines, &[], &options).unwrap().points;
    for p in &curve {
        let mixed =
            |q: &audit::TradeOffPoint| (1.0 - p.alpha) * q.total_error + p.alpha * q.worst_loss;
        let lowest = fine.iter().map(mixed).fold(f64::INFINITY, f64::min);
        println!("{:.3}: {:.2e} above the fine path", p.alpha, mixed(p) - lowest);
        assert!(mixed(p) - lowest < 5e-3);
    }
    for p in &curve {
        let found = evaluate(&data, p.components.view(), None, &baselines).unwrap();
        assert!((found.worst_loss() - p.worst_loss).abs() < 1e-9);
    }
}

#[test]
fn a_refit_moves_every_group_and_contains_the_estimate() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let p = Parameters::new(3).with(|p| p.bound = false);
    let model = fit(&data, &p, &silent).unwrap().model;
    let baselines = model.baseline_errors();
    let found = evaluate(&data, model.components.view(), None, &baselines).unwrap();
    let refit = bootstrap_refit(
        &data,
        model.components.view(),
        &found,
        &p,
        Resampling { draws: 30, level: 0.9, seed: 0 },
    )
    .unwrap();
    println!("{:#?}", refit.groups);
    for g in &refit.groups {
        for i in [g.relative_error, g.loss] {
            assert!(i.low <= i.estimate && i.estimate <= i.high && i.low < i.high, "{i:?}");
        }
    }
}

#[test]
fn bad_input_is_named() {
    let x = random(6, 4, 1);
    let data = GroupedData::new(x.view(), &["a", "a", "a", "b", "b", "b"]).unwrap();
    let h = random(2, 4, 2);
    let mut negative = h.clone();
    negative[[1, 2]] = -1e-17;
    let text = |r: fairer_nmf::Result<audit::Evaluation>| r.unwrap_err().to_string();
    let said = text(evaluate(&data, negative.view(), None, &[0.0, 0.0]));
    assert!(said.contains("row 1, column 2") && said.contains("clip"), "{said}");
    let said = text(evaluate(&data, h.slice(s![.., ..3]), None, &[0.0, 0.0]));
    assert!(said.contains("2 x 3") && said.contains("2 x 4"), "{said}");
    assert!(evaluate(&data, h.slice(s![..0, ..]), None, &[0.0, 0.0]).is_err());
    assert!(evaluate(&data, h.view(), Some(h.view()), &[0.0, 0.0]).is_err());
    assert!(evaluate(&data, h.view(), None, &[0.0]).is_err());
    assert!(evaluate(&data, h.view(), None, &[0.0, f64::NAN]).is_err());
    let found = evaluate(&data, h.view(), None, &[0.0, 0.0]).unwrap();
    assert!(
        bootstrap(&data, &found, &[0.0, 0.0], Resampling { draws: 0, level: 0.9, seed: 0 })
            .is_err()
    );
    assert!(
        bootstrap(&data, &found, &[0.0, 0.0], Resampling { draws: 10, level: 1.0, seed: 0 })
            .is_err()
    );
    assert!(permutation_test(&data, &found, 0, 0).is_err());
    assert!(held_out(&data, &found, 1, 1, 0).is_err());
}

#[test]
fn edges_do_not_break_an_audit() {
    // One group; then a group of one row, a row of zeros, and a rank above most of it.
    let mut x = random(7, 5, 3);
    x.row_mut(4).fill(0.0);
    for labels in [["a"; 7], ["a", "b", "b", "b", "b", "c", "c"]] {
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let groups = data.groups().len();
        let parameters = Parameters::new(4).with(|p| p.bound = false);
        let options = AuditOptions::default().with(|o| {
            o.draws = 50;
            o.permutations = 50;
            o.refit = Some(Refit { draws: 3, permutations: 3, parameters });
        });
        let (h, other) = (random(4, 5, 8), random(2, 5, 9));
        let baselines = vec![0.0; groups];
        let reference = Some(other.view());
        let report = audit(&data, h.view(), &baselines, reference, &options, &silent).unwrap();
        assert!(report.groups.iter().all(|g| g.small && g.loss.is_finite()));
        assert_eq!(report.topic_matches.as_ref().unwrap().len(), 2);
        let held = report.held_out.as_ref().unwrap();
        assert_eq!(held.groups[0].relative_baseline.is_none(), groups == 3);
        // JSON has no NaN: serde_json would write null and the file could not be read back.
        let text = serde_json::to_string(&report).unwrap();
        serde_json::from_str::<AuditReport>(&text).unwrap();
    }
}

#[test]
fn f32_data_are_audited_like_f64() {
    let x = random(30, 6, 4);
    let narrow = x.mapv(|v| v as f32);
    let labels: Vec<&str> = (0..30).map(|i| ["a", "b"][i % 2]).collect();
    let (wide, narrow) = (
        GroupedData::new(x.view(), &labels).unwrap(),
        GroupedData::new(narrow.view(), &labels).unwrap(),
    );
    let h = random(3, 6, 5);
    let a = evaluate(&wide, h.view(), None, &[0.1, 0.2]).unwrap();
    let b = evaluate(&narrow, h.view(), None, &[0.1, 0.2]).unwrap();
    for l in 0..2 {
        assert!((a.losses[l] - b.losses[l]).abs() < 1e-6);
    }
    let same = audit::compare_individuals(&narrow, &b, &b);
    assert_eq!((same.share_worse, same.share_better), (0.0, 0.0));
}

/// Exchangeable rows, a dictionary without labels, a group close to the rank: the small-sample
/// fault of baselines is the same in every draw, so the test of the loss stays valid.
#[test]
fn new_baselines_keep_the_loss_test_valid_for_a_small_group() {
    let labels: Vec<&str> = (0..48).map(|i| if i % 6 == 0 { "a" } else { "b" }).collect();
    let mut low = 0;
    for seed in 0..100 {
        let x = random(48, 6, 5_000 + seed);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let standard = Parameters::new(3).with(|p| {
            p.method = Method::standard();
            p.baseline = Baseline::Zero;
            p.bound = false;
        });
        let model = fit(&data, &standard, &silent).unwrap().model;
        let found = evaluate(&data, model.components.view(), None, &[0.0, 0.0]).unwrap();
        let test = permutation_test_refit(&data, &found, 3, 1, 19, seed).unwrap();
        low += usize::from(test.groups[0].loss.unwrap().p_value <= 0.2);
    }
    println!("p ≤ 0.2 in {low} of 100");
    // 20 expected; the binomial leaves 32 with three standard deviations.
    assert!(low <= 32);
}
