//! Data on their way from the readers to the library.

use std::collections::HashMap;
use std::ops::Range;

use fairer_nmf::data::{AnyMatrix, Csr, Indices};
use fairer_nmf::{Error, GroupedData, Note};
use ndarray::{Array2, ArrayView2, s};

use crate::failure::Failure;
use crate::plan::GROUP_SEPARATOR;
use crate::{Dataset, DenseView, Precision, categories, columns, missing};

/// Data that were read, and how long that took.
pub struct Loaded {
    /// What was read.
    pub dataset: Dataset,
    /// How long that took.
    pub seconds: f64,
    /// The values of a sparse matrix in single precision, where that was asked for.
    single: Option<Vec<f32>>,
    /// The cells that are unobserved, where some are; the matrix is zero there.
    gaps: Option<Array2<bool>>,
}

/// What happens to the features before anything is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Scaling {
    /// Unit length over all rows.
    UnitFeatures,
    /// Nothing.
    AsTheyAre,
    /// The factors of a model.
    Given(Vec<f64>),
}

impl Loaded {
    /// Data that were read in so many seconds.
    pub fn new(mut dataset: Dataset, precision: Precision, seconds: f64) -> Self {
        let gaps = if dataset.unobserved { missing::take_gaps(&mut dataset) } else { None };
        let single = match (&dataset.matrix, precision) {
            (crate::Matrix::Sparse(sparse), Precision::F32) => {
                Some(sparse.values.iter().map(|&v| v as f32).collect())
            }
            _ => None,
        };
        Self { dataset, seconds, single, gaps }
    }

    /// The matrix as the library takes it, without a copy.
    ///
    /// # Errors
    /// If the entries do not make a matrix.
    pub fn matrix(&self) -> Result<AnyMatrix<'_>, Failure> {
        self.rows(0..self.dataset.matrix.shape().0)
    }

    /// Some rows of the matrix, without a copy.
    ///
    /// # Errors
    /// As [`Loaded::matrix`].
    pub fn rows(&self, rows: Range<usize>) -> Result<AnyMatrix<'_>, Failure> {
        Ok(match &self.dataset.matrix {
            crate::Matrix::Dense(dense) => match dense.view() {
                DenseView::F32(view) => view.slice_move(s![rows, ..]).into(),
                DenseView::F64(view) => view.slice_move(s![rows, ..]).into(),
            },
            crate::Matrix::Sparse(sparse) => {
                let starts = &sparse.indptr[rows.start..=rows.end];
                let entries = starts[0]..starts[rows.len()];
                let starts: Vec<usize> = starts.iter().map(|at| at - entries.start).collect();
                let indices = Indices::I32(&sparse.indices[entries.clone()]);
                match &self.single {
                    Some(values) => {
                        Csr::new(sparse.cols, &starts, indices, &values[entries])?.into()
                    }
                    None => {
                        let values = &sparse.values[entries];
                        Csr::new(sparse.cols, &starts, indices, values)?.into()
                    }
                }
            }
        })
    }

    /// The matrix with its groups, checked and scaled.
    ///
    /// # Errors
    /// What the library refuses, with the place in the file.
    pub fn grouped<'a>(
        &self,
        matrix: AnyMatrix<'a>,
        scaling: &Scaling,
    ) -> Result<GroupedData<'a>, Failure> {
        self.group(matrix, scaling, false)
    }

    /// The same; rows without labels are one group.
    ///
    /// # Errors
    /// As [`Loaded::grouped`].
    pub fn grouped_or_whole<'a>(
        &self,
        matrix: AnyMatrix<'a>,
        scaling: &Scaling,
    ) -> Result<GroupedData<'a>, Failure> {
        self.group(matrix, scaling, true)
    }

    /// Which cells of some rows are unobserved, where some are.
    pub fn gaps(&self, rows: Range<usize>) -> Option<ArrayView2<'_, bool>> {
        self.gaps.as_ref().map(|gaps| gaps.slice(s![rows, ..]))
    }

    fn group<'a>(
        &self,
        matrix: AnyMatrix<'a>,
        scaling: &Scaling,
        whole: bool,
    ) -> Result<GroupedData<'a>, Failure> {
        let Dataset { families, members, labels, .. } = &self.dataset;
        let data = match (families.as_slice(), members.as_slice()) {
            ([], []) if whole && labels.is_none() => GroupedData::one_group(matrix),
            ([], []) => GroupedData::new(matrix, self.labels()?),
            ([], members) => {
                let names = members.iter().map(|(name, _)| (name.clone(), None)).collect();
                let rows = matrix.rows();
                let table = Array2::from_shape_fn((rows, members.len()), |(i, l)| members[l].1[i]);
                GroupedData::with_members(matrix, names, table.view())
            }
            (families, _) => GroupedData::with_families(matrix, families),
        };
        let data = data.map_err(|e| self.explain(e))?;
        let data = match &self.dataset.weights {
            Some(weights) => data.with_weights(weights)?,
            None => data,
        };
        let data = match &self.gaps {
            Some(gaps) => data.with_unobserved(gaps.view())?,
            None => data,
        };
        let data = match scaling {
            Scaling::AsTheyAre => Ok(data),
            Scaling::UnitFeatures => data.normalize_features(),
            Scaling::Given(scale) => data.with_scale(scale.clone()),
        };
        data.map_err(|e| self.explain(e))
    }

    /// The group of every row.
    ///
    /// # Errors
    /// If the groups are not known.
    pub fn labels(&self) -> Result<&[String], Failure> {
        self.dataset.labels.as_deref().ok_or_else(|| {
            Failure::wrong(match self.dataset.is_table() {
                true => "what are the groups? name their column with `--group-by COLUMN`, or give a file with the label of every row with `--groups FILE`",
                false => "what are the groups? give a file with the label of every row with `--groups FILE`",
            })
        })
    }

    /// An error of the library in the user's terms: rows and columns become lines and names.
    pub fn explain(&self, error: Error) -> Failure {
        let Error::BadEntry { row, column, value } = error else {
            return error.into();
        };
        let place = self.dataset.describe_cell(row, column);
        let name = self.dataset.features.get(column).filter(|_| self.dataset.is_table());
        let leave_out = match name {
            Some(name) => format!(
                "mend the cell, or leave the column out with `{}`",
                columns::typed("--drop", std::slice::from_ref(name))
            ),
            None => "mend the entry".to_owned(),
        };
        Failure::wrong(if value.is_nan() {
            format!(
                "{place}: the entry is NaN, so it has no value: fill it in, or leave out such rows with `--missing drop-rows`"
            )
        } else if value < 0.0 {
            format!("{place}: {value} is negative, and NMF needs numbers that are not: {leave_out}")
        } else {
            format!("{place}: {value} is not a finite number: {leave_out}")
        })
    }
}

/// Refuses a rank that is larger than every group: each would fit itself exactly, so that no loss says
/// anything.
///
/// # Errors
/// If there is no group with as many rows.
pub fn check_rank(data: &GroupedData<'_>, rank: usize, option: &str) -> Result<(), Failure> {
    check_group_rows(data.groups().iter().map(|g| g.rows.len()), rank, option)
}

/// The same for groups of which only the number of rows is known.
///
/// # Errors
/// As [`check_rank`].
pub fn check_group_rows(
    rows: impl Iterator<Item = usize>,
    rank: usize,
    option: &str,
) -> Result<(), Failure> {
    let most = rows.max().unwrap_or(0);
    if most >= rank {
        return Ok(());
    }
    Err(Failure::wrong(format!(
        "rank {rank} is larger than every group, of which the largest has {most} {}: lower {option} to {most} or less, or accept that all baselines are zero with `--allow-small-groups`",
        if most == 1 { "row" } else { "rows" },
    )))
}

/// Rows per group, in order of first appearance.
pub fn group_sizes(labels: &[String]) -> Vec<(&str, usize)> {
    let mut sizes: Vec<(&str, usize)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    for label in labels {
        let at = *place.entry(label).or_insert_with(|| {
            sizes.push((label, 0));
            sizes.len() - 1
        });
        sizes[at].1 += 1;
    }
    sizes
}

/// The family of all combinations of families: its name, and the label of every row.
#[must_use]
pub fn intersections(families: &[(String, Vec<String>)]) -> (String, Vec<String>) {
    let name: Vec<&str> = families.iter().map(|(name, _)| name.as_str()).collect();
    let rows = families.first().map_or(0, |(_, labels)| labels.len());
    let of_row = |row: usize| categories::combined(families.iter().map(|(_, labels)| &labels[row]));
    (name.join(GROUP_SEPARATOR), (0..rows).map(of_row).collect())
}

/// The name of groups that were put together.
pub const OTHER: &str = "Other";

/// Puts groups with fewer than `least` rows together as `OTHER`, where there are at least two of
/// them or it is there already, and says which.
pub fn merge_small(labels: &mut [String], least: usize) -> Option<Note> {
    let sizes = group_sizes(labels);
    let small = |&(name, rows): &(&str, usize)| rows < least && name != OTHER;
    let small: Vec<String> =
        sizes.iter().filter(|size| small(size)).map(|(name, _)| (*name).to_owned()).collect();
    let there = sizes.iter().any(|(name, _)| *name == OTHER);
    if let ([one], false) = (&small[..], there) {
        let sentence = format!(
            "`{one}` has fewer than {least} rows and stays as it is: no other small group is there to put it together with"
        );
        return Some(Note::new("small-group-stays", sentence));
    }
    if small.is_empty() {
        return None;
    }
    labels.iter_mut().filter(|label| small.contains(label)).for_each(|l| *l = OTHER.to_owned());
    let rows = labels.iter().filter(|label| *label == OTHER).count();
    let most = 5;
    let more = match small.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names: Vec<String> = small.iter().take(most).map(|name| format!("`{name}`")).collect();
    let sentence = format!(
        "{} with fewer than {least} rows became `{OTHER}` ({rows} rows): {}{more}",
        if small.len() == 1 { "1 group".to_owned() } else { format!("{} groups", small.len()) },
        names.join(", "),
    );
    Some(Note::new("small-groups-merged", sentence))
}
