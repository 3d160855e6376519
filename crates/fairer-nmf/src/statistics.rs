//! What the dictionary sees of a group: gram, cross and squared norm (design: one insight).
//!
//! ‖X − WH‖² = ‖X‖² − 2⟨WᵀX, H⟩ + ⟨WᵀW, HHᵀ⟩, and all three terms add over rows.

use crate::data::GroupedData;
use crate::dictionary::{Dictionary, dot};
use crate::pass::{self, RowStep};
use crate::{Element, Error, Result};
use ndarray::{Array2, ArrayView2};

/// The statistics of one group, or of a block of its rows. Always f64.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// WᵀW, r×r, row-major.
    pub(crate) gram: Vec<f64>,
    /// (WᵀX)ᵀ = XᵀW, n×r, row-major: feature by feature, like the dictionary.
    pub(crate) cross: Vec<f64>,
    /// ‖X‖².
    pub(crate) squared_norm: f64,
}

impl Statistics {
    pub(crate) fn zero(rank: usize, features: usize) -> Self {
        Self { gram: vec![0.0; rank * rank], cross: vec![0.0; rank * features], squared_norm: 0.0 }
    }

    /// Adds `weight` times the statistics of other rows, scaled features included.
    pub(crate) fn add(&mut self, weight: f64, other: &Self) {
        self.gram.iter_mut().zip(&other.gram).for_each(|(a, b)| *a += weight * b);
        self.cross.iter_mut().zip(&other.cross).for_each(|(a, b)| *a += weight * b);
        self.squared_norm += weight * other.squared_norm;
    }

    /// Σ_ℓ w_ℓ · statistics_ℓ.
    pub(crate) fn weighted(all: &[Self], weights: &[f64], rank: usize, features: usize) -> Self {
        let mut sum = Self::zero(rank, features);
        all.iter().zip(weights).filter(|(_, w)| **w != 0.0).for_each(|(s, &w)| sum.add(w, s));
        sum
    }

    /// ‖X − WH‖² for the W behind these statistics. `gram_h` is HHᵀ.
    ///
    /// The three terms cancel when the fit is close: the result is clamped at zero and good to
    /// about 1e-15·‖X‖²; where that is not enough the caller computes the residual directly.
    pub(crate) fn squared_error(&self, h: &Dictionary, gram_h: &[f64]) -> f64 {
        let fit = dot(&self.cross, &h.values);
        let size = dot(&self.gram, gram_h);
        (self.squared_norm - 2.0 * fit + size).max(0.0)
    }
}

impl Statistics {
    /// WᵀW (r×r).
    #[must_use]
    pub fn gram(&self) -> Array2<f64> {
        let r = self.gram.len().isqrt();
        Array2::from_shape_fn((r, r), |(i, j)| self.gram[i * r + j])
    }

    /// WᵀX (r×n).
    #[must_use]
    pub fn cross(&self) -> Array2<f64> {
        let r = self.gram.len().isqrt();
        Array2::from_shape_fn((r, self.cross.len() / r), |(k, j)| self.cross[j * r + k])
    }

    /// ‖X‖².
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }
}

/// The statistics of every group for a given W (m×r, rows in the order of the data).
///
/// # Errors
/// A W of another number of rows.
pub fn group_statistics<T: Element>(
    data: &GroupedData<'_, T>,
    representation: ArrayView2<'_, T>,
) -> Result<Vec<Statistics>> {
    let (found_rows, rank) = representation.dim();
    if found_rows != data.rows() || rank == 0 {
        let (rows, columns) = (data.rows(), rank.max(1));
        let what = "the representation";
        return Err(Error::Shape { what, found_rows, found_columns: rank, rows, columns });
    }
    let features = data.features();
    let h = Dictionary { rank, features, values: vec![0.0; rank * features] };
    let rows = data.groups().iter().flat_map(|g| &g.rows);
    let mut w: Vec<T> = rows.flat_map(|&row| representation.row(row).to_vec()).collect();
    Ok(pass::run(data, &h, RowStep::Keep, &mut w))
}
