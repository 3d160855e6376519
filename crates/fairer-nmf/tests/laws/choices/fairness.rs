//! Between standard NMF and Fairer-NMF: the laws of `Method::between`.

mod common_sets {
    use fairer_nmf::synthetic;
    use ndarray::Array2;

    pub fn sets() -> Vec<(Array2<f64>, Vec<String>, usize)> {
        let owned = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
        let (x, labels) = synthetic::first(1);
        let (y, others) = synthetic::second(2);
        vec![(x, owned(labels), 4), (y, owned(others), 3)]
    }
}

use common_sets::sets;
use fairer_nmf::fit::{Start, fit_from};
use fairer_nmf::{Fit, GroupedData, Method, Model, Parameters, fit, silent};

fn at(method: Method, data: &GroupedData<'_>, rank: usize) -> Fit {
    fit(data, &Parameters::new(rank).with(|p| p.method = method), &silent).unwrap()
}

/// (‖X − WH‖/‖X‖, worst loss).
fn both(model: &Model) -> (f64, f64) {
    let error = |g: &fairer_nmf::GroupFit| (g.relative_error * g.norm).powi(2);
    let total: f64 = model.groups.iter().map(error).sum();
    let norm: f64 = model.groups.iter().map(|g| g.norm * g.norm).sum();
    ((total / norm).sqrt(), model.worst_loss())
}

#[test]
fn the_ends_are_standard_and_fairer_nmf_to_the_last_bit() {
    for (x, labels, rank) in sets() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        for (alpha, method) in [(0.0, Method::standard()), (1.0, Method::am())] {
            let (ours, theirs) = (at(Method::between(alpha), &data, rank), at(method, &data, rank));
            assert_eq!(ours.model.components, theirs.model.components, "fairness {alpha}");
            assert_eq!(ours.representation, theirs.representation);
            assert_eq!(ours.model.losses(), theirs.model.losses());
        }
    }
}

#[test]
fn total_error_rises_and_worst_loss_falls_with_fairness() {
    for (x, labels, rank) in sets() {
        let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
        let mut last: Option<(f64, f64)> = None;
        for step in 0..=10 {
            let alpha = f64::from(step) / 10.0;
            let (total, worst) = both(&at(Method::between(alpha), &data, rank).model);
            if let Some((total_before, worst_before)) = last {
                assert!(total >= total_before - 1e-3, "{alpha}: {total_before} then {total}");
                assert!(worst <= worst_before + 1e-3, "{alpha}: {worst_before} then {worst}");
            }
            last = Some((total, worst));
        }
    }
}

#[test]
fn no_end_is_better_at_what_is_minimised() {
    for (x, labels, rank) in sets() {
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let ends = [Method::standard(), Method::am()].map(|m| both(&at(m, &data, rank).model));
        for alpha in [0.2, 0.5, 0.9] {
            let objective = |(total, worst): (f64, f64)| (1.0 - alpha) * total + alpha * worst;
            let ours = objective(both(&at(Method::between(alpha), &data, rank).model));
            for end in ends {
                assert!(ours <= objective(end) + 1e-9, "{alpha}: {ours} over {}", objective(end));
            }
        }
    }
}

/// From a given start the objective of every iteration is below the last one's.
#[test]
fn what_is_minimised_never_rises() {
    let (x, labels, rank) = sets().remove(0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let start = at(Method::standard(), &data, rank);
    let start = Start { components: Some(start.model.components), representation: None };
    let alpha = 0.6;
    let mut before = f64::INFINITY;
    for iterations in 1..12 {
        let mut parameters = Parameters::new(rank).with(|p| p.method = Method::between(alpha));
        parameters.stopping.max_iterations = iterations;
        let (total, worst) = both(&fit_from(&data, &parameters, &start, &silent).unwrap().model);
        let now = (1.0 - alpha) * total + alpha * worst;
        assert!(now <= before + 1e-9, "iteration {iterations}: {before} then {now}");
        before = now;
    }
}

#[test]
fn models_keep_their_fairness() {
    let (x, labels, rank) = sets().remove(0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let model = at(Method::between(0.25), &data, rank).model;
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(back.parameters.method.fairness(), 0.25);
    assert_eq!(back.losses(), model.losses());
}
