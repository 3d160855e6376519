//! Scales, ticks and legends shared by the charts.

use crate::escape::visible;
use crate::numbers::{self, Percent};
use crate::svg::{Anchor, BAND, Paint, Stroke, Svg, TextStyle, fitted, text_width};

/// Size of tick labels and legends in user units.
pub const SMALL: f64 = 12.0;

/// How the numbers of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// Fractions shown as percent; tooltips have this precision.
    Percent(Percent),
    /// Plain numbers; tooltips have this many decimals.
    Plain(usize),
}

impl Unit {
    /// A value in full, for tooltips.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Percent(percent) => percent.show(value),
            Unit::Plain(decimals) => numbers::plain(value, decimals),
        }
    }

    /// A tick label for ticks `step` apart.
    fn tick(self, value: f64, step: f64) -> String {
        let (value, step, sign) = match self {
            Unit::Percent(_) => (100.0 * value, 100.0 * step, "\u{a0}%"),
            Unit::Plain(_) => (value, step, ""),
        };
        // Decimals needed to tell neighbours apart; step is positive.
        let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        format!("{}{sign}", numbers::plain(value, decimals))
    }
}

/// Maps data to user units, straight or by logarithm.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Data range.
    pub domain: (f64, f64),
    /// Range in user units.
    pub range: (f64, f64),
    /// Logarithmic; the domain must then be positive.
    pub log: bool,
}

impl Scale {
    /// Position of a value.
    pub fn at(&self, value: f64) -> f64 {
        let along = |v: f64| if self.log { v.ln() } else { v };
        let (lo, hi) = (along(self.domain.0), along(self.domain.1));
        // The domain is widened by `spread`, so it is never empty.
        let share = (along(value) - lo) / (hi - lo);
        self.range.0 + share * (self.range.1 - self.range.0)
    }

    /// About `count` round values inside the domain, and their distance.
    pub fn ticks(&self, count: usize) -> (Vec<f64>, f64) {
        if self.log {
            return (decades(self.domain), 1.0);
        }
        round_ticks(self.domain, count)
    }
}

/// Range of finite values, widened so that it is not empty.
pub fn spread(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.into_iter().filter(|v| v.is_finite()) {
        lo = lo.min(v);
        hi = hi.max(v);
    }
    if lo > hi {
        return (0.0, 1.0);
    }
    if hi - lo < 1e-9 * (1.0 + hi.abs()) {
        let pad = 0.05 * hi.abs().max(0.02);
        return (lo - pad, hi + pad);
    }
    (lo, hi)
}

/// The range with a margin on both sides.
pub fn with_margin((lo, hi): (f64, f64), share: f64) -> (f64, f64) {
    let pad = share * (hi - lo);
    (lo - pad, hi + pad)
}

fn round_ticks((lo, hi): (f64, f64), count: usize) -> (Vec<f64>, f64) {
    let raw = (hi - lo) / count.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= raw * 0.7)
        .unwrap_or(raw);
    let first = (lo / step - 1e-9).ceil() as i64;
    let last = (hi / step + 1e-9).floor() as i64;
    ((first..=last).take(50).map(|i| i as f64 * step).collect(), step)
}

fn decades((lo, hi): (f64, f64)) -> Vec<f64> {
    let few = hi / lo < 100.0;
    let mut ticks = Vec::new();
    let mut power = 10f64.powf(lo.log10().floor());
    while power <= hi && ticks.len() < 40 {
        for m in [1.0, 2.0, 5.0] {
            let tick = m * power;
            if (m == 1.0 || few) && tick >= lo * 0.999 && tick <= hi * 1.001 {
                ticks.push(tick);
            }
        }
        power *= 10.0;
    }
    ticks
}

/// Vertical grid lines with labels under `bottom`.
pub fn x_axis(svg: &mut Svg, scale: &Scale, unit: Unit, count: usize, (top, bottom): (f64, f64)) {
    let (ticks, step) = scale.ticks(count);
    for tick in ticks {
        let x = scale.at(tick);
        svg.line((x, top), (x, bottom), Stroke::new(Paint::Grid, 1.0));
        let style = TextStyle::new(Anchor::Middle, SMALL).soft();
        svg.text(x, bottom + 16.0, style, &unit.tick(tick, step));
    }
}

/// Horizontal grid lines with labels left of `left`.
pub fn y_axis(svg: &mut Svg, scale: &Scale, unit: Unit, count: usize, (left, right): (f64, f64)) {
    let (ticks, step) = scale.ticks(count);
    for tick in ticks {
        let y = scale.at(tick);
        svg.line((left, y), (right, y), Stroke::new(Paint::Grid, 1.0));
        let style = TextStyle::new(Anchor::End, SMALL).soft();
        svg.text(left - 7.0, y + 4.0, style, &unit.tick(tick, step));
    }
}

/// Width the labels of a vertical axis need.
pub fn y_label_width(scale: &Scale, unit: Unit, count: usize) -> f64 {
    let (ticks, step) = scale.ticks(count);
    let widths = ticks.iter().map(|&t| text_width(&unit.tick(t, step), SMALL));
    widths.fold(0.0, f64::max) + 12.0
}

/// What stands before a name in a legend.
#[derive(Debug, Clone, Copy)]
pub enum Key {
    /// A mark of a series.
    Mark { series: usize },
    /// A line of a series with its dash and mark; muted lines have no mark.
    Line { series: usize, dash: usize, muted: bool },
    /// A band behind the marks.
    Band,
}

impl Key {
    /// A mark alone.
    pub fn mark(series: usize) -> Self {
        Key::Mark { series }
    }

    fn width(self) -> f64 {
        match self {
            Key::Mark { .. } => 10.0,
            Key::Line { .. } | Key::Band => 26.0,
        }
    }

    fn draw(self, svg: &mut Svg, x: f64, y: f64) {
        let middle = (x + self.width() / 2.0, y);
        match self {
            Key::Mark { series } => svg.mark(series, middle, 4.5, Paint::Series(series)),
            Key::Line { series, dash, muted } => {
                let paint = if muted { Paint::Muted } else { Paint::Series(series) };
                svg.line((x, y), (x + self.width(), y), Stroke::new(paint, 2.0).dash(dash));
                if !muted {
                    svg.mark(series, middle, 4.5, paint);
                }
            }
            Key::Band => {
                svg.rect(x, y - 6.0, self.width(), 12.0, Paint::Muted, BAND);
                let (top, bottom) = ((middle.0, y - 6.0), (middle.0, y + 6.0));
                svg.line(top, bottom, Stroke::new(Paint::Soft, 1.5));
            }
        }
    }
}

/// Legend entries placed in rows that fit a width.
#[derive(Debug)]
pub struct Legend {
    entries: Vec<(f64, f64, Key, String)>,
    /// Height of all rows.
    pub height: f64,
}

impl Legend {
    /// Places entries; none at all take no room.
    pub fn new(entries: impl IntoIterator<Item = (Key, String)>, width: f64) -> Self {
        const ROW: f64 = 20.0;
        let (mut x, mut row) = (0.0, 0);
        let mut placed = Vec::new();
        for (key, name) in entries {
            let name = fitted(visible(&name), SMALL, width - 34.0);
            let needs = key.width() + 6.0 + text_width(&name, SMALL);
            if x > 0.0 && x + needs > width {
                x = 0.0;
                row += 1;
            }
            placed.push((x, f64::from(row) * ROW, key, name));
            x += needs + 16.0;
        }
        let height = if placed.is_empty() { 0.0 } else { f64::from(row + 1) * ROW };
        Legend { entries: placed, height }
    }

    /// Draws the legend with its top left corner at a point.
    pub fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        for (x, y, key, name) in &self.entries {
            let (x, y) = (left + x, top + y + 10.0);
            key.draw(svg, x, y);
            let style = TextStyle::new(Anchor::Start, SMALL);
            svg.text(x + key.width() + 6.0, y + 4.0, style, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let (ticks, step) = round_ticks((-0.013, 0.121), 6);
        assert!((step - 0.05).abs() < 1e-12 || (step - 0.02).abs() < 1e-12, "{step}");
        assert!(ticks.iter().all(|t| (-0.0131..=0.1211).contains(t)));
        assert!(ticks.contains(&0.0));
    }

    #[test]
    fn an_empty_or_flat_range_is_widened() {
        assert_eq!(spread([]), (0.0, 1.0));
        let (lo, hi) = spread([0.3, 0.3, f64::NAN]);
        assert!(lo < 0.3 && hi > 0.3);
    }

    #[test]
    fn percent_ticks_have_the_decimals_they_need() {
        let unit = Unit::Percent(Percent { decimals: 1 });
        assert_eq!(unit.tick(0.05, 0.05), "5\u{a0}%");
        assert_eq!(unit.tick(0.005, 0.005), "0.5\u{a0}%");
    }
}
