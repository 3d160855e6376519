//! The fitted model: what a fit leaves behind, and what new data needs of it.

mod choices;
mod file;
mod found;
mod rise;
mod warning;

pub use choices::Choice;
pub use found::{Discover, FoundGroups, ShareReport};
pub use warning::Warning;

use crate::baseline::GroupBaseline;
use crate::bound::BoundReport;
use crate::criterion::{Allowance, ChanceBand, Minimised};
use crate::data::{AnyMatrix, Element, GroupRows, GroupedData, Matrix, Representation};
use crate::dictionary::Dictionary;
use crate::parameters::{Method, Parameters};
use crate::rows::{Cost, RowStart, RowStep, Units, hold};
use crate::stopping::Status;
use crate::update::Update;
use crate::weights::largest;
use crate::{Error, Note, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// What a fit means for one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupFit {
    /// Its rows in numbers.
    #[serde(flatten)]
    pub group: GroupRows,
    /// E_ℓ and the runs behind it.
    pub baseline: GroupBaseline,
    /// R-Error ‖X_ℓ − W_ℓH‖/N_ℓ.
    pub relative_error: f64,
    /// R-Loss (‖X_ℓ − W_ℓH‖ − E_ℓ)/N_ℓ.
    pub loss: f64,
    /// λ_ℓ: the share of the group in the last dictionary step (sum 1): of the exact one, or by the rule of its
    /// weights; even for standard NMF.
    pub weight: f64,
    /// a_ℓ: the loss that chance explains, where the fit allowed for it; what it minimised is then the
    /// largest loss less a_ℓ.
    #[serde(default, alias = "chance")]
    pub allowance: Option<f64>,
    /// What random groups of its size pay under standard NMF, where the fit has looked: what its loss is to be held
    /// against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_groups: Option<ChanceBand>,
    /// Whether it stays outside the maximum: it has too few rows to say what it pays, and small groups were
    /// not allowed ([`Parameters::allow_small_groups`]).
    #[serde(default)]
    pub outside: bool,
}

impl std::ops::Deref for GroupFit {
    type Target = GroupRows;

    fn deref(&self) -> &GroupRows {
        &self.group
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// H (r×n), the dictionary; its rows are the topics. In scaled features where the data was
    /// scaled.
    pub components: Array2<f64>,
    /// The groups, in their order.
    pub groups: Vec<GroupFit>,
    /// ‖X − WH‖ where groups overlap, so that their errors do not add up to it.
    pub overlap_error: Option<f64>,
    /// The parameters of the fit.
    pub parameters: Parameters,
    /// How the run ended.
    pub status: Status,
    /// What every group was at after every iteration of the kept run, in units of loss: its loss, and after a fit that
    /// allowed for chance ([`Model::minimised`]) the loss less a_ℓ, of the groups that count
    /// ([`Allowance::counts`]); of others the loss.
    pub history: Vec<Vec<f64>>,
    /// How far the dictionary is at the most from the best one for the representation that is
    /// delivered with it, in units of the worst loss. It says nothing of the factorisation as a
    /// whole, which is not convex. Absent for methods other than AM.
    pub step_gap: Option<f64>,
    /// The lower bound on the worst loss of any rank-r model with these baselines.
    pub global_bound: BoundReport,
    /// Factor of every feature, where the data was scaled; new data gets the same.
    pub scale: Option<Vec<f64>>,
    /// Names of the features, where the caller gave them.
    pub feature_names: Option<Vec<String>>,
    /// How the caller made the features from what it was given, in a notation of its own, so that new
    /// data can be treated alike (the program: how documents became TF-IDF). The library only
    /// keeps it.
    pub preparation: Option<String>,
    /// What whoever asked for the fit keeps beside it, in words of its own; nothing here reads it.
    pub kept: Option<String>,
    /// ½‖X − WH‖² and the penalties, where there are any ([`crate::Penalties`]).
    pub penalised_objective: Option<f64>,
    /// What the worst share of rows loses, where it was minimised.
    pub worst_share: Option<ShareReport>,
    /// How the groups were found, where they were not known.
    pub found_groups: Option<FoundGroups>,
    /// What a user should know.
    pub warnings: Vec<Warning>,
}

impl Model {
    /// Number of topics r.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.components.nrows()
    }

    /// Number of features n.
    #[must_use]
    pub fn features(&self) -> usize {
        self.components.ncols()
    }

    /// max_ℓ g_ℓ over the groups inside the maximum, against the baselines E_ℓ: the paper's objective.
    #[must_use]
    pub fn worst_loss(&self) -> f64 {
        self.worst_group().loss
    }

    /// What the fit allowed every group beyond its baseline.
    #[must_use]
    pub fn allowances(&self) -> Vec<Allowance> {
        let of = |g: &GroupFit| Allowance { loss: g.allowance.unwrap_or(0.0), outside: g.outside };
        self.groups.iter().map(of).collect()
    }

    /// What the fit minimised: the largest loss, or the largest adjusted loss where it allowed for
    /// chance ([`Baseline::Adjusted`](crate::Baseline::Adjusted)). Bound, gap and history refer to it.
    #[must_use]
    pub fn worst_criterion(&self) -> f64 {
        let losses = self.groups.iter().map(|g| g.loss);
        Allowance::largest(losses.zip(self.allowances())).unwrap_or(f64::NEG_INFINITY)
    }

    /// ‖X − WH‖, every row counted once.
    #[must_use]
    pub fn total_error(&self) -> f64 {
        let square = |g: &GroupFit| (g.relative_error * g.norm).powi(2);
        self.overlap_error.unwrap_or_else(|| self.groups.iter().map(square).sum::<f64>().sqrt())
    }

    /// The group with the largest loss of those inside the maximum.
    #[must_use]
    pub fn worst_group(&self) -> &GroupFit {
        let loss = |g: &GroupFit| if g.outside { f64::NEG_INFINITY } else { g.loss };
        &self.groups[largest(&self.groups.iter().map(loss).collect::<Vec<f64>>())]
    }

    /// What bound, gap, history and score refer to.
    #[must_use]
    pub fn minimised(&self) -> Minimised {
        Minimised::with_allowances(self.groups.iter().any(|g| g.allowance.is_some()))
    }

    /// Nothing that is not finite leaves the library.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let groups =
            self.groups.iter().flat_map(|g| [g.norm, g.baseline.error, g.relative_error, g.loss]);
        let what = if self.components.iter().any(|v| !v.is_finite()) {
            "the components"
        } else if groups.into_iter().any(|v| !v.is_finite()) {
            "the losses"
        } else if self.global_bound.value.is_some_and(|v| !v.is_finite()) {
            "the bound"
        } else {
            return Ok(());
        };
        Err(Error::NotFinite { what })
    }

    /// E_ℓ of every group.
    #[must_use]
    pub fn baseline_errors(&self) -> Vec<f64> {
        GroupBaseline::errors(self.groups.iter().map(|g| &g.baseline))
    }

    /// R-Error of every group.
    #[must_use]
    pub fn relative_errors(&self) -> Vec<f64> {
        self.groups.iter().map(|g| g.relative_error).collect()
    }

    /// R-Loss of every group.
    #[must_use]
    pub fn losses(&self) -> Vec<f64> {
        self.groups.iter().map(|g| g.loss).collect()
    }

    /// Names of the groups.
    #[must_use]
    pub fn group_names(&self) -> Vec<String> {
        self.groups.iter().map(|g| g.name.clone()).collect()
    }

    /// Number of iterations of the kept run.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// How good the fit is, in one sentence.
    #[must_use]
    pub fn certificate(&self) -> Note {
        self.global_bound.certificate(self.rank(), self.minimised(), self.worst_criterion())
    }

    /// Coordinates (m×r) of new rows: for every row the exact non-negative least squares
    /// solution, with the penalty on W where the fit had one. Needs no groups and never changes the model.
    ///
    /// # Errors
    /// Another number of features than the model's, or a bad entry.
    pub fn transform<'a, T: Element>(&self, matrix: impl Into<Matrix<'a, T>>) -> Result<Array2<T>> {
        self.coordinates(matrix.into(), None).map(T::representation)
    }

    /// The same for rows with unobserved cells (`unobserved` is true, and the matrix zero, there): the solution for the observed
    /// features of every row.
    ///
    /// # Errors
    /// As [`Model::transform`] and [`GroupedData::with_unobserved`].
    pub fn transform_unobserved<'a, T: Element>(
        &self,
        matrix: impl Into<Matrix<'a, T>>,
        unobserved: ArrayView2<'_, bool>,
    ) -> Result<Array2<T>> {
        self.coordinates(matrix.into(), Some(unobserved)).map(T::representation)
    }

    /// Either of the two, in the number type that the rows turn out to have.
    ///
    /// # Errors
    /// As [`Model::transform`] and [`GroupedData::with_unobserved`].
    pub fn coordinates<'a>(
        &self,
        matrix: impl Into<AnyMatrix<'a>>,
        unobserved: Option<ArrayView2<'_, bool>>,
    ) -> Result<Representation> {
        self.coordinates_of(&matrix.into(), unobserved)
    }

    fn coordinates_of(
        &self,
        matrix: &AnyMatrix<'_>,
        unobserved: Option<ArrayView2<'_, bool>>,
    ) -> Result<Representation> {
        if matrix.columns() != self.features() {
            return Err(Error::FeatureCount { found: matrix.columns(), expected: self.features() });
        }
        let zero = || Ok(Representation::zeros(matrix, (matrix.rows(), self.rank())));
        let data = match GroupedData::one_group(matrix.clone()) {
            Ok(data) => data,
            // Rows of zeros have zero coordinates; there is nothing to measure.
            Err(Error::ZeroGroup { .. } | Error::ZeroData) => return zero(),
            Err(Error::EmptyMatrix { rows: 0, .. }) => return zero(),
            Err(error) => return Err(error),
        };
        let data = match &self.scale {
            Some(scale) => data.with_scale(scale.clone())?,
            None => data,
        };
        let data = match unobserved {
            Some(mask) => data.with_unobserved(mask)?,
            None => data,
        };
        project_with(&data, self.components.view(), self.row_cost())
    }

    /// What coordinates cost, where the fit had penalties.
    fn row_cost(&self) -> Option<Cost> {
        match self.parameters.method {
            Method::Penalised { penalties, .. } => Some(penalties.of_rows(self.features())),
            _ => None,
        }
    }

    /// Writes the model to one safetensors file. The file appears whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    #[inline]
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<()> {
        file::save(self, path.as_ref())
    }

    /// The content of the file that [`Model::save`] writes.
    ///
    /// # Errors
    /// Never for a model of a fit; parts that do not fit each other cannot be written.
    #[inline]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        file::to_bytes(self).map_err(|reason| Error::ModelBytes { reason })
    }

    /// The model behind [`Model::to_bytes`].
    ///
    /// # Errors
    /// As [`Model::load`], without the file.
    #[inline]
    pub fn from_bytes(content: &[u8]) -> Result<Self> {
        file::from_bytes(content).map_err(|reason| Error::ModelBytes { reason })
    }

    /// Reads a model that [`Model::save`] wrote.
    ///
    /// # Errors
    /// A missing, truncated, foreign or newer file, each with its own sentence.
    #[inline]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self> {
        file::load(path.as_ref())
    }
}

impl GroupedData<'_> {
    /// The best W (m×r) of some rows for a model, zero elsewhere; none where all of them are zero.
    pub(crate) fn project_unweighted(
        &self,
        rows: Vec<usize>,
        model: &Model,
    ) -> Result<Option<Representation>> {
        if rows.is_empty() {
            return Ok(None);
        }
        match self.without_weights().regrouped(vec![("rows".to_owned(), rows)]) {
            Ok(alone) => project_with(&alone, model.components.view(), model.row_cost()).map(Some),
            Err(Error::ZeroGroup { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The best W (m×r, rows in the order of the data) for a dictionary, where its entries cost something with
/// that cost.
fn project_with(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    cost: Option<Cost>,
) -> Result<Representation> {
    let mut rows = hold(data, Units::Range);
    let (h, size) = Dictionary::from_components(components).in_range();
    rows.begin(h.rank, RowStart::Zero)?;
    let step = match cost {
        None => RowStep::EXACT,
        Some(cost) => {
            let cost = cost.seen(rows.unit(), rows.unit() / size);
            RowStep::Penalised { update: Update::Nnls, cost }
        }
    };
    rows.pass(&h, step)?;
    Ok(rows.representation()?.times(size / rows.unit()))
}
