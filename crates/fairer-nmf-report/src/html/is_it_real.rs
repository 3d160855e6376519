//! Section 2: could it be chance?

use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, figure, figures, join, words};
use crate::content::{GroupOutcome, GroupResult, IsItReal, ModelDraws, Report, Role, Tested};
use crate::escape::{escape, in_sentence, strong};
use crate::numbers::{NONE, Percent, counted, p_value, share};
use crate::pictures::{self, NARROW, WIDE};
use crate::svg::Theme;

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let real = report.is_it_real.as_ref().filter(|_| !report.who_pays.groups.is_empty())?;
    let mut body = String::new();
    for (i, model) in report.models.iter().enumerate() {
        if let Some(text) = worst_group(report, real, i, percent) {
            let class = if i == 0 { " class=\"lead\"" } else { "" };
            let _ = write!(body, "<p{class}>Under {}, {text}</p>", in_sentence(&model.name));
        }
    }
    let draw = |width| pictures::is_it_real(report, percent, width).map(|c| c.draw(Theme::Page));
    if let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) {
        let caption = "The mark is what a group loses against its own best dictionary, as is to be expected on other samples \
             of the same kind: for a small group less than the loss of the tables, which its own dictionary flatters.";
        body.push_str(&figure(&wide, &narrow, caption));
    }
    body.push_str(&table(report, real, percent).folded("Intervals and tests as a table"));
    let _ = write!(body, "<p>{}</p>", how(report, real));
    if let Some(text) = multiplicity(report) {
        let _ = write!(body, "<p>{text}</p>");
    }
    Some(Section { id: "is-it-real", title: "Is it real?", body })
}

/// Every group under every model, with the model's number.
fn results(report: &Report) -> impl Iterator<Item = (&GroupOutcome, usize, &GroupResult)> {
    report.who_pays.groups.iter().flat_map(|group| {
        group.results.iter().enumerate().map(move |(model, result)| (group, model, result))
    })
}

/// What is known of the group that loses most under a model.
fn worst_group(report: &Report, real: &IsItReal, model: usize, percent: Percent) -> Option<String> {
    let (group, _, result) = results(report)
        .filter(|&(g, m, result)| m == model && result.loss.is_finite() && !g.outside)
        .max_by(|a, b| a.2.loss.total_cmp(&b.2.loss))?;
    let shown = if report.hidden_groups > 0 { " of the groups shown" } else { "" };
    let mut text = format!(
        "the largest loss{shown}, that of {}, is {}",
        strong(&group.name),
        percent.show(result.loss)
    );
    if let Some((low, high)) = result.loss_interval() {
        let _ = write!(
            text,
            "; against its own best dictionary, on other samples of the same kind, a loss from {} to {} is to be expected, with {} confidence",
            percent.show(low),
            percent.show(high),
            share(real.level),
        );
    }
    text.push('.');
    // A test of the error says nothing about a loss: its p stands beside the error, in the table.
    if let Some(p) = result.refit_loss_adjusted_p {
        let _ = write!(text, " {}", in_words(p));
    }
    if let Some(held_out) = result.held_out_loss {
        let _ = write!(
            text,
            " Against a baseline measured on held-out samples, its loss is {}.",
            percent.show(held_out)
        );
    }
    Some(text)
}

fn in_words(p: f64) -> String {
    if !p.is_finite() {
        return String::new();
    }
    // p_value says "< 0.001" itself.
    format!(
        "That a random group of its size has a loss as large has p\u{a0}=\u{a0}{}, adjusted over the groups.",
        escape(&p_value(p))
    )
    .replace("=\u{a0}&lt;", "&lt;")
}

/// Where the numbers come from, said of each model apart where they come from different draws.
fn how(report: &Report, real: &IsItReal) -> String {
    let mut sentences = Vec::new();
    // Where groups are hidden, so are limits that follow from all of them.
    let any = results(report).any(|(_, _, r)| r.cross_fitted_loss.is_some());
    let unseen = |d: &'_ ModelDraws| (d.unseen && any).then_some(&());
    for (models, ()) in alike(real, unseen) {
        sentences.push(format!(
            "The intervals{models} are of the error on samples that the dictionary has not seen, and of the loss \
             against the group’s own best dictionary, found by leaving parts of the samples out; the cross-fitted loss is the value that they \
             surround."
        ));
    }
    let again = results(report).any(|(_, _, r)| r.refit_loss_low.is_some());
    for (models, bootstrap) in alike(real, |d| d.bootstrap.as_ref().filter(|_| again)) {
        let draws = counted(bootstrap.draws, "bootstrap draw");
        sentences.push(format!(
            "The losses{models} “with all fitted again” come from {draws} over samples. Samples that are drawn twice are \
             easier to fit, so the draws were shifted until their median was the loss; for small groups they hold less \
             well than the other intervals."
        ));
    }
    for (models, test) in alike(real, |d| d.permutation.as_ref()) {
        let draws = counted(test.draws, "random draw");
        let what = match test.tested {
            Tested::RelativeError => "the group’s error with that of random groups of its size",
            Tested::Loss => {
                "the group’s loss with that of random groups of its size, each with a baseline of its own"
            }
        };
        sentences.push(format!("The test{models} compares {what}, over {draws}."));
    }
    let fairer = |d: &ModelDraws| {
        let model = report.models.iter().find(|m| m.name == d.model);
        d.permutation.is_some() && model.is_some_and(|m| m.role == Role::Fairer)
    };
    if real.draws.iter().any(fairer) {
        sentences.push(
            "A model that was fitted with the groups in view, as Fairer-NMF is, has already drawn their losses together: \
             there the test describes, and proves nothing."
                .to_owned(),
        );
    }
    let mut text = sentences.join(" ");
    if results(report).any(|(_, _, r)| r.held_out_loss.is_some()) {
        text.push_str(
            " The held-out loss measures the group’s own dictionary on samples it was not fitted to, \
             which is kinder to small groups.",
        );
    }
    text
}

/// The models that share something, as the part of a sentence that names them: nothing where all do.
fn alike<'a, T: PartialEq>(
    real: &'a IsItReal,
    what: impl Fn(&'a ModelDraws) -> Option<&'a T>,
) -> Vec<(String, &'a T)> {
    let mut found: Vec<(Vec<String>, &T)> = Vec::new();
    for draws in &real.draws {
        let Some(value) = what(draws) else { continue };
        let model = in_sentence(&draws.model);
        match found.iter_mut().find(|(_, known)| *known == value) {
            Some((models, _)) => models.push(model),
            None => found.push((vec![model], value)),
        }
    }
    let names = |models: &[String]| match models.len() == real.draws.len() {
        true => String::new(),
        false => format!(" of {}", join(models)),
    };
    found.iter().map(|(models, value)| (names(models), *value)).collect()
}

/// That p-values are adjusted, where there are several.
fn multiplicity(report: &Report) -> Option<&'static str> {
    let tested = |group: &&GroupOutcome| group.results.iter().any(GroupResult::is_permuted);
    (report.who_pays.groups.iter().filter(tested).count() > 1).then_some(
        "The p-values are adjusted over the groups of a model (Holm): where labels mean nothing, some group shows p\u{a0}&lt;\u{a0}0.05 in at most one of twenty data sets.",
    )
}

fn table(report: &Report, real: &IsItReal, percent: Percent) -> Table {
    let has = |p: fn(&GroupResult) -> Option<f64>| results(report).any(|(_, _, r)| p(r).is_some());
    let (of_error, of_loss) =
        (has(|r| r.relative_error_adjusted_p), has(|r| r.refit_loss_adjusted_p));
    let held_out = results(report).any(|(_, _, r)| r.held_out_loss.is_some());
    let mut columns =
        vec![words("Group"), words("Model"), figures("Error from, %"), figures("to, %")];
    // The test stands beside what it tests.
    if of_error {
        columns.push(figures("p of the error"));
    }
    columns.extend([figures("Loss from, %"), figures("to, %")]);
    let crossed = results(report).any(|(_, _, r)| r.cross_fitted_loss.is_some());
    if crossed {
        columns.push(figures("Cross-fitted loss, %"));
    }
    let again = results(report).any(|(_, _, r)| r.refit_loss_low.is_some());
    if again {
        columns.extend([figures("With all fitted again from, %"), figures("to, %")]);
    }
    if of_loss {
        columns.push(figures("p of the loss"));
    }
    if held_out {
        columns.push(figures("Held-out loss, %"));
    }
    let rows = results(report)
        .map(|(group, model, result)| {
            let model = report.models.get(model).map_or("", |m| m.name.as_str());
            let mut cells = vec![Cell::name(&group.name), Cell::name(model)];
            cells.extend(interval_cells(result.relative_error_interval(), percent));
            if of_error {
                cells.push(p_cell(result.relative_error_adjusted_p));
            }
            cells.extend(interval_cells(result.loss_interval(), percent));
            if crossed {
                let value = result.cross_fitted_loss.unwrap_or(f64::NAN);
                cells.push(Cell::number(percent.bare(value), value));
            }
            if again {
                let interval = result.refit_loss_low.zip(result.refit_loss_high);
                cells.extend(interval_cells(interval, percent));
            }
            if of_loss {
                cells.push(p_cell(result.refit_loss_adjusted_p));
            }
            if held_out {
                let value = result.held_out_loss.unwrap_or(f64::NAN);
                cells.push(Cell::number(percent.bare(value), value));
            }
            Row { cells, rank: None }
        })
        .collect();
    Table {
        caption: format!("{} intervals of error and loss", share(real.level)),
        spans: Vec::new(),
        columns,
        rows,
    }
}

fn p_cell(p: Option<f64>) -> Cell {
    match p {
        Some(p) => Cell::number(escape(&p_value(p)), p),
        None => Cell::number(NONE.into(), f64::NAN),
    }
}

fn interval_cells(interval: Option<(f64, f64)>, percent: Percent) -> [Cell; 2] {
    let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
    [low, high].map(|end| Cell::number(percent.bare(end), end))
}
