//! The dictionary step between the sum and the maximum: H minimising
//! F_α = (1 − α)·p + α·q, p = ‖X − WH‖/‖X‖ the total error, q = max_ℓ g_ℓ the worst loss.
//!
//! Take the whole data as one more group with the loss p − τ; the exact min-max step then gives
//! φ(τ) = min_H max(q, p − τ), which is convex in τ with the slope −(multiplier of the whole), and
//! min_H F_α = min_τ φ(τ) + (1 − α)τ. So τ is right where that multiplier is 1 − α: a search in one
//! number, which the next step continues. Never raises F_α.

use super::minmax;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;
use crate::update::{Scratch, Update};

/// Wanted duality gap of every min-max step, in units of loss.
const GAP: f64 = 1e-7;
/// The multiplier of the whole may differ by this from 1 − α: F_α is flat there, so its excess is
/// of second order.
const CLOSE: f64 = 2e-3;
/// Values of τ tried in one step at the most.
const TRIES: usize = 8;

/// F_α of a total error and a worst loss.
pub(crate) fn value(alpha: f64, total_error: f64, worst_loss: f64) -> f64 {
    (1.0 - alpha) * total_error + alpha * worst_loss
}

/// What one step leaves to the next.
pub(crate) struct Search {
    alpha: f64,
    /// Of the groups, then of the whole: offset τ‖X‖, scale ‖X‖.
    criteria: Vec<Criterion>,
    /// Multipliers of the groups and of the whole.
    lambda: Vec<f64>,
    /// Where the search for τ goes on; found from the first statistics.
    tau: Option<f64>,
    /// How far τ moves where nothing else is known.
    stride: f64,
    scratch: Scratch,
}

impl Search {
    /// `scale`: ‖X‖.
    pub fn new(alpha: f64, criteria: &[Criterion], scale: f64) -> Self {
        let groups = criteria.len();
        let whole = Criterion { offset: 0.0, scale };
        let criteria = criteria.iter().copied().chain([whole]).collect();
        let mut lambda = vec![alpha / groups as f64; groups];
        lambda.push(1.0 - alpha);
        let scratch = Scratch::default();
        Self { alpha, criteria, lambda, tau: None, stride: 0.005, scratch }
    }

    fn groups(&self) -> usize {
        self.criteria.len() - 1
    }

    /// The multipliers of the groups, with sum 1.
    pub fn shares(&self) -> Vec<f64> {
        super::shares(&self.lambda[..self.groups()])
    }

    /// Where τ begins: total error and worst loss before the first step.
    pub fn begin(&mut self, total_error: f64, worst_loss: f64) {
        self.tau.get_or_insert(total_error - worst_loss);
    }

    /// H ← a dictionary for the W behind the statistics with a lower F_α, or the same one. Where groups
    /// overlap, the statistics of all rows come last.
    pub fn step(&mut self, statistics: &[Statistics], h: &mut Dictionary, limit: Limit) {
        let whole = Statistics::of_all(statistics, self.groups());
        let statistics = &statistics[..self.groups()];
        if self.alpha == 0.0 {
            let r = h.rank;
            self.scratch.until(limit);
            Update::Nnls.apply(&whole.gram, &whole.cross, &mut h.values, r, &mut self.scratch);
        } else if self.alpha == 1.0 {
            let groups = self.groups();
            let problem = minmax::Problem { statistics, criteria: &self.criteria[..groups], limit };
            let found = minmax::solve(&problem, h, &self.lambda[..groups], GAP);
            self.lambda[..groups].copy_from_slice(&found.lambda);
        } else {
            let mut statistics = statistics.to_vec();
            statistics.push(whole);
            *h = self.mixed(&statistics, h.clone(), limit);
        }
    }

    fn mixed(&mut self, statistics: &[Statistics], begin: Dictionary, limit: Limit) -> Dictionary {
        let whole = statistics.len() - 1;
        let wanted = 1.0 - self.alpha;
        // (τ, multiplier of the whole) on either side of the wanted one.
        let mut low: Option<(f64, f64)> = None;
        let mut high: Option<(f64, f64)> = None;
        let mut best = (self.objective(statistics, &begin), begin.clone());
        let mut warm = begin;
        let mut tau = self.tau.unwrap_or(0.0);
        let first = tau;
        for _ in 0..TRIES {
            self.criteria[whole].offset = tau * self.criteria[whole].scale;
            if limit.is_over() {
                break;
            }
            let problem = minmax::Problem { statistics, criteria: &self.criteria, limit };
            let found = minmax::solve(&problem, &mut warm, &self.lambda, GAP);
            self.lambda = found.lambda;
            let share = self.lambda[whole];
            let value = self.objective(statistics, &warm);
            if value < best.0 {
                best = (value, warm.clone());
            }
            if (share - wanted).abs() <= CLOSE {
                break;
            }
            // The multiplier of the whole falls with τ.
            if share > wanted {
                low = Some((tau, share));
            } else {
                high = Some((tau, share));
            }
            tau = match (low, high) {
                (Some((a, at_a)), Some((b, at_b))) => {
                    // at_a > wanted > at_b, so the quotient lies between 0 and 1; keep off the
                    // ends, where a step in the multiplier would hold the search.
                    let part = (at_a - wanted) / (at_a - at_b);
                    a + (b - a) * part.clamp(0.1, 0.9)
                }
                (Some(_), None) => tau + self.stride,
                _ => tau - self.stride,
            };
            if low.is_none() || high.is_none() {
                self.stride *= 2.0;
            }
        }
        self.tau = Some(tau);
        self.stride = (0.5 * (tau - first).abs()).max(1e-6);
        best.1
    }

    /// F_α of a dictionary with the W behind the statistics.
    fn objective(&self, statistics: &[Statistics], h: &Dictionary) -> f64 {
        let gram = h.gram();
        let relative =
            |l: usize| statistics[l].squared_error(h, &gram).sqrt() / self.criteria[l].scale;
        let groups = self.groups();
        let loss = |l: usize| self.criteria[l].relative_loss(relative(l));
        let worst = (0..groups).map(loss).fold(f64::NEG_INFINITY, f64::max);
        value(self.alpha, relative(groups), worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupedData;
    use crate::random::{Purpose, Stream};
    use crate::rows::group_statistics;
    use ndarray::Array2;

    /// One topic, two features, groups that want different ones.
    fn groups(seed: u64) -> (Vec<Statistics>, Vec<Criterion>) {
        let mut stream = Stream::new(seed, Purpose::Spectral, 6);
        let w = Array2::from_shape_fn((14, 1), |_| 0.2 + stream.uniform());
        let x = Array2::from_shape_fn((14, 2), |(i, j)| {
            stream.uniform() + if usize::from(i < 4) == j { 0.7 } else { 0.0 }
        });
        let codes: Vec<usize> = (0..14).map(|i| usize::from(i >= 4)).collect();
        let names = vec!["a".to_owned(), "b".to_owned()];
        let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
        let statistics = group_statistics(&data, w.view()).unwrap();
        let criterion = |(s, e): (&Statistics, f64)| {
            let scale = s.squared_norm.sqrt();
            Criterion { offset: e * scale, scale }
        };
        let criteria = statistics.iter().zip([0.1, 0.25]).map(criterion).collect();
        (statistics, criteria)
    }

    fn of(a: f64, b: f64) -> Dictionary {
        Dictionary { rank: 1, features: 2, values: vec![a, b] }
    }

    /// Total error and worst loss.
    fn both(
        all: &[Statistics],
        criteria: &[Criterion],
        whole: &Statistics,
        h: &Dictionary,
    ) -> (f64, f64) {
        let error = |s: &Statistics| s.squared_error(h, &h.gram()).sqrt();
        let losses = all.iter().zip(criteria).map(|(s, c)| c.loss(error(s)));
        (error(whole) / whole.squared_norm.sqrt(), losses.fold(f64::NEG_INFINITY, f64::max))
    }

    /// Also where the whole is not the sum of the groups, as where they overlap.
    #[test]
    fn three_steps_reach_the_least_mixture_of_a_grid() {
        for (seed, overlap) in (0..6).flat_map(|seed| [(seed, false), (seed, true)]) {
            let (groups, criteria) = groups(seed);
            let parts = if overlap { [1.0, 0.5] } else { [1.0, 1.0] };
            let whole = Statistics::weighted(&groups, &parts, 1, 2);
            let mut given = groups.clone();
            given.extend(overlap.then(|| whole.clone()));
            let grid: Vec<(f64, f64)> = (0..200 * 200)
                .map(|k| of((k / 200) as f64 / 80.0, (k % 200) as f64 / 80.0))
                .map(|h| both(&groups, &criteria, &whole, &h))
                .collect();
            for alpha in [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] {
                let value = |(total, worst): (f64, f64)| (1.0 - alpha) * total + alpha * worst;
                let least = grid.iter().map(|at| value(*at)).fold(f64::INFINITY, f64::min);
                let mut h = of(0.9, 0.3);
                let mut search = Search::new(alpha, &criteria, whole.squared_norm.sqrt());
                let (total, worst) = both(&groups, &criteria, &whole, &h);
                search.begin(total, worst);
                let mut last = value((total, worst));
                for _ in 0..3 {
                    search.step(&given, &mut h, Limit::NONE);
                    let now = value(both(&groups, &criteria, &whole, &h));
                    assert!(now <= last + 1e-12, "{seed} {alpha}: {now} after {last}");
                    last = now;
                }
                assert!(last <= least + 1e-6, "{seed} {overlap} {alpha}: {last} {least}");
                assert!(last >= least - 1e-3, "{seed} {overlap} {alpha}: {last} {least}");
                let shares = search.shares();
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.len() == 2);
                let own: f64 = search.lambda[..2].iter().sum();
                assert!(own == 0.0 || (shares[0] - search.lambda[0] / own).abs() < 1e-12);
            }
        }
    }
}
