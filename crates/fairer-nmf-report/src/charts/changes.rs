//! Who is better and who is worse off: bars to both sides of zero.

use super::{RowLayout, Theme, draw_title, title_height};
use crate::axis::{Key, Legend, Scale, Unit, spread, with_margin, x_axis};
use crate::escape::isolate;
use crate::numbers::Percent;
use crate::svg::{Anchor, Paint, Stroke, Svg, TextStyle};

/// Changes of error per group.
#[derive(Debug, Clone)]
pub struct Changes {
    /// Title of the picture.
    pub title: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// The groups, in the order to draw them.
    pub bars: Vec<ChangeBar>,
    /// Precision of tooltips.
    pub percent: Percent,
    /// Width in user units; the height follows.
    pub width: f64,
}

/// One group's change.
#[derive(Debug, Clone)]
pub struct ChangeBar {
    /// Name of the group.
    pub name: String,
    /// New minus old relative error; positive is worse off.
    pub change: f64,
}

/// Colour and shape of those worse and better off.
const WORSE: usize = 1;
const BETTER: usize = 0;

impl Changes {
    /// Draws the chart in a theme.
    pub fn draw(&self, theme: Theme) -> String {
        let names = self.bars.iter().map(|b| b.name.as_str());
        let layout = RowLayout::new(self.width, self.bars.len(), names);
        let entries = [(Key::mark(BETTER), "better off"), (Key::mark(WORSE), "worse off")]
            .map(|(key, text)| (key, text.to_owned()));
        let legend = Legend::new(entries, self.width - 24.0);
        let title = title_height(theme, &self.title);
        let top = title + legend.height + 8.0;
        let bottom = top + layout.row * self.bars.len() as f64 + 4.0;
        let mut svg = Svg::new(theme, self.width, bottom + 44.0, &self.title);
        draw_title(&mut svg, &self.title, self.width);
        legend.draw(
            &mut svg,
            if layout.names_above { 12.0 } else { layout.left }.min(self.width / 4.0),
            title,
        );

        let values = self.bars.iter().map(|b| b.change);
        let scale = Scale {
            domain: with_margin(spread(values.chain([0.0])), 0.06),
            range: (layout.left, self.width - 16.0),
            log: false,
        };
        let ticks = if layout.names_above { 4 } else { 7 };
        x_axis(&mut svg, &scale, Unit::Percent(self.percent), ticks, (top, bottom));
        let middle = (layout.left + self.width - 16.0) / 2.0;
        svg.text(middle, bottom + 36.0, TextStyle::new(Anchor::Middle, 12.0).soft(), &self.x_label);

        let zero = scale.at(0.0);
        // Under the names, which have a halo.
        svg.line((zero, top), (zero, bottom), Stroke::new(Paint::Soft, 1.0));
        for (i, bar) in self.bars.iter().enumerate() {
            let y = top + i as f64 * layout.row;
            layout.name(&mut svg, y, self.width, &bar.name);
            if !bar.change.is_finite() {
                continue;
            }
            let series = if bar.change > 0.0 { WORSE } else { BETTER };
            let paint = Paint::Series(series);
            let end = scale.at(bar.change);
            let middle = y + layout.middle;
            let points = self.percent.signed(bar.change);
            svg.tipped(&format!("{}: {points} points", isolate(&bar.name)), |svg| {
                svg.rect(zero.min(end), middle - 4.0, (end - zero).abs(), 8.0, paint, 0.85);
                svg.mark(series, (end, middle), 5.0, paint);
            });
        }
        svg.finish()
    }
}
