//! Fair PCA (Samadi, Tantipongpipat, Morgenstern, Singh and Vempala 2018; for several groups the same authors 2019), and its
//! relaxation with the criterion of Fairer-NMF. Neither is non-negative.
//!
//! min over projections P of rank d of max_ℓ z_ℓ, z_ℓ = (tr S_ℓ − ⟨S_ℓ, P⟩ − own_ℓ)/m_ℓ with S_ℓ = X_ℓᵀX_ℓ and own_ℓ the group's own best. Over
//! {0 ⪯ P ⪯ I, tr P ≤ d} it is convex. For weights w the least Σ w_ℓz_ℓ is reached by the leading eigenvectors of Σ w_ℓS_ℓ/m_ℓ: a lower bound
//! on the relaxation. Two groups: bisection on w, where z₁ = z₂ (then the rank is d exactly). More: multiplicative weights, whose
//! average of projections is an upper bound; it has a higher rank, and its d leading eigenvectors are what is measured.
//!
//! With z_ℓ = f_ℓ − e_ℓ instead (relative errors, quasi-convex) the relaxation's value is the `global_bound` of the library, whose weights are
//! taken; the r leading eigenvectors at them are measured. Data are not centred, as NMF does not centre them.

use fairer_nmf::internals::leading_projection;
use fairer_nmf::{Error, Note, Result};

use super::{Left, Task};

/// Rounds of multiplicative weights, and of bisection.
const ROUNDS: usize = 300;
const HALVINGS: usize = 60;
/// Features up to which matrices of features by features are worth it.
const MOST_FEATURES: usize = 2_000;

/// What the relaxation has found.
pub(super) struct Found {
    /// A projection of rank d, n×n.
    pub projection: Vec<f64>,
    /// z_ℓ of it.
    pub losses: Vec<f64>,
    /// No projection of the rank, and no average of such, has a largest z below this.
    pub lower: f64,
    /// What the relaxation reaches.
    pub upper: f64,
}

/// ⟨A, B⟩.
fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn trace(a: &[f64], n: usize) -> f64 {
    (0..n).map(|i| a[i * n + i]).sum()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Fair PCA for second moments S_ℓ (n×n) of groups of m_ℓ rows.
pub(super) fn fair_pca(moments: &[Vec<f64>], rows: &[usize], n: usize, d: usize) -> Found {
    let scaled: Vec<Vec<f64>> = (moments.iter().zip(rows))
        .map(|(s, &m)| s.iter().map(|v| v / m as f64).collect())
        .collect();
    let own: Vec<f64> =
        (scaled.iter()).map(|s| trace(s, n) - inner(s, &leading_projection(s, n, d))).collect();
    let losses = |p: &[f64]| -> Vec<f64> {
        scaled.iter().zip(&own).map(|(s, own)| trace(s, n) - inner(s, p) - own).collect()
    };
    let at = |weights: &[f64]| {
        let mut sum = vec![0.0; n * n];
        for (s, w) in scaled.iter().zip(weights) {
            sum.iter_mut().zip(s).for_each(|(t, v)| *t += w * v);
        }
        let p = leading_projection(&sum, n, d);
        let z = losses(&p);
        let dual = inner(&z, weights);
        (p, z, dual)
    };
    let count = scaled.len();
    if count <= 2 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut best = f64::NEG_INFINITY;
        let mut kept: Option<(Vec<f64>, Vec<f64>)> = None;
        for _ in 0..HALVINGS {
            let w = 0.5 * (low + high);
            let (p, z, dual) = at(&[w, 1.0 - w][..count]);
            best = best.max(dual);
            if z[0] > z[count - 1] {
                low = w
            } else {
                high = w
            }
            if kept.as_ref().is_none_or(|(_, known)| largest(&z) < largest(known)) {
                kept = Some((p, z));
            }
        }
        let (projection, losses) = kept.expect("at least one halving");
        return Found { upper: largest(&losses), projection, losses, lower: best };
    }
    let width = scaled.iter().map(|s| trace(s, n)).fold(0.0, f64::max);
    let (mut sums, mut average, mut lower) =
        (vec![0.0; count], vec![0.0; n * n], f64::NEG_INFINITY);
    for round in 1..=ROUNDS {
        let rate = 4.0 * ((count as f64).ln() / round as f64).sqrt() / width;
        let top = largest(&sums);
        let raw: Vec<f64> = sums.iter().map(|s| (rate * (s - top)).exp()).collect();
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let (p, z, dual) = at(&weights);
        lower = lower.max(dual);
        sums.iter_mut().zip(&z).for_each(|(s, z)| *s += z);
        average.iter_mut().zip(&p).for_each(|(a, p)| *a += p / ROUNDS as f64);
    }
    let upper = largest(&losses(&average));
    let projection = leading_projection(&average, n, d);
    Found { losses: losses(&projection), projection, lower, upper }
}

impl Task<'_, '_> {
    fn moments(&self) -> Result<Vec<Vec<f64>>> {
        let n = self.data.features();
        if n > MOST_FEATURES {
            return Err(Error::Parameter {
                name: "features",
                value: n.to_string(),
                expected: "Fair PCA needs matrices of features by features: at most 2000, or leave it out of the methods",
            });
        }
        Ok(self.data.second_moments())
    }

    /// R-Error of every group under a projection.
    fn projected(&self, moments: &[Vec<f64>], p: &[f64]) -> Vec<f64> {
        let n = self.data.features();
        // A difference that can cancel; what is left of a norm is not negative.
        let left = |s: &Vec<f64>| ((trace(s, n) - inner(s, p)) / trace(s, n)).max(0.0).sqrt();
        moments.iter().map(left).collect()
    }

    pub(super) fn fair_pca(&self) -> Result<Left> {
        let moments = self.moments()?;
        let rows: Vec<usize> = self.data.groups().iter().map(|g| g.rows.len()).collect();
        let (n, d) = (self.data.features(), self.parameters.rank);
        let found = fair_pca(&moments, &rows, n, d.min(n));
        let remark = format!(
            "its own criterion: relaxation between {:.4e} and {:.4e}, rank {d} reaches {:.4e}",
            found.lower,
            found.upper,
            largest(&found.losses)
        );
        let relative_errors = self.projected(&moments, &found.projection);
        Ok(Left {
            relative_errors,
            parameters: d * n,
            remark: Some(Note::new("own-criterion", remark)),
        })
    }

    pub(super) fn pca_loss(&self) -> Result<Left> {
        let moments = self.moments()?;
        let (n, d) = (self.data.features(), self.parameters.rank);
        let mut sum = vec![0.0; n * n];
        for ((s, w), group) in moments.iter().zip(&self.bound.weights).zip(self.data.groups()) {
            sum.iter_mut().zip(s).for_each(|(t, v)| *t += w / group.squared_norm * v);
        }
        let p = leading_projection(&sum, n, d.min(n));
        let said = |value: f64| Note::new("relaxation", format!("relaxation: {value:.4}"));
        let remark = self.bound.value.map(said);
        Ok(Left { relative_errors: self.projected(&moments, &p), parameters: d * n, remark })
    }
}
