//! The Python face of fairer-nmf: convert arrays, release the GIL, call the library, map errors.
//!
//! One file per module of the library. The package around it (`python/fairer_nmf`) checks types
//! and speaks scikit-learn.

mod audit;
mod chance;
mod compare;
mod data;
mod datasets;
mod disk;
mod errors;
mod fit;
mod model;
mod program;
mod report;
mod run;
mod shares;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::audit::{evaluate, intervals};
    #[pymodule_export]
    use super::chance::{chance, rises};
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::data::_data_pointer;
    #[pymodule_export]
    use super::datasets::{heart_disease_csv, synthetic};
    #[pymodule_export]
    use super::disk::{OnDisk, columns_on_disk, evaluate_on_disk, fit_on_disk};
    #[pymodule_export]
    use super::fit::{choose_rank, estimate_baselines, fit};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::program::program;
    #[pymodule_export]
    use super::report::{Report, report};
    #[pymodule_export]
    use super::shares::{Share, evaluate_shares, fit_shares};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
