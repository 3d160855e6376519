//! `reproduction.html`: claims, figures and all cells beside the paper's, in one file.

use std::fmt::Write;

use super::Settings;
use super::cause::{cause, is_compared, is_marked};
use super::cells::{Cell, Cells};
use super::chance::{self, Beside};
use super::claims::{Check, Finding, Verdict};
use super::figures::Figure;
use super::metric::Metric;
use super::sets::SETS;

pub(super) struct Content<'a> {
    pub ours: &'a Cells,
    pub paper: &'a Cells,
    pub figures: &'a [Figure],
    pub findings: &'a [Finding],
    pub chance: &'a [Beside],
    pub notes: &'a [String],
    pub settings: &'a Settings<'a>,
}

const STYLE: &str = "
:root{color-scheme:light}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #ccc}
table{border-collapse:collapse;font-size:.88rem;width:100%}
th,td{padding:.25rem .5rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.apart td{background:#fff3d6}
.verdict{font-weight:700;white-space:nowrap}
.holds{color:#00573f}.differs{color:#8a4b00}.not{color:#8f1d1d}.none{color:#555}
ul{margin:.2rem 0;padding-left:1.2rem}
figure{margin:1.5rem 0;overflow-x:auto}figcaption{font-size:.9rem;color:#444}
svg{max-width:100%;height:auto}
";

/// Deviations that concern every number.
const SETTINGS: [&str; 10] = [
    "Features are scaled to unit length over all rows; E_ℓ is the mean of 5 runs of MU standard NMF of the group alone, tolerance 1e-4 on the error, at most 10,000 iterations, estimated anew in each trial. Within a trial, standard NMF, AM and MU share these baselines and the seed (the paper estimates them anew for each method).",
    "A run of standard NMF also ends once every error is below 1e-6 of the norm: from there nothing that is shown changes.",
    "Standard NMF stops on the change of the error of all data together (1e-4), as in the published code, which knows no groups; on synthetic 2 groups still trade places then.",
    "AM and MU stop as the published code does, on the relative change of every group\u{2019}s loss (1e-4); the paper\u{2019}s text says error. On synthetic data a group has also settled at a loss below 0.1 %, which fits the published arrays.",
    "The coefficients of MU start at 1/L, as in the published code; the text starts them at 0.",
    "One random start per trial, and no exact rows at the end: what this program adds by default (several starts, exchanges and splits of topics, polish) is switched off.",
    "AM solves both of its steps exactly; the published code uses OSQP, with SCS as a fallback.",
    "The error of a group alone is that of the last of its five baseline runs, as in the published code.",
    "Synthetic data are drawn anew from the seed, with our random generator. 20 Newsgroups is the paper\u{2019}s sample of 1,500 posts of the training split, with 200 terms.",
    "\u{201c}Some people get a higher error\u{201d} (claim 9) is put to the test on whole groups.",
];

pub(super) fn render(content: &Content<'_>) -> String {
    let mut out = String::new();
    let settings = content.settings;
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Reproduction of Fairer-NMF</title><style>{STYLE}</style></head><body><h1>The paper\u{2019}s experiments, run again</h1><p>\u{201c}Towards a Fairer Non-negative Matrix Factorization\u{201d} (Kassab, George, Needell, Geng, Jafar Nia, Li; arXiv 2411.09847), run with fairer-nmf {} and seed {}. The paper\u{2019}s numbers are the result arrays that its authors published with their code (MIT licence, copyright 2025 Erin George), as mean and standard deviation over 10 trials.</p>",
        env!("CARGO_PKG_VERSION"),
        settings.seed,
    );
    for note in content.notes {
        let _ = write!(out, "<p><strong>{}</strong></p>", escape(note));
    }
    claims(&mut out, content.findings);
    beside_chance(&mut out, content.chance);
    out += "<h2>How it was run</h2><ul>";
    for line in SETTINGS {
        let _ = write!(out, "<li>{}</li>", escape(line));
    }
    out += "</ul><h2>Figures</h2>";
    let mut title = "";
    for figure in content.figures {
        if figure.title != title {
            title = &figure.title;
            let _ = write!(out, "<h3>{}</h3>", escape(title));
        }
        let caption = escape(&figure.caption);
        let _ = write!(out, "<figure>{}<figcaption>{caption}</figcaption></figure>", figure.svg);
    }
    cells(&mut out, content);
    out += "</body></html>\n";
    out
}

/// Every group beside random groups of its size.
fn beside_chance(out: &mut String, all: &[Beside]) {
    if all.is_empty() {
        return;
    }
    *out += "<h2>Beside random groups</h2><p>A group\u{2019}s own dictionary is fitted on its own rows, so that a small group pays by construction. Here every group stands beside random groups of its size under the same dictionary (standard NMF, best of four starts; every group, the random ones too, with a dictionary of its own). <em>More</em>: an adjusted p of at most 0.05, over the groups of the set. That random groups show less says that the group is unlike the others, not yet that it pays more than they do.</p><ul>";
    for said in chance::said(all) {
        let _ = write!(
            out,
            "<li>{}: <b>{}</b> {}.</li>",
            escape(said.title),
            escape(said.group),
            escape(&said.sentence)
        );
    }
    *out += "</ul><table><thead><tr><th>Data</th><th>Rank</th><th>Group</th><th>Loss</th><th>Random groups, mean</th><th>from</th><th>to</th><th>p, adjusted</th><th></th></tr></thead><tbody>";
    for b in all {
        let title = SETS.iter().find(|set| set.key == b.dataset).map_or("", |set| set.title);
        let numbers: String = [b.loss, b.mean, b.low, b.high]
            .map(|value| format!("<td class=\"n\">{}</td>", chance::percent(value)))
            .concat();
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td>{numbers}<td class=\"n\">{:.3}</td><td>{}</td></tr>",
            escape(title),
            b.rank,
            escape(b.group),
            b.adjusted_p,
            if b.exceeds() { "more" } else { "no more" },
        );
    }
    *out += "</tbody></table>";
}

fn claims(out: &mut String, findings: &[Finding]) {
    *out += "<h2>The claims</h2><p>Every claim is tested by a rule with a threshold, on our numbers and, at the same ranks, on the paper\u{2019}s. <em>Holds</em>: on ours. <em>Differs</em>: on the paper\u{2019}s numbers but not on ours. <em>Does not hold</em>: on neither (or the paper published no numbers for it).</p><table><thead><tr><th>#</th><th>Claim</th><th>Verdict</th><th>Here</th><th>Paper\u{2019}s numbers</th></tr></thead><tbody>";
    for finding in findings {
        let verdict = finding.verdict();
        let class = match verdict {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::DoesNotHold => "not",
            Verdict::NotEvaluated => "none",
        };
        let why = match verdict {
            Verdict::Differs => format!("<p>{}</p>", escape(finding.why)),
            _ => String::new(),
        };
        let _ = write!(
            out,
            "<tr><td class=\"n\">{}</td><td>{}: {}{why}</td><td class=\"verdict {class}\">{}</td><td>{}</td><td>{}</td></tr>",
            finding.number,
            escape(finding.about),
            escape(finding.claim),
            verdict.name(),
            checks(&finding.ours),
            checks(&finding.paper),
        );
    }
    *out += "</tbody></table>";
}

fn checks(checks: &[Check]) -> String {
    if checks.is_empty() {
        return "no numbers".to_owned();
    }
    let item = |check: &Check| {
        let mark = if check.met { "yes" } else { "no" };
        format!("<li><strong>{mark}</strong>: {}</li>", escape(&check.text))
    };
    format!("<ul>{}</ul>", checks.iter().map(item).collect::<String>())
}

fn cells(out: &mut String, content: &Content<'_>) {
    *out += "<h2>All cells</h2><p>Mean \u{b1} standard deviation over trials. Marked: the means differ by more than both standard deviations together (the root of the sum of their squares) and by more than 0.1 percentage points. Times are from different machines and are not marked.</p>";
    for set in &SETS {
        let rows = content.ours.beside(content.paper, set.key);
        if rows.is_empty() {
            continue;
        }
        let count = rows.iter().filter(|row| is_marked(row)).count();
        let compared = rows.iter().filter(|row| is_compared(&row.0)).count();
        let _ = write!(
            out,
            "<h3>{}</h3><p>{count} of {compared} cells differ. {}</p><details><summary>The cells</summary><table><thead><tr><th>Method</th><th>Number</th><th>Group</th><th>Rank</th><th>Here</th><th>Paper</th><th>Where they differ, why</th></tr></thead><tbody>",
            set.title,
            escape(set.note),
        );
        for row in &rows {
            let ((_, method, metric, group, rank), ours, paper) = row;
            let (class, why) = match is_marked(row) {
                true => (" class=\"apart\"", cause(set, row.0, content.ours, content.paper)),
                false => ("", String::new()),
            };
            let _ = write!(
                out,
                "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{rank}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                method.title(),
                metric.title(),
                escape(group),
                shown(*ours, *metric),
                shown(*paper, *metric),
                escape(&why),
            );
        }
        *out += "</tbody></table></details>";
    }
}

fn shown(cell: Cell, metric: Metric) -> String {
    let scale = metric.scale();
    let mean = scale * cell.mean;
    match cell.sd {
        Some(sd) => format!("{mean:.3} \u{b1} {:.3}", scale * sd),
        None => format!("{mean:.3} (1 trial)"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
