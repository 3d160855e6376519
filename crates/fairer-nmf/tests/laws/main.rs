//! The laws of the engine and of the audit, through their public interface. One crate: every crate of tests
//! compiles what it calls anew.

mod adjusted;
mod audit_laws;
mod audit_oracle;
mod audit_steps;
mod bound;
mod certified;
mod checkpoint;
mod choices;
mod common;
mod comparison;
mod determinism;
mod finishing;
mod invariance;
mod model_file;
mod nndsvd;
mod oracle;
mod outcome;
mod pieces;
mod rank;
#[path = "../../../fairer-nmf-io/tests/shared/mod.rs"]
mod shared;
mod synthetic;
mod units;
mod validation;
mod verdict;
