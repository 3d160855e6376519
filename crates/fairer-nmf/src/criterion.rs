//! What is compared between groups: (error − offset)/scale.
//!
//! The paper's loss has the offset E_ℓ and the scale N_ℓ. The exact step, its gap, Newton's method
//! and the bound hold for any offset ≥ 0 and any scale > 0, so another criterion is another pair.

use serde::{Deserialize, Serialize};

/// What a fit makes as small as it can, of the group where it is largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Minimised {
    /// The loss against the group's baseline.
    #[default]
    Loss,
    /// The loss beyond what the fit allows the group ([`Allowance`]).
    AdjustedLoss,
}

impl Minimised {
    /// `AdjustedLoss` where a group is allowed something.
    pub(crate) fn with_allowances(some: bool) -> Self {
        if some { Self::AdjustedLoss } else { Self::Loss }
    }

    /// As in files.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::AdjustedLoss => "adjusted-loss",
        }
    }
}

/// In a sentence.
impl std::fmt::Display for Minimised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::AdjustedLoss => "adjusted loss",
        })
    }
}

/// What random groups of one size pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChanceBand {
    /// Their mean loss.
    pub mean: f64,
    /// 5 % of random groups pay less.
    pub low: f64,
    /// 5 % of random groups pay more.
    pub high: f64,
}

impl ChanceBand {
    /// Random groups of every size that are drawn where no test is asked for.
    pub const DRAWS: usize = 20;
}

/// What a fit allows a group beyond its baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Allowance {
    /// a_ℓ: the loss that chance explains (docs/calibration.md); 0 where the fit does not allow for it.
    pub loss: f64,
    /// Whether the group stays outside the maximum: it counts in the total, and nothing is
    /// minimised for it. With a_ℓ (its own loss under standard NMF) it is not made to pay more than others
    /// either.
    pub outside: bool,
}

impl Allowance {
    /// Relative offset of a group outside the maximum. An error with best coordinates is at most the
    /// norm, so that its criterion is at most −1, below that of every group inside.
    const OUTSIDE: f64 = 2.0;

    /// What the error of a group with this baseline and norm is held against.
    #[must_use]
    pub fn offset(&self, baseline: f64, norm: f64) -> f64 {
        match self.counts() {
            false => baseline.max(Self::OUTSIDE * norm),
            // Rounding may undercut zero.
            true => (baseline + self.loss * norm).max(0.0),
        }
    }

    /// Whether what is minimised knows of the group.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.outside || self.loss > 0.0
    }

    /// The largest loss less what is allowed, over the groups that what is minimised knows of.
    #[must_use]
    pub fn largest(losses: impl IntoIterator<Item = (f64, Self)>) -> Option<f64> {
        let counted = losses.into_iter().filter(|(_, allowance)| allowance.counts());
        counted.map(|(loss, allowance)| loss - allowance.loss).reduce(f64::max)
    }

    /// The groups outside the maximum by their rows: those with no more rows than topics, whose
    /// baseline is zero by construction; none where all are so small.
    #[must_use]
    pub fn for_sizes(rows: &[usize], rank: usize) -> Vec<Self> {
        let small = |rows: usize| rows <= rank;
        let all = rows.iter().all(|&rows| small(rows));
        rows.iter().map(|&rows| Self { loss: 0.0, outside: small(rows) && !all }).collect()
    }
}

/// The criterion of one group, in the units of its error ‖X_ℓ − W_ℓH‖.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// What the error is held against: E_ℓ.
    pub offset: f64,
    /// What the difference is measured in: N_ℓ, positive.
    pub scale: f64,
}

impl Criterion {
    /// λ_ℓ/N_ℓ²: what a squared error counts for, where its group has the weight λ_ℓ.
    pub(crate) fn of_square(&self, weight: f64) -> f64 {
        weight / (self.scale * self.scale)
    }

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

/// The worst loss t with Σ w(t + e)² = tail for relative offsets e, or the trivial bound −min e where every t satisfies it. Σw = 1.
pub(crate) fn root(weights: &[f64], e: &[f64], tail: f64) -> f64 {
    let mean: f64 = weights.iter().zip(e).map(|(w, e)| w * e).sum();
    let square: f64 = weights.iter().zip(e).map(|(w, e)| w * e * e).sum();
    let trivial = e.iter().map(|e| -e).fold(f64::NEG_INFINITY, f64::max);
    let discriminant = mean * mean - square + tail;
    if discriminant <= 0.0 { trivial } else { (discriminant.sqrt() - mean).max(trivial) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_the_baseline_and_what_is_allowed_of_the_norm() {
        let offset = |loss, outside| Allowance { loss, outside }.offset(3.0, 2.0);
        assert_eq!([offset(0.0, false), offset(0.5, false), offset(-0.5, false)], [3.0, 4.0, 2.0]);
        assert_eq!(offset(-2.0, false), 0.0, "never negative");
        assert_eq!(offset(0.5, true), 4.0, "outside, and what it may lose is known");
        // Outside: so high that no error reaches it.
        let outside = Allowance { loss: 0.0, outside: true };
        assert_eq!([outside.offset(3.0, 2.0), outside.offset(5.0, 2.0)], [4.0, 5.0]);
    }

    #[test]
    fn who_counts_is_inside_or_allowed_something() {
        let counts = |loss, outside| Allowance { loss, outside }.counts();
        assert!(counts(0.0, false) && counts(-0.1, false) && counts(0.1, true));
        assert!(!counts(0.0, true) && !counts(-0.1, true));
        let of = |loss, outside| Allowance { loss, outside };
        let losses = [(0.5, of(0.4, false)), (0.3, of(0.1, false)), (0.9, of(0.0, true))];
        assert!((Allowance::largest(losses).unwrap() - 0.2).abs() < 1e-15);
        assert_eq!(Allowance::largest([(0.9, of(0.0, true))]), None);
    }

    #[test]
    fn groups_with_no_more_rows_than_topics_are_outside_unless_all_are() {
        let outside = |rows: &[usize]| -> Vec<bool> {
            Allowance::for_sizes(rows, 4).iter().map(|a| a.outside).collect()
        };
        assert_eq!(outside(&[3, 4, 5, 40]), [true, true, false, false]);
        assert_eq!(outside(&[3, 4, 1]), [false; 3]);
    }

    #[test]
    fn a_loss_of_an_error_is_that_of_the_relative_error() {
        let criterion = Criterion { offset: 3.0, scale: 4.0 };
        assert_eq!((criterion.loss(5.0), criterion.relative_offset()), (0.5, 0.75));
        assert_eq!(criterion.relative_loss(5.0 / 4.0), 0.5);
    }

    #[test]
    fn a_root_is_where_the_weighted_squares_meet_the_tail() {
        let (weights, e) = ([0.25, 0.75], [0.1, 0.3]);
        for tail in [0.2, 0.0625, 0.05] {
            let t = root(&weights, &e, tail);
            let squares: f64 = weights.iter().zip(e).map(|(w, e)| w * (t + e) * (t + e)).sum();
            assert!((squares - tail).abs() < 1e-15 && t > -0.1, "{tail}: {t}");
        }
        // Below what the trivial bound has there, and where no t has it.
        assert_eq!([root(&weights, &e, 0.02), root(&weights, &e, 0.001)], [-0.1; 2]);
    }
}
