//! The laws of the engine, through its public interface.

mod common;
mod determinism;
mod invariance;
mod model_file;
mod oracle;
mod outcome;
mod pieces;
mod synthetic;
mod units;
mod validation;
