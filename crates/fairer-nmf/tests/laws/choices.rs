//! Whose groups, whose weight, how strongly: the laws that tie these choices to what the paper does.

mod discover;
mod fairness;
mod gaps;
mod leximin;
mod overlap;
mod penalties;
mod refusals;
mod weights;
mod worst_share;

use fairer_nmf::Progress;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers between 0 and 1 that look random, the same everywhere.
fn number(i: usize, j: usize, seed: usize) -> f64 {
    let z = (i * 1_000_003 + j * 7919 + seed * 104_729 + 17) as u64;
    let z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z >> 33) % 100_003) as f64 / 100_003.0
}

/// X = WH of a rank, with noise.
fn low_rank(rows: usize, features: usize, rank: usize, noise: f64) -> ndarray::Array2<f64> {
    let w = ndarray::Array2::from_shape_fn((rows, rank), |(i, k)| number(i, k, 1).powi(2));
    let h = ndarray::Array2::from_shape_fn((rank, features), |(k, j)| number(k, j, 2).powi(3));
    let mut x = w.dot(&h);
    x.indexed_iter_mut().for_each(|((i, j), v)| *v += noise * number(i, j, 3));
    x
}

/// Iterations that are told of while something is done with an observer, and what came of it.
fn iterations<R>(done: impl FnOnce(&fairer_nmf::Observer<'_>) -> R) -> (R, usize) {
    let heard = AtomicUsize::new(0);
    let found = done(&|progress: &Progress<'_>| {
        if matches!(progress, Progress::Iteration { .. }) {
            heard.fetch_add(1, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    });
    (found, heard.into_inner())
}
