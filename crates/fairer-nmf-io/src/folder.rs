//! Documents as features: in memory, or a folder with one sub-folder per group.

use std::fs;
use std::path::{Path, PathBuf};

use fairer_nmf::Note;

use super::dataset::{Dataset, Origin, RowOrigin};
use super::error::InputError;
use super::matrix::Matrix;
use super::options::Format;
use super::text::{self, TextOptions};

/// Reads every file of every sub-folder as a document, both in order of name.
///
/// Names that begin with a dot are passed over. Files are UTF-8, or else ISO-8859-1.
pub(crate) fn read(path: &str, options: &TextOptions) -> Result<Dataset, InputError> {
    let (mut documents, mut labels, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut loose, mut latin1) = (0, 0);
    for group in entries(Path::new(path))? {
        if !group.is_dir() {
            loose += 1;
            continue;
        }
        let label = file_name(&group);
        for file in entries(&group)? {
            let shown = file.display().to_string();
            if file.is_dir() {
                return Err(InputError::Unsupported {
                    path: shown,
                    what: "documents two levels down".into(),
                    fix: format!("the folders in {path} are the groups and hold files only"),
                });
            }
            if !file.is_file() {
                return Err(InputError::Unsupported {
                    path: shown,
                    what: "no text: it is a pipe, a device or a broken link".into(),
                    fix: format!("the folders in {path} hold files only"),
                });
            }
            let bytes = fs::read(&file).map_err(|e| InputError::io(&shown, e))?;
            documents.push(text::utf8(&bytes).unwrap_or_else(|| {
                latin1 += 1;
                text::decode(&bytes)
            }));
            names.push(format!("{label}/{}", file_name(&file)));
            labels.push(label.clone());
        }
    }
    if documents.is_empty() {
        let what = "one sub-folder per group is expected, with a file per document".into();
        let path = path.into();
        return Err(InputError::Empty { path, what });
    }
    let mut notes = Vec::new();
    if loose > 0 {
        let sentence = format!("{loose} files of {path} are in no sub-folder and were not read");
        notes.push(Note::new("files-not-read", sentence));
    }
    if latin1 > 0 {
        let sentence = format!("{latin1} documents are not UTF-8 and were read as ISO-8859-1");
        notes.push(Note::new("not-utf8", sentence));
    }
    let mut dataset = read_documents(path, names, &documents, labels, options)?;
    dataset.notes.splice(0..0, notes);
    Ok(dataset)
}

/// Documents that are in memory as features: `names` say which is which in messages, `path` where
/// they are from.
///
/// # Errors
/// If the options leave no term.
pub fn read_documents(
    path: &str,
    names: Vec<String>,
    documents: &[String],
    labels: Vec<String>,
    options: &TextOptions,
) -> Result<Dataset, InputError> {
    let made = text::vectorize(path, documents, options)?;
    let origin = Origin { path: path.into(), rows: RowOrigin::Documents(names) };
    Ok(Dataset {
        features: made.terms,
        labels: Some(labels),
        families: Vec::new(),
        weights: None,
        notes: made.notes,
        recipe: Some(made.recipe),
        ..Dataset::bare(Matrix::Sparse(made.matrix), origin)
    })
}

/// What is in a folder, in order of name.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let failed = |e| InputError::io(&folder.display().to_string(), e);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !file_name(&path).starts_with('.') {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What is in a folder of shards: numbers in names count as numbers, so that `part.2` comes before `part.10`, as
/// Dask reads what it has written (`dask.utils.natural_sort_key`). Names that differ in zeros only are in order of name.
pub(crate) fn shards(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let mut found = entries(folder)?;
    // Stable: ties stay in order of name.
    found.sort_by_cached_key(|path| natural(&file_name(path)));
    Ok(found)
}

/// What to know of the order of shards where it is not that of their names, by which others read them.
pub(crate) fn order_note(folder: &Path) -> Option<Note> {
    let is_shard = |name: &String| {
        matches!(Format::of(name), Some(Format::Npy | Format::Npz | Format::Parquet))
    };
    let names = entries(folder).ok()?.into_iter().map(|path| file_name(&path));
    let by_name: Vec<String> = names.filter(is_shard).collect();
    let mut ours = by_name.clone();
    ours.sort_by_cached_key(|name| natural(name));
    let (first, other) = ours.iter().zip(&by_name).find(|(a, b)| a != b)?;
    let sentence = format!(
        "the files of {} are read in the order of their numbers, {first} before {other}, as Dask reads them (pandas.read_parquet reads them by name): labels given beside the data must be in this order",
        folder.display()
    );
    Some(Note::new("order-of-files", sentence))
}

/// A name as texts, each with the number that follows: the length of its digits and they themselves, which may be many.
fn natural(name: &str) -> Vec<(String, Option<(usize, String)>)> {
    let (mut parts, mut rest) = (Vec::new(), name);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (text, after) = rest.split_at(at);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let digits = after[..end].trim_start_matches('0');
        parts.push((text.to_owned(), Some((digits.len(), digits.to_owned()))));
        rest = &after[end..];
    }
    parts.push((rest.to_owned(), None));
    parts
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which dask.dataframe.read_parquet (2026.8) gave the rows of files of these names.
    #[test]
    fn shards_are_in_the_order_of_dask() {
        let order = ["B3", "_x", "a01", "a1", "a1b2", "a1b10", "a2", "a10", "a-1", "a"];
        let order = order.map(|name| format!("{name}.parquet"));
        let folder = tempfile::tempdir().unwrap();
        order.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        let names = |found: Vec<PathBuf>| found.iter().map(|p| file_name(p)).collect::<Vec<_>>();
        assert_eq!(names(shards(folder.path()).unwrap()), order);
        let note = order_note(folder.path()).unwrap();
        assert!(note.sentence.contains("a01.parquet before a-1.parquet"), "{note}");
        // Documents stay in order of name.
        let mut by_name = order.to_vec();
        by_name.sort();
        assert_eq!(names(entries(folder.path()).unwrap()), by_name);
        ["a1b10", "a10", "a-1", "a"].iter().for_each(|name| {
            fs::remove_file(folder.path().join(format!("{name}.parquet"))).unwrap();
        });
        assert_eq!(order_note(folder.path()), None, "in order of name as well");
    }

    #[test]
    fn numbers_of_any_length_are_compared_as_numbers() {
        let (large, larger) = ("9".repeat(40), format!("1{}", "0".repeat(40)));
        assert!(natural(&large) < natural(&larger));
        assert!(natural(&format!("x000{large}")) == natural(&format!("x{large}")));
        assert!(natural("0.npy") < natural("1.npy") && natural("00.npy") == natural("0.npy"));
    }
}
