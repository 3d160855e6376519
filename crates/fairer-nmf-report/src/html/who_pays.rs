//! Section 1: who pays for sharing one dictionary.

use std::fmt::Write as _;

use super::Section;
use super::beside_chance;
use super::group_table::{self, worst};
use super::parts::{figure, list};
use crate::content::{GroupOutcome, Report, Yardstick};
use crate::escape::{in_sentence, name, strong};
use crate::numbers::{Percent, count};
use crate::pictures::{self, NARROW, WIDE, by_loss};
use crate::svg::Theme;

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let mut body = String::new();
    let _ = write!(body, "<p class=\"lead\">{}</p>", lead(report, percent));
    body.push_str(&key_figures(report, percent));
    let _ = write!(body, "<p>{}</p>", definitions(report));
    let draw = |width| pictures::who_pays(report, percent, width).map(|c| c.draw(Theme::Page));
    let drawn = draw(WIDE).zip(draw(NARROW));
    // What the first screen shows in full is not drawn twice.
    if let Some((wide, narrow)) = drawn.filter(|_| pictures::summary_is_partial(report)) {
        let order = match report.models.first() {
            Some(first) if report.models.len() > 1 => {
                format!(
                    "Groups from the largest to the smallest loss under {}.",
                    in_sentence(&first.name)
                )
            }
            _ => "Groups from the largest to the smallest loss.".into(),
        };
        let families = report.who_pays.groups.iter().any(|g| g.family.is_some());
        let order = match families {
            true => order.replacen("Groups", "Family by family, groups", 1),
            false => order,
        };
        let caption = format!(
            "Further right is worse. The line at zero is the group’s own dictionary. {order}"
        );
        body.push_str(&figure(&wide, &narrow, &caption));
    }
    let table = group_table::table(report, percent);
    match table.rows.len() {
        0 => {}
        // A long table would stand between the reader and all that follows.
        n if n > 20 => body.push_str(&table.folded("All groups as a table")),
        _ => body.push_str(&table.render()),
    }
    let groups = by_loss(report);
    if groups.iter().any(|g| g.results.first().is_some_and(|r| r.chance().is_some())) {
        let table = beside_chance::table(report, groups, percent);
        body.push_str(&table.folded("Beside random groups of the same size"));
    }
    body.push_str(&smalls(report));
    Some(Section { id: "who-pays", title: "Who pays?", body })
}

/// The group whose loss lies furthest beyond random groups of its size, where that is known.
fn most_beyond(report: &Report) -> Option<(&GroupOutcome, f64)> {
    let groups = report.who_pays.groups.iter().filter(|g| !g.outside);
    let excess = |g: &GroupOutcome| g.results.first()?.excess_loss.filter(|e| e.is_finite());
    let found = groups.filter_map(|g| Some((g, excess(g)?)));
    found.max_by(|a, b| a.1.total_cmp(&b.1))
}

pub fn lead(report: &Report, percent: Percent) -> String {
    let Some((first, largest)) = worst(report, 0, percent) else {
        return "There is no group to show.".into();
    };
    let model = report.models.first().map_or("this model", |m| m.name.as_str());
    let hidden = report.hidden_groups > 0;
    let mut text = match most_beyond(report) {
        Some(found) if largest > 0.0 => beyond(report, found, (&first, largest), model, percent),
        _ => payer(report, &first, largest, model, percent),
    };
    // Of the groups shown alone, the largest losses of two models say nothing about the two: a
    // hidden group may have the largest under either.
    if !hidden
        && report.models.len() > 1
        && let Some(last) = report.models.last()
        && let Some((groups, loss)) = worst(report, report.models.len() - 1, percent)
    {
        let _ = write!(text, " {}", compared(&groups, loss, largest, &last.name, percent));
    }
    text
}

/// Names the group that stands out most from random groups: losses of groups of different sizes are not compared as they are.
fn beyond(
    report: &Report,
    (group, excess): (&GroupOutcome, f64),
    (first, largest): (&[&GroupOutcome], f64),
    model: &str,
    percent: Percent,
) -> String {
    let (of_shown, shown) = of_which(report);
    let model = in_sentence(model);
    let names: Vec<&str> = first.iter().map(|g| g.name.as_str()).collect();
    let (most, of_most) = (list(&names), strong(&percent.show(largest)));
    if excess <= 0.0 || percent.same(excess, 0.0) {
        return format!(
            "Under {model} no group{shown} loses more than random groups of its size do on average; the largest loss, that of {most}, is {of_most}."
        );
    }
    let itself = match first.iter().any(|g| g.name == group.name) {
        true => String::new(),
        false => format!(" The largest loss itself is {of_most}, that of {most}."),
    };
    format!(
        "{of_shown}group {} stands out most from random groups of its size under {model}: {}{} That is {} beyond what they show on average{}.{itself}",
        list(&[&group.name]),
        what_it_loses(report, group, percent),
        of_chance(group, percent),
        percent.points(excess),
        if is_within_chance(group) { ", and within that range" } else { "" },
    )
}

/// Whether random groups of its size would show as much.
fn is_within_chance(group: &GroupOutcome) -> bool {
    let result = group.results.first().copied().unwrap_or_default();
    result.chance().is_some_and(|(_, high)| result.loss <= high)
}

/// What the groups are among which one is named: at the beginning of a sentence, and after the word.
fn of_which(report: &Report) -> (&'static str, &'static str) {
    let outside = report.who_pays.groups.iter().any(|g| g.outside);
    match (report.hidden_groups > 0, outside) {
        (true, _) => ("Of the groups shown, the ", " shown"),
        (false, true) => ("Of the groups that are not too small, the ", " that is not too small"),
        (false, false) => ("The ", ""),
    }
}

/// `its error is 12 %, against 10 % with a dictionary of its own, a loss of 2 %.`
fn what_it_loses(report: &Report, group: &GroupOutcome, percent: Percent) -> String {
    let result = group.results.first().copied().unwrap_or_default();
    format!(
        "its error is {}, against {}, a loss of {}.",
        percent.show(result.relative_error),
        match report.has_no_baselines() {
            true => "a baseline of zero".to_owned(),
            false => {
                format!("{} with a dictionary of its own", percent.show(group.relative_baseline))
            }
        },
        strong(&percent.show(result.loss)),
    )
}

/// Names the group with the largest loss in the first sentence.
fn payer(
    report: &Report,
    groups: &[&GroupOutcome],
    loss: f64,
    model: &str,
    percent: Percent,
) -> String {
    let names: Vec<&str> = groups.iter().map(|g| g.name.as_str()).collect();
    let (who, model, loss_shown) = (list(&names), in_sentence(model), percent.show(loss));
    let (the, shown) = of_which(report);
    if loss <= 0.0 || percent.same(loss, 0.0) {
        let own = if loss < 0.0 && !percent.same(loss, 0.0) {
            ", better than with a dictionary of its own"
        } else {
            ""
        };
        return format!(
            "Under {model} no group{shown} pays for sharing the dictionary: the largest loss, that of {who}, is {loss_shown}{own}."
        );
    }
    match groups {
        [group] => format!(
            "{the}largest loss under {model} is that of {who}: {}{}",
            what_it_loses(report, group, percent),
            of_chance(group, percent),
        ),
        _ => format!(
            "{the}largest loss under {model} is that of {who}: {} each.",
            strong(&loss_shown)
        ),
    }
}

/// What a random group in its place would show.
fn of_chance(group: &GroupOutcome, percent: Percent) -> String {
    let result = group.results.first();
    let chance = result.and_then(|result| result.chance());
    let rows = count(group.rows);
    let mean = result.and_then(|result| result.chance_mean);
    match (chance, mean) {
        (Some((low, high)), _) => {
            let [low, high] = [low, high].map(|end| percent.telling(low, high).show(end));
            format!(" A random group of {rows} rows would show {low} to {high}.")
        }
        (None, Some(mean)) => {
            format!(" A random group of {rows} rows would show {} on average.", percent.show(mean))
        }
        (None, None) => {
            format!(" What a random group of {rows} rows would show was not looked at.")
        }
    }
}

fn compared(
    groups: &[&GroupOutcome],
    loss: f64,
    before: f64,
    model: &str,
    percent: Percent,
) -> String {
    let names: Vec<&str> = groups.iter().map(|g| g.name.as_str()).collect();
    let who = match names.len() {
        1 => format!("that of {}", list(&names)),
        _ => format!("shared by {}", list(&names)),
    };
    let difference = if percent.same(loss, before) {
        "the same to the digits shown".to_owned()
    } else {
        let direction = if loss < before { "lower" } else { "higher" };
        format!("{} {direction}", percent.points((loss - before).abs()))
    };
    format!(
        "Under {} the largest loss is {} ({who}), {difference}.",
        in_sentence(model),
        strong(&percent.show(loss))
    )
}

/// Worst loss and total error of every model, large. How far losses lie apart is not said: those of small groups are larger
/// by construction, and the verdict compares what is left.
fn key_figures(report: &Report, percent: Percent) -> String {
    if report.who_pays.groups.len() < 2 {
        return String::new();
    }
    let hidden = report.hidden_groups > 0;
    let shown = if hidden { " of the groups shown" } else { "" };
    let mut out = String::from("<dl class=\"keys\">");
    // Side by side, the largest losses of the groups shown would compare models by those groups
    // alone, while a fairer model may have served a hidden one.
    let models = if hidden { 1 } else { report.models.len() };
    for (i, model) in report.models.iter().enumerate().take(models) {
        let inside = report.who_pays.groups.iter().filter(|g| !g.outside);
        let losses = inside.filter_map(|g| g.results.get(i)).map(|r| r.loss);
        let losses = losses.filter(|l| l.is_finite());
        let Some(largest) = losses.reduce(f64::max) else { continue };
        let total = model.total_error.map_or_else(String::new, |e| {
            format!("<dd class=\"quiet\">total error {}</dd>", percent.show(e))
        });
        let _ = write!(
            out,
            "<div><dt>{}</dt><dd><span class=\"big\">{}</span> worst loss{shown}</dd>{total}</div>",
            name(&model.name),
            percent.show(largest),
        );
    }
    out.push_str("</dl>");
    out
}

fn definitions(report: &Report) -> String {
    let runs = match report.who_pays.baseline_runs {
        0 | 1 => String::new(),
        n => format!(" (from {} runs; ± is their spread)", count(n)),
    };
    let error = "<b>Error</b> is the part of a group that the model fails to reproduce, as a share of the group’s size \
                 (its norm).";
    if report.who_pays.baseline_kind == Some(Yardstick::Zero) {
        return format!("{error} <b>Alone</b> is zero here, so that the <b>loss</b> is the error.");
    }
    let unseen = match report.baselines_are_held_out() {
        true => ", on rows that this has not seen",
        false => "",
    };
    format!(
        "{error} <b>Alone</b> is that error with a dictionary of the group’s own{unseen}{runs}. <b>Loss</b> is the \
         difference: what the group pays for sharing. Below zero, the shared dictionary serves it better."
    )
}

fn smalls(report: &Report) -> String {
    // The error of a dictionary that all share is no lower for a small group.
    let zero = report.who_pays.baseline_kind == Some(Yardstick::Zero);
    let few = report.who_pays.groups.iter().filter(|g| g.small && !zero);
    let small: Vec<&str> = few.map(|g| g.name.as_str()).collect();
    if small.is_empty() {
        return match outside(report) {
            none if none.is_empty() => none,
            said => format!("<p class=\"note\">{}</p>", said.trim_start()),
        };
    }
    let (verb, its, them) =
        if small.len() == 1 { ("has", "its", "it") } else { ("have", "their", "them") };
    let what = match report.baselines_are_held_out() {
        true => format!(
            "a dictionary of {its} own learns little from the part of them that it is fitted to: {its} error alone, \
             which is of the other part, is higher, and {its} loss smaller, than with more rows"
        ),
        false => format!(
            "a dictionary of {its} own fits {them} far too well: {its} error alone is lower, and {its} loss larger, \
             than on new samples"
        ),
    };
    format!(
        "<p class=\"note\"><span class=\"badge\">small</span> {} {verb} so few rows for this rank that {what}.{}</p>",
        list(&small),
        outside(report)
    )
}

/// Who has too few rows and was kept outside the maximum.
fn outside(report: &Report) -> String {
    let groups = report.who_pays.groups.iter().filter(|g| g.outside);
    let names: Vec<&str> = groups.map(|g| g.name.as_str()).collect();
    match names.len() {
        0 => String::new(),
        n => format!(
            " {} {} too few rows to say what sharing costs {}, so {} outside the \
             largest loss and inside the total.",
            list(&names),
            if n == 1 { "has" } else { "have" },
            if n == 1 { "it" } else { "them" },
            if n == 1 { "it stays" } else { "they stay" },
        ),
    }
}
