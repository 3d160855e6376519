//! Reads a file a few times and prints the best seconds: what benches/read_speed.py runs.
//!
//! `cargo run --release --example read_time -- FILE [GROUP_COLUMN]`

use std::time::Instant;

use fairer_nmf_io::{DenseView, Matrix, ReadOptions, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: read_time FILE [GROUP]")?;
    let options = ReadOptions::default().with(|o| o.group_by = arguments.collect());
    let mut best = (f64::INFINITY, f64::INFINITY);
    let mut sum = 0.0;
    // Standard input can be read only once.
    let rounds = if path == "-" { 1 } else { 3 };
    for _ in 0..rounds {
        let start = Instant::now();
        let data = read(&path, &options)?;
        let opened = start.elapsed().as_secs_f64();
        sum = match &data.matrix {
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(view) => view.sum(),
                DenseView::F32(view) => f64::from(view.sum()),
            },
            Matrix::Sparse(sparse) => sparse.values.iter().sum(),
        };
        let summed = start.elapsed().as_secs_f64();
        best = (best.0.min(opened), best.1.min(summed));
    }
    println!("{} {} {sum}", best.0, best.1);
    Ok(())
}
