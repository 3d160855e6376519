//! The dictionary H, kept transposed: feature by feature, the r topics of a feature together.
//!
//! Both updates, both sparse products and the dictionary's own NNLS problems then run along
//! contiguous rows of length r.

use crate::data::power_of_two;
use crate::kernel::padded;
use crate::kernel::products::{add_transposed_times, unpad_rows};
use ndarray::{Array2, ArrayView2};

/// H (r×n) stored as Hᵀ (n×r, row-major).
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    pub(crate) rank: usize,
    pub(crate) features: usize,
    pub(crate) values: Vec<f64>,
}

impl Dictionary {
    pub(crate) fn zero(rank: usize, features: usize) -> Self {
        Self { rank, features, values: vec![0.0; rank * features] }
    }

    /// From H (r×n).
    #[must_use]
    pub fn from_components(components: ArrayView2<'_, f64>) -> Self {
        let (rank, features) = components.dim();
        let values = components.t().iter().copied().collect();
        Self { rank, features, values }
    }

    /// The largest entry.
    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// The dictionary times a power of two that brings its largest entry near 1, and that power.
    pub(crate) fn in_range(mut self) -> (Self, f64) {
        let largest = self.largest();
        let size = if largest > 0.0 { power_of_two(1.0 / largest) } else { 1.0 };
        self *= size;
        (self, size)
    }

    /// H (r×n).
    #[must_use]
    pub fn to_components(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.rank, self.features), |(k, j)| self.values[j * self.rank + k])
    }

    /// HHᵀ (r×r).
    pub(crate) fn gram(&self) -> Vec<f64> {
        let r = self.rank;
        let mut padded_gram = vec![0.0; r * padded(r)];
        add_gram(&mut padded_gram, &self.values, self.features, r);
        let mut gram = vec![0.0; r * r];
        unpad_rows(&padded_gram, r, &mut gram);
        gram
    }
}

impl std::ops::MulAssign<f64> for Dictionary {
    fn mul_assign(&mut self, size: f64) {
        self.values.iter_mut().for_each(|v| *v *= size);
    }
}

/// Adds FᵀF of the first k rows of F (k×r) to `gram` (r rows, padded to whole vectors).
pub(crate) fn add_gram(gram: &mut [f64], f: &[f64], k: usize, r: usize) {
    add_transposed_times(f, (k, r, r), f, r, gram);
}
