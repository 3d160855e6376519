//! The groups under every model, as a table: models side by side, or one below the other where they are many.

use super::parts::{Cell, Column, Row, Table, figures, words};
use crate::content::{GroupOutcome, GroupResult, Report};
use crate::escape::name;
use crate::numbers::{NONE, Percent, count, plain};
use crate::pictures::by_loss;

/// More models than this do not fit side by side.
const SIDE_BY_SIDE: usize = 4;

pub fn table(report: &Report, percent: Percent) -> Table {
    let side_by_side = report.models.len() <= SIDE_BY_SIDE;
    let known = Known::of(report);
    let tops: Vec<Option<f64>> =
        (0..report.models.len()).map(|i| worst(report, i, percent).map(|(_, loss)| loss)).collect();
    let mut columns = known.columns();
    let mut spans = vec![(String::new(), columns.len())];
    if side_by_side {
        for model in &report.models {
            spans.push((model.name.clone(), 2));
            columns.extend(["Error, %", "Loss, %"].map(figures));
        }
    } else {
        columns.insert(1, words("Model"));
        columns.extend(["Error, %", "Loss, %"].map(figures));
        spans.clear();
    }
    let of_model =
        |group: &GroupOutcome, i: usize| results(group, group.results.get(i), tops[i], percent);
    let mut rows = Vec::new();
    for group in by_loss(report) {
        let own = known.cells(group, percent);
        if side_by_side {
            let results = (0..report.models.len()).flat_map(|i| of_model(group, i));
            rows.push(Row { cells: own.into_iter().chain(results).collect(), rank: None });
            continue;
        }
        for (i, model) in report.models.iter().enumerate() {
            let mut cells = known.cells(group, percent);
            cells.insert(1, Cell::name(&model.name));
            cells.extend(of_model(group, i));
            rows.push(Row { cells, rank: None });
        }
    }
    Table {
        caption: "Every group under every model; the largest loss of each model in bold".into(),
        spans,
        columns,
        rows,
    }
}

/// The groups that share the largest loss at the precision shown, and that loss.
pub fn worst(report: &Report, model: usize, percent: Percent) -> Option<(Vec<&GroupOutcome>, f64)> {
    let loss = |g: &GroupOutcome| g.results.get(model).map(|r| r.loss).filter(|l| l.is_finite());
    let groups = || report.who_pays.groups.iter().filter(|g| !g.outside);
    let largest = groups().filter_map(loss).reduce(f64::max)?;
    let mut at_top: Vec<_> =
        groups().filter(|g| loss(g).is_some_and(|l| percent.same(l, largest))).collect();
    at_top.sort_by(|a, b| loss(b).unwrap_or(0.0).total_cmp(&loss(a).unwrap_or(0.0)));
    Some((at_top, largest))
}

/// Error and loss of a group under a model, the largest loss in bold.
fn results(
    group: &GroupOutcome,
    result: Option<&GroupResult>,
    top: Option<f64>,
    percent: Percent,
) -> [Cell; 2] {
    let Some(result) = result else {
        return [NONE, NONE].map(|none| Cell::number(none.into(), f64::NAN));
    };
    let shown = percent.bare(result.loss);
    let is_top = top.is_some_and(|top| percent.same(top, result.loss)) && !group.outside;
    let shown = if is_top { format!("<strong>{shown}</strong>") } else { shown };
    let error = percent.bare(result.relative_error);
    [Cell::number(error, result.relative_error), Cell::number(shown, result.loss)]
}

/// What is known of the groups themselves.
struct Known {
    norms: bool,
    effective: bool,
    observed: bool,
}

impl Known {
    fn of(report: &Report) -> Self {
        let any = |has: fn(&GroupOutcome) -> bool| report.who_pays.groups.iter().any(has);
        Self {
            norms: any(|g| g.norm.is_some()),
            effective: any(|g| g.effective_rows.is_some()),
            observed: any(|g| g.observed.is_some()),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let found = [
            Some(words("Group")),
            Some(figures("Rows")),
            self.effective.then(|| figures("Effective rows")),
            self.observed.then(|| figures("Observed, %")),
            self.norms.then(|| figures("Norm")),
            Some(figures("Alone, %")),
        ];
        found.into_iter().flatten().collect()
    }

    fn cells(&self, group: &GroupOutcome, percent: Percent) -> Vec<Cell> {
        let effective = group.effective_rows.unwrap_or(group.rows as f64);
        let observed = group.observed.unwrap_or(1.0);
        let norm = group.norm.unwrap_or(f64::NAN);
        let found = [
            Some(Cell::html(group_name(group))),
            Some(Cell::number(count(group.rows), group.rows as f64)),
            self.effective.then(|| Cell::number(plain(effective, 1), effective)),
            self.observed.then(|| Cell::number(percent.bare(observed), observed)),
            self.norms.then(|| Cell::number(plain(norm, 2), norm)),
            Some(baseline(group, percent)),
        ];
        found.into_iter().flatten().collect()
    }
}

fn group_name(group: &GroupOutcome) -> String {
    let badge = if group.small { " <span class=\"badge\">small</span>" } else { "" };
    format!("{}{badge}", name(&group.name))
}

fn baseline(group: &GroupOutcome, percent: Percent) -> Cell {
    let spread =
        group.relative_baseline_sd.filter(|s| s.is_finite()).map_or_else(String::new, |s| {
            format!(" <span class=\"quiet\">±\u{a0}{}</span>", percent.bare(s))
        });
    Cell::number(
        format!("{}{spread}", percent.bare(group.relative_baseline)),
        group.relative_baseline,
    )
}
