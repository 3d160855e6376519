//! What conversions write: shards of rows, and the number of every row's group.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::npy::header;

/// Bytes of a shard.
const SHARD: usize = 256 << 20;
/// The folder of the shards in the cache.
pub(super) const SHARDS: &str = "rows";

/// Labels as numbers, in the order of their first appearance.
#[derive(Default)]
pub(super) struct Labels {
    known: HashMap<String, u32>,
    pub(super) names: Vec<String>,
    pub(super) codes: Vec<u32>,
}

impl Labels {
    pub(super) fn extend(&mut self, labels: Vec<String>) {
        for label in labels {
            let code = match self.known.get(&label) {
                Some(&code) => code,
                None => {
                    let code = self.names.len() as u32;
                    self.names.push(label.clone());
                    self.known.insert(label, code);
                    code
                }
            };
            self.codes.push(code);
        }
    }
}

/// Writes rows into `.npy` files of some size, one after the other.
pub(super) struct ShardWriter {
    folder: PathBuf,
    descr: &'static str,
    width: usize,
    columns: usize,
    current: Option<(BufWriter<File>, usize)>,
    names: Vec<String>,
}

impl ShardWriter {
    pub(super) fn new<T>(folder: PathBuf) -> std::io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let descr = descr(size_of::<T>());
        let (width, names) = (size_of::<T>(), Vec::new());
        Ok(Self { folder, descr, width, columns: 0, current: None, names })
    }

    /// Appends rows of so many columns.
    pub(super) fn write(&mut self, bytes: &[u8], columns: usize) -> std::io::Result<()> {
        self.columns = columns;
        let row = (columns * self.width).max(1);
        let most = (SHARD / row).max(1);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (file, rows) = match &mut self.current {
                Some(current) => current,
                none => {
                    let name = format!("{:06}.npy", self.names.len());
                    let mut file =
                        BufWriter::with_capacity(1 << 18, File::create(self.folder.join(&name))?);
                    file.write_all(&header(self.descr, &[0, columns]))?;
                    self.names.push(format!("{SHARDS}/{name}"));
                    none.insert((file, 0))
                }
            };
            let count = (rest.len() / row).min(most - *rows);
            let (now, later) = rest.split_at(count * row);
            file.write_all(now)?;
            *rows += count;
            rest = later;
            if *rows == most {
                self.close()?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> std::io::Result<()> {
        if let Some((mut file, rows)) = self.current.take() {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header(self.descr, &[rows, self.columns]))?;
            file.flush()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> std::io::Result<Vec<String>> {
        self.close()?;
        Ok(self.names)
    }
}

pub(super) fn write_codes(path: &Path, codes: &[u32]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let descr = if cfg!(target_endian = "big") { ">u4" } else { "<u4" };
    file.write_all(&header(descr, &[codes.len()]))?;
    file.write_all(bytemuck::cast_slice(codes))
}

/// How floats of this machine of so many bytes are called.
fn descr(width: usize) -> &'static str {
    match (width, cfg!(target_endian = "big")) {
        (4, false) => "<f4",
        (4, true) => ">f4",
        (_, false) => "<f8",
        (_, true) => ">f8",
    }
}
