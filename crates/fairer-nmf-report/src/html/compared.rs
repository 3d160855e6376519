//! The methods of others side by side: total error, worst loss, what is beyond chance, time, and the bound that holds for all.

use std::fmt::Write as _;

use super::Section;
use super::parts::{Cell, Row, Table, figures, words};
use crate::content::{Compared, Report};
use crate::escape::strong;
use crate::numbers::{Percent, seconds};

pub fn section(report: &Report, percent: Percent) -> Option<Section> {
    let compared = report.compared.as_ref().filter(|c| !c.methods.is_empty())?;
    let mut body = String::from(
        "<p class=\"lead\">Every method at the same rank, against the same baselines. The excess loss is the loss beyond what a \
         random group of the size pays.</p>",
    );
    if let Some(bound) = compared.global_bound.filter(|b| b.is_finite()) {
        let bound = strong(&percent.show(percent.below(bound)));
        let _ = write!(body, "<p>No shared model of this rank has a worst loss below {bound}.</p>");
    }
    body.push_str(&table(compared, percent).render());
    Some(Section { id: "compared", title: "The methods side by side", body })
}

fn table(compared: &Compared, percent: Percent) -> Table {
    let mut columns = vec![words("Method")];
    let fixed = ["Total error, %", "Worst loss, %", "Worst excess loss, points", "Time"];
    columns.extend(fixed.map(figures));
    let groups = compared.methods.iter().flat_map(|m| &m.excess_losses).map(|e| e.group.as_str());
    let count = compared.methods.first().map_or(0, |m| m.excess_losses.len());
    columns.extend(groups.take(count).map(|name| figures(format!("Excess of {name}, points"))));
    let rows = compared.methods.iter().map(|method| {
        let share = |value: f64| Cell::number(percent.bare(value), value);
        let points = |value: f64| Cell::number(percent.signed(value), value);
        let mut cells = vec![
            Cell::name(&method.model),
            share(method.total_error),
            share(method.worst_loss),
            points(method.worst_excess),
            Cell::number(seconds(method.seconds), method.seconds),
        ];
        cells.extend(method.excess_losses.iter().map(|e| points(e.excess_loss)));
        Row { cells, rank: None }
    });
    let caption = "Total error, worst loss, excess losses and time of every method".into();
    Table { caption, spans: Vec::new(), columns, rows: rows.collect() }
}
