//! Real rows: the Heart Disease table, whose groups are drawn at random.

use super::random::Rng;
use fairer_nmf_io::{Matrix, Missing, ReadOptions, read};
use ndarray::{Array2, Axis};

/// The table without its groups, every feature scaled to unit length.
///
/// # Panics
/// If there is no such file, or it is another.
#[must_use]
pub fn heart(path: &str) -> Array2<f64> {
    let options = ReadOptions::default().with(|o| {
        o.group_by = vec!["sex".to_owned()];
        o.drop = vec!["disease".to_owned()];
        o.missing = Missing::DropRows;
    });
    let dataset = read(path, &options).expect("the Heart Disease table");
    let Matrix::Dense(dense) = &dataset.matrix else { panic!("a table is dense") };
    let fairer_nmf_io::DenseView::F64(view) = dense.view() else { panic!("in double precision") };
    let mut x = view.to_owned();
    for mut column in x.columns_mut() {
        let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        column.mapv_inplace(|v| v / norm);
    }
    x
}

/// The rows in another order: labels that mean nothing.
#[must_use]
pub fn shuffled(x: &Array2<f64>, seed: u64) -> Array2<f64> {
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    Rng(seed).shuffle(&mut order);
    x.select(Axis(0), &order)
}
