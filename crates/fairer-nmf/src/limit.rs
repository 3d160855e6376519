//! Until when long work goes on.
//!
//! A run looks at its deadline once an iteration. Where one iteration takes longer than the whole limit, as at a rank of a
//! thousand, what it is made of looks too: panels of rows, blocks of the dictionary, rounds of NNLS, steps of the min-max search. Once
//! the time is over, W and H stay as they are there, so that statistics and errors are still those of what is delivered; what was
//! not solved is claimed nowhere. Without a limit nothing differs.

use std::time::{Duration, Instant};

/// The end of long work, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limit(Option<Instant>);

/// What an iteration that is under way when the time is up may take at least.
const GRACE: Duration = Duration::from_millis(500);

impl Limit {
    /// No end.
    pub const NONE: Self = Self(None);

    /// The end of work that begins at `begin` and has so much time: an eighth more, so that closing rows can be made.
    pub fn of(limit: Option<Duration>, begin: Instant) -> Self {
        let end = |limit: Duration| begin.checked_add(limit)?.checked_add(GRACE.max(limit / 8));
        Self(limit.and_then(end))
    }

    /// Over from the start.
    #[cfg(test)]
    pub fn over() -> Self {
        Self(Some(Instant::now()))
    }

    /// Whether there is an end at all.
    pub fn is_some(self) -> bool {
        self.0.is_some()
    }

    /// Whether the time is up.
    pub fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}
