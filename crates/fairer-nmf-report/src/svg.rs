//! A small SVG writer: shapes, text, marks, and the two ways to colour them.

pub use crate::letters::{fitted, text_width, wrapped};
use std::fmt::Write as _;

use crate::escape::{escape, isolate};

/// Where the drawing will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// A file of its own: fixed colours on white, visible title.
    Paper,
    /// Part of the page: colours are CSS variables, the caption is HTML.
    Page,
}

/// What a colour means; the theme decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text.
    Ink,
    /// Secondary text, axes.
    Soft,
    /// Grid lines.
    Grid,
    /// Background.
    Ground,
    /// Lines that only give context.
    Muted,
    /// Series by index, cycling through [`COLOURS`].
    Series(usize),
    /// Full heat of a heat table.
    Heat,
    /// Text on full heat.
    OnHeat,
}

/// How dark a band of chance is.
pub const BAND: f64 = 0.45;

/// Okabe–Ito colours and others that keep a contrast of 3:1 on white and stay apart for
/// colour-blind readers, in order of use.
pub const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#b5578b", "#6a35c9", "#2b2b2b", "#8a8a3c"];
const COLOUR_VARIABLES: [&str; 7] =
    ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"];

/// Dash patterns by index; the first is a solid line.
pub const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "12 4"];

/// Horizontal alignment of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Text begins at x.
    Start,
    /// Text is centred on x.
    Middle,
    /// Text ends at x.
    End,
}

/// How a text is set.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// Alignment.
    pub anchor: Anchor,
    /// Size in user units.
    pub size: f64,
    /// Colour.
    pub paint: Paint,
    /// Semi-bold.
    pub bold: bool,
    /// Edged with the background, to stay legible over lines.
    pub halo: bool,
}

impl TextStyle {
    /// Regular ink text of a size.
    pub fn new(anchor: Anchor, size: f64) -> Self {
        TextStyle { anchor, size, paint: Paint::Ink, bold: false, halo: false }
    }

    /// The same in the secondary colour.
    pub fn soft(self) -> Self {
        TextStyle { paint: Paint::Soft, ..self }
    }

    /// The same with a halo.
    pub fn halo(self) -> Self {
        TextStyle { halo: true, ..self }
    }

    /// The same in semi-bold.
    pub fn bold(self) -> Self {
        TextStyle { bold: true, ..self }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Stroke {
    /// Colour.
    pub paint: Paint,
    /// Width in user units.
    pub width: f64,
    /// Index into [`DASHES`].
    pub dash: usize,
    /// 0 to 1.
    pub opacity: f64,
}

impl Stroke {
    /// A solid line.
    pub fn new(paint: Paint, width: f64) -> Self {
        Stroke { paint, width, dash: 0, opacity: 1.0 }
    }

    /// The same, dashed.
    pub fn dash(self, dash: usize) -> Self {
        Stroke { dash, ..self }
    }
}

/// A drawing under construction.
#[derive(Debug)]
pub struct Svg {
    out: String,
    theme: Theme,
}

impl Svg {
    /// Opens a drawing; `label` is read by screen readers.
    pub fn new(theme: Theme, width: f64, height: f64, label: &str) -> Self {
        let label = escape(label);
        let (w, h) = (num(width), num(height));
        let mut out = String::with_capacity(8 << 10);
        out.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" ");
        let font = match theme {
            Theme::Paper => "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" ",
            Theme::Page => "",
        };
        let _ = write!(
            out,
            "{font}viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" aria-label=\"{label}\">"
        );
        let mut svg = Svg { out, theme };
        if theme == Theme::Paper {
            let _ = write!(svg.out, "<title>{label}</title>");
            svg.rect(0.0, 0.0, width, height, Paint::Ground, 1.0);
        }
        svg
    }

    /// The theme of this drawing.
    pub fn theme(&self) -> Theme {
        self.theme
    }

    fn colour(&self, paint: Paint) -> &'static str {
        let page = self.theme == Theme::Page;
        let pick = |variable, fixed| if page { variable } else { fixed };
        match paint {
            Paint::Ink => pick("var(--ink)", "#1a1a1a"),
            Paint::Soft => pick("var(--soft)", "#555555"),
            Paint::Grid => pick("var(--line)", "#dddddd"),
            Paint::Ground => pick("var(--ground)", "#ffffff"),
            Paint::Muted => pick("var(--muted)", "#b5b5b5"),
            Paint::Heat => pick("var(--heat)", "#004c7a"),
            Paint::OnHeat => pick("var(--on-heat)", "#ffffff"),
            Paint::Series(i) => pick(COLOUR_VARIABLES[i % 7], COLOURS[i % 7]),
        }
    }

    /// A filled rectangle.
    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, paint: Paint, opacity: f64) {
        let fill = self.colour(paint);
        let opacity = opacity_attribute("fill-opacity", opacity);
        let (x, y, w, h) = (num(x), num(y), num(w), num(h));
        let _ = write!(
            self.out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"{opacity}/>"
        );
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// An open line through points; breaks at points that are not finite.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let d = path_data(points);
        if d.is_empty() {
            return;
        }
        let colour = self.colour(stroke.paint);
        let dash = match DASHES[stroke.dash % DASHES.len()] {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let opacity = opacity_attribute("stroke-opacity", stroke.opacity);
        let width = num(stroke.width);
        let _ = write!(
            self.out,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}{opacity}/>"
        );
    }

    /// A filled polygon; points that are not finite are left out.
    pub fn polygon(&mut self, points: &[(f64, f64)], paint: Paint, opacity: f64) {
        let finite: Vec<_> = points.iter().copied().filter(is_finite).collect();
        if finite.len() < 3 {
            return;
        }
        let d = path_data(&finite);
        let fill = self.colour(paint);
        let opacity = opacity_attribute("fill-opacity", opacity);
        let _ = write!(self.out, "<path d=\"{d}Z\" fill=\"{fill}\"{opacity}/>");
    }

    /// Text, escaped and kept from turning its surroundings.
    pub fn text(&mut self, x: f64, y: f64, style: TextStyle, content: &str) {
        if content.is_empty() {
            return;
        }
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if style.bold { " font-weight=\"600\"" } else { "" };
        let halo = if style.halo {
            let edge = self.colour(Paint::Ground);
            format!(
                " stroke=\"{edge}\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            )
        } else {
            String::new()
        };
        let (x, y, size) = (num(x), num(y), num(style.size));
        let fill = self.colour(style.paint);
        let content = escape(&isolate(content));
        let _ = write!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{weight}{halo}>{content}</text>"
        );
    }

    /// A data mark whose shape, like its colour, goes with the series.
    pub fn mark(&mut self, series: usize, (x, y): (f64, f64), radius: f64, paint: Paint) {
        if !is_finite(&(x, y)) {
            return;
        }
        let fill = self.colour(paint);
        let edge = self.colour(Paint::Ground);
        let r = radius;
        let d = match series % 4 {
            0 => format!(
                "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0Z",
                num(x - r),
                num(y),
                num(2.0 * r),
                num(-2.0 * r)
            ),
            1 => polygon_data(&[(x - r, y), (x, y - r), (x + r, y), (x, y + r)], 1.15, (x, y)),
            2 => polygon_data(
                &[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
                0.85,
                (x, y),
            ),
            _ => polygon_data(
                &[(x, y - r), (x + r, y + 0.8 * r), (x - r, y + 0.8 * r)],
                1.15,
                (x, y),
            ),
        };
        let _ = write!(
            self.out,
            "<path d=\"{d}\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1\"/>"
        );
    }

    /// Draws something that shows `tip` when pointed at (a native title in files).
    pub fn tipped(&mut self, tip: &str, draw: impl FnOnce(&mut Self)) {
        let tip = escape(tip);
        let _ = match self.theme {
            Theme::Page => write!(self.out, "<g class=\"mark\" data-tip=\"{tip}\">"),
            Theme::Paper => write!(self.out, "<g><title>{tip}</title>"),
        };
        draw(self);
        self.out.push_str("</g>");
    }

    /// Draws inside a rectangle and cuts off what lies outside. Coordinates
    /// stay those of the whole drawing.
    pub fn clipped(&mut self, x: f64, y: f64, w: f64, h: f64, draw: impl FnOnce(&mut Self)) {
        let (x, y, w, h) = (num(x), num(y), num(w), num(h));
        let _ = write!(
            self.out,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">"
        );
        draw(self);
        self.out.push_str("</svg>");
    }

    /// Puts a finished drawing into this one, its top left corner at a point.
    pub fn nested(&mut self, x: f64, y: f64, drawing: &str) {
        let rest = drawing.strip_prefix("<svg ").unwrap_or_default();
        if !rest.is_empty() {
            let _ = write!(self.out, "<svg x=\"{}\" y=\"{}\" {rest}", num(x), num(y));
        }
    }

    /// Closes the drawing.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

/// A coordinate with at most two decimals.
fn num(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn opacity_attribute(name: &str, opacity: f64) -> String {
    if opacity >= 1.0 { String::new() } else { format!(" {name}=\"{}\"", num(opacity.max(0.0))) }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

fn path_data(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut pen_down = false;
    for point in points {
        if is_finite(point) {
            let _ =
                write!(d, "{}{} {}", if pen_down { 'L' } else { 'M' }, num(point.0), num(point.1));
        }
        pen_down = is_finite(point);
    }
    d
}

fn polygon_data(points: &[(f64, f64)], grow: f64, centre: (f64, f64)) -> String {
    let scaled: Vec<_> = points
        .iter()
        .map(|p| (centre.0 + grow * (p.0 - centre.0), centre.1 + grow * (p.1 - centre.1)))
        .collect();
    path_data(&scaled) + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_to_fit() {
        let cut = fitted("a very long group name indeed", 12.0, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0) <= 80.0);
        assert_eq!(fitted("short", 12.0, 80.0), "short");
    }

    #[test]
    fn lines_break_at_missing_points() {
        assert_eq!(path_data(&[(0.0, 1.0), (f64::NAN, 1.0), (2.0, 1.5)]), "M0 1M2 1.5");
    }
}
