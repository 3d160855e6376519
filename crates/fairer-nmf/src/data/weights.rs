//! Weights of samples: ω multiplies what a row adds to gram, cross and norm, and nothing else.
//!
//! So a row of weight 2 is a row that stands there twice. Everything behind the data sees √ω·x and
//! √ω·w in the place of x and w: their products are the weighted sums, and best coordinates stay best.

use super::GroupedData;
use crate::{Error, Note, Result};

impl GroupedData<'_> {
    /// Gives every row a weight: how many rows of the population it stands for. Only the ratios matter to
    /// errors and losses. A row of weight zero is as if absent.
    ///
    /// Intervals and tests take the weights as survey weights: a group of unequal weights says no more
    /// than [`GroupedData::effective_rows`] equal ones would.
    ///
    /// # Errors
    /// Not one weight per row, a weight that is negative or not finite, a group whose weights are all
    /// zero, or features that are scaled already.
    ///
    /// ```
    /// use fairer_nmf::GroupedData;
    /// use ndarray::array;
    /// let x = array![[3.0, 0.0], [0.0, 2.0], [0.0, 1.0]];
    /// let data = GroupedData::new(x.view(), &["a", "a", "b"])?.with_weights(&[4.0, 0.0, 1.0])?;
    /// assert_eq!(data.groups()[0].norm(), 6.0);
    /// # Ok::<(), fairer_nmf::Error>(())
    /// ```
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self> {
        let bad = |value: String, expected| Error::Parameter { name: "weights", value, expected };
        if weights.len() != self.rows() {
            let value = format!("{} for {} rows", weights.len(), self.rows());
            return Err(bad(value, "give one weight per row"));
        }
        if let Some((row, weight)) =
            weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0))
        {
            let value = format!("{weight} at row {row}");
            return Err(bad(value, "weights must be finite and not negative"));
        }
        if self.scale.is_some() {
            return Err(bad(
                "given after scaling".to_owned(),
                "features are scaled over the weighted rows: give the weights first",
            ));
        }
        for group in &mut self.groups {
            group.rows.retain(|&row| weights[row] > 0.0);
            if group.rows.is_empty() {
                return Err(Error::ZeroWeights { group: group.name.clone() });
            }
        }
        self.part_again();
        self.roots = Some(weights.iter().map(|w| w.sqrt()).collect());
        self.set_norms()?;
        Ok(self)
    }

    /// The rows with a weight, in one group and with these weights in the place of their own.
    pub(crate) fn weighted_rows(&self, weights: &[f64]) -> Result<Self> {
        let mut rows: Vec<usize> = self.grouped_rows().filter(|&row| weights[row] > 0.0).collect();
        rows.sort_unstable();
        let mut data = self.clone();
        data.roots = Some(weights.iter().map(|w| w.sqrt()).collect());
        data.own_units = false;
        data.regrouped(vec![("all".to_owned(), rows)])
    }

    /// The same rows, each counted once; norms are those of the weighted rows.
    pub(crate) fn without_weights(&self) -> Self {
        Self { roots: None, ..self.clone() }
    }

    /// Whether the rows have weights.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.roots.is_some()
    }

    /// ω of a row; 1 where there are no weights.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.root(row) * self.root(row)
    }

    /// √ω of a row; 1 where there are no weights.
    pub(crate) fn root(&self, row: usize) -> f64 {
        self.roots.as_ref().map_or(1.0, |roots| roots[row])
    }

    /// Kish's effective number of rows of a group, (Σω)²/Σω²; their number where there are no weights.
    #[must_use]
    pub fn effective_rows(&self, group: usize) -> f64 {
        let rows = &self.groups[group].rows;
        if self.roots.is_none() {
            return rows.len() as f64;
        }
        let sum = |power: i32| rows.iter().map(|&row| self.weight(row).powi(power)).sum::<f64>();
        // Positive: rows without weight are in no group.
        sum(1) * sum(1) / sum(2)
    }

    /// Σω of a group: what it counts for beside the others.
    pub(crate) fn mass(&self, group: usize) -> f64 {
        self.groups[group].rows.iter().map(|&row| self.weight(row)).sum()
    }

    /// What a reader has to know of weights, in one sentence; none where there are none.
    #[must_use]
    pub fn weights_note(&self) -> Option<Note> {
        self.roots.as_ref().map(|_| {
            Note::new(
                "weighted-rows",
                "rows are weighted: errors and losses are those of the weighted rows, and limits and tests \
                 take the weights as survey weights, with Kish's effective number of rows of every group",
            )
        })
    }
}
