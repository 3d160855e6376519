//! What the bound asks of blocks: one read for the Gram matrices of all groups, which are kept.

use super::Held;
use super::serve::Grams;
use crate::data::Element;
use crate::kernel::tiles::Tiles;
use crate::rows::moments::Kept;
use crate::rows::{Moments, Products};
use crate::{Error, Result};

/// The moments of blocks.
pub(super) struct BlockMoments<'a, T: Element> {
    rows: &'a Held<T>,
    kept: Option<Kept>,
}

impl<'a, T: Element> BlockMoments<'a, T> {
    pub fn new(rows: &'a Held<T>) -> Self {
        Self { rows, kept: None }
    }

    fn kept(&self) -> Result<&Kept> {
        self.kept
            .as_ref()
            .ok_or_else(|| Error::Rows { reason: "the bound was not begun".to_owned() })
    }
}

impl<T: Element> Moments for BlockMoments<'_, T> {
    fn groups(&self) -> usize {
        self.rows.view.groups.len()
    }

    fn features(&self) -> usize {
        self.rows.core.features
    }

    fn side(&self) -> usize {
        self.features()
    }

    fn summed(&self) -> usize {
        self.rows.core.rows().max(self.features())
    }

    fn rounding(&self) -> f64 {
        T::ROUNDING
    }

    fn cost(&self) -> (f64, f64) {
        let core = &self.rows.core;
        let (m, n) = (core.rows() as f64, core.features as f64);
        let bytes = (self.groups() + 3) * core.features * core.features * size_of::<f64>();
        // Without the matrices every product would be a read.
        if bytes > core.budget / 2 {
            return (f64::INFINITY, core.stored as f64);
        }
        let squares = match core.sparse {
            false => m * n * n,
            true => 4.0 * core.stored as f64 * (core.stored as f64 / m),
        };
        (squares / 2.0 + n.powi(3) / 6.0, core.stored as f64)
    }

    fn keep(&mut self) -> Result<()> {
        let zero = Grams(vec![Tiles::zero(self.features()); self.groups()]);
        let grams =
            self.rows.ask(zero, |asked| asked.0.drain(..).map(|t| t.to_dense()).collect())?;
        self.kept = Some(Kept::new(self.features(), grams));
        Ok(())
    }

    fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Result<Products> {
        Ok(self.kept()?.products(weights, v, p))
    }

    fn whole(&self, weights: &[f64], v: &[f64], _: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        Ok((self.kept()?.sum(weights), v.to_vec()))
    }
}
