//! The parts of the program `fairer-nmf` that are not the factorisation itself.
//!
//! [`input`] turns files into matrices, names and group labels.

pub mod input;
