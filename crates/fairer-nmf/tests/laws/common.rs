//! Data and small helpers that the laws share.

use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::{Baseline, Init, Method, Parameters, Stopping};
use ndarray::Array2;
use serde_json::Value;

/// SplitMix64, so that the tests do not lean on the library's own numbers: uniform on [0, 1).
pub fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A stream of such numbers.
pub struct Rng(pub u64);

impl Rng {
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.0)
    }

    pub fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.uniform())
    }
}

/// Low-rank data with noise, some zeros, and labels a, b, c in mixed order.
pub fn noisy(seed: u64, rows: usize, columns: usize) -> (Array2<f64>, Vec<&'static str>) {
    let mut rng = Rng(seed);
    let x = rng.matrix(rows, 4).dot(&rng.matrix(4, columns));
    let x = x.mapv(|v| if rng.uniform() < 0.2 { 0.0 } else { v + 0.3 * rng.uniform() });
    let labels = (0..rows).map(|_| ["a", "b", "c"][(rng.uniform() * 2.99) as usize]).collect();
    (x, labels)
}

/// A fixed number of iterations from a random start, with nothing around them.
pub fn fixed(rank: usize, method: Method, iterations: usize) -> Parameters {
    Parameters::new(rank).with(|p| {
        p.method = method;
        p.init = Init::Random;
        p.baseline = Baseline::Zero;
        p.stopping = Stopping::default().with(|s| {
            s.tolerance = 0.0;
            s.max_iterations = iterations;
        });
        p.polish = false;
        p.bound = false;
        p.seed = 5;
    })
}

/// A sparse copy that owns its arrays, in both index widths.
pub struct OwnedCsr<T> {
    columns: usize,
    starts: Vec<i64>,
    narrow: Vec<i32>,
    wide: Vec<i64>,
    values: Vec<T>,
}

impl<T: fairer_nmf::data::Element + PartialEq> OwnedCsr<T> {
    pub fn of(x: &Array2<T>) -> Self {
        let (mut starts, mut wide, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in x.rows() {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != T::default()) {
                wide.push(j as i64);
                values.push(v);
            }
            starts.push(values.len() as i64);
        }
        let narrow = wide.iter().map(|&j| j as i32).collect();
        Self { columns: x.ncols(), starts, narrow, wide, values }
    }

    pub fn narrow(&self) -> Csr<'_, T> {
        Csr::new(self.columns, &self.starts, Indices::I32(&self.narrow), &self.values).unwrap()
    }

    pub fn wide(&self) -> Csr<'_, T> {
        Csr::new(self.columns, &self.starts, Indices::I64(&self.wide), &self.values).unwrap()
    }
}

/// Largest |a − b| relative to the largest |a|.
pub fn distance<'a>(
    a: impl IntoIterator<Item = &'a f64>,
    b: impl IntoIterator<Item = &'a f64>,
) -> f64 {
    let (mut difference, mut size) = (0.0f64, f64::MIN_POSITIVE);
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) => {
                assert!(x.is_finite() && y.is_finite());
                difference = difference.max((x - y).abs());
                size = size.max(x.abs());
            }
            (None, None) => return difference / size,
            _ => return f64::INFINITY,
        }
    }
}

pub fn history_distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    distance(a.iter().flatten(), b.iter().flatten())
}

pub fn methods() -> Vec<Method> {
    use fairer_nmf::Update;
    vec![
        Method::am(),
        Method::mu(),
        Method::Standard { update: Update::Mu },
        Method::Standard { update: Update::Hals },
        Method::Standard { update: Update::Nnls },
    ]
}

/// A list of numbers of an oracle's file.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// A matrix of an oracle's file.
pub fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}
