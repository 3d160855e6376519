//! Section 3: what the fairer model costs, and whom.

use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, capital, figure, figures, join, words};
use crate::content::{Change, Cost, Minimised, Report};
use crate::escape::{in_sentence, strong};
use crate::numbers::{Percent, counted, plain, share};
use crate::pictures::{self, NARROW, WIDE};
use crate::svg::Theme;

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let cost = report.cost.as_ref().filter(|c| !c.changes.is_empty())?;
    let mut body = String::new();
    if let Some(text) = winners_and_losers(report, percent) {
        let _ = write!(body, "<p class=\"lead\">{text}</p>");
        // Nothing that moves makes a chart of rounding.
        let draw = |width| pictures::changes(report, percent, width).map(|c| c.draw(Theme::Page));
        if let (true, Some(wide), Some(narrow)) = (moves(cost, percent), draw(WIDE), draw(NARROW)) {
            let caption = "Change of each group’s error. Its loss changes by the same amount, for the baseline stays.";
            body.push_str(&figure(&wide, &narrow, caption));
        }
        body.push_str(
            &change_table(report, cost, percent).folded("Better and worse off as a table"),
        );
    }
    Some(Section { id: "cost", title: "What does fairness cost, and whom?", body })
}

/// The curve between total error and worst loss, with its table.
pub fn trade_off(report: &Report, percent: Percent) -> Option<Section> {
    let cost = report.cost.as_ref()?;
    let mut body = String::new();
    if let Some(text) = price(cost, percent) {
        let _ = write!(body, "<p>{text}</p>");
        let draw = |width| pictures::tradeoff(report, percent, width).map(|c| c.draw(Theme::Page));
        if let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) {
            let caption = "Every point is a fit. α is the weight of the worst group’s loss, 1 − α that of the total.";
            body.push_str(&figure(&wide, &narrow, caption));
        }
        body.push_str(&curve_table(cost, percent).folded("The trade-off as a table"));
    }
    let title = "What lies between total error and worst loss?";
    (!body.is_empty()).then_some(Section { id: "trade-off", title, body })
}

/// Whether the last model changes what some group loses.
pub fn moves(cost: &Cost, percent: Percent) -> bool {
    cost.changes.iter().any(|change| moved(change, percent))
}

/// Who gains and who pays on the way from the first model to the last.
pub fn winners_and_losers(report: &Report, percent: Percent) -> Option<String> {
    let cost = report.cost.as_ref().filter(|c| !c.changes.is_empty())?;
    let (mut worse, mut better): (Vec<&Change>, Vec<&Change>) =
        cost.changes.iter().filter(|c| moved(c, percent)).partition(|c| c.change > 0.0);
    worse.sort_by(|a, b| b.change.total_cmp(&a.change));
    better.sort_by(|a, b| a.change.total_cmp(&b.change));
    let (from, to) = match (report.models.first(), report.models.last()) {
        (Some(from), Some(to)) => (in_sentence(&from.name), in_sentence(&to.name)),
        _ => ("the reference".into(), "this model".into()),
    };
    let hidden = report.hidden_groups > 0;
    let groups = match hidden {
        true => format!("the {} shown", counted(cost.changes.len(), "group")),
        false => counted(cost.changes.len(), "group"),
    };
    if worse.is_empty() && better.is_empty() {
        return Some(unmoved(cost, hidden, &from, &to));
    }
    let mut text = format!("Going from {from} to {to} makes ");
    text.push_str(&match worse.len() {
        0 => format!("none of {groups} worse off"),
        n => format!("{n} of {groups} worse off ({})", with_amounts(&worse, percent)),
    });
    text.push_str(&match better.len() {
        0 if hidden => " and none of those shown better off".to_owned(),
        0 => " and none better off".to_owned(),
        n => format!(" and {n} better off ({})", with_amounts(&better, percent)),
    });
    match cost.changes.len() - worse.len() - better.len() {
        0 => {}
        n => {
            let _ = write!(
                text,
                "; {n} {} within the digits shown",
                if n == 1 { "stays" } else { "stay" }
            );
        }
    }
    text.push('.');
    if hidden {
        text.push_str(
            " What it does to the hidden ones is left out: they may have gained or lost.",
        );
    }
    if let Some(samples) = cost.share_worse.filter(|s| s.is_finite()) {
        let _ = write!(
            text,
            " {} of all samples have a higher error than before.",
            strong(&capital(&share(samples)))
        );
    }
    Some(text)
}

/// Whether a group's error changes by what the digits show.
pub fn moved(change: &Change, percent: Percent) -> bool {
    change.change.is_finite() && !percent.same(change.change, 0.0)
}

/// Where no group is better or worse off, samples that rounding moved say nothing.
fn unmoved(cost: &Cost, hidden: bool, from: &str, to: &str) -> String {
    let groups = if hidden { "no group shown" } else { "no group" };
    let why = match cost.criterion {
        Minimised::Loss => "",
        Minimised::AdjustedLoss => {
            " A fit helps only groups that stand out from every draw of random groups, and asks no other group for more than they gain."
        }
    };
    format!(
        "Going from {from} to {to} makes {groups} better or worse off, to the digits shown.{why}"
    )
}

fn with_amounts(changes: &[&Change], percent: Percent) -> String {
    const MOST: usize = 4;
    let mut items: Vec<String> = changes
        .iter()
        .take(MOST)
        .map(|c| format!("{} {}", strong(&c.group), percent.signed(c.change)))
        .collect();
    if changes.len() > MOST {
        items.push(format!("{} more", changes.len() - MOST));
    }
    format!("{}\u{a0}points", join(&items))
}

/// What the adjusted loss is beyond.
pub fn allowed(criterion: Minimised) -> &'static str {
    match criterion {
        Minimised::Loss => "",
        Minimised::AdjustedLoss => {
            " The adjusted loss is what a group pays beyond what the fit allows it: between what random groups of its size \
             pay and what it pays itself under standard NMF, the nearer to this the more it is like them, so that chance hardly steers the fit."
        }
    }
}

fn price(cost: &Cost, percent: Percent) -> Option<String> {
    let [first, .., last] = cost.curve.as_slice() else { return None };
    let what = cost.criterion;
    let error = match last.total_error - first.total_error {
        d if percent.same(d, 0.0) => {
            "leaves the total error where it is, to the digits shown".to_owned()
        }
        d if d > 0.0 => format!(
            "raises the total error from {} to {} (+{})",
            percent.show(first.total_error),
            percent.show(last.total_error),
            percent.points(d)
        ),
        d => format!(
            "lowers the total error from {} to {} (by {})",
            percent.show(first.total_error),
            percent.show(last.total_error),
            percent.points(-d)
        ),
    };
    Some(format!(
        "Between the lowest total error and the lowest worst {what} there is a choice. Moving the weight from the total \
         to the worst group takes the worst {what} from {} to {} and {error}.{}",
        percent.show(first.worst_criterion),
        percent.show(last.worst_criterion),
        allowed(cost.criterion),
    ))
}

fn change_table(report: &Report, cost: &Cost, percent: Percent) -> Table {
    let samples = cost.changes.iter().any(|c| c.share_worse.is_some());
    let result = |group: &str, last: bool| {
        let outcome = report.who_pays.groups.iter().find(|g| g.name == group);
        let results = outcome.map(|g| g.results.as_slice()).unwrap_or_default();
        let picked = if last { results.last() } else { results.first() };
        picked.map_or(f64::NAN, |r| r.relative_error)
    };
    let mut columns = vec![
        words("Group"),
        figures("Error before, %"),
        figures("after, %"),
        figures("Change, points"),
    ];
    if samples {
        columns.push(figures("Samples worse off"));
    }
    let mut changes: Vec<&Change> = cost.changes.iter().collect();
    changes.sort_by(|a, b| b.change.total_cmp(&a.change));
    let rows = changes
        .into_iter()
        .map(|c| {
            let (before, after) = (result(&c.group, false), result(&c.group, true));
            let mut cells = vec![
                Cell::name(&c.group),
                Cell::number(percent.bare(before), before),
                Cell::number(percent.bare(after), after),
                Cell::number(percent.signed(c.change), c.change),
            ];
            if samples {
                let value = c.share_worse.unwrap_or(f64::NAN);
                cells.push(Cell::number(share(value), value));
            }
            Row { cells, rank: None }
        })
        .collect();
    Table {
        caption: "Each group’s error before and after".into(),
        spans: Vec::new(),
        columns,
        rows,
    }
}

fn curve_table(cost: &Cost, percent: Percent) -> Table {
    let rows = cost
        .curve
        .iter()
        .map(|p| Row {
            cells: vec![
                Cell::number(plain(p.alpha, 2), p.alpha),
                Cell::number(percent.bare(p.total_error), p.total_error),
                Cell::number(percent.bare(p.worst_criterion), p.worst_criterion),
            ],
            rank: None,
        })
        .collect();
    Table {
        caption: format!("Fits between total error and worst {}", cost.criterion),
        spans: Vec::new(),
        columns: vec![
            figures("α"),
            figures("Total error, %"),
            figures(format!("Worst {}, %", cost.criterion)),
        ],
        rows,
    }
}
