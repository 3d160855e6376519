//! Another topic in the place of one that hardly helps.
//!
//! Restarts of the AM scheme end in many different local optima, and at higher ranks hardly ever in the best. What
//! keeps a run from a better one is most often a topic that does little while the groups that are worst off would
//! need one more. So: take away the topic k that is least missed,
//!
//!   u_k = Σ_ℓ λ_ℓ/N_ℓ² (W_ℓᵀW_ℓ)_kk · ‖h_k‖²(1 − max_j cos²(h_k, h_j)),
//!
//! and put in its place the topic t that a group ℓ with a large weight λ_ℓ would most like to have for itself,
//!
//!   max(0, h_t + (W_ℓᵀX_ℓ − W_ℓᵀW_ℓH)_t/(W_ℓᵀW_ℓ)_tt),
//!
//! the best one for it alone with all else as it is: t is split in two. All of it is known from the statistics, so
//! that no row is read. Runs go on from several such dictionaries and from one with two exchanges at once; the best is
//! kept, and the next round begins there, until a round no longer helps.
//!
//! Guarantee: none but that the best run never gets worse. What it gains is in docs/measurements.md.

use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::statistics::Statistics;

/// Where a run stands: H, every group's statistics and weight λ_ℓ.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub dictionary: &'a Dictionary,
    pub statistics: &'a [Statistics],
    pub weights: &'a [f64],
}

/// Weight from which on a group counts as one of those that are worst off; of many groups half of an even share.
const WORST: f64 = 0.05;

/// Up to `count` exchanges, of those least missed for those most wanted, by the sum of their places in both orders, which
/// is below `count`: fewer where a wish is for the topic that would go.
pub(super) fn exchanges(
    run: Standing<'_>,
    criteria: &[Criterion],
    count: usize,
) -> Vec<Dictionary> {
    let missed = least_missed(run, criteria);
    let wanted = most_wanted(run, criteria.len(), count);
    let places = (0..count).flat_map(|sum| (0..=sum).map(move |second| (sum - second, second)));
    let pair = |(first, second): (usize, usize)| Some((*missed.get(first)?, wanted.get(second)?));
    places
        .filter_map(pair)
        .filter(|(k, wish)| *k != wish.topic)
        .map(|(k, wish)| replaced(run.dictionary, k, &wish.values))
        .take(count)
        .collect()
}

/// Wishes among which those of a double exchange are looked for.
const LOOKED_AT: usize = 8;

/// Two exchanges at once, for the two topics that are least missed: some optima lie behind dictionaries that every single
/// exchange leads back from. None where too few topics are wished for.
pub(super) fn double_exchange(run: Standing<'_>, criteria: &[Criterion]) -> Option<Dictionary> {
    let missed = least_missed(run, criteria);
    let (&one, &other) = (missed.first()?, missed.get(1)?);
    let mut wishes = most_wanted(run, criteria.len(), LOOKED_AT);
    wishes.retain(|wish| wish.topic != one && wish.topic != other);
    let first = wishes.first()?;
    let second = wishes.iter().find(|wish| wish.topic != first.topic)?;
    Some(replaced(&replaced(run.dictionary, one, &first.values), other, &second.values))
}

/// The topics, those that would be missed least first.
fn least_missed(run: Standing<'_>, criteria: &[Criterion]) -> Vec<usize> {
    let r = run.dictionary.rank;
    let gram = run.dictionary.gram();
    let squared_cosine = |k: usize, j: usize| match gram[k * r + k] * gram[j * r + j] {
        norms if norms > 0.0 => gram[k * r + j] * gram[k * r + j] / norms,
        _ => 0.0,
    };
    let missed = |k: usize| {
        let of_group = |(l, criterion): (usize, &Criterion)| {
            criterion.of_square(run.weights[l]) * run.statistics[l].gram[k * r + k]
        };
        let used: f64 = criteria.iter().enumerate().map(of_group).sum();
        let nearest = (0..r).filter(|&j| j != k).map(|j| squared_cosine(k, j)).fold(0.0, f64::max);
        used * gram[k * r + k] * (1.0 - nearest).max(0.0)
    };
    let missed: Vec<f64> = (0..r).map(missed).collect();
    let mut topics: Vec<usize> = (0..r).collect();
    topics.sort_by(|a, b| missed[*a].total_cmp(&missed[*b]));
    topics
}

/// A topic as a group would like to have it.
struct Wish {
    /// Which topic it is a version of.
    topic: usize,
    /// Feature by feature.
    values: Vec<f64>,
}

/// Wishes of the groups that are worst off: the dearest of each, largest weight first, then the second dearest.
fn most_wanted(run: Standing<'_>, groups: usize, count: usize) -> Vec<Wish> {
    let least = WORST.min(0.5 / groups as f64);
    let mut worst: Vec<usize> = (0..groups).filter(|&l| run.weights[l] >= least).collect();
    worst.sort_by(|a, b| run.weights[*b].total_cmp(&run.weights[*a]));
    let mut of_group: Vec<_> = worst.iter().map(|&l| wishes(run, l).into_iter()).collect();
    let mut found = Vec::new();
    while found.len() < count {
        let before = found.len();
        found.extend(of_group.iter_mut().filter_map(Iterator::next));
        if found.len() == before {
            break;
        }
    }
    found
}

/// The wishes of a group, that which lowers its error most first.
fn wishes(run: Standing<'_>, group: usize) -> Vec<Wish> {
    let (h, s) = (run.dictionary, &run.statistics[group]);
    let r = h.rank;
    let mut found = Vec::with_capacity(r);
    for topic in (0..r).filter(|&t| s.gram[t * r + t] > 0.0) {
        let curve = s.gram[topic * r + topic];
        let column: Vec<f64> = (0..r).map(|q| s.gram[q * r + topic]).collect();
        let mut gain = 0.0;
        let of_feature = |(h, cross): (&[f64], &[f64])| {
            let wish = cross[topic] - h.iter().zip(&column).map(|(a, b)| a * b).sum::<f64>();
            let value = (h[topic] + wish / curve).max(0.0);
            let step = value - h[topic];
            gain += step * (2.0 * wish - step * curve);
            value
        };
        let values = h.values.chunks_exact(r).zip(s.cross.chunks_exact(r)).map(of_feature);
        let values: Vec<f64> = values.collect();
        found.push((gain, Wish { topic, values }));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, wish)| wish).collect()
}

/// The dictionary with other values of a topic.
pub(super) fn replaced(h: &Dictionary, topic: usize, values: &[f64]) -> Dictionary {
    let mut new = h.clone();
    let of_topic = new.values.iter_mut().skip(topic).step_by(h.rank);
    of_topic.zip(values).for_each(|(entry, value)| *entry = *value);
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use ndarray::Array2;

    fn uniform(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut stream = Stream::new(seed, Purpose::Components(0), 0);
        Array2::from_shape_simple_fn((rows, columns), || stream.uniform())
    }

    fn squared_error(x: &Array2<f64>, w: &Array2<f64>, h: &Dictionary) -> f64 {
        (x - &w.dot(&h.to_components())).iter().map(|v| v * v).sum()
    }

    fn statistics(x: &Array2<f64>, w: &Array2<f64>) -> Statistics {
        let norm = x.iter().map(|v| v * v).sum();
        Statistics::new(w.t().dot(w).view(), w.t().dot(x).view(), norm).unwrap()
    }

    #[test]
    fn a_wish_is_the_best_version_of_a_topic_for_the_group_and_the_dearest_comes_first() {
        for seed in 0..20 {
            let (x, w) = (uniform(30, 8, 3 * seed + 1), uniform(30, 4, 3 * seed + 2));
            let h = Dictionary::from_components(uniform(4, 8, 3 * seed + 3).view());
            let all = [statistics(&x, &w)];
            let found = wishes(Standing { dictionary: &h, statistics: &all, weights: &[1.0] }, 0);
            assert_eq!(found.len(), 4);
            let error =
                |wish: &Wish| squared_error(&x, &w, &replaced(&h, wish.topic, &wish.values));
            let errors: Vec<f64> = found.iter().map(error).collect();
            assert!(errors.windows(2).all(|two| two[0] <= two[1] + 1e-9), "{errors:?}");
            assert!(errors[3] <= squared_error(&x, &w, &h));
            for wish in &found {
                for (j, by) in (0..8).flat_map(|j| [(j, 1e-3), (j, -1e-3)]) {
                    let mut other = wish.values.clone();
                    other[j] = (other[j] + by).max(0.0);
                    let other = Wish { topic: wish.topic, values: other };
                    assert!(error(&other) >= error(wish) - 1e-12, "no version is better");
                }
            }
        }
    }

    #[test]
    fn a_topic_that_a_group_does_not_use_is_not_wished_for() {
        let h = Dictionary::from_components(uniform(4, 8, 3).view());
        for unused in 0..4 {
            let (x, mut w) = (uniform(30, 8, 1), uniform(30, 4, 2));
            w.column_mut(unused).fill(0.0);
            let all = [statistics(&x, &w)];
            let found = wishes(Standing { dictionary: &h, statistics: &all, weights: &[1.0] }, 0);
            let mut topics: Vec<usize> = found.iter().map(|wish| wish.topic).collect();
            topics.sort_unstable();
            assert_eq!(topics, (0..4).filter(|t| *t != unused).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_topic_that_repeats_another_goes_first_and_all_others_stay() {
        let (x, w, mut h) = (uniform(30, 8, 1), uniform(30, 4, 2), uniform(4, 8, 3));
        let twin = h.row(0).to_owned() * 1.01;
        h.row_mut(2).assign(&twin);
        let h = Dictionary::from_components(h.view());
        let all = [statistics(&x, &w)];
        let run = Standing { dictionary: &h, statistics: &all, weights: &[1.0] };
        let criteria = [Criterion { offset: 0.0, scale: 1.0 }];
        assert!([0, 2].contains(&least_missed(run, &criteria)[0]));
        let found = exchanges(run, &criteria, 5);
        assert_eq!(found.len(), 5);
        for other in &found {
            let (before, after) = (h.to_components(), other.to_components());
            let differ = |k: &usize| before.row(*k) != after.row(*k);
            assert_eq!((0..4).filter(differ).count(), 1);
            assert!(other.values.iter().all(|v| *v >= 0.0));
        }
        // Of many groups that are alike, all have wishes.
        let many = vec![all[0].clone(); 25];
        let even = Standing { statistics: &many, weights: &[0.04; 25], ..run };
        assert_eq!(most_wanted(even, 25, 5).len(), 25);
        // Groups without weight have no wishes.
        let none = Standing { weights: &[0.0], ..run };
        assert!(
            exchanges(none, &criteria, 5).is_empty() && double_exchange(none, &criteria).is_none()
        );
    }

    /// Two groups of their own weights and scales, four topics.
    fn standing(seed: u64) -> (Dictionary, [Statistics; 2], [Criterion; 2]) {
        let h = Dictionary::from_components(uniform(4, 6, seed).view());
        let of_group = |l: u64| {
            let (x, w) = (uniform(20, 6, 10 * seed + l), uniform(20, 4, 10 * seed + 5 + l));
            statistics(&x, &w)
        };
        let criterion = |scale: f64| Criterion { offset: 0.1, scale };
        (h, [of_group(1), of_group(2)], [criterion(0.5), criterion(2.0)])
    }

    #[test]
    fn topics_are_missed_by_what_is_used_of_them_and_no_other_has() {
        for seed in 1..40 {
            let (h, all, criteria) = standing(seed);
            let weights = [0.1, 0.9];
            let run = Standing { dictionary: &h, statistics: &all, weights: &weights };
            let topics = h.to_components();
            let dot = |k: usize, j: usize| topics.row(k).dot(&topics.row(j));
            let missed = |k: usize| {
                let used =
                    |l: usize| weights[l] / criteria[l].scale.powi(2) * all[l].gram()[[k, k]];
                let cosine = |j: usize| dot(k, j) / (dot(k, k) * dot(j, j)).sqrt();
                let nearest = (0..4).filter(|&j| j != k).map(cosine).fold(0.0, f64::max);
                (used(0) + used(1)) * dot(k, k) * (1.0 - nearest * nearest)
            };
            let mut order: Vec<usize> = (0..4).collect();
            order.sort_by(|a, b| missed(*a).total_cmp(&missed(*b)));
            assert_eq!(least_missed(run, &criteria), order, "seed {seed}");
        }
    }

    #[test]
    fn exchanges_come_by_the_sum_of_their_places() {
        let (h, all, criteria) = standing(3);
        let run = Standing { dictionary: &h, statistics: &all, weights: &[0.4, 0.6] };
        let missed = least_missed(run, &criteria);
        let wanted = most_wanted(run, 2, 8);
        // In turn: the dearest of the group with the larger weight, then of the other.
        let (first, second) = (wishes(run, 1), wishes(run, 0));
        let topics: Vec<usize> = wanted.iter().map(|w| w.topic).collect();
        let turns: Vec<usize> =
            first.iter().zip(&second).flat_map(|(a, b)| [a.topic, b.topic]).collect();
        assert_eq!(topics, turns);
        let mut pairs = Vec::new();
        for sum in 0..9 {
            for place in 0..=sum {
                let (Some(k), Some(wish)) = (missed.get(sum - place), wanted.get(place)) else {
                    continue;
                };
                if *k != wish.topic {
                    pairs.push(replaced(&h, *k, &wish.values).values);
                }
            }
        }
        for count in [1, 2, 5, 8] {
            let found = exchanges(run, &criteria, count);
            assert_eq!(found.len(), count.min(pairs.len()));
            assert!(found.iter().zip(&pairs).all(|(h, pair)| h.values == *pair), "{count}");
        }
        // A twentieth of the weight is enough for a wish, and half of an even share of many.
        let weights = [0.95, 0.05];
        assert_eq!(most_wanted(Standing { weights: &weights, ..run }, 2, 2).len(), 2);
        let weights = [0.951, 0.049];
        let found = most_wanted(Standing { weights: &weights, ..run }, 2, 2);
        assert_eq!(
            found.iter().map(|w| w.topic).collect::<Vec<_>>(),
            [second[0].topic, second[1].topic]
        );
    }

    #[test]
    fn two_at_once_take_the_dearest_wishes_for_two_topics_that_stay() {
        let mut skipped = 0;
        for seed in 1..40 {
            let (h, all, criteria) = standing(seed);
            let run = Standing { dictionary: &h, statistics: &all, weights: &[0.4, 0.6] };
            let missed = least_missed(run, &criteria);
            let mut wanted = most_wanted(run, 2, 8);
            wanted.retain(|wish| !missed[..2].contains(&wish.topic));
            let next = wanted.iter().position(|w| w.topic != wanted[0].topic).unwrap();
            skipped += usize::from(next > 1);
            let one = replaced(&h, missed[0], &wanted[0].values);
            let both = replaced(&one, missed[1], &wanted[next].values);
            assert_eq!(double_exchange(run, &criteria).unwrap().values, both.values, "seed {seed}");
        }
        assert!(skipped > 0, "a second wish for the same topic is passed over");
    }
}
