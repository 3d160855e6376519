//! Pages without a verdict: a sweep over ranks, and methods side by side.

use super::{demo, wave};
use fairer_nmf_report::*;

/// Two groups over ten ranks, with what random groups show.
pub fn sweep() -> Report {
    let mut report =
        bare("Heart Disease by sex", "1 to 10 topics; section 1 shows the models with 10");
    report.verdict = Some(Verdict::not_tested(
        "Whether some group pays more than the others was not tested: a sweep compares numbers of topics. Fit or audit with the one that you choose, which tests it.",
    ));
    report.ranks = demo().ranks;
    for point in report.ranks.iter_mut().flat_map(|r| &mut r.series).flat_map(|s| &mut s.points) {
        let mean = 0.002 * point.rank as f64;
        point.chance_mean = Some(mean);
        (point.chance_low, point.chance_high) = (Some(0.4 * mean), Some(1.8 * mean));
    }
    report
}

/// Twelve methods, as many as there are.
pub fn compared() -> Report {
    let titles = [
        "Standard NMF",
        "Fairer-NMF (AM)",
        "Reweighted NMF, 1/m",
        "Reweighted NMF, 1/N²",
        "Fair GLRM, power mean",
        "Fair GLRM, exponential",
        "Fair GLRM, disparity",
        "Robust multi-objective NMF",
        "Fair PCA",
        "PCA with our criterion",
        "Shared budget of topics",
        "Separate models",
    ];
    let mut report = bare("Heart Disease by sex", "12 methods, 4 topics");
    report.verdict = Some(Verdict::not_tested(
        "Whether some group pays more than the others was not tested: the methods are only set side by side. Fit or audit with the one that you choose, which tests it.",
    ));
    report.models = titles.map(|name| model(name, 0.4)).to_vec();
    for (l, group) in report.who_pays.groups.iter_mut().enumerate() {
        let first = group.results[0];
        let loss = |i: usize| first.loss + 0.01 * wave(i + 3 * l, 0.7);
        let result = |i: usize| GroupResult {
            loss: loss(i),
            relative_error: group.group.relative_baseline + loss(i),
            excess_loss: first.chance_mean.map(|mean| loss(i) - mean),
            ..first
        };
        group.results = (0..titles.len()).map(result).collect();
    }
    let groups = &report.who_pays.groups;
    let method = |(i, title): (usize, &&str)| {
        let excess = |g: &GroupOutcome| Excess {
            group: g.group.name.clone(),
            excess_loss: g.results[i].excess_loss.unwrap_or(f64::NAN),
        };
        let largest = |values: Vec<f64>| values.into_iter().fold(f64::MIN, f64::max);
        let excess_losses: Vec<Excess> = groups.iter().map(excess).collect();
        ComparedMethod {
            model: (*title).into(),
            total_error: 0.4 + 0.001 * i as f64,
            worst_loss: largest(groups.iter().map(|g| g.results[i].loss).collect()),
            worst_excess: largest(excess_losses.iter().map(|e| e.excess_loss).collect()),
            seconds: 0.3 * i as f64,
            excess_losses,
        }
    };
    let methods = titles.iter().enumerate().map(method).collect();
    report.compared = Some(Compared { global_bound: Some(0.0231), methods });
    report
}

/// The demo's groups under two models, untested.
fn bare(title: &str, subtitle: &str) -> Report {
    let Report { who_pays, data, settings, models, .. } = demo();
    let mut report = Report {
        title: title.into(),
        subtitle: subtitle.into(),
        generated: "made-up numbers, for looking at the page".into(),
        warnings: vec![Remark::new(
            "total-error-rose",
            "the model of the sample loses 31.0 % of all data where standard NMF loses 24.8 %: it was bent for group 'women' (97 rows); is that what you want?",
        )],
        who_pays,
        data,
        settings,
        models,
        ..Report::default()
    };
    for group in &mut report.who_pays.groups {
        group.feature_errors.clear();
        group.results = group.results.iter().map(|r| untested(*r, &group.results[0])).collect();
    }
    report
}

/// Without intervals and tests; what random groups show stands beside every model.
fn untested(result: GroupResult, first: &GroupResult) -> GroupResult {
    GroupResult {
        relative_error: result.relative_error,
        loss: result.loss,
        chance_mean: first.chance_mean,
        chance_low: first.chance_low,
        chance_high: first.chance_high,
        excess_loss: first.chance_mean.map(|mean| result.loss - mean),
        ..GroupResult::default()
    }
}

fn model(name: &str, total_error: f64) -> ModelSummary {
    ModelSummary {
        name: name.into(),
        rank: 4,
        total_error: Some(total_error),
        ..ModelSummary::default()
    }
}
