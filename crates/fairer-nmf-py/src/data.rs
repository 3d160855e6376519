//! NumPy and SciPy matrices as the library's borrowed ones, without a copy.

use crate::errors::to_python;
use fairer_nmf::data::{AnyMatrix, Csr, Element, Indices, split_unobserved};
use fairer_nmf::rows::{FeatureScaling, GroupCodes, Representation};
use fairer_nmf::{GroupedData, Matrix, Result};
use fairer_nmf_report::library::Normalized;
use ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, ndarray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A matrix that Python owns: dense with any strides, or CSR; f32 or f64.
pub enum Input<'py> {
    F32(Owned<'py, f32>),
    F64(Owned<'py, f64>),
}

pub enum Owned<'py, T: numpy::Element> {
    Dense(PyReadonlyArray2<'py, T>),
    Sparse {
        columns: usize,
        starts: Integers<'py>,
        indices: Integers<'py>,
        values: PyReadonlyArray1<'py, T>,
    },
}

/// SciPy's index arrays; row starts and column numbers may differ in width.
pub enum Integers<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

impl<'py> Integers<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(array) => Ok(Self::I32(array)),
            Err(_) => Ok(Self::I64(
                object
                    .extract()
                    .map_err(|_| PyTypeError::new_err("index arrays must be int32 or int64"))?,
            )),
        }
    }

    fn view(&self) -> PyResult<Indices<'_>> {
        Ok(match self {
            Self::I32(array) => Indices::I32(array.as_slice()?),
            Self::I64(array) => Indices::I64(array.as_slice()?),
        })
    }
}

impl<'py> Input<'py> {
    /// Takes what `_data.py` has prepared: a NumPy array or a CSR matrix of SciPy.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.extract() {
            return Ok(Self::F64(Owned::Dense(array)));
        }
        if let Ok(array) = object.extract() {
            return Ok(Self::F32(Owned::Dense(array)));
        }
        let Ok(starts) = object.getattr("indptr") else {
            return Err(PyTypeError::new_err(
                "expected a two-dimensional float32 or float64 array or a CSR matrix",
            ));
        };
        let (_, columns): (usize, usize) = object.getattr("shape")?.extract()?;
        let starts = Integers::of(&starts)?;
        let indices = Integers::of(&object.getattr("indices")?)?;
        let values = object.getattr("data")?;
        if let Ok(values) = values.extract() {
            return Ok(Self::F64(Owned::Sparse { columns, starts, indices, values }));
        }
        match values.extract() {
            Ok(values) => Ok(Self::F32(Owned::Sparse { columns, starts, indices, values })),
            Err(_) => Err(PyTypeError::new_err("sparse values must be float32 or float64")),
        }
    }
}

/// The same without Python: can cross threads.
pub enum View<'a, T> {
    Dense(ArrayView2<'a, T>),
    Sparse { columns: usize, starts: Indices<'a>, indices: Indices<'a>, values: &'a [T] },
}

impl<T: Element + numpy::Element> Owned<'_, T> {
    pub fn view(&self) -> PyResult<View<'_, T>> {
        Ok(match self {
            Self::Dense(array) => View::Dense(array.as_array()),
            Self::Sparse { columns, starts, indices, values } => View::Sparse {
                columns: *columns,
                starts: starts.view()?,
                indices: indices.view()?,
                values: values.as_slice()?,
            },
        })
    }
}

impl<T: Element> View<'_, T> {
    /// The library's matrix; a CSR's structure is checked here.
    pub fn matrix(&self) -> Result<Matrix<'_, T>> {
        Ok(match self {
            Self::Dense(view) => Matrix::Dense(view.view()),
            Self::Sparse { columns, starts, indices, values } => Matrix::Sparse(match starts {
                Indices::I32(starts) => Csr::new(*columns, starts, *indices, values)?,
                Indices::I64(starts) => Csr::new(*columns, starts, *indices, values)?,
            }),
        })
    }
}

/// A matrix whose NaN are taken as unobserved, where that is asked for.
struct Gaps<'a, T> {
    given: View<'a, T>,
    /// The matrix with zeros for NaN, and which cells those are.
    filled: Option<(Array2<T>, Array2<bool>)>,
    sparse: bool,
}

impl<'a, T: Element> Gaps<'a, T> {
    fn of(given: View<'a, T>, unobserved: bool) -> Self {
        let filled = match given {
            View::Dense(view) if unobserved && view.iter().any(|v| v.to_f64().is_nan()) => {
                Some(split_unobserved(view))
            }
            _ => None,
        };
        let sparse = unobserved && matches!(given, View::Sparse { .. });
        Self { given, filled, sparse }
    }

    fn matrix(&self) -> Result<AnyMatrix<'_>> {
        match &self.filled {
            Some((filled, _)) => Ok(filled.view().into()),
            None => Ok(self.given.matrix()?.into()),
        }
    }
}

/// A matrix of either number type without Python: can cross threads.
pub struct Given<'a>(AnyGaps<'a>);

enum AnyGaps<'a> {
    F32(Gaps<'a, f32>),
    F64(Gaps<'a, f64>),
}

impl Input<'_> {
    /// The matrix; NaN are what was not observed, where that is asked for.
    pub fn given(&self, unobserved: bool) -> PyResult<Given<'_>> {
        Ok(Given(match self {
            Self::F32(owned) => AnyGaps::F32(Gaps::of(owned.view()?, unobserved)),
            Self::F64(owned) => AnyGaps::F64(Gaps::of(owned.view()?, unobserved)),
        }))
    }
}

impl Given<'_> {
    /// With zeros for what was not observed.
    pub fn matrix(&self) -> Result<AnyMatrix<'_>> {
        match &self.0 {
            AnyGaps::F32(gaps) => gaps.matrix(),
            AnyGaps::F64(gaps) => gaps.matrix(),
        }
    }

    /// The cells that were not observed, where some were not.
    pub fn mask(&self) -> Option<ArrayView2<'_, bool>> {
        match &self.0 {
            AnyGaps::F32(gaps) => gaps.filled.as_ref().map(|(_, mask)| mask.view()),
            AnyGaps::F64(gaps) => gaps.filled.as_ref().map(|(_, mask)| mask.view()),
        }
    }

    /// Validated data.
    pub fn data(&self, groups: Option<&Groups>, scaling: Scaling) -> Result<GroupedData<'_>> {
        let data = grouped(self.matrix()?, groups, scaling)?;
        let sparse = match &self.0 {
            AnyGaps::F32(gaps) => gaps.sparse,
            AnyGaps::F64(gaps) => gaps.sparse,
        };
        match self.mask() {
            Some(mask) => data.with_unobserved(mask),
            // The library says why a sparse matrix has none.
            None if sparse => {
                let none = Array2::from_elem((data.rows(), data.features()), false);
                data.with_unobserved(none.view())
            }
            None => Ok(data),
        }
    }
}

/// A representation as NumPy's array, in its own number type.
pub fn to_array(py: Python<'_>, w: Representation) -> Bound<'_, PyAny> {
    match w {
        Representation::F32(w) => w.into_pyarray(py).into_any(),
        Representation::F64(w) => w.into_pyarray(py).into_any(),
    }
}

/// What Python gives as groups: none, or names and codes, with weights of the rows as an attribute.
pub type GivenGroups<'py> = Option<Bound<'py, PyAny>>;

/// Names of the groups in their order, for every row the number of its group, and its weight.
pub struct Groups {
    names: Vec<String>,
    codes: Vec<usize>,
    /// Families of the groups, and which rows are in which, where groups overlap.
    members: Option<(Vec<Option<String>>, Array2<bool>)>,
    weights: Option<Vec<f64>>,
}

impl Groups {
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For rows that are not in memory, which are in one group each.
    pub fn into_codes(self) -> GroupCodes {
        let codes = self.codes.into_iter().map(|code| code as u32).collect();
        GroupCodes { names: self.names, codes }
    }

    /// None is one group: plain NMF.
    pub fn of(given: GivenGroups<'_>) -> PyResult<Option<Self>> {
        let Some(given) = given else { return Ok(None) };
        let (names, codes): (_, PyReadonlyArray1<'_, i64>) = given.extract()?;
        let weights = match given.getattr_opt("weights")? {
            Some(weights) if !weights.is_none() => {
                let weights: PyReadonlyArray1<'_, f64> = weights.extract()?;
                Some(weights.as_array().to_vec())
            }
            _ => None,
        };
        // A negative code becomes one that no group has, which the library refuses.
        let codes = codes.as_array().iter().map(|&code| code as usize).collect();
        let members = match given.getattr_opt("members")? {
            Some(members) if !members.is_none() => {
                let members: PyReadonlyArray2<'_, bool> = members.extract()?;
                Some((given.getattr("families")?.extract()?, members.as_array().to_owned()))
            }
            _ => None,
        };
        Ok(Some(Self { names, codes, members, weights }))
    }
}

/// How features are scaled.
pub enum Scaling {
    AsGiven,
    UnitFeatures,
    Remembered(Vec<f64>),
}

impl Scaling {
    pub fn of(normalize: bool, scale: Option<Vec<f64>>) -> Self {
        match scale {
            Some(scale) => Self::Remembered(scale),
            None if normalize => Self::UnitFeatures,
            None => Self::AsGiven,
        }
    }

    /// For people.
    pub fn named(&self) -> Normalized {
        match self {
            Self::AsGiven => Normalized::None,
            Self::UnitFeatures => Normalized::Features,
            Self::Remembered(_) => Normalized::Model,
        }
    }

    /// For rows that are not in memory.
    pub fn of_features(self) -> FeatureScaling {
        match self {
            Self::AsGiven => FeatureScaling::AsTheyAre,
            Self::UnitFeatures => FeatureScaling::Unit,
            Self::Remembered(scale) => FeatureScaling::Given(scale),
        }
    }
}

/// How data are taken, as the package hands it over in a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Reading {
    normalize: bool,
    /// Factors of the features that a model remembers, in place of its own.
    scale: Option<Vec<f64>>,
    /// Whether NaN is what was not observed.
    pub unobserved: bool,
    pub threads: usize,
}

impl Reading {
    pub fn scaling(&self) -> Scaling {
        Scaling::of(self.normalize, self.scale.clone())
    }
}

fn grouped<'a>(
    matrix: AnyMatrix<'a>,
    groups: Option<&Groups>,
    scaling: Scaling,
) -> Result<GroupedData<'a>> {
    let data = match groups {
        Some(Groups { names, members: Some((families, members)), .. }) => {
            let names = names.iter().cloned().zip(families.iter().cloned()).collect();
            GroupedData::with_members(matrix, names, members.view())?
        }
        Some(groups) => GroupedData::with_codes(matrix, groups.names.clone(), &groups.codes)?,
        None => GroupedData::one_group(matrix)?,
    };
    let data = match groups.and_then(|groups| groups.weights.as_ref()) {
        Some(weights) => data.with_weights(weights)?,
        None => data,
    };
    match scaling {
        Scaling::AsGiven => Ok(data),
        Scaling::UnitFeatures => data.normalize_features(),
        Scaling::Remembered(scale) => data.with_scale(scale),
    }
}

/// Runs an expression for the data type that an [`Input`] has.
macro_rules! for_element {
    ($input:expr, $owned:ident => $body:expr) => {
        match $input {
            $crate::data::Input::F32($owned) => $body,
            $crate::data::Input::F64($owned) => $body,
        }
    };
}
pub(crate) use for_element;

/// Address of the first value that the library would read: tests compare it with NumPy's.
#[pyfunction]
pub fn _data_pointer(x: &Bound<'_, PyAny>) -> PyResult<usize> {
    fn address<T: Element>(view: &View<'_, T>) -> Result<usize> {
        Ok(match view.matrix()? {
            Matrix::Dense(view) => view.as_ptr() as usize,
            Matrix::Sparse(_) => match view {
                View::Sparse { values, .. } => values.as_ptr() as usize,
                View::Dense(view) => view.as_ptr() as usize,
            },
        })
    }
    for_element!(Input::of(x)?, owned => address(&owned.view()?).map_err(to_python))
}
