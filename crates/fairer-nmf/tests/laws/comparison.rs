//! Laws of the comparison: a dictionary, standard NMF and Fairer-NMF beside it.

use fairer_nmf::audit::{
    DrawBudget, Peer, PeerPlan, Peers, Remark, Role, Subject, TradeOffOptions, VerdictCode,
    compare, fit_peers,
};
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::bound::{BoundReport, global_bound};
use fairer_nmf::fit::{allowances, estimate_baselines};
use fairer_nmf::stopping::Status;
use fairer_nmf::{
    Baseline, GroupedData, Method, Parameters, Update, audit, audit::AuditOptions, fit, silent,
    synthetic,
};
use ndarray::{Array2, s};
use std::time::Duration;

fn problem() -> (Array2<f64>, Vec<&'static str>) {
    let (x, labels) = synthetic::first(2);
    let rows: Vec<usize> = (0..60).chain(500..540).collect();
    let x = Array2::from_shape_fn((rows.len(), 10), |(i, j)| x[[rows[i], j]]);
    (x, rows.iter().map(|&row| labels[row]).collect())
}

fn few() -> AuditOptions {
    let trade_off = Some(TradeOffOptions::default().with(|t| t.points = 3));
    AuditOptions::default().with(|o| {
        o.draws = 20;
        o.permutations = 20;
        o.folds = 2;
        o.trade_off = trade_off;
    })
}

fn methods() -> [Option<Method>; 4] {
    [None, Some(Method::standard()), Some(Method::mu()), Some(Method::am())]
}

#[test]
fn nothing_is_compared_with_its_like() {
    let plans = methods().map(|method| PeerPlan::beside(method, Update::Nnls));
    let found = plans.map(|plan| (plan.standard, plan.fairer));
    let nnls = Some(Update::Nnls);
    assert_eq!(found, [(nnls, true), (None, true), (nnls, false), (nnls, false)]);
}

#[test]
fn what_one_starts_from_comes_first_and_the_fairer_model_last() {
    use Role::{Fairer, Standard, Subject as Own};
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let parameters = Parameters::new(2).with(|p| p.n_init = 1);
    let baselines = [0.5, 0.4];
    let orders: [&[Role]; 4] =
        [&[Own, Standard, Fairer], &[Own, Fairer], &[Standard, Own], &[Standard, Own]];
    for (method, order) in methods().into_iter().zip(orders) {
        let plan = PeerPlan::beside(method, Update::Hals);
        let peers = fit_peers(&data, plan, &parameters, &baselines, &silent).unwrap();
        for model in [&peers.standard, &peers.fairer].into_iter().flatten().map(|p| &p.model) {
            let errors = model.baseline_errors();
            assert_eq!(errors, baselines, "losses compare only with the same baselines");
        }
        let components = x.slice(s![..2, ..]);
        let subject = Subject::new(components).with(|s| s.method = method);
        let found = compare(&data, &subject, &baselines, peers, &few(), &silent).unwrap();
        let roles: Vec<Role> = found.in_order().into_iter().map(|(role, _)| role).collect();
        assert_eq!(roles, order);
        // The changes are those from the first model to the last.
        let (first, last) = (found.in_order()[0].1, found.in_order()[order.len() - 1].1);
        let change = found.change.as_ref().expect("something is compared");
        for (l, group) in change.groups.iter().enumerate() {
            let change = last.groups[l].relative_error - first.groups[l].relative_error;
            assert!((group.change - change).abs() < 1e-12);
        }
        let curve = &found.subject.trade_off.as_ref().expect("it was asked for").points;
        assert!(curve[2].worst_loss <= last.worst_loss + 1e-9, "the curve ends at the fairer one");
    }
}

#[test]
fn a_peer_is_the_fit_by_that_method_alone() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let parameters = Parameters::new(2).with(|p| p.seed = 3);
    let found = estimate_baselines(&data, 2, &parameters.baseline, 3, &silent).unwrap();
    let errors = GroupBaseline::errors(&found);
    let plan = PeerPlan::beside(None, Update::Hals);
    let peers = fit_peers(&data, plan, &parameters, &errors, &silent).unwrap();
    let baseline = Baseline::Given { errors: errors.clone() };
    for (peer, method) in [(&peers.standard, Method::standard()), (&peers.fairer, Method::am())] {
        let alone = parameters.clone().with(|p| {
            p.method = method;
            p.baseline = baseline.clone();
        });
        let alone = fit(&data, &alone, &silent).unwrap().model;
        assert_eq!(peer.as_ref().unwrap().model.components, alone.components);
    }
    // And the audit of a peer is the audit of that dictionary, without the test of differences: the
    // verdict is about the subject.
    let options = few().with(|o| {
        o.folds = 0;
        o.trade_off = None;
    });
    let subject = Subject::new(x.slice(s![..2, ..]));
    let compared = compare(&data, &subject, &errors, peers, &options, &silent).unwrap();
    let standard = compared.standard.unwrap();
    let h = standard.model.components.view();
    let chance = DrawBudget { draws: 0, ..options.chance };
    let untested = options.with(|o| {
        o.differences = false;
        o.chance = chance;
    });
    assert_eq!(standard.audit, audit(&data, h, &errors, None, &untested, &silent).unwrap());
}

/// To other groups it is a dictionary from elsewhere, unless it evened nothing out; what is allowed them then are their places.
#[test]
fn a_model_is_a_subject_to_its_own_groups() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let renamed: Vec<String> = labels.iter().map(|label| format!("another {label}")).collect();
    let other = GroupedData::new(x.view(), &renamed).unwrap();
    for method in [Method::am(), Method::standard()] {
        let parameters = Parameters::new(2).with(|p| {
            p.method = method;
            p.baseline = Baseline::Given { errors: vec![0.5, 0.4] };
        });
        let mut model = fit(&data, &parameters, &silent).unwrap().model;
        model.groups[0].allowance = Some(0.25);
        let own = Subject::of_model(&model, &data, &parameters);
        assert_eq!((own.method, own.allowances), (Some(method), model.allowances()));
        assert!(model.is_of(&data) && !model.is_of(&other));
        let to_others = Subject::of_model(&model, &other, &parameters);
        assert_eq!(to_others.method, Some(method).filter(|method| method.is_standard()));
        assert_eq!(to_others.allowances, allowances(&other, &parameters));
    }
}

#[test]
fn groups_that_were_found_are_not_tested_and_a_known_bound_is_taken() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let baselines = [0.5, 0.4];
    let subject = Subject::new(x.slice(s![..2, ..]));
    let compared = |subject: &Subject<'_>| {
        let plan = PeerPlan { standard: Some(Update::Hals), fairer: false };
        let parameters = Parameters::new(2).with(|p| p.n_init = 1);
        let peers = fit_peers(&data, plan, &parameters, &baselines, &silent).unwrap();
        compare(&data, subject, &baselines, peers, &few(), &silent).unwrap()
    };
    let given = compared(&subject);
    assert!(given.subject.differences.is_some());
    assert_eq!(given.bound, global_bound(&data, 2, &given.subject.offsets()));
    let bound = BoundReport { value: Some(-1.0), ..BoundReport::default() };
    let subject = subject.with(|s| (s.groups_found, s.bound) = (true, Some(bound.clone())));
    let found = compared(&subject);
    assert_eq!(found.bound, bound);
    for audit in [&found.subject, &found.standard.as_ref().unwrap().audit] {
        assert_eq!(audit.verdict.code, VerdictCode::NotTested);
        assert!(audit.differences.is_none() && audit.permutation.is_none());
        assert!(audit.bootstrap.is_none() && audit.chance.is_none());
    }
}

#[test]
fn limits_are_said() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let plan = PeerPlan::beside(None, Update::Hals);
    let mut parameters = Parameters::new(2).with(|p| p.n_init = 1);
    parameters.stopping.max_iterations = 1;
    let peers = fit_peers(&data, plan, &parameters, &[0.1, 0.1], &silent).unwrap();
    let of =
        |role| Remark::NotConverged { role, status: Status::IterationLimit, max_iterations: 1 };
    assert_eq!(peers.remarks(), [of(Role::Standard), of(Role::Fairer)]);
    parameters.stopping.time_limit = Some(Duration::ZERO);
    let peers: Peers = fit_peers(&data, plan, &parameters, &[0.1, 0.1], &silent).unwrap();
    assert!(peers.standard.is_none() && peers.fairer.is_none());
    let of = |role| Remark::OutOfTime { role };
    assert_eq!(peers.remarks(), [of(Role::Standard), of(Role::Fairer)]);
}

/// A fit that was hardly begun is beaten by the curve that goes on from it; one that was searched for is not.
#[test]
fn a_model_that_its_curve_beats_is_said_to_be() {
    let (x, labels) = problem();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let baselines = [0.1, 0.1];
    let asked = Parameters::new(2).with(|p| {
        p.baseline = Baseline::Given { errors: baselines.to_vec() };
        p.bound = false;
    });
    let begun = asked.clone().with(|p| {
        p.n_init = 1;
        p.stopping.max_iterations = 1;
    });
    for (parameters, is_beaten) in [(&begun, true), (&asked, false)] {
        let model = fit(&data, parameters, &silent).unwrap().model;
        let h = model.components.clone();
        let subject = Subject::new(h.view()).with(|s| s.method = Some(Method::am()));
        let standard = asked.clone().with(|p| p.method = Method::standard());
        let standard = fit(&data, &standard, &silent).unwrap();
        let peers = Peers {
            standard: Some(Peer { model: standard.model, fit_time: standard.fit_time }),
            ..Peers::default()
        };
        let found = compare(&data, &subject, &baselines, peers, &few(), &silent).unwrap();
        let said = found.remarks.contains(&Remark::BetterPoint { role: Role::Subject });
        assert_eq!(said, is_beaten, "{:?}", found.subject.worst_loss);
    }
}
