//! Reading with a block in advance: while one is worked on, a thread reads and checks the next; while the last one is, the first for
//! the next time.

use super::{Block, Core};
use crate::number::Number;
use crate::{Error, Result};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Blocks in memory: one that is worked on, one that is ready, one that is being read.
pub(super) const IN_FLIGHT: usize = 3;

impl<T: Number> Core<T> {
    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.firsts[self.blocks()]
    }

    /// The rows of some groups in a block, counted from its first.
    pub fn rows_of(&self, block: usize, members: &[usize]) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); self.groups.names.len()];
        for (row, &code) in
            self.groups.codes[self.firsts[block]..self.firsts[block + 1]].iter().enumerate()
        {
            found[code as usize].push(row);
        }
        members.iter().map(|&l| std::mem::take(&mut found[l])).collect()
    }

    /// Reads all blocks, in order, and lets `visit` see each.
    pub fn each_block(&self, mut visit: impl FnMut(usize, &Block<T>) -> Result<()>) -> Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let (ready, arrives) = sync_channel::<Result<Block<T>>>(IN_FLIGHT);
        let (free, again) = sync_channel::<Block<T>>(IN_FLIGHT);
        let mut waiting = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
        for _ in usize::from(ahead.is_some())..IN_FLIGHT {
            let buffer = waiting.pop().unwrap_or_default();
            free.send(buffer).expect("the channel has room, and its end is here");
        }
        drop(waiting);
        thread::scope(|scope| {
            let reader = move || {
                let mut ahead = ahead;
                for block in 0..self.blocks() {
                    let read = match ahead.take() {
                        Some(first) => Ok(first),
                        None => {
                            let Ok(mut buffer) = again.recv() else { return again };
                            self.read_block(block, &mut buffer).map(|()| buffer)
                        }
                    };
                    let failed = read.is_err();
                    if ready.send(read).is_err() || failed {
                        return again;
                    }
                }
                // What cannot be read is said when it is asked for.
                if self.stored > 0
                    && self.blocks() > 1
                    && let Ok(mut buffer) = again.recv()
                    && self.read_block(0, &mut buffer).is_ok()
                {
                    *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(buffer);
                }
                again
            };
            let reader = thread::Builder::new().stack_size(1 << 18).spawn_scoped(scope, reader);
            let reader = reader
                .map_err(|e| Error::Rows { reason: format!("no thread to read with: {e}") })?;
            let mut visited = Ok(());
            for block in 0..self.blocks() {
                let Ok(arrived) = arrives.recv() else { break };
                visited = arrived.and_then(|buffer| {
                    let seen = visit(block, &buffer);
                    // The reader may be done: then nobody wants the buffer.
                    let _ = free.try_send(buffer);
                    seen
                });
                if visited.is_err() {
                    break;
                }
            }
            drop((arrives, free));
            match reader.join() {
                Ok(again) => {
                    let mut waiting = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.extend(again.try_iter());
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
            visited
        })
    }

    fn read_block(&self, block: usize, buffer: &mut Block<T>) -> Result<()> {
        self.source.read(block, buffer)?;
        let (first, next) = (self.firsts[block], self.firsts[block + 1]);
        let known = self.stored > 0;
        let checked = buffer.check(first, next - first, self.features, known);
        // What was good when it was first read has changed since.
        match checked {
            Err(Error::BadEntry { row, column, value }) if known => {
                let place = self.source.describe(row, column);
                let reason = format!(
                    "{place} became {value} during the fit: the data must not change until it ends"
                );
                Err(Error::Rows { reason })
            }
            other => other,
        }
    }
}
