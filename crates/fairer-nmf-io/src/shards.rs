//! Matrices that stay on disk: one `.npy`, or a folder of `.npy` and `.npz` shards in order of name.
//!
//! A shard is cut into blocks that are read, not mapped: one that is cut short or overwritten while
//! somebody fits ends in a sentence, not in a signal. What a shard was when it was opened (its length
//! and when it was last written) is looked at with every block.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use fairer_nmf::rows::{Block, BlockSource};
use fairer_nmf::{Element, Error};

use super::error::InputError;
use super::matrix::{DenseView, Matrix};
use super::npy::Header;
use super::options::{Format, Precision};
use super::room::{InputLimit, Room};
use super::{folder, npz};

/// Of the memory that a fit may take, what one block takes at the most.
const BLOCKS_IN_MEMORY: usize = 16;
/// A block that is larger is no faster.
const LARGEST_BLOCK: usize = 32 << 20;
/// Where a NumPy header has ended.
const HEADER: u64 = 1 << 16;

/// Shards of either number type.
pub enum AnyShards {
    /// Single precision.
    F32(Shards<f32>),
    /// Double precision.
    F64(Shards<f64>),
}

/// A matrix in files.
pub struct Shards<T> {
    files: Vec<Shard>,
    features: usize,
    blocks: Vec<Piece>,
    block_rows: Vec<usize>,
    /// What an archive may unpack to.
    limit: InputLimit,
    number: std::marker::PhantomData<T>,
}

/// One file, as it was when it was opened.
#[derive(Clone)]
struct Shard {
    path: String,
    rows: usize,
    columns: usize,
    single: bool,
    /// Of a `.npy`.
    header: Option<Header>,
    length: u64,
    written: Option<SystemTime>,
}

/// Rows of a shard that are read together.
#[derive(Clone, Copy)]
struct Piece {
    file: usize,
    first: usize,
    rows: usize,
}

/// Opens a `.npy` file or a folder of shards, to be read in blocks that leave most of `memory` (bytes)
/// to others.
///
/// # Errors
/// Files that are not what they should be, or do not go together; rows or shards that are too large for
/// the memory. What an archive unpacks to is held against `limit` when it is read.
pub fn open_shards(
    path: &str,
    memory: usize,
    precision: Precision,
    limit: InputLimit,
) -> Result<AnyShards, InputError> {
    let paths = match Format::of(path) {
        Some(Format::Npy) => vec![path.to_owned()],
        Some(Format::Folder) => shard_paths(path)?,
        _ => {
            return Err(InputError::OptionDoesNotApply {
                option: "--memory",
                path: path.into(),
                why: "block by block are read a .npy file, a folder of .npy or .npz shards, and .csv",
            });
        }
    };
    let files = paths.iter().map(|path| Shard::open(path)).collect::<Result<Vec<_>, _>>()?;
    let first = &files[0];
    if let Some(other) = files.iter().find(|s| s.columns != first.columns) {
        return Err(InputError::Unsupported {
            path: other.path.clone(),
            what: format!("{} columns where {} has {}", other.columns, first.path, first.columns),
            fix: "the shards of a folder are blocks of rows of one matrix".into(),
        });
    }
    let single = match precision {
        Precision::Stored => files.iter().all(|s| s.single),
        Precision::F32 => true,
        Precision::F64 => false,
    };
    Ok(match single {
        true => AnyShards::F32(Shards::new(files, memory, limit)?),
        false => AnyShards::F64(Shards::new(files, memory, limit)?),
    })
}

/// Whether a folder holds shards, rather than documents in sub-folders.
pub fn is_shard_folder(path: &str) -> bool {
    Path::new(path).is_dir() && shard_paths(path).is_ok()
}

fn shard_paths(folder: &str) -> Result<Vec<String>, InputError> {
    let found = folder::entries(Path::new(folder))?;
    let shown = found.into_iter().map(|path| path.display().to_string());
    let shards: Vec<String> =
        shown.filter(|p| matches!(Format::of(p), Some(Format::Npy | Format::Npz))).collect();
    match shards.is_empty() {
        true => Err(InputError::Empty {
            path: folder.into(),
            what: "no .npy or .npz shard is in it".into(),
        }),
        false => Ok(shards),
    }
}

impl Shard {
    fn open(path: &str) -> Result<Self, InputError> {
        let mut file = File::open(path).map_err(|e| InputError::io(path, e))?;
        let about = file.metadata().map_err(|e| InputError::io(path, e))?;
        let (length, written) = (about.len(), about.modified().ok());
        if Format::of(path) == Some(Format::Npz) {
            let (rows, columns, single) = npz::shape(path, &file)?;
            return Ok(Self {
                path: path.into(),
                rows,
                columns,
                single,
                header: None,
                length,
                written,
            });
        }
        let mut start = Vec::new();
        (&mut file).take(HEADER).read_to_end(&mut start).map_err(|e| InputError::io(path, e))?;
        let header = Header::parse(path, &start)?;
        let (rows, columns) = header.matrix_shape(path)?;
        if header.fortran {
            return Err(InputError::Unsupported {
                path: path.into(),
                what: "a matrix in column order, whose rows do not lie together".into(),
                fix: "save it with numpy.save(path, numpy.ascontiguousarray(X))".into(),
            });
        }
        if header.end().is_none_or(|end| end > length) {
            let promised = format!("its header promises the shape {:?}", header.shape);
            return Err(InputError::damaged(
                path,
                format!("{promised}, but it has {length} bytes"),
            ));
        }
        let single = header.is_single();
        Ok(Self { path: path.into(), rows, columns, single, header: Some(header), length, written })
    }

    /// The file, if it is what it was.
    fn again(&self) -> Result<File, Error> {
        let file = File::open(&self.path).map_err(|e| self.lost(&e.to_string()))?;
        let about = file.metadata().map_err(|e| self.lost(&e.to_string()))?;
        if about.len() != self.length {
            let (was, now) = (self.length, about.len());
            return Err(
                self.lost(&format!("it had {was} bytes when the fit began and has {now} now"))
            );
        }
        if about.modified().ok() != self.written {
            return Err(self.lost("it was written to after the fit began"));
        }
        Ok(file)
    }

    fn lost(&self, why: &str) -> Error {
        let path = &self.path;
        Error::Rows {
            reason: format!(
                "{path} changed during the fit: {why}; start again with files that stay as they are"
            ),
        }
    }
}

impl<T: Element> Shards<T> {
    fn new(files: Vec<Shard>, memory: usize, limit: InputLimit) -> Result<Self, InputError> {
        let features = files[0].columns;
        // An archive may declare any number of columns.
        let row = features.saturating_mul(size_of::<T>());
        let block = (memory / BLOCKS_IN_MEMORY).min(LARGEST_BLOCK);
        let at_once = block / row;
        if at_once == 0 {
            let needed = row.saturating_mul(BLOCKS_IN_MEMORY);
            return Err(InputError::BadOption {
                option: "--memory",
                what: format!(
                    "a row of {} has {row} bytes: give at least {needed} bytes",
                    files[0].path
                ),
            });
        }
        let mut blocks = Vec::new();
        for (file, shard) in files.iter().enumerate() {
            if shard.header.is_none() {
                // Packed: read as a whole.
                let bytes = shard.length as usize;
                if bytes > memory / 4 {
                    return Err(InputError::BadOption {
                        option: "--memory",
                        what: format!(
                            "{} has {bytes} bytes and is read as a whole: give at least {}, or save smaller shards",
                            shard.path,
                            4 * bytes
                        ),
                    });
                }
                blocks.push(Piece { file, first: 0, rows: shard.rows });
                continue;
            }
            let pieces = (0..shard.rows).step_by(at_once);
            blocks.extend(pieces.map(|first| Piece {
                file,
                first,
                rows: at_once.min(shard.rows - first),
            }));
        }
        let block_rows = blocks.iter().map(|b| b.rows).collect();
        let number = std::marker::PhantomData;
        Ok(Self { files, features, blocks, block_rows, limit, number })
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.block_rows.iter().sum()
    }

    fn read_npy(
        &self,
        shard: &Shard,
        header: &Header,
        piece: Piece,
        into: &mut Block<T>,
    ) -> Result<(), Error> {
        let mut file = shard.again()?;
        let bytes = header.row_bytes();
        let at = header.offset() as u64 + (piece.first * bytes) as u64;
        file.seek(SeekFrom::Start(at)).map_err(|e| shard.lost(&e.to_string()))?;
        let count = piece.rows * self.features;
        into.starts.clear();
        if header.is_plain::<T>() {
            into.values.resize(count, T::default());
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut into.values);
            return file.read_exact(room).map_err(|e| shard.lost(&e.to_string()));
        }
        let mut raw = vec![0; piece.rows * bytes];
        file.read_exact(&mut raw).map_err(|e| shard.lost(&e.to_string()))?;
        let numbers =
            header.converted(&shard.path, &raw).map_err(|e| shard.lost(&e.to_string()))?;
        into.values.clear();
        into.values.extend(numbers.map(T::from_f64));
        Ok(())
    }

    fn read_npz(&self, shard: &Shard, into: &mut Block<T>) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(shard.length as usize);
        shard.again()?.read_to_end(&mut bytes).map_err(|e| shard.lost(&e.to_string()))?;
        let room = Room::new(&shard.path, bytes.len(), self.limit);
        let read = npz::read(room, &bytes, None, Precision::Stored);
        into.values.clear();
        into.starts.clear();
        into.columns.clear();
        match read.map_err(|e| Error::Rows { reason: e.to_string() })? {
            Matrix::Sparse(sparse) => {
                into.starts = sparse.indptr;
                into.columns = sparse.indices;
                into.values.extend(sparse.values.iter().map(|&v| T::from_f64(v)));
            }
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F32(view) => {
                    into.values.extend(view.iter().map(|&v| T::from_f64(f64::from(v))))
                }
                DenseView::F64(view) => into.values.extend(view.iter().map(|&v| T::from_f64(v))),
            },
        }
        Ok(())
    }
}

impl<T: Element> BlockSource<T> for Shards<T> {
    fn features(&self) -> usize {
        self.features
    }

    fn block_rows(&self) -> &[usize] {
        &self.block_rows
    }

    fn read(&self, block: usize, into: &mut Block<T>) -> Result<(), Error> {
        let piece = self.blocks[block];
        let shard = &self.files[piece.file];
        match &shard.header {
            Some(header) => self.read_npy(shard, header, piece, into),
            None => self.read_npz(shard, into),
        }
    }

    fn describe(&self, row: usize, column: usize) -> String {
        let mut before = 0;
        for shard in &self.files {
            if row < before + shard.rows {
                let row = row - before;
                return format!("{}, row {row}, column {column} (counting from 0)", shard.path);
            }
            before += shard.rows;
        }
        format!("row {row}, column {column} (counting from 0)")
    }
}
