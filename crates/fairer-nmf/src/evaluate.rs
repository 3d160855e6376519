//! What a dictionary leaves of every sample, and costs every group: where each audit begins.

use crate::baseline::check_given;
use crate::criterion::Criterion;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::rows::{Representation, RowStart, RowStep, Units, hold};
use crate::{Error, Result};
use ndarray::ArrayView2;

/// What a dictionary costs each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// R-Error ‖X_ℓ − W_ℓH‖/N_ℓ of every group.
    pub relative_errors: Vec<f64>,
    /// R-Loss (‖X_ℓ − W_ℓH‖ − E_ℓ)/N_ℓ of every group.
    pub losses: Vec<f64>,
    /// ‖x_i − w_iH‖² of every sample, in the order of the data, times its weight where it has one.
    pub row_squared_errors: Vec<f64>,
    /// W (m×r), rows in the order of the data.
    pub representation: Representation,
}

impl Evaluation {
    /// max_ℓ g_ℓ.
    #[must_use]
    pub fn worst_loss(&self) -> f64 {
        self.losses.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Measures what a dictionary costs each group.
///
/// `components` is H (r×n), in scaled features where the data are scaled; `representation` is W
/// (m×r), or none for the best W of every sample (exact non-negative least squares); `baselines`
/// holds one E_ℓ ≥ 0 per group, in the units of ‖X_ℓ‖. Errors come from the residuals themselves,
/// with W in the number type of the data.
///
/// # Errors
/// Shapes that do not fit; a negative, NaN or infinite entry in a factor (a library that leaves
/// tiny negative entries needs its factors clipped at zero first); baselines that do not fit.
///
/// ```
/// use fairer_nmf::{GroupedData, audit::evaluate};
/// use ndarray::array;
/// let x = array![[3.0, 0.0], [0.0, 4.0], [1.0, 0.0]];
/// let data = GroupedData::new(x.view(), &["a", "a", "b"])?;
/// let found = evaluate(&data, array![[1.0, 0.0]].view(), None, &[0.0, 0.0])?;
/// assert_eq!(found.relative_errors, [0.8, 0.0]);
/// assert_eq!(found.row_squared_errors, [0.0, 16.0, 0.0]);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn evaluate(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    representation: Option<ArrayView2<'_, f64>>,
    baselines: &[f64],
) -> Result<Evaluation> {
    check_components(data, components)?;
    check_baselines(data, baselines)?;
    if let Some(w) = representation {
        check_factor("representation", w, (data.rows(), components.nrows()))?;
    }
    let (by_group, representation) = errors_by_group(data, components, representation)?;
    let mut row_squared_errors = vec![0.0; data.rows()];
    for (group, errors) in data.groups().iter().zip(&by_group) {
        group.rows.iter().zip(errors).for_each(|(&row, &e)| row_squared_errors[row] = e);
    }
    let relative_errors = relative_errors(data, &by_group);
    let of_groups = relative_errors.iter().zip(baselines).zip(data.groups());
    let losses = of_groups.map(|((&error, &offset), group)| {
        Criterion { offset, scale: group.norm() }.relative_loss(error)
    });
    Ok(Evaluation { losses: losses.collect(), relative_errors, row_squared_errors, representation })
}

/// ‖x_i − w_iH‖² of the rows of every group, in the order of the group's rows, and W (the best for
/// H where none is given), rows in the order of the data.
pub(crate) fn errors_by_group(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    representation: Option<ArrayView2<'_, f64>>,
) -> Result<(Vec<Vec<f64>>, Representation)> {
    let mut rows = hold(data, Units::Range);
    let (h, size) = Dictionary::from_components(components).in_range();
    let unit = rows.unit();
    match representation {
        Some(w) => rows.begin(h.rank, RowStart::Given(w.mapv(|v| v * unit / size).view()))?,
        None => {
            rows.begin(h.rank, RowStart::Zero)?;
            rows.pass(&h, RowStep::EXACT)?;
        }
    }
    let mut by_group = rows.row_squared_errors(&h)?;
    by_group.iter_mut().flatten().for_each(|e| *e /= unit * unit);
    Ok((by_group, rows.representation()?.times(size / unit)))
}

/// ‖X_ℓ − W_ℓH‖/N_ℓ from the rows' squared errors; N_ℓ is positive by validation.
fn relative_errors(data: &GroupedData<'_>, by_group: &[Vec<f64>]) -> Vec<f64> {
    let of_group = |(g, e): (&crate::data::Group, &Vec<f64>)| {
        let squared: f64 = e.iter().sum();
        (squared / g.squared_norm).sqrt()
    };
    data.groups().iter().zip(by_group).map(of_group).collect()
}

pub(crate) fn check_baselines(data: &GroupedData<'_>, baselines: &[f64]) -> Result<()> {
    check_given(data.groups().iter().map(|g| g.name.as_str()), baselines)
}

pub(crate) fn check_components(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
) -> Result<()> {
    check_dictionary(components, data.features())
}

pub(crate) fn check_dictionary(components: ArrayView2<'_, f64>, features: usize) -> Result<()> {
    let rank = components.nrows();
    if rank == 0 {
        return Err(Error::Parameter {
            name: "rank",
            value: "0".to_owned(),
            expected: "components must have at least one row",
        });
    }
    check_factor("components", components, (rank, features))
}

fn check_factor(
    what: &'static str,
    factor: ArrayView2<'_, f64>,
    (rows, columns): (usize, usize),
) -> Result<()> {
    if factor.dim() != (rows, columns) {
        let (found_rows, found_columns) = factor.dim();
        return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
    }
    match factor.indexed_iter().find(|(_, v)| !(v.is_finite() && **v >= 0.0)) {
        None => Ok(()),
        Some(((row, column), value)) => Err(Error::Parameter {
            name: what,
            value: format!("{value} at row {row}, column {column}"),
            expected: "entries must be finite and not negative: clip small negative ones at zero",
        }),
    }
}
