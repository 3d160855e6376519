//! Where the rows of a table come from, whatever its format.

use std::path::Path;

use crate::cells::{Number, Part};
use crate::delimited::{self, Visit};
use crate::error::InputError;
use crate::options::{Format, ReadOptions, delimiter_of};
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::plan::Plan;

/// The files of a folder of Parquet, as shards are ordered.
pub(super) fn parquet_files(path: &str) -> Vec<String> {
    if !Path::new(path).is_dir() {
        return Vec::new();
    }
    let found = crate::folder::shards(Path::new(path)).unwrap_or_default();
    let shown = found.into_iter().map(|path| path.display().to_string());
    shown.filter(|path| Format::of(path) == Some(Format::Parquet)).collect()
}

/// The files that a table is in.
pub(super) fn files(path: &str) -> Vec<String> {
    let parquet = parquet_files(path);
    if parquet.is_empty() { vec![path.to_owned()] } else { parquet }
}

/// Where rows come from, piece by piece.
pub(super) enum Source {
    Delimited(delimited::Stream),
    #[cfg(feature = "parquet")]
    Parquet(parquet::Stream),
}

impl Source {
    pub(super) fn open(
        path: &str,
        files: Vec<String>,
        options: &ReadOptions,
        memory: usize,
    ) -> Result<Self, InputError> {
        match options.format.or_else(|| Format::of(&files[0])) {
            Some(format @ (Format::Csv | Format::Tsv)) => {
                let delimiter = delimiter_of(format, options);
                Ok(Self::Delimited(delimited::Stream::open(path, delimiter, memory)?))
            }
            #[cfg(feature = "parquet")]
            Some(Format::Parquet) => {
                Ok(Self::Parquet(parquet::Stream::open(files, memory, options.limit)?))
            }
            #[cfg(not(feature = "parquet"))]
            Some(Format::Parquet) => Err(InputError::parquet_is_off(path)),
            _ => Err(InputError::UnknownFormat { path: path.into() }),
        }
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Delimited(stream) => stream.names(),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => stream.names(),
        }
    }

    pub(super) fn plan(&self, path: &str, options: &ReadOptions) -> Result<Plan, InputError> {
        let (notes, index): (_, &[String]) = match self {
            Self::Delimited(stream) => (stream.notes(), &[]),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => (stream.notes(), stream.index()),
        };
        let mut plan = Plan::of_frame(path, self.names(), index, options)?;
        plan.notes.extend(notes.iter().cloned());
        // A piece is small.
        plan.most = u64::MAX;
        Ok(plan)
    }

    pub(super) fn has_semicolons(&self) -> bool {
        match self {
            Self::Delimited(stream) => stream.has_semicolons(),
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => false,
        }
    }

    pub(super) fn pass<T: Number>(
        &self,
        plan: &Plan,
        visit: &mut Visit<'_, T>,
    ) -> Result<Part, InputError> {
        match self {
            Self::Delimited(stream) => stream.pass(plan, visit),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => stream.pass(plan, visit),
        }
    }
}
