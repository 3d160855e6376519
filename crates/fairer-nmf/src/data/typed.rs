//! f32 or f64, told apart, so that work on all entries is compiled in the library, once for each (`once.rs`): the
//! crates that make data may be compiled with less effort.

use super::GroupedData;
use crate::number::Number;

/// f32 or f64: the type of the data. [`Element`](crate::rows::Element) has more of it.
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
