//! What the topics are and whom they serve.
//!
//! The rank-one piece w_·k h_k of the reconstruction has the mass Σ_{i∈ℓ} w_ik · ‖h_k‖₁ in group ℓ
//! (all entries are non-negative, so masses add up and do not depend on how W and H share a
//! topic's scale). Then
//!
//!   use_ℓk   = mass_ℓk / Σ_k mass_ℓk    how much of group ℓ's reconstruction is topic k;
//!   share_ℓk = use_ℓk / Σ_ℓ use_ℓk      whose topic it is, were all groups of equal size.
//!
//! A topic exists mainly for a group with share_ℓk > 2/3: that group uses it more than twice as
//! much as all others together. Topics of two dictionaries are matched one to one so that the sum
//! of cosine similarities is largest, by the Hungarian method (`matching.rs`), which is exact.

mod matching;

pub(super) use matching::assign;

use super::Evaluation;
use crate::evaluate::check_components;
use crate::weights::largest;
use crate::{GroupedData, Result};
use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// A topic's main group uses it more than this share (groups counted as of equal size).
const MAIN_SHARE: f64 = 2.0 / 3.0;

/// A feature and its part of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicFeature {
    /// Number of the feature, from 0.
    pub feature: usize,
    /// h_kj/‖h_k‖₁.
    pub share: f64,
}

/// One topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Its strongest features, strongest first; features it does not have are left out.
    pub features: Vec<TopicFeature>,
    /// use_ℓk of every group; a group that uses no topic at all has zeros.
    pub group_use: Vec<f64>,
    /// share_ℓk of every group.
    pub group_share: Vec<f64>,
    /// Number of the group that the topic mainly exists for.
    pub main_group: Option<usize>,
}

/// A topic and its partner in a reference dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicMatch {
    /// Number of the topic, from 0.
    pub topic: usize,
    /// Number of its partner in the reference.
    pub reference: usize,
    /// Cosine of the two, from 0 (nothing shared) to 1 (the same but for scale).
    pub similarity: f64,
}

/// Describes every topic, with `strongest` features each.
///
/// # Errors
/// Components that do not fit the data.
pub fn describe_topics(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    evaluation: &Evaluation,
    strongest: usize,
) -> Result<Vec<Topic>> {
    check_components(data, components)?;
    let sizes: Vec<f64> = components.rows().into_iter().map(|h| h.sum()).collect();
    let uses: Vec<Vec<f64>> = data
        .groups()
        .iter()
        .map(|group| {
            let mut masses = vec![0.0; sizes.len()];
            for &row in &group.rows {
                let w = evaluation.representation.row(row);
                let weight = data.weight(row);
                let masses = masses.iter_mut().zip(w).zip(&sizes);
                masses.for_each(|((m, w), s)| *m += weight * (w * s));
            }
            let total: f64 = masses.iter().sum();
            masses.iter().map(|m| if total > 0.0 { m / total } else { 0.0 }).collect()
        })
        .collect();
    let of_topic = |(k, h): (usize, ArrayView1<'_, f64>)| {
        let group_use: Vec<f64> = uses.iter().map(|u| u[k]).collect();
        let total: f64 = group_use.iter().sum();
        let share = |u: &f64| if total > 0.0 { u / total } else { 0.0 };
        let group_share: Vec<f64> = group_use.iter().map(share).collect();
        let first = largest(&group_share);
        let main_group =
            (group_share.len() > 1 && group_share[first] > MAIN_SHARE).then_some(first);
        Topic { features: strongest_features(h, strongest), group_use, group_share, main_group }
    };
    Ok(components.rows().into_iter().enumerate().map(of_topic).collect())
}

fn strongest_features(h: ArrayView1<'_, f64>, count: usize) -> Vec<TopicFeature> {
    let total: f64 = h.sum();
    let mut order: Vec<usize> = (0..h.len()).filter(|&j| h[j] > 0.0).collect();
    order.sort_by(|&a, &b| h[b].total_cmp(&h[a]).then(a.cmp(&b)));
    order.truncate(count);
    // A feature in the list is positive, and so is the total.
    order.into_iter().map(|feature| TopicFeature { feature, share: h[feature] / total }).collect()
}

/// Matches the topics of two dictionaries (r×n and s×n) one to one, min(r, s) pairs in the order
/// of the first one's topics, with the largest possible sum of cosine similarities.
///
/// # Errors
/// Different numbers of features.
///
/// ```
/// use fairer_nmf::audit::match_topics;
/// use ndarray::array;
/// let ours = array![[1.0, 0.0], [0.0, 2.0]];
/// let theirs = array![[0.0, 1.0], [5.0, 0.0]];
/// let pairs = match_topics(ours.view(), theirs.view())?;
/// assert_eq!((pairs[0].reference, pairs[1].reference), (1, 0));
/// assert_eq!(pairs[0].similarity, 1.0);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn match_topics(
    components: ArrayView2<'_, f64>,
    reference: ArrayView2<'_, f64>,
) -> Result<Vec<TopicMatch>> {
    if components.ncols() != reference.ncols() {
        let (found, expected) = (reference.ncols(), components.ncols());
        return Err(crate::Error::FeatureCount { found, expected });
    }
    let similarity = |k: usize, q: usize| cosine(components.row(k), reference.row(q));
    // The Hungarian method wants at least as many columns as rows.
    let (r, s) = (components.nrows(), reference.nrows());
    let mut pairs: Vec<(usize, usize)> = if r <= s {
        assign(r, s, |k, q| -similarity(k, q)).into_iter().enumerate().collect()
    } else {
        let partners = assign(s, r, |q, k| -similarity(k, q));
        partners.into_iter().enumerate().map(|(q, k)| (k, q)).collect()
    };
    pairs.sort_unstable();
    let found = |(k, q)| TopicMatch { topic: k, reference: q, similarity: similarity(k, q) };
    Ok(pairs.into_iter().map(found).collect())
}

/// Cosine of two non-negative vectors; 0 where one is zero.
fn cosine(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let dot = |x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>| -> f64 {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    };
    let size = (dot(a, a) * dot(b, b)).sqrt();
    // Rounding may leave the quotient just above 1.
    if size > 0.0 { (dot(a, b) / size).min(1.0) } else { 0.0 }
}
