//! f32 or f64, told apart, so that work on all entries is compiled here, once for each: the crates that
//! make data may be compiled with less effort.

use super::{GroupedData, sums};
use crate::Error;
use crate::number::Number;
use crate::once::once;

/// f32 or f64: the type of the data. [`Element`](crate::Element) has more of it.
pub trait Typed: Number {
    /// What either makes of the data, by their type.
    #[doc(hidden)]
    fn either<'d, R>(
        data: &GroupedData<'d, Self>,
        single: impl FnOnce(&GroupedData<'d, f32>) -> R,
        double: impl FnOnce(&GroupedData<'d, f64>) -> R,
    ) -> R;
}

macro_rules! typed {
    ($type:ty, |$single:ident, $double:ident| $taken:ident) => {
        impl Typed for $type {
            fn either<'d, R>(
                data: &GroupedData<'d, Self>,
                $single: impl FnOnce(&GroupedData<'d, f32>) -> R,
                $double: impl FnOnce(&GroupedData<'d, f64>) -> R,
            ) -> R {
                let _ = (&$single, &$double);
                $taken(data)
            }
        }
    };
}
typed!(f32, |single, double| single);
typed!(f64, |single, double| double);

once! {
    /// The first entry that cannot be factorised.
    pub(super) fn bad_entry(data) -> Option<Error> = sums::bad_entry_of;
}
once! {
    /// ‖X_ℓ‖² of every group after scaling.
    pub(super) fn group_squared_norms(data) -> Vec<f64> = sums::group_squared_norms_of;
}
once! {
    /// Σ ωx² of every column over the rows that are in some group, before scaling.
    pub(super) fn column_square_sums(data) -> Vec<f64> = sums::column_square_sums_of;
}
once! {
    /// Squared norm of every row after scaling, times its weight.
    pub(super) fn row_squared_norms(data) -> Vec<f64> = sums::row_squared_norms_of;
}
once! {
    /// Number of entries that are not zero.
    pub(super) fn nonzeros(data) -> usize = sums::nonzeros_of;
}
once! {
    /// X_ℓᵀX_ℓ of every group.
    pub(super) fn second_moments(data) -> Vec<Vec<f64>> = sums::second_moments_of;
}
