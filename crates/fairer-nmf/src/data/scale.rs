//! The factors of the features.

use crate::{Error, Result};

/// Sums of squares below this have lost digits on their way to zero.
pub(crate) const SMALLEST_SQUARED_NORM: f64 = 1e-290;

/// The factor of every feature that gives it unit norm, from Σ x² of every column.
pub(crate) fn feature_scale(sums: &[f64]) -> Vec<f64> {
    let factor = |&s: &f64| if s >= SMALLEST_SQUARED_NORM { 1.0 / s.sqrt() } else { 1.0 };
    sums.iter().map(factor).collect()
}

/// Whether factors are positive and finite, one for each of the features.
pub(crate) fn check_scale(scale: &[f64], features: usize) -> Result<()> {
    if scale.len() != features {
        return Err(Error::FeatureCount { found: features, expected: scale.len() });
    }
    if let Some(bad) = scale.iter().find(|s| !(s.is_finite() && **s > 0.0)) {
        return Err(Error::Parameter {
            name: "feature scale",
            value: bad.to_string(),
            expected: "scale factors must be positive and finite",
        });
    }
    Ok(())
}
