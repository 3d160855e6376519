//! Laws of the verdict and of what it is made of. docs/calibration.md has the study that this is a
//! small seeded part of.

use crate::common::uniform;
use fairer_nmf::audit::{DrawBudget, VerdictCode, feature_errors};
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::{
    Baseline, GroupedData, Method, Parameters, audit, audit::AuditOptions, audit::AuditReport,
    audit::evaluate, baseline::Estimate, fit, fit::estimate_baselines, silent,
};
use ndarray::{Array2, s};
use std::time::Duration;

const RANK: usize = 3;

/// Rows of three shared topics with noise; those of the first group have `own` of a topic of their
/// own on the last features.
fn draw(sizes: &[usize], own: f64, seed: u64) -> (Array2<f64>, Vec<String>) {
    let mut topics = 1;
    let topics = Array2::from_shape_simple_fn((3, 14), || uniform(&mut topics).powi(3));
    let mut state = seed.wrapping_mul(7919).wrapping_add(3);
    let labels: Vec<String> =
        (0..sizes.len()).flat_map(|g| vec![format!("group {g}"); sizes[g]]).collect();
    let mut x = Array2::zeros((labels.len(), 14));
    for (mut row, label) in x.rows_mut().into_iter().zip(&labels) {
        let weights: Vec<f64> = (0..3).map(|_| 0.2 + uniform(&mut state)).collect();
        let extra = if label == "group 0" { own * (0.5 + uniform(&mut state)) } else { 0.0 };
        for (j, v) in row.iter_mut().enumerate() {
            let signal: f64 = weights.iter().zip(topics.column(j)).map(|(w, t)| w * t).sum();
            let noise = 0.15 * uniform(&mut state);
            *v = signal + noise + if j >= 11 { extra } else { 0.0 };
        }
    }
    (x, labels)
}

/// Standard NMF and its audit, for the verdict alone.
fn audited(x: &Array2<f64>, labels: &[String], options: AuditOptions) -> AuditReport {
    let data = GroupedData::new(x.view(), labels).unwrap();
    let standard = Parameters::new(RANK).with(|p| {
        p.method = Method::standard();
        p.baseline = Baseline::Zero;
        p.bound = false;
        p.n_init = 2;
    });
    let h = fit(&data, &standard, &silent).unwrap().model.components;
    let best = Baseline::Estimate(Estimate::best());
    let baselines: Vec<f64> = (estimate_baselines(&data, RANK, &best, 0, &silent).unwrap())
        .iter()
        .map(|b| b.error)
        .collect();
    audit(&data, h.view(), &baselines, None, &options, &silent).unwrap()
}

fn verdict_alone() -> AuditOptions {
    AuditOptions::default().with(|o| {
        o.draws = 0;
        o.permutations = 0;
        o.folds = 0;
        o.trade_off = None;
        o.chance = DrawBudget { draws: 0, ..DrawBudget::default() };
    })
}

/// The same with random groups, which evidence has to be beyond.
fn with_draws() -> AuditOptions {
    let chance = DrawBudget { draws: 40, time: Duration::from_secs(3600) };
    verdict_alone().with(|o| o.chance = chance)
}

/// With groups of one population, evidence in at most 5 % of data sets: more than 6 of 50 has a
/// probability of 0.1 % then.
#[test]
fn random_groups_give_rarely_evidence() {
    let mut alarms = 0;
    for seed in 0..50 {
        let (x, labels) = draw(&[9, 20, 30, 40], 0.0, seed);
        let report = audited(&x, &labels, with_draws());
        alarms += usize::from(report.verdict.code == VerdictCode::Evidence);
    }
    println!("{alarms} alarms of 50");
    assert!(alarms <= 6, "{alarms}");
}

#[test]
fn planted_unfairness_is_evidence_against_the_group_that_has_it() {
    for seed in 0..10 {
        let (x, labels) = draw(&[25, 120, 160], 0.25, seed);
        let report = audited(&x, &labels, with_draws());
        let verdict = &report.verdict;
        println!("{}", verdict.sentence);
        assert_eq!(verdict.code, VerdictCode::Evidence, "{verdict:?}");
        assert_eq!(verdict.group.as_deref(), Some("group 0"));
        assert!(verdict.sentence.contains("group 0") && verdict.adjusted_p.unwrap() <= 0.05);
        assert!(verdict.difference.unwrap() > 0.0);
    }
}

/// The p-value is the one that decides: evidence wherever it is small, and nowhere else.
#[test]
fn the_p_value_of_the_verdict_decides() {
    for seed in 0..8 {
        for own in [0.0, 0.12, 0.25] {
            let (x, labels) = draw(&[14, 30, 40], own, 200 + seed);
            let verdict = audited(&x, &labels, with_draws()).verdict;
            let small = verdict.adjusted_p.unwrap() <= 0.05;
            assert_eq!(small, verdict.code == VerdictCode::Evidence, "{verdict:?}");
        }
    }
}

/// Where the limits alone would say that a group pays more, and random groups were not drawn, nobody knows.
#[test]
fn without_random_groups_there_is_no_evidence() {
    let (x, labels) = draw(&[25, 120, 160], 0.25, 1);
    let spent = DrawBudget { draws: 40, time: Duration::ZERO };
    for (chance, why) in
        [(verdict_alone().chance, "no random groups"), (spent, "the time for draws")]
    {
        let report = audited(&x, &labels, verdict_alone().with(|o| o.chance = chance));
        assert!(report.differences.unwrap().groups[0].adjusted_p <= 0.05);
        let verdict = report.verdict;
        assert_eq!(verdict.code, VerdictCode::NotTested, "{verdict:?}");
        assert!(verdict.sentence.contains(why) && verdict.adjusted_p.is_none(), "{verdict:?}");
    }
}

#[test]
fn a_multiple_of_the_data_gives_the_same_verdict() {
    let options = verdict_alone()
        .with(|o| o.chance = DrawBudget { draws: 20, time: Duration::from_secs(3600) });
    for (own, seed) in [(0.0, 1), (0.5, 2)] {
        let (x, labels) = draw(&[12, 40, 50], own, seed);
        let base = audited(&x, &labels, options.clone());
        for factor in [1e-6, 1e5] {
            let other = audited(&(&x * factor), &labels, options.clone());
            assert_eq!(base.verdict.code, other.verdict.code, "{factor}");
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{a} {b} at {factor}");
            let groups = |r: &AuditReport| r.differences.clone().unwrap().groups;
            for (a, b) in groups(&base).iter().zip(groups(&other)) {
                near(a.loss.estimate, b.loss.estimate);
                near(a.difference.low, b.difference.low);
                near(a.relative_error.high, b.relative_error.high);
                assert!((a.adjusted_p - b.adjusted_p).abs() < 0.02);
            }
            let chance = |r: &AuditReport| r.chance.clone().unwrap().groups;
            for (a, b) in chance(&base).iter().zip(chance(&other)) {
                near(a.mean, b.mean);
                near(a.excess_loss, b.excess_loss);
            }
        }
    }
}

#[test]
fn a_random_group_pays_what_chance_says() {
    let options = AuditOptions::default().with(|o| o.differences = false);
    let options = options.with(|o| {
        o.draws = 0;
        o.permutations = 0;
        o.folds = 0;
        o.trade_off = None;
    });
    let (mut loss, mut excess) = (0.0, 0.0);
    for seed in 0..8 {
        let (x, labels) = draw(&[8, 60], 0.0, 100 + seed);
        let report = audited(&x, &labels, options.clone());
        assert_eq!(report.verdict.code, VerdictCode::NotTested);
        let chance = report.chance.unwrap();
        assert_eq!((chance.draws, chance.draws_asked), (40, 40));
        let tiny = chance.groups[0];
        assert!(tiny.low <= tiny.mean && tiny.mean <= tiny.high);
        assert!(tiny.mean > chance.groups[1].mean, "the smaller, the more");
        loss += tiny.loss / 8.0;
        excess += tiny.excess_loss / 8.0;
    }
    println!("mean loss {loss:.4}, mean excess {excess:.4}");
    assert!(loss > 0.005 && excess.abs() < loss / 3.0, "{loss} {excess}");
}

#[test]
fn what_cannot_be_told_is_said() {
    let (x, labels) = draw(&[3, 60, 60], 0.0, 5);
    let report = audited(&x, &labels, verdict_alone());
    println!("{}", report.verdict.sentence);
    assert_eq!(report.verdict.code, VerdictCode::TooFewRows);
    assert_eq!(report.verdict.group.as_deref(), Some("group 0"));
    assert_eq!(report.differences.as_ref().unwrap().groups[0].rows_needed, None);
    let said = &report.verdict.sentence;
    assert!(
        said.contains("it takes at least") && !said.contains("; about"),
        "of three rows nobody knows: {said}"
    );

    // Of two groups it is the smaller one whose rows are too few, whichever may pay more.
    for seed in 0..6 {
        let (x, labels) = draw(&[6, 120], 0.0, 40 + seed);
        let report = audited(&x, &labels, verdict_alone());
        let verdict = &report.verdict;
        if verdict.code == VerdictCode::TooFewRows {
            let named = if verdict.group.as_deref() == Some("group 0") { 0 } else { 1 };
            assert_eq!(verdict.groups[named], VerdictCode::TooFewRows, "{verdict:?}");
            // The larger one is named only where the smaller is known to pay no more.
            assert!(named == 0 || verdict.groups[0] == VerdictCode::NoEvidence, "{verdict:?}");
            let sentence = &verdict.sentence;
            println!("{sentence}");
            assert!(sentence.contains("“group 0” (6 rows)"), "{sentence}");
        }
        assert_ne!(report.verdict.code, VerdictCode::Evidence);
    }

    let (x, labels) = draw(&[300, 300], 0.0, 6);
    let report = audited(&x, &labels, verdict_alone());
    println!("{}", report.verdict.sentence);
    assert_eq!(report.verdict.code, VerdictCode::NoEvidence);

    let (x, labels) = draw(&[40], 0.0, 7);
    let report = audited(&x, &labels, AuditOptions::default());
    assert_eq!(report.verdict.code, VerdictCode::NotTested);
    assert!(report.verdict.sentence.contains("one group"), "{}", report.verdict.sentence);
}

/// A small group's own dictionary fits it nearly exactly, which says nothing of how many rows would be enough; of a few rows
/// more it is said to one digit.
#[test]
fn rows_that_are_said_to_be_needed_are_enough() {
    let (mut told, mut said) = (0, Vec::new());
    for seed in 0..8 {
        let of = |rows: usize, seed: u64| {
            let (x, labels) = draw(&[rows, 480, 640], 0.0, seed);
            let report = audited(&x, &labels, verdict_alone().with(|o| o.matters = 0.02));
            (report.verdict.groups[0], report.differences.unwrap().groups[0].rows_needed)
        };
        assert_eq!(of(2 * RANK - 1, 60 + seed).1, None, "so few rows are no measure");
        let more = of(2 * RANK, 60 + seed).1.filter(|needed| *needed > 2 * RANK);
        let Some(needed) = more else { continue };
        said.push(needed);
        told += usize::from(of(needed, 80 + seed).0 == VerdictCode::NoEvidence);
    }
    println!("{said:?}: {told} told");
    assert!(said.len() >= 4 && 4 * told >= 3 * said.len(), "{said:?}: {told}");
    assert!(said.iter().all(|needed| *needed < 100), "{said:?}");
}

#[test]
fn the_time_for_draws_is_kept_and_reported() {
    let (x, labels) = draw(&[20, 30], 0.0, 8);
    let none = DrawBudget { draws: 40, time: Duration::ZERO };
    let report = audited(&x, &labels, verdict_alone().with(|o| o.chance = none));
    assert!(report.chance.is_none());
    assert_ne!(report.verdict.code, VerdictCode::NotTested, "the verdict needs no draws");
}

#[test]
fn groups_of_zeros_and_single_rows_do_not_break_anything() {
    let (mut x, mut labels) = draw(&[5, 30], 0.0, 9);
    x.slice_mut(s![1..5, ..]).fill(0.0);
    labels[10] = "alone".to_owned();
    let report = audited(&x, &labels, AuditOptions::default().with(|o| o.trade_off = None));
    let finite = |v: f64| assert!(v.is_finite(), "{report:?}");
    for group in &report.differences.as_ref().unwrap().groups {
        let ranges = [group.loss, group.difference, group.relative_error];
        ranges.iter().for_each(|r| [r.estimate, r.low, r.high].into_iter().for_each(finite));
        finite(group.adjusted_p);
    }
    for group in &report.chance.as_ref().unwrap().groups {
        [group.mean, group.low, group.high, group.excess_loss].into_iter().for_each(finite);
    }
}

#[test]
fn features_carry_the_errors_that_residuals_have() {
    let (x, labels) = draw(&[20, 30], 0.5, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let mut state = 4;
    let h = Array2::from_shape_simple_fn((2, 14), || uniform(&mut state));
    let found = evaluate(&data, h.view(), None, &[0.0, 0.0]).unwrap();
    let residual = &x - &found.representation.to_f64().dot(&h);
    let shares = feature_errors(&data, h.view(), &found, 14).unwrap();
    for (group, rows) in shares.iter().zip([0..20, 20..50]) {
        let own = residual.slice(s![rows, ..]).mapv(|v| v * v);
        assert!((group.iter().map(|f| f.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(group.is_sorted_by(|a, b| a.share >= b.share));
        for f in group {
            assert!((f.share - own.column(f.feature).sum() / own.sum()).abs() < 1e-9);
            let all = residual.mapv(|v| v * v);
            let expected = all.column(f.feature).sum() / all.sum();
            assert!((f.share_of_all - expected).abs() < 1e-9);
        }
    }
}

/// Loss less chance is the excess, whatever the baselines are.
#[test]
fn random_groups_get_baselines_of_the_kind_of_the_groups_own() {
    let (x, labels) = draw(&[15, 40, 50], 0.1, 4);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let standard = Parameters::new(RANK).with(|p| {
        p.method = Method::standard();
        p.n_init = 2;
        p.bound = false;
    });
    let h = fit(&data, &standard, &silent).unwrap().model.components;
    let of = |baseline: Baseline| {
        let found = estimate_baselines(&data, RANK, &baseline, 0, &silent).unwrap();
        let errors = GroupBaseline::errors(&found);
        let chance = DrawBudget { draws: 20, time: Duration::from_secs(3600) };
        let options = verdict_alone().with(|o| {
            o.chance = chance;
            o.baseline = Some(baseline);
        });
        audit(&data, h.view(), &errors, None, &options, &silent).unwrap()
    };
    let best = of(Baseline::Estimate(Estimate::best()));
    let paper = Baseline::Estimate(Estimate::paper().with(|e| e.runs = 2));
    for kind in [paper, Baseline::Zero, Baseline::HeldOut { folds: 3, runs: 1 }] {
        let report = of(kind.clone());
        let chance = report.chance.as_ref().unwrap();
        for (group, chance) in report.groups.iter().zip(&chance.groups) {
            assert!((group.loss - chance.loss).abs() < 1e-9, "{kind:?}: {group:?} {chance:?}");
            assert!((group.loss - chance.mean - chance.excess_loss).abs() < 1e-9, "{kind:?}");
        }
        // What the test is about stays the same.
        assert_eq!(report.differences, best.differences, "{kind:?}");
        let says =
            report.verdict.notes.iter().any(|note| {
                note.code == "baselines-of-zero" && note.sentence.contains("whole error")
            });
        assert_eq!(says, kind == Baseline::Zero, "{:?}", report.verdict.notes);
    }
    // A random group of 15 pays for its size where its own rows are its baseline, and gains from a
    // baseline on rows held out.
    let mean = |report: &AuditReport| report.chance.as_ref().unwrap().groups[0].mean;
    let held_out = of(Baseline::HeldOut { folds: 3, runs: 1 });
    let zero = of(Baseline::Zero);
    println!("{} {} {}", mean(&best), mean(&held_out), mean(&zero));
    assert!(mean(&held_out) < mean(&best) && mean(&best) < mean(&zero));
    // Given baselines have no kind: chance is of the best, and the notes say where that differs.
    let errors: Vec<f64> = data.groups().iter().map(|g| 0.9 * g.norm()).collect();
    let given = of(Baseline::Given { errors });
    let notes = &given.verdict.notes;
    assert!(
        notes.iter().any(|note| note.sentence.contains("which the verdict holds losses against")),
        "{notes:?}"
    );
}

/// The limit that the sentence names is one that the test has found: above zero.
#[test]
fn evidence_names_a_lower_limit_above_zero() {
    let mut seen = 0;
    for seed in 0..12 {
        // Two groups with topics of their own in part, of different sizes.
        let (mut x, labels) = draw(&[20, 60, 80, 90], 0.16, seed);
        for (i, mut row) in x.rows_mut().into_iter().enumerate().skip(20).take(60) {
            row[i % 3] += 0.3;
        }
        let report = audited(&x, &labels, with_draws());
        if report.verdict.code != VerdictCode::Evidence {
            continue;
        }
        seen += 1;
        let l = report.groups.iter().position(|g| Some(&g.name) == report.verdict.group.as_ref());
        let limits = report.differences.as_ref().unwrap();
        let low = limits.groups[l.unwrap()].difference.low;
        assert!(low > 0.0, "{}", report.verdict.sentence);
        assert!(limits.groups.iter().all(|g| g.difference.low <= low));
    }
    println!("evidence in {seen} of 12");
    assert!(seen >= 3, "{seen}");
}

/// A dictionary that is not standard NMF of the rows may have seen them in another way: that is said.
#[test]
fn a_dictionary_that_evens_out_and_comes_from_elsewhere_is_remarked() {
    let (x, labels) = draw(&[15, 40, 50], 0.6, 4);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let says = |method: Method| {
        let baseline = Baseline::paper();
        let parameters = Parameters::new(RANK).with(|p| {
            p.method = method;
            p.baseline = baseline;
            p.bound = false;
        });
        let h = fit(&data, &parameters, &silent).unwrap().model.components;
        let baselines = vec![0.0; 3];
        let report = audit(&data, h.view(), &baselines, None, &verdict_alone(), &silent).unwrap();
        let taken = report.differences.unwrap().taken_as_it_is;
        let note = report.verdict.notes.iter().any(|n| {
            n.code == "taken-as-it-is" && n.sentence.contains("as if it had not seen them")
        });
        assert_eq!(taken, note);
        note
    };
    assert!(says(Method::am()) && !says(Method::standard()));
}
