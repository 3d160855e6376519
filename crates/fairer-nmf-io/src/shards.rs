//! Matrices that stay on disk: one `.npy`, a folder of `.npy` and `.npz` shards in the order of their numbers
//! and names, or the three arrays of a sparse matrix.
//!
//! A shard is cut into blocks that are read, not mapped: one that is cut short or overwritten while
//! somebody fits ends in a sentence, not in a signal. What a shard was when it was opened (its length
//! and when it was last written) is looked at with every block.

mod any;
mod array;
mod triple;

pub use any::AnyShards;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fairer_nmf::Error;
use fairer_nmf::data::Element;
use fairer_nmf::rows::{Block, BlockSource};

use super::error::InputError;
use super::matrix::{DenseView, Matrix};
use super::options::{Format, Precision};
use super::room::{InputLimit, Room};
use super::{folder, npz};
use array::{Array, Stamp, narrowed};
use triple::Triple;

/// Of the memory that a fit may take, what one block takes at the most.
const BLOCKS_IN_MEMORY: usize = 16;
/// A block that is larger is no faster.
const LARGEST_BLOCK: usize = 32 << 20;
/// What a block has at the least where that fits: bytes, which stay in a processor's own memory from being read to being worked
/// on, and rows, beside which the sums of a block cost little.
const SMALLEST_BLOCK: usize = 1 << 20;
const BLOCK_ROWS: usize = 2048;

/// A matrix in files.
pub struct Shards<T> {
    files: Vec<Shard>,
    features: usize,
    blocks: Vec<Piece>,
    block_rows: Vec<usize>,
    /// Bytes of a block at the most, but for packed ones.
    largest: usize,
    /// What an archive may unpack to.
    limit: InputLimit,
    /// Entries that were too small for T, and the blocks that they were counted in: the first so many.
    vanished: AtomicUsize,
    counted: AtomicUsize,
    number: std::marker::PhantomData<T>,
}

/// One file, as it was when it was opened, or three.
#[derive(Clone)]
struct Shard {
    path: String,
    rows: usize,
    columns: usize,
    single: bool,
    form: Form,
}

/// How the rows of a shard lie.
#[derive(Clone)]
enum Form {
    /// One after the other.
    Npy(Array),
    /// Packed: read as a whole.
    Npz(Stamp),
    /// Sparse, in three arrays.
    Csr(Box<Triple>),
}

/// Rows of a shard that are read together.
#[derive(Clone, Copy)]
struct Piece {
    file: usize,
    first: usize,
    rows: usize,
}

/// Opens matrices whose rows follow each other, to be read in blocks that leave most of `memory` (bytes) to others: `.npy` or small
/// `.npz` files, folders of such shards, folders of `data.npy`, `indices.npy` and `indptr.npy`.
///
/// # Errors
/// Files that are not what they should be, or do not go together; rows or shards that are too large for
/// the memory. What an archive unpacks to is held against `limit` when it is read.
pub fn open_shards(
    paths: &[String],
    memory: usize,
    precision: Precision,
    limit: InputLimit,
) -> Result<AnyShards, InputError> {
    let files = paths.iter().map(|path| Shard::all(path)).collect::<Result<Vec<_>, _>>()?.concat();
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
        true => AnyShards::F32(Arc::new(Shards::new(files, memory, limit)?)),
        false => AnyShards::F64(Arc::new(Shards::new(files, memory, limit)?)),
    })
}

/// Whether a folder holds shards, rather than documents in sub-folders.
pub fn is_shard_folder(path: &str) -> bool {
    Path::new(path).is_dir() && in_folder(path).is_ok()
}

/// Whether a folder holds the three arrays of a sparse matrix, which are then what is read of it.
pub(crate) fn has_arrays(folder: &str) -> bool {
    Triple::is_in(folder)
}

/// The shards of a folder in order.
pub(crate) fn in_folder(folder: &str) -> Result<Vec<String>, InputError> {
    let found = folder::shards(Path::new(folder))?;
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
    /// One file, the shards of a folder, or the three arrays in it.
    fn all(path: &str) -> Result<Vec<Self>, InputError> {
        match Format::of(path) {
            Some(Format::Npy | Format::Npz) => Ok(vec![Self::open(path)?]),
            Some(Format::Folder) => match Triple::of(path)? {
                Some(triple) => Ok(vec![Self::csr(path, triple)]),
                None => in_folder(path)?.iter().map(|path| Self::open(path)).collect(),
            },
            _ => Err(InputError::OptionDoesNotApply {
                option: "--memory",
                path: path.into(),
                why: "block by block are read .npy and .npz, a folder of such shards, a folder with data.npy, indices.npy and indptr.npy, .csv and .parquet",
            }),
        }
    }

    fn open(path: &str) -> Result<Self, InputError> {
        if Format::of(path) == Some(Format::Npz) {
            let (file, stamp) = Stamp::open(path)?;
            let (rows, columns, single) = npz::shape(path, &file)?;
            return Ok(Self { path: path.into(), rows, columns, single, form: Form::Npz(stamp) });
        }
        let array = Array::open(path)?;
        let (rows, columns) = array.header.matrix_shape(path)?;
        if array.header.fortran {
            return Err(InputError::Unsupported {
                path: path.into(),
                what: "a matrix in column order, whose rows do not lie together".into(),
                fix: "save it with numpy.save(path, numpy.ascontiguousarray(X))".into(),
            });
        }
        let single = array.header.is_single();
        Ok(Self { path: path.into(), rows, columns, single, form: Form::Npy(array) })
    }

    fn csr(folder: &str, triple: Triple) -> Self {
        let (rows, columns, single) = (triple.rows, triple.columns, triple.is_single());
        Self { path: folder.into(), rows, columns, single, form: Form::Csr(Box::new(triple)) }
    }

    /// The number of rows of every block of at most so many bytes, with values of so many.
    fn blocks(&self, bytes: usize, width: usize) -> Result<Vec<usize>, InputError> {
        let too_small = |row: usize| InputError::BadOption {
            option: "--memory",
            what: format!(
                "a row of {} has {row} bytes: give at least {} bytes",
                self.path,
                row.saturating_mul(BLOCKS_IN_MEMORY)
            ),
        };
        // Files may declare any number of columns.
        let row = self.columns.saturating_mul(width);
        if bytes < row {
            return Err(too_small(row));
        }
        match &self.form {
            Form::Npy(_) => {
                // Neither columns nor bytes of a number are none.
                let at_once = bytes / row;
                Ok((0..self.rows).step_by(at_once).map(|at| at_once.min(self.rows - at)).collect())
            }
            Form::Npz(stamp) => {
                let packed = stamp.length as usize;
                let most = bytes * (BLOCKS_IN_MEMORY / 4);
                match packed <= most {
                    true => Ok(vec![self.rows]),
                    false => Err(InputError::BadOption {
                        option: "--memory",
                        what: format!(
                            "{} has {packed} bytes and is read as a whole: give at least {}, or save smaller shards",
                            self.path,
                            4 * packed
                        ),
                    }),
                }
            }
            Form::Csr(triple) => triple
                .blocks(bytes, width)?
                .ok_or_else(|| too_small(self.columns.saturating_mul(width + 4))),
        }
    }
}

impl<T: Element> Shards<T> {
    fn new(files: Vec<Shard>, memory: usize, limit: InputLimit) -> Result<Self, InputError> {
        let features = files[0].columns;
        let bytes = memory / BLOCKS_IN_MEMORY;
        let enough = (BLOCK_ROWS * size_of::<T>()).saturating_mul(features).max(SMALLEST_BLOCK);
        let largest = bytes.min(LARGEST_BLOCK).min(enough);
        let mut blocks = Vec::new();
        for (file, shard) in files.iter().enumerate() {
            let most = match shard.form {
                Form::Npz(_) => bytes,
                _ => largest,
            };
            let mut first = 0;
            for rows in shard.blocks(most, size_of::<T>())? {
                blocks.push(Piece { file, first, rows });
                first += rows;
            }
        }
        let block_rows = blocks.iter().map(|b| b.rows).collect();
        Ok(Self {
            files,
            features,
            blocks,
            block_rows,
            limit,
            largest,
            vanished: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            number: std::marker::PhantomData,
        })
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.block_rows.iter().sum()
    }

    fn read_npz(&self, stamp: &Stamp, into: &mut Block<T>) -> Result<usize, Error> {
        let mut bytes = Vec::with_capacity(stamp.length as usize);
        stamp.again()?.read_to_end(&mut bytes).map_err(|e| stamp.lost(&e.to_string()))?;
        let room = Room::new(&stamp.path, bytes.len(), self.limit);
        let read = npz::read(room, &bytes, None, Precision::Stored);
        into.values.clear();
        into.starts.clear();
        into.columns.clear();
        Ok(match read.map_err(|e| Error::Rows { reason: e.to_string() })?.0 {
            Matrix::Sparse(sparse) => {
                into.starts = sparse.indptr;
                into.columns = sparse.indices;
                narrowed(sparse.values.into_iter(), &mut into.values)
            }
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F32(view) => {
                    narrowed(view.iter().map(|&v| f64::from(v)), &mut into.values)
                }
                DenseView::F64(view) => narrowed(view.iter().copied(), &mut into.values),
            },
        })
    }
}

impl<T: Element> BlockSource<T> for Shards<T> {
    fn features(&self) -> usize {
        self.features
    }

    fn block_rows(&self) -> &[usize] {
        &self.block_rows
    }

    fn block_bytes(&self) -> usize {
        let packed = |shard: &Shard| match &shard.form {
            // Some ten times as large when it is unpacked.
            Form::Npz(stamp) => {
                Some((10 * stamp.length as usize).min(shard.rows * shard.columns * size_of::<T>()))
            }
            _ => None,
        };
        let packed = self.files.iter().filter_map(packed).max().unwrap_or(0);
        let dense =
            self.block_rows.iter().max().copied().unwrap_or(0) * self.features * size_of::<T>();
        packed.max(self.largest.min(dense))
    }

    fn read(&self, block: usize, into: &mut Block<T>) -> Result<(), Error> {
        let piece = self.blocks[block];
        let shard = &self.files[piece.file];
        let vanished = match &shard.form {
            Form::Npy(array) => {
                into.starts.clear();
                let (first, count) = (piece.first * self.features, piece.rows * self.features);
                array.numbers(first, count, &mut into.values)?
            }
            Form::Npz(stamp) => self.read_npz(stamp, into)?,
            Form::Csr(triple) => triple.read(piece.first, piece.rows, into)?,
        };
        // All blocks are read in order, again and again: each counts the first time.
        if self.counted.compare_exchange(block, block + 1, Relaxed, Relaxed).is_ok() {
            self.vanished.fetch_add(vanished, Relaxed);
        }
        Ok(())
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
