//! Weights of samples: a row of weight k is a row that stands there k times, and one of weight zero is
//! absent.

use fairer_nmf::audit::{AuditOptions, AuditReport, DrawBudget, GroupDifference, evaluate};
use fairer_nmf::baseline::{Estimate, GroupBaseline};
use fairer_nmf::bound::global_bound;
use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::fit::{Start, estimate_baselines, fit_from};
use fairer_nmf::{
    Baseline, Error, GroupedData, Matrix, Method, Parameters, Stopping, Update, audit, fit, silent,
};
use ndarray::{Array2, Axis};

const RANK: usize = 3;

/// Rows, labels and whole weights, some of them zero.
fn small() -> (Array2<f64>, Vec<&'static str>, Vec<f64>) {
    let number =
        |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0;
    let x = Array2::from_shape_fn((48, 7), |(i, j)| {
        let v = number(i, j);
        if v < 0.3 { 0.0 } else { v * if i % 3 == j % 3 { 3.0 } else { 1.0 } }
    });
    let labels = (0..48).map(|i| ["a", "b", "c"][i % 5 % 3]).collect();
    let weights = (0..48).map(|i| f64::from([1_u32, 0, 2, 3, 1, 1, 2][i % 7])).collect();
    (x, labels, weights)
}

/// Every row as often as its weight says, and which row it was.
fn repeated(weights: &[f64]) -> Vec<usize> {
    let times = |(row, w): (usize, &f64)| std::iter::repeat_n(row, *w as usize);
    weights.iter().enumerate().flat_map(times).collect()
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-7 * (1.0 + a.abs()), "{what}: {a} and {b}");
}

/// Both data, scaled, with the numbers of random starts that belong to the rows.
fn both<'a>(
    x: &'a Array2<f64>,
    often: &'a Array2<f64>,
    labels: &[&str],
    weights: &[f64],
) -> [GroupedData<'a>; 2] {
    let rows = repeated(weights);
    let their: Vec<&str> = rows.iter().map(|&row| labels[row]).collect();
    let keys = rows.iter().map(|&row| row as u64).collect();
    let one = GroupedData::new(x.view(), labels).unwrap().with_weights(weights).unwrap();
    let other = GroupedData::new(often.view(), &their).unwrap().with_row_keys(keys).unwrap();
    [one.normalize_features().unwrap(), other.normalize_features().unwrap()]
}

#[test]
fn whole_weights_are_repeated_rows_for_scaling_starts_baselines_and_bound() {
    let (x, labels, weights) = small();
    let rows = repeated(&weights);
    let often = x.select(Axis(0), &rows);
    let [one, other] = both(&x, &often, &labels, &weights);
    for (a, b) in one.scale().unwrap().iter().zip(other.scale().unwrap()) {
        near(*a, *b, "scale");
    }
    let short = Stopping::default().with(|s| s.max_iterations = 60);
    let estimate = Estimate::paper().with(|e| e.stopping = short);
    let baseline = Baseline::Estimate(estimate);
    let [own, their] =
        [&one, &other].map(|data| estimate_baselines(data, RANK, &baseline, 5, &silent).unwrap());
    for (a, b) in own.iter().zip(&their) {
        near(a.error, b.error, "baseline");
    }
    let errors = GroupBaseline::errors(&own);
    let [bound, theirs] = [&one, &other].map(|data| global_bound(data, RANK, &errors).value);
    near(bound.unwrap(), theirs.unwrap(), "bound");
    let h = Array2::from_shape_fn((RANK, 7), |(k, j)| 0.2 + ((3 * k + j) % 5) as f64);
    let w = Array2::from_shape_fn((48, RANK), |(i, k)| 0.1 + ((i + 2 * k) % 4) as f64);
    let methods = [
        Method::am(),
        Method::mu(),
        Method::between(0.5),
        Method::Standard { update: Update::Mu },
        Method::Standard { update: Update::Hals },
        Method::Standard { update: Update::Nnls },
    ];
    for method in methods {
        let parameters = Parameters::new(RANK).with(|p| {
            p.method = method;
            p.baseline = Baseline::Given { errors: errors.clone() };
            p.stopping = Parameters::new(RANK).stopping.with(|s| s.max_iterations = 25);
        });
        let from = |data: &GroupedData<'_>, w: Array2<f64>| {
            let start = Start { components: Some(h.clone()), representation: Some(w) };
            fit_from(data, &parameters, &start, &silent).unwrap()
        };
        let (a, b) = (from(&one, w.clone()), from(&other, w.select(Axis(0), &rows)));
        for (l, group) in a.model.groups.iter().enumerate() {
            near(group.norm, b.model.groups[l].norm, "norm");
            let (own, their) = (group.loss, b.model.groups[l].loss);
            assert!((own - their).abs() < 1e-5, "{method:?}: losses {own} and {their}");
        }
        // A row of weight zero gets the coordinates that a new row gets.
        let absent: Vec<usize> = (0..48).filter(|&i| weights[i] == 0.0).collect();
        let new = a.model.transform(x.view()).unwrap();
        let far =
            |i: &usize| (&new.row(*i) - &a.representation.to_f64().row(*i)).mapv(f64::abs).sum();
        assert!(absent.iter().all(|i| far(i) < 1e-9));
    }
}

#[test]
fn whole_weights_are_repeated_rows_for_any_dictionary_dense_and_sparse() {
    let (x, labels, weights) = small();
    let rows = repeated(&weights);
    let often = x.select(Axis(0), &rows);
    let [one, other] = both(&x, &often, &labels, &weights);
    let (mut starts, mut columns, mut values) = (vec![0_i64], Vec::new(), Vec::new());
    for row in x.rows() {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(v);
        }
        starts.push(values.len() as i64);
    }
    let csr = Csr::new(7, &starts, Indices::I32(&columns), &values).unwrap();
    let sparse = GroupedData::new(Matrix::Sparse(csr), &labels).unwrap();
    let sparse = sparse.with_weights(&weights).unwrap().normalize_features().unwrap();
    let single = x.mapv(|v| v as f32);
    let single = GroupedData::new(single.view(), &labels).unwrap();
    let single = single.with_weights(&weights).unwrap().normalize_features().unwrap();
    let h = Array2::from_shape_fn((RANK, 7), |(k, j)| ((3 * k + j) % 4) as f64);
    let expected = evaluate(&other, h.view(), None, &[0.1; 3]).unwrap().losses;
    let found = evaluate(&one, h.view(), None, &[0.1; 3]).unwrap().losses;
    let of_sparse = evaluate(&sparse, h.view(), None, &[0.1; 3]).unwrap().losses;
    let of_single = evaluate(&single, h.view(), None, &[0.1; 3]).unwrap().losses;
    for (l, b) in expected.iter().enumerate() {
        near(found[l], *b, "dense");
        near(of_sparse[l], *b, "sparse");
        assert!((of_single[l] - b).abs() < 1e-5);
    }
    let dense = fit(&one, &Parameters::new(2), &silent).unwrap();
    let csr = fit(&sparse, &Parameters::new(2), &silent).unwrap();
    for (a, b) in dense.model.losses().iter().zip(csr.model.losses()) {
        assert!((a - b).abs() < 1e-5, "{a} and {b}");
    }
}

/// Weights all equal say nothing; what limits and tests are counted by is Kish's number.
#[test]
fn equal_weights_change_nothing_and_unequal_ones_widen_the_limits() {
    let (x, labels, _) = small();
    let h = Array2::from_shape_fn((2, 7), |(k, j)| ((3 * k + j) % 4) as f64);
    let options = AuditOptions::default().with(|o| {
        o.draws = 50;
        o.permutations = 50;
        o.folds = 2;
        o.trade_off = None;
        o.chance = DrawBudget { draws: 20, ..DrawBudget::default() };
    });
    let audited = |weights: Option<Vec<f64>>| {
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let data = match &weights {
            Some(weights) => data.with_weights(weights).unwrap(),
            None => data,
        };
        let norms = data.groups().iter().map(|g| 0.1 * g.norm()).collect::<Vec<_>>();
        audit(&data, h.view(), &norms, None, &options, &silent).unwrap()
    };
    let (plain, equal) = (audited(None), audited(Some(vec![4.0; 48])));
    let limits = |report: &AuditReport| {
        let found = report.differences.as_ref().unwrap();
        let of = |g: &GroupDifference| g.difference.high - g.difference.low;
        found.groups.iter().map(of).collect::<Vec<f64>>()
    };
    for (l, group) in plain.groups.iter().enumerate() {
        near(group.loss, equal.groups[l].loss, "loss");
        near(group.rows as f64, equal.groups[l].effective_rows.unwrap(), "effective rows");
        let high = |r: &AuditReport| r.bootstrap.as_ref().unwrap().groups[l].loss.high;
        near(high(&plain), high(&equal), "interval");
        let p = |r: &AuditReport| r.permutation.as_ref().unwrap().groups[l].relative_error.p_value;
        near(p(&plain), p(&equal), "p");
        assert!((limits(&plain)[l] - limits(&equal)[l]).abs() < 1e-4, "limits of {}", group.name);
    }
    assert!(plain.groups.iter().all(|g| g.effective_rows.is_none()));
    // A few rows with nearly all of the weight are few rows.
    let uneven = audited(Some((0..48).map(|i| if i % 6 == 0 { 100.0 } else { 1.0 }).collect()));
    for (l, group) in uneven.groups.iter().enumerate() {
        let effective = group.effective_rows.unwrap();
        assert!(effective < 0.5 * group.rows as f64, "{effective} of {}", group.rows);
        assert!(limits(&uneven)[l] > limits(&plain)[l]);
    }
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let (x, labels, weights) = small();
    let data = || GroupedData::new(x.view(), &labels).unwrap();
    let said = |result: fairer_nmf::Result<GroupedData<'_>>| result.unwrap_err().to_string();
    assert!(said(data().with_weights(&[1.0])).contains("give one weight per row"));
    let mut bad = weights.clone();
    bad[3] = -1.0;
    assert!(said(data().with_weights(&bad)).contains("-1 at row 3"));
    let nobody: Vec<f64> = labels.iter().map(|l| f64::from(u8::from(*l != "b"))).collect();
    let refused = data().with_weights(&nobody).unwrap_err();
    assert!(matches!(&refused, Error::ZeroWeights { group } if group == "b"), "{refused}");
    let late = data().normalize_features().unwrap().with_weights(&weights);
    assert!(said(late).contains("give the weights first"));
}
