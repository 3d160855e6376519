//! Who pays more than the others, with limits that hold.
//!
//! *A group's loss in the population*: f − b, with f the relative error of the shared dictionary on
//! rows it has not seen, and b that of the group's own best dictionary, which nobody knows. On rows
//! that it has seen a group's own dictionary leaves too little, on rows that it has not seen too
//! much, to first order by the same amount (Akaike 1974; Efron 1986; for K folds, of which the
//! larger part was seen, α below). So, row by row in squared errors,
//!
//!   b² = in + α (out − in),   α = (K − 1)/(2K − 1),
//!
//! *Standard error.* By the envelope theorem the lowest error of a set of rows changes with the
//! weight of one row by that row's own squared error, to first order. So nothing is fitted anew: the
//! rows' contributions u_i = (s_i − f²x_i)/2f − (o_i − b²x_i)/2b to N²(f − b) give the variance
//! Σu_i²·m/(m − 1)/N⁴. Where between `in` and `out` the truth lies is known to a share
//! [`UNSURE`] of the way only, so that [`UNSURE`]·(√out − √in) is added in quadrature, for the
//! group's own and for the shared dictionary: it vanishes with 1/m. For a group with fewer rows than
//! 2 × rank, whose own dictionary fits it nearly exactly by construction, the truth may lie anywhere
//! between the two, and the whole way is added.
//!
//! *Difference*: d_ℓ = loss of ℓ − mean loss of all other rows' groups (weighted by rows), with
//! Welch's t (1947) and Satterthwaite's degrees of freedom; p is one-sided, adjusted over groups by
//! Holm (1979). Both limits of d hold for all groups together, each at the level (Bonferroni).
//!
//! *Weights of rows.* Errors and norms carry them, so that the variance is the linearised one of a survey;
//! degrees of freedom are those of Kish's effective numbers of rows, and the others are weighted by Σω.
//!
//! No theorem: docs/calibration.md has the simulations that chose it, coverage and false alarms
//! included, and what failed.

use super::is_small;
use super::unseen::{FOLDS, Unseen};
use crate::criterion::Criterion;
use crate::student;
use serde::{Deserialize, Serialize};

/// How well the place of b between seen and unseen rows is known, as a share of the way.
pub(super) const UNSURE: f64 = 0.15;

/// An estimate with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The estimate.
    pub estimate: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// What the sample says of one group's population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDifference {
    /// R-Error of rows that the shared dictionary has not seen.
    pub relative_error: Range,
    /// Loss against the group's own best dictionary.
    pub loss: Range,
    /// Loss less the mean loss of all other rows' groups; the limits hold for all groups together.
    pub difference: Range,
    /// One-sided: how often a group that pays no more than the others would seem to pay so much.
    pub p_value: f64,
    /// The same, adjusted over the groups (Holm).
    pub adjusted_p: f64,
    /// Rows at which a difference of the size that matters could be told from none, all else equal, to one digit: more is
    /// not known of a scatter. None where the others' rows would have to be more, too, and of a small group
    /// ([`is_small`]), whose scatter says nothing of that of more rows.
    pub rows_needed: Option<usize>,
}

/// How the groups differ in what they pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Level of every limit.
    pub level: f64,
    /// Difference that would matter.
    pub matters: f64,
    /// Whether the shared dictionary is none of standard NMF of these rows (nor, where that is said of it, one that evens out), so that its errors are taken as
    /// those of rows it has not seen.
    #[serde(default)]
    pub taken_as_it_is: bool,
    /// Groups, in their order.
    pub groups: Vec<GroupDifference>,
}

/// Loss, standard error and error of one group.
struct Estimate {
    rows: f64,
    /// Kish's effective number of rows: what degrees of freedom are counted by.
    effective: f64,
    mass: f64,
    loss: f64,
    se: f64,
    error: f64,
    error_se: f64,
}

/// The differences between groups; none for a single group. `level` lies in (0, 1). A group is compared with
/// the others of its family (a number each): with those that it shares no row with.
pub(super) fn differences(
    (groups, taken_as_it_is): (&[Unseen], bool),
    families: &[usize],
    rank: usize,
    level: f64,
    matters: f64,
) -> Option<Differences> {
    if groups.len() < 2 {
        return None;
    }
    let estimates: Vec<Estimate> = groups.iter().map(|group| estimate(group, rank)).collect();
    let between: Vec<Between> =
        (0..groups.len()).map(|l| between(&estimates, families, l)).collect();
    let p: Vec<f64> = between.iter().map(|b| b.p_value()).collect();
    let adjusted = holm(&p);
    let one = |l: usize| {
        let (e, b) = (&estimates[l], &between[l]);
        let df = (e.effective - 1.0).max(1.0);
        let two_sided = student::quantile((1.0 - level) / 2.0, df);
        let together = |df: f64| student::quantile((1.0 - level) / groups.len() as f64, df);
        // The error's scatter is nearer to even on the scale of logarithms; f = 0 has none.
        let factor = if e.error > 0.0 { (two_sided * e.error_se / e.error).exp() } else { 1.0 };
        GroupDifference {
            relative_error: Range {
                estimate: e.error,
                low: e.error / factor,
                high: (e.error * factor).min(1.0).max(e.error),
            },
            loss: range(e.loss, two_sided * e.se),
            difference: range(b.difference, together(b.df) * b.variance().sqrt()),
            p_value: p[l],
            adjusted_p: adjusted[l],
            // With as many rows as are needed, the scatter is known better than with these.
            rows_needed: rows_needed(e, rank, b, together(b.df.max(KNOWN)), matters),
        }
    };
    Some(Differences {
        level,
        matters,
        taken_as_it_is,
        groups: (0..groups.len()).map(one).collect(),
    })
}

/// Degrees of freedom from which on a scatter is as good as known.
const KNOWN: f64 = 30.0;

/// Nobody loses more than everything: limits end at ±1.
fn range(estimate: f64, side: f64) -> Range {
    let (low, high) = (estimate - side, estimate + side);
    Range { estimate, low: low.max(-1.0).min(estimate), high: high.min(1.0).max(estimate) }
}

fn estimate(group: &Unseen, rank: usize) -> Estimate {
    let rows = group.norm.len() as f64;
    let total = |values: &[f64]| values.iter().sum::<f64>();
    // Positive: a group of zeros is no group.
    let norm = total(&group.norm);
    let root = |values: &[f64]| (total(values) / norm).sqrt();
    let folds = FOLDS.min(group.norm.len()).max(2) as f64;
    let alpha = (folds - 1.0) / (2.0 * folds - 1.0);
    let own: Vec<f64> =
        group.own.iter().zip(&group.crossed).map(|(i, o)| i + alpha * (o - i)).collect();
    let (error, baseline) = (root(&group.shared), root(&own));
    // d√(S/N)/dS for a row; an error of zero has no row that moves it.
    let part =
        |e: f64, x: f64, f: f64| if f > 0.0 { (e - f * f * x) / (2.0 * f * norm) } else { 0.0 };
    let (mut variance, mut error_variance) = (0.0, 0.0);
    for ((x, s), o) in group.norm.iter().zip(&group.shared).zip(&own) {
        let of_error = part(*s, *x, error);
        let u = of_error - part(*o, *x, baseline);
        variance += u * u;
        error_variance += of_error * of_error;
    }
    let of_sample = rows / (rows - 1.0).max(1.0);
    let own_gap = root(&group.crossed) - root(&group.own);
    let shared_gap = error - root(&group.inside);
    let of_own = if is_small(group.norm.len(), rank) { 1.0 } else { UNSURE };
    let of_shared = (UNSURE * shared_gap).powi(2);
    let unsure = (of_own * own_gap).powi(2) + of_shared;
    Estimate {
        rows,
        effective: group.effective,
        mass: group.mass,
        loss: Criterion { offset: baseline, scale: 1.0 }.loss(error),
        se: (variance * of_sample + unsure).sqrt(),
        error,
        error_se: (error_variance * of_sample + of_shared).sqrt(),
    }
}

/// A group against the others.
struct Between {
    difference: f64,
    own_variance: f64,
    others_variance: f64,
    df: f64,
}

impl Between {
    fn variance(&self) -> f64 {
        self.own_variance + self.others_variance
    }

    fn p_value(&self) -> f64 {
        let se = self.variance().sqrt();
        match se > 0.0 {
            true => student::upper_tail(self.difference / se, self.df),
            // Everything is known exactly: equal groups, or groups that are fitted exactly.
            false if self.difference > 0.0 => 0.0,
            false => 1.0,
        }
    }
}

fn between(estimates: &[Estimate], families: &[usize], l: usize) -> Between {
    let family = || estimates.iter().enumerate().filter(|(k, _)| families[*k] == families[l]);
    let rest: f64 = family().map(|(_, e)| e.mass).sum::<f64>() - estimates[l].mass;
    let mut found = Between { difference: 0.0, own_variance: 0.0, others_variance: 0.0, df: 1.0 };
    // A family of one group has nobody to compare it with.
    if family().count() < 2 {
        return found;
    }
    let mut fourth = 0.0;
    // `rest` is positive: there are two groups at least, and none is empty.
    for (k, e) in family() {
        let weight = if k == l { 1.0 } else { -e.mass / rest };
        let variance = weight * weight * e.se * e.se;
        found.difference += weight * e.loss;
        fourth += variance * variance / (e.effective - 1.0).max(1.0);
        if k == l {
            found.own_variance = variance;
        } else {
            found.others_variance += variance;
        }
    }
    if fourth > 0.0 {
        found.df = (found.variance() * found.variance() / fourth).max(1.0);
    }
    found
}

/// Standard errors that the limit lies beyond what is estimated for it to hold four times of five.
const LIKELY: f64 = 0.842;

/// Rows for which a group that differs by nothing is most likely told from one that differs by what matters, to one digit.
/// The standard error of a group falls at least with 1/√m. Nothing is said of a small one: over shuffles of labels the same
/// eight rows were answered with 29 to 275.
fn rows_needed(
    group: &Estimate,
    rank: usize,
    b: &Between,
    quantile: f64,
    matters: f64,
) -> Option<usize> {
    let allowed = (matters / (quantile + LIKELY)).powi(2) - b.others_variance;
    let rows = group.rows as usize;
    let needed = || (group.rows * group.se.powi(2) / allowed).ceil().clamp(2.0, MOST) as usize;
    (allowed > 0.0 && !is_small(rows, rank)).then(|| to_one_digit(needed(), rows))
}

/// Rows beyond which nobody asks.
const MOST: f64 = 1e15;

/// A number of rows above zero to one digit, on the same side of the rows that are there.
fn to_one_digit(needed: usize, rows: usize) -> usize {
    let unit = 10_usize.pow(needed.ilog10());
    let nearest = (needed + unit / 2) / unit * unit;
    match needed > rows {
        true if nearest > rows => nearest,
        true => nearest + unit,
        false => nearest.min(rows),
    }
}

/// Holm: the k-th smallest of L is multiplied by L − k + 1, and never falls below a smaller one.
pub(super) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = p.to_vec();
    let mut least: f64 = 0.0;
    for (k, &i) in order.iter().enumerate() {
        least = least.max((p[i] * (order.len() - k) as f64).min(1.0));
        adjusted[i] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::to_one_digit;

    #[test]
    fn rows_that_are_needed_have_one_digit_and_are_more_than_there_are() {
        let above = [(464, 78), (237, 78), (23, 16), (104, 100), (95, 94), (7, 6), (10, 9)];
        let said = above.map(|(needed, rows)| to_one_digit(needed, rows));
        assert_eq!(said, [500, 200, 20, 200, 100, 7, 10]);
        // Who has enough is not asked for more.
        assert_eq!([(65, 66), (60, 66), (3, 66)].map(|(n, m)| to_one_digit(n, m)), [66, 60, 3]);
        for needed in 1..3_000 {
            for rows in [1, 9, 10, 11, 99, 100, 149, 150, 1_000] {
                let said = to_one_digit(needed, rows);
                assert_eq!(said > rows, needed > rows, "{needed} {rows}: {said}");
            }
        }
    }
}
