//! One read for all that is asked: every block goes to every question in turn.

use super::store::Store;
use super::{Block, Core, View};
use crate::Result;
use crate::data::{Element, Group, GroupedData, Table};
use crate::dictionary::Dictionary;
use crate::kernel::tiles::Tiles;
use crate::rows::RowStep;
use crate::rows::digest::digest;
use crate::rows::moments::InMemory;
use crate::rows::pass::{self, Prepared, Workers};
use crate::statistics::Statistics;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A question, from whom; whoever asks keeps it too, and finds the answer in it.
pub(super) struct Ask<T> {
    pub view: Arc<View>,
    pub w: Arc<Mutex<Store<T>>>,
    pub rank: usize,
    pub question: Arc<Mutex<dyn Question<T>>>,
}

/// What is asked of all rows: sums that every block is added to.
pub(super) trait Question<T>: Send {
    fn take(&mut self, here: &Here<'_>, w: &mut Store<T>) -> Result<()>;
}

/// A block as one who asks sees it.
pub(super) struct Here<'a> {
    data: GroupedData<'a>,
    /// Where its rows are in W.
    range: Range<usize>,
    rank: usize,
    /// Its first row among all.
    first: usize,
}

/// Statistics after a step.
pub(super) struct Pass<T> {
    pub step: RowStep,
    pub prepared: Prepared<T>,
    pub total: Vec<Statistics>,
    pub workers: Workers<T>,
}

impl<T: Element> Question<T> for Pass<T> {
    fn take(&mut self, here: &Here<'_>, w: &mut Store<T>) -> Result<()> {
        let Self { step, prepared, total, workers } = self;
        let write = *step != RowStep::Keep;
        w.with(here.range.clone(), write, |w| {
            pass::add(Table::of(&here.data), prepared, *step, w, total, workers);
        })
    }
}

/// Squared errors of one group in all, or of every row of every group.
pub(super) struct Errors {
    pub h: Dictionary,
    pub group: Option<usize>,
    pub found: Vec<Vec<f64>>,
}

impl<T: Element> Question<T> for Errors {
    fn take(&mut self, here: &Here<'_>, w: &mut Store<T>) -> Result<()> {
        w.with(here.range.clone(), false, |w| {
            let mut rest = &*w;
            for (l, found) in self.found.iter_mut().enumerate() {
                let (own, others) = rest.split_at(here.data.groups()[l].rows.len() * here.rank);
                rest = others;
                let errors = || pass::row_squared_errors(&here.data, l, &self.h, own);
                match self.group {
                    None => found.extend(errors()),
                    Some(one) if one == l => {
                        let sum: f64 = errors().iter().sum();
                        found.resize(1, 0.0);
                        found[0] += sum;
                    }
                    Some(_) => {}
                }
            }
        })
    }
}

/// The Gram matrix of every group.
pub(super) struct Grams(pub Vec<Tiles>);

impl<T: Element> Question<T> for Grams {
    fn take(&mut self, here: &Here<'_>, _: &mut Store<T>) -> Result<()> {
        let block = InMemory::new(&here.data);
        self.0.iter_mut().enumerate().for_each(|(l, tiles)| block.add_gram(l, tiles));
        Ok(())
    }
}

/// What tells the data from others.
pub(super) struct Digest(pub u64);

impl<T: Element> Question<T> for Digest {
    fn take(&mut self, here: &Here<'_>, _: &mut Store<T>) -> Result<()> {
        self.0 = self.0.wrapping_add(digest(&here.data, here.first as u64));
        Ok(())
    }
}

impl<T: Element> Core<T> {
    pub fn serve(&self, asks: &[Ask<T>]) -> Result<()> {
        self.each_block(|number, block| {
            let everyone: Vec<usize> = (0..self.groups.names.len()).collect();
            let rows = self.rows_of(number, &everyone);
            asks.par_iter().try_for_each(|ask| ask.take(self, number, block, &rows))
        })
    }

    pub fn spare(&self) -> MutexGuard<'_, Option<Workers<T>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Element> Ask<T> {
    /// Adds a block; `rows`: of every group those in the block.
    fn take(
        &self,
        core: &Core<T>,
        number: usize,
        block: &Block<T>,
        rows: &[Vec<usize>],
    ) -> Result<()> {
        let view = &self.view;
        let range = view.before[number]..view.before[number + 1];
        if range.is_empty() {
            return Ok(());
        }
        let first = core.firsts[number];
        let matrix = block.matrix(core.firsts[number + 1] - first, core.features);
        let groups = view.members.iter().zip(&view.groups).map(|(&l, g)| Group {
            name: String::new(),
            family: None,
            rows: rows[l].clone(),
            squared_norm: g.squared_norm,
        });
        let data = GroupedData::of_block(matrix.into(), groups.collect(), view.scale.clone());
        let rank = self.rank;
        let here = Here { data, range: range.start * rank..range.end * rank, rank, first };
        let mut w = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        let mut question = self.question.lock().unwrap_or_else(PoisonError::into_inner);
        question.take(&here, &mut w)
    }
}
