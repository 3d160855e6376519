//! Seconds of the lower bound on made data: two sets of topics and noise.
//!
//!     cargo run --release -p fairer-nmf --example bound_time -- ROWS FEATURES GROUPS RANK

use fairer_nmf::{GroupedData, bound::global_bound};
use ndarray::Array2;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Result<Vec<usize>, _> = std::env::args().skip(1).map(|v| v.parse()).collect();
    let [m, n, groups, rank] = given?[..] else { return Err("ROWS FEATURES GROUPS RANK".into()) };
    let weyl = |at: usize, step: f64| (at as f64 * step).fract();
    let topics = Array2::from_shape_fn((2 * rank, n), |(i, j)| {
        weyl(i * n + j, 0.754_877_666_246_692_7).powi(8)
    });
    let x = Array2::from_shape_fn((m, n), |(i, j)| {
        let g = i % groups;
        let mixed = topics[((i * 7 + g) % (rank + g % rank), j)];
        mixed + topics[((i * 3 + g * 5) % (2 * rank), j)] + 0.3 * weyl(i * n + j, 0.569_840_290_998)
    });
    let labels: Vec<String> = (0..m).map(|i| (i % groups).to_string()).collect();
    let data = GroupedData::new(x.view(), &labels)?;
    let errors: Vec<f64> = data.groups().iter().map(|g| 0.1 * g.norm()).collect();
    let begin = Instant::now();
    let bound = global_bound(&data, rank, &errors);
    println!("{:.2} s, {:?}", begin.elapsed().as_secs_f64(), bound.value);
    Ok(())
}
