//! The Gram matrices of all groups, kept: products with them need no row.

use super::Products;
use crate::kernel::eigen::{times, transposed_times};

/// G_ℓ (n×n) of every group.
pub struct Kept {
    features: usize,
    grams: Vec<Vec<f64>>,
}

impl Kept {
    pub fn new(features: usize, grams: Vec<Vec<f64>>) -> Self {
        Self { features, grams }
    }

    pub fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Products {
        let n = self.features;
        let mut image = vec![0.0; n * p];
        let of_group = |(gram, w): (&Vec<f64>, &f64)| {
            let own = times(gram, n, v, p);
            image.iter_mut().zip(&own).for_each(|(i, o)| *i += w * o);
            transposed_times(v, p, &own, p)
        };
        let grams = self.grams.iter().zip(weights).map(of_group).collect();
        Products { image, grams }
    }

    /// Σ w_ℓG_ℓ.
    pub fn sum(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.features * self.features];
        for (gram, w) in self.grams.iter().zip(weights) {
            sum.iter_mut().zip(gram).for_each(|(s, g)| *s += w * g);
        }
        sum
    }
}
