//! A borrowed sparse matrix in compressed sparse row form.

use crate::number::Number;
use crate::{Error, Result};

/// Column numbers of a CSR matrix, in either width that SciPy uses.
#[derive(Clone, Copy, Debug)]
pub enum Indices<'a> {
    /// 32-bit column numbers.
    I32(&'a [i32]),
    /// 64-bit column numbers.
    I64(&'a [i64]),
}

impl Indices<'_> {
    fn len(&self) -> usize {
        match self {
            Self::I32(v) => v.len(),
            Self::I64(v) => v.len(),
        }
    }

    fn get(&self, at: usize) -> i64 {
        match self {
            Self::I32(v) => i64::from(v[at]),
            Self::I64(v) => v[at],
        }
    }
}

/// A CSR matrix (m×n): values and column numbers borrowed, row starts copied (they are small).
///
/// Columns inside a row may come in any order; a column may not occur twice in a row.
#[derive(Clone, Debug)]
pub struct Csr<'a, T> {
    pub(crate) columns: usize,
    pub(crate) starts: Vec<usize>,
    pub(crate) indices: Indices<'a>,
    pub(crate) values: &'a [T],
}

impl<'a, T: Number> Csr<'a, T> {
    /// Checks the structure: row starts rise from 0 to the number of values, every column number
    /// is below `columns` and none occurs twice in a row.
    ///
    /// # Errors
    /// [`Error::Sparse`] with the row and the contradiction, or where there are more than 2³¹ − 1 columns.
    ///
    /// ```
    /// use fairer_nmf::data::{Csr, Indices};
    /// // [[0, 2, 0],
    /// //  [1, 0, 3]]
    /// let csr = Csr::new(3, &[0usize, 1, 3], Indices::I32(&[1, 0, 2]), &[2.0, 1.0, 3.0])?;
    /// assert_eq!(csr.rows(), 2);
    /// # Ok::<(), fairer_nmf::Error>(())
    /// ```
    pub fn new<P>(
        columns: usize,
        starts: &[P],
        indices: Indices<'a>,
        values: &'a [T],
    ) -> Result<Self>
    where
        P: Copy + TryInto<usize>,
    {
        let bad = |reason: String| Error::Sparse { reason };
        if columns > i32::MAX as usize {
            return Err(bad(format!("{columns} columns are more than the {} that fit", i32::MAX)));
        }
        if indices.len() != values.len() {
            return Err(bad(format!(
                "{} column indices for {} values",
                indices.len(),
                values.len()
            )));
        }
        let starts: Vec<usize> = starts
            .iter()
            .enumerate()
            .map(|(i, &p)| p.try_into().map_err(|_| bad(format!("row start {i} is negative"))))
            .collect::<Result<_>>()?;
        if starts.first() != Some(&0) || starts.last() != Some(&values.len()) {
            return Err(bad(format!(
                "row starts must run from 0 to the number of values ({})",
                values.len()
            )));
        }
        if let Some(row) = starts.windows(2).position(|w| w[0] > w[1]) {
            return Err(bad(format!("row starts fall after row {row}")));
        }
        let mut last_row = vec![0usize; columns];
        for row in 0..starts.len() - 1 {
            for at in starts[row]..starts[row + 1] {
                let column = indices.get(at);
                let Some(seen) = usize::try_from(column).ok().and_then(|c| last_row.get_mut(c))
                else {
                    return Err(bad(format!(
                        "row {row} has column {column}, but there are {columns} columns"
                    )));
                };
                if *seen == row + 1 {
                    return Err(bad(format!(
                        "row {row} has column {column} twice: sum duplicates first"
                    )));
                }
                *seen = row + 1;
            }
        }
        Ok(Self { columns, starts, indices, values })
    }

    /// The row starts, to be given back to [`Csr::again`].
    #[doc(hidden)]
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The same arrays again, which [`Csr::new`] has checked before and nobody has changed since.
    ///
    /// # Errors
    /// Arrays of other lengths.
    #[doc(hidden)]
    pub fn again(
        columns: usize,
        starts: Vec<usize>,
        indices: Indices<'a>,
        values: &'a [T],
    ) -> Result<Self> {
        if starts.last() != Some(&values.len()) || indices.len() != values.len() {
            let reason = "its arrays have changed since they were checked".to_owned();
            return Err(Error::Sparse { reason });
        }
        Ok(Self { columns, starts, indices, values })
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored entries.
    #[must_use]
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, T)) {
        let range = self.starts[row]..self.starts[row + 1];
        match self.indices {
            Indices::I32(indices) => indices[range.clone()]
                .iter()
                .zip(&self.values[range])
                .for_each(|(&j, &x)| visit(j as usize, x)),
            Indices::I64(indices) => indices[range.clone()]
                .iter()
                .zip(&self.values[range])
                .for_each(|(&j, &x)| visit(j as usize, x)),
        }
    }
}
