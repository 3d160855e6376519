//! What the dictionary sees of a group: gram, cross and squared norm (design: one insight).
//!
//! ‖X − WH‖² = ‖X‖² − 2⟨WᵀX, H⟩ + ⟨WᵀW, HHᵀ⟩, and all three terms add over rows.

use crate::dictionary::Dictionary;
use crate::kernel::products::dot;
use crate::{Error, Result};
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

    /// Of all rows: where groups overlap they stand behind those of the groups, else they are the groups' sum.
    pub(crate) fn of_all(statistics: &[Self], groups: usize) -> Self {
        let (own, all) = statistics.split_at(groups);
        let (rank, features) = statistics[0].shape();
        match all {
            [whole] => whole.clone(),
            _ => Self::weighted(own, &vec![1.0; groups], rank, features),
        }
    }

    /// ‖X − WH‖² for the W behind these statistics. `gram_h` is HHᵀ.
    ///
    /// The three terms cancel when the fit is close: the result is clamped at zero and good to
    /// about 1e-15·‖X‖²; where that is not enough the caller computes the residual directly.
    pub(crate) fn squared_error(&self, h: &Dictionary, gram_h: &[f64]) -> f64 {
        let (fit, size) = self.inner(h, gram_h);
        (self.squared_norm - 2.0 * fit + size).max(0.0)
    }

    /// ⟨X, WH⟩ and ‖WH‖², for `gram_h` = HHᵀ.
    pub(crate) fn inner(&self, h: &Dictionary, gram_h: &[f64]) -> (f64, f64) {
        (dot(&self.cross, &h.values), dot(&self.gram, gram_h))
    }
}

impl Statistics {
    /// Statistics made elsewhere: WᵀW (r×r), WᵀX (r×n) and ‖X‖² of the same rows.
    ///
    /// # Errors
    /// Shapes that do not fit each other, or numbers that are not finite.
    pub fn new(
        gram: ArrayView2<'_, f64>,
        cross: ArrayView2<'_, f64>,
        squared_norm: f64,
    ) -> Result<Self> {
        let (rows, features) = cross.dim();
        if gram.dim() != (rows, rows) || rows == 0 || features == 0 {
            let (found_rows, found_columns) = gram.dim();
            let what = "the gram matrix of the statistics";
            return Err(Error::Shape { what, found_rows, found_columns, rows, columns: rows });
        }
        let made = Self {
            gram: gram.iter().copied().collect(),
            cross: cross.t().iter().copied().collect(),
            squared_norm,
        };
        made.checked()
    }

    pub(crate) fn is_finite(&self) -> bool {
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        finite(&self.gram) && finite(&self.cross) && self.squared_norm.is_finite()
    }

    fn checked(self) -> Result<Self> {
        if !self.is_finite() {
            return Err(Error::NotFinite { what: "the statistics" });
        }
        Ok(self)
    }

    /// Adds the statistics of other rows.
    ///
    /// # Errors
    /// Another rank or number of features.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let (found_rows, found_columns) = other.shape();
        let (rows, columns) = self.shape();
        if (found_rows, found_columns) != (rows, columns) {
            let what = "what is added to the statistics";
            return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
        }
        self.add(1.0, other);
        Ok(())
    }

    /// (r, n).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        let r = self.gram.len().isqrt();
        (r, self.cross.len() / r)
    }

    /// All numbers, exact, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (rank, features) = self.shape();
        let head = [rank as u64, features as u64].into_iter().flat_map(u64::to_le_bytes);
        let numbers = self.gram.iter().chain(&self.cross).chain([&self.squared_norm]);
        head.chain(numbers.flat_map(|v| v.to_le_bytes())).collect()
    }

    /// The statistics behind [`Statistics::to_bytes`].
    ///
    /// # Errors
    /// Bytes that are no statistics: too few, too many, or not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = |reason: &str| Error::Statistics { reason: reason.to_owned() };
        let (words, []) = bytes.as_chunks::<8>() else {
            return Err(bad("their length is no multiple of eight"));
        };
        let [rank, features, numbers @ ..] = words else {
            return Err(bad("they end before their sizes"));
        };
        let size = |word: &[u8; 8]| usize::try_from(u64::from_le_bytes(*word)).ok();
        let needed = size(rank).zip(size(features)).and_then(|(r, n)| {
            let (gram, cross) = (r.checked_mul(r)?, r.checked_mul(n)?);
            Some((gram, gram.checked_add(cross)?)).filter(|_| r > 0 && n > 0)
        });
        let Some((gram, both)) = needed.filter(|(_, both)| *both + 1 == numbers.len()) else {
            return Err(bad("their length does not fit their sizes"));
        };
        let numbers: Vec<f64> = numbers.iter().map(|w| f64::from_le_bytes(*w)).collect();
        let (gram, cross) = (numbers[..gram].to_vec(), numbers[gram..both].to_vec());
        Self { gram, cross, squared_norm: numbers[both] }.checked()
    }

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
