use super::*;
use crate::random::Purpose;
use ndarray::{Array1, Array2, Axis, s};

fn uniform(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut stream = Stream::new(seed, Purpose::Components(0), 0);
    Array2::from_shape_simple_fn((rows, columns), || stream.uniform())
}

fn statistics(x: &Array2<f64>, w: &Array2<f64>) -> Statistics {
    let norm = x.iter().map(|v| v * v).sum();
    Statistics::new(w.t().dot(w).view(), w.t().dot(x).view(), norm).unwrap()
}

#[test]
fn halves_of_a_topic_have_it_as_their_mean_and_are_not_negative() {
    let h = Dictionary::from_components(uniform(3, 7, 1).view());
    let mut stream = Stream::new(5, Purpose::Halves(0), 0);
    let wide = halves(&h, &mut stream).to_components();
    let own = h.to_components();
    assert_eq!(wide.dim(), (6, 7));
    for ((k, j), value) in own.indexed_iter() {
        let (a, b) = (wide[[2 * k, j]], wide[[2 * k + 1, j]]);
        assert!((0.5 * (a + b) - value).abs() < 1e-15 && a >= 0.5 * value && b >= 0.5 * value);
    }
    assert!(wide.row(0) != wide.row(1));
    // Another round has others.
    let mut other = Stream::new(5, Purpose::Halves(1), 0);
    assert_ne!(halves(&h, &mut other).to_components(), wide);
}

/// What a pair is worth is what the best matrix of rank one leaves of its part, by the power method on the part itself; how much of a
/// topic's size W has makes no difference.
#[test]
fn a_pair_is_worth_what_the_best_single_topic_would_leave() {
    for (seed, size) in (1..30).flat_map(|seed| [(seed, 1.0), (seed, 1e3), (seed, 1e-3)]) {
        let (x, mut w, mut h) =
            (uniform(20, 6, seed), uniform(20, 4, seed + 50), uniform(4, 6, seed + 100));
        w.column_mut(1).mapv_inplace(|v| v * size);
        h.row_mut(1).mapv_inplace(|v| v / size);
        let dictionary = Dictionary::from_components(h.view());
        let (weight, scale) = (0.7, 2.0);
        let criteria = [Criterion { offset: 0.3, scale }];
        let grams = Grams::new(&dictionary, &[statistics(&x, &w)], &[weight], &criteria);
        for (a, b) in [(0, 1), (1, 3), (2, 3)] {
            let both = w.select(Axis(1), &[a, b]).dot(&h.select(Axis(0), &[a, b]));
            let mut leading = Array1::<f64>::ones(6);
            for _ in 0..500 {
                leading = both.t().dot(&both.dot(&leading));
                leading /= leading.dot(&leading).sqrt();
            }
            let along = both.dot(&leading);
            let left = both.iter().map(|v| v * v).sum::<f64>() - along.dot(&along);
            let left = weight / (scale * scale) * left;
            let pair = grams.pair(a, b);
            assert!((pair.worth - left).abs() < 1e-9, "{} {left}", pair.worth);
            // The single topic is the leading vector, up to its length, and a mean of the two.
            let one = Array1::from(pair.as_one(&dictionary));
            let cosine = one.dot(&leading) / one.dot(&one).sqrt();
            assert!(one.iter().all(|v| *v >= 0.0) && (cosine - 1.0).abs() < 1e-9, "{cosine}");
            assert!((pair.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{:?}", pair.shares);
        }
    }
}

/// Also of topics that nobody uses, and that share nothing.
#[test]
fn shares_of_a_pair_are_numbers_whatever_the_pair() {
    let h = Dictionary::from_components(Array2::eye(3).view());
    let nothing = Dictionary::zero(3, 3);
    for (used, h) in [(1.0, &h), (0.0, &h), (1.0, &nothing)] {
        let w = used * &Array2::eye(3);
        let criteria = [Criterion { offset: 0.0, scale: 1.0 }];
        let grams = Grams::new(h, &[statistics(&uniform(3, 3, 1), &w)], &[1.0], &criteria);
        let pair = grams.pair(0, 2);
        assert!(pair.shares.iter().all(|v| *v >= 0.0) && pair.shares.iter().sum::<f64>() == 1.0);
        assert!(pair.worth >= 0.0);
    }
}

/// Of all topics that could be two and pairs of others that could be one, by what the first is worth as two less the others as two.
#[test]
fn splits_come_by_what_they_are_worth() {
    for seed in 1..20 {
        let (x, w, of_halves) =
            (uniform(20, 6, seed), uniform(20, 4, seed + 50), uniform(20, 8, seed + 80));
        let h = Dictionary::from_components(uniform(4, 6, seed + 100).view());
        let wide = Dictionary::from_components(uniform(8, 6, seed + 150).view());
        let criteria = [Criterion { offset: 0.0, scale: 1.0 }];
        let (own, apart) = ([statistics(&x, &w)], [statistics(&x, &of_halves)]);
        let run = Standing { dictionary: &h, statistics: &own, weights: &[1.0] };
        let grams = [(&h, &own), (&wide, &apart)].map(|(h, s)| Grams::new(h, s, &[1.0], &criteria));
        let mut all = Vec::new();
        for (topic, a, b) in (0..64).map(|at| (at / 16, at / 4 % 4, at % 4)) {
            if a < b && topic != a && topic != b {
                let (two, one) = (grams[1].pair(2 * topic, 2 * topic + 1), grams[0].pair(a, b));
                all.push((two.worth - one.worth, topic, a, b, one.as_one(&h)));
            }
        }
        all.sort_by(|p, q| q.0.total_cmp(&p.0));
        let halves = wide.to_components();
        for count in [1, 5, 20] {
            let found = splits(run, Apart { wide: &wide, statistics: &apart }, &criteria, count);
            assert_eq!(found.len(), count.min(12));
            for (found, (_, topic, a, b, one)) in found.iter().zip(&all) {
                let found = found.to_components();
                assert_eq!(found.row(*a).to_vec(), *one, "seed {seed}");
                assert_eq!(found.row(*b), halves.row(2 * topic));
                assert_eq!(found.row(*topic), halves.row(2 * topic + 1));
            }
        }
    }
}

/// Of rows that mix four topics, a dictionary has one as a mean of two and another twice: the first split mends it.
#[test]
fn a_topic_that_is_two_is_split_and_two_that_are_one_are_united() {
    let (w, h) = (uniform(60, 4, 1), uniform(4, 9, 2));
    let x = w.dot(&h);
    let mean = 0.5 * (&h.row(0) + &h.row(1));
    let mut stale = h.clone();
    stale.row_mut(0).assign(&mean);
    stale.row_mut(1).assign(&(&h.row(2) * 1.02));
    // Rows that use both versions of the topic that is there twice.
    let mut used = w.clone();
    used.column_mut(0).assign(&(&w.column(0) + &w.column(1)));
    used.column_mut(1).assign(&(0.5 * &w.column(2)));
    used.column_mut(2).assign(&(0.5 * &w.column(2)));
    let dictionary = Dictionary::from_components(stale.view());
    let own = [statistics(&x, &used)];
    // Halves of which those of the first topic are what it is a mean of.
    let mut wide = Array2::zeros((8, 9));
    let mut of_halves = Array2::zeros((60, 8));
    for k in 0..4 {
        for half in 0..2 {
            let from = if k == 0 { h.row(half) } else { stale.row(k) };
            wide.slice_mut(s![2 * k + half, ..]).assign(&from);
            let part = if k == 0 { w.column(half).to_owned() } else { 0.5 * &used.column(k) };
            of_halves.slice_mut(s![.., 2 * k + half]).assign(&part);
        }
    }
    let wide = Dictionary::from_components(wide.view());
    let apart = [statistics(&x, &of_halves)];
    let run = Standing { dictionary: &dictionary, statistics: &own, weights: &[1.0] };
    let criteria = [Criterion { offset: 0.0, scale: 1.0 }];
    let found = splits(run, Apart { wide: &wide, statistics: &apart }, &criteria, 5);
    assert_eq!(found.len(), 5);
    let first = found[0].to_components();
    let has = |topic: ndarray::ArrayView1<'_, f64>| {
        first.rows().into_iter().any(|row| {
            let cosine = row.dot(&topic) / (row.dot(&row) * topic.dot(&topic)).sqrt();
            cosine > 1.0 - 1e-9
        })
    };
    assert!(h.rows().into_iter().all(has), "all four topics are there again");
    // Every candidate has as many topics; the one that is in neither pair is as before.
    for other in &found {
        let kept = |k: &usize| other.to_components().row(*k) == stale.row(*k);
        assert!(other.rank == 4 && (0..4).any(|k| kept(&k)));
    }
    // Two topics cannot be one while a third is two.
    let (few, wide) = (uniform(2, 9, 3), uniform(4, 9, 4));
    let (few, wide) =
        (Dictionary::from_components(few.view()), Dictionary::from_components(wide.view()));
    let (own, apart) = ([statistics(&x, &uniform(60, 2, 5))], [statistics(&x, &uniform(60, 4, 6))]);
    let run = Standing { dictionary: &few, statistics: &own, weights: &[1.0] };
    assert!(splits(run, Apart { wide: &wide, statistics: &apart }, &criteria, 5).is_empty());
}
