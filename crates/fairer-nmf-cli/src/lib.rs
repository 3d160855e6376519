//! The program `fairer-nmf`: from a data file to a fair factorisation, in one command.
//!
//! What was typed (`args`, `commands`) becomes what it means (`meaning`); `fairer-nmf-io` turns files
//! into matrices, names and group labels; the library `fairer-nmf` does the work; `outcome` and
//! `export` say what came out.

mod args;
mod auditing;
mod commands;
mod export;
mod features;
mod fitting;
mod load;
mod meaning;
mod outcome;
mod outputs;
mod pages;
mod progress;
mod publish;
mod report;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

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
    let _ = ARGUMENTS.set(arguments.into_iter().collect());
    match commands::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => terminal::report(&failure),
    }
}

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// What was typed, the program's name first.
pub(crate) fn arguments() -> impl Iterator<Item = OsString> {
    ARGUMENTS.get().into_iter().flatten().cloned()
}
