//! f32 or f64: data are of one of the two, which is their own business. What runs over all entries is compiled for
//! either behind the door to the rows; whoever sees data, and not their entries, is compiled once.

use super::{Csr, GroupedData, Matrix};
use crate::number::Number;
use ndarray::{Array2, ArrayView2};
use std::ops::{Deref, Range};

/// A borrowed m×n matrix of either number type.
#[derive(Clone, Debug)]
pub enum AnyMatrix<'a> {
    /// Single precision.
    F32(Matrix<'a, f32>),
    /// Double precision.
    F64(Matrix<'a, f64>),
}

/// W (m×r), rows in the order of the data, in the number type of the data.
#[derive(Clone, Debug, PartialEq)]
pub enum Representation {
    /// 32-bit numbers.
    F32(Array2<f32>),
    /// 64-bit numbers.
    F64(Array2<f64>),
}

/// f32 or f64: the type of the data and of the representation. Other types cannot have it.
pub trait Element: Number {
    /// A matrix of this type as one of either.
    #[doc(hidden)]
    fn any(matrix: Matrix<'_, Self>) -> AnyMatrix<'_>;
    /// The matrix, where it is of this type.
    #[doc(hidden)]
    fn of<'m, 'a>(matrix: &'m AnyMatrix<'a>) -> Option<&'m Matrix<'a, Self>>;
    /// W of this type as one of either.
    #[doc(hidden)]
    fn represented(w: Array2<Self>) -> Representation;
    /// W in this type.
    #[doc(hidden)]
    fn representation(found: Representation) -> Array2<Self>;
}

macro_rules! element {
    ($type:ty, $own:ident, $other:ident) => {
        impl Element for $type {
            fn any(matrix: Matrix<'_, Self>) -> AnyMatrix<'_> {
                AnyMatrix::$own(matrix)
            }
            fn of<'m, 'a>(matrix: &'m AnyMatrix<'a>) -> Option<&'m Matrix<'a, Self>> {
                match matrix {
                    AnyMatrix::$own(matrix) => Some(matrix),
                    AnyMatrix::$other(_) => None,
                }
            }
            fn represented(w: Array2<Self>) -> Representation {
                Representation::$own(w)
            }
            fn representation(found: Representation) -> Array2<Self> {
                match found {
                    Representation::$own(w) => w,
                    Representation::$other(w) => w.mapv(|v| Self::from_f64(v.to_f64())),
                }
            }
        }
    };
}
element!(f32, F32, F64);
element!(f64, F64, F32);

impl<'a, T: Element> From<Matrix<'a, T>> for AnyMatrix<'a> {
    fn from(matrix: Matrix<'a, T>) -> Self {
        T::any(matrix)
    }
}

impl<'a, T: Element> From<ArrayView2<'a, T>> for AnyMatrix<'a> {
    fn from(view: ArrayView2<'a, T>) -> Self {
        T::any(Matrix::Dense(view))
    }
}

impl<'a, T: Element> From<Csr<'a, T>> for AnyMatrix<'a> {
    fn from(csr: Csr<'a, T>) -> Self {
        T::any(Matrix::Sparse(csr))
    }
}

/// What an expression makes of a value of either type.
macro_rules! either {
    ($value:expr, $of:ident: $bound:ident => $body:expr) => {
        match $value {
            $of::F32($bound) => $body,
            $of::F64($bound) => $body,
        }
    };
}

impl AnyMatrix<'_> {
    /// Number of rows m.
    #[must_use]
    pub fn rows(&self) -> usize {
        either!(self, AnyMatrix: x => x.rows())
    }

    /// Number of columns n.
    #[must_use]
    pub fn columns(&self) -> usize {
        either!(self, AnyMatrix: x => x.columns())
    }

    /// Whether entries are f32.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self, Self::F32(_))
    }

    /// Whether it is sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        either!(self, AnyMatrix: x => matches!(x, Matrix::Sparse(_)))
    }

    /// The name of its number type in files and parameters: `f32` or `f64`.
    #[must_use]
    pub fn precision(&self) -> &'static str {
        match self {
            Self::F32(_) => f32::NAME,
            Self::F64(_) => f64::NAME,
        }
    }

    /// Half the distance from 1 to the next number of its type.
    pub(crate) fn rounding(&self) -> f64 {
        match self {
            Self::F32(_) => f32::ROUNDING,
            Self::F64(_) => f64::ROUNDING,
        }
    }

    /// Some entries of a row of a dense matrix; none of a sparse one.
    pub(crate) fn piece_of_row(&self, row: usize, columns: Range<usize>) -> Vec<f64> {
        either!(self, AnyMatrix: x => match x {
            Matrix::Dense(x) => columns.map(|j| x[[row, j]].to_f64()).collect(),
            Matrix::Sparse(_) => Vec::new(),
        })
    }

    /// Calls `visit(column, value)` for every stored entry of a row.
    pub(crate) fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        either!(self, AnyMatrix: x => x.for_each_in_row(row, |j, v| visit(j, v.to_f64())));
    }
}

impl Representation {
    /// m×r.
    #[must_use]
    pub fn dim(&self) -> (usize, usize) {
        either!(self, Representation: w => w.dim())
    }

    /// Number of topics r.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.dim().1
    }

    /// All of it in double precision, which is exact.
    #[must_use]
    pub fn to_f64(&self) -> Array2<f64> {
        either!(self, Representation: w => w.mapv(Number::to_f64))
    }

    /// A row in double precision.
    #[must_use]
    pub fn row(&self, row: usize) -> ndarray::Array1<f64> {
        either!(self, Representation: w => w.row(row).mapv(Number::to_f64))
    }

    /// Every entry times a number.
    pub(crate) fn times(self, factor: f64) -> Self {
        match self {
            same if factor == 1.0 => same,
            Self::F32(w) => Self::F32(w.mapv(|v| f32::from_f64(v.to_f64() * factor))),
            Self::F64(w) => Self::F64(w * factor),
        }
    }

    /// Zeros, in the number type of a matrix.
    pub(crate) fn zeros(matrix: &AnyMatrix<'_>, shape: (usize, usize)) -> Self {
        match matrix {
            AnyMatrix::F32(_) => Self::F32(Array2::zeros(shape)),
            AnyMatrix::F64(_) => Self::F64(Array2::zeros(shape)),
        }
    }

    /// These rows become those of another one.
    pub(crate) fn take_rows(&mut self, rows: &[usize], other: Self) {
        match self {
            Self::F32(w) => take(w, rows, other),
            Self::F64(w) => take(w, rows, other),
        }
    }
}

fn take<T: Element>(w: &mut Array2<T>, rows: &[usize], other: Representation) {
    let other = T::representation(other);
    rows.iter().for_each(|&row| w.row_mut(row).assign(&other.row(row)));
}

impl<T: Element> From<Array2<T>> for Representation {
    fn from(w: Array2<T>) -> Self {
        T::represented(w)
    }
}

/// Data with their matrix in its number type: what kernels see.
pub(crate) struct Table<'d, 'a, T> {
    data: &'d GroupedData<'a>,
    pub matrix: &'d Matrix<'a, T>,
}

impl<T> Clone for Table<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<'_, '_, T> {}

impl<'a, T> Deref for Table<'_, 'a, T> {
    type Target = GroupedData<'a>;

    fn deref(&self) -> &GroupedData<'a> {
        self.data
    }
}

impl<'d, 'a, T: Element> Table<'d, 'a, T> {
    /// The data, which are of this type: whoever asks has looked ([`crate::rows::hold`]).
    pub fn of(data: &'d GroupedData<'a>) -> Self {
        let matrix = T::of(&data.matrix).expect("whoever asks has looked at the type");
        Self { data, matrix }
    }
}
