//! The smoothed bound, its slopes and Newton's step against differences; the weights against a grid.

use super::*;
use crate::random::{Purpose, Stream};

/// Random A_ℓ with trace 1, of rank `p` each.
fn grams(groups: usize, p: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(seed, Purpose::Spectral, 3);
    let one = |_| {
        let b: Vec<f64> = (0..p * p).map(|_| stream.uniform().powi(3)).collect();
        let mut a = transposed_times(&b, p, &b, p);
        let trace: f64 = (0..p).map(|i| a[i * p + i]).sum();
        a.iter_mut().for_each(|a| *a /= trace);
        a
    };
    (0..groups).map(one).collect()
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

#[test]
fn a_projection_is_the_sum_of_its_directions_by_their_shares() {
    // Columns are orthonormal.
    let (c, s) = (0.6, 0.8);
    let u = [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0];
    let filled = [1.0, 0.25, 0.5];
    let found = projection(&u, &filled, 3);
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let wanted: f64 = (0..3).map(|k| filled[k] * u[i * 3 + k] * u[j * 3 + k]).sum();
        assert!((found[i * 3 + j] - wanted).abs() < 1e-14, "{i} {j}");
    }
}

#[test]
fn fillings_add_up_to_the_rank_and_are_the_slopes_of_the_smoothed_sum() {
    let values = [0.9, 0.5, 0.48, 0.3, 0.3, 0.1];
    for (rank, mu) in [(1, 0.1), (2, 0.1), (2, 0.01), (4, 0.02), (5, 0.2)] {
        let (filled, sum) = fill(&values, rank, mu);
        assert!(near(filled.iter().sum(), rank as f64, 1e-12), "{rank} {mu}: {filled:?}");
        let exact: f64 = values.iter().take(rank).sum();
        // log 2 for every level at the most.
        let most = exact + mu * values.len() as f64 * 2.0f64.ln();
        assert!(sum >= exact && sum <= most, "{rank} {mu}: {sum}");
        for i in 0..values.len() {
            let moved = |by: f64| {
                let mut values = values;
                values[i] += by;
                fill(&values, rank, mu).1
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(near(slope, filled[i], 1e-6), "{rank} {mu}: {slope} {filled:?}");
        }
    }
    assert!(near(fill(&values, 2, 1e-6).1, 1.4, 1e-5), "without smoothing, the largest two");
}

#[test]
fn differences_are_those_of_fillings_and_their_slope_where_levels_meet() {
    let (mu, sigma) = (0.05, 0.41);
    let filling = |v: f64| 1.0 / (1.0 + ((sigma - v) / mu).exp());
    // The third is as good as the second, the sixth next to the fifth.
    let values = [0.9, 0.5, 0.5 - 1e-9, 0.47, 0.4, 0.4 - 1e-5, 0.1];
    let filled = values.map(filling);
    let found = differences(&values, &filled, mu);
    for (i, j) in (0..49).map(|k| (k / 7, k % 7)) {
        // The mean slope between the two.
        let (from, to) = (values[i], values[j]);
        let at = |k: usize| filling(from + (to - from) * (k as f64 + 0.5) / 2e3);
        let mean = (0..2000).map(|k| at(k) * (1.0 - at(k)) / mu).sum::<f64>() / 2e3;
        assert!(near(found[i * 7 + j], mean, 1e-5 * mean), "{i} {j}: {} {mean}", found[i * 7 + j]);
    }
}

#[test]
fn a_factor_times_itself_is_the_matrix_and_solves_it() {
    let a = &grams(1, 4, 5)[0];
    let factor = cholesky(a.clone(), 4).unwrap();
    let b = [0.3, -1.0, 2.0, 0.7];
    let x = solve(&factor, 4, &b);
    for i in 0..4 {
        for j in 0..=i {
            let product: f64 = (0..=j).map(|k| factor[i * 4 + k] * factor[j * 4 + k]).sum();
            assert!(near(product, a[i * 4 + j], 1e-14), "{i} {j}");
        }
        let image: f64 = (0..4).map(|j| a[i * 4 + j] * x[j]).sum();
        assert!(near(image, b[i], 1e-9), "{i}: {image}");
    }
    assert!(cholesky(vec![1.0, 0.0, 1.0, 1.0], 2).is_none(), "singular");
    assert!(cholesky(vec![1.0, 0.0, 2.0, 1.0], 2).is_none(), "indefinite");
    assert!(cholesky(vec![f64::INFINITY], 1).is_none(), "not finite");
}

/// φ's slope in any direction and the change of that slope on the way cancel at the end of Newton's step.
#[test]
fn newtons_step_ends_where_the_quadratic_is_flat() {
    let (groups, p, mu) = (4, 5, 0.05);
    let grams = grams(groups, p, 1);
    let grams: Vec<&[f64]> = grams.iter().map(|g| &g[..]).collect();
    let part = Reduced { rank: 2, p, grams: &[], e: &[] };
    let (w, gain) = ([0.4, 0.3, 0.2, 0.1], [0.9, 0.7, 0.95, 0.8]);
    let at = part.point(&grams, &w, &gain, mu);
    let (step, rise) = part.newton(&grams, &w, &gain, &at).unwrap();
    let kept: f64 = step.iter().zip(w).map(|(d, w)| d * w).sum();
    assert!(near(kept, 0.0, 1e-12), "the sum of the weights stays");
    for other in 0..=groups {
        // Along the step itself, and in directions that keep the sum.
        let mut d = step.clone();
        if other < groups {
            let k = (other + 1) % groups;
            d.fill(0.0);
            (d[other], d[k]) = (1.0 / w[other], -1.0 / w[k]);
        }
        let (h, k) = (2e-4 / largest(&step), 2e-4 / largest(&d));
        let value = |a: f64, b: f64| {
            let moved: Vec<f64> =
                (0..groups).map(|l| w[l] * (1.0 + a * h * step[l] + b * k * d[l])).collect();
            part.point(&grams, &moved, &gain, mu).value
        };
        let slope = (value(0.0, 1.0) - value(0.0, -1.0)) / (2.0 * k);
        let bend = value(1.0, 1.0) - value(1.0, -1.0) - value(-1.0, 1.0) + value(-1.0, -1.0);
        let bend = bend / (4.0 * h * k);
        assert!(near(slope + bend, 0.0, 1e-4 * slope.abs() + 1e-6), "{other}: {slope} {bend}");
        assert!(other < groups || near(slope, 2.0 * rise, 1e-5 * rise), "{slope} {rise}");
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |a, v| a.max(v.abs()))
}

/// From ten times what is unsure down to a hundredth of it, within what is coarse and what is fine.
#[test]
fn the_smoothing_is_as_fine_as_what_is_sure() {
    let of = |unsure: f64| {
        let Levels { from, to } = Levels::of(unsure);
        (from, to)
    };
    assert_eq!(of(f64::INFINITY), (FIRST, COARSE));
    assert_eq!(of(1.0), (LATER, COARSE));
    let (from, to) = of(5e-6);
    assert!(near(from, 5e-5, 1e-12) && near(to, 5e-8, 1e-15), "{from} {to}");
    assert_eq!(of(1e-9), (COARSE, LAST));
    assert_eq!(of(0.0), (COARSE, LAST));
}

#[test]
fn scores_are_the_slopes_in_the_weights() {
    let (p, w, t) = (5, [0.5, 0.2, 0.3], 0.1);
    let (grams, e) = (grams(3, p, 2), [0.1, 0.3, 0.2]);
    let reduced = Reduced { rank: 2, p, grams: &grams, e: &e };
    let scores = reduced.scores(&w, t);
    for l in 0..3 {
        let phi = |by: f64| {
            let mut w = w;
            w[l] += by;
            let asked: f64 = w.iter().zip(e).map(|(w, e)| w * (1.0 - (t + e) * (t + e))).sum();
            asked - fill(&symmetric(&reduced.sum(&w), p).values, 2, LATER).1
        };
        let slope = (phi(1e-6) - phi(-1e-6)) / 2e-6;
        assert!(near(slope, scores[l], 1e-6), "{l}: {slope} {scores:?}");
    }
}

#[test]
fn the_best_weights_are_those_of_a_grid() {
    for seed in 0..4 {
        let (grams, e) = (grams(3, 5, seed), [0.1, 0.15, 0.05]);
        let reduced = Reduced { rank: 2, p: 5, grams: &grams, e: &e };
        let t = |w: &[f64]| {
            let values = symmetric(&reduced.sum(w), 5).values;
            root(w, &e, 1.0 - values[0] - values[1])
        };
        let mut best = f64::NEG_INFINITY;
        for (i, j) in (0..=60).flat_map(|i| (0..=60 - i).map(move |j| (i, j))) {
            best = best.max(t(&[i, j, 60 - i - j].map(|k| k as f64 / 60.0)));
        }
        // From the middle and from an edge.
        for (begin, unsure) in
            [([0.2, 0.2, 0.6], f64::INFINITY), ([0.2, 0.2, 0.6], 0.1), ([0.0, 0.4, 0.6], 0.1)]
        {
            let (w, found) = reduced.maximise(&begin, unsure);
            assert!(near(t(&w), found, 1e-12) && found >= best - 1e-4, "a coarse look");
            let (w, found) = reduced.maximise(&w, 0.0);
            assert!(near(w.iter().sum(), 1.0, 1e-12) && near(t(&w), found, 1e-12));
            assert!(found >= best - 1e-7 && found <= best + 2e-3, "{seed}: {found} {best}");
        }
    }
}

/// Of many groups those that matter are found, wherever they stand.
#[test]
fn easy_groups_change_nothing_however_many() {
    let (few, p, count) = (grams(3, 4, 7), 4, ACTIVE + 30);
    let of_few = Reduced { rank: 2, p, grams: &few, e: &[0.01, 0.02, 0.03] };
    let (_, alone) = of_few.maximise(&[1.0 / 3.0; 3], 0.0);
    // One direction each, and baselines that no error reaches.
    let mut easy = vec![0.0; p * p];
    easy[0] = 1.0;
    let hard = [5, 64, count - 1];
    let place = |l: usize| hard.iter().position(|&h| h == l);
    let grams: Vec<Vec<f64>> =
        (0..count).map(|l| place(l).map_or(easy.clone(), |k| few[k].clone())).collect();
    let e: Vec<f64> = (0..count).map(|l| place(l).map_or(3.0, |k| of_few.e[k])).collect();
    let reduced = Reduced { rank: 2, p, grams: &grams, e: &e };
    let (w, found) = reduced.maximise(&vec![1.0 / count as f64; count], 0.0);
    assert!(near(found, alone, 1e-6), "{found} {alone}");
    assert!(hard.iter().map(|&l| w[l]).sum::<f64>() > 0.999, "{w:?}");
}
