//! The table of groups beside random groups of their size.

use super::parts::{Cell, Row, Table, figures, words};
use crate::content::{GroupOutcome, Report};
use crate::escape::escape;
use crate::numbers::{Percent, count, p_value};

/// Groups under the first model beside random groups of their size.
pub fn table(report: &Report, groups: Vec<&GroupOutcome>, percent: Percent) -> Table {
    let first = report.models.first().map_or("", |m| m.name.as_str());
    let chance = groups.iter().any(|g| g.results.first().is_some_and(|r| r.chance().is_some()));
    // Differences are of audits, which test them.
    let has_difference = |g: &&GroupOutcome| {
        g.results.first().is_some_and(|r| r.difference.is_some() || r.adjusted_p.is_some())
    };
    let tested = groups.iter().any(has_difference);
    let mut columns = vec![words("Group"), figures("Rows"), figures("Loss, %")];
    if chance {
        columns
            .extend(["Random groups, %", "from, %", "to, %", "Beyond them, points"].map(figures));
    }
    if chance && tested {
        columns.extend(["Beyond the others, points", "p, adjusted"].map(figures));
    }
    let rows = groups.into_iter().map(|group| {
        let result = group.results.first().copied().unwrap_or_default();
        let mut cells = vec![
            Cell::name(&group.name),
            Cell::number(count(group.rows), group.rows as f64),
            Cell::number(percent.bare(result.loss), result.loss),
        ];
        if chance {
            let (low, high) = result.chance().unwrap_or((f64::NAN, f64::NAN));
            let percent = percent.telling(low, high);
            let shown = |value: Option<f64>| {
                let value = value.unwrap_or(f64::NAN);
                Cell::number(percent.bare(value), value)
            };
            cells.extend([result.chance_mean, result.chance_low, result.chance_high].map(shown));
            let excess = result.excess_loss.unwrap_or(f64::NAN);
            cells.push(Cell::number(percent.signed(excess), excess));
        }
        if chance && tested {
            let difference = result.difference.unwrap_or(f64::NAN);
            cells.push(Cell::number(percent.signed(difference), difference));
            let p = result.adjusted_p.unwrap_or(f64::NAN);
            cells.push(Cell::number(escape(&p_value(p)), p));
        }
        Row { cells, rank: None }
    });
    Table {
        caption: match chance {
            true => format!("Every group under {first}, beside random groups of its size"),
            false => format!("Every group under {first}"),
        },
        spans: Vec::new(),
        columns,
        rows: rows.collect(),
    }
}
