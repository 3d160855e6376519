//! The real binary on real files: what it prints, writes, refuses, and with which exit code.

mod audits;
mod bad_input;
mod charts;
mod checkpoint;
mod choices;
mod clear;
mod commands;
mod dictionaries;
mod documents;
mod formats;
mod help;
mod hostile;
mod hostile_parts;
mod interrupt;
mod json;
mod kills;
#[cfg(target_os = "linux")]
mod memory_limit;
mod models;
mod on_disk;
mod outputs;
mod overlapping;
mod pages;
mod reproduce;
#[path = "../../../fairer-nmf-io/tests/shared/mod.rs"]
mod shared;
mod support;
mod tables;
mod unknown;
mod verdict;
