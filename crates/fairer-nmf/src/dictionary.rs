//! The dictionary H, kept transposed: feature by feature, the r topics of a feature together.
//!
//! Both updates, both sparse products and the dictionary's own NNLS problems then run along
//! contiguous rows of length r.

use ndarray::{Array2, ArrayView2};

/// H (r×n) stored as Hᵀ (n×r, row-major).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dictionary {
    pub rank: usize,
    pub features: usize,
    pub values: Vec<f64>,
}

impl Dictionary {
    pub fn from_components(components: ArrayView2<'_, f64>) -> Self {
        let (rank, features) = components.dim();
        let values = components.t().iter().copied().collect();
        Self { rank, features, values }
    }

    pub fn to_components(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.rank, self.features), |(k, j)| self.values[j * self.rank + k])
    }

    /// HHᵀ (r×r).
    pub fn gram(&self) -> Vec<f64> {
        let mut gram = vec![0.0; self.rank * self.rank];
        add_gram(&mut gram, &self.values, self.rank);
        gram
    }
}

/// Adds FᵀF (r×r) of F (k×r) to `gram`.
pub(crate) fn add_gram(gram: &mut [f64], f: &[f64], r: usize) {
    for row in f.chunks_exact(r) {
        for (i, &a) in row.iter().enumerate() {
            if a != 0.0 {
                let out = &mut gram[i * r..(i + 1) * r];
                out.iter_mut().zip(row).for_each(|(g, &b)| *g += a * b);
            }
        }
    }
}

/// Σ aᵢbᵢ.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight partial sums let the compiler use vector registers without reordering by itself.
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f64>() + tail
}
