//! Several line charts in one picture, like the figures of the paper.

use super::{Lines, Theme};
use crate::svg::{Anchor, Svg, TextStyle, fitted};

/// Line charts in a grid of `columns`, row by row, as a standalone SVG. The
/// first chart sets the width of the columns; give all the same.
pub fn panels(title: &str, charts: &[Lines], columns: usize) -> String {
    const HEADING: f64 = 36.0;
    let columns = columns.clamp(1, charts.len().max(1));
    let cell = charts.first().map_or(0.0, |c| c.width);
    let drawn: Vec<(String, f64)> = charts.iter().map(|c| c.draw_sized(Theme::Paper)).collect();
    let rows: Vec<_> = drawn.chunks(columns).collect();
    let height_of = |row: &[(String, f64)]| row.iter().map(|(_, h)| *h).fold(0.0, f64::max);
    let top = if title.is_empty() { 0.0 } else { HEADING };
    let height = top + rows.iter().map(|row| height_of(row)).sum::<f64>();
    let width = cell * columns as f64;
    let mut svg = Svg::new(Theme::Paper, width, height, title);
    let heading = fitted(title, 17.0, width - 24.0);
    svg.text(12.0, 25.0, TextStyle::new(Anchor::Start, 17.0).bold(), &heading);
    let mut y = top;
    for row in rows {
        for (i, (drawing, _)) in row.iter().enumerate() {
            svg.nested(i as f64 * cell, y, drawing);
        }
        y += height_of(row);
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::Series;

    #[test]
    fn panels_are_one_valid_drawing() {
        let chart = Lines {
            title: "a < b".into(),
            series: vec![Series::new("s", vec![0.0, 0.5], vec![1.0, 2.0])],
            ..Lines::default()
        };
        let svg = panels("three", &[chart.clone(), chart.clone(), chart], 2);
        let document = roxmltree::Document::parse(&svg).expect("valid XML");
        let root = document.root_element();
        assert_eq!(root.attribute("width"), Some("1120"));
        assert_eq!(
            root.children()
                .filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", "svg")))
                .count(),
            3
        );
        roxmltree::Document::parse(&panels("", &[], 2)).expect("valid XML");
    }
}
