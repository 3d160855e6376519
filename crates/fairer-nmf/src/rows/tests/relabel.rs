//! The same rows under other labels are what data of these labels are.

use super::*;
use crate::baseline::Baseline;
use crate::data::split_unobserved;
use crate::search::{fit_plain, fit_relabelled};

fn check(data: &GroupedData<'_>, what: &str) {
    let parameters = Parameters {
        method: Method::am(),
        baseline: Baseline::best(),
        stopping: Stopping { max_iterations: 12, ..Stopping::default() },
        n_init: 2,
        seed: 3,
        ..Parameters::new(3)
    };
    // Some rows are left out, and nothing is in its order.
    let labels = || {
        let of = |name: &str, by: usize| (name.to_owned(), (by..data.rows()).step_by(3).collect());
        vec![of("second", 1), of("first", 0)]
    };
    let held = hold(data, Units::Own);
    let found = fit_relabelled(&*held, labels(), &parameters, None, &silent).unwrap();
    let regrouped = data.regrouped(labels()).unwrap();
    let known = fit_plain(&regrouped, &parameters, None, None, &silent).unwrap().model;
    assert_eq!(found.components, known.components, "{what}");
    assert_eq!(found.history, known.history, "{what}");
    for (found, known) in found.groups.iter().zip(&known.groups) {
        assert_eq!((&found.name, found.rows), (&known.name, known.rows), "{what}");
        assert_eq!((found.loss, found.relative_error), (known.loss, known.relative_error));
    }
    // What they were is as before, and may be asked again.
    let rest = vec![("rest".to_owned(), (2..data.rows()).step_by(3).collect())];
    let one = |rows: &dyn Rows| {
        let rest = fit_relabelled(rows, rest.clone(), &parameters, None, &silent);
        rest.unwrap().components
    };
    assert_eq!(one(&*held), one(&*held.apart()), "{what}");
}

#[test]
fn a_fit_of_relabelled_rows_is_that_of_data_with_these_labels() {
    let (x, labels) = noisy(60, 8);
    let single = x.mapv(|v| v as f32);
    let plain = || GroupedData::new(x.view(), &labels).unwrap();
    check(&plain(), "as they are");
    check(&plain().normalize_features().unwrap(), "scaled");
    check(&GroupedData::new(single.view(), &labels).unwrap(), "f32");
    let weights: Vec<f64> = (0..60).map(|row| f64::from(1 + row % 4)).collect();
    check(&plain().with_weights(&weights).unwrap(), "weighted");
    let mut gappy = x.clone();
    gappy.iter_mut().step_by(7).for_each(|v| *v = f64::NAN);
    // Nobody of the new groups has a value of it.
    (0..60).filter(|row| row % 3 != 2).for_each(|row| gappy[[row, 4]] = f64::NAN);
    let (filled, mask) = split_unobserved(gappy.view());
    let data = GroupedData::new(filled.view(), &labels).unwrap();
    check(&data.with_unobserved(mask.view()).unwrap(), "unobserved cells");
}

#[test]
fn who_keeps_labels_says_so() {
    let (x, labels) = noisy(30, 5);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let cut = Cut::new(data.clone(), 1.0, 2);
    let all = || vec![("all".to_owned(), (0..30).collect())];
    let refused = cut.relabel(all()).err().expect("it has no others").to_string();
    assert!(refused.contains("keep their labels"), "{refused}");
    let zeros = Array2::<f64>::zeros((30, 5));
    let mut some = zeros.clone();
    some[[0, 0]] = 1.0;
    let data = GroupedData::one_group(some.view()).unwrap();
    let rest = vec![("rest".to_owned(), (1..30).collect())];
    assert!(matches!(hold(&data, Units::Own).relabel(rest), Err(Error::ZeroGroup { .. })));
}
