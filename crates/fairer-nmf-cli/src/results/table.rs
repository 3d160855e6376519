//! A fit or an audit as a table for people.

use anstyle::Style;
use fairer_nmf::fit::Choice;
use fairer_nmf::internals::{four_digits, told_apart};
use fairer_nmf::stopping::Status;
use fairer_nmf_report::GroupResult;

use super::outcome::{GroupOutcome, Outcome};
use crate::screen::{
    BAD, FAINT, GOOD, PLAIN, STRONG, Table, counted, duration, listed, printable, styled,
};
use crate::work::Maker;

/// Changes below this are rounding and stopping, not gains and losses: as R-Error.
const NOTICEABLE: f64 = 5e-5;

/// The verdict's sentence as a line, where there is one, and what a reader has to know besides.
fn said(outcome: &Outcome) -> Option<String> {
    let verdict = outcome.verdict.as_ref()?;
    let sentence = styled(STRONG, &printable(&verdict.sentence));
    let notes = verdict.notes.iter().map(|note| format!("{}\n", printable(&note.sentence)));
    Some(format!("{sentence}\n{}", notes.collect::<String>()))
}

/// `297 rows, 12 features, 2 groups`.
pub(crate) fn dimensions(rows: usize, features: usize, groups: usize) -> String {
    [counted(rows, "row"), counted(features, "feature"), counted(groups, "group")].join(", ")
}

/// The whole text: heading, table, who is better and worse off, certificate; with something more to say between the
/// verdict, which leads, and the heading.
pub(crate) fn table_after(outcome: &Outcome, more: &str) -> String {
    let mut text = said(outcome).map_or_else(String::new, |said| format!("{said}\n"));
    text += more;
    text += &heading(outcome);
    text += &group_table(outcome);
    text += &outcome.left_alone.as_ref().map_or_else(String::new, |said| format!("{said}.\n"));
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
        outcome.timed.name(),
        duration(seconds.fit)
    );
    format!(
        "{title} of rank {}{choices}{status}\n{}\n\n",
        outcome.rank,
        styled(FAINT, &format!("{what}; {time}"))
    )
}

/// What stands in a column for a group.
type OfGroup<'a> = dyn Fn(&GroupOutcome) -> (String, Style) + 'a;

/// A column of the table of groups.
struct Column<'a> {
    header: String,
    cell: Box<OfGroup<'a>>,
}

fn column<'a>(
    header: impl Into<String>,
    cell: impl Fn(&GroupOutcome) -> (String, Style) + 'a,
) -> Column<'a> {
    Column { header: header.into(), cell: Box::new(cell) }
}

/// A column of plain numbers, with a dash where there is none.
fn numbers<'a>(
    header: impl Into<String>,
    cell: impl Fn(&GroupOutcome) -> Option<String> + 'a,
) -> Column<'a> {
    column(header, move |group| (cell(group).unwrap_or_else(dash), PLAIN))
}

/// The row of results of a group under one of its models.
type UnderModel = fn(&GroupOutcome) -> Option<&GroupResult>;

/// The model whose differences between groups were tested, which the verdict is about; none where none was.
fn model_tested(outcome: &Outcome) -> Option<UnderModel> {
    let models: [UnderModel; 2] = [|g| Some(&g.own), |g| g.standard.as_ref()];
    let has = |of: &UnderModel| {
        outcome.groups.iter().any(|g| of(g).is_some_and(|result| result.difference.is_some()))
    };
    models.into_iter().find(has)
}

/// What random groups of the size show, and nine of ten of them, in a model's row of results.
fn random(result: &GroupResult) -> Option<String> {
    let (low, high) = result.chance_low.zip(result.chance_high)?;
    Some(chance_band(result.chance_mean?, low, high))
}

/// A mean, and in brackets the range that holds nine of ten.
pub(super) fn chance_band(mean: f64, low: f64, high: f64) -> String {
    let shown = told_apart(low, high);
    format!("{} ({} to {})", shown(mean), shown(low), shown(high))
}

/// The columns that the outcome has something for, each beside what it belongs to.
fn columns(outcome: &Outcome, tied: bool) -> Vec<Column<'_>> {
    let any = |has: &dyn Fn(&GroupOutcome) -> bool| outcome.groups.iter().any(has);
    let several = outcome.groups.len() > 1;
    // Where nobody pays more than chance, nobody is worst beyond it.
    let beyond = worst_beyond(outcome);
    let some =
        !is_beyond_chance(outcome) || (beyond > 0.0 && four_digits(beyond) != four_digits(0.0));
    let worst = move |group: &GroupOutcome| is_worst(group, outcome) && several && !tied && some;
    let style = move |group: &GroupOutcome| if worst(group) { BAD } else { PLAIN };
    let compared = outcome.method != Maker::Standard && any(&|g| g.standard.is_some());
    // A test stands beside what it tests.
    let p_of = |header: &str, p: fn(&GroupResult) -> Option<f64>| {
        any(&|g| p(&g.own).is_some())
            .then(|| numbers(header, move |g| p(&g.own).map(|p| format!("{p:.4}"))))
    };
    let level = outcome.audit.as_ref().map_or(0.0, |audit| audit.options.level);
    let interval = format!("{} % interval", 100.0 * level);
    let of_own = any(&|g| random(&g.own).is_some());
    let of_audit = any(&|g| g.own.excess_loss.is_some());
    let of_standard = any(&|g| g.standard.as_ref().and_then(random).is_some());
    let excess_of_standard = |g: &GroupOutcome| g.standard.and_then(|s| s.excess_loss);
    let audited_beside = any(&|g| excess_of_standard(g).is_some());
    let tested_of = model_tested(outcome);
    let standard = |g: &GroupOutcome| g.standard.map(|s| four_digits(s.loss));
    let change = |g: &GroupOutcome| match g.change() {
        Some(change) => (plus(change), change_style(change)),
        None => (dash(), PLAIN),
    };
    let remark = move |g: &GroupOutcome| match g.group.outside {
        true => ("(outside the maximum)".to_owned(), FAINT),
        false if !worst(g) => (String::new(), BAD),
        false if has_allowance(outcome) => ("<- worst adjusted loss".to_owned(), BAD),
        false if is_beyond_chance(outcome) => ("<- largest excess".to_owned(), BAD),
        false => ("<- largest loss".to_owned(), BAD),
    };
    let share = |g: &GroupOutcome| Some(format!("{:.1} %", 100.0 * g.group.observed?));
    let found = [
        Some(column("group", move |g| (g.group.name.clone(), style(g)))),
        Some(numbers("rows", |g| Some(g.group.rows.to_string()))),
        any(&|g| g.group.observed.is_some()).then(|| numbers("observed", share)),
        any(&|g| g.group.effective_rows.is_some())
            .then(|| numbers("effective", |g| Some(format!("{:.1}", g.group.effective_rows?)))),
        Some(numbers("R-Error", |g| Some(format!("{:.4}", g.own.relative_error)))),
        p_of("p of R-Error", |r| r.relative_error_adjusted_p),
        Some(column("R-Loss", move |g| (four_digits(g.own.loss), style(g)))),
        any(&|g| g.own.loss_interval().is_some()).then(|| {
            numbers(interval, |g| {
                let (low, high) = g.own.loss_interval()?;
                Some(format!("{} to {}", four_digits(low), four_digits(high)))
            })
        }),
        p_of("p of R-Loss", |r| r.refit_loss_adjusted_p),
        of_own.then(|| numbers("random group", |g| random(&g.own))),
        of_audit.then(|| numbers("excess", |g| g.own.excess_loss.map(four_digits))),
        (!of_audit && has_allowance(outcome))
            .then(|| numbers("allowed", |g| g.group.allowance.map(four_digits))),
        Some(numbers("baseline", |g| Some(baseline(g)))),
        compared.then(|| numbers("standard R-Loss", standard)),
        (compared && of_standard)
            .then(|| numbers("random group", |g| g.standard.as_ref().and_then(random))),
        (compared && audited_beside)
            .then(|| numbers("excess", move |g| excess_of_standard(g).map(four_digits))),
        tested_of.map(|of| numbers("difference", move |g| Some(plus(of(g)?.difference?)))),
        tested_of
            .map(|of| numbers("adjusted p", move |g| Some(format!("{:.4}", of(g)?.adjusted_p?)))),
        compared.then(|| column("change", change)),
        Some(column("", remark)),
    ];
    found.into_iter().flatten().collect()
}

fn has_allowance(outcome: &Outcome) -> bool {
    outcome.groups.iter().any(|g| g.group.allowance.is_some())
}

fn group_table(outcome: &Outcome) -> String {
    let tied = tied(outcome);
    let columns = columns(outcome, tied);
    let header: Vec<&str> = columns.iter().map(|column| column.header.as_str()).collect();
    let mut table = Table::new(1, &header);
    let mut family = None;
    for group in &outcome.groups {
        if group.group.family != family {
            family.clone_from(&group.group.family);
            let heading = (family.clone().unwrap_or_default(), STRONG);
            let blank = (1..header.len()).map(|_| (String::new(), PLAIN));
            table.styled_row(std::iter::once(heading).chain(blank));
        }
        table.styled_row(columns.iter().map(|column| (column.cell)(group)));
    }
    let mut text = table.render();
    if tied {
        let (count, all) = (worst_count(outcome), outcome.groups.len());
        let who =
            if count == all { "All groups".to_owned() } else { format!("{count} of {all} groups") };
        let what = if has_allowance(outcome) { "R-Loss less what is allowed" } else { "R-Loss" };
        text +=
            &format!("{who} share the largest {what}, {}.\n", four_digits(worst_beyond(outcome)));
    }
    if header.contains(&"allowed") {
        text += "allowed: what the fit takes off a loss before it makes the largest small (adjusted loss): what random groups pay, or what the group pays under standard NMF where it does not stand out; less for a group that would else pay more than the others gain, or more for those.\n";
    }
    if outcome.groups.iter().any(|g| g.own.cross_fitted_loss.is_some()) {
        text += "interval: of the loss in the population against the group's own best dictionary, by rows that the dictionaries have not seen; R-Loss is that of these rows against the baseline.\n";
    }
    if header.contains(&"random group") {
        text += "random group: the mean of random groups of that size, whoever is in them, and in brackets what nine of ten random groups of that size show";
        text += match header.contains(&"excess") {
            true => {
                "; excess: the R-Loss before it less that mean, with the baseline estimated as theirs are.\n"
            }
            false => ".\n",
        };
    }
    if header.contains(&"difference") {
        text += "difference: the loss on rows that the model has not seen less that of the other groups, which the verdict is about; adjusted p: how often some group differs as much by the choice of rows or, if that is more often, by chance.\n";
    }
    text += &outcome.drawn.as_ref().map_or_else(String::new, |said| format!("{said}\n"));
    text
}

/// The min-max fit makes losses, less what chance explains, equal: whoever shows the same digits is
/// as badly off.
fn is_worst(group: &GroupOutcome, outcome: &Outcome) -> bool {
    four_digits(beyond(group)) == four_digits(worst_beyond(outcome)) && !group.group.outside
}

/// The loss less what chance explains: what the fit allowed, else what random groups of the size pay by the
/// audit; the loss itself where neither knows.
fn beyond(group: &GroupOutcome) -> f64 {
    let allowed = group.group.allowance.map(|allowed| group.own.loss - allowed);
    allowed.or(group.own.excess_loss).unwrap_or(group.own.loss)
}

/// Whether groups are compared by what they pay beyond chance.
fn is_beyond_chance(outcome: &Outcome) -> bool {
    has_allowance(outcome) || outcome.groups.iter().any(|g| g.own.excess_loss.is_some())
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

fn plus(value: f64) -> String {
    match four_digits(value) {
        text if value > 0.0 && text != "0.0000" => format!("+{text}"),
        text => text,
    }
}

fn dash() -> String {
    "-".to_owned()
}

fn change_style(change: f64) -> Style {
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
    let of_inside = match outcome.groups.iter().any(|g| g.group.outside) {
        true => " of the groups inside the maximum",
        false => "",
    };
    format!(
        "Better off than under standard NMF: {}\nWorse off than under standard NMF:  {}\nWorst loss{}: {} here, {} under standard NMF.\n",
        styled(GOOD, &sentence(&better, "no group")),
        styled(BAD, &sentence(&worse, "no group")),
        of_inside,
        four_digits(outcome.worst_loss),
        four_digits(standard_worst),
    )
}
