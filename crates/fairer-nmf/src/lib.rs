//! Group-fair non-negative matrix factorisation.
//!
//! Standard NMF (X ≈ WH) minimises the average error, so small or complex groups are often
//! represented badly. This library measures what every group pays for sharing one dictionary and
//! minimises the largest of these losses, after Kassab, George, Needell, Geng, Jafar Nia and Li,
//! "Towards a Fairer Non-negative Matrix Factorization" (arXiv 2411.09847).
//!
//! ```
//! use fairer_nmf::{GroupedData, Parameters, fit, silent};
//! use ndarray::array;
//!
//! let x = array![[1.0, 0.0, 1.0], [0.9, 0.1, 1.0], [0.0, 2.0, 0.1], [0.3, 1.0, 0.0]];
//! let data = GroupedData::new(x.view(), &["a", "a", "b", "b"])?;
//! let fit = fit(&data, &Parameters::new(1), &silent)?;
//! for group in &fit.model.groups {
//!     println!("{}: error {:.3}, loss {:.3}", group.name, group.relative_error, group.loss);
//! }
//! println!("{}", fit.model.certificate());
//! # Ok::<(), fairer_nmf::Error>(())
//! ```
//!
//! The shape: rows are touched in one place, the pass, which leaves three small statistics per
//! group; everything else (updates of the dictionary, weights, certificates) sees only those.

pub mod audit;
pub mod baseline;
pub mod bound;
mod criterion;
pub mod data;
mod dictionary;
mod digits;
pub mod discover;
mod error;
mod evaluate;
pub mod fit;
mod init;
mod iteration;
mod kernel;
mod limit;
mod measured;
mod model;
mod names;
mod note;
mod number;
mod options;
mod parallel;
mod parameters;
mod penalties;
mod progress;
mod random;
pub mod rows;
mod search;
mod statistics;
mod steps;
pub mod stopping;
mod student;
pub mod synthetic;
mod update;
pub mod weights;
mod yardsticks;

pub use audit::audit;
pub use baseline::Baseline;
pub use data::{GroupedData, Matrix};
pub use error::{Error, Result};
pub use fit::{Fit, fit};
pub use init::Init;
pub use model::{GroupFit, Model, Warning};
pub use names::UnknownName;
pub use note::Note;
pub use parameters::{Method, Parameters};
pub use penalties::Penalties;
pub use progress::{Observer, Progress, silent};
pub use stopping::Stopping;
pub use update::Update;

/// Pieces by themselves, for the other crates of this repository: its measurements, PCA among the methods that the paper is
/// compared with, numbers as tables show them. Not part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::digits::{four_digits, four_digits_below, told_apart};
    pub use crate::kernel::eigen::leading_projection;
    pub use crate::kernel::panel::{Packed, room, times};
    pub use crate::student::{quantile, upper_tail};
    pub use crate::update::nnls::{NnlsReport, Scratch, solve};
}
