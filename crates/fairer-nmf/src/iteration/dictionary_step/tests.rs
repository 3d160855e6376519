//! What a rule does, carries and says of itself, step by step.

use super::*;
use crate::GroupedData;
use crate::random::{Purpose, Stream};
use crate::rows::all_statistics;
use ndarray::Array2;

struct Instance {
    statistics: Vec<Statistics>,
    criteria: Vec<Criterion>,
    start: Dictionary,
}

/// Statistics of a random W; `overlapping`: a quarter of the rows stand in both groups, and those of all rows come last.
fn instance(overlapping: bool) -> Instance {
    let mut stream = Stream::new(7, Purpose::Synthetic(0), 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let (x, w) = (uniform(40, 3).dot(&uniform(3, 6)) + 0.5 * uniform(40, 6), uniform(40, 3));
    let of_a = if overlapping { 25 } else { 15 };
    let members = Array2::from_shape_fn((40, 2), |(i, l)| if l == 0 { i < of_a } else { i >= 15 });
    let names = ["a", "b"].map(|name| (name.to_owned(), None)).to_vec();
    let data = GroupedData::with_members(x.view(), names, members.view()).unwrap();
    let statistics = all_statistics(&data, w.view()).unwrap();
    let criteria =
        data.groups().iter().map(|g| Criterion { offset: 0.1 * g.norm(), scale: g.norm() });
    let start = Dictionary { rank: 3, features: 6, values: uniform(1, 18).into_iter().collect() };
    Instance { statistics, criteria: criteria.collect(), start }
}

impl Instance {
    fn losses(&self, h: &Dictionary) -> Vec<f64> {
        let gram = h.gram();
        let of = |(c, s): (&Criterion, &Statistics)| c.loss(s.squared_error(h, &gram).sqrt());
        self.criteria.iter().zip(&self.statistics).map(of).collect()
    }

    fn worst(&self, h: &Dictionary) -> f64 {
        self.losses(h).into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    fn measured(&self, h: &Dictionary) -> Measured {
        let losses = self.losses(h);
        Measured { errors: losses.clone(), relative_errors: losses.clone(), losses, whole: None }
    }
}

fn distance(a: &Dictionary, b: &Dictionary) -> f64 {
    a.values.iter().zip(&b.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Where groups overlap the sum over groups counts rows twice; standard NMF is of the rows.
#[test]
fn standard_nmf_counts_every_row_once() {
    let uniform = DictionaryRule::Weighted {
        update: Update::Nnls,
        weights: WeightRule::Uniform,
        costs: None,
    };
    for overlapping in [false, true] {
        let Instance { statistics, criteria, start } = &instance(overlapping);
        assert_eq!(statistics.len(), if overlapping { 3 } else { 2 });
        let mut h = start.clone();
        let mut step_of = DictionaryStep::new(uniform, criteria, 1.0, None);
        step_of.take(statistics, None, &mut h, Limit::NONE);
        let mut expected = start.clone();
        let rows = if overlapping { [0.0, 0.0, 1.0] } else { [1.0, 1.0, 0.0] };
        step(Update::Nnls, &rows, statistics, &mut expected, Limit::NONE);
        assert!(distance(&h, &expected) < 1e-12);
        assert_eq!(step_of.shares(), [0.5; 2]);
    }
}

/// A gap that is coarse beside what the last iteration gained would end the gaining.
#[test]
fn a_run_that_creeps_gets_finer_steps() {
    let own = instance(false);
    let gap_after = |improvement: Option<f64>| {
        let rule = DictionaryRule::MinMax { gap: 0.5 };
        let mut step = DictionaryStep::new(rule, &own.criteria, 1.0, None);
        improvement.into_iter().for_each(|by| step.note_improvement(by));
        assert_eq!(step.gap(), None);
        step.take(&own.statistics, None, &mut own.start.clone(), Limit::NONE);
        step.gap().unwrap()
    };
    let coarse = gap_after(None);
    assert!(coarse > 1e-3 && gap_after(Some(1e-4)) <= 1e-5, "{coarse} {}", gap_after(Some(1e-4)));
    assert!(gap_after(Some(0.0)) < 1e-10);
    // As coarse as was asked for, however much an iteration gained.
    assert_eq!(gap_after(Some(100.0)), coarse);
}

/// What is certified of a dictionary is how far its worst loss lies above the best one for the same rows, no less and not much more.
#[test]
fn the_gap_of_a_dictionary_is_its_distance_from_the_best_one() {
    let own = instance(false);
    let rule = DictionaryRule::MinMax { gap: 1e-9 };
    let mut step = DictionaryStep::new(rule, &own.criteria, 1.0, None);
    let mut best = own.start.clone();
    step.take(&own.statistics, None, &mut best, Limit::NONE);
    assert!(step.gap().unwrap() <= 1e-9);
    let least = own.worst(&best);
    for h in [&best, &own.start] {
        let (kept, worst) = (h.clone(), own.worst(h));
        step.certify(&own.statistics, h, worst, Limit::NONE);
        let gap = step.gap().unwrap();
        assert!((gap - (worst - least)).abs() < 1e-8, "{gap} {}", worst - least);
        assert_eq!(&kept, h);
    }
    step.certify(&own.statistics, &best, least, Limit::over());
    assert_eq!(step.gap(), None, "without time nothing is said");
}

/// A memory is all that a rule needs to go on as if nothing had been.
#[test]
fn what_a_rule_carries_is_what_it_goes_on_with() {
    let own = instance(false);
    let decaying = WeightRule::Decaying { even_start: false };
    let rules = [
        DictionaryRule::MinMax { gap: 1e-2 },
        DictionaryRule::Weighted { update: Update::Mu, weights: decaying, costs: None },
    ];
    for rule in rules {
        let new = || DictionaryStep::new(rule, &own.criteria, 1.0, None);
        let (mut one, mut h) = (new(), own.start.clone());
        for _ in 0..3 {
            let known = own.measured(&h);
            one.take(&own.statistics, Some(&known), &mut h, Limit::NONE);
        }
        one.note_improvement(1e-7);
        let mut other = new();
        other.remember(one.memory());
        assert_eq!((one.shares(), one.gap()), (other.shares(), other.gap()), "{rule:?}");
        let (mut a, mut b) = (own.start.clone(), own.start.clone());
        let known = own.measured(&h);
        one.take(&own.statistics, Some(&known), &mut a, Limit::NONE);
        other.take(&own.statistics, Some(&known), &mut b, Limit::NONE);
        assert_eq!((a, one.gap(), one.shares()), (b, other.gap(), other.shares()), "{rule:?}");
    }
}

/// Only what moves weights by losses has to know them before its first step.
#[test]
fn rules_ask_for_losses_that_move_by_them() {
    let asks =
        |rule| DictionaryStep::new(rule, &instance(false).criteria, 1.0, None).asks_for_losses();
    let weighted = |weights| DictionaryRule::Weighted { update: Update::Mu, weights, costs: None };
    assert!(!asks(DictionaryRule::MinMax { gap: 1e-6 }) && !asks(weighted(WeightRule::Uniform)));
    assert!(asks(DictionaryRule::Mixture { alpha: 0.5 }));
    assert!(asks(weighted(WeightRule::Decaying { even_start: false })));
}

#[test]
fn the_dictionary_for_weights_is_the_least_of_the_weighted_sum() {
    let own = instance(false);
    let weights = [0.8, 0.2];
    let mut h = own.start.clone();
    exact_for(&weights, &own.criteria, &own.statistics, &mut h, Limit::NONE);
    let value = |h: &Dictionary| -> f64 {
        let gram = h.gram();
        let of = |l: usize| {
            weights[l] * own.statistics[l].squared_error(h, &gram) / own.criteria[l].scale.powi(2)
        };
        (0..2).map(of).sum()
    };
    let least = value(&h);
    assert!(least < value(&own.start));
    for place in 0..h.values.len() {
        for by in [-1e-3, 1e-3] {
            let mut other = h.clone();
            other.values[place] = (other.values[place] + by).max(0.0);
            assert!(value(&other) >= least - 1e-14, "{place} {by}");
        }
    }
}
