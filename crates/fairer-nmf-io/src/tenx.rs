//! The three files that single-cell tools write: matrix.mtx with one row a gene and one column a
//! cell, features.tsv (or genes.tsv) and barcodes.tsv, each also .gz; and names out of such files.

use std::collections::HashMap;
use std::path::Path;

use super::error::InputError;
use super::labels;
use super::room::InputLimit;
use super::source::Source;

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

/// One name a line; of lines with tabs the second column, which is the name of a gene behind its
/// identifier. A name that is there already gets a number: GENE, GENE-1.
pub(crate) fn names(path: &str, limit: InputLimit) -> Result<Vec<String>, InputError> {
    let lines = labels::lines(path, &Source::open(path, limit)?)?;
    let name = |line: &String| {
        let mut cells = line.split('\t');
        let first = cells.next().unwrap_or_default();
        cells.next().unwrap_or(first).trim().to_owned()
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    let has_columns = lines.iter().any(|line| line.contains('\t'));
    let mut names: Vec<String> = lines.iter().map(name).collect();
    if has_columns {
        for name in &mut names {
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                *name = format!("{name}-{}", *count - 1);
            }
        }
    }
    Ok(names)
}
