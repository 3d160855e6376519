//! Groups that overlap: the laws that tie them to groups that do not.

use fairer_nmf::audit::{AuditOptions, TradeOffOptions, evaluate, trade_off};
use fairer_nmf::bound::global_bound;
use fairer_nmf::{Baseline, Error, GroupedData, Method, Parameters, audit, fit, silent, synthetic};
use ndarray::{Array2, Axis};

fn small() -> (Array2<f64>, Vec<&'static str>, Vec<&'static str>) {
    let (x, labels) = synthetic::first(3);
    let rows: Vec<usize> = (0..x.nrows()).step_by(10).collect();
    let sex = rows.iter().map(|&row| labels[row]).collect();
    let region = (0..rows.len()).map(|i| ["east", "north", "west"][i * i % 7 % 3]).collect();
    (x.select(Axis(0), &rows), sex, region)
}

fn parameters(method: Method) -> Parameters {
    Parameters::new(3).with(|p| {
        p.method = method;
        p.baseline = Baseline::Zero;
        p.n_init = 2;
    })
}

#[test]
fn one_family_is_groups_without_common_rows_to_the_last_bit() {
    let (x, sex, _) = small();
    let one = GroupedData::with_families(x.view(), &[("sex", sex.clone())]).unwrap();
    let plain = GroupedData::new(x.view(), &sex).unwrap();
    assert!(!one.overlaps());
    for method in [Method::am(), Method::mu(), Method::standard(), Method::between(0.5)] {
        let [a, b] = [&one, &plain].map(|data| fit(data, &parameters(method), &silent).unwrap());
        assert_eq!(a.model.components, b.model.components, "{method:?}");
        assert_eq!(a.representation, b.representation);
    }
}

#[test]
fn a_group_is_what_it_is_without_the_others() {
    let (x, sex, region) = small();
    let families = [("sex", sex), ("region", region)];
    let data = GroupedData::with_families(x.view(), &families).unwrap();
    assert!(data.overlaps());
    let h = Array2::from_shape_fn((3, x.ncols()), |(k, j)| ((2 * k + j) % 3) as f64);
    let zero = vec![0.0; data.groups().len()];
    let found = evaluate(&data, h.view(), None, &zero).unwrap();
    for (l, group) in data.groups().iter().enumerate() {
        let own = x.select(Axis(0), &group.rows);
        let alone = GroupedData::one_group(own.view()).unwrap();
        let expected = evaluate(&alone, h.view(), None, &[0.0]).unwrap();
        assert!((group.norm() - alone.groups()[0].norm()).abs() < 1e-9 * group.norm());
        let off = found.relative_errors[l] - expected.relative_errors[0];
        assert!(off.abs() < 1e-12, "{}: {off}", group.name);
    }
    let norm = x.iter().map(|v| v * v).sum::<f64>();
    assert!((data.squared_norm() - norm).abs() < 1e-9 * norm);
}

#[test]
fn totals_count_a_row_once() {
    let (x, sex, region) = small();
    let families = [("sex", sex.clone()), ("region", region)];
    let data = GroupedData::with_families(x.view(), &families).unwrap();
    let plain = GroupedData::new(x.view(), &sex).unwrap();
    // Standard NMF does not know of groups.
    for update in [fairer_nmf::Update::Mu, fairer_nmf::Update::Hals, fairer_nmf::Update::Nnls] {
        let mut p = parameters(Method::Standard { update });
        p.stopping.max_iterations = 6;
        let [a, b] = [&data, &plain].map(|data| fit(data, &p, &silent).unwrap());
        let off = (&a.model.components - &b.model.components).mapv(f64::abs).sum();
        assert!(off < 1e-6 * b.model.components.sum(), "{update:?}: {off}");
        assert!((a.model.total_error() - b.model.total_error()).abs() < 1e-6);
        let residual = &x - &a.representation.to_f64().dot(&a.model.components);
        let direct = residual.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((a.model.total_error() - direct).abs() < 1e-8 * direct);
        let back = fairer_nmf::Model::from_bytes(&a.model.to_bytes().unwrap()).unwrap();
        assert_eq!(back.total_error(), a.model.total_error());
    }
    let model = fit(&data, &parameters(Method::am()), &silent).unwrap().model;
    let zero = vec![0.0; data.groups().len()];
    let options = TradeOffOptions::default().with(|t| t.points = 3);
    let curve = trade_off(&data, &[model.components.view()], &zero, &[], &options).unwrap();
    for point in curve.points {
        let found = evaluate(&data, point.components.view(), None, &zero).unwrap();
        let direct = found.row_squared_errors.iter().sum::<f64>() / data.squared_norm();
        assert!((point.total_error - direct.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn steps_gap_and_bound_hold() {
    let (x, sex, region) = small();
    let twice = [("a", sex.clone()), ("b", sex.clone())];
    let twice = GroupedData::with_families(x.view(), &twice).unwrap();
    let plain = GroupedData::new(x.view(), &sex).unwrap();
    // The same family once more changes no maximum.
    let p = |groups: usize| {
        parameters(Method::am())
            .with(|p| p.baseline = Baseline::Given { errors: vec![0.1; groups] })
    };
    let [a, b] = [(&twice, 4), (&plain, 2)].map(|(data, l)| fit(data, &p(l), &silent).unwrap());
    assert!((a.model.worst_loss() - b.model.worst_loss()).abs() < 1e-3);
    let bounds = [(&twice, 4), (&plain, 2)]
        .map(|(data, l)| global_bound(data, 3, &vec![0.1; l]).value.unwrap());
    assert!((bounds[0] - bounds[1]).abs() < 1e-6, "{bounds:?}");
    let families = [("sex", sex), ("region", region)];
    let data = GroupedData::with_families(x.view(), &families).unwrap();
    let model = fit(&data, &p(5), &silent).unwrap().model;
    assert!(model.step_gap.unwrap() < 1e-5, "{:?}", model.step_gap);
    let bound = model.global_bound.value.unwrap();
    assert!(bound <= model.worst_loss() && bounds[0] <= model.worst_loss());
    let worst = |losses: &Vec<f64>| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let history: Vec<f64> = model.history.iter().map(worst).collect();
    assert!(history.windows(2).all(|w| w[1] <= w[0] + 1e-9));
    // More groups can only ask for more.
    assert!(model.worst_loss() >= b.model.worst_loss() - 1e-3);
    let families: Vec<_> = model.groups.iter().map(|g| g.family.as_deref()).collect();
    assert_eq!(
        families,
        [Some("sex"), Some("sex"), Some("region"), Some("region"), Some("region")]
    );
}

#[test]
fn rows_in_no_group_play_no_part_and_a_group_of_nobody_is_refused() {
    let (x, sex, _) = small();
    let members =
        Array2::from_shape_fn((x.nrows(), 2), |(i, l)| i < 60 && (l == 0 || sex[i] == "High rank"));
    let names = || vec![("all".to_owned(), None), ("high".to_owned(), None)];
    let data = GroupedData::with_members(x.view(), names(), members.view()).unwrap();
    let first = x.slice(ndarray::s![..60, ..]);
    let less = members.slice(ndarray::s![..60, ..]);
    let other = GroupedData::with_members(first, names(), less).unwrap();
    let of = |d: &GroupedData<'_>| fit(d, &parameters(Method::am()), &silent).unwrap().model;
    let [a, b] = [&data, &other].map(of);
    assert_eq!(a.components, b.components);
    let [a, b] = [data, other].map(|d| of(&d.normalize_features().unwrap()));
    assert_eq!((a.components, a.scale), (b.components, b.scale));
    let nobody = Array2::from_elem((x.nrows(), 2), false);
    let refused = GroupedData::with_members(x.view(), names(), nobody.view()).unwrap_err();
    assert!(matches!(refused, Error::EmptyGroup { .. }), "{refused}");
}

#[test]
fn an_audit_compares_inside_families_and_refuses_draws_that_refit() {
    let (x, sex, region) = small();
    let families = [("sex", sex), ("region", region)];
    let data = GroupedData::with_families(x.view(), &families).unwrap();
    let model = fit(&data, &parameters(Method::standard()), &silent).unwrap().model;
    let zero = vec![0.0; 5];
    let options = AuditOptions::default().with(|o| {
        o.draws = 20;
        o.permutations = 20;
        o.folds = 0;
        o.trade_off = None;
        o.chance =
            fairer_nmf::audit::DrawBudget { draws: 20, ..fairer_nmf::audit::DrawBudget::default() };
    });
    let h = model.components.view();
    let report = audit(&data, h, &zero, None, &options, &silent).unwrap();
    let differences = report.differences.unwrap().groups;
    // Two groups of a family differ from each other by the same amount.
    let sum = differences[0].difference.estimate + differences[1].difference.estimate;
    assert!(sum.abs() < 1e-12, "{sum}");
    assert!((report.total_error - model.total_error() / data.squared_norm().sqrt()).abs() < 1e-8);
    let refit = fairer_nmf::audit::Refit {
        draws: 2,
        permutations: 0,
        parameters: parameters(Method::standard()),
    };
    let options = options.with(|o| o.refit = Some(refit));
    let refused = audit(&data, h, &zero, None, &options, &silent).unwrap_err();
    assert!(refused.to_string().contains("overlap"), "{refused}");
}
