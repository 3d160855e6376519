//! Groups that overlap: sex *and* age band *and* region, each a family of groups in its own right.
//!
//! The pass runs over parts: rows with the same set of groups. A part's sums are added to every group of
//! its set, and once to the whole. Where no row is in two groups, the parts are the groups.

use super::{AnyMatrix, Group, GroupedData, by_number_or_name};
use crate::random::Stream;
use crate::{Error, Result};
use ndarray::ArrayView2;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows with the same set of groups.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub rows: Vec<usize>,
    pub groups: Vec<usize>,
}

impl<'a> GroupedData<'a> {
    /// Takes a matrix and several families of groups, each with one label per row. A group is called
    /// `family=label`, and every row is in one group of every family.
    ///
    /// # Errors
    /// As [`GroupedData::new`]; also no family, or two of the same name.
    ///
    /// ```
    /// use fairer_nmf::GroupedData;
    /// use ndarray::array;
    /// let x = array![[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]];
    /// let families = [("sex", vec!["f", "m", "f"]), ("region", vec!["north", "north", "south"])];
    /// let data = GroupedData::with_families(x.view(), &families)?;
    /// assert_eq!(data.groups()[0].name, "sex=f");
    /// assert_eq!(data.groups()[2].rows, [0, 1]);
    /// # Ok::<(), fairer_nmf::Error>(())
    /// ```
    pub fn with_families<F: AsRef<str>, L: AsRef<str>>(
        matrix: impl Into<AnyMatrix<'a>>,
        families: &[(F, Vec<L>)],
    ) -> Result<Self> {
        let matrix = matrix.into();
        let rows = matrix.rows();
        let mut groups: Vec<Group> = Vec::new();
        for (at, (family, labels)) in families.iter().enumerate() {
            let family = family.as_ref();
            if families[..at].iter().any(|(other, _)| other.as_ref() == family) {
                return Err(Error::Parameter {
                    name: "families",
                    value: format!("'{family}' twice"),
                    expected: "give every family once",
                });
            }
            if labels.len() != rows {
                return Err(Error::LabelCount { labels: labels.len(), rows });
            }
            let mut by_label: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (row, label) in labels.iter().enumerate() {
                by_label.entry(label.as_ref()).or_default().push(row);
            }
            let mut labels: Vec<(&str, Vec<usize>)> = by_label.into_iter().collect();
            labels.sort_by(|a, b| by_number_or_name(a.0, b.0));
            groups.extend(labels.into_iter().map(|(label, rows)| Group {
                name: format!("{family}={label}"),
                family: Some(family.to_owned()),
                rows,
                squared_norm: 0.0,
            }));
        }
        Self::overlapping(matrix, groups)
    }

    /// Takes a matrix, the names of the groups with their families where they have any, and which rows
    /// are in which (m×L). A row may be in several groups; one that is in none plays no part. Groups of
    /// the same family have no row in common.
    ///
    /// # Errors
    /// As [`GroupedData::new`]; also a group without rows, and a table of another shape.
    pub fn with_members(
        matrix: impl Into<AnyMatrix<'a>>,
        names: Vec<(String, Option<String>)>,
        members: ArrayView2<'_, bool>,
    ) -> Result<Self> {
        let matrix = matrix.into();
        if members.dim() != (matrix.rows(), names.len()) {
            let (found_rows, found_columns) = members.dim();
            let (rows, columns) = (matrix.rows(), names.len());
            let what = "the table of members";
            return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
        }
        let group = |(l, (name, family)): (usize, (String, Option<String>))| Group {
            name,
            family,
            rows: (0..matrix.rows()).filter(|&row| members[(row, l)]).collect(),
            squared_norm: 0.0,
        };
        let groups = names.into_iter().enumerate().map(group).collect();
        Self::overlapping(matrix, groups)
    }

    fn overlapping(matrix: AnyMatrix<'a>, groups: Vec<Group>) -> Result<Self> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows == 0 || columns == 0 {
            return Err(Error::EmptyMatrix { rows, columns });
        }
        if groups.is_empty() {
            return Err(Error::LabelCount { labels: 0, rows });
        }
        if let Some(empty) = groups.iter().find(|g| g.rows.is_empty()) {
            return Err(Error::EmptyGroup { group: empty.name.clone() });
        }
        let parts = parts(&groups, rows);
        Self::validated(matrix, groups, parts)
    }

    /// Whether a row is in more than one group.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        self.parts.is_some()
    }

    /// Which groups are of the same family, as numbers; all of one where none overlap. None where groups
    /// overlap that are of no family.
    pub(crate) fn family_numbers(&self) -> Option<Vec<usize>> {
        if !self.overlaps() {
            return Some(vec![0; self.groups.len()]);
        }
        let first = |family: &String| {
            self.groups.iter().position(|other| other.family.as_ref() == Some(family))
        };
        self.groups.iter().map(|group| group.family.as_ref().and_then(first)).collect()
    }

    /// Finds the parts anew, after rows have left groups.
    pub(super) fn part_again(&mut self) {
        if self.parts.is_some() {
            self.parts = parts(&self.groups, self.rows());
        }
    }

    /// How many parts there are.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.as_ref().map_or(self.groups.len(), |parts| parts.len())
    }

    /// The rows of a part.
    pub(crate) fn part_rows(&self, part: usize) -> &[usize] {
        match &self.parts {
            Some(parts) => &parts[part].rows,
            None => &self.groups[part].rows,
        }
    }

    /// Calls `visit` for every group that a part is in.
    pub(crate) fn for_each_group_of(&self, part: usize, visit: impl FnMut(usize)) {
        match &self.parts {
            Some(parts) => parts[part].groups.iter().copied().for_each(visit),
            None => std::iter::once(part).for_each(visit),
        }
    }

    /// ‖X‖² over all rows that are in a group, each counted once, after scaling.
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        match &self.parts {
            None => self.groups.iter().map(|g| g.squared_norm).sum(),
            Some(_) => self.whole,
        }
    }

    /// Rows that are in a group, each once, in the order of the parts.
    pub(crate) fn grouped_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.part_count()).flat_map(|part| self.part_rows(part).iter().copied())
    }

    /// Their number.
    pub(crate) fn grouped_count(&self) -> usize {
        (0..self.part_count()).map(|part| self.part_rows(part).len()).sum()
    }

    /// The rows of every group with the labels shuffled over all rows; who is in two groups stays so.
    pub(crate) fn shuffled(&self, mut stream: Stream) -> Vec<Vec<usize>> {
        let rows: Vec<usize> = self.grouped_rows().collect();
        let mut dealt = rows.clone();
        stream.shuffle(&mut dealt);
        let mut other = vec![0; self.rows()];
        rows.iter().zip(dealt).for_each(|(&row, dealt)| other[row] = dealt);
        self.groups.iter().map(|g| g.rows.iter().map(|&row| other[row]).collect()).collect()
    }
}

/// The parts of groups over `count` rows; none where no row is in two of them.
fn parts(groups: &[Group], count: usize) -> Option<Arc<[Part]>> {
    let mut of_row: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (l, group) in groups.iter().enumerate() {
        group.rows.iter().for_each(|&row| of_row[row].push(l));
    }
    if of_row.iter().all(|groups| groups.len() < 2) {
        return None;
    }
    let mut by_set: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (row, groups) in of_row.into_iter().enumerate().filter(|(_, groups)| !groups.is_empty()) {
        by_set.entry(groups).or_default().push(row);
    }
    Some(by_set.into_iter().map(|(groups, rows)| Part { rows, groups }).collect())
}
