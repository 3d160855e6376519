//! How much memory an input may ask for: a file of a hundred bytes can declare two thousand million
//! rows, or unpack to a disk full of zeros.
//!
//! Whatever is sized by what a file *says* goes through a [`Room`], which refuses what is out of
//! proportion to the file and asks the system before it takes the rest.

use std::cell::Cell;
use std::fmt;
use std::io::{ErrorKind, Read};

use super::error::InputError;

/// What any input may take, however small its file.
const LEAST: u64 = 1 << 30;
/// How many times its own size a larger file may take: numbers of one digit become 8 bytes, columns
/// get names, and honest tables are packed to a fiftieth.
const TIMES: u64 = 64;
/// The same for what goes to disk as plain numbers and not to memory: columns of a few values are packed to
/// less than a bit a cell.
const TIMES_ON_DISK: u64 = 4096;

/// The most memory that an input may ask for; by default 1 GiB, or 64 times the size of its file
/// where that is more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InputLimit(Option<u64>);

impl InputLimit {
    /// So many bytes.
    pub fn bytes(bytes: u64) -> Self {
        Self(Some(bytes))
    }
}

/// What one input may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<'a> {
    pub(crate) path: &'a str,
    most: u64,
}

impl<'a> Room<'a> {
    /// For an input that is `stored` bytes long.
    pub(crate) fn new(path: &'a str, stored: usize, limit: InputLimit) -> Self {
        Self::times(TIMES, path, stored, limit)
    }

    /// For an input that is converted on disk.
    pub(crate) fn on_disk(path: &'a str, stored: usize, limit: InputLimit) -> Self {
        Self::times(TIMES_ON_DISK, path, stored, limit)
    }

    fn times(times: u64, path: &'a str, stored: usize, limit: InputLimit) -> Self {
        let otherwise = (stored as u64).saturating_mul(times).max(LEAST);
        Self { path, most: limit.0.unwrap_or(otherwise) }
    }

    /// The same for another name of the input.
    pub(crate) fn called(self, path: &str) -> Room<'_> {
        Room { path, most: self.most }
    }

    /// The most bytes.
    pub(crate) fn most(self) -> u64 {
        self.most
    }

    /// Room for so many bytes.
    pub(crate) fn of(path: &'a str, most: u64) -> Self {
        Self { path, most }
    }

    /// Refuses `count` items of `size` bytes where they are too many.
    pub(crate) fn check(
        self,
        what: impl fmt::Display,
        count: usize,
        size: usize,
    ) -> Result<(), InputError> {
        let bytes = (count as u64).saturating_mul(size as u64);
        match bytes <= self.most {
            true => Ok(()),
            false => Err(self.too_large(what, Some(bytes))),
        }
    }

    /// `rows` × `columns` zeros, where they are not too many.
    pub(crate) fn zeros<T: Clone + Default>(
        self,
        what: impl fmt::Display,
        rows: usize,
        columns: usize,
    ) -> Result<Vec<T>, InputError> {
        let count = rows.saturating_mul(columns);
        self.check(what, count, size_of::<T>())?;
        // Asked for and given back: zeros from the system itself need not be written.
        drop(self.empty::<T>(count)?);
        Ok(vec![T::default(); count])
    }

    /// Nothing yet, with room for `count` items.
    pub(crate) fn empty<T>(self, count: usize) -> Result<Vec<T>, InputError> {
        let mut items = Vec::new();
        match trying(|| items.try_reserve_exact(count)) {
            Ok(()) => Ok(items),
            Err(_) => Err(self.no_memory((count as u64).saturating_mul(size_of::<T>() as u64))),
        }
    }

    /// Everything that `reader` has, up to the limit; any other error is the caller's to explain.
    pub(crate) fn read(
        self,
        mut reader: impl Read,
        what: impl fmt::Display,
        explain: impl FnOnce(usize, std::io::Error) -> InputError,
    ) -> Result<Vec<u8>, InputError> {
        // One byte more than allowed tells that there are more; never room for twice as many.
        let most = usize::try_from(self.most).unwrap_or(usize::MAX).saturating_add(1);
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let more = bytes.len().clamp(1 << 16, 1 << 30).min(most - bytes.len());
            if trying(|| bytes.try_reserve_exact(more)).is_err() {
                return Err(self.no_memory(more as u64));
            }
            let before = bytes.len();
            let read = trying(|| reader.by_ref().take(more as u64).read_to_end(&mut bytes));
            match read {
                Err(e) if e.kind() == ErrorKind::OutOfMemory => {
                    return Err(self.no_memory(more as u64));
                }
                Err(e) => return Err(explain(bytes.len(), e)),
                Ok(_) if bytes.len() == most => return Err(self.too_large(what, None)),
                Ok(_) if bytes.len() - before < more => return Ok(bytes),
                Ok(_) => {}
            }
        }
    }

    pub(crate) fn too_large(self, what: impl fmt::Display, bytes: Option<u64>) -> InputError {
        let (path, what) = (self.path.into(), what.to_string());
        InputError::TooLarge { path, what, bytes, limit: self.most }
    }

    pub(crate) fn no_memory(self, bytes: u64) -> InputError {
        InputError::NoMemory { path: self.path.into(), bytes }
    }
}

thread_local! {
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Asks for memory in a way that can be refused.
fn trying<R>(ask: impl FnOnce() -> R) -> R {
    TRYING.set(true);
    let answer = ask();
    TRYING.set(false);
    answer
}

/// Whether this thread asks for memory in a way that can be refused: a program that ends when memory
/// runs out need not end here.
pub fn memory_can_be_refused() -> bool {
    TRYING.try_with(Cell::get).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_take_a_gibibyte_and_a_large_one_in_proportion() {
        let room = |stored| Room::new("x", stored, InputLimit::default());
        assert!(room(80).check("it", 1 << 30, 1).is_ok());
        assert!(room(80).check("it", (1 << 30) + 1, 1).is_err());
        assert!(room(1 << 30).check("it", 1 << 36, 1).is_ok());
        assert!(room(80).check("it", usize::MAX, usize::MAX).is_err());
        let raised = Room::new("x", 80, InputLimit::bytes(1 << 32));
        assert!(raised.check("it", 1 << 32, 1).is_ok());
    }

    #[test]
    fn reading_ends_at_the_limit_and_says_how_to_raise_it() {
        let room = Room::new("a.gz", 80, InputLimit::bytes(1 << 20));
        let read = |bytes: u64| {
            room.read(std::io::repeat(0).take(bytes), "it unpacks", |_, e| {
                InputError::io("a.gz", e)
            })
        };
        assert_eq!(read(1 << 20).expect("allowed").len(), 1 << 20);
        let message = read(u64::MAX).expect_err("endless").to_string();
        assert!(message.contains("--input-limit 2MiB"), "{message}");
    }

    #[test]
    fn what_the_system_does_not_have_is_an_error() {
        let room = Room::new("x", 80, InputLimit::bytes(u64::MAX));
        let error = room.zeros::<f64>("it", 1 << 40, 1 << 10).expect_err("no machine has it");
        assert!(matches!(error, InputError::NoMemory { .. }), "{error}");
        assert!(!memory_can_be_refused());
    }
}
