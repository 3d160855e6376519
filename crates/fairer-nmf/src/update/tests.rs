//! Laws of the two inexact updates.

use super::*;
use proptest::prelude::*;

/// ½⟨f, fG⟩ − ⟨c, f⟩ of one row.
fn objective(g: &[f64], c: &[f64], f: &[f64], r: usize) -> f64 {
    let fg = |k: usize| (0..r).map(|j| f[j] * g[j * r + k]).sum::<f64>();
    (0..r).map(|k| f[k] * (0.5 * fg(k) - c[k])).sum()
}

/// G = HHᵀ (r×r) and C = XHᵀ (k×r) for H (r×n) and X (k×n), all from one list of numbers.
fn problem(numbers: &[f64], k: usize, r: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
    let (h, x) = numbers.split_at(r * n);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let with = |rows: &[f64]| {
        rows.chunks_exact(n).flat_map(|a| h.chunks_exact(n).map(move |b| dot(a, b))).collect()
    };
    (with(h), with(&x[..k * n]))
}

fn non_negative() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 3 => 0.0..1.0f64]
}

fn sizes() -> impl Strategy<Value = (usize, usize, usize, Vec<f64>, Vec<f64>)> {
    (1..40usize, 1..30usize, 1..30usize).prop_flat_map(|(k, r, n)| {
        let numbers = proptest::collection::vec(non_negative(), (r + k) * n);
        let f = proptest::collection::vec(non_negative(), k * r);
        (Just(k), Just(r), Just(n), numbers, f)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn mu_and_hals_never_raise_the_objective((k, r, n, numbers, start) in sizes()) {
        let (g, c) = problem(&numbers, k, r, n);
        for update in [Update::Mu, Update::Hals] {
            let mut f = start.clone();
            let mut scratch = Scratch::default();
            for _ in 0..4 {
                let before = f.clone();
                update.apply(&g, &c, &mut f, r, &mut scratch);
                for ((old, new), c) in before.chunks(r).zip(f.chunks(r)).zip(c.chunks(r)) {
                    prop_assert!(new.iter().all(|v| v.is_finite() && *v >= 0.0));
                    let (a, b) = (objective(&g, c, old, r), objective(&g, c, new, r));
                    let size: f64 = c.iter().zip(old).map(|(c, f)| c * f).sum();
                    prop_assert!(b <= a + 1e-12 * (a.abs() + size), "{:?}: {} then {}", update, a, b);
                }
            }
        }
    }

    #[test]
    fn neighbours_do_not_change_a_row((k, r, n, numbers, start) in sizes()) {
        let (g, c) = problem(&numbers, k, r, n);
        for update in [Update::Mu, Update::Hals, Update::Nnls] {
            let (mut together, mut apart) = (start.clone(), start.clone());
            let mut scratch = Scratch::default();
            update.apply(&g, &c, &mut together, r, &mut scratch);
            for (c, f) in c.chunks(r).zip(apart.chunks_mut(r)) {
                update.apply(&g, c, f, r, &mut scratch);
            }
            prop_assert_eq!(&together, &apart, "{:?}", update);
        }
    }
}

#[test]
fn mu_keeps_zeros_and_drops_what_is_negligible() {
    let (g, c) = ([2.0, 0.0, 0.0, 2.0], [4.0, 1e-160]);
    let mut f = [0.0, 1.0];
    Update::Mu.apply(&g, &c, &mut f, 2, &mut Scratch::default());
    assert_eq!(f, [0.0, 0.0]);
}

#[test]
fn hals_leaves_an_empty_topic_alone() {
    let (g, c) = ([2.0, 0.0, 0.0, 0.0], [4.0, 0.0]);
    let mut f = [0.0, 0.7];
    Update::Hals.apply(&g, &c, &mut f, 2, &mut Scratch::default());
    assert_eq!(f, [2.0, 0.7]);
}

#[test]
fn every_body_of_the_inexact_updates_gives_the_same() {
    for (k, r) in [(1, 1), (7, 3), (33, 20), (70, 50)] {
        let n = r + 5;
        let numbers: Vec<f64> = (0..(r + k) * n).map(|i| ((i * 37) % 101) as f64 / 100.0).collect();
        let (g, c) = problem(&numbers, k, r, n);
        for update in [Update::Mu, Update::Hals] {
            let results = std::cell::RefCell::new(Vec::new());
            crate::kernel::tests::at_every_level(|| {
                let mut f = vec![0.5; k * r];
                update.apply(&g, &c, &mut f, r, &mut Scratch::default());
                results.borrow_mut().push(f);
            });
            let results = results.into_inner();
            for other in &results[1..] {
                for (a, b) in results[0].iter().zip(other) {
                    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{update:?} {k}x{r}: {a} {b}");
                }
            }
        }
    }
}

/// Above a size threads take pieces of the rows; every row once, with its own right-hand side, until the time is up.
#[test]
fn many_rows_are_shared_in_pieces_and_few_are_not() {
    let pieces = |rows: usize, r: usize, limit: Limit| {
        let c: Vec<f64> = (0..rows * r).map(|at| at as f64).collect();
        let mut f = vec![-1.0; rows * r];
        let seen = std::sync::Mutex::new(Vec::new());
        over_rows(&c, &mut f, r, limit, |c, f, scratch| {
            assert_eq!(scratch.nnls.limit.is_some(), limit.is_some());
            f.copy_from_slice(c);
            seen.lock().unwrap().push(f.len() / r);
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert!(f == c || f.iter().all(|v| *v == -1.0));
        (seen, f == c)
    };
    assert_eq!(pieces(300, 8, Limit::NONE), (vec![300], true));
    assert_eq!(pieces(1023, 32, Limit::NONE), (vec![1023], true));
    assert_eq!(pieces(1024, 32, Limit::NONE), (vec![256; 4], true));
    assert_eq!(pieces(600, 64, Limit::NONE), (vec![88, 256, 256], true));
    assert_eq!(pieces(300, 8, Limit::over()), (vec![300], true), "the update looks itself");
    assert_eq!(pieces(600, 64, Limit::over()), (vec![], false));
}

/// Sweeps over one row by the book, until one moves it by a hundredth of the first in the norm of G's diagonal.
fn plain_sweeps(g: &[f64], c: &[f64], f: &mut [f64]) {
    let r = f.len();
    let mut first = 0.0;
    for sweep in 0..4 {
        let mut moved = 0.0;
        for k in (0..r).filter(|&k| g[k * r + k] > 0.0) {
            let fg: f64 = (0..r).map(|j| f[j] * g[j * r + k]).sum();
            let new = (f[k] + (c[k] - fg) / g[k * r + k]).max(0.0);
            moved += g[k * r + k] * (new - f[k]).powi(2);
            f[k] = new;
        }
        first = if sweep == 0 { moved } else { first };
        if moved <= 1e-4 * first {
            return;
        }
    }
}

#[test]
fn hals_sweeps_are_those_of_a_plain_loop() {
    let mut stream = crate::random::Stream::new(5, crate::random::Purpose::Spectral, 8);
    for (k, r, n) in [(1, 1, 3), (7, 2, 9), (40, 5, 30), (33, 8, 12), (70, 3, 40)] {
        let mut numbers: Vec<f64> = (0..(r + k) * n).map(|_| stream.uniform().powi(3)).collect();
        // Topics of different norms, one of them zero.
        for (t, topic) in numbers[..r * n].chunks_exact_mut(n).enumerate() {
            topic.iter_mut().for_each(|v| *v *= if t == 6 { 0.0 } else { 3.0f64.powi(t as i32) });
        }
        let (g, c) = problem(&numbers, k, r, n);
        let start: Vec<f64> = (0..k * r).map(|_| stream.uniform()).collect();
        let (mut found, mut wanted) = (start.clone(), start);
        Update::Hals.apply(&g, &c, &mut found, r, &mut Scratch::default());
        wanted.chunks_exact_mut(r).zip(c.chunks_exact(r)).for_each(|(f, c)| plain_sweeps(&g, c, f));
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{k} {r}: {a} {b}");
        }
    }
}

/// A thread keeps its room from one dictionary to the next, of whatever rank.
#[test]
fn room_that_others_have_used_changes_nothing() {
    let mut stream = crate::random::Stream::new(6, crate::random::Purpose::Spectral, 8);
    for update in [Update::Mu, Update::Hals, Update::Nnls] {
        let mut used = Scratch::default();
        for (k, r, n) in [(30, 7, 9), (11, 3, 8), (40, 20, 25), (9, 1, 4), (25, 5, 3), (17, 12, 14)]
        {
            let numbers: Vec<f64> = (0..(r + k) * n).map(|_| stream.uniform().powi(3)).collect();
            let (g, c) = problem(&numbers, k, r, n);
            // Signs that no product has: they send rows to the active-set method.
            let c: Vec<f64> = c.iter().map(|c| c * (1.5 * stream.uniform() - 0.5)).collect();
            let start: Vec<f64> = (0..k * r).map(|_| stream.uniform()).collect();
            let (mut own, mut shared) = (start.clone(), start);
            update.apply(&g, &c, &mut own, r, &mut Scratch::default());
            update.apply(&g, &c, &mut shared, r, &mut used);
            assert_eq!(own, shared, "{update:?} {k}x{r}");
        }
    }
}
