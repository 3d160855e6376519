//! Section 6: the dictionary in words.

use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, figure, figures, list, words};
use crate::content::{Report, Topic, Topics};
use crate::escape::{in_sentence, name};
use crate::numbers::{counted, plain, share};
use crate::pictures::{self, NARROW, WIDE};
use crate::svg::Theme;

/// Topics at least this similar count as the same.
const ALIKE: f64 = 0.9;

pub fn section(report: &Report) -> Option<Section> {
    let topics = report.topics.as_ref().filter(|t| !t.topics.is_empty())?;
    let mut body = format!("<p class=\"lead\">{}</p>", lead(report, topics));
    let draw = |width| pictures::topic_use(report, width).map(|c| c.draw(Theme::Page));
    if let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) {
        let caption = "Share of each group’s representation that lies in each topic, in percent; the stronger the colour, the more. \
             Each row adds up to 100 over all topics.";
        body.push_str(&figure(&wide, &narrow, caption));
        body.push_str(&use_table(report, topics).folded("Use of topics as a table"));
    }
    body.push_str("<h3>Strongest features, as shares of the topic</h3><ol class=\"topics\">");
    for topic in &topics.topics {
        body.push_str(&card(topic, topics.reference.as_deref()));
    }
    body.push_str("</ol>");
    Some(Section { id: "topics", title: "What are the topics?", body })
}

fn lead(report: &Report, topics: &Topics) -> String {
    let all = topics.topics.len();
    let owner = topics.model.as_ref().map_or_else(|| "The dictionary".into(), |m| name(m));
    let mut text = format!("{owner} has {}", counted(all, "topic"));
    if report.hidden_groups > 0 {
        text = format!(
            "{owner} has {} to show; topics that serve mainly a hidden group are left out",
            counted(all, "topic")
        );
    }
    let mut owners: Vec<&str> = Vec::new();
    let owned = topics.topics.iter().filter_map(|t| t.main_group.as_deref());
    let count = owned.clone().count();
    for owner in owned {
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    match count {
        0 => text.push_str("; none of them exists mainly for one group."),
        1 => {
            let _ = write!(text, "; one exists mainly for one group, {}.", list(&owners));
        }
        n => {
            let _ = write!(text, "; {n} exist mainly for one group each: {}.", list(&owners));
        }
    }
    let matches: Vec<f64> =
        topics.topics.iter().filter_map(|t| t.matched.as_ref()).map(|m| m.similarity).collect();
    if let Some(reference) = topics.reference.as_ref().filter(|_| !matches.is_empty()) {
        let alike = matches.iter().filter(|&&s| s >= ALIKE).count();
        let _ = write!(
            text,
            " {alike} of {} {} close to a topic of {} (cosine similarity at least {ALIKE}); the others differ.",
            matches.len(),
            if alike == 1 { "is" } else { "are" },
            in_sentence(reference)
        );
        if alike == matches.len() {
            text = text.replace("; the others differ.", ".");
        }
    }
    text
}

fn card(topic: &Topic, reference: Option<&str>) -> String {
    let mut out = format!("<li><h4>{}</h4>", name(&topic.name));
    if let Some(group) = &topic.main_group {
        let _ = write!(out, "<p class=\"quiet\">mainly for {}</p>", name(group));
    }
    let strongest =
        topic.features.iter().map(|f| f.share).filter(|s| s.is_finite()).fold(0.0, f64::max);
    out.push_str("<ul class=\"features\">");
    for feature in &topic.features {
        // A topic of zeros only has bars of no length.
        let length = if strongest > 0.0 && feature.share > 0.0 {
            100.0 * feature.share / strongest
        } else {
            0.0
        };
        let _ = write!(
            out,
            "<li><span class=\"feature\">{}</span><span class=\"n\">{}</span>\
             <svg class=\"bar\" viewBox=\"0 0 100 3\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <rect width=\"{length:.1}\" height=\"3\" fill=\"var(--c0)\"/></svg></li>",
            name(&feature.name),
            share(feature.share)
        );
    }
    out.push_str("</ul>");
    if let Some(found) = &topic.matched {
        let _ = write!(
            out,
            "<p class=\"quiet\">nearest in {}: {} (similarity {})</p>",
            reference.map_or_else(|| "the reference".into(), in_sentence),
            name(&found.topic),
            plain(found.similarity, 2)
        );
    }
    out.push_str("</li>");
    out
}

fn use_table(report: &Report, topics: &Topics) -> Table {
    let mut columns = vec![words("Group")];
    columns.extend(topics.topics.iter().map(|t| figures(t.name.clone())));
    let rows = report
        .who_pays
        .groups
        .iter()
        .map(|group| {
            let mut cells = vec![Cell::name(&group.name)];
            cells.extend(topics.topics.iter().map(|topic| {
                let usage = topic.usage.iter().find(|u| u.group == group.name);
                let value = usage.map_or(f64::NAN, |u| u.share);
                Cell::number(share(value), value)
            }));
            Row { cells, rank: None }
        })
        .collect();
    Table {
        caption: "Share of each group’s representation in each topic".into(),
        spans: Vec::new(),
        columns,
        rows,
    }
}
