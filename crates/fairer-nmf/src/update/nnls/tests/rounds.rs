//! Block pivoting by itself: what it gets wrong the active-set method repairs, and only its rounds tell.

use super::super::side_by_side::{MAX_ROUNDS, PATIENCE};
use super::*;

/// G_PP x = c_P by elimination; zeros elsewhere.
fn on_support(g: &[f64], c: &[f64], passive: &[bool]) -> Vec<f64> {
    let r = c.len();
    let at: Vec<usize> = (0..r).filter(|&i| passive[i]).collect();
    let mut rows: Vec<Vec<f64>> =
        (at.iter()).map(|&i| at.iter().map(|&j| g[i * r + j]).chain([c[i]]).collect()).collect();
    for p in 0..at.len() {
        let pivot = rows[p].clone();
        for row in rows.iter_mut().skip(p + 1) {
            let times = row[p] / pivot[p];
            row.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= times * b);
        }
    }
    let mut f = vec![0.0; r];
    for p in (0..at.len()).rev() {
        let known: f64 = (p + 1..at.len()).map(|q| rows[p][q] * f[at[q]]).sum();
        f[at[p]] = (rows[p][at.len()] - known) / rows[p][p];
    }
    f
}

/// The rounds that Kim and Park's method takes for one row, and whether it is solved then.
fn plain_rounds(g: &[f64], c: &[f64], start: &[f64]) -> (usize, bool) {
    let r = c.len();
    let cold = start.iter().all(|f| *f == 0.0);
    let mut passive: Vec<bool> =
        (0..r).map(|i| if cold { c[i] > 0.0 } else { start[i] > 0.0 }).collect();
    let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
    for round in 1.. {
        let f = on_support(g, c, &passive);
        let row = |i: usize| g[i * r..(i + 1) * r].iter().zip(&f);
        let y: Vec<f64> = (0..r).map(|i| row(i).map(|(g, f)| g * f).sum::<f64>() - c[i]).collect();
        let size = (0..r).map(|i| row(i).map(|(g, f)| (g * f).abs()).sum()).fold(0.0, f64::max);
        let bound = TOLERANCE * (size + c.iter().fold(0.0f64, |a, c| a.max(c.abs())));
        let wrong: Vec<usize> =
            (0..r).filter(|&i| if passive[i] { f[i] < 0.0 } else { y[i] < -bound }).collect();
        if wrong.is_empty() || round == MAX_ROUNDS {
            return (round, wrong.is_empty());
        }
        let all = wrong.len() < fewest || patience > 0;
        patience = if wrong.len() < fewest { PATIENCE } else { patience.saturating_sub(1) };
        fewest = fewest.min(wrong.len());
        let exchanged = if all { &wrong[..] } else { &wrong[wrong.len() - 1..] };
        exchanged.iter().for_each(|&i| passive[i] = !passive[i]);
    }
    unreachable!()
}

#[test]
fn pivoting_takes_the_rounds_of_the_plain_method() {
    let mut rng = Rng(21);
    let (mut most, mut backed) = (0, 0);
    for case in 0..400 {
        let r = 2 + case % 40;
        // Signed topics, hardly more features than topics: many exchanges.
        let n = r + 1 + case % 3;
        let shift = [0.5, 0.2, 0.0][case % 3];
        let h = rng.fill(r * n, |u| u - shift);
        let x = rng.fill(n, |u| u - 0.3);
        let (g, c) = (product(&h, &h, n), product(&x, &h, n));
        let start = rng.fill(r, |u| if case % 2 == 0 || u < 0.5 { 0.0 } else { u });
        let (rounds, solved) = plain_rounds(&g, &c, &start);
        let mut f = start.clone();
        let mut scratch = Scratch::default();
        let report = solve(&g, &c, &mut f, r, &mut scratch);
        let wanted = (rounds, usize::from(!solved));
        assert_eq!((report.max_rounds, report.fallback_rows), wanted, "case {case}, r = {r}");
        // Without fused products too.
        let (mut plain, mut own) = (start.clone(), Scratch::default());
        own.prepare(&g, r);
        let portable = pivot::<2, false>(Problem { g: &g, c: &c, r }, &mut plain, &mut own);
        assert_eq!((portable.max_rounds, portable.fallback_rows), wanted, "case {case}, r = {r}");
        most = most.max(rounds);
        backed += usize::from(rounds > PATIENCE + 2);
        // From the answer itself one round is enough, and the answer stays.
        let mut again = f.clone();
        let report = solve(&g, &c, &mut again, r, &mut scratch);
        let found = f.iter().any(|v| *v > 0.0);
        assert!(!found || !solved || report.max_rounds == 1, "case {case}");
    }
    assert!(most > PATIENCE + 3 && backed > 20, "{most} {backed}");
}

/// Of nearly equal topics some rows are left to the active-set method, and every row of a call is counted.
#[test]
fn rows_that_pivoting_leaves_are_counted() {
    let mut rng = Rng(22);
    let mut left = 0;
    for r in [20, 30, 40] {
        let (n, k) = (2 * r + 4, 40);
        let common = rng.fill(n, |u| 0.5 + u);
        let mut h = rng.fill(r * n, |u| 1e-7 * u);
        h.chunks_mut(n).for_each(|h| h.iter_mut().zip(&common).for_each(|(h, c)| *h += c));
        let (g, c) = problem(&h, n, k, &mut rng);
        let report = solve(&g, &c, &mut vec![0.0; k * r], r, &mut Scratch::default());
        assert!(report.fallback_rows <= k && report.max_rounds <= MAX_ROUNDS, "{report:?}");
        left += report.fallback_rows;
    }
    assert!(left > 0);
}

/// Topics that depend on others enter in their place.
#[test]
fn the_fallback_alone_solves_singular_rows() {
    let mut rng = Rng(23);
    let mut work = active_set::Work::default();
    for r in 2..=24usize {
        for (low, shift) in [(1, 0.0), (r.div_ceil(3), 0.0), (r.div_ceil(2), 0.5)] {
            let h = rng.fill(r * low, |u| u - shift);
            let x = rng.fill(10 * low, |u| u - shift);
            let (g, c) = (product(&h, &h, low), product(&x, &h, low));
            let mut f = rng.fill(c.len(), |u| (u - 0.5).max(0.0));
            for (c, f) in c.chunks(r).zip(f.chunks_mut(r)) {
                active_set::solve_row(&g, c, f, Limit::NONE, &mut work);
            }
            assert!(worst(&g, &c, &f, r) < RESIDUAL, "r = {r} of rank {low}");
        }
    }
}
