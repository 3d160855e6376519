//! Laws of an audit as a whole: its threads, its steps, its stops.

use crate::audit_laws::problem;
use fairer_nmf::audit::{AuditOptions, AuditPart, AuditReport, Refit, TradeOffOptions};
use fairer_nmf::{GroupedData, Method, Observer, Parameters, Progress, audit, fit, silent};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

fn full(threads: usize) -> AuditReport {
    watched(threads, &silent)
}

/// All parts, on so many threads.
fn watched(threads: usize, observer: &Observer<'_>) -> AuditReport {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (x, labels) = problem();
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let parameters = Parameters::new(3);
        let model = fit(&data, &parameters, &silent).unwrap().model;
        let other = Parameters::new(3).with(|p| p.method = Method::standard());
        let other = fit(&data, &other, &silent).unwrap().model;
        let baselines = model.baseline_errors();
        let options = AuditOptions::default().with(|o| {
            o.draws = 300;
            o.permutations = 300;
            o.refit = Some(Refit { draws: 12, permutations: 6, parameters });
            o.trade_off = Some(TradeOffOptions::default().with(|t| t.points = 3));
        });
        let (h, reference) = (model.components.view(), Some(other.components.view()));
        audit(&data, h, &baselines, reference, &options, observer).unwrap()
    })
}

#[test]
fn same_seed_same_audit_for_any_number_of_threads_and_through_json() {
    let (one, two) = (full(1), full(2));
    assert_eq!(one, two);
    let text = serde_json::to_string(&one).unwrap();
    let back: AuditReport = serde_json::from_str(&text).unwrap();
    assert_eq!(back.options, one.options);
    assert_eq!(back.groups[2].name, one.groups[2].name);
    assert!((back.worst_loss - one.worst_loss).abs() < 1e-15);
}

#[test]
fn every_part_tells_its_steps_to_the_end() {
    let seen: Mutex<Vec<(AuditPart, usize, usize)>> = Mutex::default();
    let report = watched(2, &|progress| {
        let Progress::Audit { part, done, total } = *progress else {
            return ControlFlow::Continue(());
        };
        let mut seen = seen.lock().unwrap();
        if seen.last().is_none_or(|last| last.0 != part) {
            seen.push((part, 0, total));
        }
        let last = seen.last_mut().unwrap();
        assert!(last.2 == total && done <= total, "{part:?}: {done} of {total}");
        last.1 = last.1.max(done);
        ControlFlow::Continue(())
    });
    assert!(report.unfinished.is_empty());
    let seen = seen.into_inner().unwrap();
    let steps: Vec<usize> = seen.iter().map(|&(_, _, total)| total).collect();
    // A fit and three times folds of everybody and of three groups, draws and one, draws, draws, folds of three groups, both ways along three points, draws, draws and one.
    assert_eq!(steps, [79, 41, 300, 300, 15, 6, 12, 7]);
    assert!(seen.iter().all(|&(_, done, total)| done == total), "{seen:?}");
}

#[test]
fn a_stop_keeps_what_is_finished_and_names_the_rest() {
    use AuditPart::{
        Differences, HeldOut, Intervals, Permutation, RandomGroups, RefitIntervals,
        RefitPermutation, TradeOff,
    };
    let whole = full(1);
    let first = [Differences, RandomGroups, Intervals, Permutation];
    let all = [&first[..], &[HeldOut, TradeOff, RefitIntervals, RefitPermutation]].concat();
    for (i, &last) in all.iter().enumerate() {
        // Stops in the middle of a part, for good.
        let stopped = AtomicBool::new(false);
        let report = watched(2, &|progress| {
            if matches!(*progress, Progress::Audit { part, done, .. } if part == last && done >= 1)
            {
                stopped.store(true, Ordering::Relaxed);
            }
            match stopped.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        assert_eq!(report.unfinished, all[i..]);
        assert_eq!(report.differences, whole.differences.clone().filter(|_| i > 0));
        assert_eq!(report.chance, whole.chance.clone().filter(|_| i > 1));
        assert_eq!(report.bootstrap, whole.bootstrap.clone().filter(|_| i > 2));
        assert_eq!(report.permutation, whole.permutation.clone().filter(|_| i > 3));
        assert_eq!(report.held_out, whole.held_out.clone().filter(|_| i > 4));
        assert_eq!(report.trade_off, whole.trade_off.clone().filter(|_| i > 5));
        assert_eq!(report.bootstrap_refit, whole.bootstrap_refit.clone().filter(|_| i > 6));
        assert_eq!(report.permutation_refit, None);
        assert_eq!((&report.groups, &report.topics), (&whole.groups, &whole.topics));
    }
}
