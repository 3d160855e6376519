//! `reproduction.md`: what was run and every verdict, as the tables of docs/reproduction.md.

use std::fmt::Write;

use super::cause::{is_compared, is_marked};
use super::cells::Cells;
use super::chance::{self, Beside};
use super::claims::{Check, Finding};
use super::convergence::Curve;
use super::sets::SETS;

pub(super) fn render(
    ours: &Cells,
    paper: &Cells,
    findings: &[Finding],
    curves: &[Curve],
    chance: &[Beside],
) -> String {
    let mut out = String::from(
        "| experiment | ranks | trials here | trials in the paper | cells that differ from the paper's |\n|---|---|---|---|---|\n",
    );
    for set in &SETS {
        let rows = ours.beside(paper, set.key);
        let trials = |pick: fn(&(_, super::cells::Cell, super::cells::Cell)) -> usize| {
            range(rows.iter().map(pick))
        };
        let Some((here, there)) = trials(|row| row.1.trials).zip(trials(|row| row.2.trials)) else {
            continue;
        };
        let ranks = range(ours.ranks(set.key).into_iter()).unwrap_or_default();
        let compared = rows.iter().filter(|row| is_compared(&row.0)).count();
        let marked = rows.iter().filter(|row| is_marked(row)).count();
        let _ = writeln!(
            out,
            "| {} | {ranks} | {here} | {there} | {marked} of {compared} |",
            set.title
        );
    }
    for set in &SETS {
        if let Some(curve) = curves.iter().find(|c| c.dataset == set.key) {
            let (title, rank, trials) = (set.title, set.most, curve.trials);
            let _ = writeln!(
                out,
                "| Convergence, {title} | {rank} | {trials} | 100 | no published numbers |"
            );
        }
    }
    out += "\n| # | verdict | here | the paper's numbers |\n|---|---|---|---|\n";
    for finding in findings {
        let (number, verdict) = (finding.number, finding.verdict().name());
        let (here, there) = (checks(&finding.ours), checks(&finding.paper));
        let _ = writeln!(out, "| {number} | {verdict} | {here} | {there} |");
    }
    if !chance.is_empty() {
        out += "\n| data | group | beside random groups of its size |\n|---|---|---|\n";
    }
    for said in chance::said(chance) {
        let _ = writeln!(out, "| {} | {} | {} |", said.title, said.group, said.sentence);
    }
    out
}

/// From the smallest to the largest.
fn range(values: impl Iterator<Item = usize> + Clone) -> Option<String> {
    let (least, most) = (values.clone().min()?, values.max()?);
    Some(if least == most { least.to_string() } else { format!("{least}–{most}") })
}

fn checks(checks: &[Check]) -> String {
    let one = |check: &Check| {
        format!("{}: {}", if check.met { "yes" } else { "**no**" }, check.text.replace('|', "/"))
    };
    match checks {
        [] => "no numbers".to_owned(),
        checks => checks.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}
