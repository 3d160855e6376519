//! What the words of a verdict say.

use super::*;
use crate::audit::chance::{GroupChance, RandomGroups};
use crate::audit::difference::GroupDifference;
use crate::data::GroupRows;

/// One group of three that pays less leaves none that pays more than the mean of the others by much: that it does is said,
/// where random groups do not.
#[test]
fn a_group_that_pays_clearly_less_is_named() {
    let of = |estimate: f64| {
        let range = Range { estimate, low: estimate - 0.03, high: estimate + 0.03 };
        let (relative_error, loss, difference) = (range, range, range);
        let (p_value, adjusted_p, rows_needed) = (0.5, 1.0, None);
        GroupDifference { relative_error, loss, difference, p_value, adjusted_p, rows_needed }
    };
    let groups = [-0.14, 0.06, 0.05].map(of).to_vec();
    let differences = Differences { level: 0.95, matters: 0.05, taken_as_it_is: false, groups };
    let names = ["few", "b", "c"].map(|name| GroupAudit {
        group: GroupRows::new(name, 60, 1.0),
        baseline_error: 0.1,
        relative_error: 0.1,
        loss: 0.0,
        small: false,
        outside: false,
    });
    let said = |low: f64, code: VerdictCode| {
        let (loss, mean, high, excess_loss) = (0.0, 0.05, 0.1, -0.05);
        let (adjusted_p, p_draws) = (1.0, 40);
        let group = GroupChance { loss, mean, low, high, excess_loss, adjusted_p, p_draws };
        let (draws, draws_asked, best_losses) = (40, 40, None);
        let chance = RandomGroups { draws, draws_asked, groups: vec![group; 3], best_losses };
        let found = Findings {
            groups: &names,
            rank: 3,
            differences: Some(&differences),
            chance: Some(&chance),
            baseline: None,
            total_error: 0.2,
            asked: true,
            chance_spent: false,
            without_families: false,
        };
        favoured(code, &found, &differences)
    };
    let note = said(0.02, VerdictCode::TooFewRows).unwrap();
    assert!(
        note.sentence
            .starts_with("“few” (60 rows) pays clearly less than the others: at least 11.0")
    );
    // Random groups show as little, or it is said who pays more.
    assert_eq!(said(-0.01, VerdictCode::TooFewRows), None);
    assert_eq!(said(0.02, VerdictCode::Evidence), None);
}

#[test]
fn numbers_that_are_compared_are_told_apart() {
    let close = told_apart([0.003_14, 0.0001, 0.003_01]);
    assert_eq!(close, ["0.31 %", "0.01 %", "0.30 %"]);
    assert_eq!(told_apart([0.02, 0.003, 0.019]), ["2.0 %", "0.3 %", "1.9 %"]);
    // A band of next to nothing is one all the same; without width it is none.
    assert_eq!(told_apart([0.05, 0.000_1, 0.000_3]), ["5.00 %", "0.01 %", "0.03 %"]);
    assert_eq!(told_apart([0.05, 2e-6, 4e-6]), ["5.0000 %", "0.0002 %", "0.0004 %"]);
    assert_eq!(told_apart([0.05, 0.0, 0.0]), ["5.0 %", "0.0 %", "0.0 %"]);
    assert_eq!(told_apart([0.05, 0.0, 1e-14]), ["5.0 %", "0.0 %", "0.0 %"]);
    let p = [(0.012, true), (0.012, false), (0.0002, true)].map(|(p, least)| p_value(p, least));
    assert_eq!(p, ["at most 0.012", "0.012", "below 0.001"]);
    let between = |low: f64, high: f64| [more_or_less(low, high), more_or_less(high, low)];
    assert_eq!(between(-0.09, 0.057), ["9.0 points less", "5.7 more"]);
    assert_eq!(between(0.01, 0.057), ["1.0 points more", "5.7 points more"]);
    let small = [0.0123, 0.001, 0.000_6, 0.000_091, 0.0].map(small_points);
    assert_eq!(small, ["1.2", "0.1", "0.06", "0.009", "0.0"]);
}

/// Where rows are too few a loss above the range of random groups is said to be so: by chance as far as the joint test tells, or of
/// these rows alone.
#[test]
fn a_loss_beyond_random_groups_is_not_left_unexplained() {
    let range = Range { estimate: 0.05, low: -0.1, high: 0.2 };
    let (relative_error, loss, difference) = (range, range, range);
    let (p_value, adjusted_p, rows_needed) = (0.5, 1.0, None);
    let group =
        GroupDifference { relative_error, loss, difference, p_value, adjusted_p, rows_needed };
    let groups = vec![group];
    let differences = Differences { level: 0.95, matters: 0.05, taken_as_it_is: false, groups };
    let said = |loss: f64, adjusted_p: f64| {
        let (mean, low, high, excess_loss, p_draws) = (0.05, 0.0, 0.1, loss - 0.05, 40);
        let groups = vec![GroupChance { loss, mean, low, high, excess_loss, adjusted_p, p_draws }];
        let (draws, draws_asked, best_losses) = (40, 40, None);
        let chance = RandomGroups { draws, draws_asked, groups, best_losses };
        let found = Findings {
            groups: &[],
            rank: 3,
            differences: Some(&differences),
            chance: Some(&chance),
            baseline: None,
            total_error: 0.2,
            asked: true,
            chance_spent: false,
            without_families: false,
        };
        unproved_excess(0, &found, &differences)
    };
    assert!(said(0.12, 0.3).contains("may by chance"));
    assert!(said(0.3, 0.03).contains("of these rows that is more than chance"));
    assert_eq!(said(0.09, 0.3), "");
}

/// Evidence of what hardly matters is said to be that; where more may matter it is not.
#[test]
fn a_slight_difference_is_called_slight() {
    let of = |high: f64| {
        let range = Range { estimate: 0.5 * high, low: 0.1 * high, high };
        let (p_value, adjusted_p, rows_needed) = (0.01, 0.02, None);
        let (relative_error, loss, difference) = (range, range, range);
        let group =
            GroupDifference { relative_error, loss, difference, p_value, adjusted_p, rows_needed };
        Differences { level: 0.95, matters: 0.05, taken_as_it_is: false, groups: vec![group] }
    };
    let said = |code, high| slight(code, 0, &of(high));
    let note = said(VerdictCode::Evidence, 0.04).unwrap();
    assert!(note.sentence.contains("more than 5.0 points is ruled out"), "{}", note.sentence);
    assert_eq!(said(VerdictCode::Evidence, 0.06), None);
    assert_eq!(said(VerdictCode::NoEvidence, 0.04), None);
}
