//! Groups that nobody knows: found in the data, as the paper's discussion suggests, and then treated as groups.
//!
//! - *Topics*: by the share that every topic of standard NMF has in a row, w_ik‖h_k‖; with as many groups as topics the strongest
//!   one, else clusters of the shares (k-means from k-means++ starts, best of several).
//! - *Errors*: rows in order of their relative error under standard NMF, cut into parts of equal size; then Fairer-NMF for these
//!   groups, errors anew, averaged with those before, and so on until the groups stay.
//! - *Held-out errors*: the same order, once, by the errors of rows under dictionaries that have not seen them (five folds).
//!
//! Rows of zeros have error 0 and no strongest topic; they join the largest group. What is found is found in the same rows that are
//! fitted: tests against chance do not hold for such groups.

use crate::baseline::Baseline;
use crate::data::GroupedData;
use crate::evaluate::evaluate;
pub use crate::model::{Discover, FoundGroups};
use crate::parameters::{Method, Parameters};
use crate::progress::Observer;
use crate::random::{Purpose, Stream};
use crate::{Error, Result, fit};
use ndarray::{Array2, ArrayView2};
use std::time::Instant;

const FOLDS: usize = 5;
/// Rounds of groups by errors at the most.
const ROUNDS: usize = 8;
/// Starts of k-means, and rounds of each at the most.
const CLUSTER_STARTS: usize = 10;
const CLUSTER_ROUNDS: usize = 100;

/// Finds groups of the rows; those that the data have play no part. `parameters` say rank, restarts, stopping and seed, and of groups
/// by errors the method and the baselines that they are refined with. A time limit holds for all
/// fits together; groups by errors are then those of the rounds that were done.
///
/// # Errors
/// Fewer than two groups or more than rows, or what [`fit`](crate::fit()) refuses.
///
/// ```
/// use fairer_nmf::discover::{Discover, discover};
/// use fairer_nmf::{GroupedData, Parameters, silent, synthetic};
/// let (x, _) = synthetic::first(0);
/// let data = GroupedData::one_group(x.view())?;
/// let found = discover(&data, Discover::Topics, 2, &Parameters::new(2), &silent)?;
/// let data = data.with_found(&found)?;
/// assert_eq!(data.groups().len(), 2);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn discover(
    data: &GroupedData<'_>,
    how: Discover,
    groups: usize,
    parameters: &Parameters,
    observer: &Observer<'_>,
) -> Result<FoundGroups> {
    parameters.check()?;
    // One limit for all fits together.
    let deadline = parameters.stopping.deadline(Instant::now());
    let rows: Vec<usize> = data.grouped_rows().collect();
    if groups < 2 || groups > rows.len() {
        let (name, value) = ("discover groups", groups.to_string());
        let expected = "at least two groups are needed, and no more than there are rows";
        return Err(Error::Parameter { name, value, expected });
    }
    let whole = data.whole()?;
    let standard = Parameters {
        method: Method::standard(),
        baseline: Baseline::Zero,
        bound: false,
        finish: false,
        ..parameters.clone()
    };
    let (labels, rounds) = match how {
        Discover::Topics => {
            let found = fit(&whole, &standard, observer)?;
            let w = found.representation.to_f64();
            (by_topics(w.view(), &found.model.components, groups, parameters.seed), 1)
        }
        Discover::HeldOutErrors => {
            let errors = held_out(&whole, &standard, deadline, observer)?;
            (cut(&errors, &rows, groups), 1)
        }
        Discover::Errors => {
            let h = fit(&whole, &standard, observer)?.model.components;
            let first = errors(&whole, h.view())?;
            let rest = (parameters, deadline);
            by_errors(data, first, &rows, groups, rest, observer)?
        }
    };
    Ok(FoundGroups { found_by: how, groups, rounds, labels: named(labels, &whole) })
}

impl<'a> GroupedData<'a> {
    /// All rows that are in a group, as one.
    pub(crate) fn whole(&self) -> Result<Self> {
        let mut rows: Vec<usize> = self.grouped_rows().collect();
        rows.sort_unstable();
        self.regrouped(vec![("all".to_owned(), rows)])
    }

    /// The same rows in the groups that were found.
    ///
    /// # Errors
    /// Groups of other rows, or a group of zeros.
    pub fn with_found(&self, found: &FoundGroups) -> Result<Self> {
        if found.labels.len() != self.rows() {
            return Err(Error::LabelCount { labels: found.labels.len(), rows: self.rows() });
        }
        let mut groups: Vec<(String, Vec<usize>)> =
            found.names().into_iter().map(|name| (name, Vec::new())).collect();
        let mut rows: Vec<usize> = self.grouped_rows().collect();
        rows.sort_unstable();
        rows.into_iter().for_each(|row| groups[found.labels[row]].1.push(row));
        groups.retain(|(_, rows)| !rows.is_empty());
        self.regrouped(groups)
    }
}

/// Labels from 0 without holes; rows of zeros join the largest group.
fn named(mut labels: Vec<usize>, data: &GroupedData<'_>) -> Vec<usize> {
    let count = labels.iter().max().map_or(0, |most| most + 1);
    let mut sizes = vec![0; count];
    let zero: Vec<bool> = (0..data.rows()).map(|row| data.row_squared_norm(row) == 0.0).collect();
    labels.iter().zip(&zero).filter(|(_, zero)| !**zero).for_each(|(&l, _)| sizes[l] += 1);
    let largest = (0..count).max_by_key(|&l| (sizes[l], count - l)).unwrap_or(0);
    let mut number = vec![0; count];
    for (next, l) in (0..count).filter(|&l| sizes[l] > 0).enumerate() {
        number[l] = next;
    }
    for (label, zero) in labels.iter_mut().zip(zero) {
        *label = number[if zero { largest } else { *label }];
    }
    labels
}

/// ‖x_i − w_iH‖/‖x_i‖ of all rows; 0 for rows of zeros.
fn errors(data: &GroupedData<'_>, h: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
    let found = evaluate(data, h, None, &[0.0])?.row_squared_errors;
    let error = |(row, squared): (usize, f64)| match data.row_squared_norm(row) {
        norm if norm > 0.0 => (squared / norm).sqrt(),
        _ => 0.0,
    };
    Ok(found.into_iter().enumerate().map(error).collect())
}

/// Rows in order of their errors, in parts of equal size (to one row).
fn cut(errors: &[f64], rows: &[usize], groups: usize) -> Vec<usize> {
    let mut order = rows.to_vec();
    order.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]).then(a.cmp(&b)));
    let mut labels = vec![0; errors.len()];
    for (place, row) in order.iter().enumerate() {
        labels[*row] = place * groups / order.len();
    }
    labels
}

/// Errors of every row under standard NMF of the other folds.
fn held_out(
    data: &GroupedData<'_>,
    standard: &Parameters,
    deadline: Option<Instant>,
    observer: &Observer<'_>,
) -> Result<Vec<f64>> {
    let mut rows = data.groups()[0].rows.clone();
    Stream::new(standard.seed, Purpose::Discover, 0).shuffle(&mut rows);
    let folds = FOLDS.min(rows.len());
    let mut out = vec![0.0; data.rows()];
    for fold in 0..folds {
        let inside = |place: &usize| place % folds == fold;
        let pick = |wanted: bool| -> Vec<usize> {
            let mut some: Vec<usize> =
                (0..rows.len()).filter(|p| inside(p) == wanted).map(|p| rows[p]).collect();
            some.sort_unstable();
            some
        };
        let (seen, unseen) = (pick(false), pick(true));
        let seen = match data.regrouped(vec![("seen".to_owned(), seen)]) {
            // Nothing is learnt from zeros.
            Err(Error::ZeroGroup { .. }) => continue,
            other => other?,
        };
        let h = fit(&seen, &standard.until(deadline), observer)?.model.components;
        let found = match data.regrouped(vec![("unseen".to_owned(), unseen.clone())]) {
            Err(Error::ZeroGroup { .. }) => continue,
            other => errors(&other?, h.view())?,
        };
        unseen.into_iter().for_each(|row| out[row] = found[row]);
    }
    Ok(out)
}

/// Groups by errors, refined by fits for them.
fn by_errors(
    data: &GroupedData<'_>,
    mut mean: Vec<f64>,
    rows: &[usize],
    groups: usize,
    (parameters, deadline): (&Parameters, Option<Instant>),
    observer: &Observer<'_>,
) -> Result<(Vec<usize>, usize)> {
    let whole = data.whole()?;
    let baseline = match &parameters.baseline {
        Baseline::Adjusted { estimate, .. } => Baseline::Estimate(estimate.clone()),
        Baseline::Given { .. } => Baseline::Zero,
        other => other.clone(),
    };
    let refined =
        Parameters { baseline, bound: false, finish: false, n_init: 1, ..parameters.clone() };
    let mut labels = cut(&mean, rows, groups);
    for round in 1..ROUNDS {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok((labels, round));
        }
        let found = FoundGroups {
            found_by: Discover::Errors,
            groups,
            rounds: round,
            labels: named(labels.clone(), &whole),
        };
        let refined = refined.until(deadline);
        let h = fit(&data.with_found(&found)?, &refined, observer)?.model.components;
        let now = errors(&whole, h.view())?;
        let weight = 1.0 / (round as f64 + 1.0);
        mean.iter_mut().zip(now).for_each(|(m, e)| *m += weight * (e - *m));
        let next = cut(&mean, rows, groups);
        if next == labels {
            return Ok((labels, round));
        }
        labels = next;
    }
    Ok((labels, ROUNDS))
}

/// The strongest topic of every row, or clusters of the topics' shares.
fn by_topics(w: ArrayView2<'_, f64>, h: &Array2<f64>, groups: usize, seed: u64) -> Vec<usize> {
    let sizes: Vec<f64> = h.rows().into_iter().map(|h| h.dot(&h).sqrt()).collect();
    let mut shares = w.to_owned();
    for mut row in shares.rows_mut() {
        row.iter_mut().zip(&sizes).for_each(|(v, s)| *v *= s);
        let sum = row.sum();
        if sum > 0.0 {
            row.mapv_inplace(|v| v / sum);
        }
    }
    if groups == h.nrows() {
        let strongest = |row: ndarray::ArrayView1<'_, f64>| crate::weights::largest(&row.to_vec());
        return shares.rows().into_iter().map(strongest).collect();
    }
    let starts = (0..CLUSTER_STARTS as u64)
        .map(|start| clusters(&shares, groups, Stream::new(seed, Purpose::Discover, 1 + start)));
    starts.min_by(|a, b| a.1.total_cmp(&b.1)).map_or_else(|| vec![0; w.nrows()], |(found, _)| found)
}

/// k-means (Lloyd 1982) from a k-means++ start (Arthur and Vassilvitskii 2007): labels and the sum of squared distances.
fn clusters(points: &Array2<f64>, count: usize, mut stream: Stream) -> (Vec<usize>, f64) {
    let distance = |a: ArrayView2<'_, f64>, i: usize, c: usize| -> f64 {
        points.row(i).iter().zip(a.row(c)).map(|(p, q)| (p - q) * (p - q)).sum()
    };
    let m = points.nrows();
    let mut centres = Array2::zeros((count, points.ncols()));
    centres.row_mut(0).assign(&points.row(stream.below(m)));
    let mut nearest = vec![f64::INFINITY; m];
    for c in 1..count {
        for (i, near) in nearest.iter_mut().enumerate() {
            *near = near.min(distance(centres.view(), i, c - 1));
        }
        let mut at = stream.uniform() * nearest.iter().sum::<f64>();
        let chosen = nearest.iter().position(|d| {
            at -= d;
            at < 0.0
        });
        let chosen = chosen.unwrap_or_else(|| stream.below(m));
        centres.row_mut(c).assign(&points.row(chosen));
    }
    let mut labels = vec![usize::MAX; m];
    let mut total = 0.0;
    for _ in 0..CLUSTER_ROUNDS {
        total = 0.0;
        let mut moved = false;
        for (i, label) in labels.iter_mut().enumerate() {
            let of: Vec<f64> = (0..count).map(|c| distance(centres.view(), i, c)).collect();
            let best = (0..count).min_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap_or(0);
            total += of[best];
            moved |= *label != best;
            *label = best;
        }
        if !moved {
            break;
        }
        for c in 0..count {
            let own: Vec<usize> = (0..m).filter(|&i| labels[i] == c).collect();
            // A centre that lost all its points stays.
            if own.is_empty() {
                continue;
            }
            let mut mean = centres.row_mut(c);
            mean.fill(0.0);
            own.iter().for_each(|&i| mean += &points.row(i));
            mean /= own.len() as f64;
        }
    }
    (labels, total)
}
