//! Baselines of rows that the group's own dictionary has not seen.

use super::*;

#[test]
fn held_out_baselines_are_those_of_the_audit() {
    let (x, labels) = draw(&[8, 40, 90], 0.0, 0.6, 34);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let baseline = Baseline::HeldOut { folds: 5, runs: 2 };
    let model = fitted(&data, Method::am(), baseline.clone()).model;
    assert_eq!(model.parameters.baseline, baseline);
    let e = model.baseline_errors();
    let found = evaluate(&data, model.components.view(), None, &e).unwrap();
    let held = fairer_nmf::audit::held_out(&data, &found, 5, 2, 0).unwrap();
    for (g, held) in model.groups.iter().zip(&held.groups) {
        assert!((g.baseline.error / g.norm - held.relative_baseline.unwrap()).abs() < 1e-12);
        assert!((g.loss - held.loss.unwrap()).abs() < 1e-6);
    }
    let seen = fitted(&data, Method::am(), Baseline::Estimate(Estimate::best())).model;
    assert!(e[0] > 1.1 * seen.baseline_errors()[0], "unseen rows of a small group are lost");
    let one_row = draw(&[1, 40], 0.0, 0.6, 35);
    let data = GroupedData::new(one_row.0.view(), &one_row.1).unwrap();
    let model = fitted(&data, Method::am(), baseline).model;
    assert_eq!(model.groups[0].baseline.error, model.groups[0].norm);
}
