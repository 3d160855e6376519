//! A baseline without the small-sample fault, by K-fold cross-validation (Stone 1974).
//!
//! E_ℓ is measured on the rows that its own dictionary was fitted on: a group with no more rows
//! than the rank is fitted exactly, so E_ℓ = 0 and its whole error counts as loss. Here the rows
//! of a group are split into K folds; standard NMF is fitted on K − 1 of them, the last is
//! projected exactly (NNLS), and
//!
//!   e_ℓ = √(Σ_folds ‖X_fold − W_fold H_without fold‖²) / N_ℓ,   held-out loss = R-Error − e_ℓ.
//!
//! What it compares: the shared dictionary has seen the rows (and those of other groups), the
//! group's own has not seen the fold. So the held-out loss errs on the low side, most for small
//! groups, where the usual loss errs on the high side; the truth lies between. A negative value
//! says that sharing helps the group: its own samples alone do not teach it as good a dictionary.
//! A group of one row has no held-out baseline.

use super::fitter::standard;
use crate::baseline::GroupBaseline;
use crate::criterion::Criterion;
use crate::data::Group;
use crate::evaluate::{Evaluation, errors_by_group};
use crate::parallel::try_map;
use crate::progress::AuditPart;
use crate::random::{Purpose, Stream};
use crate::rows::{Rows, Units, hold};
use crate::search::fit_relabelled;
use crate::steps::Steps;
use crate::{Error, GroupedData, Observer, Parameters, Result};
use serde::{Deserialize, Serialize};

/// The held-out baseline of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutGroup {
    /// e_ℓ, relative to N_ℓ; none for a group of one row.
    pub relative_baseline: Option<f64>,
    /// R-Error of the shared dictionary less e_ℓ.
    pub loss: Option<f64>,
    /// Whether the group has fewer rows than 2 × rank, so that its usual baseline is close to
    /// zero by construction.
    pub small: bool,
}

impl HeldOutGroup {
    /// The loss of a relative error, of whichever dictionary, against e_ℓ.
    #[must_use]
    pub fn loss_of(&self, relative_error: f64) -> Option<f64> {
        loss(self.relative_baseline, relative_error)
    }
}

fn loss(relative_baseline: Option<f64>, relative_error: f64) -> Option<f64> {
    relative_baseline.map(|e| Criterion { offset: e, scale: 1.0 }.loss(relative_error))
}

/// What cross-validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Number of folds K; a group with fewer rows has one fold per row.
    pub folds: usize,
    /// Groups, in their order.
    pub groups: Vec<HeldOutGroup>,
}

/// Whether a group's usual baseline is far too low by construction (zero where it has no more rows than topics): rows <
/// 2 × rank.
#[must_use]
pub fn is_small(rows: usize, rank: usize) -> bool {
    rows < 2 * rank
}

/// Held-out baselines of all groups, with the best of `runs` runs of HALS for every fold.
///
/// # Errors
/// Fewer than two folds, no runs, or an evaluation of other data.
pub fn held_out(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    folds: usize,
    runs: usize,
    seed: u64,
) -> Result<HeldOut> {
    watched(data, evaluation, folds, runs, seed, &Steps::unwatched(AuditPart::HeldOut))
}

/// Folds of all groups together: the steps of [`watched`].
pub(crate) fn count(data: &GroupedData<'_>, folds: usize) -> usize {
    let of_group = |rows: usize| if rows < 2 { 0 } else { folds.min(rows) };
    data.groups().iter().map(|g| of_group(g.rows.len())).sum()
}

/// [`held_out`] with an observer.
pub(crate) fn watched(
    data: &GroupedData<'_>,
    evaluation: &Evaluation,
    folds: usize,
    runs: usize,
    seed: u64,
    steps: &Steps<'_>,
) -> Result<HeldOut> {
    let rank = evaluation.representation.ncols();
    let of = |(l, relative_baseline): (usize, Option<f64>)| HeldOutGroup {
        relative_baseline,
        loss: loss(relative_baseline, evaluation.relative_errors[l]),
        small: is_small(data.groups()[l].rows.len(), rank),
    };
    let found = relative_baselines(data, rank, (folds, runs), seed, steps)?;
    Ok(HeldOut { folds, groups: found.into_iter().enumerate().map(of).collect() })
}

/// E_ℓ of every group on rows that its own dictionary has not seen; its norm for a group of one row.
pub(crate) fn held_out_baselines(
    data: &GroupedData<'_>,
    rank: usize,
    folds: usize,
    runs: usize,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<GroupBaseline>> {
    let steps = Steps::new(AuditPart::HeldOut, count(data, folds), observer);
    let found = relative_baselines(data, rank, (folds, runs), seed, &steps)?;
    let of = |(e, g): (Option<f64>, &Group)| GroupBaseline {
        error: e.unwrap_or(1.0) * g.norm(),
        run_errors: Vec::new(),
    };
    Ok(found.into_iter().zip(data.groups()).map(of).collect())
}

/// e_ℓ of every group; none for a group of one row.
fn relative_baselines(
    data: &GroupedData<'_>,
    rank: usize,
    (folds, runs): (usize, usize),
    seed: u64,
    steps: &Steps<'_>,
) -> Result<Vec<Option<f64>>> {
    if folds < 2 {
        return Err(Error::Parameter {
            name: "folds",
            value: folds.to_string(),
            expected: "at least two folds are needed",
        });
    }
    let held = hold(data, Units::Own);
    try_map(data.groups().len(), &|l| {
        let group = &data.groups()[l];
        let mut rows = group.rows.clone();
        Stream::new(seed, Purpose::HeldOut(l as u64, 0), 0).shuffle(&mut rows);
        let folds = folds.min(rows.len());
        if folds < 2 {
            return Ok(None);
        }
        let errors: Vec<f64> = try_map(folds, &|fold| {
            let seed = Stream::new(seed, Purpose::HeldOut(l as u64, 1 + fold as u64), 0).next_u64();
            let parameters = standard(rank, runs, seed);
            steps.step(|| one_fold((data, &*held), &rows, (fold, folds), &parameters, steps))
        })?;
        // N_ℓ² is positive by validation.
        Ok(Some((errors.iter().sum::<f64>() / group.squared_norm).sqrt()))
    })
}

/// Squared error of a fold's rows under the dictionary of the other rows.
fn one_fold(
    (data, behind): (&GroupedData<'_>, &dyn Rows),
    rows: &[usize],
    (fold, folds): (usize, usize),
    parameters: &Parameters,
    steps: &Steps<'_>,
) -> Result<f64> {
    let part = |held: bool| -> Vec<usize> {
        let chosen = rows.iter().enumerate().filter(|(i, _)| (i % folds == fold) == held);
        let mut chosen: Vec<usize> = chosen.map(|(_, &row)| row).collect();
        chosen.sort_unstable();
        chosen
    };
    let all_zero = |rows: &[usize]| rows.iter().all(|&row| data.row_squared_norm(row) <= 0.0);
    let (rest, held) = (part(false), part(true));
    if all_zero(&held) {
        return Ok(0.0);
    }
    let held = data.regrouped(vec![("held out".to_owned(), held)])?;
    if all_zero(&rest) {
        // Rows of zeros teach nothing: all is lost.
        return Ok(held.squared_norm());
    }
    let rest = vec![("rest".to_owned(), rest)];
    let fitted = fit_relabelled(behind, rest, parameters, None, &|_| steps.tell())?;
    steps.go_on()?;
    Ok(errors_by_group(&held, fitted.components.view(), None)?.0[0].iter().sum())
}
