//! The bytes of a file, whatever it is wrapped in.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::ops::Deref;

use flate2::read::MultiGzDecoder;
use memmap2::Mmap;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

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
            [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack(Frames::new(&raw), path, "zstd")?,
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

/// The frames of a zstd file, one after the other: there are several where parts were packed side
/// by side or put together later. Checksums are compared.
struct Frames<'a> {
    rest: &'a [u8],
    frame: Option<StreamingDecoder<&'a [u8], FrameDecoder>>,
}

impl<'a> Frames<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest, frame: None }
    }

    /// The next frame that holds data, if there is one.
    fn begin(&mut self) -> std::io::Result<bool> {
        while !self.rest.is_empty() {
            match StreamingDecoder::new(self.rest) {
                Ok(frame) => {
                    self.frame = Some(frame);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    // A magic number, the length, and what no decoder is to look at.
                    let after = usize::try_from(length).ok().and_then(|n| n.checked_add(8));
                    self.rest = after.and_then(|n| self.rest.get(n..)).ok_or_else(cut_short)?;
                }
                Err(e) => return Err(Error::new(ErrorKind::InvalidData, e.to_string())),
            }
        }
        Ok(false)
    }
}

fn cut_short() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "it ends inside a frame")
}

impl Read for Frames<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if self.frame.is_none() && !self.begin()? {
                return Ok(0);
            }
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let count = frame.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let told = frame.decoder.get_checksum_from_data();
            if told.is_some() && told != frame.decoder.get_calculated_checksum() {
                return Err(Error::new(ErrorKind::InvalidData, "its checksum is another"));
            }
            self.rest = *frame.get_ref();
            self.frame = None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, InputError> {
        unpack(Frames::new(bytes), "a.zst", "zstd")
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn zstd_files_have_frames_and_checksums() {
        // Compressible and not, longer than a window of the fastest levels.
        let mut state = 7_u32;
        let long: Vec<u8> = (0..3_000_000_u32)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if i % 3 == 0 { (state >> 24) as u8 } else { b'a' + (i % 7) as u8 }
            })
            .collect();
        assert_eq!(unpacked(&packed(&long)).unwrap(), long);
        assert_eq!(unpacked(&zstd::encode_all(&long[..], 19).unwrap()).unwrap(), long);
        // What `pzstd` and `cat` leave behind: frames in a row, some of them to be skipped.
        let skip = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let several = [&packed(b"one,")[..], &skip, &packed(b""), &packed(b"two")].concat();
        assert_eq!(unpacked(&several).unwrap(), b"one,two");

        let mut wrong = packed(b"one two three");
        *wrong.last_mut().unwrap() ^= 1;
        let message = unpacked(&wrong).unwrap_err().to_string();
        assert!(message.contains("its checksum is another"), "{message}");
        let whole = packed(&long);
        for cut in [5, whole.len() / 2, whole.len() - 1] {
            assert!(unpacked(&whole[..cut]).is_err(), "cut at {cut}");
        }
        assert!(unpacked(&[&packed(b"one")[..], &skip[..9]].concat()).is_err());
    }
}
