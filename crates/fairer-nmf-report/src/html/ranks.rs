//! Section 5: which rank?

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, chart, figures, words};
use crate::content::{Maker, Minimised, RankPoint, Ranks, Report};
use crate::escape::{name, strong};
use crate::numbers::{Percent, counted};
use crate::pictures::{self, Quantity};
use crate::svg::Theme;

/// Width of a panel in user units; two stand side by side on a wide screen.
const PANEL: f64 = 350.0;

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let ranks = report.ranks.as_ref().filter(|r| r.series.iter().any(|s| !s.points.is_empty()))?;
    let methods = pictures::methods(report);
    let mut body = format!("<p class=\"lead\">{}</p>", lead(report, ranks, &methods, percent));
    for &method in &methods {
        let _ = write!(body, "<h3>{}</h3><div class=\"panels\">", name(method.title()));
        for quantity in [Quantity::Loss, Quantity::Error] {
            if let Some(lines) = pictures::ranks(report, percent, method, quantity, PANEL) {
                let _ = write!(body, "<figure>{}</figure>", chart(&lines.draw(Theme::Page)));
            }
        }
        body.push_str("</div>");
    }
    let trials = match ranks.trials {
        0 | 1 => String::new(),
        n => format!(
            " Lines are means over {}, bands one standard deviation to each side.",
            counted(n, "trial")
        ),
    };
    let _ =
        write!(body, "<p>The panels of one kind share their scale.{trials}{}</p>", plainly(report));
    body.push_str(&picker(ranks));
    body.push_str(&table(ranks, &methods, percent).folded("Error and loss by rank as a table"));
    Some(Section { id: "ranks", title: "Which rank?", body })
}

/// Trials over ranks minimise the loss itself; where the page's fit does not, it says so.
fn plainly(report: &Report) -> &'static str {
    match report.cost.as_ref().map(|cost| cost.criterion) {
        Some(Minimised::AdjustedLoss) => {
            " The fits behind them make the largest loss itself small, so that ranks compare; the fit above allows every group \
             what chance explains, and its losses differ from theirs."
        }
        _ => "",
    }
}

fn lead(report: &Report, ranks: &Ranks, methods: &[Maker], percent: Percent) -> String {
    let shown = if report.hidden_groups > 0 { " shown" } else { "" };
    let tried = ranks.tried();
    let sentences: Vec<String> = methods
        .iter()
        .filter_map(|&method| match ranks.threshold {
            Some(threshold) => Some(under_threshold(ranks, method, shown, threshold, percent)),
            None => lowest(ranks, method, shown, &tried, percent),
        })
        .collect();
    sentences.join(" ")
}

fn under_threshold(
    ranks: &Ranks,
    method: Maker,
    shown: &str,
    threshold: f64,
    percent: Percent,
) -> String {
    let limit = percent.show(threshold);
    match ranks.enough(method) {
        Some(rank) => {
            let back = ranks.tried().into_iter().any(|r| r > rank && !ranks.is_enough(method, r));
            let back = if back { ", though not at every higher one" } else { "" };
            format!(
                "With {}, {} is the smallest rank tried at which the mean loss of no group{shown} exceeds {limit}{back}.",
                name(method.title()),
                strong(&rank.to_string())
            )
        }
        None => {
            format!(
                "With {}, the mean loss of some group{shown} exceeds {limit} at every rank tried.",
                name(method.title())
            )
        }
    }
}

fn lowest(
    ranks: &Ranks,
    method: Maker,
    shown: &str,
    tried: &BTreeSet<usize>,
    percent: Percent,
) -> Option<String> {
    let at = |&rank: &usize| ranks.worst(method, rank).map(|(worst, group)| (rank, worst, group));
    let all = tried.iter().filter_map(at);
    let (rank, worst, group) = all.min_by(|a, b| a.1.loss_mean.total_cmp(&b.1.loss_mean))?;
    let random = worst.chance().map_or_else(String::new, |(low, high)| {
        let [low, high] = [low, high].map(|end| percent.telling(low, high).show(end));
        format!("; random groups of its size show {low} to {high}")
    });
    Some(format!(
        "With {}, the largest mean loss of any group{shown} is smallest at rank {}: {} ({}{random}).",
        name(method.title()),
        strong(&rank.to_string()),
        percent.show(worst.loss_mean),
        name(group)
    ))
}

/// Shown by the script only; without it the table has all ranks.
fn picker(ranks: &Ranks) -> String {
    let mut out = String::from(
        "<p class=\"picker\" hidden=\"\"><label for=\"rank-pick\">Show the numbers of rank</label> \
         <select id=\"rank-pick\"><option value=\"\">all</option>",
    );
    for rank in ranks.tried() {
        let _ = write!(out, "<option value=\"{rank}\">{rank}</option>");
    }
    out.push_str("</select></p>");
    out
}

fn table(ranks: &Ranks, methods: &[Maker], percent: Percent) -> Table {
    let mut groups: Vec<&str> = Vec::new();
    for series in &ranks.series {
        if !groups.contains(&series.group.as_str()) {
            groups.push(&series.group);
        }
    }
    let points = ranks.series.iter().flat_map(|s| &s.points);
    let beside = points.into_iter().any(|p| p.chance().is_some());
    let mut columns = vec![words("Group"), figures("Rank")];
    if beside {
        columns.extend(["Random groups, %", "from, %", "to, %"].map(figures));
    }
    let mut spans = vec![(String::new(), columns.len())];
    for method in methods {
        spans.push((method.title().to_owned(), 2));
        columns.push(figures("Error, %"));
        columns.push(figures("Loss, %"));
    }
    let find = |method: Maker, group: &str, rank: usize| -> Option<&RankPoint> {
        let series = ranks.series.iter().find(|s| s.method == method && s.group == group)?;
        series.points.iter().find(|p| p.rank == rank)
    };
    let mut rows = Vec::new();
    for rank in ranks.tried() {
        for group in &groups {
            let mut cells = vec![Cell::name(group), Cell::number(rank.to_string(), rank as f64)];
            if beside {
                let point = methods.iter().find_map(|&method| find(method, group, rank));
                cells.extend(chance_cells(point, percent));
            }
            for &method in methods {
                let point = find(method, group, rank);
                cells.push(mean_cell(
                    point.map(|p| (p.relative_error_mean, p.relative_error_sd)),
                    percent,
                ));
                cells.push(mean_cell(point.map(|p| (p.loss_mean, p.loss_sd)), percent));
            }
            rows.push(Row { cells, rank: Some(rank) });
        }
    }
    Table {
        caption: "Error and loss by rank, mean ± standard deviation".into(),
        spans,
        columns,
        rows,
    }
}

/// What random groups of the size show: their mean, and nine of ten of them.
fn chance_cells(point: Option<&RankPoint>, percent: Percent) -> [Cell; 3] {
    let (low, high) = point.and_then(RankPoint::chance).unwrap_or((f64::NAN, f64::NAN));
    let percent = percent.telling(low, high);
    let shown = |of: fn(&RankPoint) -> Option<f64>| {
        let value = point.and_then(of).unwrap_or(f64::NAN);
        Cell::number(percent.bare(value), value)
    };
    [shown(|p| p.chance_mean), shown(|p| p.chance_low), shown(|p| p.chance_high)]
}

fn mean_cell(value: Option<(f64, f64)>, percent: Percent) -> Cell {
    let (mean, sd) = value.unwrap_or((f64::NAN, f64::NAN));
    let spread = if sd.is_finite() && sd > 0.0 {
        format!(" <span class=\"quiet\">±\u{a0}{}</span>", percent.bare(sd))
    } else {
        String::new()
    };
    Cell::number(format!("{}{spread}", percent.bare(mean)), mean)
}
