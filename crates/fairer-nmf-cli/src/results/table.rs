//! A fit or an audit as a table for people.

use fairer_nmf::Status;
use fairer_nmf_report::library::p_value;

use super::outcome::{GroupOutcome, Outcome};
use crate::screen::{BAD, FAINT, GOOD, PLAIN, STRONG, Table, counted, duration, listed, styled};
use crate::work::Maker;

/// Changes below this are rounding and stopping, not gains and losses: as R-Error.
const NOTICEABLE: f64 = 5e-5;

/// `297 rows, 12 features, 2 groups`.
pub(crate) fn dimensions(rows: usize, features: usize, groups: usize) -> String {
    [counted(rows, "row"), counted(features, "feature"), counted(groups, "group")].join(", ")
}

/// The whole text: heading, table, who is better and worse off, certificate.
pub(crate) fn table(outcome: &Outcome) -> String {
    let mut text = heading(outcome);
    text += &group_table(outcome);
    text.push('\n');
    text += &better_and_worse(outcome);
    if let Some(certificate) = &outcome.certificate {
        text += &format!("Certificate: {certificate}.\n");
    }
    text
}

fn heading(outcome: &Outcome) -> String {
    let data = &outcome.data;
    let title = styled(STRONG, outcome.method.title());
    let what = dimensions(data.rows, data.features, outcome.groups.len());
    let status = |status: Status| {
        let how = status.name().replace('-', " ");
        format!(", {how} after {}", counted(outcome.iterations, "iteration"))
    };
    let status = outcome.status.map_or_else(String::new, status);
    let seconds = outcome.seconds;
    let time = format!(
        "read {}, baselines {}, {} {}",
        duration(seconds.read),
        duration(seconds.baselines),
        if outcome.audit.is_some() { "audit" } else { "fit" },
        duration(seconds.fit)
    );
    format!(
        "{title} of rank {}{status}\n{}\n\n",
        outcome.rank,
        styled(FAINT, &format!("{what}; {time}"))
    )
}

fn group_table(outcome: &Outcome) -> String {
    let compared = outcome.method != Maker::Standard
        && outcome.groups.iter().any(|g| g.standard_loss.is_some());
    let mut header = vec!["group", "rows", "R-Error", "R-Loss", "baseline"];
    if compared {
        header.extend(["standard R-Loss", "change"]);
    }
    let bootstrap =
        outcome.audit.as_ref().and_then(|a| a.bootstrap_refit.as_ref().or(a.bootstrap.as_ref()));
    let permutation = outcome
        .audit
        .as_ref()
        .and_then(|a| a.permutation_refit.as_ref().or(a.permutation.as_ref()));
    let level = bootstrap.map_or_else(String::new, |b| format!("{} % interval", 100.0 * b.level));
    if bootstrap.is_some() {
        header.insert(4, &level);
    }
    if permutation.is_some() {
        header.insert(if bootstrap.is_some() { 5 } else { 4 }, "p");
    }
    header.push("");
    let mut table = Table::new(1, &header);
    for (l, group) in outcome.groups.iter().enumerate() {
        // The min-max fit makes losses equal: whoever shows the same digits is as badly off.
        let worst = signed(group.loss) == signed(outcome.worst_loss) && outcome.groups.len() > 1;
        let style = if worst { BAD } else { PLAIN };
        let mut row = vec![
            (group.name.clone(), style),
            (group.rows.to_string(), PLAIN),
            (format!("{:.4}", group.relative_error), PLAIN),
            (signed(group.loss), style),
        ];
        row.extend(bootstrap.map(|b| {
            let loss = &b.groups[l].loss;
            (format!("{} to {}", signed(loss.low), signed(loss.high)), PLAIN)
        }));
        row.extend(permutation.map(|p| (format!("{:.4}", p_value(&p.groups[l])), PLAIN)));
        row.push((baseline(group), PLAIN));
        if compared {
            row.push((group.standard_loss.map_or_else(dash, signed), PLAIN));
            row.push(match group.change() {
                Some(change) => (plus(change), change_style(change)),
                None => (dash(), PLAIN),
            });
        }
        row.push((if worst { "<- worst" } else { "" }.to_owned(), BAD));
        table.styled_row(row);
    }
    table.render()
}

/// E/N ± its spread over the runs, comparable with R-Error.
fn baseline(group: &GroupOutcome) -> String {
    // N is positive by validation.
    let error = format!("{:.4}", group.baseline_error / group.norm);
    match group.baseline_std {
        Some(spread) => format!("{error} ± {:.4}", spread / group.norm),
        None => error,
    }
}

/// A number for people, with a minus sign only where a digit shows it.
fn signed(value: f64) -> String {
    match format!("{value:.4}") {
        text if text == "-0.0000" => "0.0000".to_owned(),
        text => text,
    }
}

fn plus(value: f64) -> String {
    match signed(value) {
        text if value > 0.0 && text != "0.0000" => format!("+{text}"),
        text => text,
    }
}

fn dash() -> String {
    "-".to_owned()
}

fn change_style(change: f64) -> anstyle::Style {
    match change {
        c if c > NOTICEABLE => BAD,
        c if c < -NOTICEABLE => GOOD,
        _ => PLAIN,
    }
}

/// Who gains and who pays when standard NMF is given up for this dictionary.
fn better_and_worse(outcome: &Outcome) -> String {
    if outcome.method == Maker::Standard || outcome.groups.iter().any(|g| g.change().is_none()) {
        return String::new();
    }
    let names = |wanted: &dyn Fn(f64) -> bool| -> Vec<String> {
        let groups = outcome.groups.iter().filter(|g| g.change().is_some_and(wanted));
        let name = |g: &GroupOutcome| format!("{} ({})", g.name, plus(g.change().unwrap_or(0.0)));
        groups.map(name).collect()
    };
    let sentence = |names: &[String], none: &str| match names {
        [] => none.to_owned(),
        names => listed(names, 12),
    };
    let better = names(&|change| change < -NOTICEABLE);
    let worse = names(&|change| change > NOTICEABLE);
    let standard = outcome.groups.iter().filter_map(|g| g.standard_loss);
    let standard_worst = standard.fold(f64::NEG_INFINITY, f64::max);
    format!(
        "Better off than under standard NMF: {}\nWorse off than under standard NMF:  {}\nWorst loss: {} here, {} under standard NMF.\n",
        styled(GOOD, &sentence(&better, "no group")),
        styled(BAD, &sentence(&worse, "no group")),
        signed(outcome.worst_loss),
        signed(standard_worst),
    )
}
