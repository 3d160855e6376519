//! A rise of the total error is said, with who caused it.

use super::*;
use fairer_nmf::audit::{
    AuditOptions, DrawBudget, PeerPlan, Remark, Role, Subject, compare, fit_peers,
};
use fairer_nmf::{Model, Update};

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
    let (groups, all, kept, draws) = (vec!["group 0".to_owned()], false, false, 40);
    left_alone.warnings.push(Warning::GroupsLikeChance { groups, all, kept, draws });
    let said = Warning::of_rise(&left_alone, 0.3, (0.27, &beside));
    let helped =
        |w: &Warning| matches!(w, Warning::TotalErrorRose { group, .. } if group != "group 0");
    assert!(said.is_some_and(|w| helped(&w)), "nothing is bent for a group that is left alone");
    assert!(Warning::of_rise(&bent, 0.3, (0.29, &beside)).is_none());
    let model = careful(&data).model;
    assert!(model.total_error() / data.squared_norm().sqrt() < 1.01 * standard);
    assert!(!model.warnings.iter().any(|w| w.code() == "total-error-rose"));
}

/// A comparison says it, too, of Fairer-NMF beside a dictionary and of a fairer dictionary beside standard NMF.
#[test]
fn a_rise_is_said_in_a_comparison() {
    let (x, labels) = draw(&[8, 90, 150], 0.0, 0.6, 33);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let options = AuditOptions::default().with(|o| {
        (o.draws, o.permutations, o.folds, o.differences) = (0, 0, 0, false);
        (o.trade_off, o.chance) = (None, DrawBudget { draws: 0, ..DrawBudget::default() });
    });
    let said = |method: Method, baseline: Baseline, cut_short: bool| {
        let model = fitted(&data, method, baseline.clone()).model;
        let parameters = model.parameters.clone().with(|p| p.baseline = baseline);
        let errors = model.baseline_errors();
        let plan = PeerPlan::beside(Some(method), Update::Hals);
        let peers = fit_peers(&data, plan, &parameters, &errors, &silent).unwrap();
        let subject =
            Subject::of_model(&model, &data, &parameters).with(|s| s.cut_short = cut_short);
        let found = compare(&data, &subject, &errors, peers, &options, &silent).unwrap();
        let rises = found.remarks.into_iter().filter_map(|remark| match remark {
            Remark::TotalErrorRose { role, rise } => Some((role, rise)),
            _ => None,
        });
        rises.collect::<Vec<_>>()
    };
    let best = || Baseline::Estimate(Estimate::best());
    for (method, of) in [(Method::standard(), Role::Fairer), (Method::am(), Role::Subject)] {
        let rises = said(method, best(), false);
        let [(role, Warning::TotalErrorRose { standard, found, group, rows: 8 })] = &rises[..]
        else {
            panic!("{rises:?}");
        };
        assert_eq!((*role, group.as_str()), (of, "group 0"));
        assert!(found > standard);
    }
    assert_eq!(said(Method::am(), best(), true), [], "its error is of another making");
    assert_eq!(said(Method::standard(), Baseline::adjusted(), false), []);
}

/// What a fit says of itself, with nothing beside it.
fn said_alone(model: &Model) -> Vec<&Warning> {
    model.warnings.iter().filter(|w| w.code() == "total-error-rose").collect()
}

/// A fit against baselines that chance has no part in says what it costs all rows, against the standard NMF that its
/// search begins from; the words and the group are those of a comparison.
#[test]
fn a_fit_alone_says_a_rise() {
    let (x, labels) = draw(&[8, 90, 150], 0.0, 0.6, 33);
    let x = 7.0 * x;
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let plain = fitted(&data, Method::standard(), Baseline::Zero);
    let of = |method: Method, baseline: Baseline| fitted(&data, method, baseline);
    let best = || Baseline::Estimate(Estimate::best());
    for (method, baseline) in [
        (Method::am(), best()),
        (Method::am(), Baseline::Estimate(Estimate::paper())),
        (Method::between(0.97), best()),
    ] {
        let bent = of(method, baseline);
        let said = said_alone(&bent.model);
        let [Warning::TotalErrorRose { standard, found, group, rows: 8 }] = said[..] else {
            panic!("{said:?}");
        };
        assert_eq!(group, "group 0");
        assert!((found - total_error(&bent)).abs() < 1e-9, "{found}");
        assert!((standard / total_error(&plain) - 1.0).abs() < 0.01, "{standard}");
        let beside = (*standard, &plain.model);
        let compared = Warning::of_rise(&bent.model, *found, beside);
        assert_eq!(compared.as_ref(), Some(said[0]), "as a comparison says it");
        let kept = Model::from_bytes(&bent.model.to_bytes().unwrap()).unwrap();
        assert_eq!(said_alone(&kept), said, "in its file, too");
    }
    assert!(said_alone(&plain.model).is_empty());
    assert!(said_alone(&of(Method::am(), Baseline::adjusted()).model).is_empty());
    let (x, labels) = draw(&[60, 90, 150], 0.0, 0.6, 33);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    assert!(
        said_alone(&fitted(&data, Method::am(), best()).model).is_empty(),
        "nobody is bent for"
    );
}
