//! What is compared between groups: (error − offset)/scale.
//!
//! The paper's loss has the offset E_ℓ and the scale N_ℓ. The exact step, its gap, Newton's method
//! and the bound hold for any offset ≥ 0 and any scale > 0, so another criterion is another pair.

/// The criterion of one group, in the units of its error ‖X_ℓ − W_ℓH‖.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// What the error is held against: E_ℓ.
    pub offset: f64,
    /// What the difference is measured in: N_ℓ, positive.
    pub scale: f64,
}

impl Criterion {
    /// The loss of an error.
    #[must_use]
    pub fn loss(&self, error: f64) -> f64 {
        (error - self.offset) / self.scale
    }

    /// The loss of a relative error (an error over the scale).
    #[must_use]
    pub fn relative_loss(&self, relative_error: f64) -> f64 {
        relative_error - self.relative_offset()
    }

    /// e_ℓ: the offset over the scale.
    #[must_use]
    pub fn relative_offset(&self) -> f64 {
        self.offset / self.scale
    }
}
