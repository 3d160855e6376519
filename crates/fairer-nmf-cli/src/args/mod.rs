//! What can be typed: the options that several commands share.
//!
//! Nothing here decides anything; [`crate::meaning`] turns it into what the readers and the
//! library understand.

mod data;
mod fit;
mod measure;
mod values;

pub(crate) use data::{DataArgs, GroupArgs, TextArgs};
pub(crate) use fit::{AuditArgs, BaselineArgs, RunArgs, SolverArgs};
pub(crate) use measure::MeasureArgs;
pub(crate) use values::{
    BaselineKind, FormatName, Frequency, InitName, MethodName, MissingName, NormName, Normalize,
    PrecisionName, PresetName, Ranks, Seconds, StartWeightsName, UpdateName,
};
