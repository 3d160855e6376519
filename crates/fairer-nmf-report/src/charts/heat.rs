//! A table of shaded cells: how much each group uses each topic.

use super::{Theme, draw_title, title_height};
use crate::axis::SMALL;
use crate::escape::{isolate, visible};
use crate::numbers::share;
use crate::svg::{Anchor, Paint, Svg, TextStyle, fitted, text_width};

/// Shares by row and column.
#[derive(Debug, Clone)]
pub struct Heat {
    /// Title of the picture.
    pub title: String,
    /// Names of the rows (groups).
    pub rows: Vec<String>,
    /// Names of the columns (topics), short.
    pub columns: Vec<String>,
    /// One list per row, one share (0 to 1) per column.
    pub values: Vec<Vec<f64>>,
    /// Width in user units; the height follows.
    pub width: f64,
}

impl Heat {
    /// Draws the chart in a theme.
    pub fn draw(&self, theme: Theme) -> String {
        let widest = self.rows.iter().map(|r| text_width(r, SMALL)).fold(40.0, f64::max);
        let left = widest.min(0.3 * self.width) + 18.0;
        let row = if self.rows.len() > 24 { 20.0 } else { 30.0 };
        let cell = (self.width - left - 12.0) / self.columns.len().max(1) as f64;
        let title = title_height(theme, &self.title);
        let top = title + 24.0;
        let height = top + row * self.rows.len() as f64 + 10.0;
        let mut svg = Svg::new(theme, self.width, height, &self.title);
        draw_title(&mut svg, &self.title, self.width);
        // Numbers stand for names too long for their columns.
        let named = self.columns.iter().all(|c| text_width(c, SMALL) <= cell);
        let stride = (18.0 / cell).ceil().max(1.0) as usize;
        for (j, column) in self.columns.iter().enumerate().step_by(if named { 1 } else { stride }) {
            let x = left + (j as f64 + 0.5) * cell;
            let name = if named { column.clone() } else { (j + 1).to_string() };
            svg.text(x, top - 8.0, TextStyle::new(Anchor::Middle, SMALL).soft(), &name);
        }
        // Full heat goes to the largest share, so that weak use stays visible.
        let finite = self.values.iter().flatten().copied().filter(|v| v.is_finite());
        let hottest = finite.fold(1e-9, f64::max);
        for (i, name) in self.rows.iter().enumerate() {
            let y = top + i as f64 * row;
            let label = fitted(visible(name), SMALL, left - 14.0);
            svg.text(left - 10.0, y + row / 2.0 + 4.0, TextStyle::new(Anchor::End, SMALL), &label);
            for (j, column) in self.columns.iter().enumerate() {
                let value = self.values.get(i).and_then(|v| v.get(j)).copied().unwrap_or(f64::NAN);
                let tip = format!("{} · {}: {}", isolate(name), isolate(column), share(value));
                let x = left + j as f64 * cell;
                svg.tipped(&tip, |svg| {
                    let strength =
                        if value.is_finite() { (value / hottest).clamp(0.0, 1.0) } else { 0.0 };
                    svg.rect(
                        x + 1.0,
                        y + 1.0,
                        cell - 2.0,
                        row - 2.0,
                        Paint::Heat,
                        0.05 + 0.95 * strength,
                    );
                    if cell >= 38.0 && value.is_finite() {
                        let paint = if strength > 0.6 { Paint::OnHeat } else { Paint::Ink };
                        let style = TextStyle { paint, ..TextStyle::new(Anchor::Middle, 11.0) };
                        svg.text(
                            x + cell / 2.0,
                            y + row / 2.0 + 4.0,
                            style,
                            &format!("{:.0}", 100.0 * value),
                        );
                    }
                });
            }
        }
        svg.finish()
    }
}
