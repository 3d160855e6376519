//! What can be typed: the options that several commands share.
//!
//! Nothing here decides anything; `meaning` turns it into what the readers and the library
//! understand.

mod choice;
mod common;
mod data;
mod fit;
mod values;

pub(crate) use choice::ChoiceArgs;
pub(crate) use common::CommonArgs;
pub(crate) use data::{DataArgs, GroupArgs, TextArgs, UnseenArgs};
pub(crate) use fit::{AuditArgs, BaselineArgs, RunArgs, SolverArgs};
pub(crate) use values::{
    BaselineKind, Bytes, DecimalName, FormatName, Frequency, MissingName, NormName, Normalize,
    PrecisionName, PresetName, RankName, Ranks, Seconds, UnseenName, method,
};

use std::ffi::OsString;
use std::sync::OnceLock;

static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps what was typed, for the command that a page shows.
pub(crate) fn keep_typed(arguments: impl IntoIterator<Item = OsString>) {
    // A process runs one command.
    let _ = TYPED.set(arguments.into_iter().collect());
}

/// What was typed, the program's name first.
pub(crate) fn typed() -> impl Iterator<Item = OsString> {
    TYPED.get().into_iter().flatten().cloned()
}
