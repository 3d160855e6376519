//! The bytes of a file, whatever it is wrapped in.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;

use flate2::read::MultiGzDecoder;
use memmap2::Mmap;

use super::error::InputError;

/// All bytes of an input: mapped where the file is plain, in memory where it was unpacked.
pub(crate) enum Source {
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Source::Mapped(map) => map,
            Source::Memory(bytes) => bytes,
        }
    }
}

impl Source {
    /// Opens `path` (`-` is standard input) and unpacks gzip and zstd, known by their first bytes.
    pub(crate) fn open(path: &str) -> Result<Source, InputError> {
        let raw = if path == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .map_err(|e| InputError::io("standard input", e))?;
            Source::Memory(bytes)
        } else {
            map(path)?
        };
        let unpacked = match &raw[..] {
            [0x1f, 0x8b, ..] => unpack(MultiGzDecoder::new(&raw[..]), path, "gzip")?,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                let decoder = zstd::Decoder::new(&raw[..]).map_err(|e| InputError::io(path, e))?;
                unpack(decoder, path, "zstd")?
            }
            _ => return Ok(raw),
        };
        Ok(Source::Memory(unpacked))
    }
}

/// Maps a plain file, or reads it where mapping is impossible (empty, a pipe).
pub(crate) fn map(path: &str) -> Result<Source, InputError> {
    let mut file = File::open(path).map_err(|e| InputError::io(path, e))?;
    let about = file.metadata().map_err(|e| InputError::io(path, e))?;
    if about.is_file() && about.len() > 0 {
        // SAFETY: the map is read only; as with every mapped file, it must not be cut short
        // by another program while we read, which no portable program can prevent.
        if let Ok(map) = unsafe { Mmap::map(&file) } {
            return Ok(Source::Mapped(map));
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e| InputError::io(path, e))?;
    Ok(Source::Memory(bytes))
}

/// Refuses what Windows programs call Unicode, which would be read as garbage.
pub(crate) fn check_encoding(path: &str, bytes: &[u8]) -> Result<(), InputError> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(InputError::Unsupported {
            path: path.into(),
            what: "UTF-16 text".into(),
            fix: "save it as UTF-8".into(),
        }),
        _ => Ok(()),
    }
}

fn unpack(mut decoder: impl Read, path: &str, kind: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).map_err(|e| {
        let unpacked = bytes.len();
        InputError::damaged(
            path,
            format!("its {kind} data breaks off after {unpacked} unpacked bytes ({e})"),
        )
    })?;
    Ok(bytes)
}
