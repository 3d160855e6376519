//! Cells that are unobserved: neither zero nor anything else.
//!
//! The matrix holds zeros there, which add nothing to norms; which they are is kept beside it. So a group's norm is that of its
//! observed cells.

use super::{AnyMatrix, Element, GroupedData, Matrix, Part};
use crate::number::Number;
use crate::{Error, Note, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// The unobserved columns of every row.
#[derive(Debug)]
pub(crate) struct Gaps {
    starts: Vec<usize>,
    columns: Vec<u32>,
}

impl Gaps {
    fn of(&self, row: usize) -> &[u32] {
        &self.columns[self.starts[row]..self.starts[row + 1]]
    }
}

/// A matrix in which NaN stands for "not observed", as zeros and a mask of these cells.
#[must_use]
pub fn split_unobserved<T: Number>(matrix: ArrayView2<'_, T>) -> (Array2<T>, Array2<bool>) {
    let mask = matrix.mapv(|v| v.to_f64().is_nan());
    (matrix.mapv(|v| if v.to_f64().is_nan() { T::default() } else { v }), mask)
}

impl GroupedData<'_> {
    /// Takes the cells where `unobserved` (m×n) is true as unobserved; the matrix is dense, and zero there. Errors, norms and losses
    /// are then over observed cells, coordinates are the best for the observed features of a row, and there is no bound.
    ///
    /// # Errors
    /// A mask of another shape, a sparse matrix, or an unobserved cell that has a value.
    ///
    /// ```
    /// use fairer_nmf::{GroupedData, data::split_unobserved};
    /// use ndarray::array;
    /// let (x, mask) = split_unobserved(array![[3.0, f64::NAN], [0.0, 2.0]].view());
    /// let data = GroupedData::new(x.view(), &["a", "b"])?.with_unobserved(mask.view())?;
    /// assert_eq!(data.observed_share(0), Some(0.5));
    /// # Ok::<(), fairer_nmf::Error>(())
    /// ```
    pub fn with_unobserved(mut self, unobserved: ArrayView2<'_, bool>) -> Result<Self> {
        let (rows, columns) = (self.rows(), self.features());
        let (found_rows, found_columns) = unobserved.dim();
        if (found_rows, found_columns) != (rows, columns) {
            let what = "the mask of unobserved cells";
            return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
        }
        let bad =
            |value: String, expected| Error::Parameter { name: "unobserved", value, expected };
        if self.matrix.is_sparse() {
            let expected = "a sparse matrix has no cells without a value: give a dense one";
            return Err(bad("a sparse matrix".to_owned(), expected));
        }
        let (mut starts, mut found) = (vec![0], Vec::new());
        for (i, row) in unobserved.rows().into_iter().enumerate() {
            if !row.iter().any(|gap| *gap) {
                starts.push(found.len());
                continue;
            }
            let values = self.matrix.piece_of_row(i, 0..columns);
            for (j, _) in row.iter().enumerate().filter(|(_, gap)| **gap) {
                if values[j] != 0.0 {
                    let value = format!("the cell at row {i}, column {j} with a value");
                    return Err(bad(value, "unobserved cells are zero in the matrix"));
                }
                found.push(j as u32);
            }
            starts.push(found.len());
        }
        self.gaps = (!found.is_empty()).then(|| Arc::new(Gaps { starts, columns: found }));
        Ok(self)
    }

    /// Whether some cells are unobserved.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.gaps.is_some()
    }

    /// The share of a group's cells that are observed; none where all cells of the data are.
    #[must_use]
    pub fn observed_share(&self, group: usize) -> Option<f64> {
        let gaps = self.gaps.as_ref()?;
        let rows = &self.groups[group].rows;
        let missing: usize = rows.iter().map(|&row| gaps.of(row).len()).sum();
        // Groups have rows, and the matrix has columns, by validation.
        Some(1.0 - missing as f64 / (rows.len() * self.features()) as f64)
    }

    /// What a reader has to know of unobserved cells, in one sentence; none where there are none.
    #[must_use]
    pub fn gaps_note(&self) -> Option<Note> {
        self.gaps.as_ref()?;
        let of = |(l, group): (usize, &super::Group)| {
            format!("{} {:.1} %", group.name, 100.0 * self.observed_share(l).unwrap_or(1.0))
        };
        let shares: Vec<String> = self.groups.iter().enumerate().map(of).collect();
        let sentence = format!(
            "errors and losses are over observed cells (observed: {}); the gap is that of the step with unobserved cells as they \
             are filled, and there is no bound",
            shares.join(", ")
        );
        Some(Note::new("unobserved-cells", sentence))
    }

    /// What a reader of errors and losses has to know of these data: weights of rows, unobserved cells.
    #[must_use]
    pub fn reader_notes(&self) -> Vec<Note> {
        self.weights_note().into_iter().chain(self.gaps_note()).collect()
    }

    /// The unobserved columns of a row.
    pub(crate) fn gaps_of(&self, row: usize) -> &[u32] {
        self.gaps.as_ref().map_or(&[], |gaps| gaps.of(row))
    }

    /// Refuses unobserved cells.
    pub(crate) fn complete_for(&self, what: &'static str) -> Result<()> {
        if self.has_gaps() { Err(Error::Unobserved { what }) } else { Ok(()) }
    }

    /// A feature that no row of the matrix has a value of cannot be fitted. Of a part of the rows, as folds and
    /// random groups are, it may be so.
    pub(crate) fn check_gaps(&self) -> Result<()> {
        match self.unknown_features(0..self.rows()).first() {
            None => Ok(()),
            Some(column) => Err(Error::Parameter {
                name: "unobserved",
                value: format!("column {column} in every row"),
                expected: "leave out features that no row has a value of",
            }),
        }
    }

    /// The features that none of the rows has a value of; none where all cells are observed.
    pub(crate) fn unknown_features(&self, rows: impl Iterator<Item = usize>) -> Vec<usize> {
        if self.gaps.is_none() {
            return Vec::new();
        }
        let mut missing = vec![0; self.features()];
        let mut count = 0;
        for row in rows {
            count += 1;
            self.gaps_of(row).iter().for_each(|&j| missing[j as usize] += 1);
        }
        (0..missing.len()).filter(|&j| missing[j] == count).collect()
    }

    /// The rows in the order of the parts, as data of a matrix that holds them so and in the units of these: groups and parts are
    /// runs of rows, features are not scaled again.
    pub(crate) fn in_line(&self) -> GroupedData<'static> {
        let mut next = 0;
        let mut run = |count: usize| {
            next += count;
            (next - count..next).collect::<Vec<usize>>()
        };
        let mut groups = self.groups.clone();
        let parts = match &self.parts {
            None => {
                groups.iter_mut().for_each(|g| g.rows = run(g.rows.len()));
                None
            }
            Some(parts) => {
                let of = |p: &Part| Part { rows: run(p.rows.len()), groups: p.groups.clone() };
                Some(parts.iter().map(of).collect())
            }
        };
        let roots = self.roots.as_ref();
        GroupedData {
            matrix: AnyMatrix::F64(Matrix::Dense(
                ArrayView2::from_shape((0, 0), &[]).expect("nothing has a shape"),
            )),
            groups,
            parts,
            whole: self.whole,
            scale: None,
            keys: None,
            roots: roots.map(|roots| self.grouped_rows().map(|row| roots[row]).collect()),
            gaps: None,
            own_units: self.own_units,
            limit: self.limit,
        }
    }

    /// These rows in another matrix of the same order, with other norms of the groups (and of all, where they overlap).
    pub(crate) fn of_matrix<'b, T: Element>(
        &self,
        matrix: ArrayView2<'b, T>,
        norms: &[f64],
    ) -> GroupedData<'b> {
        let mut groups = self.groups.clone();
        groups.iter_mut().zip(norms).for_each(|(group, norm)| group.squared_norm = *norm);
        GroupedData {
            matrix: matrix.into(),
            groups,
            parts: self.parts.clone(),
            whole: norms.last().copied().unwrap_or(0.0),
            scale: None,
            keys: None,
            roots: self.roots.clone(),
            gaps: None,
            own_units: self.own_units,
            limit: self.limit,
        }
    }
}
