//! Total error against worst loss, along the path from standard to min-max.

use super::{Theme, draw_title, title_height};
use crate::axis::{SMALL, Scale, Unit, spread, with_margin, x_axis, y_axis, y_label_width};
use crate::numbers::{Percent, plain};
use crate::svg::{Anchor, Paint, Stroke, Svg, TextStyle, fitted, text_width};

/// A trade-off curve.
#[derive(Debug, Clone)]
pub struct TradeOff {
    /// Title of the picture.
    pub title: String,
    /// What is on the upright axis.
    pub y_label: String,
    /// Points in order of alpha.
    pub points: Vec<TradeOffMark>,
    /// Names of the first and the last point.
    pub ends: (String, String),
    /// Precision of tooltips.
    pub percent: Percent,
    /// Width in user units.
    pub width: f64,
}

/// One fit on the curve.
#[derive(Debug, Clone, Copy)]
pub struct TradeOffMark {
    /// Weight of the worst loss, 0 to 1.
    pub alpha: f64,
    /// Relative error over all groups.
    pub total_error: f64,
    /// What was made small, of the group where it is largest.
    pub worst: f64,
}

impl TradeOff {
    /// Draws the chart in a theme.
    pub fn draw(&self, theme: Theme) -> String {
        let title = title_height(theme, &self.title);
        let top = title + 30.0;
        let bottom = top + (0.5 * self.width).clamp(200.0, 300.0);
        let unit = Unit::Percent(self.percent);
        let worst = self.points.iter().map(|p| p.worst);
        let y =
            Scale { domain: with_margin(spread(worst), 0.12), range: (bottom, top), log: false };
        let left = y_label_width(&y, unit, 5) + 4.0;
        let total = self.points.iter().map(|p| p.total_error);
        let x = Scale {
            domain: with_margin(spread(total), 0.08),
            range: (left, self.width - 16.0),
            log: false,
        };
        let mut svg = Svg::new(theme, self.width, bottom + 42.0, &self.title);
        draw_title(&mut svg, &self.title, self.width);
        let soft = TextStyle::new(Anchor::Start, SMALL).soft();
        svg.text(12.0, top - 12.0, soft, &self.y_label);
        y_axis(&mut svg, &y, unit, 5, (left, self.width - 10.0));
        let ticks = if self.width < super::NARROW { 4 } else { 7 };
        x_axis(&mut svg, &x, unit, ticks, (top, bottom));
        let middle = (left + self.width) / 2.0;
        svg.text(
            middle,
            bottom + 36.0,
            TextStyle { anchor: Anchor::Middle, ..soft },
            "total error, all groups together",
        );

        let at = |p: &TradeOffMark| (x.at(p.total_error), y.at(p.worst));
        let path: Vec<_> = self.points.iter().map(at).collect();
        svg.path(&path, Stroke::new(Paint::Series(0), 2.0));
        for (i, point) in self.points.iter().enumerate() {
            let colour = if i == 0 { 1 } else { 0 };
            let (total, worst) =
                (self.percent.show(point.total_error), self.percent.show(point.worst));
            let tip = format!(
                "α = {}: total error {total}, {} {worst}",
                plain(point.alpha, 2),
                self.y_label
            );
            let end = i == 0 || i + 1 == self.points.len();
            svg.tipped(&tip, |svg| {
                svg.mark(colour, at(point), if end { 6.0 } else { 4.0 }, Paint::Series(colour));
            });
        }
        if let [first, .., last] = self.points.as_slice() {
            // The curve falls: above its start and below its end there is room.
            self.name_end(&mut svg, at(first), -9.0, &self.ends.0);
            self.name_end(&mut svg, at(last), 20.0, &self.ends.1);
        }
        svg.finish()
    }

    /// Writes a name `dy` below a point, to the side where there is room.
    fn name_end(&self, svg: &mut Svg, (x, y): (f64, f64), dy: f64, name: &str) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        let name = fitted(name, SMALL, 0.6 * self.width);
        let right = x + text_width(&name, SMALL) < self.width - 12.0;
        let (anchor, dx) = if right { (Anchor::Start, 8.0) } else { (Anchor::End, 8.0) };
        svg.text(x + dx, y + dy, TextStyle::new(anchor, SMALL).bold().halo(), &name);
    }
}
