//! Lines with bands: means over ranks or iterations, with standard deviations.

use super::{Theme, draw_title, title_height};
use crate::axis::{
    Key, Legend, SMALL, Scale, Unit, spread, with_margin, x_axis, y_axis, y_label_width,
};
use crate::escape::isolate;
use crate::numbers::Percent;
use crate::svg::{Anchor, Paint, Stroke, Svg, TextStyle, fitted};

/// Several lines over a common axis.
#[derive(Debug, Clone)]
pub struct Lines {
    /// Title of the picture.
    pub title: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the vertical axis shows.
    pub y_label: String,
    /// How values on the vertical axis are written.
    pub y_unit: Unit,
    /// Vertical range in data units; found from the data if `None`.
    pub y_range: Option<(f64, f64)>,
    /// Logarithmic horizontal axis (x must be positive).
    pub log_x: bool,
    /// A dashed horizontal line and its name.
    pub reference: Option<(f64, String)>,
    /// The lines; later ones lie on top.
    pub series: Vec<Series>,
    /// Width in user units.
    pub width: f64,
    /// Height of the plot itself; title and legend come on top.
    pub height: f64,
}

impl Default for Lines {
    fn default() -> Self {
        Lines {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            y_unit: Unit::Percent(Percent { decimals: 1 }),
            y_range: None,
            log_x: false,
            reference: None,
            series: Vec::new(),
            width: 560.0,
            height: 260.0,
        }
    }
}

/// One line, `x`, `mean` and `sd` of equal length (`sd` may be empty).
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Name in the legend and in tooltips.
    pub name: String,
    /// Horizontal positions, rising.
    pub x: Vec<f64>,
    /// Values.
    pub mean: Vec<f64>,
    /// Half-widths of the band; empty for none.
    pub sd: Vec<f64>,
    /// Colour and shape of the marks, an index into [`super::COLOURS`].
    pub colour: usize,
    /// An index into [`super::DASHES`]; 0 is solid.
    pub dash: usize,
    /// Thin and grey, without marks, band or legend entry: context only.
    pub muted: bool,
}

impl Series {
    /// A solid line without a band.
    pub fn new(name: impl Into<String>, x: Vec<f64>, mean: Vec<f64>) -> Self {
        Series { name: name.into(), x, mean, ..Series::default() }
    }

    /// The same with a band of ± `sd`.
    pub fn with_band(self, sd: Vec<f64>) -> Self {
        Series { sd, ..self }
    }

    /// The same in another colour, shape and dash.
    pub fn styled(self, colour: usize, dash: usize) -> Self {
        Series { colour, dash, ..self }
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let sd = |i: usize| self.sd.get(i).copied().filter(|s| s.is_finite()).unwrap_or(0.0);
        self.x.iter().zip(&self.mean).enumerate().map(move |(i, (&x, &y))| (x, y, sd(i)))
    }
}

/// Marks are drawn on lines of at most this many points.
const MOST_MARKS: usize = 40;

impl Lines {
    /// Draws the chart in a theme.
    pub fn draw(&self, theme: Theme) -> String {
        self.draw_sized(theme).0
    }

    /// The drawing and its height.
    pub(super) fn draw_sized(&self, theme: Theme) -> (String, f64) {
        let shown = self.series.iter().filter(|s| !s.muted);
        let mut entries: Vec<(Key, String)> = shown
            .map(|s| (Key::Line { series: s.colour, dash: s.dash, muted: false }, s.name.clone()))
            .collect();
        let muted = self.series.iter().filter(|s| s.muted).count();
        if muted > 0 {
            let key = Key::Line { series: 0, dash: 0, muted: true };
            entries.push((key, format!("{muted} other{}", if muted == 1 { "" } else { "s" })));
        }
        let legend = Legend::new(entries, self.width - 24.0);
        let title = title_height(theme, &self.title);
        let top = title + legend.height + if self.y_label.is_empty() { 8.0 } else { 26.0 };
        let bottom = top + self.height;

        let mut y = Scale { domain: self.y_domain(), range: (bottom, top), log: false };
        if y.domain.0 >= y.domain.1 {
            y.domain = spread([y.domain.0]);
        }
        let left = y_label_width(&y, self.y_unit, 5) + 4.0;
        let x = Scale {
            domain: self.x_domain(),
            range: (left + 8.0, self.width - 18.0),
            log: self.log_x,
        };

        let mut svg = Svg::new(theme, self.width, bottom + 42.0, &self.title);
        draw_title(&mut svg, &self.title, self.width);
        legend.draw(&mut svg, 12.0, title);
        let label = fitted(&self.y_label, SMALL, self.width - 24.0);
        svg.text(12.0, top - 10.0, TextStyle::new(Anchor::Start, SMALL).soft(), &label);
        y_axis(&mut svg, &y, self.y_unit, 5, (left, self.width - 10.0));
        self.x_ticks(&mut svg, &x, bottom);
        let middle = (left + self.width - 10.0) / 2.0;
        svg.text(
            middle,
            bottom + 35.0,
            TextStyle::new(Anchor::Middle, SMALL).soft(),
            &self.x_label,
        );
        svg.clipped(left, top - 6.0, self.width - left, self.height + 12.0, |svg| {
            self.draw_reference(svg, &y, left);
            for series in self.series.iter().filter(|s| s.muted) {
                draw_line(svg, series, &x, &y);
            }
            for series in self.series.iter().filter(|s| !s.muted) {
                draw_band(svg, series, &x, &y);
            }
            for series in self.series.iter().filter(|s| !s.muted) {
                draw_line(svg, series, &x, &y);
            }
            for series in self.series.iter().filter(|s| !s.muted) {
                self.draw_marks(svg, series, &x, &y);
            }
            self.name_reference(svg, &y);
        });
        (svg.finish(), bottom + 42.0)
    }

    fn x_ticks(&self, svg: &mut Svg, x: &Scale, bottom: f64) {
        let most = if self.width < super::NARROW { 6 } else { 10 };
        // Between whole numbers (ranks, iterations) there are no ticks.
        let whole = self.series.iter().flat_map(|s| &s.x).all(|x| x.fract() == 0.0);
        let span = (x.domain.1 - x.domain.0).max(1.0) as usize;
        let most = if whole { most.min(span) } else { most };
        x_axis(svg, x, Unit::Plain(0), most, (bottom, bottom + 4.0));
    }

    fn draw_reference(&self, svg: &mut Svg, y: &Scale, left: f64) {
        let Some((value, _)) = &self.reference else {
            return;
        };
        let at = y.at(*value);
        svg.line((left, at), (self.width - 10.0, at), Stroke::new(Paint::Ink, 1.2).dash(1));
    }

    fn name_reference(&self, svg: &mut Svg, y: &Scale) {
        let Some((value, name)) = &self.reference else {
            return;
        };
        let style = TextStyle::new(Anchor::End, 11.0).halo();
        svg.text(self.width - 12.0, y.at(*value) - 5.0, style, name);
    }

    fn draw_marks(&self, svg: &mut Svg, series: &Series, x: &Scale, y: &Scale) {
        let points: Vec<_> =
            series.points().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
        let visible = points.len() <= MOST_MARKS;
        // A long line has no marks, but some places on it still show values.
        let stride = points.len().div_ceil(MOST_MARKS).max(1);
        for (px, py, sd) in points.iter().step_by(stride).copied() {
            let band =
                if sd > 0.0 { format!(" ± {}", self.y_unit.show(sd)) } else { String::new() };
            let value = self.y_unit.show(py);
            let tip = format!("{} · {} {px}: {value}{band}", isolate(&series.name), self.x_label);
            let at = (x.at(px), y.at(py));
            if visible {
                let paint = Paint::Series(series.colour);
                svg.tipped(&tip, |svg| svg.mark(series.colour, at, 3.8, paint));
            } else if svg.theme() == Theme::Page {
                svg.tipped(&tip, |svg| svg.rect(at.0 - 3.0, at.1 - 3.0, 6.0, 6.0, Paint::Ink, 0.0));
            }
        }
    }

    fn x_domain(&self) -> (f64, f64) {
        let floor = if self.log_x { f64::MIN_POSITIVE } else { f64::MIN };
        let all = self.series.iter().flat_map(|s| s.x.iter().copied());
        let (lo, hi) = spread(all.filter(|&v| v >= floor));
        if self.log_x && lo <= 0.0 { (hi / 10.0, hi) } else { (lo, hi) }
    }

    fn y_domain(&self) -> (f64, f64) {
        if let Some(range) = self.y_range {
            return range;
        }
        let points = self.series.iter().flat_map(Series::points);
        let values = points.flat_map(|(_, y, sd)| [y - sd, y + sd]);
        let reference = self.reference.iter().map(|(value, _)| *value);
        with_margin(spread(values.chain(reference)), 0.05)
    }
}

fn draw_band(svg: &mut Svg, series: &Series, x: &Scale, y: &Scale) {
    if series.sd.is_empty() {
        return;
    }
    let edge =
        |sign: f64| series.points().map(move |(px, py, sd)| (x.at(px), y.at(py + sign * sd)));
    let mut outline: Vec<_> = edge(1.0).collect();
    let mut below: Vec<_> = edge(-1.0).collect();
    below.reverse();
    outline.extend(below);
    svg.polygon(&outline, Paint::Series(series.colour), 0.16);
}

fn draw_line(svg: &mut Svg, series: &Series, x: &Scale, y: &Scale) {
    let points: Vec<_> = series.points().map(|(px, py, _)| (x.at(px), y.at(py))).collect();
    let stroke = if series.muted {
        Stroke { opacity: 0.7, ..Stroke::new(Paint::Muted, 1.0) }
    } else {
        Stroke::new(Paint::Series(series.colour), 2.0).dash(series.dash)
    };
    svg.path(&points, stroke);
}
