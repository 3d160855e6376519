//! What the bound asks of rows that are spread: Gram matrices of the groups where they are small enough to be
//! sent for, products otherwise.

use super::super::moments::{Kept, Moments, Products, SCATTERED};
use super::super::request::Ask;
use super::Spread;
use crate::Result;

/// Numbers that the Gram matrices of all groups may have to be sent for, and the largest side of
/// one that is sent for at the end: 128 MB.
const KEPT_ENTRIES: usize = 1 << 24;
const LARGEST_SIDE: usize = 4096;

pub(super) struct SpreadMoments<'a, 's> {
    rows: &'a Spread<'s>,
    kept: Option<Kept>,
}

impl<'a, 's> SpreadMoments<'a, 's> {
    pub fn new(rows: &'a Spread<'s>) -> Self {
        Self { rows, kept: None }
    }

    /// Scale and norms, which every question needs.
    fn question(&self, weights: &[f64], v: &[f64]) -> Vec<f64> {
        let norms = self.rows.groups.iter().map(|g| g.squared_norm);
        let scale = self.rows.recipe.scale.iter().copied();
        scale.chain(norms).chain(weights.iter().chain(v).copied()).collect()
    }
}

impl Moments for SpreadMoments<'_, '_> {
    fn groups(&self) -> usize {
        self.rows.groups.len()
    }

    fn features(&self) -> usize {
        self.rows.about.features
    }

    /// That of the features' matrix, the one that adds over rows.
    fn side(&self) -> usize {
        self.features()
    }

    fn summed(&self) -> usize {
        self.rows.groups.iter().map(|g| g.rows).sum()
    }

    fn rounding(&self) -> f64 {
        self.rows.about.rounding
    }

    fn cost(&self) -> (f64, f64) {
        let (stored, squares) = self.rows.about.stored;
        let n = self.features();
        if n > LARGEST_SIDE {
            return (f64::INFINITY, stored);
        }
        let dense = stored == (self.summed() * n) as f64;
        let squares = if dense { squares } else { SCATTERED * squares };
        (squares / 2.0 + (n as f64).powi(3) / 6.0, stored)
    }

    fn keep(&mut self) -> Result<()> {
        let (l, n) = (self.groups(), self.features());
        if l * n * n <= KEPT_ENTRIES {
            let found = self.rows.ask(Ask::Grams, self.question(&[], &[]), l * n * n)?;
            let grams = found.chunks_exact(n * n).map(<[f64]>::to_vec).collect();
            self.kept = Some(Kept::new(n, grams));
        }
        Ok(())
    }

    fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Result<Products> {
        let (l, n) = (self.groups(), self.features());
        if let Some(kept) = &self.kept {
            return Ok(kept.products(weights, v, p));
        }
        let ask = Ask::Products { columns: p };
        let mut image = self.rows.ask(ask, self.question(weights, v), n * p + l * p * p)?;
        let grams = image.split_off(n * p).chunks_exact(p * p).map(<[f64]>::to_vec).collect();
        Ok(Products { image, grams })
    }

    fn whole(&self, weights: &[f64], v: &[f64], _: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = self.features();
        let sum = match &self.kept {
            Some(kept) => kept.sum(weights),
            None => self.rows.ask(Ask::Whole, self.question(weights, &[]), n * n)?,
        };
        Ok((sum, v.to_vec()))
    }
}
