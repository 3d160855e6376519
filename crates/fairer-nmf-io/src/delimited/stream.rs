//! A table that is read piece by piece: every piece is some whole rows, and is gone before the next.

use std::fs::File;
use std::io::{BufReader, Read};

use fairer_nmf::Note;
use flate2::read::MultiGzDecoder;
use memchr::{memchr, memchr_iter, memchr2_iter, memrchr};

use super::{Header, fill};
use crate::cells::{Number, Part, Sink};
use crate::error::InputError;
use crate::plan::{Plan, Reading};
use crate::source::check_encoding;

/// Of the memory that may be taken, what a piece and what the longest row may take: numbers of one
/// digit become 8 bytes, words some 40.
const PIECES_IN_MEMORY: usize = 64;
const LONGEST_IN_MEMORY: usize = 16;
/// A piece that is larger is no faster, and a smaller one is slow.
const LARGEST_PIECE: usize = 1 << 22;
const SMALLEST_PIECE: usize = 1 << 14;
/// What one thread parses at a time.
const CHUNK_BYTES: usize = 1 << 18;

/// A delimited table in a file, plain or packed by gzip.
pub(crate) struct Stream {
    path: String,
    header: Header,
    /// Bytes before the first row, lines of the header included.
    skip: u64,
    piece: usize,
    longest: usize,
}

/// What a pass does with the numbers of a piece and with what else its rows hold.
pub(crate) type Visit<'v, T> = dyn FnMut(Vec<T>, &mut Part) -> Result<(), InputError> + 'v;

impl Stream {
    /// Reads the header; pieces leave most of `memory` (bytes) to others.
    pub(crate) fn open(
        path: &str,
        delimiter: Option<u8>,
        memory: usize,
    ) -> Result<Self, InputError> {
        let piece = (memory / PIECES_IN_MEMORY).clamp(SMALLEST_PIECE, LARGEST_PIECE);
        let longest = (memory / LONGEST_IN_MEMORY).max(piece);
        let mut reader = opened(path)?;
        let mut bytes = Vec::new();
        let mut size = piece;
        loop {
            let ended = read_up_to(path, &mut reader, size, &mut bytes)?;
            check_encoding(path, &bytes)?;
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            let header = Header::read(path, text, delimiter)?;
            if header.end < text.len() || ended {
                let skip = (bytes.len() - text.len() + header.end) as u64;
                return Ok(Self { path: path.into(), header, skip, piece, longest });
            }
            size = longer(path, size, longest)?;
        }
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.header.names.clone()
    }

    /// What is remarkable about the header.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.header.notes
    }

    /// Whether semicolons stand between cells.
    pub(crate) fn has_semicolons(&self) -> bool {
        self.header.delimiter == b';'
    }

    /// One pass over all rows: what they made trouble with in all, without words and places. Ends
    /// early where the decimal mark has to be found first.
    pub(crate) fn pass<T: Number>(
        &self,
        plan: &Plan,
        visit: &mut Visit<'_, T>,
    ) -> Result<Part, InputError> {
        let path = &self.path;
        let mut reader = opened(path)?;
        let skipped = std::io::copy(&mut reader.by_ref().take(self.skip), &mut std::io::sink());
        skipped.map_err(|e| InputError::io(path, e))?;
        let width = if plan.reading == Reading::Looking { 0 } else { plan.numbers };
        let mut total = Sink::<T>::new(plan, &mut []).finish();
        let (mut held, mut size, mut lines) = (Vec::new(), self.piece, self.header.lines);
        loop {
            let ended = read_up_to(path, &mut reader, size, &mut held)?;
            let cut = if ended { held.len() } else { last_record_end(&held) };
            if cut == 0 && !ended {
                size = longer(path, size, self.longest)?;
                continue;
            }
            let rows = &held[..cut];
            let (mut numbers, mut part) =
                fill::<T>(plan, rows, self.header.delimiter, lines, CHUNK_BYTES)?;
            numbers.truncate(part.rows * width);
            lines += memchr_iter(b'\n', rows).count() as u64;
            held.drain(..cut);
            size = self.piece.max(held.len() + 1);
            visit(numbers, &mut part)?;
            if total.count(part, plan)? || ended {
                return Ok(total);
            }
        }
    }
}

fn opened(path: &str) -> Result<Box<dyn Read>, InputError> {
    let failed = |e| InputError::io(path, e);
    let mut file = File::open(path).map_err(failed)?;
    let mut start = Vec::new();
    (&mut file).take(4).read_to_end(&mut start).map_err(failed)?;
    let again = File::open(path).map_err(failed)?;
    match start[..] {
        [0x1f, 0x8b, ..] => Ok(Box::new(MultiGzDecoder::new(BufReader::new(again)))),
        [0x28, 0xb5, 0x2f, 0xfd] => Err(InputError::Unsupported {
            path: path.into(),
            what: "a table that zstd packed, which is not read in pieces".into(),
            fix: "unpack it first, or pack it with gzip".into(),
        }),
        _ => Ok(Box::new(again)),
    }
}

/// Reads until there are `size` bytes; whether the file ended before.
fn read_up_to(
    path: &str,
    reader: &mut dyn Read,
    size: usize,
    bytes: &mut Vec<u8>,
) -> Result<bool, InputError> {
    let more = size.saturating_sub(bytes.len());
    let read = reader.take(more as u64).read_to_end(bytes);
    Ok(read.map_err(|e| InputError::io(path, e))? < more)
}

/// A piece that no row has ended in is read on.
fn longer(path: &str, size: usize, longest: usize) -> Result<usize, InputError> {
    match size < longest {
        true => Ok((2 * size).min(longest)),
        false => Err(InputError::BadOption {
            option: "--memory",
            what: format!(
                "a line of {path} is longer than {longest} bytes, or a quote in it is never closed: mend it, or give more than {} bytes",
                size * LONGEST_IN_MEMORY
            ),
        }),
    }
}

/// After the last line end outside quotes; 0 where there is none.
fn last_record_end(bytes: &[u8]) -> usize {
    if memchr(b'"', bytes).is_none() {
        return memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    }
    let (mut quoted, mut end) = (false, 0);
    for at in memchr2_iter(b'"', b'\n', bytes) {
        match bytes[at] {
            b'"' => quoted = !quoted,
            _ if !quoted => end = at + 1,
            _ => {}
        }
    }
    end
}
