//! W of a run: in memory as long as the budget allows, else in a file without a name in the folder for
//! temporary files (`TMPDIR`), which is gone when the run is.

use crate::number::Number;
use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of W that may still be kept in memory, shared by all runs.
#[derive(Debug)]
pub(super) struct Room(AtomicUsize);

impl Room {
    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(bytes)))
    }

    /// Takes some bytes, if they are there.
    fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let less = |left: usize| left.checked_sub(bytes);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.ok().map(|_| Share { of: Arc::clone(self), bytes })
    }
}

/// What was taken, given back at the end.
struct Share {
    of: Arc<Room>,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Numbers that are reached range by range.
pub(super) struct Store<T>(Kept<T>);

enum Kept<T> {
    Memory { values: Vec<T>, _share: Option<Share> },
    File { file: File, buffer: Vec<T> },
}

impl<T: Number> Store<T> {
    pub fn empty() -> Self {
        Self(Kept::Memory { values: Vec::new(), _share: None })
    }

    /// Zeros.
    pub fn zeros(count: usize, room: &Arc<Room>) -> Result<Self> {
        let bytes = count * size_of::<T>();
        if let Some(share) = room.take(bytes) {
            let values = vec![T::default(); count];
            return Ok(Self(Kept::Memory { values, _share: Some(share) }));
        }
        let made = tempfile::tempfile().and_then(|file| {
            file.set_len(bytes as u64)?;
            Ok(file)
        });
        let file = made.map_err(failed)?;
        Ok(Self(Kept::File { file, buffer: Vec::new() }))
    }

    #[cfg(test)]
    pub fn is_file(&self) -> bool {
        matches!(self.0, Kept::File { .. })
    }

    /// Lets `work` see a range, and change it where `write` says so.
    pub fn with<R>(
        &mut self,
        range: Range<usize>,
        write: bool,
        work: impl FnOnce(&mut [T]) -> R,
    ) -> Result<R> {
        match &mut self.0 {
            Kept::Memory { values, .. } => Ok(work(&mut values[range])),
            Kept::File { file, buffer } => {
                let at = SeekFrom::Start((range.start * size_of::<T>()) as u64);
                buffer.resize(range.len(), T::default());
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
                file.seek(at).and_then(|_| file.read_exact(bytes)).map_err(failed)?;
                let result = work(buffer);
                if write {
                    let bytes: &[u8] = bytemuck::cast_slice(buffer);
                    file.seek(at).and_then(|_| file.write_all(bytes)).map_err(failed)?;
                }
                Ok(result)
            }
        }
    }
}

fn failed(source: std::io::Error) -> Error {
    Error::Io { path: std::env::temp_dir(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_budget_does_not_allow_goes_to_a_file_and_comes_back() {
        let room = Room::new(100);
        let mut stores: Vec<Store<f64>> =
            (0..3).map(|_| Store::zeros(10, &room).unwrap()).collect();
        assert_eq!(stores.iter().map(Store::is_file).collect::<Vec<_>>(), [false, true, true]);
        for store in &mut stores {
            store.with(3..6, true, |w| w.copy_from_slice(&[1.0, 2.0, 3.0])).unwrap();
            let seen = store.with(2..7, false, |w| w.to_vec()).unwrap();
            assert_eq!(seen, [0.0, 1.0, 2.0, 3.0, 0.0]);
        }
        drop(stores);
        assert!(!Store::<f64>::zeros(12, &room).unwrap().is_file());
    }
}
