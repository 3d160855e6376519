//! The neighbours side by side: the table of `compare`, and its page.

use fairer_nmf::audit::is_small;
use fairer_nmf::baseline::Baseline;
use fairer_nmf::internals::{four_digits, four_digits_below};
use fairer_nmf::{GroupedData, Note};
use fairer_nmf_paper::neighbours::{Compared, Outcome};
use fairer_nmf_report as page;
use fairer_nmf_report::library::{self, About, setting};

use serde::Serialize;

use super::publish::json;
use crate::screen::{FAINT, PLAIN, STRONG, Table, styled};

/// Methods are set beside each other, and a verdict is about one model.
const NOT_TESTED: &str = "Whether some group pays more than the others was not tested: the methods are only set side by side. Fit or audit with the one that you choose, which tests it.";

/// Every method with total error, worst loss and the losses of all groups.
pub(crate) fn neighbour_table(found: &Compared) -> String {
    let mut header = vec!["method", "total error", "worst loss", "worst excess", "seconds"];
    header.extend(found.groups.iter().map(String::as_str));
    let mut table = Table::new(1, &header);
    for method in &found.methods {
        let mut cells = vec![
            method.title.to_owned(),
            four_digits(method.total_error),
            four_digits(method.worst_loss),
            four_digits(method.worst_excess),
            format!("{:.2}", method.seconds),
        ];
        cells.extend(method.losses.iter().copied().map(four_digits));
        table.row(PLAIN, cells);
    }
    for (what, values) in chance_rows(found) {
        let blank = (1..5).map(|_| String::new());
        let values = values.iter().copied().map(four_digits);
        table.row(FAINT, std::iter::once(what.to_owned()).chain(blank).chain(values));
    }
    let heading = styled(STRONG, &format!("Losses of the groups at rank {}", found.rank));
    let remarks = found.methods.iter().filter_map(|method| {
        method.remark.as_ref().map(|remark| format!("{}: {remark}\n", method.title))
    });
    let bound = found.global_bound.map_or_else(String::new, |bound| {
        let bound = four_digits_below(bound);
        format!("No shared model of this rank has a worst loss below {bound}.\n")
    });
    let chance = format!(
        "random group: what nine of ten random groups of that size show under standard NMF, whoever is in them, and their mean ({} draws); worst excess: the largest R-Loss less that mean.\n",
        found.chance_draws
    );
    format!("{heading}\n\n{}\n{chance}{bound}{}", table.render(), remarks.collect::<String>())
}

/// What random groups show, as the last rows of the table.
fn chance_rows(found: &Compared) -> [(&'static str, &[f64]); 3] {
    [
        ("random group, mean", &found.chance_mean),
        ("random group, from", &found.chance_low),
        ("random group, to", &found.chance_high),
    ]
}

/// How many random groups stand behind what chance shows.
fn drawn(found: &Compared) -> Note {
    let sentence = format!(
        "What random groups show comes from {} draws of groups of every size, under standard NMF.",
        found.chance_draws
    );
    Note::new("draws-of-random-groups", sentence)
}

/// The page: every method is a model.
pub(crate) fn of_neighbours(
    about: About<'_>,
    data: &GroupedData<'_>,
    (found, baseline): (&Compared, &Baseline),
) -> page::Report {
    let group = |(l, name): (usize, &String)| page::GroupOutcome {
        group: page::Group {
            name: name.clone(),
            rows: found.rows[l],
            relative_baseline: found.relative_baselines[l],
            small: is_small(found.rows[l], found.rank),
            ..page::Group::default()
        },
        results: (found.methods.iter())
            .map(|method| page::GroupResult {
                chance_mean: Some(found.chance_mean[l]),
                chance_low: Some(found.chance_low[l]),
                chance_high: Some(found.chance_high[l]),
                relative_error: method.relative_errors[l],
                loss: method.losses[l],
                excess_loss: Some(method.excess_losses[l]),
                ..page::GroupResult::default()
            })
            .collect(),
        ..page::GroupOutcome::default()
    };
    let model = |method: &Outcome| page::ModelSummary {
        name: method.title.to_owned(),
        rank: found.rank,
        total_error: Some(method.total_error),
        ..page::ModelSummary::default()
    };
    let remarks = found.methods.iter().filter_map(|method| {
        method.remark.as_ref().map(|remark| Note {
            code: remark.code.clone(),
            sentence: format!("{}: {remark}.", method.title),
        })
    });
    page::Report {
        verdict: Some(page::Verdict::not_tested(NOT_TESTED)),
        subtitle: format!("{} methods, {} topics", found.methods.len(), found.rank),
        settings: vec![setting("rank", found.rank)],
        models: found.methods.iter().map(model).collect(),
        who_pays: page::WhoPays {
            baseline_runs: 0,
            baseline_kind: page::Yardstick::of(baseline),
            groups: found.groups.iter().enumerate().map(group).collect(),
        },
        compared: Some(page::Compared {
            global_bound: found.global_bound,
            methods: found
                .methods
                .iter()
                .map(|method| side_by_side(method, &found.groups))
                .collect(),
        }),
        title: about.title,
        generated: about.generated,
        command: about.command,
        data: library::data_summary(data),
        warnings: neighbour_warnings(found),
        notes: (about.notes.into_iter().chain([drawn(found)]).chain(remarks))
            .map(page::Remark::from)
            .collect(),
        ..page::Report::default()
    }
}

/// What a reader has to look after, as the terminal and the page say it.
pub(crate) fn neighbour_warnings(found: &Compared) -> Vec<page::Remark> {
    found.warnings.iter().cloned().map(page::Remark::from).collect()
}

/// A method among the others.
fn side_by_side(method: &Outcome, groups: &[String]) -> page::ComparedMethod {
    let excess =
        |(group, &excess_loss): (&String, &f64)| page::Excess { group: group.clone(), excess_loss };
    page::ComparedMethod {
        model: method.title.to_owned(),
        total_error: method.total_error,
        worst_loss: method.worst_loss,
        worst_excess: method.worst_excess,
        seconds: method.seconds,
        excess_losses: groups.iter().zip(&method.excess_losses).map(excess).collect(),
    }
}

/// The fields of `--json`; docs/schema/compare.json has them.
#[derive(Serialize)]
struct Fields<'a> {
    schema: u32,
    #[serde(flatten)]
    found: &'a Compared,
    version: &'static str,
}

/// As JSON for programs.
pub(crate) fn neighbour_json(found: &Compared) -> Vec<u8> {
    json(&Fields { schema: page::SCHEMA, found, version: env!("CARGO_PKG_VERSION") })
}
