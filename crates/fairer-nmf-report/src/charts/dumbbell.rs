//! One row per group, one dot per model, a line between them, and whiskers
//! where there are intervals.

use super::{RowLayout, Theme, draw_title, title_height};
use crate::axis::{Key, Legend, Scale, Unit, spread, with_margin, x_axis};
use crate::escape::isolate;
use crate::numbers::Percent;
use crate::svg::{Anchor, BAND, Paint, Stroke, Svg, TextStyle, wrapped};

/// Radius of a mark.
const RADIUS: f64 = 5.0;

/// Values of several models for every group.
#[derive(Debug, Clone)]
pub struct Dumbbell {
    /// Title of the picture.
    pub title: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the bands behind the marks are, for the legend; nothing where there are none.
    pub band: Option<String>,
    /// The models.
    pub series: Vec<DumbbellSeries>,
    /// The groups, in the order to draw them.
    pub rows: Vec<DumbbellRow>,
    /// Precision of tooltips.
    pub percent: Percent,
    /// Width in user units; the height follows.
    pub width: f64,
}

/// One model of a dumbbell chart.
#[derive(Debug, Clone)]
pub struct DumbbellSeries {
    /// Name in the legend.
    pub name: String,
    /// Colour and shape.
    pub colour: usize,
}

/// One group of a dumbbell chart.
#[derive(Debug, Clone)]
pub struct DumbbellRow {
    /// Name of the group.
    pub name: String,
    /// One entry per series; `None` draws nothing.
    pub points: Vec<Option<DumbbellPoint>>,
    /// A band behind them: its ends and its middle.
    pub band: Option<(f64, f64, f64)>,
}

/// A value and perhaps its interval.
#[derive(Debug, Clone, Copy)]
pub struct DumbbellPoint {
    /// The value, a fraction.
    pub value: f64,
    /// Lower and upper end.
    pub interval: Option<(f64, f64)>,
}

impl Dumbbell {
    /// Draws the chart in a theme.
    pub fn draw(&self, theme: Theme) -> String {
        let names = self.rows.iter().map(|r| r.name.as_str());
        let layout = RowLayout::new(self.width, self.rows.len(), names);
        let entries = self.series.iter().map(|s| (Key::mark(s.colour), s.name.clone()));
        let band = self.band.iter().map(|name| (Key::Band, name.clone()));
        let legend = Legend::new(entries.chain(band), self.width - 24.0);
        let title = title_height(theme, &self.title);
        let top = title + legend.height + 8.0;
        let bottom = top + layout.row * self.rows.len() as f64 + 4.0;
        let label = wrapped(&self.x_label, 12.0, self.width - layout.left - 20.0);
        let height = bottom + 28.0 + 16.0 * label.len() as f64;
        let mut svg = Svg::new(theme, self.width, height, &self.title);
        draw_title(&mut svg, &self.title, self.width);
        legend.draw(
            &mut svg,
            if layout.names_above { 12.0 } else { layout.left }.min(self.width / 4.0),
            title,
        );

        let scale = Scale {
            domain: with_margin(self.domain(), 0.04),
            range: (layout.left, self.width - 16.0),
            log: false,
        };
        let ticks = if layout.names_above { 4 } else { 7 };
        x_axis(&mut svg, &scale, Unit::Percent(self.percent), ticks, (top, bottom));
        let middle = (layout.left + self.width - 16.0) / 2.0;
        for (i, line) in label.iter().enumerate() {
            let y = bottom + 36.0 + 16.0 * i as f64;
            svg.text(middle, y, TextStyle::new(Anchor::Middle, 12.0).soft(), line);
        }
        let zero = scale.at(0.0);
        svg.line((zero, top), (zero, bottom), Stroke::new(Paint::Soft, 1.0));

        for (i, row) in self.rows.iter().enumerate() {
            let y = top + i as f64 * layout.row;
            layout.name(&mut svg, y, self.width, &row.name);
            self.draw_row(&mut svg, &scale, row, y + layout.middle);
        }
        svg.finish()
    }

    fn draw_row(&self, svg: &mut Svg, scale: &Scale, row: &DumbbellRow, y: f64) {
        if let Some((low, high, mean)) = row.band {
            let (low, high, mean) = (scale.at(low), scale.at(high), scale.at(mean));
            svg.rect(low, y - 9.0, high - low, 18.0, Paint::Muted, BAND);
            svg.line((mean, y - 9.0), (mean, y + 9.0), Stroke::new(Paint::Soft, 1.5));
        }
        let points: Vec<(usize, DumbbellPoint)> = row
            .points
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.filter(|p| p.value.is_finite()).map(|p| (i, p)))
            .collect();
        let whiskers = points.iter().any(|(_, p)| p.interval.is_some());
        let mut xs: Vec<f64> = points.iter().map(|(_, p)| scale.at(p.value)).collect();
        xs.sort_by(f64::total_cmp);
        // With whiskers, or where one would hide another, the models stand one below the other.
        let apart = whiskers || xs.windows(2).any(|two| two[1] - two[0] < RADIUS);
        if let (false, [from, .., to]) = (apart, &xs[..]) {
            svg.line((*from, y), (*to, y), Stroke::new(Paint::Muted, 2.5));
        }
        let step = if apart && points.len() > 1 { 7.0 } else { 0.0 };
        let first = y - step * (points.len().saturating_sub(1)) as f64 / 2.0;
        for (k, (i, point)) in points.iter().enumerate() {
            let Some(series) = self.series.get(*i) else { continue };
            let y = first + step * k as f64;
            svg.tipped(&self.tip(&row.name, series, point), |svg| {
                let paint = Paint::Series(series.colour);
                if let Some((lo, hi)) = point.interval {
                    let (lo, hi) = (scale.at(lo), scale.at(hi));
                    svg.line((lo, y), (hi, y), Stroke::new(paint, 2.0));
                    for end in [lo, hi] {
                        svg.line((end, y - 3.0), (end, y + 3.0), Stroke::new(paint, 1.5));
                    }
                }
                svg.mark(series.colour, (scale.at(point.value), y), RADIUS, paint);
            });
        }
    }

    fn tip(&self, group: &str, series: &DumbbellSeries, point: &DumbbellPoint) -> String {
        let value = self.percent.show(point.value);
        let interval = point.interval.map_or_else(String::new, |(lo, hi)| {
            format!(" ({} to {})", self.percent.show(lo), self.percent.show(hi))
        });
        format!("{} · {}: {value}{interval}", isolate(group), isolate(&series.name))
    }

    fn domain(&self) -> (f64, f64) {
        let points = self.rows.iter().flat_map(|r| r.points.iter().flatten());
        let values = points.flat_map(|p| {
            let (lo, hi) = p.interval.unwrap_or((p.value, p.value));
            [p.value, lo, hi]
        });
        let bands = self.rows.iter().filter_map(|r| r.band);
        let values = values.chain(bands.flat_map(|(low, high, _)| [low, high]));
        // Zero is always in sight: a loss of zero is the point of comparison.
        spread(values.chain([0.0]))
    }
}
