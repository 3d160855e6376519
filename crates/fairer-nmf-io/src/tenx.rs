//! The three files that single-cell tools write: matrix.mtx with one row a gene and one column a
//! cell, features.tsv (or genes.tsv) and barcodes.tsv, each also .gz.

use std::path::Path;

/// A folder with such files.
pub(crate) struct Triple {
    pub(crate) matrix: String,
    pub(crate) features: Option<String>,
    pub(crate) barcodes: Option<String>,
}

impl Triple {
    /// The files of a folder, where it holds a matrix.
    pub(crate) fn of(folder: &str) -> Option<Triple> {
        let find = |names: &[&str]| {
            let paths = names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}.gz")]);
            let mut paths = paths.map(|name| Path::new(folder).join(name));
            paths.find(|path| path.is_file()).map(|path| path.display().to_string())
        };
        Some(Triple {
            matrix: find(&["matrix.mtx"])?,
            features: find(&["features.tsv", "genes.tsv"]),
            barcodes: find(&["barcodes.tsv"]),
        })
    }
}
