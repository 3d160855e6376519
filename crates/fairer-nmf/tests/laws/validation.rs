//! Bad input is named: what, where, and what was expected.

use crate::common::{OwnedCsr, fixed, noisy};
use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::weights::WeightRule;
use fairer_nmf::{
    Baseline, Error, GroupedData, Method, Stopping, Update, fit, fit::Start, fit::fit_from, silent,
};
use ndarray::{Array2, array};

#[test]
fn bad_entries_are_named_with_row_column_and_value() {
    let (mut x, labels) = noisy(41, 50, 6);
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        x[[13, 4]] = bad;
        let sparse = OwnedCsr::of(&x);
        for result in
            [GroupedData::new(x.view(), &labels), GroupedData::new(sparse.narrow(), &labels)]
        {
            let error = result.unwrap_err();
            match &error {
                Error::BadEntry { row: 13, column: 4, value } => {
                    assert_eq!(value.to_string(), bad.to_string());
                }
                other => panic!("{bad}: {other}"),
            }
            let text = error.to_string();
            assert!(text.contains("row 13") && text.contains("column 4"), "{text}");
            assert!(text.contains(&bad.to_string()), "{text}");
        }
    }
    let single = array![[1.0f32, 0.0], [0.5, -0.25]];
    let error = GroupedData::new(single.view(), &["a", "b"]).unwrap_err();
    assert!(matches!(error, Error::BadEntry { row: 1, column: 1, value } if value == -0.25));
}

#[test]
fn the_first_bad_entry_is_named() {
    let mut x = Array2::from_elem((20_000, 3), 1.0);
    x[[15_000, 0]] = -2.0;
    x[[700, 2]] = -1.0;
    let error = GroupedData::one_group(x.view()).unwrap_err();
    assert!(matches!(error, Error::BadEntry { row: 700, column: 2, .. }), "{error}");
}

#[test]
fn labels_and_groups_are_checked() {
    let x = array![[1.0, 0.0], [0.0, 0.0], [3.0, 1.0]];
    let error = GroupedData::new(x.view(), &["a", "b"]).unwrap_err();
    assert!(matches!(error, Error::LabelCount { labels: 2, rows: 3 }), "{error}");

    let error = GroupedData::new(x.view(), &["a", "dull", "a"]).unwrap_err();
    assert!(matches!(&error, Error::ZeroGroup { group } if group == "dull"), "{error}");
    let zeros = ndarray::Array2::<f64>::zeros((3, 2));
    assert!(matches!(GroupedData::one_group(zeros.view()), Err(Error::ZeroData)));

    let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let error = GroupedData::with_codes(x.view(), names(&["a", "b"]), &[0, 0, 0]).unwrap_err();
    assert!(matches!(&error, Error::EmptyGroup { group } if group == "b"), "{error}");

    let error = GroupedData::with_codes(x.view(), names(&["a"]), &[0, 1, 0]).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "group code", .. }), "{error}");

    let empty = Array2::<f64>::zeros((0, 4));
    let error = GroupedData::one_group(empty.view()).unwrap_err();
    assert!(matches!(error, Error::EmptyMatrix { rows: 0, columns: 4 }), "{error}");
}

#[test]
fn contradictory_sparse_matrices_are_refused() {
    let values = [1.0, 2.0, 3.0];
    let csr = |starts: &[i64], indices: &[i32], values: &[f64]| {
        Csr::new(3, starts, Indices::I32(indices), values).map(|_| ()).unwrap_err().to_string()
    };
    let cases = [
        (csr(&[0, 1, 3], &[0, 1], &values), "2 column indices for 3 values"),
        (csr(&[0, -1, 3], &[0, 1, 2], &values), "row start 1 is negative"),
        (csr(&[0, 1, 2], &[0, 1, 2], &values), "number of values (3)"),
        (csr(&[0, 3, 1, 3], &[0, 1, 2], &values), "row starts fall after row 1"),
        (csr(&[0, 1, 3], &[0, 1, 3], &values), "row 1 has column 3, but there are 3 columns"),
        (csr(&[0, 1, 3], &[0, -1, 2], &values), "row 1 has column -1"),
        (csr(&[0, 1, 3], &[0, 2, 2], &values), "row 1 has column 2 twice"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found} / {expected}");
    }
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let (x, labels) = noisy(42, 30, 6);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let base = || fixed(2, Method::mu(), 2);
    let with =
        |rule| base().with(|p| p.method = Method::Weighted { weights: rule, update: Update::Mu });
    let cases = [
        ("rank", base().with(|p| p.rank = 0)),
        ("n_init", base().with(|p| p.n_init = 0)),
        (
            "tolerance",
            base().with(|p| p.stopping = Stopping::default().with(|s| s.tolerance = f64::NAN)),
        ),
        ("fixed step", with(WeightRule::Fixed { step: 1.5 })),
        ("fairness", base().with(|p| p.method = Method::between(1.5))),
        (
            "gap",
            base().with(|p| {
                p.method = Method::Am { gap: 0.0, fairness: 1.0, ties: fairer_nmf::fit::Ties::Any }
            }),
        ),
    ];
    for (expected, parameters) in cases {
        match fit(&data, &parameters, &silent).unwrap_err() {
            Error::Parameter { name, .. } => assert_eq!(name, expected),
            other => panic!("{expected}: {other}"),
        }
    }
    for errors in [vec![1.0], vec![1.0, -1.0, 1.0], vec![1.0, f64::NAN, 1.0]] {
        let parameters = base().with(|p| p.baseline = Baseline::Given { errors });
        let error = fit(&data, &parameters, &silent).unwrap_err();
        assert!(matches!(error, Error::Baseline { .. }), "{error}");
    }
}

#[test]
fn starts_and_new_data_of_another_shape_are_refused() {
    let (x, labels) = noisy(43, 30, 6);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let parameters = fixed(2, Method::mu(), 2);
    for (start, shape) in [
        (Start { components: Some(Array2::ones((3, 6))), ..Start::default() }, (2, 6)),
        (Start { representation: Some(Array2::ones((30, 3))), ..Start::default() }, (30, 2)),
    ] {
        match fit_from(&data, &parameters, &start, &silent).unwrap_err() {
            Error::Shape { rows, columns, .. } => assert_eq!((rows, columns), shape),
            other => panic!("{other}"),
        }
    }
    let start = Start { components: Some(Array2::from_elem((2, 6), -1.0)), ..Start::default() };
    assert!(fit_from(&data, &parameters, &start, &silent).is_err());
    let model = fit(&data, &parameters, &silent).unwrap().model;
    let (other, _) = noisy(44, 5, 7);
    let error = model.transform(other.view()).unwrap_err();
    assert!(matches!(error, Error::FeatureCount { found: 7, expected: 6 }), "{error}");
    let zeros = Array2::<f64>::zeros((3, 6));
    assert_eq!(model.transform(zeros.view()).unwrap(), Array2::<f64>::zeros((3, 2)));
    let none = Array2::<f64>::zeros((0, 6));
    assert_eq!(model.transform(none.view()).unwrap().dim(), (0, 2));
}

#[test]
fn groups_come_in_the_order_of_their_names() {
    let x = array![[1.0], [1.0], [1.0], [1.0]];
    let data = GroupedData::new(x.view(), &["10", "9", "b", "a"]).unwrap();
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["9", "10", "a", "b"]);
}

#[test]
fn entries_whose_squares_overflow_are_refused() {
    let x = ndarray::array![[1.0, 2.0], [1e200, 1.0]];
    let error = GroupedData::new(x.view(), &["small", "huge"]).unwrap_err();
    assert!(matches!(&error, Error::Overflow { group } if group == "huge"), "{error}");
}
