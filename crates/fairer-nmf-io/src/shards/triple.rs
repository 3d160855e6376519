//! A sparse matrix in three files of a folder, as SciPy calls its arrays: `data.npy`, `indices.npy` and
//! `indptr.npy`; `shape.npy` where the last columns may be empty.

use std::path::Path;

use fairer_nmf::Error;
use fairer_nmf::data::Element;
use fairer_nmf::rows::Block;

use super::array::Array;
use crate::error::InputError;

/// Elements that are looked at together when the files are opened.
const AT_ONCE: usize = 1 << 16;

/// The three arrays.
#[derive(Clone)]
pub(super) struct Triple {
    data: Array,
    indices: Array,
    indptr: Array,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Triple {
    /// Whether a folder has the arrays.
    pub(super) fn is_in(folder: &str) -> bool {
        let there = |name| Path::new(folder).join(name).is_file();
        ["data.npy", "indices.npy", "indptr.npy"].into_iter().all(there)
    }

    /// The arrays of a folder that has them.
    pub(super) fn of(folder: &str) -> Result<Option<Self>, InputError> {
        let at = |name: &str| Path::new(folder).join(name).display().to_string();
        if !Self::is_in(folder) {
            return Ok(None);
        }
        let open = |name: &str| Array::open(&at(name));
        let (data, indices, indptr) =
            (open("data.npy")?, open("indices.npy")?, open("indptr.npy")?);
        let wrong = |array: &Array, what: String| InputError::damaged(&array.stamp.path, what);
        for array in [&indices, &indptr] {
            if !array.header.is_integer() {
                return Err(wrong(array, "an array of integers is expected".into()));
            }
        }
        let (stored, starts) = (data.len()?, indptr.len()?);
        if indices.len()? != stored {
            let found = indices.len()?;
            return Err(wrong(&indices, format!("{found} column numbers for {stored} entries")));
        }
        let rows = starts.saturating_sub(1);
        if rows == 0 {
            return Err(InputError::Empty { path: folder.into(), what: "it has no rows".into() });
        }
        let columns = match Path::new(&at("shape.npy")).is_file() {
            true => {
                let array = open("shape.npy")?;
                let shape =
                    array.converted(0, array.len()?).map_err(|e| wrong(&array, e.to_string()))?;
                match shape[..] {
                    [m, n] if m == rows as f64 && n >= 1.0 => n as usize,
                    _ => {
                        let what = format!("it says {shape:?}, and indptr.npy has {rows} rows");
                        return Err(wrong(&array, what));
                    }
                }
            }
            false => last_column(&indices, stored)? + 1,
        };
        Ok(Some(Self { data, indices, indptr, rows, columns }))
    }

    pub(super) fn is_single(&self) -> bool {
        self.data.header.is_single()
    }

    /// Cuts the rows into blocks of at most so many bytes, for values of `width` bytes: of each the
    /// number of rows. None where a single row has more.
    pub(super) fn blocks(
        &self,
        bytes: usize,
        width: usize,
    ) -> Result<Option<Vec<usize>>, InputError> {
        let (mut blocks, mut first, mut begun, mut last) = (Vec::new(), 0, 0, 0);
        let wrong = || {
            let path = &self.indptr.stamp.path;
            InputError::damaged(path, "it does not rise from 0 to the number of entries")
        };
        let size = |rows: usize, entries: usize| entries * (width + 4) + rows * 8;
        for at in (0..=self.rows).step_by(AT_ONCE) {
            let count = AT_ONCE.min(self.rows + 1 - at);
            let starts = self.indptr.converted(at, count).map_err(|_| wrong())?;
            for (row, start) in (at..).zip(starts) {
                let stored = self.data.header.shape[0] as f64;
                if start < last as f64 || start > stored || (row == 0 && start != 0.0) {
                    return Err(wrong());
                }
                let start = start as usize;
                // Row `row` begins here, and the one before it ends.
                if row > first + 1 && size(row - first, start - begun) > bytes {
                    blocks.push(row - 1 - first);
                    (first, begun) = (row - 1, last);
                }
                if row > first && size(row - first, start - begun) > bytes {
                    return Ok(None);
                }
                last = start;
            }
        }
        if last != self.data.header.shape[0] {
            return Err(wrong());
        }
        blocks.push(self.rows - first);
        Ok(Some(blocks))
    }

    /// Returns how many entries are too small for the wanted type.
    pub(super) fn read<T: Element>(
        &self,
        first: usize,
        rows: usize,
        into: &mut Block<T>,
    ) -> Result<usize, Error> {
        let starts = self.indptr.converted(first, rows + 1)?;
        let begin = starts[0] as usize;
        into.starts.clear();
        into.starts.extend(starts.iter().map(|start| (*start as usize).saturating_sub(begin)));
        let count = into.starts[rows];
        let vanished = self.data.numbers(begin, count, &mut into.values)?;
        self.indices.columns(begin, count, &mut into.columns)?;
        Ok(vanished)
    }
}

fn last_column(indices: &Array, stored: usize) -> Result<usize, InputError> {
    let mut last = 0.0_f64;
    for at in (0..stored).step_by(AT_ONCE) {
        let some = indices.converted(at, AT_ONCE.min(stored - at));
        let some = some.map_err(|e| InputError::damaged(&indices.stamp.path, e))?;
        last = some.into_iter().fold(last, f64::max);
    }
    Ok(last as usize)
}
