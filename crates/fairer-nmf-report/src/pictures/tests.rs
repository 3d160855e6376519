use super::*;
use crate::content::{Group, GroupResult, Verdict};

#[test]
fn thinning_keeps_both_ends() {
    let places = thinned(10_000);
    assert_eq!((places[0], places[places.len() - 1]), (0, 9_999));
    assert!(places.len() <= 160 && places.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(thinned(3), [0, 1, 2]);
}

#[test]
fn stems_are_safe_file_names() {
    assert_eq!(slug("Fairer-NMF (AM)"), "-fairer-nmf-am");
    assert_eq!(slug("../../<x>"), "-x");
}

#[test]
fn the_group_of_the_verdict_is_in_the_first_picture() {
    let group = |l: usize| {
        let result = GroupResult { loss: 0.5 - 0.01 * l as f64, ..GroupResult::default() };
        let name = format!("g{l:02}");
        GroupOutcome {
            group: Group { name, ..Default::default() },
            results: vec![result],
            ..GroupOutcome::default()
        }
    };
    let mut report = Report::default();
    report.who_pays.groups = (0..18).map(group).collect();
    let names = |report: &Report| -> Vec<String> {
        most_excess(report).iter().map(|g| g.name.clone()).collect()
    };
    assert!(!names(&report).contains(&"g17".to_owned()));
    report.verdict = Some(Verdict { group: Some("g17".into()), ..Default::default() });
    let found = names(&report);
    assert_eq!((found.len(), found.last().unwrap().as_str()), (MOST_AT_FIRST, "g17"));
}
