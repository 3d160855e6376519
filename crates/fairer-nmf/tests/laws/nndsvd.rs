//! NNDSVD: what its definition says, for any rows, threads and units.

use fairer_nmf::{GroupedData, Init, Method, Parameters, fit, fit::Start, silent, synthetic};
use ndarray::{Array1, Array2, Axis, s};

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
    assert!(Start::nndsvd(&grouped, 12, false).is_ok(), "there are as many vectors as features");
    let message = Start::nndsvd(&grouped, 13, false).unwrap_err().to_string();
    assert!(message.contains("rank is 13") && message.contains("NNDSVD"), "{message}");
}

/// Helmert's orthonormal columns: a constant one, and others of which one part is much the larger.
fn helmert(size: usize) -> Array2<f64> {
    Array2::from_shape_fn((size, size), |(i, k)| match k {
        0 => 1.0 / (size as f64).sqrt(),
        k if i > k => 0.0,
        k => (if i < k { 1.0 } else { -(k as f64) }) / ((k * (k + 1)) as f64).sqrt(),
    })
}

/// A matrix without a negative entry and what it is made of: singular vectors of these sizes, and below them many smaller ones.
fn made(sizes: &[f64], tail: f64) -> (Array2<f64>, Array2<f64>, Array2<f64>) {
    let (of_u, of_v) = ([0, 5, 3, 9, 2, 7], [0, 3, 8, 2, 6, 4]);
    let (u, v) = (helmert(70), helmert(40));
    let mut x = Array2::zeros((70, 40));
    let mut add = |size: f64, k: usize, l: usize| {
        let v = v.column(l).insert_axis(Axis(0)).to_owned();
        x += &(size * u.column(k).insert_axis(Axis(1)).dot(&v));
    };
    // Signs that go either way.
    let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    sizes.iter().enumerate().for_each(|(j, size)| add(sign(j) * size, of_u[j], of_v[j]));
    (10..35).for_each(|k| add(tail, k, k));
    assert!(x.iter().all(|v| *v >= 0.0));
    let (mut u, v) =
        (u.select(Axis(1), &of_u[..sizes.len()]), v.select(Axis(1), &of_v[..sizes.len()]));
    u.columns_mut().into_iter().enumerate().for_each(|(j, mut u)| u *= sign(j));
    (x, u, v)
}

/// Boutsidis and Gallopoulos' definition, written down once more.
fn defined(u: &Array2<f64>, v: &Array2<f64>, sizes: &[f64]) -> (Array2<f64>, Array2<f64>) {
    let (mut w, mut h) = (u.clone(), v.t().to_owned());
    for (j, sigma) in sizes.iter().enumerate() {
        let part = |a: ndarray::ArrayView1<'_, f64>, sign: f64| a.mapv(|x| (sign * x).max(0.0));
        let norm = |a: &Array1<f64>| a.dot(a).sqrt();
        let of = |sign: f64| (part(u.column(j), sign), part(v.column(j), sign));
        let size = |(a, b): &(Array1<f64>, Array1<f64>)| norm(a) * norm(b);
        let (plus, minus) = (of(1.0), of(-1.0));
        let kept = if size(&plus) >= size(&minus) { plus } else { minus };
        let root = (sigma * size(&kept)).sqrt();
        w.column_mut(j).assign(&(root / norm(&kept.0) * &kept.0));
        h.row_mut(j).assign(&(root / norm(&kept.1) * &kept.1));
    }
    (w, h)
}

fn assert_close(a: &Array2<f64>, b: &Array2<f64>, what: &str) {
    assert_eq!(a.dim(), b.dim());
    // A number that is none is not close.
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "{what}: {a} {b}");
}

#[test]
fn every_pair_is_the_larger_part_of_its_singular_pair() {
    let sizes = [100.0, 1.8, 1.6, 1.4, 1.2, 1.0];
    let (x, u, v) = made(&sizes, 0.4);
    let labels: Vec<&str> = (0..x.nrows()).map(|i| ["a", "b"][i % 2]).collect();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    let (w, h) = parts(Start::nndsvd(&grouped, 6, false).unwrap());
    let expected = defined(&u, &v, &sizes);
    assert_close(&w, &expected.0, "W");
    assert_close(&h, &expected.1, "H");
}

/// The weighted sum of squares is what the vectors are of; W is that of the rows as they are given.
#[test]
fn weights_count_rows_and_leave_the_units_of_w() {
    let sizes = [100.0, 1.8, 1.6];
    let (x, u, v) = made(&sizes, 0.0);
    // Rows times the roots of their weights are those of `made`; the last two count for nothing.
    let weights: Vec<f64> =
        (0..72).map(|i| if i < 70 { [1.0, 4.0, 0.25][i % 3] } else { 0.0 }).collect();
    let given = Array2::from_shape_fn((72, 40), |(i, j)| {
        if i < 70 { x[[i, j]] / weights[i].sqrt() } else { 100.0 * j as f64 }
    });
    let labels: Vec<&str> = (0..72).map(|i| ["a", "b"][i % 2]).collect();
    let grouped = GroupedData::new(given.view(), &labels).unwrap().with_weights(&weights).unwrap();
    let (w, h) = parts(Start::nndsvd(&grouped, 3, false).unwrap());
    let (own, components) = defined(&u, &v, &sizes);
    let rows =
        Array2::from_shape_fn(
            (72, 3),
            |(i, k)| {
                if i < 70 { own[[i, k]] / weights[i].sqrt() } else { 0.0 }
            },
        );
    assert_close(&w, &rows, "W");
    assert_close(&h, &components, "H");
    // Zeros, and they alone, take the mean over the root of the root mean square, of weighted cells.
    let cells = 40.0 * weights.iter().sum::<f64>();
    let moment = |power: i32| -> f64 {
        let of = |(i, row): (usize, ndarray::ArrayView1<'_, f64>)| {
            weights[i] * row.iter().map(|v| v.powi(power)).sum::<f64>()
        };
        given.rows().into_iter().enumerate().map(of).sum::<f64>() / cells
    };
    let level = moment(1) / moment(2).sqrt().sqrt();
    let (filled_w, filled_h) = parts(Start::nndsvd(&grouped, 3, true).unwrap());
    let fill = |a: &Array2<f64>| a.mapv(|v| if v == 0.0 { level } else { v });
    assert_close(&filled_w, &fill(&w), "W, filled");
    assert_close(&filled_h, &fill(&h), "H, filled");
}

/// Where there are fewer singular vectors than topics, what is missing is nothing at all.
#[test]
fn a_topic_beyond_the_rank_of_the_matrix_is_empty() {
    let (x, ..) = made(&[100.0, 1.8], 0.0);
    let labels: Vec<&str> = (0..x.nrows()).map(|i| ["a", "b"][i % 2]).collect();
    let grouped = GroupedData::new(x.view(), &labels).unwrap();
    let (w, h) = parts(Start::nndsvd(&grouped, 4, false).unwrap());
    assert!(w.iter().chain(&h).all(|v| v.is_finite()));
    let largest = |j: usize| w.column(j).iter().chain(h.row(j)).copied().fold(0.0, f64::max);
    assert!(largest(1) > 0.1 && largest(2) < 1e-3 && largest(3) < 1e-3, "{}", largest(2));
    // Features that nobody has.
    for seen in 1..6 {
        let x = Array2::from_shape_fn((9, 8), |(i, j)| match j < seen {
            true => ((i * 7 + j * j * 3) % 10) as f64 * 0.1 + 0.05,
            false => 0.0,
        });
        let grouped = GroupedData::new(x.view(), &["a"; 9]).unwrap();
        let (w, h) = parts(Start::nndsvd(&grouped, 8, false).unwrap());
        assert!(w.iter().chain(&h).all(|v| v.is_finite()), "{seen}");
        let unseen = h.rows().into_iter().map(|h| h.slice(s![seen..]).sum()).sum::<f64>();
        assert!(unseen < 1e-3, "{seen}: {unseen}");
    }
}
