//! A rise of the total error is said, with who caused it.

use super::*;

/// Where groups are helped at a price, the fit says by how much of the data the total error rose.
#[test]
fn a_rise_is_said_as_shares_of_the_data() {
    let mut rises = 0;
    for seed in 0..4 {
        let (x, labels) = draw(&[25, 90, 150], 1.5, 0.1, seed);
        let x = 7.0 * x;
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let found = careful(&data);
        let rose = found.model.warnings.iter().find_map(|w| match w {
            Warning::TotalErrorRose { standard, found, .. } => Some((*standard, *found)),
            _ => None,
        });
        let Some((standard, after)) = rose else { continue };
        rises += 1;
        assert!((after - total_error(&found)).abs() < 1e-9, "{after}");
        let plain = total_error(&fitted(&data, Method::standard(), Baseline::Zero));
        assert!((standard / plain - 1.0).abs() < 0.02, "{standard}, {plain}");
    }
    assert!(rises > 0, "nothing was tested");
}

#[test]
fn a_rise_of_the_total_error_is_said_with_who_caused_it() {
    let (x, labels) = draw(&[8, 90, 150], 0.0, 0.6, 33);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let standard = total_error(&fitted(&data, Method::standard(), Baseline::Zero));
    let bent = fitted(&data, Method::am(), Baseline::Estimate(Estimate::best())).model;
    let beside = fitted(&data, Method::standard(), Baseline::Zero).model;
    let Some(Warning::TotalErrorRose { group, rows: 8, .. }) =
        Warning::of_rise(&bent, 0.3, (0.27, &beside))
    else {
        panic!("a rise of three points");
    };
    assert_eq!(group, "group 0", "whose baseline is next to nothing");
    let mut left_alone = bent.clone();
    let (groups, all, kept) = (vec!["group 0".to_owned()], false, false);
    left_alone.warnings.push(Warning::GroupsLikeChance { groups, all, kept });
    let said = Warning::of_rise(&left_alone, 0.3, (0.27, &beside));
    let helped =
        |w: &Warning| matches!(w, Warning::TotalErrorRose { group, .. } if group != "group 0");
    assert!(said.is_some_and(|w| helped(&w)), "nothing is bent for a group that is left alone");
    assert!(Warning::of_rise(&bent, 0.3, (0.29, &beside)).is_none());
    let model = careful(&data).model;
    assert!(model.total_error() / data.squared_norm().sqrt() < 1.01 * standard);
    assert!(!model.warnings.iter().any(|w| w.code() == "total-error-rose"));
}
