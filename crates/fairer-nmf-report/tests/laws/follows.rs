//! What follows, and what is to be kept in mind: the page's words agree with its numbers.

use crate::samples;
use fairer_nmf_report::*;

/// Where differences larger than all that is lost are ruled out, nothing is, and the page does not say that all is well.
#[test]
fn what_follows_agrees_with_the_notes() {
    let mut report = samples::demo();
    let told = |report: &Report, coarse: bool| {
        let page = render_html(report);
        assert_eq!(page.contains("Say first how small a difference would matter"), coarse);
        assert_eq!(page.contains("Nothing has to be done on this account."), !coarse);
    };
    let note = Remark::new("matters-beyond-error", "A smaller difference may matter.");
    let mut verdict = Verdict { code: VerdictCode::NoEvidence.into(), ..Verdict::default() };
    report.verdict = Some(verdict.clone());
    told(&report, false);
    verdict.notes.push(note);
    report.verdict = Some(verdict);
    told(&report, true);
}

/// Evidence that the fit did not act on is no sign that no fit would help.
#[test]
fn a_fit_that_left_the_group_alone_is_not_said_to_be_no_remedy() {
    let mut report = samples::demo();
    let cost = report.cost.as_mut().expect("a cost");
    cost.criterion = Minimised::AdjustedLoss;
    cost.changes.iter_mut().for_each(|c| c.change = 1e-9);
    for group in &mut report.who_pays.groups {
        group.group.allowance = Some(group.results[0].loss);
    }
    let alone = |report: &Report, left: bool| {
        let page = render_html(report);
        assert_eq!(page.contains(" did not act on it: "), left);
        assert_eq!(page.contains("Without that caution (option “baseline”: best)"), left);
        assert_eq!(page.contains(" is no remedy here: "), !left);
    };
    alone(&report, true);
    // One that set out to help, and found no way that costs others less than it gains; and one that knows no caution.
    let mut tried = report.clone();
    let groups = &mut tried.who_pays.groups;
    groups.iter_mut().for_each(|g| g.group.allowance = Some(g.results[0].loss - 0.05));
    alone(&tried, false);
    report.cost.as_mut().expect("a cost").criterion = Minimised::Loss;
    alone(&report, false);
}

/// A model that leaves most of everybody is not let pass, whether or not its total is shown.
#[test]
fn what_is_left_of_most_comes_first_beside_hidden_groups_too() {
    let mut report = samples::three();
    report.models[0].total_error = Some(0.71);
    let note = Remark::new("much-unexplained", "This model leaves 71 % of the data unexplained.");
    report.verdict = Some(Verdict {
        code: VerdictCode::NoEvidence.into(),
        group: Some(report.who_pays.groups[0].name.clone()),
        notes: vec![note],
        ..Verdict::default()
    });
    report.who_pays.groups[1].group.rows = 3;
    for hide in [0, 4] {
        report.min_group_size = hide;
        let page = render_html(&report);
        assert_eq!(report.published().hidden_groups > 0, hide > 0);
        assert!(page.contains("But most of everybody is lost: more topics"), "{hide}");
        assert!(!page.contains("Nothing has to be done on this account."), "{hide}");
    }
}

/// Small groups look worse off against dictionaries fitted to their own rows, better off against those that have not seen them,
/// and neither where nothing is held against them.
#[test]
fn what_is_said_of_small_groups_is_true_of_the_baselines() {
    let mut report = samples::demo();
    report.who_pays.groups[0].group.small = true;
    let words = [
        "Small groups look worse off",
        "its loss larger, than on new samples",
        "Small groups look better off",
        "its loss smaller, than with more rows",
        "on rows that this has not seen",
    ];
    let fitted = [true, true, false, false, false];
    let said = [
        (None, fitted),
        (Some(Yardstick::Estimate), fitted),
        (Some(Yardstick::Adjusted), fitted),
        (Some(Yardstick::HeldOut), [false, false, true, true, true]),
        (Some(Yardstick::Zero), [false; 5]),
    ];
    for (kind, expected) in said {
        report.who_pays.baseline_kind = kind;
        let page = render_html(&report);
        assert_eq!(words.map(|part| page.contains(part)), expected, "{kind:?}");
    }
}
