//! Laws of the NNLS kernel: optimality of every row, whatever the Gram matrix and the batch.

mod rounds;

use super::*;

const RESIDUAL: f64 = 1e-10;

struct Rng(u64);

impl Rng {
    /// Uniform on [0, 1) (SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn fill(&mut self, len: usize, mut value: impl FnMut(f64) -> f64) -> Vec<f64> {
        (0..len).map(|_| value(self.uniform())).collect()
    }
}

/// a bᵀ for row-major a (k×n) and b (r×n)
fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    a.chunks(n).flat_map(|a| b.chunks(n).map(move |b| dot(a, b))).collect()
}

fn worst(g: &[f64], c: &[f64], f: &[f64], r: usize) -> f64 {
    assert!(f.iter().all(|v| v.is_finite() && *v >= 0.0 && v.is_sign_positive()));
    c.chunks(r).zip(f.chunks(r)).map(|(c, f)| kkt_residual(g, c, f, r)).fold(0.0, f64::max)
}

/// Solves cold and warm (from a random support) and checks the residual of both.
fn check(g: &[f64], c: &[f64], r: usize, rng: &mut Rng, what: &str) -> NnlsReport {
    let mut scratch = Scratch::default();
    let mut f = vec![0.0; c.len()];
    let report = solve(g, c, &mut f, r, &mut scratch);
    let residual = worst(g, c, &f, r);
    assert!(residual < RESIDUAL, "{what}, r = {r}, cold: {residual:e} {report:?}");
    let mut f = rng.fill(c.len(), |u| if u < 0.5 { 0.0 } else { u });
    let report = solve(g, c, &mut f, r, &mut scratch);
    let residual = worst(g, c, &f, r);
    assert!(residual < RESIDUAL, "{what}, r = {r}, warm: {residual:e} {report:?}");
    report
}

/// G = H Hᵀ and C = X Hᵀ for the dictionary h (r×n) and k random non-negative rows.
fn problem(h: &[f64], n: usize, k: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let x = rng.fill(k * n, |u| if u < 0.3 { 0.0 } else { u });
    (product(h, h, n), product(&x, h, n))
}

#[test]
fn every_row_is_optimal_at_every_rank() {
    let mut rng = Rng(1);
    for r in 1..=60 {
        for n in [r + 5, 3 * r] {
            let h = rng.fill(r * n, |u| if u < 0.4 { 0.0 } else { u });
            let (g, c) = problem(&h, n, 21, &mut rng);
            check(&g, &c, r, &mut rng, "random");
        }
    }
}

#[test]
fn every_row_is_optimal_for_signed_data() {
    let mut rng = Rng(2);
    for r in 1..=40 {
        let n = r + 3;
        let h = rng.fill(r * n, |u| u - 0.5);
        let x = rng.fill(17 * n, |u| u - 0.5);
        check(&product(&h, &h, n), &product(&x, &h, n), r, &mut rng, "signed");
    }
}

#[test]
fn ill_conditioned_grams_are_solved() {
    let mut rng = Rng(3);
    for r in (2..=60).step_by(3) {
        let n = 2 * r + 4;
        // Topics that differ from a common one by `spread`: condition about r / spread².
        for spread in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10] {
            let common = rng.fill(n, |u| 0.5 + u);
            let mut h = rng.fill(r * n, |u| spread * u);
            h.chunks_mut(n).for_each(|h| h.iter_mut().zip(&common).for_each(|(h, c)| *h += c));
            let (g, c) = problem(&h, n, 20, &mut rng);
            check(&g, &c, r, &mut rng, &format!("spread {spread:e}"));
            // Rows that the topics explain, so that many gradients vanish together.
            let w = rng.fill(20 * r, |u| if u < 0.5 { 0.0 } else { u });
            check(&g, &product(&w, &g, r), r, &mut rng, &format!("explained, spread {spread:e}"));
        }
        // Singular values from 1 to 1e-6: a Vandermonde-like dictionary.
        let h: Vec<f64> = (0..r * n)
            .map(|at| (((at % n) as f64 + 1.0) / n as f64).powi((at / n) as i32))
            .collect();
        let (g, c) = problem(&h, n, 20, &mut rng);
        check(&g, &c, r, &mut rng, "Vandermonde");
    }
}

#[test]
fn singular_grams_are_solved() {
    let mut rng = Rng(4);
    for r in 2..=40 {
        let n = r + 2;
        let mut h = rng.fill(r * n, |u| if u < 0.4 { 0.0 } else { u });
        // The last topic repeats the first; a middle one is a mixture; another is empty.
        let (first, last) = (h[..n].to_vec(), (r - 1) * n);
        h[last..].copy_from_slice(&first);
        if r > 3 {
            for j in 0..n {
                h[n + j] = 0.3 * h[j] + 0.7 * h[2 * n + j];
            }
        }
        if r > 5 {
            h[4 * n..5 * n].fill(0.0);
        }
        let (g, c) = problem(&h, n, 19, &mut rng);
        check(&g, &c, r, &mut rng, "duplicates");
        // Rank far below r, non-negative and signed.
        let low = (r / 3).max(1);
        let h = rng.fill(r * low, |u| u);
        let (g, c) = problem(&h, low, 19, &mut rng);
        check(&g, &c, r, &mut rng, "low rank");
        let h = rng.fill(r * low, |u| u - 0.5);
        let x = rng.fill(19 * low, |u| u - 0.5);
        check(&product(&h, &h, low), &product(&x, &h, low), r, &mut rng, "signed low rank");
    }
}

#[test]
fn badly_scaled_problems_are_solved() {
    let mut rng = Rng(5);
    for r in 1..=30 {
        let n = 2 * r;
        for scale in [1e-150, 1e-12, 1e-6, 1e6, 1e12, 1e100] {
            let h = rng.fill(r * n, |u| u);
            let (mut g, mut c) = problem(&h, n, 9, &mut rng);
            g.iter_mut().for_each(|v| *v *= scale);
            c.iter_mut().for_each(|v| *v *= scale.sqrt());
            check(&g, &c, r, &mut rng, "scaled");
        }
        // Topics of very different norms.
        let mut h = rng.fill(r * n, |u| u);
        h.chunks_mut(n)
            .enumerate()
            .for_each(|(i, h)| h.iter_mut().for_each(|v| *v *= 10f64.powi(i as i32 % 13 - 6)));
        let (g, c) = problem(&h, n, 9, &mut rng);
        check(&g, &c, r, &mut rng, "mixed norms");
    }
}

#[test]
fn empty_problems_have_empty_answers() {
    let mut scratch = Scratch::default();
    solve(&[1.0], &[], &mut [], 1, &mut scratch);
    solve(&[], &[], &mut [], 0, &mut scratch);
    let mut f = [0.5; 6];
    solve(&[0.0; 9], &[0.0; 6], &mut f, 3, &mut scratch);
    assert_eq!(f, [0.0; 6], "a zero Gram and a zero right-hand side");
    let mut f = [0.5; 6];
    solve(&[2.0, 1.0, 1.0, 2.0], &[0.0, 0.0, -1.0, -2.0, 0.0, -1.0], &mut f, 2, &mut scratch);
    assert_eq!(f, [0.0; 6], "nothing to explain");
    let mut f = [0.0, 1.0];
    solve(&[4.0, 0.0, 0.0, 0.0], &[2.0, 0.0], &mut f, 2, &mut scratch);
    assert_eq!(f, [0.5, 0.0], "an empty topic");
    let mut f = [0.0; 3];
    solve(&[0.0; 9], &[1.0, 0.0, -1.0], &mut f, 3, &mut scratch);
    assert_eq!(f, [0.0; 3], "unbounded by rounding: the empty topic stays out");
}

#[test]
fn agrees_with_trying_every_support() {
    let mut rng = Rng(6);
    for r in 1..=6 {
        for _ in 0..40 {
            let n = r + 2;
            let h = rng.fill(r * n, |u| u - 0.2);
            let x = rng.fill(3 * n, |u| u - 0.3);
            let (g, c) = (product(&h, &h, n), product(&x, &h, n));
            let mut f = vec![0.0; 3 * r];
            solve(&g, &c, &mut f, r, &mut Scratch::default());
            for (c, f) in c.chunks(r).zip(f.chunks(r)) {
                let best = (0..1 << r)
                    .map(|support| objective_on(&g, c, r, support))
                    .fold(f64::INFINITY, f64::min);
                let found = objective(&g, c, f);
                assert!(
                    (found - best).abs() <= 1e-12 * (1.0 + best.abs()),
                    "r = {r}: {found} against {best}"
                );
            }
        }
    }
}

fn objective(g: &[f64], c: &[f64], f: &[f64]) -> f64 {
    let gf = product(f, g, f.len());
    f.iter().zip(&gf).zip(c).map(|((f, gf), c)| f * (0.5 * gf - c)).sum()
}

/// The least objective with this support by Gauss elimination, infinite if it is not feasible.
fn objective_on(g: &[f64], c: &[f64], r: usize, support: usize) -> f64 {
    let on: Vec<usize> = (0..r).filter(|i| support >> i & 1 == 1).collect();
    let mut a: Vec<Vec<f64>> =
        on.iter().map(|&i| on.iter().map(|&j| g[i * r + j]).chain([c[i]]).collect()).collect();
    let p = on.len();
    for k in 0..p {
        let top = (k..p).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, top);
        for i in (0..p).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let above = a[k].clone();
            a[i].iter_mut().zip(&above).skip(k).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut f = vec![0.0; r];
    for k in 0..p {
        f[on[k]] = a[k][p] / a[k][k];
    }
    if f.iter().all(|&v| v >= 0.0) { objective(g, c, &f) } else { f64::INFINITY }
}

#[test]
fn warm_start_does_not_change_the_answer() {
    let mut rng = Rng(7);
    for r in [1, 2, 5, 12, 33] {
        let n = 4 * r;
        let h = rng.fill(r * n, |u| if u < 0.5 { 0.0 } else { u });
        let (g, c) = problem(&h, n, 50, &mut rng);
        let mut cold = vec![0.0; c.len()];
        solve(&g, &c, &mut cold, r, &mut Scratch::default());
        let mut warm = rng.fill(c.len(), |u| (u - 0.5).max(0.0));
        solve(&g, &c, &mut warm, r, &mut Scratch::default());
        for (a, b) in cold.iter().zip(&warm) {
            assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "r = {r}: {a} and {b}");
        }
    }
}

#[test]
fn neighbours_do_not_change_a_row() {
    let mut rng = Rng(8);
    for (r, spread) in [(1, 1.0), (3, 1.0), (7, 1e-3), (20, 1.0), (20, 1e-6), (41, 1e-2)] {
        let n = 2 * r + 1;
        let h = rng.fill(r * n, |u| 1.0 + spread * u);
        let (g, c) = problem(&h, n, 45, &mut rng);
        let start = rng.fill(c.len(), |u| (u - 0.5).max(0.0));
        let mut together = start.clone();
        let mut scratch = Scratch::default();
        solve(&g, &c, &mut together, r, &mut scratch);
        for rows in [1, 2, 8, 11] {
            let mut apart = start.clone();
            for (c, f) in c.chunks(rows * r).zip(apart.chunks_mut(rows * r)) {
                solve(&g, c, f, r, &mut scratch);
            }
            assert!(
                together.iter().zip(&apart).all(|(a, b)| a.to_bits() == b.to_bits()),
                "r = {r}, {rows} rows"
            );
        }
    }
}

#[test]
fn instruction_sets_agree_to_rounding() {
    let mut rng = Rng(9);
    for r in [1, 4, 9, 26, 40] {
        let n = 3 * r;
        let h = rng.fill(r * n, |u| u);
        let (g, c) = problem(&h, n, 30, &mut rng);
        let mut here = vec![0.0; c.len()];
        let mut scratch = Scratch::default();
        solve(&g, &c, &mut here, r, &mut scratch);
        let agrees = |other: &[f64]| {
            assert!(worst(&g, &c, other, r) < RESIDUAL);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            assert!(here.iter().zip(other).all(close), "r = {r}");
        };
        let problem = Problem { g: &g, c: &c, r };
        let mut portable = vec![0.0; c.len()];
        pivot::<2, false>(problem, &mut portable, &mut scratch);
        agrees(&portable);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            let mut avx2 = vec![0.0; c.len()];
            // SAFETY: the processor has avx2 and fma, checked above.
            unsafe { pivot_avx2(problem, &mut avx2, &mut scratch) };
            agrees(&avx2);
        }
    }
}

#[test]
fn the_fallback_alone_solves_every_row() {
    let mut rng = Rng(10);
    let mut work = active_set::Work::default();
    for r in 1..=40 {
        for spread in [1.0, 1e-4, 1e-8] {
            let n = r + 4;
            let h = rng.fill(r * n, |u| 1.0 + spread * u);
            let (g, c) = problem(&h, n, 10, &mut rng);
            let mut f = rng.fill(c.len(), |u| (u - 0.5).max(0.0));
            for (c, f) in c.chunks(r).zip(f.chunks_mut(r)) {
                active_set::solve_row(&g, c, f, Limit::NONE, &mut work);
            }
            assert!(worst(&g, &c, &f, r) < RESIDUAL, "r = {r}, spread {spread:e}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::with_cases(150)
    })]

    /// `n` below `r` makes the Gram matrix singular; `copies` repeats topics exactly.
    #[test]
    fn every_row_satisfies_kkt(
        seed in 0u64..u64::MAX, r in 1usize..=60, n in 1usize..=80, k in 1usize..20,
        zeros in 0.0f64..0.9, copies in 0usize..4, signed in 0u8..2,
    ) {
        let mut rng = Rng(seed);
        let shift = 0.5 * f64::from(signed);
        let mut h = rng.fill(r * n, |u| if u < zeros { 0.0 } else { u - shift });
        for copy in 0..copies.min(r - 1) {
            h.copy_within(0..n, (r - 1 - copy) * n);
        }
        let x = rng.fill(k * n, |u| if u < zeros { 0.0 } else { u - shift });
        check(&product(&h, &h, n), &product(&x, &h, n), r, &mut rng, "proptest");
    }
}

/// Relative KKT residual of one row `f` (length r): the largest of |f_i| where f_i < 0, −y_i where
/// f_i = 0 and |y_i| where f_i > 0, divided by |c|_∞ + (|G||f|)_∞.
fn kkt_residual(g: &[f64], c: &[f64], f: &[f64], r: usize) -> f64 {
    let (mut worst, mut c_max, mut size) = (0.0f64, 0.0f64, 0.0f64);
    for i in 0..r {
        let row = &g[i * r..(i + 1) * r];
        let y = row.iter().zip(f).map(|(g, f)| g * f).sum::<f64>() - c[i];
        let violation = if f[i] > 0.0 { y.abs() } else { (-y).max(-f[i]) };
        // `max` would drop a NaN
        worst = if violation <= worst { worst } else { violation };
        c_max = c_max.max(c[i].abs());
        size = size.max(row.iter().zip(f).map(|(g, f)| (g * f).abs()).sum());
    }
    worst / (c_max + size).max(f64::MIN_POSITIVE)
}

/// Once the time is up, every row is as it came.
#[test]
fn rows_that_are_not_reached_stay_as_they_are() {
    let r = LOOKING_RANK;
    let g: Vec<f64> = (0..r * r).map(|k| if k % (r + 1) == 0 { 2.0 } else { 0.0 }).collect();
    let (c, before) = (vec![1.0; 3 * r], vec![0.25; 3 * r]);
    let (mut f, mut scratch) = (before.clone(), Scratch::default());
    scratch.limit = Limit::over();
    solve(&g, &c, &mut f, r, &mut scratch);
    assert_eq!(f, before);
    scratch.limit = Limit::NONE;
    solve(&g, &c, &mut f, r, &mut scratch);
    assert!(f.iter().all(|v| (v - 0.5).abs() < 1e-12));
}
