//! Which runs a fit makes, of which it delivers the best.

use super::*;
use crate::baseline::Baseline;
use crate::random::{Purpose, Stream};
use crate::{GroupedData, Model, fit, silent};
use ndarray::Array2;
use std::sync::Mutex;

/// Three groups, each with a topic of its own beside those of all.
fn sample(seed: u64) -> (Array2<f64>, Vec<&'static str>) {
    let mut stream = Stream::new(seed, Purpose::Synthetic(0), 0);
    let mut uniform =
        |rows, columns| Array2::from_shape_simple_fn((rows, columns), || stream.uniform());
    let (mut w, h, noise) = (uniform(60, 6), uniform(6, 10), uniform(60, 10));
    for (row, mut weights) in w.rows_mut().into_iter().enumerate() {
        (3..6).filter(|topic| topic - 3 != row % 3).for_each(|topic| weights[topic] = 0.0);
    }
    let labels = (0..60).map(|row| ["a", "b", "c"][row % 3]).collect();
    (w.dot(&h.mapv(|v| v.powi(4))) + 0.3 * noise, labels)
}

/// An iteration as an observer hears of it.
struct Heard {
    restart: usize,
    restarts: usize,
    iteration: usize,
    worst: f64,
}

/// A fit on one thread, and all that is heard of it.
fn heard(x: &Array2<f64>, labels: &[&str], p: &Parameters) -> (Model, Vec<Heard>) {
    let all = Mutex::new(Vec::new());
    let observer = |progress: &Progress<'_>| {
        if let Progress::Iteration { restart, restarts, iteration, worst_loss, .. } = *progress {
            all.lock().unwrap().push(Heard { restart, restarts, iteration, worst: worst_loss });
        }
        ControlFlow::Continue(())
    };
    let data = GroupedData::new(x.view(), labels).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let model = one.install(|| fit(&data, p, &observer)).unwrap().model;
    (model, all.into_inner().unwrap())
}

fn asked(method: Method, rank: usize, n_init: usize) -> Parameters {
    Parameters { method, n_init, baseline: Baseline::Zero, bound: false, ..Parameters::new(rank) }
}

/// Random starts as many as were asked for; by default a quarter of them and one from standard NMF, where groups are to be evened out.
#[test]
fn starts_are_those_that_were_asked_for() {
    let (x, labels) = sample(1);
    let together = vec!["all"; 60];
    let cases = [
        (&labels, Method::am(), Init::Auto, 4, 2, true),
        (&labels, Method::am(), Init::Auto, 5, 3, true),
        (&labels, Method::am(), Init::Auto, 2, 2, true),
        (&labels, Method::am(), Init::Auto, 1, 1, false),
        (&labels, Method::am(), Init::Random, 4, 4, false),
        (&together, Method::am(), Init::Auto, 3, 3, false),
        (&labels, Method::standard(), Init::Auto, 3, 3, false),
        (&labels, Method::mu(), Init::Auto, 3, 3, false),
    ];
    for (labels, method, init, n_init, restarts, leads) in cases {
        let p = Parameters { init, ..asked(method, 3, n_init) };
        let (_, all) = heard(&x, labels, &p);
        let case = format!("{method:?}, {:?}, {n_init}", p.init);
        assert!(all.iter().all(|h| h.restarts == restarts), "{case}");
        for restart in 0..restarts {
            let mut own = all.iter().filter(|h| h.restart == restart);
            assert!(own.clone().any(|h| h.iteration == 1), "{case}: {restart} is made");
            // What leads up to a run is not counted.
            let led = own.next().is_some_and(|h| h.iteration == 0);
            assert_eq!(led, leads && restart == restarts - 1, "{case}: {restart}");
        }
        let begun = all.iter().filter(|h| h.iteration == 1).count();
        assert_eq!(begun > restarts, leads, "{case}: {begun} runs");
    }
}

/// The last start begins where standard NMF by HALS ends.
#[test]
fn one_start_is_a_standard_fit() {
    let (x, labels) = sample(2);
    let p = asked(Method::am(), 3, 2);
    let (_, all) = heard(&x, &labels, &p);
    let begun = all.iter().position(|h| h.restart == 1 && h.iteration == 1).unwrap();
    let led = all[..begun].iter().filter(|h| h.iteration == 0);
    let led: Vec<f64> = led.map(|h| h.worst).collect();
    let standard = Parameters { finish: false, ..asked(Method::standard(), 3, 1) };
    let (_, plain) = heard(&x, &labels, &standard);
    assert_eq!(led, plain.iter().map(|h| h.worst).collect::<Vec<_>>());
    assert!(all[begun].worst <= led[led.len() - 1]);
}

/// Rounds follow, of three quarters as many exchanges and a double one (none where the best is like it was), splits that are tried for
/// one iteration and half as many as starts that go on: one, and up to four while one is worth it. The best of all runs is finished and delivered.
#[test]
fn rounds_go_on_while_they_are_worth_it() {
    let (mut rounds_made, mut went_on, mut doubled, mut alone) = (Vec::new(), 0, 0, 0);
    for (seed, rank) in (1..7).flat_map(|seed| [(seed, 3), (seed, 4), (seed, 5)]) {
        let (x, labels) = sample(seed);
        let p = asked(Method::am(), rank, 3);
        let (model, all) = heard(&x, &labels, &p);
        let counted: Vec<&Heard> = all.iter().filter(|h| h.iteration > 0).collect();
        // On one thread runs come one after the other.
        let begins: Vec<usize> =
            (0..counted.len()).filter(|&i| counted[i].iteration == 1).collect();
        // Of three topics one is split in as many ways.
        let tried = if rank == 3 { 3 } else { 8 };
        // Where the halves are pulled apart, in ten iterations that are not counted: in the middle of every round.
        let led = all.iter().position(|h| h.restart == 1 && h.iteration == 1).unwrap();
        let pulled: Vec<usize> = (led..all.len()).filter(|&i| all[i].iteration == 0).collect();
        let rounds = pulled.len() / 10;
        assert!(pulled.len() == 10 * rounds && (1..=4).contains(&rounds), "{}", pulled.len());
        // The place among what is counted.
        let place = |i: usize| all[..i].iter().filter(|h| h.iteration > 0).count();
        let middles: Vec<usize> = pulled.chunks(10).map(|ten| place(ten[0])).collect();
        let mut starts = vec![begins[2]];
        for (round, &middle) in middles.iter().enumerate() {
            let exchanged = begins.iter().filter(|&&i| i >= starts[round] && i < middle).count();
            let first = begins.iter().position(|&i| i == middle).unwrap();
            let own = &begins[first..][..tried];
            assert!(own.windows(2).all(|two| two[1] == two[0] + 1), "one iteration each");
            // A double one takes two topics for those that two others should become.
            let most = if rank == 3 { 3 } else { 4 };
            let least = usize::from(round == 0);
            assert!((least..=most).contains(&exchanged), "{exchanged} of rank {rank}");
            doubled += usize::from(exchanged == 4);
            alone += usize::from(exchanged == 0);
            starts.push(begins.get(first + tried + 2).copied().unwrap_or(counted.len()));
        }
        assert_eq!(starts[rounds], counted.len(), "and no more");
        // What is finished goes on from where it stood, until its worst loss stands still over many iterations.
        let last = begins[begins.len() - 1];
        let jumps = |i: &usize| counted[*i].iteration != counted[i - 1].iteration + 1;
        if let Some(from) = (last + 1..counted.len()).find(jumps) {
            assert!(counted.len() - from >= 15, "{} iterations more", counted.len() - from);
            went_on += 1;
        }
        let least =
            |until: usize| counted[..until].iter().map(|h| h.worst).fold(f64::MAX, f64::min);
        let mut before = least(starts[0]);
        for (round, until) in starts[1..rounds].iter().enumerate() {
            let now = least(*until);
            let worth = (1e-4 * before).max(0.1 * p.stopping.tolerance);
            let helped = before - now > 0.5 * worth;
            assert!(helped, "round {round} gained {}", before - now);
            before = now;
        }
        assert!(model.worst_loss() <= least(counted.len()) + 1e-12);
        let of_best = counted[counted.len() - 1];
        assert_eq!((of_best.restarts, of_best.iteration), (2, model.iterations()));
        rounds_made.push(rounds);
    }
    let made = |wanted: fn(usize) -> bool| rounds_made.iter().any(|r| wanted(*r));
    assert!(made(|r| r == 1) && made(|r| r > 1) && went_on > 0, "{rounds_made:?}");
    assert!(doubled > 0 && alone > 0, "{doubled} {alone}");
}

/// A fit that is told to stop while halves are pulled apart, or splits are tried, says so; that nothing begins after it is a law of the
/// rounds themselves (`rounds.rs`), since an observer that has said so is not asked again.
#[test]
fn a_stop_in_the_middle_of_a_round_is_the_end_of_the_fit() {
    for (seed, tries) in (1..7).flat_map(|seed| [(seed, 0), (seed, 2)]) {
        let (x, labels) = sample(seed);
        let p = asked(Method::am(), 5, 3);
        let (_, all) = heard(&x, &labels, &p);
        let led = all.iter().position(|h| h.restart == 1 && h.iteration == 1).unwrap();
        let pulled = (led..all.len()).find(|&i| all[i].iteration == 0).unwrap();
        // In the first pull, or after all ten, in a split that is tried.
        let stop = if tries == 0 { pulled } else { pulled + 9 + tries };
        let told = Mutex::new(0);
        let observer = |progress: &Progress<'_>| {
            let Progress::Iteration { .. } = *progress else {
                return ControlFlow::Continue(());
            };
            let mut told = told.lock().unwrap();
            *told += 1;
            if *told > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let model = one.install(|| fit(&data, &p, &observer)).unwrap().model;
        assert_eq!(told.into_inner().unwrap(), stop + 1, "seed {seed}: nobody asks again");
        assert_eq!(model.status, Status::Stopped, "seed {seed}");
    }
}

/// Every run has a name of its own in a checkpoint, whichever it is that is delivered.
#[test]
fn what_is_kept_of_one_run_is_not_taken_for_another() {
    let others = [Method::standard(), Method::between(0.5), Method::leximin()];
    let cases = (1..7).flat_map(|seed| [(seed, 3, Method::am()), (seed, 5, Method::am())]);
    for (seed, rank, method) in cases.chain(others.map(|method| (1, 3, method))) {
        let (x, labels) = sample(seed);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let p = asked(method, rank, 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let every = std::time::Duration::from_secs(3600);
        let kept = crate::fit::Checkpoint { path, every, resume: false };
        let kept = crate::fit::fit_kept(&data, &p, Some(&kept), &silent).unwrap().model;
        assert_eq!(kept.components, fit(&data, &p, &silent).unwrap().model.components);
    }
}

/// The best of several runs of standard NMF goes on for half as many iterations as all have taken, at the most.
#[test]
fn standard_goes_on_for_half_of_what_all_runs_took() {
    let (mut at_most, mut later) = (0, 0);
    for seed in 1..9 {
        let (x, labels) = sample(seed);
        let p = asked(Method::standard(), 5, 3);
        let (model, all) = heard(&x, &labels, &p);
        let plain = Parameters { finish: false, ..p };
        let (stood, before) = heard(&x, &labels, &plain);
        assert_eq!(model.status, Status::Converged);
        let (went, stood) = (model.iterations(), stood.iterations());
        assert!(went > stood && went <= stood + before.len() / 2);
        at_most += usize::from(went == stood + before.len() / 2);
        let last = &all[all.len() - 1];
        assert_eq!((last.iteration, all.len() - before.len()), (went, went - stood));
        // Of the run that is best.
        let own = before.iter().filter(|h| h.restart == last.restart).count();
        assert_eq!(own, stood);
        later += usize::from(last.restart > 0);
        // Random starts that were asked for are left where they stand.
        let random = Parameters { init: Init::Random, ..plain.clone() };
        // And so is what is not standard NMF.
        for p in [random, Parameters { method: Method::mu(), ..plain }] {
            let told = |finish| heard(&x, &labels, &Parameters { finish, ..p.clone() }).1.len();
            assert_eq!(told(true), told(false), "{:?}", p.method);
        }
    }
    assert!(at_most > 0 && later > 0, "{at_most} {later}");
}

/// Between standard NMF and Fairer-NMF a fit has two runs, one from either end, and is no worse than both.
#[test]
fn a_fit_between_the_two_begins_at_either() {
    let mut first = [0, 0];
    for seed in 1..9 {
        let (x, labels) = sample(seed);
        for alpha in [0.1, 0.9] {
            let (between, all) = heard(&x, &labels, &asked(Method::between(alpha), 3, 2));
            let counted: Vec<&Heard> = all.iter().filter(|h| h.iteration > 0).collect();
            assert!(counted.iter().all(|h| h.restarts == 2) && all.len() > counted.len());
            let runs = [0, 1].map(|r| counted.iter().filter(|h| h.restart == r).count());
            assert_eq!(runs[0] + runs[1], counted.len());
            assert!(runs.iter().all(|n| *n > 0) && runs.contains(&between.iterations()));
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            let value = |m: &Model| (1.0 - alpha) * m.total_error() / norm + alpha * m.worst_loss();
            for end in [Method::standard(), Method::am()] {
                let end = heard(&x, &labels, &asked(end, 3, 2)).0;
                assert!(value(&between) <= value(&end) + 1e-9, "{alpha}: {end:?}");
            }
            if runs[0] != runs[1] {
                first[usize::from(between.iterations() == runs[1])] += 1;
            }
        }
    }
    assert!(first.iter().all(|n| *n > 0), "{first:?}");
}

#[test]
fn what_leads_up_to_a_run_is_told_and_not_counted() {
    let heard = std::sync::Mutex::new(Vec::new());
    let observer = |progress: &Progress<'_>| {
        heard.lock().unwrap().push(format!("{progress:?}"));
        ControlFlow::Break(())
    };
    let told = |iteration: usize| Progress::Iteration {
        restart: 1,
        restarts: 3,
        iteration,
        losses: &[0.1, 0.2],
        weights: &[0.5, 0.5],
        worst_loss: 0.2,
    };
    assert!(leading_up(&told(7), &observer).is_break());
    let baselines = Progress::Baselines { done: 2, total: 4 };
    assert!(leading_up(&baselines, &observer).is_break());
    let wanted = [format!("{:?}", told(0)), format!("{baselines:?}")];
    assert_eq!(*heard.lock().unwrap(), wanted);
}
