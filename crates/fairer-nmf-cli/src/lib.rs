//! The program `fairer-nmf`: from a data file to a fair factorisation, in one command.
//!
//! The rooms, from the top: `commands`, one file each; `results`, what came out, for programs,
//! terminal and page; `files`, what was asked to be written; `work`, what takes time; `meaning`, what
//! the options mean to readers and library; `screen`, what people see while it runs; `args`, what
//! can be typed. A room uses those after it only. `fairer-nmf-io` turns files into matrices, names
//! and group labels; the library `fairer-nmf` does the mathematics.

mod args;
mod commands;
mod files;
#[cfg(unix)]
pub mod limits;
mod meaning;
mod results;
mod screen;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program on the arguments of the process.
///
/// Exit codes: 0 done (a fit that did not converge included, with a warning), 1 the run failed
/// or was stopped, 2 the command or the input is wrong.
pub fn main() -> ExitCode {
    main_from(std::env::args_os())
}

/// The same on other arguments, the first of which is the program's name: for a process that is
/// not the program itself, such as Python's. Help and wrong options end the process at once.
pub fn main_from(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    args::keep_typed(arguments);
    match commands::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => screen::report(&failure),
    }
}
