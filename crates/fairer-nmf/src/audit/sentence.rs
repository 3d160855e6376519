//! The words of a verdict.

use super::difference::{Differences, Range};
use super::findings::{Findings, VerdictCode, smaller_of_two};
use super::group::GroupAudit;
use crate::{Baseline, Note};

/// Width of an interval of a difference beyond which the rows say next to nothing.
const NOTHING: f64 = 0.5;

/// Rows without which there is no scatter to go by, whatever the rank.
const LEAST: usize = 3;

/// Digits after the point of a percentage at the most: what differs by less is rounding.
const MOST_DIGITS: usize = 6;

/// One or two sentences about group `l`.
pub(super) fn sentence(
    code: VerdictCode,
    l: usize,
    found: &Findings<'_>,
    differences: &Differences,
    answers: &[VerdictCode],
) -> String {
    let (group, d) = (&found.groups[l], &differences.groups[l]);
    let (name, rows) = (format!("“{}”", group.name), rows(group));
    let sure = percent(differences.level);
    match code {
        VerdictCode::Evidence => {
            let others: Vec<String> = (0..answers.len())
                .filter(|&k| k != l && answers[k] == code)
                .map(|k| format!("“{}”", found.groups[k].name))
                .collect();
            let others = match others.as_slice() {
                [] => String::new(),
                [one] => format!("; {one} pays more, too"),
                [most @ .., last] => format!("; {} and {last} pay more, too", most.join(", ")),
            };
            format!(
                "{name} ({rows}) pays {} points more than the other groups for sharing one model: at least {} points with {sure} confidence over all {} groups (adjusted p {}){others}.{}",
                small_points(d.difference.estimate),
                small_points(d.difference.low),
                answers.len(),
                p_value(found.adjusted_p(l, differences), found.p_is_least(l, differences)),
                beside(l, found, ""),
            )
        }
        VerdictCode::NoEvidence => format!(
            "No group pays noticeably more than the others for sharing one model: the largest difference is that of {name} ({rows}), {} points, and more than {} points is ruled out for every group with {sure} confidence.{}",
            points(d.difference.estimate),
            points(differences.matters),
            beside(l, found, small_excess(l, found, differences)),
        ),
        VerdictCode::TooFewRows | VerdictCode::NotTested => {
            let needed = needed(l, found, differences);
            let found_of_it = if d.difference.low > 0.0 {
                format!(
                    "{name} ({rows}) pays an estimated {} points more on rows that the model has not seen, but its loss does not stand out: with labels drawn at random that of some group does as much in {} of draws.",
                    points(d.difference.estimate),
                    percent(found.adjusted_p(l, differences)),
                )
            } else if d.difference.high - d.difference.low > NOTHING {
                format!("those of {name} ({rows}) say next to nothing about a difference{needed}.")
            } else {
                format!(
                    "{name} ({rows}) pays between {} and {}{}, either limit with {sure} confidence{needed}.",
                    more_or_less(d.difference.low, d.difference.high),
                    more_or_less(d.difference.high, d.difference.low),
                    than(l, found.groups),
                )
            };
            format!(
                "There is no evidence that a group pays more than the others, but too few rows to rule it out: {found_of_it}{}",
                beside(l, found, unproved_excess(l, found, differences)),
            )
        }
    }
}

fn rows(group: &GroupAudit) -> String {
    match group.rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    }
}

/// The other one of two groups, with its rows, which may be what is too few.
fn than(l: usize, groups: &[GroupAudit]) -> String {
    match groups {
        [a, b] => {
            let other = if l == 0 { b } else { a };
            format!(" than “{}” ({})", other.name, rows(other))
        }
        _ => String::new(),
    }
}

/// How many rows would tell; of two groups those of the smaller one, whichever the sentence is about.
fn needed(l: usize, found: &Findings<'_>, differences: &Differences) -> String {
    let (groups, matters) = (found.groups, points(differences.matters));
    let scarce = smaller_of_two(groups).unwrap_or(l);
    let whose = if scarce == l {
        "of its rows".to_owned()
    } else {
        format!("rows of “{}”", groups[scarce].name)
    };
    // The scatter of a few rows says nothing of that of more.
    let least = LEAST.max(2 * found.rank);
    if groups[scarce].small || groups[scarce].rows < LEAST {
        return format!(
            "; it takes at least {least} {whose} to say how many would be needed to tell {matters} points from none"
        );
    }
    match differences.groups[scarce].rows_needed {
        Some(needed) if needed > groups[scarce].rows => {
            format!("; about {needed} {whose} would be needed to tell {matters} points from none")
        }
        Some(_) => String::new(),
        None => format!(
            "; to tell {matters} points from none, more rows of the other groups would be needed, too"
        ),
    }
}

/// One end of an interval of a difference, beside the other end.
fn more_or_less(end: f64, other: f64) -> String {
    match (end < 0.0, other < 0.0) {
        (true, _) => format!("{} points less", points(-end)),
        (false, true) => format!("{} more", points(end)),
        (false, false) => format!("{} points more", points(end)),
    }
}

/// What a random group of its size would show, and what that comes to.
fn beside(l: usize, found: &Findings<'_>, comes_to: &str) -> String {
    let Some(chance) = found.chance.map(|c| &c.groups[l]) else { return String::new() };
    let [loss, low, high] = told_apart([chance.loss, chance.low, chance.high]);
    format!(
        " The loss of “{}” is {loss}, where a random group of its size would show {low} to {high}{comes_to}.",
        found.groups[l].name,
    )
}

/// A loss and the ends of a band, with as many digits as it takes to see on which side of them it lies, and that they are two.
fn told_apart(shares: [f64; 3]) -> [String; 3] {
    let [loss, low, high] = shares;
    let on_an_end = loss == low || loss == high;
    let told = |[of_loss, of_low, of_high]: &[String; 3]| {
        (low == high || of_low != of_high)
            && (on_an_end || (of_loss != of_low && of_loss != of_high))
    };
    let with =
        |digits: usize| shares.map(|share| with_minus(&format!("{:.digits$} %", 100.0 * share)));
    let shown = shares.map(percent);
    if told(&shown) {
        return shown;
    }
    (2..=MOST_DIGITS).map(with).find(told).unwrap_or(shown)
}

/// A loss beyond the band, where no difference to the others matters.
fn small_excess(l: usize, found: &Findings<'_>, differences: &Differences) -> &'static str {
    match found.chance.map(|c| &c.groups[l]) {
        Some(c) if c.loss > c.high && c.excess_loss <= differences.matters => {
            ": it is beyond most of them, by less than what would matter"
        }
        Some(c) if c.loss > c.high => {
            ": sharing costs it more than that, and the others about as much"
        }
        _ => "",
    }
}

/// A loss beyond the band, where rows are too few to say that the group pays more.
fn unproved_excess(l: usize, found: &Findings<'_>, differences: &Differences) -> &'static str {
    match found.chance.map(|c| &c.groups[l]) {
        Some(c) if c.loss > c.high && c.adjusted_p <= 1.0 - differences.level => {
            ": of these rows that is more than chance, of others of the group they are too few to tell"
        }
        Some(c) if c.loss > c.high => ": it lies above that range, as some group may by chance",
        _ => "",
    }
}

/// A difference that is there, and smaller than what would matter.
pub(super) fn slight(code: VerdictCode, l: usize, differences: &Differences) -> Option<Note> {
    let high = differences.groups[l].difference.high;
    (code == VerdictCode::Evidence && high < differences.matters).then(|| {
        let sentence = format!(
            "That is less than what counts as noticeable here: more than {} points is ruled out (option “matters”).",
            points(differences.matters)
        );
        Note::new("evidence-is-slight", sentence)
    })
}

/// Groups that pay clearly less than the others, where it is not said who pays more: against their mean nobody does, if several do.
pub(super) fn favoured(
    code: VerdictCode,
    found: &Findings<'_>,
    differences: &Differences,
) -> Option<Note> {
    if code == VerdictCode::Evidence || found.groups.len() < 3 {
        return None;
    }
    let below = |l: usize| found.chance.is_some_and(|c| c.groups[l].loss < c.groups[l].low);
    let less = |d: &Range| d.high < 0.0 && d.estimate <= -differences.matters;
    let (l, d) = (differences.groups.iter().map(|g| g.difference).enumerate())
        .filter(|(l, d)| less(d) && below(*l))
        .min_by(|a, b| a.1.high.total_cmp(&b.1.high))?;
    let sentence = format!(
        "“{}” ({}) pays clearly less than the others: at least {} points, with {} confidence over all groups. Each of the others is compared with all but itself, so that none of them stands out.",
        found.groups[l].name,
        rows(&found.groups[l]),
        points(-d.high),
        percent(differences.level),
    );
    Some(Note::new("pays-clearly-less", sentence))
}

/// Where what is called noticeable is more than all that the model loses.
pub(super) fn coarse(
    code: VerdictCode,
    found: &Findings<'_>,
    differences: &Differences,
) -> Option<Note> {
    (code == VerdictCode::NoEvidence && differences.matters > found.total_error).then(|| {
        let sentence = format!(
            "What counts as noticeable here, {} points, is more than this model loses of all data, {}: a smaller difference may matter (option “matters”).",
            points(differences.matters),
            percent(found.total_error)
        );
        Note::new(Note::MATTERS_BEYOND_ERROR, sentence)
    })
}

/// The cost of sharing, where every group's loss is above zero and above that of random groups: of groups that mean
/// nothing, too, some dictionary of their own would be better than the shared one.
pub(super) fn cost(
    code: VerdictCode,
    found: &Findings<'_>,
    differences: &Differences,
) -> Option<Note> {
    let chance = found.chance.filter(|_| code != VerdictCode::Evidence)?;
    let of_groups = || differences.groups.iter().zip(&chance.groups);
    if !of_groups().all(|(g, c)| g.loss.low > 0.0 && c.loss > c.high) {
        return None;
    }
    let rows: f64 = found.groups.iter().map(|g| g.rows as f64).sum();
    let sum: f64 = (found.groups.iter().zip(&differences.groups))
        .map(|(g, d)| g.rows as f64 * d.loss.estimate)
        .sum();
    let mean = points(sum / rows);
    let sentence = format!("Sharing costs every group something, {mean} points on average.");
    Some(Note::new("cost-of-sharing", sentence))
}

/// Baselines that lie no further than this from those of the test are settled.
const SETTLED: f64 = 0.001;

/// Where the baselines in use differ from those of the test by more than what is compared: the differences between the
/// groups, or the losses themselves.
pub(super) fn unsettled(found: &Findings<'_>, differences: &Differences) -> Option<Note> {
    if found.baseline == Some(&Baseline::Zero) {
        let sentence = "With baselines of zero a loss is the whole error. The verdict compares something else: what the groups lose beyond topics of their own.";
        return Some(Note::new("baselines-of-zero", sentence));
    }
    let chance = found.chance?;
    let best = |l: usize| chance.best_losses.as_ref().map_or(chance.groups[l].loss, |best| best[l]);
    let off = |l: usize| (found.groups[l].loss - best(l)).abs();
    let difference = |l: usize| &differences.groups[l].difference;
    // Baselines that were given, or are of rows held out, are another quantity by intent.
    let of_runs = found.baseline.is_none_or(|b| b.is_lowest() || b.runs() > 0);
    let compared = |l: usize| match of_runs {
        true => difference(l).estimate.abs().min(found.groups[l].loss.abs()).max(SETTLED),
        false => {
            let d = difference(l);
            d.estimate.abs().max(0.5 * (d.high - d.low))
        }
    };
    let l = (0..found.groups.len())
        .filter(|&l| off(l) > compared(l))
        .max_by(|&a, &b| off(a).total_cmp(&off(b)))?;
    let what = match off(l) > difference(l).estimate.abs() {
        true => "more than it differs from the others",
        false => "more than its loss",
    };
    let (name, off) = (&found.groups[l].name, points(off(l)));
    Some(if found.baseline.is_none_or(Baseline::is_lowest) {
        Note::new(
            "baselines-unsettled",
            format!(
                "The baseline of “{name}” varies by {off} points from one estimate to the next, {what}: the lowest error of more runs settles it."
            ),
        )
    } else if of_runs {
        Note::new(
            "baselines-unsettled",
            format!(
                "The runs behind the baseline of “{name}” vary: their mean lies {off} points from the lowest error, {what}. The losses shown move with the seed; the verdict holds them against the lowest error (baseline \"best\" shows those)."
            ),
        )
    } else {
        Note::new(
            "baselines-not-lowest",
            format!(
                "The baseline of “{name}” lies {off} points from the lowest error of topics of its own, which the verdict holds losses against: {what} (baseline \"best\" shows those losses)."
            ),
        )
    })
}

/// A share as a percentage with the digits that it deserves.
pub(super) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let shown = if value.abs() >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") };
    with_minus(&shown)
}

/// A difference of shares, in points of a hundred.
fn points(share: f64) -> String {
    let value = 100.0 * share;
    // Never "-0.0".
    if value.abs() < 0.05 { "0.0".to_owned() } else { with_minus(&format!("{value:.1}")) }
}

/// The same of a difference above zero, with as many digits as it takes to be seen.
fn small_points(share: f64) -> String {
    let value = 100.0 * share;
    let digits = (1..9).find(|digits| value >= 10f64.powi(-digits)).unwrap_or(1);
    if digits == 1 { points(share) } else { format!("{value:.*}", digits as usize) }
}

/// In a sentence a minus is one, and no hyphen.
fn with_minus(number: &str) -> String {
    number.replace('-', "−")
}

/// A p-value; the least that draws can show is a limit.
fn p_value(p: f64, least: bool) -> String {
    match (p < 0.001, least) {
        (true, _) => "below 0.001".to_owned(),
        (false, true) => format!("at most {p:.3}"),
        (false, false) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests;
