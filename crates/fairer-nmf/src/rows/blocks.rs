//! The holder of rows that do not fit in memory: X in blocks that are read anew for every pass, the next
//! while one is worked on; W beside it, in memory or in a file.
//!
//! Memory is a budget: about half of it for W, the rest for blocks and for the sums of the runs that one
//! read serves ([`super::together`]). What a pass does with a block is what it does with rows in memory.

mod groups;
mod moments;
mod read;
mod serve;
mod source;
mod store;
mod survey;
#[cfg(test)]
mod tests;
mod view;

pub use groups::GroupCodes;
pub use source::{Block, BlockSource};
pub use survey::FeatureScaling;

use super::origin::{Origin, Trace};
use super::pass::{self, Prepared, Workers};
use super::together::{Gathering, Together};
use super::{
    Moments, Representation, RowGroup, RowStart, RowStep, Rows, restore_rows, rising, save_rows,
};
use crate::data::{Element, own_unit, usual_unit};
use crate::dictionary::Dictionary;
#[cfg(test)]
use crate::number::Number;
use crate::random::{Purpose, Stream};
use crate::statistics::Statistics;
use crate::{Error, Result};
use moments::BlockMoments;
use ndarray::Array2;
use rayon::prelude::*;
use serve::{Ask, Digest, Errors, Pass, Question};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Room, Store};
use view::View;

/// Rows that are read block by block.
pub trait Blocks: Rows {
    /// Factor of every feature in the user's units, where features are scaled: for
    /// [`Model::scale`](crate::Model::scale).
    fn scale(&self) -> Option<&[f64]>;
    /// How often all rows were read so far, the first check included.
    fn reads(&self) -> usize;
    /// Rows, features, and entries that are stored.
    fn size(&self) -> (usize, usize, usize);
}

/// Reads everything once, to check it and to measure features and groups; `memory` is what all of it
/// may take in bytes.
///
/// # Errors
/// As [`GroupedData::new`](crate::GroupedData::new) and whatever keeps the source from its blocks;
/// also a budget that has no room for a few rows.
pub fn in_blocks<T: Element>(
    source: impl BlockSource<T> + 'static,
    groups: GroupCodes,
    scaling: &FeatureScaling,
    memory: usize,
) -> Result<Box<dyn Blocks>> {
    // Either is compiled here, whoever calls.
    fn single(source: Box<dyn BlockSource<f32>>, (g, s, m): Asked<'_>) -> Result<Box<dyn Blocks>> {
        Ok(Box::new(Held::new(source, g, s, m)?))
    }
    fn double(source: Box<dyn BlockSource<f64>>, (g, s, m): Asked<'_>) -> Result<Box<dyn Blocks>> {
        Ok(Box::new(Held::new(source, g, s, m)?))
    }
    let asked = (groups, scaling, memory);
    let source: Box<dyn BlockSource<T>> = Box::new(source);
    let source: Box<dyn Any> = Box::new(source);
    match source.downcast() {
        Ok(source) => single(*source, asked),
        Err(source) => double(*source.downcast().expect("f32 or f64"), asked),
    }
}

/// Groups, scaling of features, and memory in bytes.
type Asked<'a> = (GroupCodes, &'a FeatureScaling, usize);

/// Data in blocks, with W.
pub(super) struct Held<T: Element> {
    core: Arc<Core<T>>,
    view: Arc<View>,
    rank: usize,
    w: Arc<Mutex<Store<T>>>,
    trace: Trace,
}

/// What all views of the same data share.
struct Core<T> {
    source: Box<dyn BlockSource<T>>,
    groups: GroupCodes,
    /// First row of every block, and the number of all rows.
    firsts: Vec<usize>,
    /// Rows of every group, block after block.
    counts: Vec<Vec<usize>>,
    features: usize,
    /// Factor of every feature in the user's units.
    scale: Option<Vec<f64>>,
    sparse: bool,
    stored: usize,
    budget: usize,
    room: Arc<Room>,
    /// Buffers that wait for their next block.
    buffers: Mutex<Vec<Block<T>>>,
    /// The first block, read for the next time all are read.
    ahead: Mutex<Option<Block<T>>>,
    /// Those of one pass, which wait for the next.
    workers: Mutex<Option<Workers<T>>>,
    together: Together<Ask<T>>,
    reads: AtomicUsize,
}

impl<T: Element> Held<T> {
    /// As [`in_blocks`].
    pub fn new(
        source: Box<dyn BlockSource<T>>,
        groups: GroupCodes,
        scaling: &FeatureScaling,
        memory: usize,
    ) -> Result<Self> {
        let (core, groups) = survey::survey(source, groups, scaling, memory)?;
        let squared_norm: f64 = groups.iter().map(|g| g.squared_norm).sum();
        let by = match scaling {
            FeatureScaling::Unit => 1.0,
            _ => own_unit(core.features, squared_norm),
        };
        let members = (0..groups.len()).collect();
        let view = View::times(&core, members, &groups, 1.0, by, core.scale.as_deref());
        Ok(Self::with_view(Arc::new(core), view))
    }

    fn with_view(core: Arc<Core<T>>, view: View) -> Self {
        let w = Arc::new(Mutex::new(Store::empty()));
        Self { core, view: Arc::new(view), rank: 0, w, trace: Trace::default() }
    }

    /// What `answer` finds in a question once all rows have been through it.
    fn ask<Q: Question<T> + 'static, R>(
        &self,
        question: Q,
        answer: impl FnOnce(&mut Q) -> R,
    ) -> Result<R> {
        let question = Arc::new(Mutex::new(question));
        let ask = Ask {
            view: Arc::clone(&self.view),
            w: Arc::clone(&self.w),
            rank: self.rank,
            question: Arc::clone(&question) as Arc<Mutex<dyn Question<T>>>,
        };
        self.core.together.ask(ask, |asks| self.core.serve(asks))?;
        Ok(answer(&mut question.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn errors(&self, h: &Dictionary, group: Option<usize>) -> Result<Vec<Vec<f64>>> {
        let found = vec![Vec::new(); self.view.groups.len()];
        self.ask(Errors { h: h.clone(), group, found }, |asked| std::mem::take(&mut asked.found))
    }

    /// Lets `work` see the rows of every block and their W.
    fn each_w(
        &self,
        w: &mut Store<T>,
        rank: usize,
        write: bool,
        mut work: impl FnMut(&[usize], &mut [T]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        for block in 0..self.core.blocks() {
            let rows: Vec<usize> = self.core.rows_of(block, &self.view.members).concat();
            let range = self.view.before[block] * rank..self.view.before[block + 1] * rank;
            w.with(range, write, |w| work(&rows, w)).map_err(std::io::Error::other)??;
        }
        Ok(())
    }

    /// Lets `fill` make the rows of W: for every block its first row, the rows in it, and their W.
    fn fill(&mut self, rank: usize, fill: impl Fn(usize, &[usize], &mut [T])) -> Result<()> {
        self.rank = rank;
        let count = self.view.before[self.core.blocks()] * rank;
        // What was there before makes room first.
        let mut w = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        *w = Store::empty();
        *w = Store::zeros(count, &self.core.room)?;
        for block in 0..self.core.blocks() {
            let rows: Vec<usize> = self.core.rows_of(block, &self.view.members).concat();
            let range = self.view.before[block] * rank..self.view.before[block + 1] * rank;
            let first = self.core.firsts[block];
            w.with(range, true, |w| fill(first, &rows, w))?;
        }
        Ok(())
    }
}

impl<T: Element> Rows for Held<T>
where
    Representation: From<Array2<T>>,
{
    fn groups(&self) -> &[RowGroup] {
        &self.view.groups
    }

    fn features(&self) -> usize {
        self.core.features
    }

    fn unit(&self) -> f64 {
        self.view.unit
    }

    fn trusted_squared_error(&self) -> f64 {
        T::TRUSTED_SQUARED_ERROR
    }

    fn begin(&mut self, rank: usize, start: RowStart<'_>) -> Result<()> {
        self.trace = Trace::begin(start);
        match start {
            RowStart::Zero | RowStart::Near(_) => self.fill(rank, |_, _, _| {}),
            RowStart::Random { seed, restart } => self.fill(rank, |first, rows, w| {
                w.par_chunks_mut(rank).zip(rows).for_each(|(w, row)| {
                    let purpose = Purpose::Representation(restart);
                    let mut stream = Stream::new(seed, purpose, (first + row) as u64);
                    w.iter_mut().for_each(|w| *w = T::from_f64(stream.uniform()));
                });
            }),
            RowStart::Given(given) => self.fill(rank, |first, rows, w| {
                for (w, row) in w.chunks_exact_mut(rank).zip(rows) {
                    w.iter_mut()
                        .zip(given.row(first + row))
                        .for_each(|(w, v)| *w = T::from_f64(*v));
                }
            }),
        }
    }

    fn pass(&mut self, h: &Dictionary, step: RowStep) -> Result<Vec<Statistics>> {
        let (core, view) = (&*self.core, &*self.view);
        let pass = Pass {
            step,
            prepared: Prepared::new(h, view.scale.as_deref(), core.sparse),
            total: vec![Statistics::zero(h.rank, h.features); view.groups.len()],
            workers: core.spare().take().unwrap_or_default(),
        };
        let mut total = self.ask(pass, |asked| {
            *core.spare() = Some(std::mem::take(&mut asked.workers));
            std::mem::take(&mut asked.total)
        })?;
        let norms = view.groups.iter().map(|g| g.squared_norm);
        pass::finish(view.scale.as_deref(), norms, &mut total);
        if total.iter().any(|s| !s.is_finite()) {
            return Err(Error::NotFinite { what: "the statistics" });
        }
        self.trace.note(h, step);
        Ok(total)
    }

    fn squared_error(&self, group: usize, h: &Dictionary) -> Result<f64> {
        Ok(self.errors(h, Some(group))?.iter().flatten().sum())
    }

    fn row_squared_errors(&self, h: &Dictionary) -> Result<Vec<Vec<f64>>> {
        self.errors(h, None)
    }

    fn representation(&self) -> Result<Representation> {
        let r = self.rank;
        let mut out = Array2::from_elem((self.core.rows(), r), T::default());
        let mut w = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        for block in 0..self.core.blocks() {
            let first = self.core.firsts[block];
            let rows: Vec<usize> = self.core.rows_of(block, &self.view.members).concat();
            let range = self.view.before[block] * r..self.view.before[block + 1] * r;
            w.with(range, false, |w| {
                for (row, values) in rows.iter().zip(w.chunks_exact(r)) {
                    out.row_mut(first + row).iter_mut().zip(values).for_each(|(o, &v)| *o = v);
                }
            })?;
        }
        if out.iter().any(|v| !v.to_f64().is_finite()) {
            return Err(Error::NotFinite { what: "the representation" });
        }
        Ok(Representation::from(out))
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn origin(&self) -> Option<&Origin> {
        self.trace.origin()
    }

    fn save(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let mut w = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        self.each_w(&mut w, self.rank, false, |rows, w| save_rows(w, self.rank, rising(rows), out))
    }

    fn restore(&mut self, rank: usize, from: &mut dyn std::io::Read) -> std::io::Result<()> {
        self.trace.forget();
        self.fill(rank, |_, _, _| {}).map_err(std::io::Error::other)?;
        let mut w = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        self.each_w(&mut w, rank, true, |rows, w| restore_rows(w, rank, rising(rows), from))
    }

    fn moments(&self) -> Box<dyn Moments + '_> {
        Box::new(BlockMoments::new(self))
    }

    fn digest(&self) -> Result<u64> {
        self.ask(Digest(0), |asked| asked.0)
    }

    fn apart(&self) -> Box<dyn Rows + '_> {
        let w = Arc::new(Mutex::new(Store::empty()));
        let (core, view) = (Arc::clone(&self.core), Arc::clone(&self.view));
        Box::new(Self { core, view, rank: 0, w, trace: Trace::default() })
    }

    fn only(&self, group: usize) -> Box<dyn Rows + '_> {
        let groups = &self.view.groups[group..=group];
        let by = usual_unit(self.core.features, groups[0].squared_norm);
        let member = vec![self.view.members[group]];
        let scale = self.view.scale.as_deref();
        let view = View::times(&self.core, member, groups, self.view.unit, by, scale);
        Box::new(Self::with_view(Arc::clone(&self.core), view))
    }

    fn gathering(&self) -> Option<&dyn Gathering> {
        Some(&*self.core)
    }
}

impl<T: Element> Blocks for Held<T>
where
    Representation: From<Array2<T>>,
{
    fn scale(&self) -> Option<&[f64]> {
        self.core.scale.as_deref()
    }

    fn reads(&self) -> usize {
        self.core.reads.load(Ordering::Relaxed)
    }

    fn size(&self) -> (usize, usize, usize) {
        (self.core.rows(), self.core.features, self.core.stored)
    }
}

impl<T: Element> Gathering for Core<T> {
    fn most(&self, rank: usize, groups: usize) -> usize {
        // A run keeps the statistics of its groups some three times, and a chunk's sums while it is served.
        let run = (3 * groups + 2) * (self.features + rank) * rank * size_of::<f64>();
        (self.budget / 4 / run.max(1)).clamp(1, MOST_RUNS)
    }

    fn join(&self, runs: usize) {
        self.together.join(runs);
    }

    fn leave(&self) {
        self.together.leave();
    }

    fn attend(&self) {
        self.together.attend(|asks| self.serve(asks));
    }
}

/// Runs that share a read at the most: each has a thread.
const MOST_RUNS: usize = 64;
