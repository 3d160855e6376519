//! Standard NMF of some of the rows: what yardsticks and the audit fit where they need many.

use crate::evaluate::errors_by_group;
use crate::iteration::Start;
use crate::parallel::try_map;
use crate::random::{Purpose, Stream};
use crate::rows::Rows;
use crate::search::fit_relabelled;
use crate::steps::Steps;
use crate::{Baseline, GroupedData, Method, Model, Parameters, Progress, Result, Stopping};
use ndarray::{Array2, ArrayView2};

/// Standard NMF in short runs of HALS, the best kept.
pub(crate) fn standard(rank: usize, runs: usize, seed: u64) -> Parameters {
    Parameters {
        method: Method::standard(),
        n_init: runs,
        baseline: Baseline::Zero,
        stopping: Stopping { tolerance: 1e-4, max_iterations: 200, ..Stopping::default() },
        bound: false,
        finish: false,
        seed,
        ..Parameters::new(rank)
    }
}

/// Groups by name, with their rows.
type Labels = Vec<(String, Vec<usize>)>;

/// Standard NMF of sets of rows of one data set.
pub(crate) struct Fitter<'a, 'd> {
    pub data: &'a GroupedData<'d>,
    /// The same behind the door.
    pub rows: &'a dyn Rows,
    pub rank: usize,
    pub seed: u64,
    pub steps: &'a Steps<'a>,
}

impl Fitter<'_, '_> {
    fn parameters(&self, purpose: Purpose) -> Parameters {
        Parameters {
            method: Method::standard(),
            n_init: 1,
            baseline: Baseline::Zero,
            stopping: Stopping {
                tolerance: 1e-5,
                max_iterations: 500,
                relative_error_below: Some(1e-6),
                ..Stopping::default()
            },
            bound: false,
            finish: false,
            seed: Stream::new(self.seed, purpose, 0).next_u64(),
            ..Parameters::new(self.rank)
        }
    }

    /// The rows as one group; none where they are all zero.
    pub fn alone(&self, rows: &[usize]) -> Option<Labels> {
        if rows.iter().all(|&row| self.data.row_squared_norm(row) <= 0.0) {
            return None;
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        Some(vec![("rows".to_owned(), rows)])
    }

    /// The dictionary of the rows by a run from `start`; `start` itself for rows of zeros.
    pub fn from(
        &self,
        rows: &[usize],
        start: ArrayView2<'_, f64>,
        purpose: Purpose,
    ) -> Result<Array2<f64>> {
        let Some(alone) = self.alone(rows) else { return Ok(start.to_owned()) };
        let found = self.run(alone, &self.parameters(purpose), Some(start))?;
        self.steps.go_on()?;
        Ok(found.components)
    }

    /// The dictionary that makes the largest loss of the groups of these rows small, from `start`: errors are held against
    /// `offsets`, those of the whole groups, in proportion to their norms.
    pub fn evened(
        &self,
        rows: &[usize],
        start: ArrayView2<'_, f64>,
        offsets: &[f64],
        purpose: Purpose,
    ) -> Result<Array2<f64>> {
        let mut here = vec![false; self.data.rows()];
        rows.iter().for_each(|&row| here[row] = true);
        let square = |rows: &[usize]| -> f64 {
            rows.iter().map(|&row| self.data.row_squared_norm(row)).sum()
        };
        let (mut groups, mut errors) = (Vec::new(), Vec::new());
        for (group, offset) in self.data.groups().iter().zip(offsets) {
            let rows: Vec<usize> = group.rows.iter().copied().filter(|&row| here[row]).collect();
            let share = square(&rows).sqrt() / group.norm();
            if share > 0.0 {
                groups.push((group.name.clone(), rows));
                errors.push(offset * share);
            }
        }
        if groups.is_empty() {
            return Ok(start.to_owned());
        }
        let parameters = Parameters {
            method: Method::am(),
            baseline: Baseline::Given { errors },
            ..self.parameters(purpose)
        };
        let found = self.run(groups, &parameters, Some(start))?;
        self.steps.go_on()?;
        Ok(found.components)
    }

    /// The dictionary of the rows: the better of a run from `start` and a random one.
    pub fn best(
        &self,
        rows: &[usize],
        start: ArrayView2<'_, f64>,
        purpose: Purpose,
    ) -> Result<Array2<f64>> {
        let Some(alone) = self.alone(rows) else { return Ok(start.to_owned()) };
        let parameters = self.parameters(purpose);
        let warm = self.run(alone.clone(), &parameters, Some(start))?;
        let random = self.run(alone, &parameters, None)?;
        self.steps.go_on()?;
        let error = |model: &Model| model.groups[0].relative_error;
        Ok(if error(&random) < error(&warm) { random } else { warm }.components)
    }

    /// A run from `start`, or at random.
    fn run(
        &self,
        groups: Labels,
        parameters: &Parameters,
        start: Option<ArrayView2<'_, f64>>,
    ) -> Result<Model> {
        let begin = start.map(|h| Start { components: Some(h.to_owned()), representation: None });
        let tell = |_: &Progress<'_>| self.steps.tell();
        fit_relabelled(self.rows, groups, parameters, begin.as_ref(), &tell)
    }

    /// Squared errors of rows under a dictionary, in their order.
    pub fn errors(&self, rows: &[usize], h: &Array2<f64>) -> Result<Vec<f64>> {
        let Some(_) = self.alone(rows) else { return Ok(vec![0.0; rows.len()]) };
        let data = self.data.regrouped(vec![("rows".to_owned(), rows.to_vec())])?;
        Ok(errors_by_group(&data, h.view(), None)?.0.remove(0))
    }

    /// The places of rows in folds at random.
    pub fn folds(&self, rows: usize, folds: usize, purpose: Purpose) -> Vec<Vec<usize>> {
        let folds = folds.min(rows);
        let mut order: Vec<usize> = (0..rows).collect();
        Stream::new(self.seed, purpose, 0).shuffle(&mut order);
        (0..folds).map(|k| order[k..].iter().step_by(folds).copied().collect()).collect()
    }

    /// The rows that are not in a fold, in their order.
    pub fn rest(&self, rows: &[usize], fold: &[usize]) -> Vec<usize> {
        let mut inside = vec![true; rows.len()];
        fold.iter().for_each(|&i| inside[i] = false);
        rows.iter().zip(inside).filter_map(|(&row, inside)| inside.then_some(row)).collect()
    }

    /// Puts what `held(fold number, fold, rest)` finds for a fold's rows into `found`, in the order of
    /// `rows`. A single row stays unseen: its error is what a dictionary of nothing leaves.
    pub fn cross(
        &self,
        rows: &[usize],
        folds: usize,
        purpose: Purpose,
        held: impl Fn(usize, &[usize], &[usize]) -> Result<Vec<f64>> + Sync,
        found: &mut [f64],
    ) -> Result<()> {
        if folds.min(rows.len()) < 2 {
            let norm = |&row: &usize| self.data.row_squared_norm(row);
            found.iter_mut().zip(rows).for_each(|(f, row)| *f = norm(row));
            return Ok(());
        }
        let folds = self.folds(rows.len(), folds, purpose);
        let one = |k: usize| {
            let places = &folds[k];
            let fold: Vec<usize> = places.iter().map(|&i| rows[i]).collect();
            let rest = self.rest(rows, places);
            self.steps.step(|| held(k, &fold, &rest))
        };
        let errors: Vec<Vec<f64>> = try_map(folds.len(), &one)?;
        for (places, errors) in folds.iter().zip(errors) {
            places.iter().zip(errors).for_each(|(&i, e)| found[i] = e);
        }
        Ok(())
    }
}
