//! From what was typed to what the readers and the library understand. Nothing is read or fitted
//! here but small files that options name.

mod choosing;
mod reading;
mod solving;

pub(crate) use choosing::{chosen_method, discovery};
pub(crate) use reading::{
    check_hiding, files_read, first_given, input_limit, read_options, scaling,
};
pub(crate) use solving::{audit_options, baseline, each_once, fit_parameters, method, parameters};
