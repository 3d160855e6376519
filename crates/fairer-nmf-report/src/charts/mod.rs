//! The charts, one module per kind. Each is a plain struct that describes the
//! picture and a function that gives it as a standalone SVG for papers:
//!
//! ```
//! use fairer_nmf_report::charts::{Lines, Series, lines};
//! let svg = lines(&Lines {
//!     title: "Loss by rank".into(),
//!     x_label: "rank".into(),
//!     series: vec![Series::new("women", vec![1.0, 2.0, 3.0], vec![0.1, 0.06, 0.05])
//!         .with_band(vec![0.01, 0.01, 0.005])],
//!     ..Lines::default()
//! });
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! `.draw(Theme::Page)` gives the same picture with CSS variables, for a page
//! that defines them. Widths below [`NARROW`] lay out for a phone.

mod changes;
mod dumbbell;
mod heat;
mod lines;
mod panels;
mod tradeoff;

pub use crate::axis::Unit;
pub use crate::numbers::Percent;
pub use crate::svg::{COLOURS, DASHES, Theme};
pub use changes::{ChangeBar, Changes};
pub use dumbbell::{Dumbbell, DumbbellPoint, DumbbellRow, DumbbellSeries};
pub use heat::Heat;
pub use lines::{Lines, Series};
pub use panels::panels;
pub use tradeoff::{TradeOff, TradeOffMark};

/// Charts narrower than this put names above their rows.
pub const NARROW: f64 = 480.0;

/// Losses per group as dots joined by a line, as a standalone SVG.
pub fn dumbbell(chart: &Dumbbell) -> String {
    chart.draw(Theme::Paper)
}

/// Lines with bands, as a standalone SVG.
pub fn lines(chart: &Lines) -> String {
    chart.draw(Theme::Paper)
}

/// The trade-off curve, as a standalone SVG.
pub fn tradeoff(chart: &TradeOff) -> String {
    chart.draw(Theme::Paper)
}

/// Bars to both sides of zero, as a standalone SVG.
pub fn changes(chart: &Changes) -> String {
    chart.draw(Theme::Paper)
}

/// A table of shaded cells, as a standalone SVG.
pub fn heat(chart: &Heat) -> String {
    chart.draw(Theme::Paper)
}

use crate::escape::visible;
use crate::svg::{Anchor, Paint, Svg, TextStyle, fitted, text_width};

/// Room for the title, which only files have.
fn title_height(theme: Theme, title: &str) -> f64 {
    match theme {
        Theme::Paper if !title.is_empty() => 30.0,
        _ => 0.0,
    }
}

fn draw_title(svg: &mut Svg, title: &str, width: f64) {
    if title_height(svg.theme(), title) > 0.0 {
        let title = fitted(title, 15.0, width - 24.0);
        svg.text(12.0, 22.0, TextStyle::new(Anchor::Start, 15.0).bold(), &title);
    }
}

/// Where the names of rows stand: in a column on the left, or above their rows.
struct RowLayout {
    /// Left end of the plot.
    left: f64,
    /// Height of a row.
    row: f64,
    /// Middle of the plot within the row.
    middle: f64,
    names_above: bool,
    size: f64,
}

impl RowLayout {
    fn new<'a>(width: f64, rows: usize, names: impl Iterator<Item = &'a str>) -> Self {
        let names_above = width < NARROW;
        let size = if rows > 24 && !names_above { 12.0 } else { 13.0 };
        if names_above {
            return RowLayout { left: 12.0, row: 42.0, middle: 27.0, names_above, size };
        }
        let widest = names.map(|n| text_width(n, size)).fold(40.0, f64::max);
        let left = widest.min(0.34 * width) + 18.0;
        let row = if rows > 24 { 21.0 } else { 30.0 };
        RowLayout { left, row, middle: row / 2.0, names_above, size }
    }

    fn name(&self, svg: &mut Svg, top: f64, width: f64, name: &str) {
        let name = visible(name);
        if self.names_above {
            let name = fitted(name, self.size, width - 24.0);
            // No line of the grid runs through a name.
            let room = text_width(&name, self.size) + 4.0;
            svg.rect(10.0, top + 2.0, room, self.size + 4.0, Paint::Ground, 1.0);
            let style = TextStyle::new(Anchor::Start, self.size).halo();
            svg.text(12.0, top + 14.0, style, &name);
        } else {
            let name = fitted(name, self.size, self.left - 16.0);
            let style = TextStyle::new(Anchor::End, self.size);
            svg.text(self.left - 12.0, top + self.middle + 4.5, style, &name);
        }
    }
}
