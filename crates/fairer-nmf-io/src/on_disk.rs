//! Data that stay on disk: whatever they are, they become shards that are read block by block.

use std::path::Path;

use fairer_nmf::Note;
use fairer_nmf::rows::GroupCodes;

use super::convert::{TableFacts, convert, is_table};
use super::error::InputError;
use super::folder;
use super::options::{ReadOptions, matrix_only};
use super::unpacked::unpacked;

/// Where the shards of some data are.
#[derive(Debug)]
pub struct OnDisk {
    /// For [`open_shards`](super::open_shards): the data themselves, or what they were converted into, in the order of rows.
    pub shards: Vec<String>,
    /// Where they were converted to, or found again, in a sentence.
    pub note: Option<Note>,
    /// In which order files are read, in a sentence, where labels beside the data could have another.
    pub order: Option<Note>,
    /// The group of every row, where columns of a table tell it.
    pub groups: Option<GroupCodes>,
    /// What else a table holds.
    pub table: Option<TableFacts>,
}

/// Finds the shards of data that do not fit into `memory` (bytes). Matrices are shards as they are; a CSV, a
/// Parquet file or folder and packed `.npz` that are too large are converted once into a folder beside
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
        let (shards, groups, table) = (vec![made.shards], made.groups, Some(made.found));
        return Ok(OnDisk { shards, note: Some(note), order, groups, table });
    }
    matrix_only(path, options)?;
    let (shards, note) = match unpacked(path, memory, options.limit, watch)? {
        Some(made) => (made.shards, Some(said(path, &made.folder, made.reused))),
        None => (vec![path.to_owned()], None),
    };
    Ok(OnDisk { shards, note, order, groups: None, table: None })
}

fn said(path: &str, folder: &str, reused: bool) -> Note {
    match reused {
        false => Note::new(
            "converted",
            format!(
                "{path} was converted once into {folder}, which later runs with the same options reuse; remove it when it is no longer needed"
            ),
        ),
        true => Note::new(
            "conversion-reused",
            format!(
                "{path} has not changed since an earlier run converted it: its rows come from {folder}"
            ),
        ),
    }
}
