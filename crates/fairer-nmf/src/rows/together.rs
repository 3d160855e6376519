//! Several runs, one read.
//!
//! The runs behind the baselines differ only in their dictionaries, and so do restarts. Where a read of
//! the rows is dear, such runs go side by side, each on a thread of its own, and wait for each other at
//! every pass: once all that still go have asked, one read serves them all. The loop knows nothing of it.

use crate::{Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A holder whose reads serve several runs at once.
pub trait Gathering: Sync {
    /// How many runs of a rank on so many groups one read may serve: at least one.
    fn most(&self, rank: usize, groups: usize) -> usize;
    /// So many runs will ask from now on.
    fn join(&self, runs: usize);
    /// One of them is over.
    fn leave(&self);
    /// Serves what is asked, until all are over.
    fn attend(&self);
}

/// Stack of a run's thread: the loop keeps its numbers on the heap.
const STACK: usize = 1 << 20;

/// The results of runs 0 to `count`, side by side as far as one read may serve them.
pub(crate) fn side_by_side<R: Send>(
    gathering: &dyn Gathering,
    most: usize,
    count: usize,
    one: &(dyn Fn(usize) -> Result<R> + Sync),
) -> Result<Vec<R>> {
    let mut found = Vec::with_capacity(count);
    for first in (0..count).step_by(most.max(1)) {
        let runs = first..(first + most.max(1)).min(count);
        gathering.join(runs.len());
        let some: Vec<Result<R>> = thread::scope(|scope| {
            let started: Vec<_> = runs
                .map(|run| {
                    let over = Over(gathering);
                    let work = move || {
                        let _over = over;
                        one(run)
                    };
                    thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)
                })
                .collect();
            gathering.attend();
            let result = |thread: std::io::Result<thread::ScopedJoinHandle<'_, _>>| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|p| std::panic::resume_unwind(p)),
                Err(error) => {
                    Err(Error::Rows { reason: format!("a run could not be started: {error}") })
                }
            };
            started.into_iter().map(result).collect()
        });
        found.extend(some.into_iter().collect::<Result<Vec<R>>>()?);
    }
    Ok(found)
}

/// A run that leaves when it ends, however it ends.
struct Over<'a>(&'a dyn Gathering);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Where runs wait for each other, each with a question.
pub(crate) struct Together<A> {
    state: Mutex<State<A>>,
    changed: Condvar,
}

struct State<A> {
    /// Runs that are not over.
    runs: usize,
    asked: Vec<(u64, A)>,
    served: Vec<(u64, Result<()>)>,
    /// Number of the next question.
    next: u64,
}

impl<A> Default for Together<A> {
    fn default() -> Self {
        let state = State { runs: 0, asked: Vec::new(), served: Vec::new(), next: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<A> Together<A> {
    pub fn join(&self, runs: usize) {
        self.lock().runs += runs;
    }

    pub fn leave(&self) {
        self.lock().runs -= 1;
        self.changed.notify_all();
    }

    /// Has a question served: with those of all other runs, or at once where there are none.
    pub fn ask(&self, question: A, serve: impl FnOnce(&[A]) -> Result<()>) -> Result<()> {
        let mut state = self.lock();
        if state.runs == 0 {
            drop(state);
            return serve(&[question]);
        }
        let mine = state.next;
        state.next += 1;
        state.asked.push((mine, question));
        self.changed.notify_all();
        loop {
            if let Some(at) = state.served.iter().position(|(id, _)| *id == mine) {
                return state.served.swap_remove(at).1;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Serves until all runs are over, whenever all that still go have asked.
    pub fn attend(&self, serve: impl Fn(&[A]) -> Result<()>) {
        let mut state = self.lock();
        while state.runs > 0 {
            if state.asked.len() < state.runs {
                state = self.rest(state);
                continue;
            }
            let (ids, questions): (Vec<u64>, Vec<A>) = state.asked.drain(..).unzip();
            drop(state);
            let failed = serve(&questions).err().map(|error| error.to_string());
            let served = |id| {
                let failed = failed.clone().map(|reason| Error::Rows { reason });
                (id, failed.map_or(Ok(()), Err))
            };
            drop(questions);
            state = self.lock();
            state.served.extend(ids.into_iter().map(served));
            self.changed.notify_all();
        }
    }

    /// Waits for a change. A thread of a pool helps the pool meanwhile: the runs may need it.
    fn rest<'a>(&'a self, state: MutexGuard<'a, State<A>>) -> MutexGuard<'a, State<A>> {
        if rayon::current_thread_index().is_none() {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let a_while = Duration::from_millis(1);
        let waited = self.changed.wait_timeout(state, a_while);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        rayon::yield_now();
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
