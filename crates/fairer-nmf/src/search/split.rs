//! One topic as two, and two as one.
//!
//! Exchanges ([`super::exchange`]) ask the groups which topic they would like to have for themselves. Better optima
//! that they miss often share one that all groups would like to have as two, and keep two where one would do. Which
//! one that is no statistic of r topics tells. So all are halved, at random,
//!
//!   h_k∘(1 + ξ/2) and h_k∘(1 − ξ/2), ξ uniform between −1 and 1 feature by feature,
//!
//! and a few iterations with the weights λ of the run pull the halves apart where the data have two topics. What a pair
//! of topics is worth as two is what the best single one in their place would leave of their sum: by Perron and
//! Frobenius the leading singular vectors of w_a h_a + w_b h_b are not negative, so that it is the least eigenvalue of
//!
//!   (Σ_ℓ λ_ℓ/N_ℓ² W_ℓᵀW_ℓ)_ab · (HHᵀ)_ab,
//!
//! a product of 2×2 matrices, in squared errors. A split takes both halves of a topic that are worth much as two, and has two
//! others that are worth little as one; the first in order of the difference are tried.
//!
//! Guarantee: none, as of exchanges. What it gains is in docs/measurements.md.

use super::exchange::{Standing, replaced};
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::random::Stream;
use crate::statistics::Statistics;

/// Every topic as two: k becomes 2k and 2k + 1.
pub(super) fn halves(h: &Dictionary, stream: &mut Stream) -> Dictionary {
    let mut wide = Dictionary::zero(2 * h.rank, h.features);
    for (pair, value) in wide.values.chunks_exact_mut(2).zip(&h.values) {
        let part = stream.uniform() - 0.5;
        pair.copy_from_slice(&[value * (1.0 + part), value * (1.0 - part)]);
    }
    wide
}

/// The halves of all topics, pulled apart, and every group's statistics.
#[derive(Clone, Copy)]
pub(super) struct Apart<'a> {
    pub wide: &'a Dictionary,
    pub statistics: &'a [Statistics],
}

/// The first `count` dictionaries with one topic as two and two others as one.
pub(super) fn splits(
    run: Standing<'_>,
    apart: Apart<'_>,
    criteria: &[Criterion],
    count: usize,
) -> Vec<Dictionary> {
    let r = run.dictionary.rank;
    let of_halves = Grams::new(apart.wide, apart.statistics, run.weights, criteria);
    let own = Grams::new(run.dictionary, run.statistics, run.weights, criteria);
    let pairs = (0..r).flat_map(|a| (a + 1..r).map(move |b| (a, b)));
    let mut united: Vec<Pair> = pairs.map(|(a, b)| own.pair(a, b)).collect();
    united.sort_by(|p, q| p.worth.total_cmp(&q.worth));
    let mut found = Vec::new();
    for topic in 0..r {
        let gain = of_halves.pair(2 * topic, 2 * topic + 1).worth;
        let others = united.iter().filter(|p| p.a != topic && p.b != topic).take(count);
        found.extend(others.map(|pair| (gain - pair.worth, topic, pair)));
    }
    found.sort_by(|p, q| q.0.total_cmp(&p.0));
    found.truncate(count);
    let made = |&(_, topic, pair): &(f64, usize, &Pair)| {
        let h = replaced(run.dictionary, pair.a, &pair.as_one(run.dictionary));
        let h = replaced(&h, pair.b, &values(apart.wide, 2 * topic));
        replaced(&h, topic, &values(apart.wide, 2 * topic + 1))
    };
    found.iter().map(made).collect()
}

/// A topic, feature by feature.
fn values(h: &Dictionary, topic: usize) -> Vec<f64> {
    h.values.iter().skip(topic).step_by(h.rank).copied().collect()
}

/// Two topics, what they are worth as two, and the shares of both in the best single one.
struct Pair {
    a: usize,
    b: usize,
    worth: f64,
    shares: [f64; 2],
}

impl Pair {
    /// The best single topic in the place of both.
    fn as_one(&self, h: &Dictionary) -> Vec<f64> {
        let [of_a, of_b] = self.shares;
        h.values.chunks_exact(h.rank).map(|h| of_a * h[self.a] + of_b * h[self.b]).collect()
    }
}

/// Σ_ℓ λ_ℓ/N_ℓ² W_ℓᵀW_ℓ and HHᵀ.
struct Grams {
    rank: usize,
    w: Vec<f64>,
    h: Vec<f64>,
}

impl Grams {
    fn new(
        h: &Dictionary,
        statistics: &[Statistics],
        weights: &[f64],
        criteria: &[Criterion],
    ) -> Self {
        let rank = h.rank;
        let mut w = vec![0.0; rank * rank];
        for ((s, weight), criterion) in statistics.iter().zip(weights).zip(criteria) {
            let weight = criterion.of_square(*weight);
            w.iter_mut().zip(&s.gram).for_each(|(sum, entry)| *sum += weight * entry);
        }
        Self { rank, w, h: h.gram() }
    }

    fn pair(&self, a: usize, b: usize) -> Pair {
        let of = |gram: &[f64]| {
            let at = |i: usize, j: usize| gram[i * self.rank + j];
            [at(a, a), at(a, b), at(b, b)]
        };
        let ([waa, wab, wbb], [haa, hab, hbb]) = (of(&self.w), of(&self.h));
        let product = [
            waa * haa + wab * hab,
            waa * hab + wab * hbb,
            wab * haa + wbb * hab,
            wab * hab + wbb * hbb,
        ];
        let trace = product[0] + product[3];
        let determinant = (waa * wbb - wab * wab) * (haa * hbb - hab * hab);
        let largest = 0.5 * (trace + (trace * trace - 4.0 * determinant).max(0.0).sqrt());
        let worth = if largest > 0.0 { (determinant / largest).max(0.0) } else { 0.0 };
        // The eigenvector of the largest, from the row that tells more; its entries are not negative.
        let vector = match product[1] >= product[2] {
            true => [product[1], largest - product[0]],
            false => [largest - product[3], product[2]],
        };
        let sum: f64 = vector.iter().map(|v| v.abs()).sum();
        let shares = if sum > 0.0 { vector.map(|v| v.abs() / sum) } else { [0.5, 0.5] };
        Pair { a, b, worth, shares }
    }
}

#[cfg(test)]
mod tests;
