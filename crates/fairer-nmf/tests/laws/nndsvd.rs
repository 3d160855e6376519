//! NNDSVD: what its definition says, for any rows, threads and units.

use fairer_nmf::{GroupedData, Init, Method, Parameters, fit, fit::Start, silent, synthetic};
use ndarray::{Array1, Array2};

fn data() -> (Array2<f64>, Vec<&'static str>) {
    let (x, labels) = synthetic::second(1);
    // A corner of it, with zeros.
    let rows: Vec<usize> = (0..90).map(|i| i * 16).collect();
    let x = x.select(ndarray::Axis(0), &rows).mapv(|v| if v < 0.2 { 0.0 } else { v });
    (x, rows.iter().map(|&i| labels[i]).collect())
}

fn parts(start: Start) -> (Array2<f64>, Array2<f64>) {
    (start.representation.unwrap(), start.components.unwrap())
}

#[test]
fn the_first_pair_is_the_leading_singular_pair() {
    let (x, labels) = data();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    let (w, h) = parts(Start::nndsvd(&grouped, 4, false).unwrap());
    // X v = σ u and Xᵀu = σ v; W and H carry √σ each, so X hᵀ = σ w and Xᵀ w = σ h.
    let (w, h): (Array1<f64>, Array1<f64>) = (w.column(0).to_owned(), h.row(0).to_owned());
    let sigma = w.dot(&w);
    assert!((sigma - h.dot(&h)).abs() < 1e-9 * sigma);
    let (left, right) = (x.dot(&h) - sigma * &w, x.t().dot(&w) - sigma * &h);
    assert!(left.dot(&left).sqrt() < 1e-7 * sigma && right.dot(&right).sqrt() < 1e-7 * sigma);
}

#[test]
fn nothing_depends_on_threads_rows_or_units() {
    let (x, labels) = data();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    for fill in [false, true] {
        let (w, h) = parts(Start::nndsvd(&grouped, 5, fill).unwrap());
        assert!(w.iter().chain(&h).all(|v| *v >= 0.0 && (!fill || *v > 0.0)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let other = pool.install(|| parts(Start::nndsvd(&grouped, 5, fill).unwrap()));
        assert_eq!((&w, &h), (&other.0, &other.1));
        let times = 4096.0;
        let large = x.mapv(|v| v * times);
        let large = GroupedData::new(large.view(), &labels).unwrap();
        let (w2, h2) = parts(Start::nndsvd(&large, 5, fill).unwrap());
        let close = |a: &Array2<f64>, b: &Array2<f64>| {
            a.iter().zip(b).all(|(a, b)| (a * times.sqrt() - b).abs() <= 1e-6 * times.sqrt())
        };
        assert!(close(&w, &w2) && close(&h, &h2));
    }
}

#[test]
fn a_fit_begins_there_and_restarts_do_not_matter() {
    let (x, labels) = data();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    for (init, method) in [
        (Init::Nndsvd, Method::am()),
        (Init::Nndsvda, Method::mu()),
        (Init::Nndsvd, Method::standard()),
    ] {
        let parameters = Parameters::new(4).with(|p| {
            p.init = init;
            p.method = method;
        });
        let one = fit(&grouped, &parameters.clone().with(|p| p.n_init = 1), &silent).unwrap();
        let many = fit(&grouped, &parameters, &silent).unwrap();
        assert_eq!(one.model.components, many.model.components);
        assert_eq!(one.model.parameters.init, init);
        let random = parameters.with(|p| p.init = Init::Random);
        let random = fit(&grouped, &random, &silent).unwrap();
        assert!(one.model.worst_loss() < random.model.worst_loss() + 0.05);
    }
}

#[test]
fn a_rank_above_the_matrix_is_refused() {
    let (x, labels) = data();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    let message = Start::nndsvd(&grouped, 13, false).unwrap_err().to_string();
    assert!(message.contains("rank is 13") && message.contains("NNDSVD"), "{message}");
}
