//! Validated data: a non-negative matrix whose rows fall into groups.
//!
//! All checks of the data live here, so that the kernels behind it assume and do not check.

mod csr;
mod gaps;
mod group_rows;
mod matrix;
mod overlap;
mod scale;
mod sums;
mod typed;
mod units;
mod weights;

pub use csr::{Csr, Indices};
use gaps::Gaps;
pub use gaps::split_unobserved;
pub use group_rows::GroupRows;
pub use matrix::Matrix;
pub(crate) use overlap::Part;
pub(crate) use scale::{SMALLEST_SQUARED_NORM, check_scale, feature_scale};
pub(crate) use units::{own_unit, power_of_two, usual_unit};

use crate::limit::Limit;
use crate::{Error, Result};
use std::cmp::Ordering;
use std::sync::Arc;
pub(crate) use sums::check_entries;
use sums::{column_square_sums, group_squared_norms};
pub(crate) use typed::Table;
pub use typed::{AnyMatrix, Element, Representation};

/// One group: its name and its rows, in the order of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The label that its rows carry.
    pub name: String,
    /// The family that it is of, where groups come in families that each divide the rows.
    pub family: Option<String>,
    /// Row numbers in the matrix, rising.
    pub rows: Vec<usize>,
    /// ‖X_ℓ‖² after scaling.
    pub squared_norm: f64,
}

impl Group {
    /// N_ℓ = ‖X_ℓ‖, positive by validation.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.squared_norm.sqrt()
    }
}

/// Non-negative data (m×n, borrowed) with every row in exactly one group.
///
/// Groups are sorted by name (numerically where all names are integers), so that the order of
/// the rows does not matter.
///
/// ```
/// use fairer_nmf::GroupedData;
/// use ndarray::array;
/// let x = array![[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]];
/// let data = GroupedData::new(x.view(), &["b", "a", "b"])?;
/// assert_eq!(data.groups()[1].rows, [0, 2]);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupedData<'a> {
    pub(crate) matrix: AnyMatrix<'a>,
    pub(crate) groups: Vec<Group>,
    /// The rows by the set of groups that they are in, where groups overlap.
    parts: Option<Arc<[Part]>>,
    /// ‖X‖² over their rows, where groups overlap.
    whole: f64,
    /// Factor of every column, or none where features are taken as they are.
    pub(crate) scale: Option<Vec<f64>>,
    /// What a row's random numbers depend on; the row number where absent.
    pub(crate) keys: Option<Vec<u64>>,
    /// √ω of every row, where rows have weights: rows of X and W are seen times this.
    roots: Option<Arc<[f64]>>,
    /// The cells that are unobserved, where some are; zero in the matrix.
    gaps: Option<Arc<Gaps>>,
    /// Whether the entries have the size that the fit works with ([`GroupedData::in_own_units`]):
    /// features of norm 1 have.
    own_units: bool,
    /// Until when passes over the rows go on.
    pub(crate) limit: Limit,
}

impl<'a> GroupedData<'a> {
    /// Takes a matrix and one label per row.
    ///
    /// # Errors
    /// A negative, NaN or infinite entry, a wrong number of labels, a group of zeros only, or an
    /// empty matrix.
    pub fn new<L: AsRef<str>>(matrix: impl Into<AnyMatrix<'a>>, labels: &[L]) -> Result<Self> {
        let mut names: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        names.sort_unstable_by(|a, b| by_number_or_name(a, b));
        names.dedup();
        let codes: Vec<usize> = labels
            .iter()
            .map(|label| {
                names
                    .binary_search_by(|name| by_number_or_name(name, label.as_ref()))
                    .expect("every label is among the names collected from the labels")
            })
            .collect();
        Self::with_codes(matrix, names.into_iter().map(str::to_owned).collect(), &codes)
    }

    /// Takes a matrix, the names of the groups in the wanted order, and for every row the number
    /// of its group.
    ///
    /// # Errors
    /// As [`GroupedData::new`]; also a group without rows, and a code that names no group.
    pub fn with_codes(
        matrix: impl Into<AnyMatrix<'a>>,
        names: Vec<String>,
        codes: &[usize],
    ) -> Result<Self> {
        let matrix = matrix.into();
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows == 0 || columns == 0 {
            return Err(Error::EmptyMatrix { rows, columns });
        }
        if codes.len() != rows {
            return Err(Error::LabelCount { labels: codes.len(), rows });
        }
        let mut groups: Vec<Group> = names
            .into_iter()
            .map(|name| Group { name, family: None, rows: Vec::new(), squared_norm: 0.0 })
            .collect();
        for (row, &code) in codes.iter().enumerate() {
            let group = groups.get_mut(code).ok_or_else(|| Error::Parameter {
                name: "group code",
                value: code.to_string(),
                expected: "a code is the number of a group, from 0",
            })?;
            group.rows.push(row);
        }
        if let Some(empty) = groups.iter().find(|g| g.rows.is_empty()) {
            return Err(Error::EmptyGroup { group: empty.name.clone() });
        }
        Self::validated(matrix, groups, None)
    }

    /// The data with groups that are not empty, measured.
    fn validated(
        matrix: AnyMatrix<'a>,
        groups: Vec<Group>,
        parts: Option<Arc<[Part]>>,
    ) -> Result<Self> {
        let (scale, keys, roots, gaps) = (None, None, None, None);
        let (whole, own_units) = (0.0, false);
        let limit = Limit::NONE;
        let mut data =
            Self { matrix, groups, parts, whole, scale, keys, roots, gaps, own_units, limit };
        check_entries(&data.matrix)?;
        data.set_norms()?;
        Ok(data)
    }

    /// All rows in one group called `all`: plain NMF.
    ///
    /// # Errors
    /// As [`GroupedData::new`].
    pub fn one_group(matrix: impl Into<AnyMatrix<'a>>) -> Result<Self> {
        let matrix = matrix.into();
        let codes = vec![0; matrix.rows()];
        Self::with_codes(matrix, vec!["all".to_owned()], &codes).map_err(|error| match error {
            Error::ZeroGroup { .. } => Error::ZeroData,
            other => other,
        })
    }

    /// Scales every feature to unit ℓ2 norm over all rows that are in a group (the paper's preprocessing) without
    /// touching the data: the factors are folded into the dictionary. Features without an
    /// entry above 1e-145 keep the factor 1.
    ///
    /// # Errors
    /// A group whose entries all underflow to zero.
    pub fn normalize_features(self) -> Result<Self> {
        let scale = feature_scale(&column_square_sums(&self));
        self.scaled(scale, true)
    }

    /// Multiplies column j by `scale[j]`, as remembered from other data. The factors that
    /// [`normalize_features`](Self::normalize_features) would find are the same as asking for it, to the last bit.
    ///
    /// # Errors
    /// A factor that is not positive and finite, or a number of factors other than n.
    pub fn with_scale(self, scale: Vec<f64>) -> Result<Self> {
        check_scale(&scale, self.features())?;
        let own = self.scale.is_none() && scale == feature_scale(&column_square_sums(&self));
        self.scaled(scale, own)
    }

    fn scaled(mut self, scale: Vec<f64>, own_units: bool) -> Result<Self> {
        check_scale(&scale, self.features())?;
        self.scale = Some(scale);
        self.own_units = own_units;
        self.set_norms()?;
        Ok(self)
    }

    /// Makes the random start of a row depend on `keys[row]` instead of the row number, so that
    /// the same sample gets the same start wherever it stands.
    ///
    /// # Errors
    /// A number of keys other than m.
    pub fn with_row_keys(mut self, keys: Vec<u64>) -> Result<Self> {
        if keys.len() != self.rows() {
            return Err(Error::LabelCount { labels: keys.len(), rows: self.rows() });
        }
        self.keys = Some(keys);
        Ok(self)
    }

    /// A block of rows of larger data whose entries were checked: the groups, with their norms in all
    /// blocks, may have no rows here.
    pub(crate) fn of_block(
        matrix: AnyMatrix<'a>,
        groups: Vec<Group>,
        scale: Option<Vec<f64>>,
    ) -> Self {
        let (parts, keys, roots, gaps) = (None, None, None, None);
        let (whole, own_units, limit) = (0.0, true, Limit::NONE);
        Self { matrix, groups, parts, whole, scale, keys, roots, gaps, own_units, limit }
    }

    /// Number of rows m of the matrix.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Number of features n.
    #[must_use]
    pub fn features(&self) -> usize {
        self.matrix.columns()
    }

    /// The groups, in their order in every result.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The factor of every feature, where features are scaled.
    #[must_use]
    pub fn scale(&self) -> Option<&[f64]> {
        self.scale.as_deref()
    }

    /// The matrix as given, before scaling.
    #[must_use]
    pub fn matrix(&self) -> &AnyMatrix<'a> {
        &self.matrix
    }

    /// Number of entries that are not zero.
    #[must_use]
    pub fn nonzeros(&self) -> usize {
        sums::nonzeros(self)
    }

    /// X_ℓᵀX_ℓ (n×n, row by row) of every group, after scaling.
    #[must_use]
    pub fn second_moments(&self) -> Vec<Vec<f64>> {
        sums::second_moments(self)
    }

    pub(crate) fn key(&self, row: usize) -> u64 {
        self.keys.as_ref().map_or(row as u64, |keys| keys[row])
    }

    /// The data with other groups over (a subset of) its rows; the caller guarantees that each
    /// row is in one group at most (or that every group counts by itself) and that no group is empty. A row may be drawn repeatedly
    /// inside a group (bootstrap).
    pub(crate) fn regrouped(&self, groups: Vec<(String, Vec<usize>)>) -> Result<Self> {
        let mut data = Self {
            matrix: self.matrix.clone(),
            groups: groups
                .into_iter()
                .map(|(name, rows)| Group { name, family: None, rows, squared_norm: 0.0 })
                .collect(),
            parts: None,
            whole: 0.0,
            scale: self.scale.clone(),
            keys: self.keys.clone(),
            roots: self.roots.clone(),
            gaps: self.gaps.clone(),
            own_units: self.own_units,
            limit: self.limit,
        };
        data.set_norms()?;
        Ok(data)
    }

    /// ‖X_ℓ‖² of every group after scaling, summed anew.
    pub(crate) fn group_squared_norms(&self) -> Vec<f64> {
        group_squared_norms(self)
    }

    /// Σ x² of every column, before scaling.
    pub(crate) fn column_square_sums(&self) -> Vec<f64> {
        column_square_sums(self)
    }

    /// The same rows for work that ends then, also inside a pass.
    pub(crate) fn until(&self, limit: Limit) -> Self {
        Self { limit, ..self.clone() }
    }

    /// Group ℓ alone, with the same scaling.
    pub(crate) fn only(&self, group: usize) -> Self {
        Self {
            matrix: self.matrix.clone(),
            groups: vec![self.groups[group].clone()],
            parts: None,
            whole: 0.0,
            scale: self.scale.clone(),
            keys: self.keys.clone(),
            roots: self.roots.clone(),
            gaps: self.gaps.clone(),
            own_units: self.own_units,
            limit: self.limit,
        }
    }

    /// Calls `visit(column, value)` for every stored entry of a row, after scaling and times √ω.
    pub(crate) fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        // What is not there is 1, which changes no bit.
        let (scale, root) = (self.scale.as_deref(), self.root(row));
        self.matrix.for_each_in_row(row, |j, x| visit(j, x * scale.map_or(1.0, |s| s[j]) * root));
    }

    /// Squared norm of a row after scaling, times its weight.
    pub(crate) fn row_squared_norm(&self, row: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each_in_row(row, |_, x| sum += x * x);
        sum
    }

    /// Those of all rows.
    pub(crate) fn row_squared_norms(&self) -> Vec<f64> {
        sums::row_squared_norms(self)
    }

    fn set_norms(&mut self) -> Result<()> {
        for (l, squared_norm) in group_squared_norms(self).into_iter().enumerate() {
            let name = || self.groups[l].name.clone();
            if !squared_norm.is_finite() {
                return Err(Error::Overflow { group: name() });
            }
            if squared_norm < SMALLEST_SQUARED_NORM {
                return Err(match self.is_zero(l) {
                    true => Error::ZeroGroup { group: name() },
                    false => Error::Underflow { group: name() },
                });
            }
            self.groups[l].squared_norm = squared_norm;
        }
        if self.parts.is_some() {
            self.whole = self.grouped_rows().map(|row| self.row_squared_norm(row)).sum();
        }
        Ok(())
    }

    /// Whether all entries of a group are zero, before scaling.
    fn is_zero(&self, group: usize) -> bool {
        let mut zero = true;
        for &row in &self.groups[group].rows {
            self.matrix.for_each_in_row(row, |_, x| zero &= x == 0.0);
        }
        zero
    }
}

pub(crate) fn by_number_or_name(a: &str, b: &str) -> Ordering {
    match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(x), Ok(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        // Numbers before words keeps the order total when labels are mixed.
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}
