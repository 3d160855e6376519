//! How W came about, where one dictionary tells it.
//!
//! Exact rows are a function of X and H alone, so that a checkpoint can do without W: who holds the rows
//! elsewhere makes it anew. What stands for other rows is said where [`Recipe`](super::request::Recipe)
//! says it. Rows in a soft beginning depend on several dictionaries: they have no origin.

use super::request::{Begin, Trail};
use super::{RowStart, RowStep, Rows};
use crate::Result;
use crate::dictionary::Dictionary;

/// A start, and the step after which W is what it is.
#[derive(Clone, Debug)]
pub struct Origin {
    pub(crate) begin: Begin,
    pub(crate) step: RowStep,
    pub(crate) dictionary: Dictionary,
    /// Whether W is not quite this: it depends on its whole path.
    pub(crate) stands_in: bool,
}

impl Origin {
    /// Makes W anew.
    pub(crate) fn make(&self, rows: &mut dyn Rows) -> Result<()> {
        let start = match self.begin {
            Begin::Zero => RowStart::Zero,
            Begin::Random { seed, restart } => RowStart::Random { seed, restart },
        };
        rows.begin(self.dictionary.rank, start)?;
        rows.pass(&self.dictionary, self.step).map(drop)
    }
}

/// What a holder remembers of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// None of a W that was given.
    begin: Option<Begin>,
    made: Option<Origin>,
}

impl Trace {
    pub fn begin(start: RowStart<'_>) -> Self {
        Self { begin: Begin::of(start).ok(), made: None }
    }

    /// W is another, of the same start.
    pub fn forget(&mut self) {
        self.made = None;
    }

    pub fn note(&mut self, h: &Dictionary, step: RowStep) {
        let (step, from_start, stands_in) = match Trail::of(step) {
            Trail::Stays => return,
            Trail::Goes => return self.made = None,
            Trail::Becomes { step, from_start, stands_in } => (step, from_start, stands_in),
        };
        let begin = if from_start { self.begin } else { Some(Begin::Zero) };
        match (&mut self.made, begin) {
            // In the same place, pass after pass.
            (Some(made), Some(begin)) => {
                (made.begin, made.step, made.stands_in) = (begin, step, stands_in);
                made.dictionary.clone_from(h);
            }
            (made, begin) => {
                *made = begin.map(|begin| Origin { begin, step, dictionary: h.clone(), stands_in });
            }
        }
    }

    pub fn origin(&self) -> Option<&Origin> {
        self.made.as_ref()
    }
}
