//! The losses of one draw of random groups.

use super::alone::estimate_baselines;
use super::fitter::Fitter;
use crate::parallel::try_map;
use crate::random::{Purpose, Stream};
use crate::rows::Rows;
use crate::steps::Steps;
use crate::{Baseline, GroupedData, Result};
use ndarray::ArrayView2;

/// The baselines of the groups, and their kind where that is known.
#[derive(Clone, Copy)]
pub(crate) struct Baselines<'a> {
    pub errors: &'a [f64],
    pub kind: Option<&'a Baseline>,
}

/// Where a random group's baseline comes from.
#[derive(Clone, Copy)]
pub(crate) enum Own<'a> {
    /// The better of a run from the shared dictionary and a random one.
    Best,
    /// It is zero.
    Zero,
    /// As those of the groups, which are `errors`.
    Like { kind: &'a Baseline, errors: &'a [f64] },
}

impl<'a> Own<'a> {
    pub(crate) fn of(baselines: Baselines<'a>) -> Self {
        match baselines.kind {
            None | Some(Baseline::Given { .. }) => Self::Best,
            Some(kind) if kind.is_lowest() => Self::Best,
            Some(Baseline::Zero) => Self::Zero,
            Some(kind) => Self::Like { kind, errors: baselines.errors },
        }
    }
}

/// The draws of one dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Draws<'a, 'd> {
    pub data: &'a GroupedData<'d>,
    /// The same behind the door.
    pub rows: &'a dyn Rows,
    pub components: ArrayView2<'a, f64>,
    pub row_errors: &'a [f64],
    pub own: Own<'a>,
    pub seed: u64,
    pub steps: &'a Steps<'a>,
}

impl Draws<'_, '_> {
    /// The losses of draw b; draw 0 has the groups as they are.
    pub(crate) fn losses(&self, b: usize) -> Result<Vec<f64>> {
        self.losses_up_to(b, usize::MAX)
    }

    /// The same from `most` rows of larger groups, evenly spread over them, whose loss falls with 1/m.
    pub(crate) fn losses_up_to(&self, b: usize, most: usize) -> Result<Vec<f64>> {
        let sets: Vec<Vec<usize>> = match b {
            0 => self.data.groups().iter().map(|g| g.rows.clone()).collect(),
            b => self.data.shuffled(Stream::new(self.seed, Purpose::Chance(b as u64, 0), 0)),
        };
        let purpose = |l: usize| Purpose::Chance(b as u64, 1 + l as u64);
        let one = |l: usize| {
            let rows = &sets[l];
            if let (0, Own::Like { errors, .. }) = (b, self.own) {
                let norm = self.data.groups()[l].norm();
                return Ok(self.shared(rows, self.squared_norm(rows)) - errors[l] / norm);
            }
            if rows.len() <= most {
                return self.loss(rows, purpose(l));
            }
            let part: Vec<usize> = (0..most).map(|i| rows[i * rows.len() / most]).collect();
            Ok(most as f64 / rows.len() as f64 * self.loss(&part, purpose(l))?)
        };
        try_map(sets.len(), &one)
    }

    /// The loss of a set of rows with a baseline of its own; nothing for rows of zeros.
    pub(crate) fn loss(&self, rows: &[usize], purpose: Purpose) -> Result<f64> {
        let norm = self.squared_norm(rows);
        if norm <= 0.0 {
            return Ok(0.0);
        }
        Ok(self.shared(rows, norm) - self.baseline(rows, norm, purpose)?)
    }

    fn squared_norm(&self, rows: &[usize]) -> f64 {
        rows.iter().map(|&row| self.data.row_squared_norm(row)).sum()
    }

    /// The relative error of rows with this squared norm under the shared dictionary.
    fn shared(&self, rows: &[usize], norm: f64) -> f64 {
        let shared: f64 = rows.iter().map(|&row| self.row_errors[row]).sum();
        (shared / norm).sqrt()
    }

    /// What a dictionary of their own leaves of rows with this squared norm, relative to them.
    fn baseline(&self, rows: &[usize], norm: f64, purpose: Purpose) -> Result<f64> {
        let (rank, seed, steps) = (self.components.nrows(), self.seed, self.steps);
        let fitter = Fitter { data: self.data, rows: self.rows, rank, seed, steps };
        match self.own {
            Own::Zero => Ok(0.0),
            Own::Best => {
                let own = fitter.errors(rows, &fitter.best(rows, self.components, purpose)?)?;
                Ok((own.iter().sum::<f64>() / norm).sqrt())
            }
            Own::Like { kind, .. } => {
                // Positive, so that they are a group.
                let Some(alone) = fitter.alone(rows) else { return Ok(0.0) };
                let alone = self.data.regrouped(alone)?;
                let seed = Stream::new(seed, purpose, 0).next_u64();
                let found = estimate_baselines(&alone, rank, kind, seed, &|_| steps.tell())?;
                steps.go_on()?;
                Ok(found
                    .first()
                    .map_or(0.0, |baseline| baseline.criterion(norm.sqrt()).relative_offset()))
            }
        }
    }
}
