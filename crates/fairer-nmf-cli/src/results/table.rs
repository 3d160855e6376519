//! A fit or an audit as a table for people.

use fairer_nmf::{Choice, Status};

use super::outcome::{GroupOutcome, Outcome};
use crate::screen::{
    BAD, FAINT, GOOD, PLAIN, STRONG, Table, counted, duration, listed, printable, styled,
};
use crate::work::Maker;

/// Changes below this are rounding and stopping, not gains and losses: as R-Error.
const NOTICEABLE: f64 = 5e-5;

/// The verdict's sentence as a line, where there is one.
fn said(outcome: &Outcome) -> Option<String> {
    let verdict = outcome.verdict.as_ref()?;
    Some(format!("{}\n", styled(STRONG, &printable(&verdict.sentence))))
}

/// `297 rows, 12 features, 2 groups`.
pub(crate) fn dimensions(rows: usize, features: usize, groups: usize) -> String {
    [counted(rows, "row"), counted(features, "feature"), counted(groups, "group")].join(", ")
}

/// The whole text: heading, table, who is better and worse off, certificate.
pub(crate) fn table(outcome: &Outcome) -> String {
    table_after(outcome, "")
}

/// The same, with something to say between the verdict, which leads, and the heading.
pub(crate) fn table_after(outcome: &Outcome, more: &str) -> String {
    let mut text = said(outcome).map_or_else(String::new, |said| format!("{said}\n"));
    text += more;
    text += &heading(outcome);
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
    let choices = Choice::in_heading(&outcome.choices);
    let seconds = outcome.seconds;
    let time = format!(
        "read {}, baselines {}, {} {}",
        duration(seconds.read),
        duration(seconds.baselines),
        outcome.timed,
        duration(seconds.fit)
    );
    format!(
        "{title} of rank {}{choices}{status}\n{}\n\n",
        outcome.rank,
        styled(FAINT, &format!("{what}; {time}"))
    )
}

fn group_table(outcome: &Outcome) -> String {
    let compared =
        outcome.method != Maker::Standard && outcome.groups.iter().any(|g| g.standard.is_some());
    let mut header = vec!["group", "rows", "R-Error", "R-Loss", "baseline"];
    if compared {
        header.extend(["standard R-Loss", "change"]);
    }
    let allowed = outcome.groups.iter().any(|g| g.group.allowance.is_some());
    if allowed {
        header.insert(4, "chance");
    }
    let intervals = outcome.groups.iter().any(|g| g.own.loss_interval().is_some());
    let tested = outcome.groups.iter().any(|g| g.own.p_value.is_some());
    let level = outcome.audit.as_ref().map_or(0.0, |audit| audit.options.level);
    let level = format!("{} % interval", 100.0 * level);
    if intervals {
        header.insert(4, &level);
    }
    // The test beside what it tests: the loss where every random group got a baseline of its own.
    let of_loss = outcome.audit.as_ref().is_some_and(|audit| audit.permutation_refit.is_some());
    match (tested, of_loss) {
        (true, true) => header.insert(if intervals { 5 } else { 4 }, "p of R-Loss"),
        (true, false) => header.insert(3, "p of R-Error"),
        (false, _) => {}
    }
    let weighted = outcome.groups.iter().any(|g| g.group.effective_rows.is_some());
    if weighted {
        header.insert(2, "effective");
    }
    let gaps = outcome.groups.iter().any(|g| g.group.observed.is_some());
    if gaps {
        header.insert(2, "observed");
    }
    let outside = |group: &GroupOutcome| group.group.outside;
    header.push("");
    let mut table = Table::new(1, &header);
    let tied = tied(outcome);
    let mut family = None;
    for group in &outcome.groups {
        let own = &group.own;
        if group.group.family != family {
            family.clone_from(&group.group.family);
            let heading = (family.clone().unwrap_or_default(), STRONG);
            let blank = (1..header.len()).map(|_| (String::new(), PLAIN));
            table.styled_row(std::iter::once(heading).chain(blank));
        }
        let worst = is_worst(group, outcome) && outcome.groups.len() > 1 && !tied;
        let style = if worst { BAD } else { PLAIN };
        let mut row = vec![
            (group.group.name.clone(), style),
            (group.group.rows.to_string(), PLAIN),
            (format!("{:.4}", own.relative_error), PLAIN),
            (signed(own.loss), style),
        ];
        let p = (own.p_value.map_or_else(dash, |p| format!("{p:.4}")), PLAIN);
        if tested && !of_loss {
            row.insert(3, p.clone());
        }
        if weighted {
            let effective = group.group.effective_rows;
            row.insert(2, (effective.map_or_else(dash, |rows| format!("{rows:.1}")), PLAIN));
        }
        if gaps {
            let observed = group.group.observed;
            let share = observed.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share));
            row.insert(2, (share, PLAIN));
        }
        row.extend(intervals.then(|| match own.loss_interval() {
            Some((low, high)) => (format!("{} to {}", signed(low), signed(high)), PLAIN),
            None => (dash(), PLAIN),
        }));
        row.extend((tested && of_loss).then_some(p));
        let chance = group.group.allowance.map_or_else(dash, signed);
        row.extend(allowed.then_some((chance, PLAIN)));
        row.push((baseline(group), PLAIN));
        if compared {
            row.push((group.standard.map_or_else(dash, |s| signed(s.loss)), PLAIN));
            row.push(match group.change() {
                Some(change) => (plus(change), change_style(change)),
                None => (dash(), PLAIN),
            });
        }
        let remark = if worst { "<- worst" } else { "" };
        row.push(match outside(group) {
            true => ("(outside the maximum)".to_owned(), FAINT),
            false => (remark.to_owned(), BAD),
        });
        table.styled_row(row);
    }
    let mut text = table.render();
    if tied {
        let (count, all) = (worst_count(outcome), outcome.groups.len());
        let who =
            if count == all { "All groups".to_owned() } else { format!("{count} of {all} groups") };
        let what = if allowed { "R-Loss beyond chance" } else { "R-Loss" };
        text += &format!("{who} share the largest {what}, {}.\n", signed(worst_beyond(outcome)));
    }
    text
}

/// The min-max fit makes losses, less what chance explains, equal: whoever shows the same digits is
/// as badly off.
fn is_worst(group: &GroupOutcome, outcome: &Outcome) -> bool {
    signed(beyond(group)) == signed(worst_beyond(outcome)) && !group.group.outside
}

/// The loss less what a random group of the size would pay, where the fit allowed that.
fn beyond(group: &GroupOutcome) -> f64 {
    group.own.loss - group.group.allowance.unwrap_or(0.0)
}

/// The largest of those shown.
fn worst_beyond(outcome: &Outcome) -> f64 {
    let shown = outcome.groups.iter().filter(|group| !group.group.outside);
    shown.map(beyond).fold(f64::NEG_INFINITY, f64::max)
}

fn worst_count(outcome: &Outcome) -> usize {
    outcome.groups.iter().filter(|group| is_worst(group, outcome)).count()
}

/// Whether so many groups are worst that the word says nothing: at least three, and more than half.
fn tied(outcome: &Outcome) -> bool {
    let count = worst_count(outcome);
    count >= 3 && 2 * count > outcome.groups.len()
}

/// E/N ± its spread over the runs, comparable with R-Error.
fn baseline(group: &GroupOutcome) -> String {
    // N is positive by validation.
    let error = format!("{:.4}", group.group.relative_baseline);
    match group.group.relative_baseline_sd {
        Some(sd) => format!("{error} ± {sd:.4}"),
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
        let name =
            |g: &GroupOutcome| format!("{} ({})", g.group.name, plus(g.change().unwrap_or(0.0)));
        groups.map(name).collect()
    };
    let sentence = |names: &[String], none: &str| match names {
        [] => none.to_owned(),
        names => listed(names, 12),
    };
    let better = names(&|change| change < -NOTICEABLE);
    let worse = names(&|change| change > NOTICEABLE);
    let inside = outcome.groups.iter().filter(|g| !g.group.outside);
    let standard = inside.filter_map(|g| Some(g.standard?.loss));
    let standard_worst = standard.fold(f64::NEG_INFINITY, f64::max);
    format!(
        "Better off than under standard NMF: {}\nWorse off than under standard NMF:  {}\nWorst loss: {} here, {} under standard NMF.\n",
        styled(GOOD, &sentence(&better, "no group")),
        styled(BAD, &sentence(&worse, "no group")),
        signed(outcome.worst_loss),
        signed(standard_worst),
    )
}
