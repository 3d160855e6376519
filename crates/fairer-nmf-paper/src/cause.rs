//! Why a cell differs from the paper's: the cause, as far as the numbers tell it.

use super::approach::Approach;
use super::cells::{Cell, Cells, Key};
use super::metric::Metric;
use super::sets::Set;

/// Whether two cells differ by more than their standard deviations together, and by more than
/// can be seen.
pub(super) fn apart(ours: Cell, paper: Cell, metric: Metric) -> bool {
    let least = if metric == Metric::ErrorPercent { 0.1 } else { 0.001 };
    let spread = ours.sd.unwrap_or(0.0).hypot(paper.sd.unwrap_or(0.0));
    (ours.mean - paper.mean).abs() > spread.max(least)
}

/// Whether a cell is shown as [`apart`]; times come from different machines and never are.
pub(super) fn is_marked((key, ours, paper): &(Key, Cell, Cell)) -> bool {
    is_compared(key) && apart(*ours, *paper, key.2)
}

pub(super) fn is_compared(key: &Key) -> bool {
    key.2 != Metric::Seconds
}

/// Standard deviation in percentage points.
fn points(cell: Cell, metric: Metric) -> f64 {
    metric.scale() * cell.sd.unwrap_or(0.0)
}

/// A sentence for a cell that is [`apart`].
pub(super) fn cause(set: &Set, key: Key, ours: &Cells, paper: &Cells) -> String {
    let (dataset, method, metric, group, rank) = key;
    let (Some(here), Some(there)) = (ours.get(key), paper.get(key)) else { return String::new() };
    let lower = here.mean < there.mean;

    // A loss is the error less the baseline: where the error agrees, the baseline does not.
    let error = (dataset, method, Metric::ErrorPercent, group, rank);
    if metric == Metric::Loss
        && let (Some(here), Some(there)) = (ours.get(error), paper.get(error))
        && !apart(here, there, Metric::ErrorPercent)
    {
        return match set.is_synthetic() {
            true => {
                "the error agrees; the baseline E is that of other data (drawn with our generator)"
            }
            false => "the error agrees; the baseline E, a mean of 5 random runs, differs",
        }
        .to_owned();
    }
    let (ours_sd, papers_sd) = (points(here, metric), points(there, metric));
    if set.is_synthetic() {
        // What the start decides moves whole points; the draw of the data is in neither spread.
        return match ours_sd.max(papers_sd) {
            sd if sd < 1.0 => "other data: both sides draw them once, so that this difference is in neither spread".to_owned(),
            _ if ours_sd > 4.0 * papers_sd.max(0.1) => format!("single runs are stuck on a plateau here (sd {ours_sd:.1} points) and none in the paper (sd {papers_sd:.1}): the random start decides"),
            _ if papers_sd > 4.0 * ours_sd.max(0.1) => format!("single runs are stuck on a plateau in the paper (sd {papers_sd:.1} points) and none here (sd {ours_sd:.1}): the random start decides"),
            _ => "which groups a run serves depends on its random start; ten starts leave the mean this uncertain".to_owned(),
        };
    }
    match method {
        Approach::Am if lower => "lower here: our AM solves both of its steps exactly, the paper\u{2019}s to a solver\u{2019}s tolerance",
        Approach::Am => "another local minimum: AM from one random start",
        Approach::Mu => "where the rule on the change of the loss stops a run from a random start",
        Approach::Alone => "one random run per trial (the last of five), which ends in a local minimum",
        Approach::Standard => "a run from a random start ends in a local minimum",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::SETS;
    use crate::store::Row;

    #[test]
    fn cells_are_apart_beyond_both_spreads_and_what_can_be_seen() {
        let cell = |mean, sd| Cell { mean, sd: Some(sd), trials: 10 };
        assert!(apart(cell(0.10, 0.003), cell(0.11, 0.004), Metric::Loss));
        assert!(!apart(cell(0.10, 0.03), cell(0.11, 0.04), Metric::Loss));
        assert!(!apart(cell(0.1000, 0.0), cell(0.1005, 0.0), Metric::Loss));
        assert!(!apart(cell(10.0, 0.0), cell(10.05, 0.0), Metric::ErrorPercent));
    }

    #[test]
    fn the_cause_follows_from_the_numbers() {
        let cells = |method, metric, values: &[f64]| {
            let row = |(trial, &value): (usize, &f64)| Row {
                dataset: "ortho2",
                method,
                metric,
                group: "Group 2",
                rank: 6,
                trial,
                value,
            };
            values.iter().enumerate().map(row).collect::<Vec<_>>()
        };
        let said = |ours: &[Row], paper: &[Row], metric| {
            let key = ("ortho2", Approach::Standard, metric, "Group 2", 6);
            cause(&SETS[1], key, &Cells::of_results(ours), &Cells::of_results(paper))
        };
        let error = |values: &[f64]| cells(Approach::Standard, Metric::ErrorPercent, values);
        let steady = said(&error(&[13.3, 13.3]), &error(&[13.2, 13.2]), Metric::ErrorPercent);
        assert!(steady.starts_with("other data"), "{steady}");
        let stuck = said(&error(&[13.3, 13.3]), &error(&[13.2, 45.0]), Metric::ErrorPercent);
        assert!(stuck.contains("stuck on a plateau in the paper (sd 22.5 points)"), "{stuck}");
        let with = |error: f64, loss: f64| {
            let loss = cells(Approach::Standard, Metric::Loss, &[loss, loss]);
            [cells(Approach::Standard, Metric::ErrorPercent, &[error, error]), loss].concat()
        };
        let baseline = said(&with(13.3, 0.05), &with(13.3, 0.06), Metric::Loss);
        assert!(baseline.starts_with("the error agrees"), "{baseline}");
    }
}
