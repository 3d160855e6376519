//! The program `fairer-nmf`, for the command that `pip install` puts on the path.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program on what was typed, its name first, and gives its exit code.
#[pyfunction]
pub fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| fairer_nmf_cli::main_from(arguments));
    // An exit code does not tell its number; the program has three.
    (0..2).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}
