//! What dictionaries leave of rows that they have not seen, by K-fold cross-validation (Stone 1974;
//! Geisser 1975): the raw material of [`super::difference`].
//!
//! For every row four squared errors, each with the row's best coordinates:
//!
//! - `inside`: under the shared dictionary, which has seen the row;
//! - `shared`: under the shared dictionary, as it is on rows it has not seen:
//!   inside + e₋ − ē, where e₋ belongs to the dictionary that goes on from the shared one without the
//!   row's fold, ē is the mean over those without each of the K folds (Burman 1989): all of them lack a
//!   K-th part of the rows, so that what that costs cancels, and all but one have seen the row;
//! - `own`: under the dictionary of the row's group alone, which has seen the row;
//! - `crossed`: under the dictionary of its group without the row's fold.
//!
//! Who is in which fold is chance: `shared` and `crossed` are means over several foldings where the rows are few
//! ([`foldings`]), so that the verdict does not move with the seed more than it must.
//!
//! The shared dictionary is taken as it is (`shared` = `inside`) where it is none of standard NMF
//! of these rows: where going on from it lowers the total error by more than [`STATIONARY`]. One that is known to even the
//! groups out goes on so ([`Evened`]), and is taken as it is where that lowers the largest loss by more than
//! [`STATIONARY`]. All other fits are standard NMF by HALS; a group's own is the better of a run from the shared dictionary
//! and a random one, and those without a fold go on from it.

use super::{AuditOptions, is_small};
use crate::criterion::Criterion;
use crate::data::Group;
use crate::parallel::try_map;
use crate::random::Purpose;
use crate::rows::{Units, hold};
use crate::steps::Steps;
use crate::yardsticks::Fitter;
use crate::{GroupedData, Result};
use ndarray::ArrayView2;

/// Folds of a group's own dictionary.
pub(super) const FOLDS: usize = 5;
/// Folds of the shared dictionary.
pub(super) const SHARED_FOLDS: usize = 10;
/// Foldings of few rows, and the rows up to which there are two at least. What folds leave to chance falls
/// with the rows; what they cost rises with them.
const FOLDINGS: usize = 3;
const FEW: usize = 500;
/// Relative fall of the total error that tells a dictionary from one of standard NMF.
const STATIONARY: f64 = 1e-3;

/// What a dictionary that makes the largest loss of the groups small holds their errors against.
pub(super) struct Evened {
    /// E_ℓ + a_ℓN_ℓ.
    offsets: Vec<f64>,
}

/// The rows of one group, in the order of the group.
#[derive(Clone, Debug, Default)]
pub(super) struct Unseen {
    /// ‖x_i‖².
    pub norm: Vec<f64>,
    /// Under the shared dictionary, which has seen the row.
    pub inside: Vec<f64>,
    /// Under the shared dictionary as it is on rows it has not seen.
    pub shared: Vec<f64>,
    /// Under the group's own dictionary, which has seen the row.
    pub own: Vec<f64>,
    /// Under the group's own dictionary without the row's fold.
    pub crossed: Vec<f64>,
    /// Kish's effective number of rows, and what the group counts for beside the others.
    pub effective: f64,
    pub mass: f64,
}

impl Evened {
    /// Against baselines, with what the options allow the groups.
    pub fn new(data: &GroupedData<'_>, baselines: &[f64], options: &AuditOptions) -> Self {
        let of =
            |(l, group): (usize, &Group)| options.allowance(l).offset(baselines[l], group.norm());
        Self { offsets: data.groups().iter().enumerate().map(of).collect() }
    }

    /// The largest loss, with squared errors of all rows.
    fn largest(&self, data: &GroupedData<'_>, errors: &[f64]) -> f64 {
        let losses = data.groups().iter().zip(&self.offsets).map(|(group, offset)| {
            let error = group.rows.iter().map(|&row| errors[row]).sum::<f64>().sqrt();
            Criterion { offset: *offset, scale: group.norm() }.loss(error)
        });
        losses.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Fits of all groups and of the shared dictionary: the steps of [`unseen`].
pub(super) fn count(data: &GroupedData<'_>) -> usize {
    // One row alone has no folds.
    let folds = |rows: usize, most: usize| if rows < 2 { 0 } else { most.min(rows) };
    let times = foldings(data.grouped_count());
    let of_group = |rows: usize| 1 + times * folds(rows, FOLDS);
    let sizes = || data.groups().iter().map(|g| g.rows.len());
    1 + times * folds(data.grouped_count(), SHARED_FOLDS) + sizes().map(of_group).sum::<usize>()
}

/// How often so many rows are put into folds anew.
fn foldings(rows: usize) -> usize {
    (2 * FEW / rows.max(1)).clamp(1, FOLDINGS)
}

/// The four errors of every row, by group, and whether the shared dictionary is taken as it is. `row_errors`
/// are the rows' squared errors under `components`, in the order of the data.
pub(super) fn unseen(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    row_errors: &[f64],
    evened: Option<&Evened>,
    seed: u64,
    steps: &Steps<'_>,
) -> Result<(Vec<Unseen>, bool)> {
    let rows = hold(data, Units::Own);
    let fitter = Fitter { data, rows: &*rows, rank: components.nrows(), seed, steps };
    let cross_fitted = shared(&fitter, components, row_errors, evened)?;
    let as_it_is = cross_fitted.is_none();
    let shared = cross_fitted.unwrap_or_else(|| row_errors.to_vec());
    let times = foldings(data.grouped_count());
    let groups: Vec<Unseen> = try_map(data.groups().len(), &|l| {
        let rows = &data.groups()[l].rows;
        let key = |k: u64| Purpose::Unseen(l as u64, k);
        let first = steps.step(|| fitter.best(rows, components, key(0)))?;
        let own = fitter.errors(rows, &first)?;
        // The group's own dictionary is near the fold's, but where rows are fewer than topics it
        // would remember the rows of the fold.
        let start = if is_small(rows.len(), fitter.rank) { components } else { first.view() };
        let mut crossed = vec![0.0; rows.len()];
        let mut once = crossed.clone();
        for time in 0..times {
            let held = |k: usize, fold: &[usize], rest: &[usize]| {
                let h = fitter.from(rest, start, key((1 + time * FOLDS + k) as u64))?;
                fitter.errors(fold, &h)
            };
            fitter.cross(rows, FOLDS, key(u64::MAX - time as u64), held, &mut once)?;
            crossed.iter_mut().zip(&once).for_each(|(sum, e)| *sum += e / times as f64);
        }
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let norm = rows.iter().map(|&row| data.row_squared_norm(row)).collect();
        let (effective, mass) = (data.effective_rows(l), data.mass(l));
        let (inside, shared) = (of(row_errors), of(&shared));
        Ok(Unseen { norm, inside, shared, own, crossed, effective, mass })
    })?;
    Ok((groups, as_it_is))
}

/// `shared` of every row, in the order of the data; none for a dictionary that is taken as it is.
fn shared(
    fitter: &Fitter<'_, '_>,
    components: ArrayView2<'_, f64>,
    row_errors: &[f64],
    evened: Option<&Evened>,
) -> Result<Option<Vec<f64>>> {
    let mut all: Vec<usize> = fitter.data.grouped_rows().collect();
    all.sort_unstable();
    let key = |k: u64| Purpose::Unseen(u64::MAX, k);
    let go_on = |rows: &[usize], purpose: Purpose| match evened {
        Some(evened) => fitter.evened(rows, components, &evened.offsets, purpose),
        None => fitter.from(rows, components, purpose),
    };
    let on = fitter.steps.step(|| go_on(&all, key(0)))?;
    let with_all = fitter.errors(&all, &on)?;
    let inside: Vec<f64> = all.iter().map(|&row| row_errors[row]).collect();
    let mut found = row_errors.to_vec();
    let falls = match evened {
        Some(evened) => {
            let mut after = row_errors.to_vec();
            all.iter().zip(&with_all).for_each(|(&row, e)| after[row] = *e);
            let largest = |errors: &[f64]| evened.largest(fitter.data, errors);
            largest(&after) < largest(row_errors) - STATIONARY
        }
        None => {
            let total = |errors: &[f64]| errors.iter().sum::<f64>().sqrt();
            total(&with_all) < (1.0 - STATIONARY) * total(&inside)
        }
    };
    let times = foldings(all.len());
    if falls {
        // Whoever watches was promised these steps.
        let promised = times * SHARED_FOLDS.min(all.len());
        (0..promised).try_for_each(|_| fitter.steps.step(|| Ok(())))?;
        return Ok(None);
    }
    // Differences of squared errors, e₋ − ē.
    let mut optimism = vec![0.0; all.len()];
    for time in 0..times {
        let folds = fitter.folds(all.len(), SHARED_FOLDS, key(u64::MAX - time as u64));
        let without = |k: usize| {
            let rest = fitter.rest(&all, &folds[k]);
            let purpose = key((1 + time * SHARED_FOLDS + k) as u64);
            let fitted = || fitter.errors(&all, &go_on(&rest, purpose)?);
            fitter.steps.step(fitted)
        };
        let errors: Vec<Vec<f64>> = try_map(folds.len(), &without)?;
        for (fold, own) in folds.iter().zip(&errors) {
            for &i in fold {
                let mean = errors.iter().map(|of| of[i]).sum::<f64>() / folds.len() as f64;
                optimism[i] += (own[i] - mean) / times as f64;
            }
        }
    }
    for ((&row, inside), optimism) in all.iter().zip(inside).zip(optimism) {
        // A difference of squared errors can undercut zero by chance; an error cannot.
        found[row] = (inside + optimism).max(0.0);
    }
    Ok(Some(found))
}
