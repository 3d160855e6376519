//! Files of the paper's data, which lie beside the checkout and not in it.

pub mod skipped;

use std::path::Path;

/// A file of `../shared/data`, where it is there; where it is not, the test says so.
pub fn shared(name: &str) -> Option<String> {
    let path = format!("{}/../../../shared/data/{name}", env!("CARGO_MANIFEST_DIR"));
    if Path::new(&path).exists() {
        return Some(path);
    }
    skipped::skipped(&format!("../shared/data/{name} is not there"));
    None
}
