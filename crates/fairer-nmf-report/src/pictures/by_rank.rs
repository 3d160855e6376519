//! Charts of a sweep: a quantity of every group against the rank.

use crate::axis::{Unit, spread, with_margin};
use crate::charts::{Lines, Series};
use crate::content::{Maker, RankPoint, RankSeries, Report};
use crate::numbers::Percent;

/// More groups than this are not told apart by colour.
const MOST_COLOURED: usize = 7;

/// Which of the two quantities a sweep chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Loss,
    Error,
}

impl Quantity {
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Loss => "loss",
            Quantity::Error => "error",
        }
    }

    fn of(self, point: &RankPoint) -> (f64, f64) {
        match self {
            Quantity::Loss => (point.loss_mean, point.loss_sd),
            Quantity::Error => (point.relative_error_mean, point.relative_error_sd),
        }
    }
}

/// Methods of the sweep, in order of appearance.
pub fn methods(report: &Report) -> Vec<Maker> {
    let mut methods: Vec<Maker> = Vec::new();
    for series in report.ranks.iter().flat_map(|r| &r.series) {
        if !methods.contains(&series.method) {
            methods.push(series.method);
        }
    }
    methods
}

/// Section 5: one quantity of every group against rank, for one method.
pub fn ranks(
    report: &Report,
    percent: Percent,
    method: Maker,
    quantity: Quantity,
    width: f64,
) -> Option<Lines> {
    let ranks = report.ranks.as_ref()?;
    let ours: Vec<&RankSeries> = ranks.series.iter().filter(|s| s.method == method).collect();
    let shown = highlighted(&ours, quantity);
    let mut series = Vec::new();
    for (i, s) in ours.iter().enumerate() {
        let (mean, sd): (Vec<_>, Vec<_>) = s.points.iter().map(|p| quantity.of(p)).unzip();
        let x = s.points.iter().map(|p| p.rank as f64).collect();
        let place = shown.iter().position(|&k| k == i);
        let colour = place.unwrap_or(0);
        let line = Series::new(s.group.clone(), x, mean).with_band(sd);
        series.push(Series { muted: place.is_none(), ..line.styled(colour, colour % 5) });
    }
    // One range for all methods, so that the panels can be compared by eye.
    let all = ranks.series.iter().flat_map(|s| &s.points).map(|p| quantity.of(p));
    let range = with_margin(spread(all.flat_map(|(m, sd)| [m - sd, m + sd])), 0.05);
    let threshold =
        ranks.threshold.filter(|&t| quantity == Quantity::Loss && t > range.0 && t < range.1);
    (!series.is_empty()).then(|| Lines {
        title: format!("{}: {} by rank", method.title(), quantity.name()),
        x_label: "rank".into(),
        y_label: format!("{} (mean ± sd)", quantity.name()),
        y_unit: Unit::Percent(percent),
        y_range: Some(range),
        reference: threshold.map(|t| (t, format!("threshold {}", percent.show(t)))),
        series,
        width,
        height: 220.0,
        ..Lines::default()
    })
}

/// Indices of the series drawn in colour: all, or the three worst at the end.
fn highlighted(series: &[&RankSeries], quantity: Quantity) -> Vec<usize> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    if series.len() > MOST_COLOURED {
        let end = |i: usize| {
            let last = series[i].points.last();
            last.map_or(f64::NEG_INFINITY, |p| quantity.of(p).0)
        };
        order.sort_by(|&a, &b| end(b).total_cmp(&end(a)));
        order.truncate(3);
    }
    order
}
