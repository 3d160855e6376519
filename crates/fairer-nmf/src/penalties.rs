//! Penalties of standard NMF, with the names and the meaning that scikit-learn gives them: minimised is
//!
//!   ½‖X − WH‖² + n·α_W·(ρ‖W‖₁ + ½(1 − ρ)‖W‖²) + m·α_H·(ρ‖H‖₁ + ½(1 − ρ)‖H‖²)
//!
//! for m rows (the sum of their weights) of n features, ρ the `l1_ratio`. Rows minimise it exactly, the dictionary exactly or by
//! HALS: G gains the second factor on its diagonal, C loses the first. Before every dictionary step each topic's row of H and
//! column of W are scaled against each other to where they cost least, which alternation alone takes very long for. None of the
//! three raises the objective.

use crate::dictionary::Dictionary;
use crate::limit::Limit;
use crate::statistics::Statistics;
use crate::update::Update;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Penalties on both factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Penalties {
    /// α_W.
    #[serde(rename = "alpha_W")]
    pub alpha_w: f64,
    /// α_H; as α_W where absent.
    #[serde(rename = "alpha_H")]
    pub alpha_h: Option<f64>,
    /// ρ: 0 for squares alone, 1 for absolute values alone.
    pub l1_ratio: f64,
}

/// What the entries of a factor cost: l1·Σf + ½·l2·Σf².
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Of the entries.
    pub l1: f64,
    /// Of half their squares.
    pub l2: f64,
}

impl Penalties {
    /// Whether nothing is penalised.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.alpha_w == 0.0 && self.alpha_h.unwrap_or(0.0) == 0.0
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bad = |name, value: f64, expected| {
            Err(Error::Parameter { name, value: value.to_string(), expected })
        };
        let names = [("alpha_W", self.alpha_w), ("alpha_H", self.alpha_h.unwrap_or(0.0))];
        for (name, value) in names {
            if !(value.is_finite() && value >= 0.0) {
                return bad(name, value, "penalties must be finite and not negative");
            }
        }
        if !(0.0..=1.0).contains(&self.l1_ratio) {
            return bad(
                "l1_ratio",
                self.l1_ratio,
                "must lie between 0 (squares) and 1 (absolute values)",
            );
        }
        Ok(())
    }

    /// What the rows of W cost, for n features.
    pub(crate) fn of_rows(&self, features: usize) -> Cost {
        let by = self.alpha_w * features as f64;
        Cost { l1: by * self.l1_ratio, l2: by * (1.0 - self.l1_ratio) }
    }

    /// What the columns of H cost, for m rows.
    pub(crate) fn of_dictionary(&self, mass: f64) -> Cost {
        let by = self.alpha_h.unwrap_or(self.alpha_w) * mass;
        Cost { l1: by * self.l1_ratio, l2: by * (1.0 - self.l1_ratio) }
    }

    /// Both for data times `unit` whose W is `split` times the user's: the objective is then unit² times theirs.
    pub(crate) fn in_units(
        &self,
        features: usize,
        mass: f64,
        unit: f64,
        split: f64,
    ) -> (Cost, Cost) {
        let (w, h) = (self.of_rows(features), self.of_dictionary(mass));
        (w.seen(unit, split), Cost { l1: h.l1 * unit * split, l2: h.l2 * split * split })
    }
}

impl Cost {
    /// For rows of data times `unit` whose W is `split` times the user's.
    pub(crate) fn seen(self, unit: f64, split: f64) -> Self {
        let by = unit / split;
        Self { l1: self.l1 * unit * by, l2: self.l2 * by * by }
    }

    /// G + l2·I.
    pub(crate) fn add_to_gram(self, gram: &mut [f64], r: usize) {
        (0..r).for_each(|k| gram[k * r + k] += self.l2);
    }

    pub(crate) fn added_to(self, gram: &[f64], r: usize) -> Vec<f64> {
        let mut gram = gram.to_vec();
        self.add_to_gram(&mut gram, r);
        gram
    }

    /// Clears entries that cost something and do nothing: those of a topic that is zero on the other side, which the
    /// updates would leave as they are.
    pub(crate) fn clear_free(self, gram: &[f64], f: &mut [f64], r: usize) {
        for k in (0..r).filter(|&k| gram[k * r + k] <= 0.0 && self.l1 + self.l2 > 0.0) {
            f.iter_mut().skip(k).step_by(r).for_each(|v| *v = 0.0);
        }
    }
}

/// One update of H for the statistics of all rows.
pub(crate) fn step(
    update: Update,
    mut sum: Statistics,
    cost: Cost,
    h: &mut Dictionary,
    limit: Limit,
) {
    cost.clear_free(&sum.gram, &mut h.values, h.rank);
    cost.add_to_gram(&mut sum.gram, h.rank);
    sum.cross.iter_mut().for_each(|c| *c -= cost.l1);
    update.apply_to_all(&sum.gram, &sum.cross, &mut h.values, h.rank, limit);
}

/// l1·Σ_i w_ik of every topic, for rows that are the best for H: ⟨w_k, (Gw + l2·w + l1 − c)_k⟩ = 0, summed over all rows.
pub(crate) fn absolute(sum: &Statistics, h: &Dictionary, gram_h: &[f64], cost: Cost) -> Vec<f64> {
    let r = h.rank;
    let of = |k: usize| {
        let fitted: f64 = (0..h.features).map(|j| sum.cross[j * r + k] * h.values[j * r + k]).sum();
        let size: f64 = (0..r).map(|l| sum.gram[k * r + l] * gram_h[l * r + k]).sum();
        // Rounding can undercut zero.
        (fitted - size - cost.l2 * sum.gram[k * r + k]).max(0.0)
    };
    (0..r).map(|k| if cost.l1 > 0.0 { of(k) } else { 0.0 }).collect()
}

/// Scales every topic of W and H against each other to where they cost least; WH stays.
pub(crate) fn balance(sum: &mut Statistics, h: &mut Dictionary, (of_w, of_h): (Cost, Cost)) {
    let (r, gram_h) = (h.rank, h.gram());
    let first = absolute(sum, h, &gram_h, of_w);
    for k in 0..r {
        let own = || h.values.iter().skip(k).step_by(r);
        let (a1, a2) = (first[k], of_w.l2 * sum.gram[k * r + k]);
        let (b1, b2) = (of_h.l1 * own().sum::<f64>(), of_h.l2 * gram_h[k * r + k]);
        // Without a cost on both sides there is no best scale.
        if !(a1 + a2 > 0.0 && b1 + b2 > 0.0) {
            continue;
        }
        // The slope of a1·s + ½·a2·s² + b1/s + ½·b2/s² times s rises with s.
        let slope = |s: f64| a1 * s + a2 * s * s - b1 / s - b2 / (s * s);
        let (mut low, mut high) = (-20.0f64, 20.0f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope(middle.exp2()) > 0.0 { high = middle } else { low = middle }
        }
        let s = (0.5 * (low + high)).exp2();
        h.values.iter_mut().skip(k).step_by(r).for_each(|v| *v /= s);
        sum.cross.iter_mut().skip(k).step_by(r).for_each(|v| *v *= s);
        for l in 0..r {
            sum.gram[k * r + l] *= s;
            sum.gram[l * r + k] *= s;
        }
    }
}
