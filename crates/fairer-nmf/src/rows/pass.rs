//! The pass: the one place that touches rows.
//!
//! Block by block it forms X_bHᵀ, updates W_b, and adds W_bᵀW_b and W_bᵀX_b to the statistics of
//! the block's group. X is read once, and a block is still in cache for its second product.

mod dense;
mod residuals;
mod sparse;
#[cfg(test)]
mod tests;

pub(crate) use residuals::row_squared_errors;

use super::RowStep;
use crate::data::{Csr, Element, GroupedData, Matrix, Table};
use crate::dictionary::{Dictionary, add_gram};
use crate::kernel::buffer::Buffer;
use crate::kernel::padded;
use crate::kernel::panel::{Packed, room};
use crate::statistics::Statistics;
use crate::update::Scratch;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Rows of a panel: both products of a panel run while it is in the second-level cache, and its
/// rows lie on fewer pages than the first level remembers.
const PANEL_ROWS: usize = 64;
/// Chunks the rows are cut into, beyond one per group. Fixed, so that sums come in the same
/// order for any number of threads.
const CHUNKS: usize = 16;
/// Multiplications that make a chunk: below, its own sums cost more than its rows.
const CHUNK_WORK: usize = 250_000;
/// And this many for every number of its sums, which are cleared, copied and added.
const WORK_PER_SUM: usize = 4;
/// Features whose sums are added by one thread; whole vectors of either type.
const PIECE: usize = 1 << 10;
/// Multiplications below which a pass stays on one thread: waking others costs more.
const WORTH_SHARING: usize = 4 * CHUNK_WORK;

/// Rows of a panel (in tests: or another number, which must not matter).
fn panel_rows() -> usize {
    #[cfg(test)]
    if let Some(rows) = tests::PANEL.get() {
        return rows;
    }
    PANEL_ROWS
}

/// A run of rows of one part: of one group, where groups do not overlap.
struct Chunk {
    part: usize,
    /// Range in the part's list of rows.
    rows: std::ops::Range<usize>,
}

fn chunks<T: Element>(data: Table<'_, '_, T>, rank: usize) -> Vec<Chunk> {
    let total = data.grouped_count();
    let least = CHUNK_WORK.max(WORK_PER_SUM * data.features() * rank);
    let count = (work(data, rank) / least).clamp(1, CHUNKS);
    // At least one: a part of the data may have no rows of its groups.
    let size = total.div_ceil(count).max(1).next_multiple_of(panel_rows());
    #[cfg(test)]
    let size = tests::CHUNK_ROWS.get().unwrap_or(size);
    let mut chunks = Vec::new();
    for part in 0..data.part_count() {
        let rows = data.part_rows(part).len();
        for start in (0..rows).step_by(size) {
            chunks.push(Chunk { part, rows: start..(start + size).min(rows) });
        }
    }
    chunks
}

/// diag(scale)·Hᵀ as the products need it, and HHᵀ.
pub(crate) struct Prepared<T> {
    rank: usize,
    features: usize,
    factor: Factor<T>,
    gram: Vec<f64>,
}

enum Factor<T> {
    Dense(Packed<T>),
    /// n rows padded to whole vectors.
    Sparse(Buffer<T>),
}

/// A matrix and the factor that is made for one of its kind.
#[derive(Clone, Copy)]
enum Pair<'d, 'a, T> {
    Dense(&'d ArrayView2<'a, T>, &'d Packed<T>),
    Sparse(&'d Csr<'a, T>, &'d Buffer<T>),
}

impl<'d, 'a, T> Pair<'d, 'a, T> {
    fn of(matrix: &'d Matrix<'a, T>, factor: &'d Factor<T>) -> Option<Self> {
        match (matrix, factor) {
            (Matrix::Dense(x), Factor::Dense(h)) => Some(Self::Dense(x, h)),
            (Matrix::Sparse(x), Factor::Sparse(h)) => Some(Self::Sparse(x, h)),
            _ => None,
        }
    }
}

impl<T: Element> Prepared<T> {
    /// For data with these factors of the features, sparse or dense.
    pub(super) fn new(h: &Dictionary, scale: Option<&[f64]>, sparse: bool) -> Self {
        let (r, n) = (h.rank, h.features);
        let scale = |j: usize| scale.map_or(1.0, |s| s[j]);
        let factor = match sparse {
            false => {
                Factor::Dense(Packed::new(r, n, |j, t| T::from_f64(h.values[j * r + t] * scale(j))))
            }
            true => {
                let mut rows = Buffer::new(n * padded(r));
                let topics = h.values.chunks_exact(r);
                for (j, (row, topics)) in rows.chunks_exact_mut(padded(r)).zip(topics).enumerate() {
                    row.iter_mut().zip(topics).for_each(|(v, t)| *v = T::from_f64(t * scale(j)));
                }
                Factor::Sparse(rows)
            }
        };
        Self { rank: r, features: n, factor, gram: h.gram() }
    }
}

/// One panel's buffers and one chunk's sums, reused from chunk to chunk.
struct Worker<T> {
    scratch: Scratch,
    /// X_bHᵀ and W_b of the panel in f64, with room for the last vectors.
    product: Vec<f64>,
    rows: Vec<f64>,
    dense: dense::Buffers<T>,
    columns: sparse::Columns,
    /// √ω·W_b, where rows have weights.
    weighted: Vec<T>,
    /// WᵀW, r rows padded, and, for sparse data, XᵀW, n rows padded.
    gram: Vec<f64>,
    cross: Buffer<f64>,
}

impl<T: Element> Worker<T> {
    fn new(rank: usize) -> Self {
        Self {
            scratch: Scratch::default(),
            product: vec![0.0; room(panel_rows(), rank)],
            rows: vec![0.0; room(panel_rows(), rank)],
            dense: dense::Buffers::default(),
            columns: sparse::Columns::default(),
            weighted: Vec::new(),
            gram: Vec::new(),
            cross: Buffer::default(),
        }
    }

    /// Runs one chunk and leaves its sums here; `w` holds its rows of W (k×r).
    fn run(
        &mut self,
        data: Table<'_, '_, T>,
        chunk: &Chunk,
        h: &Prepared<T>,
        step: RowStep,
        w: &mut [T],
    ) {
        let r = h.rank;
        let pair =
            Pair::of(data.matrix, &h.factor).expect("`Prepared` is made for matrices of this kind");
        let rows = &data.part_rows(chunk.part)[chunk.rows.clone()];
        self.gram.clear();
        self.gram.resize(r * padded(r), 0.0);
        match pair {
            Pair::Dense(..) => self.dense.begin(r, h.features),
            Pair::Sparse(..) => self.cross.reset(h.features * padded(r)),
        }
        let at_once = panel_rows();
        let costly = step.cost().map(|cost| cost.added_to(&h.gram, r));
        let gram = costly.as_ref().unwrap_or(&h.gram);
        self.scratch.until(data.limit);
        for (panel, w) in rows.chunks(at_once).zip(w.chunks_mut(at_once * r)) {
            let k = panel.len();
            // Once the time is up, W stays as it is, and the statistics are those of that.
            let step = if data.limit.is_over() { RowStep::Keep } else { step };
            match pair {
                Pair::Dense(x, _) => self.dense.load(x, panel),
                Pair::Sparse(x, _) => self.columns.load(x, panel),
            }
            self.rows.iter_mut().zip(w.iter()).for_each(|(f, t)| *f = t.to_f64());
            if let Some((update, share)) = step.parts() {
                let product = &mut self.product[..];
                match pair {
                    Pair::Dense(x, h) => self.dense.times_dictionary(x, panel, h, product),
                    Pair::Sparse(x, h) => {
                        sparse::times_dictionary((x, &self.columns), panel, h, r, product);
                    }
                }
                if data.is_weighted() {
                    times_roots(&data, panel, &mut product[..k * r], r);
                }
                if let Some(cost) = step.cost() {
                    cost.clear_free(&h.gram, &mut self.rows[..k * r], r);
                    // A row of weight ω counts as ω rows, and is seen times √ω.
                    for (&row, c) in panel.iter().zip(product.chunks_exact_mut(r)) {
                        c.iter_mut().for_each(|c| *c -= cost.l1 * data.root(row));
                    }
                }
                let (c, f) = (&product[..k * r], &mut self.rows[..k * r]);
                update.apply(gram, c, f, r, &mut self.scratch);
                if share < 1.0 {
                    for (t, f) in w.iter().zip(f.iter_mut()) {
                        *f = share * *f + (1.0 - share) * t.to_f64();
                    }
                }
                for (t, f) in w.iter_mut().zip(f) {
                    *t = T::from_f64(*f);
                    // The statistics are those of W as it is stored.
                    *f = t.to_f64();
                }
            }
            add_gram(&mut self.gram, &self.rows, k, r);
            let mut own = &*w;
            if data.is_weighted() {
                // X is as given: what its rows lack is in the other factor.
                times_roots(&data, panel, &mut self.rows[..k * r], r);
                self.weighted.clear();
                self.weighted.extend(self.rows[..k * r].iter().map(|v| T::from_f64(*v)));
                own = &self.weighted;
            }
            let (rows, cross) = (&self.rows[..], &mut self.cross[..]);
            match pair {
                Pair::Dense(x, _) => self.dense.add_cross(x, panel, own, r),
                Pair::Sparse(x, _) => sparse::add_cross((x, &self.columns), panel, rows, r, cross),
            }
        }
        if let Pair::Dense(..) = pair {
            self.dense.flush();
        }
    }

    /// Adds the chunk's sums, without padding.
    fn add_to(&self, total: &mut Statistics, h: &Prepared<T>, shared: bool) {
        let r = h.rank;
        add_rows(&self.gram, r, &mut total.gram);
        let add = |(i, total): (usize, &mut [f64])| match h.factor {
            Factor::Dense(_) => self.dense.add_to(total, i * PIECE, r),
            Factor::Sparse(_) => add_rows(&self.cross[i * PIECE * padded(r)..], r, total),
        };
        if shared && h.features > PIECE {
            total.cross.par_chunks_mut(PIECE * r).enumerate().for_each(add);
        } else {
            total.cross.chunks_mut(PIECE * r).enumerate().for_each(add);
        }
    }
}

/// Multiplies rows of r numbers by √ω of the rows of a panel.
fn times_roots(data: &GroupedData<'_>, panel: &[usize], values: &mut [f64], r: usize) {
    for (&row, values) in panel.iter().zip(values.chunks_exact_mut(r)) {
        let root = data.root(row);
        values.iter_mut().for_each(|v| *v *= root);
    }
}

/// Adds the first r numbers of every padded row.
fn add_rows(padded_rows: &[f64], r: usize, total: &mut [f64]) {
    for (total, row) in total.chunks_exact_mut(r).zip(padded_rows.chunks_exact(padded(r))) {
        total.iter_mut().zip(row).for_each(|(t, v)| *t += v);
    }
}

/// Updates W (rows in the order of the parts, each once) for `h` and returns every group's statistics;
/// where groups overlap, those of all rows together come last.
pub(crate) fn run<T: Element>(
    data: Table<'_, '_, T>,
    h: &Dictionary,
    step: RowStep,
    w: &mut [T],
    workers: &mut Workers<T>,
) -> Vec<Statistics> {
    let prepared = Prepared::new(h, data.scale(), matches!(data.matrix, Matrix::Sparse(_)));
    let whole = data.overlaps().then(|| data.squared_norm());
    let sums = data.groups.len() + usize::from(whole.is_some());
    let mut total = vec![Statistics::zero(h.rank, h.features); sums];
    add(data, &prepared, step, w, &mut total, workers);
    finish(data.scale(), data.groups.iter().map(|g| g.squared_norm).chain(whole), &mut total);
    total
}

/// Buffers that serve one pass or block after the other.
#[derive(Default)]
pub(crate) struct Workers<T> {
    rank: usize,
    all: Vec<Worker<T>>,
}

/// Updates W and adds to every group's sums, which [`finish`] makes into statistics.
pub(super) fn add<T: Element>(
    data: Table<'_, '_, T>,
    h: &Prepared<T>,
    step: RowStep,
    w: &mut [T],
    total: &mut [Statistics],
    workers: &mut Workers<T>,
) {
    let r = h.rank;
    if workers.rank != r {
        *workers = Workers { rank: r, all: Vec::new() };
    }
    let workers = &mut workers.all;
    let whole = data.overlaps().then_some(data.groups.len());
    let chunks = chunks(data, r);
    let mut pieces = Vec::with_capacity(chunks.len());
    let mut rest = w;
    for chunk in chunks {
        let (piece, tail) = rest.split_at_mut(chunk.rows.len() * r);
        pieces.push((chunk, piece));
        rest = tail;
    }
    // Waves bound the memory: as many chunk sums are alive as a wave has chunks.
    let threads = rayon::current_num_threads();
    let shared = threads > 1 && work(data, r) >= WORTH_SHARING;
    let at_once = if shared { wave_size(threads, r, h.features).min(pieces.len()) } else { 1 };
    while workers.len() < at_once {
        workers.push(Worker::new(r));
    }
    for wave in pieces.chunks_mut(at_once) {
        if shared {
            let each = wave.par_iter_mut().zip(&mut *workers);
            each.for_each(|((c, w), worker)| worker.run(data, c, h, step, w));
        } else {
            let each = wave.iter_mut().zip(&mut *workers);
            each.for_each(|((c, w), worker)| worker.run(data, c, h, step, w));
        }
        for ((chunk, _), worker) in wave.iter().zip(&*workers) {
            data.for_each_group_of(chunk.part, |l| worker.add_to(&mut total[l], h, shared));
            whole.into_iter().for_each(|l| worker.add_to(&mut total[l], h, shared));
        }
    }
}

/// Sums over all rows of the groups as statistics of scaled features.
pub(super) fn finish(
    scale: Option<&[f64]>,
    squared_norms: impl Iterator<Item = f64>,
    total: &mut [Statistics],
) {
    for (squared_norm, total) in squared_norms.zip(total) {
        total.squared_norm = squared_norm;
        let r = total.shape().0;
        if let Some(scale) = scale {
            for (row, &s) in total.cross.chunks_exact_mut(r).zip(scale) {
                row.iter_mut().for_each(|c| *c *= s);
            }
        }
    }
}

/// Chunks in flight at once: one per thread, or several each where their sums are small.
fn wave_size(threads: usize, rank: usize, features: usize) -> usize {
    const SMALL: usize = 1 << 20;
    threads * (SMALL / (rank * features * threads).max(1)).max(1)
}

fn work<T: Element>(data: Table<'_, '_, T>, rank: usize) -> usize {
    let rows = data.grouped_count();
    match data.matrix {
        Matrix::Dense(x) => rows * x.ncols() * rank,
        Matrix::Sparse(x) => (x.stored() + rows * rank) * rank,
    }
}
