//! The later sections of a made-up report.

use super::{FAIRER, STANDARD, wave};
use fairer_nmf_report::*;

pub fn cost(outcomes: &[GroupOutcome]) -> Cost {
    let changes = outcomes.iter().enumerate().map(|(i, g)| {
        let change = g.results[1].relative_error - g.results[0].relative_error;
        Change {
            group: g.name.clone(),
            change,
            share_worse: Some((0.5 + 9.0 * change + 0.05 * wave(i, 0.3)).clamp(0.0, 1.0)),
        }
    });
    let largest = |m: usize| outcomes.iter().map(|g| g.results[m].loss).fold(f64::MIN, f64::max);
    let (start, end) = (largest(0), largest(1));
    let curve = (0..=10).map(|k| {
        let alpha = f64::from(k) / 10.0;
        let worst = start + (end - start) * alpha.powf(0.6);
        TradeOffPoint {
            alpha,
            total_error: 0.401 + 0.008 * alpha.powi(3),
            worst_loss: worst,
            worst_criterion: worst,
        }
    });
    Cost {
        curve: curve.collect(),
        changes: changes.collect(),
        share_worse: Some(0.56),
        ..Cost::default()
    }
}

pub fn quality(rank: usize, outcomes: &[GroupOutcome]) -> Quality {
    let largest = |m: usize| outcomes.iter().map(|g| g.results[m].loss).fold(f64::MIN, f64::max);
    let history = |from: f64, to: f64, n: usize, rate: f64| -> Vec<f64> {
        (0..n).map(|i| to + (from - to) * (-rate * i as f64).exp()).collect()
    };
    Quality {
        criterion: Minimised::Loss,
        fits: vec![
            FitQuality {
                model: STANDARD.into(),
                status: Status::Converged,
                iterations: 212,
                seconds: Some(0.18),
                history: history(0.21, largest(0), 212, 0.04),
                ..FitQuality::default()
            },
            FitQuality {
                model: FAIRER.into(),
                status: Status::Converged,
                iterations: 43,
                seconds: Some(0.61 + rank as f64 / 100.0),
                history: history(0.19, largest(1), 43, 0.15),
                step_gap: Some(3.1e-8),
                global_bound: Some(0.0431),
            },
        ],
    }
}

pub fn ranks(groups: &[(String, usize, f64)]) -> Ranks {
    let mut series = Vec::new();
    for (m, method) in [Maker::Standard, Maker::Am].into_iter().enumerate() {
        for (g, (group, _, baseline)) in groups.iter().enumerate() {
            let points = (1..=10).map(|rank| {
                let r = rank as f64;
                let loss = if m == 0 {
                    0.03 + 0.02 * (1.0 + wave(g, 0.61)) * r.sqrt() * 0.6
                } else {
                    0.028 + 0.004 * r.sqrt()
                };
                let sd = 0.002 + 0.003 * wave(g + rank, 0.5).abs();
                RankPoint {
                    rank,
                    relative_error_mean: baseline / r.sqrt() + loss + 0.1,
                    relative_error_sd: 1.4 * sd,
                    loss_mean: loss,
                    loss_sd: sd,
                    ..RankPoint::default()
                }
            });
            series.push(RankSeries { method, group: group.clone(), points: points.collect() });
        }
    }
    Ranks { threshold: Some(0.05), trials: 10, series }
}

pub fn topics(groups: &[(String, usize, f64)], features: &[String], rank: usize) -> Topics {
    let raw = |g: usize, t: usize| {
        (1.0 + wave(g * 3 + t * 5, 0.41)).powi(2) + if g % rank == t { 3.0 } else { 0.2 }
    };
    let topics = (0..rank).map(|t| Topic {
        name: format!("Topic {}", t + 1),
        features: (0..6)
            .map(|k| Feature {
                name: features[(t * 5 + k) % features.len()].clone(),
                share: 0.28 / (1.0 + 0.6 * k as f64),
            })
            .collect(),
        usage: groups
            .iter()
            .enumerate()
            .map(|(g, (group, ..))| Usage {
                group: group.clone(),
                share: raw(g, t) / (0..rank).map(|s| raw(g, s)).sum::<f64>(),
            })
            .collect(),
        main_group: (t % 3 == 1).then(|| groups[t % groups.len()].0.clone()),
        matched: Some(TopicMatch {
            topic: format!("Topic {}", (t + 2) % rank + 1),
            similarity: (0.98 - 0.07 * t as f64).max(0.31),
        }),
    });
    Topics {
        model: Some(FAIRER.into()),
        reference: Some(STANDARD.into()),
        topics: topics.collect(),
    }
}
