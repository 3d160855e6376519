//! One read for all that is asked: every block goes to every question in turn.

use super::store::Store;
use super::{Block, Core, View};
use crate::data::{Group, GroupedData};
use crate::dictionary::Dictionary;
use crate::kernel::tiles::Tiles;
use crate::rows::digest::digest;
use crate::rows::moments::InMemory;
use crate::rows::pass::{self, Prepared, Workers};
use crate::rows::{Element, RowStep};
use crate::statistics::Statistics;
use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A question, from whom.
pub(super) struct Ask<T> {
    pub view: Arc<View>,
    pub w: Arc<Mutex<Store<T>>>,
    pub rank: usize,
    pub what: What,
}

/// What is asked.
pub(super) enum What {
    Pass {
        h: Dictionary,
        step: RowStep,
    },
    /// Squared errors of one group in all, or of every row.
    Errors {
        h: Dictionary,
        group: Option<usize>,
    },
    /// The Gram matrix of every group.
    Grams,
    /// What tells the data from others.
    Digest,
}

/// The answers, in the order of the variants of [`What`].
pub(super) enum Answer {
    Statistics(Vec<Statistics>),
    Errors(Vec<Vec<f64>>),
    Grams(Vec<Vec<f64>>),
    Digest(u64),
}

/// A question with what was summed so far.
struct Work<T> {
    ask: Ask<T>,
    sums: Sums<T>,
}

enum Sums<T> {
    Pass { prepared: Prepared<T>, total: Vec<Statistics>, workers: Workers<T> },
    Errors(Vec<Vec<f64>>),
    Grams(Vec<Tiles>),
    Digest(u64),
}

impl<T: Element> Core<T> {
    pub fn serve(&self, asks: Vec<Ask<T>>) -> Result<Vec<Answer>> {
        let mut work: Vec<Work<T>> = asks.into_iter().map(|ask| Work::new(ask, self)).collect();
        self.each_block(|number, block| {
            let everyone: Vec<usize> = (0..self.groups.names.len()).collect();
            let rows = self.rows_of(number, &everyone);
            work.par_iter_mut().try_for_each(|work| work.take(self, number, block, &rows))
        })?;
        work.into_iter().map(|work| work.answer(self)).collect()
    }

    fn spare(&self) -> MutexGuard<'_, Option<Workers<T>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Element> Work<T> {
    fn new(ask: Ask<T>, core: &Core<T>) -> Self {
        let groups = ask.view.groups.len();
        let sums = match &ask.what {
            What::Pass { h, .. } => Sums::Pass {
                prepared: Prepared::new(h, ask.view.scale.as_deref(), core.sparse),
                total: vec![Statistics::zero(h.rank, h.features); groups],
                workers: core.spare().take().unwrap_or_default(),
            },
            What::Errors { .. } => Sums::Errors(vec![Vec::new(); groups]),
            What::Grams => Sums::Grams(vec![Tiles::zero(core.features); groups]),
            What::Digest => Sums::Digest(0),
        };
        Self { ask, sums }
    }

    /// Adds a block; `rows`: of every group those in the block.
    fn take(
        &mut self,
        core: &Core<T>,
        number: usize,
        block: &Block<T>,
        rows: &[Vec<usize>],
    ) -> Result<()> {
        let view = &self.ask.view;
        let here = view.before[number]..view.before[number + 1];
        if here.is_empty() {
            return Ok(());
        }
        let count = core.firsts[number + 1] - core.firsts[number];
        let matrix = block.matrix(count, core.features);
        let groups = view.members.iter().zip(&view.groups).map(|(&l, g)| Group {
            name: String::new(),
            family: None,
            rows: rows[l].clone(),
            squared_norm: g.squared_norm,
        });
        let data = GroupedData::of_block(matrix, groups.collect(), view.scale.clone());
        let r = self.ask.rank;
        let range = here.start * r..here.end * r;
        let mut w = self.ask.w.lock().unwrap_or_else(PoisonError::into_inner);
        match (&mut self.sums, &self.ask.what) {
            (Sums::Pass { prepared, total, workers }, What::Pass { step, .. }) => {
                let write = *step != RowStep::Keep;
                w.with(range, write, |w| pass::add(&data, prepared, *step, w, total, workers))
            }
            (Sums::Errors(found), What::Errors { h, group }) => w.with(range, false, |w| {
                let mut rest = &*w;
                for (l, found) in found.iter_mut().enumerate() {
                    let (own, others) = rest.split_at(data.groups()[l].rows.len() * r);
                    rest = others;
                    match group {
                        None => found.extend(pass::row_squared_errors(&data, l, h, own)),
                        Some(one) if *one == l => {
                            let sum: f64 = pass::row_squared_errors(&data, l, h, own).iter().sum();
                            found.resize(1, 0.0);
                            found[0] += sum;
                        }
                        Some(_) => {}
                    }
                }
            }),
            (Sums::Grams(tiles), What::Grams) => {
                let block = InMemory::new(&data);
                tiles.iter_mut().enumerate().for_each(|(l, tiles)| block.add_gram(l, tiles));
                Ok(())
            }
            (Sums::Digest(sum), What::Digest) => {
                *sum = sum.wrapping_add(digest(&data, core.firsts[number] as u64));
                Ok(())
            }
            _ => unreachable!("`Work::new` looks at the same question"),
        }
    }

    fn answer(self, core: &Core<T>) -> Result<Answer> {
        Ok(match self.sums {
            Sums::Pass { mut total, workers, .. } => {
                *core.spare() = Some(workers);
                let view = &self.ask.view;
                let norms = view.groups.iter().map(|g| g.squared_norm);
                pass::finish(view.scale.as_deref(), norms, &mut total);
                if total.iter().any(|s| !s.is_finite()) {
                    return Err(Error::NotFinite { what: "the statistics" });
                }
                Answer::Statistics(total)
            }
            Sums::Errors(found) => Answer::Errors(found),
            Sums::Grams(tiles) => Answer::Grams(tiles.into_iter().map(|t| t.to_dense()).collect()),
            Sums::Digest(sum) => Answer::Digest(sum),
        })
    }
}
