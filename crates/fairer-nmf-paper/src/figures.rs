//! The figures of the paper: mean and standard deviation over trials, per group, against rank.

use fairer_nmf_report::charts::{Lines, Percent, Series, Unit, panels};

use super::approach::Approach;
use super::cells::Cells;
use super::convergence::{Curve, Rule};
use super::metric::Metric;
use super::sets::{SETS, Set};

pub(super) struct Figure {
    /// The name of its files.
    pub stem: String,
    /// The data set or study it belongs to.
    pub title: String,
    pub caption: String,
    pub svg: String,
}

/// Panels of a figure: title, method, metric.
type Panels = [(&'static str, Approach, Metric)];

const FIGURES: [(&str, &str, &Panels); 4] = [
    (
        "standard-error",
        "relative error of standard NMF",
        &[
            ("All data together", Approach::Standard, Metric::ErrorPercent),
            ("Every group alone", Approach::Alone, Metric::ErrorPercent),
        ],
    ),
    (
        "standard-loss",
        "loss of standard NMF",
        &[("All data together", Approach::Standard, Metric::Loss)],
    ),
    (
        "fairer-error",
        "relative error of Fairer-NMF",
        &[("AM", Approach::Am, Metric::ErrorPercent), ("MU", Approach::Mu, Metric::ErrorPercent)],
    ),
    (
        "fairer-loss",
        "loss of Fairer-NMF",
        &[("AM", Approach::Am, Metric::Loss), ("MU", Approach::Mu, Metric::Loss)],
    ),
];

const WIDTH: f64 = 480.0;

/// All figures for which there are numbers.
pub(super) fn all(ours: &Cells, paper: &Cells, curves: &[Curve]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for set in SETS.iter().filter(|set| !ours.ranks(set.key).is_empty()) {
        figures.extend(FIGURES.iter().map(|(stem, what, parts)| {
            let title = format!("{}: {what}", set.title);
            let charts: Vec<Lines> = parts.iter().map(|part| by_rank(set, ours, part)).collect();
            Figure {
                stem: format!("{}-{stem}", set.key),
                title: set.title.to_owned(),
                caption: format!(
                    "{title}, mean \u{b1} standard deviation over trials, by rank. {}",
                    set.note
                ),
                svg: panels(&title, &same_range(charts), 2),
            }
        }));
        figures.extend(times(set, ours, paper));
    }
    figures.extend(SETS.iter().filter_map(|set| convergence(set, curves)));
    figures
}

fn by_rank(set: &Set, ours: &Cells, (title, method, metric): &(&str, Approach, Metric)) -> Lines {
    let series = set.groups.iter().enumerate().map(|(i, &group)| {
        let key = |rank| (set.key, *method, *metric, group, rank);
        over_ranks(group, ours, set, key, metric.fraction()).styled(i, i)
    });
    Lines {
        title: (*title).to_owned(),
        x_label: "rank".to_owned(),
        y_label: if *metric == Metric::Loss { "loss" } else { "relative error" }.to_owned(),
        series: series.collect(),
        width: WIDTH,
        ..Lines::default()
    }
}

fn over_ranks(
    name: &str,
    cells: &Cells,
    set: &Set,
    key: impl Fn(usize) -> super::cells::Key,
    scale: f64,
) -> Series {
    let ranks = cells.ranks(set.key);
    let found: Vec<_> =
        ranks.iter().filter_map(|&rank| Some((rank, cells.get(key(rank))?))).collect();
    let x = found.iter().map(|(rank, _)| *rank as f64).collect();
    let mean = found.iter().map(|(_, cell)| scale * cell.mean).collect();
    let sd = found.iter().map(|(_, cell)| scale * cell.sd.unwrap_or(0.0)).collect();
    Series::new(name, x, mean).with_band(sd)
}

/// Neighbours share their vertical axis.
fn same_range(mut charts: Vec<Lines>) -> Vec<Lines> {
    let (mut low, mut high) = (0.0_f64, f64::NEG_INFINITY);
    for series in charts.iter().flat_map(|chart| &chart.series) {
        for (mean, sd) in series.mean.iter().zip(&series.sd) {
            low = low.min(mean - sd);
            high = high.max(mean + sd);
        }
    }
    if high > low {
        let margin = 0.04 * (high - low);
        let bottom = if low < 0.0 { low - margin } else { 0.0 };
        charts.iter_mut().for_each(|chart| chart.y_range = Some((bottom, high + margin)));
    }
    charts
}

fn times(set: &Set, ours: &Cells, paper: &Cells) -> Option<Figure> {
    if set.is_synthetic() {
        return None;
    }
    let chart = |title: &str, cells: &Cells| Lines {
        title: title.to_owned(),
        x_label: "rank".to_owned(),
        y_label: "seconds, baselines included".to_owned(),
        y_unit: Unit::Plain(2),
        series: [("AM", Approach::Am), ("MU", Approach::Mu)]
            .iter()
            .enumerate()
            .map(|(i, &(name, method))| {
                let key = |rank| (set.key, method, Metric::Seconds, "all", rank);
                over_ranks(name, cells, set, key, 1.0).styled(i, i)
            })
            .collect(),
        width: WIDTH,
        ..Lines::default()
    };
    let title = format!("{}: time of a factorisation", set.title);
    Some(Figure {
        stem: format!("{}-time", set.key),
        title: set.title.to_owned(),
        caption: format!(
            "{title}, baselines included, mean \u{b1} standard deviation over trials. Ours: one thread per trial, trials side by side on this machine, the baselines of a trial counted for each method; the paper: 12 cores of an Intel i9-9920X. Note the different axes. {}",
            set.note
        ),
        svg: panels(&title, &[chart("This program", ours), chart("The paper", paper)], 2),
    })
}

fn convergence(set: &Set, curves: &[Curve]) -> Option<Figure> {
    let of_set: Vec<&Curve> = curves.iter().filter(|c| c.dataset == set.key).collect();
    let trials = of_set.first()?.trials;
    let charts = Rule::ALL.into_iter().map(|rule| {
        let series = of_set.iter().filter(|c| c.rule == rule).enumerate().map(|(i, c)| {
            let x = (1..=c.mean.len()).map(|i| i as f64).collect();
            Series::new(c.group, x, c.mean.clone()).with_band(c.sd.clone()).styled(i, i)
        });
        Lines {
            title: match rule {
                Rule::Decaying => "Decaying step".to_owned(),
                Rule::Largest => "All weight on the largest loss".to_owned(),
            },
            x_label: "iteration".to_owned(),
            y_label: "loss".to_owned(),
            y_unit: Unit::Percent(Percent { decimals: 2 }),
            log_x: true,
            series: series.collect(),
            width: WIDTH,
            ..Lines::default()
        }
    });
    let title = format!("{}, rank {}: convergence of MU", set.title, set.most);
    Some(Figure {
        stem: format!("{}-convergence", set.key),
        title: "Convergence of MU".to_owned(),
        caption: format!(
            "{title}, mean \u{b1} standard deviation over {trials} trials, logarithmic in the iterations. The weights start even, as in the published code (the text: at zero)."
        ),
        svg: panels(&title, &same_range(charts.collect()), 2),
    })
}
