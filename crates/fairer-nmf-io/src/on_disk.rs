//! Data that stay on disk: whatever they are, they become shards that are read block by block.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fairer_nmf::rows::GroupCodes;
use zip::ZipArchive;

use super::cache::Cache;
use super::convert::{TableFacts, convert, is_table};
use super::error::InputError;
use super::folder;
use super::options::{Format, ReadOptions, matrix_only};

/// Where the shards of some data are.
#[derive(Debug)]
pub struct OnDisk {
    /// For [`open_shards`](super::open_shards): the data themselves, or what they were converted into.
    pub shards: String,
    /// Where they were converted to, or found again, in a sentence.
    pub note: Option<String>,
    /// In which order files are read, in a sentence, where labels beside the data could have another.
    pub order: Option<String>,
    /// The group of every row, where columns of a table tell it.
    pub groups: Option<GroupCodes>,
    /// What else a table holds.
    pub table: Option<TableFacts>,
}

/// Finds the shards of data that do not fit into `memory` (bytes). Matrices are shards as they are; a CSV, a
/// Parquet file or folder and a packed `.npz` that is too large are converted once into a folder beside
/// them, which later runs reuse as long as the data have not changed. `watch` hears how many rows are
/// done, and says whether to go on.
///
/// # Errors
/// Whatever is wrong with the data or does not fit the options; a folder that cannot be written.
pub fn on_disk(
    path: &str,
    options: &ReadOptions,
    memory: usize,
    watch: &dyn Fn(usize) -> bool,
) -> Result<OnDisk, InputError> {
    if path == "-" {
        return Err(InputError::OptionDoesNotApply {
            option: "--memory",
            path: "standard input".into(),
            why: "it can be read only once: save it to a file first",
        });
    }
    let beside = options.group_by.is_empty();
    let order = if beside { folder::order_note(Path::new(path)) } else { None };
    if is_table(path, options) {
        let made = convert(path, options, memory, watch)?;
        let note = said(path, &made.folder, made.reused);
        let (groups, table) = (made.groups, Some(made.found));
        return Ok(OnDisk { shards: made.shards, note: Some(note), order, groups, table });
    }
    matrix_only(path, options)?;
    let (shards, note) = match Format::of(path) {
        Some(Format::Npz) => match unpacked(path, memory)? {
            Some((shards, reused)) => {
                let note = said(path, &shards, reused);
                (shards, Some(note))
            }
            None => (path.to_owned(), None),
        },
        _ => (path.to_owned(), None),
    };
    Ok(OnDisk { shards, note, order, groups: None, table: None })
}

fn said(path: &str, folder: &str, reused: bool) -> String {
    match reused {
        false => format!(
            "{path} was converted once into {folder}, which later runs with the same options reuse; remove it when it is no longer needed"
        ),
        true => format!(
            "{path} has not changed since an earlier run converted it: its rows come from {folder}"
        ),
    }
}

/// The arrays of an archive that is too large to be read as a whole, each in a file of its own.
fn unpacked(path: &str, memory: usize) -> Result<Option<(String, bool)>, InputError> {
    let damaged = |e: &dyn std::fmt::Display| {
        InputError::damaged(path, format!("it is not a whole zip archive ({e})"))
    };
    let open = || File::open(path).map_err(|e| InputError::io(path, e));
    let mut zip = ZipArchive::new(BufReader::new(open()?)).map_err(|e| damaged(&e))?;
    let names: Vec<String> =
        zip.file_names().filter_map(|name| Some(name.ok()?.to_string())).collect();
    let wanted: Vec<String> = match ["data.npy", "indices.npy", "indptr.npy", "shape.npy"] {
        sparse if sparse.iter().all(|name| names.iter().any(|n| n == name)) => {
            is_csr(path, &mut zip)?;
            sparse.map(str::to_owned).to_vec()
        }
        _ => names
            .into_iter()
            .filter(|name| name == "X.npy" || name == "arr_0.npy")
            .take(1)
            .collect(),
    };
    let mut bytes = 0;
    for name in &wanted {
        bytes += zip.by_name(name).map_err(|e| damaged(&e))?.size();
    }
    // What is small, or not understood, is for those who read it as a whole.
    if bytes <= (memory / 4) as u64 {
        return Ok(None);
    }
    let cache = Cache::of(path, vec![path.to_owned()], serde_json::json!({"unpacked": wanted}))?;
    let folder = cache.folder().display().to_string();
    if cache.kept::<()>().is_some() {
        return Ok(Some((folder, true)));
    }
    let making = cache.begin()?;
    for name in &wanted {
        let mut array = zip.by_name(name).map_err(|e| damaged(&e))?;
        let target = Path::new(&folder).join(name);
        let mut file = File::create(target).map_err(|e| making.failed(e))?;
        std::io::copy(&mut array, &mut file)
            .map_err(|e| InputError::damaged(path, format!("its array {name}: {e}")))?;
    }
    making.finish(&wanted, ())?;
    Ok(Some((folder, false)))
}

fn is_csr(path: &str, zip: &mut ZipArchive<BufReader<File>>) -> Result<(), InputError> {
    let Ok(mut format) = zip.by_name("format.npy") else { return Ok(()) };
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut format, &mut bytes).map_err(|e| InputError::io(path, e))?;
    match super::npy::strings(path, &bytes)?.concat().as_str() {
        "csr" => Ok(()),
        other => Err(InputError::Unsupported {
            path: path.into(),
            what: format!("a sparse matrix in the form {other}, whose rows do not lie together"),
            fix: "save it from SciPy after .tocsr()".into(),
        }),
    }
}
