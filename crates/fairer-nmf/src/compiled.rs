//! The heavy functions, compiled once for f32 and once for f64.
//!
//! A generic function is compiled anew in every crate that calls it. These are reached through
//! methods of the two number types instead, so that a program, a test or the Python module that
//! uses the library does not compile the kernels again.

// The trait cannot be named outside, nor can the types of the library's own in its signatures.
#![allow(private_interfaces, missing_docs)]

use crate::baseline::{Baseline, GroupBaseline};
use crate::bound::BoundReport;
use crate::data::{GroupedData, Matrix};
use crate::dictionary::Dictionary;
use crate::fit::{Context, Fit, Observer, Parameters, Start};
use crate::pass::RowStep;
use crate::statistics::Statistics;
use crate::{Result, baseline, bound, data, fit, pass};

macro_rules! compiled {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty = $body:path;)*) => {
        /// What the two number types have compiled; seals [`crate::Element`].
        pub trait Compiled: Sized {
            $(fn $name($($arg: $ty),*) -> $out;)*
        }
        impl Compiled for f32 { $(fn $name($($arg: $ty),*) -> $out { $body($($arg),*) })* }
        impl Compiled for f64 { $(fn $name($($arg: $ty),*) -> $out { $body($($arg),*) })* }
    };
}

compiled! {
    fn check_entries(matrix: &Matrix<'_, Self>) -> Result<()> = data::check_entries;
    fn group_squared_norms(data: &GroupedData<'_, Self>) -> Vec<f64> = data::group_squared_norms;
    fn column_square_sums(data: &GroupedData<'_, Self>) -> Vec<f64> = data::column_square_sums;
    fn pass(
        data: &GroupedData<'_, Self>,
        h: &Dictionary,
        step: RowStep,
        w: &mut [Self],
    ) -> Vec<Statistics> = pass::run_generic;
    fn row_squared_errors(
        data: &GroupedData<'_, Self>,
        group: usize,
        h: &Dictionary,
        w: &[Self],
    ) -> Vec<f64> = pass::row_squared_errors_generic;
    fn fit(
        data: &GroupedData<'_, Self>,
        parameters: &Parameters,
        start: Option<&Start>,
        observer: &Observer<'_>,
    ) -> Result<Fit<Self>> = fit::fit_with;
    fn baselines(
        data: &GroupedData<'_, Self>,
        rank: usize,
        seed: u64,
        baseline: &Baseline,
        context: &Context<'_>,
    ) -> Result<Vec<GroupBaseline>> = baseline::baselines;
    fn global_bound(
        data: &GroupedData<'_, Self>,
        rank: usize,
        baselines: &[f64],
    ) -> BoundReport = bound::global_bound_generic;
}
