//! Progress and cancellation of the audit: every part is a number of steps, told to the observer
//! of the fits as [`Progress::Audit`].

use crate::progress::{AuditPart, Observer, Progress};
use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The steps of one part, which may run side by side.
pub(crate) struct Steps<'a> {
    observer: &'a Observer<'a>,
    part: AuditPart,
    total: usize,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl<'a> Steps<'a> {
    pub fn new(part: AuditPart, total: usize, observer: &'a Observer<'a>) -> Self {
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { observer, part, total, done, stop }
    }

    /// Steps that nobody watches.
    pub fn unwatched(part: AuditPart) -> Self {
        Self::new(part, 0, &crate::silent)
    }

    /// Does one step, unless a stop was asked for before it began.
    pub fn step<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.go_on()?;
        let found = work()?;
        self.done.fetch_add(1, Ordering::Relaxed);
        // A stop is for the next step: this one is done.
        let _ = self.tell();
        Ok(found)
    }

    /// An error once a stop was asked for.
    pub fn go_on(&self) -> Result<()> {
        match self.tell() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }

    /// The observer of fits inside a step. After a stop their results are no results: ask
    /// [`Steps::go_on`].
    pub fn tell(&self) -> ControlFlow<()> {
        let (part, total) = (self.part, self.total);
        let done = self.done.load(Ordering::Relaxed);
        let stopped = self.stop.load(Ordering::Relaxed);
        if stopped || (self.observer)(&Progress::Audit { part, done, total }).is_break() {
            self.stop.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Runs the parts of an audit one by one and remembers which of them were stopped.
pub(crate) struct Parts<'a> {
    pub observer: &'a Observer<'a>,
    pub unfinished: Vec<AuditPart>,
}

impl Parts<'_> {
    /// A part of `steps` steps; none where it was not asked for.
    pub fn run<R>(
        &mut self,
        part: AuditPart,
        steps: Option<usize>,
        work: impl FnOnce(&Steps<'_>) -> Result<R>,
    ) -> Result<Option<R>> {
        let Some(total) = steps else { return Ok(None) };
        match work(&Steps::new(part, total, self.observer)) {
            Err(Error::Stopped) => {
                self.unfinished.push(part);
                Ok(None)
            }
            found => found.map(Some),
        }
    }
}
