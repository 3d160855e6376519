//! Zip archives, from a file or from memory: one type for both, so that what unpacks them is compiled once.

use std::io::{Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

/// What bytes can be read from at any place.
pub(crate) trait Places: Read + Seek {}

impl<R: Read + Seek> Places for R {}

/// Where the bytes of an archive are.
pub(crate) type Bytes<'a> = Box<dyn Places + 'a>;

/// An open archive.
pub(crate) type Zip<'a> = ZipArchive<Bytes<'a>>;

/// Opens an archive.
pub(crate) fn open<'a>(bytes: impl Places + 'a) -> Result<Zip<'a>, ZipError> {
    ZipArchive::new(Box::new(bytes))
}
