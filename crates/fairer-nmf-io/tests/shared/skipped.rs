//! What a test leaves out, said past the test runner, which keeps what tests that pass print to itself.

use std::io::{Write, stderr};

/// Says on standard error which test leaves something out, and why.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(stderr(), "{test}: skipped: {why}");
}
