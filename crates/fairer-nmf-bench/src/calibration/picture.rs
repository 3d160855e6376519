//! The study's pictures: one line chart, as small as can be.

use std::fmt::Write;

/// A line with its name; x on a scale of logarithms where `log` is set.
pub struct Line<'a> {
    /// Name, drawn at its end.
    pub name: &'a str,
    /// Points (x, share of one).
    pub points: Vec<(f64, f64)>,
    /// Whether it is dashed.
    pub dashed: bool,
}

/// A chart of shares (0 to 100 %) over x; `level` is marked by a thin line.
#[must_use]
pub fn chart(title: &str, x_label: &str, lines: &[Line<'_>], level: f64, log: bool) -> String {
    const COLOURS: [&str; 4] = ["#3b6ea5", "#c05a2b", "#4f8a4c", "#7a5195"];
    let (left, top, width, height) = (60.0, 50.0, 440.0, 240.0);
    let at = |x: f64| if log { x.ln() } else { x };
    let xs = || lines.iter().flat_map(|l| l.points.iter().map(|p| at(p.0)));
    let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let px = |x: f64| left + width * (at(x) - low) / (high - low).max(f64::MIN_POSITIVE);
    let py = |y: f64| top + height * (1.0 - y);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 350\" font-family=\"sans-serif\" font-size=\"13\"><rect width=\"700\" height=\"350\" fill=\"white\"/><text x=\"20\" y=\"26\" font-size=\"15\">{title}</text>"
    );
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = py(tick);
        let _ = write!(
            out,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.0} %</text>",
            left + width,
            left - 8.0,
            y + 4.0,
            100.0 * tick
        );
    }
    let y = py(level);
    let _ = write!(
        out,
        "<line x1=\"{left}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#555\" stroke-dasharray=\"2 3\"/>",
        left + width
    );
    let longest = lines.iter().max_by_key(|l| l.points.len());
    for (x, _) in longest.map_or(&[][..], |l| &l.points) {
        let label = if log { format!("{x:.0}") } else { format!("{x:.1}") };
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            px(*x),
            top + height + 18.0
        );
    }
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{x_label}</text>",
        left + width / 2.0,
        top + height + 42.0
    );
    for (k, line) in lines.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let points: Vec<String> =
            line.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", px(x), py(y))).collect();
        let dash = if line.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = write!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
            points.join(" ")
        );
        if let Some(&(x, y)) = line.points.last() {
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                px(x) + 8.0,
                py(y) + 4.0 + 14.0 * k as f64 * f64::from(y > 0.85),
                line.name
            );
        }
    }
    out + "</svg>\n"
}
