//! The page: shell, policy, and the sections in order.

mod beside_chance;
mod compared;
mod cost;
mod group_table;
mod is_it_real;
mod limits;
mod parts;
mod quality;
mod ranks;
mod summary;
mod topics;
mod who_pays;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use self::parts::capital;
use crate::content::{DataSummary, Report};
use crate::escape::{escape, json_in_html, name, visible};
use crate::numbers::{Percent, counted, share};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");

/// One section of the page, or none.
struct Section {
    id: &'static str,
    title: &'static str,
    body: String,
}

/// The whole page. Hidden groups are already gone from the report.
pub fn page(report: &Report) -> String {
    let percent = Percent::for_report(report);
    let sections: Vec<Section> = [
        compared::section(report, percent),
        who_pays::section(report, percent),
        is_it_real::section(report, percent),
        cost::section(report, percent),
        topics::section(report),
        ranks::section(report, percent),
        limits::section(report),
        quality::section(report, percent),
        cost::trade_off(report, percent),
    ]
    .into_iter()
    .flatten()
    .collect();

    let mut out = String::with_capacity(256 << 10);
    head(&mut out, visible(&report.title));
    header(&mut out, report);
    let _ = write!(
        out,
        "<main id=\"content\"><section id=\"summary\" aria-labelledby=\"summary-title\">\
         <h2 id=\"summary-title\" class=\"unseen\">In short</h2>{}</section>",
        summary::body(report, percent)
    );
    warnings(&mut out, report);
    contents(&mut out, &sections);
    for (i, section) in sections.iter().enumerate() {
        let (id, title, number) = (section.id, section.title, i + 1);
        let _ = write!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\
             <h2 id=\"{id}-title\"><span class=\"number\">{number}</span> {title}</h2>{}</section>",
            section.body
        );
    }
    out.push_str("</main>");
    footer(&mut out, report);
    // Serialising plain structs does not fail.
    let json = serde_json::to_string(report).unwrap_or_default();
    let _ = write!(
        out,
        "<div id=\"tip\" role=\"status\" aria-live=\"polite\" hidden=\"\"></div>\
         <script type=\"application/json\" id=\"report-data\">{}</script>\
         <script>{SCRIPT}</script></body></html>",
        json_in_html(&json)
    );
    out.push('\n');
    out
}

fn head(out: &mut String, title: &str) {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/>\
         <meta name=\"referrer\" content=\"no-referrer\"/>\
         <title>{}</title><link rel=\"icon\" href=\"data:,\"/><style>{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#content\">Skip to the report</a>",
        escape(title)
    );
}

fn header(out: &mut String, report: &Report) {
    let _ = write!(out, "<header><div class=\"topline\"><h1>{}</h1>", name(&report.title));
    out.push_str("<button type=\"button\" id=\"theme\" aria-pressed=\"false\" hidden=\"\">Dark</button></div>");
    for (class, text) in [("subtitle", &report.subtitle), ("generated", &report.generated)] {
        if !text.is_empty() {
            let _ = write!(out, "<p class=\"{class}\">{}</p>", name(text));
        }
    }
    let _ = write!(out, "<p class=\"data\">{}</p></header>", data_line(report));
}

/// What follows the first screen, for those who want to know.
fn contents(out: &mut String, sections: &[Section]) {
    out.push_str("<nav aria-label=\"Appendix\"><p class=\"appendix\">Appendix</p><ol>");
    for section in sections {
        let _ = write!(out, "<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
    }
    out.push_str("</ol></nav>");
}

fn data_line(report: &Report) -> String {
    let data = &report.data;
    let parts = [
        counted(data.rows, "sample"),
        counted(data.features, "feature"),
        counted(data.groups, "group"),
    ];
    parts.join(" · ")
}

/// How the data were prepared, for the end of the page.
fn preparation(data: &DataSummary) -> Vec<(String, String)> {
    let density = data.density.map(|d| ("entries not zero".to_owned(), share(d)));
    let scaled = if data.normalized { "to unit length" } else { "no" };
    density.into_iter().chain([("features scaled".to_owned(), scaled.to_owned())]).collect()
}

fn warnings(out: &mut String, report: &Report) {
    let mut lines: Vec<String> =
        report.warnings.iter().map(|w| name(&capital(&w.sentence))).collect();
    if report.hidden_groups > 0 {
        let (verb, those) = if report.hidden_groups == 1 { ("is", "it") } else { ("are", "them") };
        lines.push(format!(
            "{} with fewer than {} {verb} hidden. So that nothing about {those} can be worked \
             out by subtraction, totals over all groups are left out too; counts in this report are of the groups shown.",
            counted(report.hidden_groups, "group"),
            counted(report.min_group_size, "row"),
        ));
    }
    if lines.is_empty() {
        return;
    }
    out.push_str("<aside class=\"warnings\" aria-label=\"Before you read on\"><ul>");
    for line in lines {
        let _ = write!(out, "<li>{line}</li>");
    }
    out.push_str("</ul></aside>");
}

fn footer(out: &mut String, report: &Report) {
    out.push_str("<footer>");
    if !report.settings.is_empty() {
        out.push_str("<details><summary>Settings of this run</summary><dl class=\"settings\">");
        let settings = report.settings.iter().map(|s| (s.name.clone(), s.value.clone()));
        for (key, value) in settings.chain(preparation(&report.data)) {
            let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", name(&key), name(&value));
        }
        out.push_str("</dl></details>");
    }
    if let Some(command) = &report.command {
        let _ = write!(out, "<p>Made by</p><pre><code>{}</code></pre>", escape(command));
    }
    out.push_str("<p><button type=\"button\" id=\"save\" hidden=\"\">Save the numbers as JSON</button></p></footer>");
}

/// `sha256-…` of an inline block, as a Content-Security-Policy wants it.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Remark;

    #[test]
    fn warnings_begin_as_sentences_do() {
        let warnings = vec![Remark::new("not-converged", "not converged within the time limit")];
        let mut out = String::new();
        super::warnings(&mut out, &Report { warnings, ..Report::default() });
        assert!(out.contains(">Not converged within the time limit<"), "{out}");
    }

    #[test]
    fn base64_pads() {
        assert_eq!(base64(b"light w"), "bGlnaHQgdw==");
        assert_eq!(base64(b"light wor"), "bGlnaHQgd29y");
    }

    #[test]
    fn hash_is_the_published_one() {
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn a_chart_on_paper_has_the_colours_of_the_page() {
        for (i, colour) in crate::svg::COLOURS.iter().enumerate() {
            let variable = format!("--c{i}: {colour};");
            assert_eq!(STYLE.matches(&variable).count(), 2, "{variable} on screen and in print");
        }
    }

    #[test]
    fn script_and_style_cannot_end_early() {
        assert!(
            !SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</style")
        );
    }
}
