//! The one kernel under both updates: minimise ½⟨F, FG⟩ − ⟨C, F⟩ over F ≥ 0, row by row.
//!
//! F is k×r, G is r×r, C is k×r. Rows: F = W_b, G = HHᵀ, C = X_bHᵀ. Dictionary: F = Hᵀ,
//! G = Σ w_ℓ gram_ℓ, C = Σ w_ℓ cross_ℓᵀ.

pub mod hals;
pub mod mu;
pub mod nnls;
#[cfg(test)]
mod tests;

use crate::limit::Limit;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// How a factor is updated when the other is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Update {
    /// One multiplicative step.
    Mu,
    /// Several sweeps of hierarchical alternating least squares.
    Hals,
    /// The exact minimum.
    Nnls,
}

/// Work space of the kernels, one per thread.
#[derive(Default)]
pub(crate) struct Scratch {
    nnls: nnls::Scratch,
    mu: mu::Scratch,
    hals: hals::Scratch,
}

impl Scratch {
    /// From now on work ends then, inside a call too: rows that were not reached stay as they are.
    pub fn until(&mut self, limit: Limit) {
        self.nnls.limit = limit;
    }
}

/// Rows of a dictionary that a thread takes at once, and the work above which threads share it.
const SHARED_ROWS: usize = 256;
const WORTH_SHARING: usize = 1 << 20;

/// `solve(c, f, scratch)` over all rows, shared between threads where there are many; rows are
/// independent, so the result is the same for any number of threads. Rows that are not begun within the limit stay
/// as they are.
pub(crate) fn over_rows(
    c: &[f64],
    f: &mut [f64],
    r: usize,
    limit: Limit,
    solve: impl Fn(&[f64], &mut [f64], &mut Scratch) + Sync,
) {
    let solve = |c: &[f64], f: &mut [f64]| {
        let mut solve = |scratch: &mut Scratch| {
            scratch.until(limit);
            solve(c, f, scratch);
        };
        if r <= KEPT_RANK { SCRATCH.with_borrow_mut(solve) } else { solve(&mut Scratch::default()) }
    };
    if f.len() * r < WORTH_SHARING {
        return solve(c, f);
    }
    f.par_chunks_mut(SHARED_ROWS * r).zip(c.par_chunks(SHARED_ROWS * r)).for_each(|(f, c)| {
        if !limit.is_over() {
            solve(c, f);
        }
    });
}

/// Topics up to which a thread keeps its room, some 200 kB.
const KEPT_RANK: usize = 64;

thread_local! {
    /// Dictionaries are small and many: to make room for one takes as long as to solve it.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Update {
    /// [`Update::apply`] for a whole dictionary, shared between threads.
    pub(crate) fn apply_to_all(self, g: &[f64], c: &[f64], f: &mut [f64], r: usize, limit: Limit) {
        over_rows(c, f, r, limit, |c, f, scratch| self.apply(g, c, f, r, scratch));
    }

    /// Improves (or solves) every row of `f` (k×r) for `g` (r×r) and `c` (k×r).
    pub(crate) fn apply(
        self,
        g: &[f64],
        c: &[f64],
        f: &mut [f64],
        r: usize,
        scratch: &mut Scratch,
    ) {
        match self {
            Self::Mu => mu::step(g, c, f, r, &mut scratch.mu),
            Self::Hals => hals::sweeps(g, c, f, r, &mut scratch.hals),
            Self::Nnls => {
                nnls::solve(g, c, f, r, &mut scratch.nnls);
            }
        }
    }
}
