//! The program `fairer-nmf`, for the command that `pip install` puts on the path.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;

/// The system's, until the process becomes the program.
#[cfg(unix)]
#[global_allocator]
static MEMORY: fairer_nmf_cli::limits::Memory = fairer_nmf_cli::limits::Memory;

/// Runs the program on what was typed, its name first, and gives its exit code. From here on the process
/// is the program: where memory runs out, it ends.
#[pyfunction]
pub fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    #[cfg(unix)]
    fairer_nmf_cli::limits::begin();
    let code = py.detach(|| fairer_nmf_cli::main_from(arguments));
    // An exit code does not tell its number; the program has three.
    (0..2).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}
