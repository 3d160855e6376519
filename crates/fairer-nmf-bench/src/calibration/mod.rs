//! The calibration study behind the verdict: populations with a known truth, and the estimators that
//! were tried. docs/calibration.md has the tables.

pub mod audited;
pub mod estimators;
pub mod heart;
pub mod picture;
pub mod populations;
pub mod random;
