//! Section 4: how far the fit can be trusted.

use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, figure, figures, words};
use crate::content::{FitQuality, GroupOutcome, Quality, Report, Status};
use crate::escape::{name, strong};
use crate::numbers::{Percent, count, counted, scientific, seconds};
use crate::pictures::{self, NARROW, WIDE, thinned};
use crate::svg::Theme;

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let quality = report.quality.as_ref().filter(|q| !q.fits.is_empty())?;
    let mut body = String::new();
    if let Some(fit) = quality.fits.last() {
        let _ = write!(body, "<p class=\"lead\">{}</p>", outcome(fit));
        if let Some(text) = optimality(report, fit, percent) {
            let _ = write!(body, "<p>{text}</p>");
        }
    }
    let draw = |width| pictures::convergence(report, percent, width).map(|c| c.draw(Theme::Page));
    if let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) {
        body.push_str(&figure(
            &wide,
            &narrow,
            &format!("The largest {} of any group after each iteration.", quality.criterion),
        ));
        body.push_str(&history(quality, percent).folded("The curve as a table"));
    }
    body.push_str(&fits(quality, percent).render());
    Some(Section { id: "quality", title: "How good is this fit?", body })
}

fn outcome(fit: &FitQuality) -> String {
    let time = fit
        .seconds
        .filter(|s| s.is_finite())
        .map_or_else(String::new, |s| format!(" in {}", seconds(s)));
    let after = format!("after {}{time}", counted(fit.iterations, "iteration"));
    let model = name(&fit.model);
    if fit.status == Status::Converged {
        format!("{model} converged {after}.")
    } else {
        format!(
            "<strong>{model} did not converge</strong>: it stopped {after} ({}). More iterations may change the numbers of this report.",
            in_words(fit.status)
        )
    }
}

fn in_words(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationLimit => "reached the iteration limit",
        Status::TimeLimit => "reached the time limit",
        Status::Stopped => "was stopped",
    }
}

fn optimality(report: &Report, fit: &FitQuality, percent: Percent) -> Option<String> {
    let mut sentences = Vec::new();
    if let Some(gap) = fit.step_gap.filter(|g| g.is_finite()) {
        sentences.push(format!(
            "The dictionary is the best one for its representation, to within {} in loss.",
            scientific(gap)
        ));
    }
    sentences.extend(bound(report, fit, percent));
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The global bound in words.
fn bound(report: &Report, fit: &FitQuality, percent: Percent) -> Option<String> {
    let bound = fit.global_bound.filter(|b| b.is_finite())?;
    // The model reported on; it is not among the fits where it is somebody else's dictionary.
    let index = report.models.len().checked_sub(1)?;
    let model = &report.models[index];
    let what = report.quality.as_ref()?.criterion;
    let inside = report.who_pays.groups.iter().filter(|g| !g.outside);
    let of = |g: &GroupOutcome| Some(g.results.get(index)?.loss - g.allowance.unwrap_or(0.0));
    let reached = inside.filter_map(of).filter(|l| l.is_finite()).reduce(f64::max)?;
    let rank = model.rank;
    let this = match model.name == fit.model {
        true => "this fit".to_owned(),
        false => name(&model.name),
    };
    let start = format!(
        "No model of rank {rank} can have a worst {what} below {}",
        strong(&percent.show(percent.below(bound)))
    );
    // A bound above the value is rounding; the two then agree to the digits shown.
    Some(if percent.same(reached, percent.below(bound)) || reached < bound {
        format!(
            "{start}; {this} reaches it to the digits shown, so at this rank no model does visibly better."
        )
    } else {
        format!(
            "{start}; {this} reaches {}, so it is at most {} from the best possible. (The bound may be too low; \
             the distance may be smaller than that.)",
            percent.show(reached),
            percent.points(percent.above(reached - bound))
        )
    })
}

fn fits(quality: &Quality, percent: Percent) -> Table {
    let gaps = quality.fits.iter().any(|f| f.step_gap.is_some());
    let bounds = quality.fits.iter().any(|f| f.global_bound.is_some());
    let mut columns = vec![words("Model"), words("Status"), figures("Iterations"), figures("Time")];
    if gaps {
        columns.push(figures("Step gap"));
    }
    if bounds {
        columns.push(figures("Bound, %"));
    }
    let rows = quality
        .fits
        .iter()
        .map(|fit| {
            let time = fit.seconds.unwrap_or(f64::NAN);
            let mut cells = vec![
                Cell::name(&fit.model),
                Cell::name(in_words(fit.status)),
                Cell::number(count(fit.iterations), fit.iterations as f64),
                Cell::number(seconds(time), time),
            ];
            if gaps {
                let gap = fit.step_gap.unwrap_or(f64::NAN);
                cells.push(Cell::number(scientific(gap), gap));
            }
            if bounds {
                let bound = fit.global_bound.unwrap_or(f64::NAN);
                cells.push(Cell::number(percent.bare(percent.below(bound)), bound));
            }
            Row { cells, rank: None }
        })
        .collect();
    Table { caption: "The fits".into(), spans: Vec::new(), columns, rows }
}

/// At most some fifteen rows, dense at the start.
fn history(quality: &Quality, percent: Percent) -> Table {
    let longest = quality.fits.iter().map(|f| f.history.len()).max().unwrap_or(0);
    let places = thinned(longest);
    let stride = places.len().div_ceil(15).max(1);
    let mut shown: Vec<usize> = places.iter().copied().step_by(stride).collect();
    if shown.last() != places.last() {
        shown.extend(places.last());
    }
    let kept: Vec<&FitQuality> = quality.fits.iter().filter(|f| !f.history.is_empty()).collect();
    let mut columns = vec![figures("Iteration")];
    columns.extend(kept.iter().map(|f| figures(format!("{}, %", f.model))));
    let rows = shown
        .into_iter()
        .map(|i| {
            let mut cells = vec![Cell::number(count(i + 1), (i + 1) as f64)];
            cells.extend(kept.iter().map(|f| {
                let value = f.history.get(i).copied().unwrap_or(f64::NAN);
                Cell::number(percent.bare(value), value)
            }));
            Row { cells, rank: None }
        })
        .collect();
    Table {
        caption: format!("Worst {} after some of the iterations", quality.criterion),
        spans: Vec::new(),
        columns,
        rows,
    }
}
