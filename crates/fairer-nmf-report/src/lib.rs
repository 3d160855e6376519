//! Renders an audit of a factorisation, given as plain numbers, into one
//! self-contained HTML page, into chart files (SVG, PNG) and into JSON.
//!
//! The crate computes no statistics: [`Report`] is filled by the program and by
//! the Python bindings, by way of [`library`], and drawn here. Its sentences are written from the
//! numbers. Groups below [`Report::min_group_size`] appear in no output.
//!
//! ```
//! use fairer_nmf_report::{Report, render_html};
//! let report = Report { title: "Audit".into(), ..Report::default() };
//! assert!(render_html(&report).contains("What this does not say"));
//! ```

mod axis;
pub mod charts;
pub mod content;
mod escape;
mod hide;
mod html;
mod letters;
pub mod library;
mod numbers;
mod pictures;
#[cfg(feature = "png")]
pub mod png;
mod ranks;
mod svg;

pub use content::*;
pub use hide::Hidden;
pub use numbers::mean_and_sd;

/// The report as one HTML page that needs no network.
pub fn render_html(report: &Report) -> String {
    html::page(&report.published())
}

/// The report as indented JSON; numbers that are not finite become `null`.
pub fn render_json(report: &Report) -> String {
    // Serialising fails only for maps with odd keys or failing writers; we have neither.
    serde_json::to_string_pretty(&*report.published()).unwrap_or_default()
}

/// What this build makes of a chart, in words.
pub const CHART_FORMATS: &str = match cfg!(feature = "png") {
    true => "SVG and PNG",
    false => "SVG; a build with `--features png` writes PNG too",
};

/// The files of a chart (SVG), each as its ending and its content: SVG, and PNG where this build has
/// the feature `png`, sharp in print: a chart of 720 units is 2,160 pixels wide.
///
/// # Errors
/// Why it cannot be drawn.
pub fn chart_files(svg: &str) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    Ok(vec![
        ("svg", svg.as_bytes().to_vec()),
        #[cfg(feature = "png")]
        ("png", png::render(svg, 3.0).map_err(|e| e.to_string())?),
    ])
}

/// All charts of the report as standalone SVG, each with a stem for its file name.
pub fn charts(report: &Report) -> Vec<(String, String)> {
    pictures::files(&report.published())
}
