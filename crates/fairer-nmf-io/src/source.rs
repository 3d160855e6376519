//! The bytes of a file, whatever it is wrapped in.
//!
//! Files are read, not mapped: a mapped file that another program cuts short ends ours by a signal,
//! and one that is written over changes under a fit.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::sync::OnceLock;
use std::time::SystemTime;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::error::InputError;
use super::room::{InputLimit, Room};

/// Standard input, where it was kept: a process has one.
static KEPT: OnceLock<Vec<u8>> = OnceLock::new();

/// Reads standard input to its end and keeps it, so that `-` can be read more than once.
///
/// # Errors
/// If it cannot be read, or memory cannot hold it.
pub fn keep_standard_input() -> Result<(), InputError> {
    if KEPT.get().is_none() {
        let kept = standard_input()?;
        KEPT.get_or_init(|| kept);
    }
    Ok(())
}

fn standard_input() -> Result<Vec<u8>, InputError> {
    everything(std::io::stdin().lock(), "standard input")
}

/// All bytes of an input, unpacked, and how long its file is.
pub(crate) struct Source {
    bytes: Vec<u8>,
    stored: usize,
    limit: InputLimit,
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Source {
    /// Opens `path` (`-` is standard input) and unpacks gzip and zstd, known by their first bytes.
    pub(crate) fn open(path: &str, limit: InputLimit) -> Result<Source, InputError> {
        let raw = match (path, KEPT.get()) {
            ("-", Some(kept)) => kept.clone(),
            ("-", None) => standard_input()?,
            _ => Plain::open(path)?.read(path)?,
        };
        let stored = raw.len();
        let bytes = unpacked(path, &raw, limit)?.unwrap_or(raw);
        Ok(Source { bytes, stored, limit })
    }

    /// What the input may take, under the name that messages have for it.
    pub(crate) fn room<'a>(&self, path: &'a str) -> Room<'a> {
        Room::new(path, self.stored, self.limit)
    }
}

/// What gzip or zstd packed, known by the first bytes; nothing where it is plain.
pub(crate) fn unpacked(
    path: &str,
    raw: &[u8],
    limit: InputLimit,
) -> Result<Option<Vec<u8>>, InputError> {
    let room = Room::new(path, raw.len(), limit);
    match raw {
        [0x1f, 0x8b, ..] => unpack(MultiGzDecoder::new(raw), room, "gzip").map(Some),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack(Frames::new(raw), room, "zstd").map(Some),
        _ => Ok(None),
    }
}

/// An open file, and what it was like then.
pub(crate) struct Plain {
    file: File,
    /// Length and time of the last change, of a regular file.
    then: Option<(u64, Option<SystemTime>)>,
}

impl Plain {
    pub(crate) fn open(path: &str) -> Result<Plain, InputError> {
        let file = File::open(path).map_err(|e| InputError::io(path, e))?;
        let about = file.metadata().map_err(|e| InputError::io(path, e))?;
        Ok(Plain { file, then: stamp(&about) })
    }

    /// How long a regular file is; the system's own have no length and yet contents.
    pub(crate) fn length(&self) -> Option<u64> {
        self.then.map(|(length, _)| length).filter(|length| *length > 0)
    }

    /// The first bytes, `most` of them if there are as many.
    pub(crate) fn head(&mut self, path: &str, most: u64) -> Result<Vec<u8>, InputError> {
        let mut head = Vec::new();
        self.file.rewind().map_err(|e| InputError::io(path, e))?;
        let read = (&self.file).take(most).read_to_end(&mut head);
        read.map_err(|e| InputError::io(path, e))?;
        Ok(head)
    }

    /// Fills `out` with the bytes from `offset` on; the file must not have changed meanwhile.
    pub(crate) fn fill(
        mut self,
        path: &str,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), InputError> {
        let read = self.file.seek(SeekFrom::Start(offset));
        match read.and_then(|_| self.file.read_exact(out)) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(changed(path)),
            Err(e) => Err(InputError::io(path, e)),
            Ok(()) => self.unchanged(path),
        }
    }

    /// The whole file; it must not have changed meanwhile.
    fn read(self, path: &str) -> Result<Vec<u8>, InputError> {
        let Some(length) = self.length() else { return everything(&self.file, path) };
        let stored = usize::try_from(length).unwrap_or(usize::MAX);
        let mut bytes = Room::new(path, stored, InputLimit::default()).empty(stored)?;
        let read = (&self.file).take(length).read_to_end(&mut bytes);
        read.map_err(|e| InputError::io(path, e))?;
        match bytes.len() == stored {
            true => self.unchanged(path).map(|()| bytes),
            false => Err(changed(path)),
        }
    }

    fn unchanged(&self, path: &str) -> Result<(), InputError> {
        let about = self.file.metadata().map_err(|e| InputError::io(path, e))?;
        if stamp(&about) == self.then { Ok(()) } else { Err(changed(path)) }
    }
}

fn stamp(about: &Metadata) -> Option<(u64, Option<SystemTime>)> {
    about.is_file().then(|| (about.len(), about.modified().ok()))
}

fn changed(path: &str) -> InputError {
    InputError::Changed { path: path.into() }
}

/// What comes through a pipe or from a device, as much as the memory holds.
fn everything(reader: impl Read, path: &str) -> Result<Vec<u8>, InputError> {
    let room = Room::new(path, 0, InputLimit::bytes(u64::MAX));
    room.read(reader, "", |_, e| InputError::io(path, e))
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
        // The decoder holds as much as it is asked for at once, and panics where there is no room.
        let most = out.len().min(1 << 17);
        let out = &mut out[..most];
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

fn unpack(decoder: impl Read, room: Room<'_>, kind: &str) -> Result<Vec<u8>, InputError> {
    room.read(decoder, format!("unpacks ({kind})"), |unpacked, e| {
        InputError::damaged(
            room.path,
            format!("its {kind} data breaks off after {unpacked} unpacked bytes ({e})"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Result<Vec<u8>, InputError> {
        unpack(Frames::new(bytes), Room::new("a.zst", bytes.len(), InputLimit::default()), "zstd")
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
        assert_eq!(frames(&packed(&long)).unwrap(), long);
        assert_eq!(frames(&zstd::encode_all(&long[..], 19).unwrap()).unwrap(), long);
        // What `pzstd` and `cat` leave behind: frames in a row, some of them to be skipped.
        let skip = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let several = [&packed(b"one,")[..], &skip, &packed(b""), &packed(b"two")].concat();
        assert_eq!(frames(&several).unwrap(), b"one,two");

        let mut wrong = packed(b"one two three");
        *wrong.last_mut().unwrap() ^= 1;
        let message = frames(&wrong).unwrap_err().to_string();
        assert!(message.contains("its checksum is another"), "{message}");
        let whole = packed(&long);
        for cut in [5, whole.len() / 2, whole.len() - 1] {
            assert!(frames(&whole[..cut]).is_err(), "cut at {cut}");
        }
        assert!(frames(&[&packed(b"one")[..], &skip[..9]].concat()).is_err());
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv").display().to_string();
        let message = |change: &dyn Fn()| {
            std::fs::write(&path, "a,b\n1,2\n").unwrap();
            let plain = Plain::open(&path).unwrap();
            change();
            plain.read(&path).unwrap_err().to_string()
        };
        let expected = format!("{path} changed while it was read: run again once it is complete");
        assert_eq!(message(&|| std::fs::write(&path, "a,b\n").unwrap()), expected);
        assert_eq!(message(&|| std::fs::write(&path, "a,b\n1,2\n3,4\n").unwrap()), expected);
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        let touch =
            || File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!(message(&touch), expected);
    }
}
