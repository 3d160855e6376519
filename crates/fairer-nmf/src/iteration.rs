//! One run: the loop that every method shares, what it is asked for and where it begins.
//!
//! A method is a choice of pieces (`scheme.rs`); the loop (`iterate.rs`) runs them on rows that
//! somebody else holds, and never touches one. Baselines, restarts, the trade-off and the levels of a lexicographic fit
//! are runs of it.

mod checkpoint;
mod dictionary_step;
mod iterate;
mod made;
mod measure;
mod momentum;
mod nndsvd;
mod run;
mod scheme;
pub(crate) mod start;
#[cfg(test)]
mod tests;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::Keeper;
pub(crate) use dictionary_step::exact_for;
pub(crate) use iterate::iterate;
pub(crate) use made::{Part, Run};
pub(crate) use measure::{criteria, measure};
pub(crate) use run::{Begin, Context, First, Task};
pub(crate) use scheme::{DictionaryRule, Objective, Scheme};
pub use start::Start;

use crate::Result;
use crate::init::Init;
use crate::rows::Rows;

/// One run from an initialisation: what baselines are made of.
pub(crate) fn run_once<'r>(
    mut rows: Box<dyn Rows + 'r>,
    rank: usize,
    init: &Init,
    seed: u64,
    task: &Task<'_>,
) -> Result<Run<'r>> {
    let begin = start::make(&mut *rows, rank, init, task.restart, seed)?;
    iterate(rows, begin, task)
}
