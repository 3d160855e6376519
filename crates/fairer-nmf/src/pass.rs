//! The pass: the one place that touches rows.
//!
//! Block by block it forms X_bHᵀ, updates W_b, and adds W_bᵀW_b and W_bᵀX_b to the statistics of
//! the block's group. X is read once, and a block is still in cache for its second product.

mod dense;
mod sparse;

use crate::data::{GroupedData, Matrix, sum_in_chunks};
use crate::dictionary::{Dictionary, add_gram};
use crate::statistics::Statistics;
use crate::update::{Scratch, Update};
use crate::{Element, GroupedData as Data};
use rayon::prelude::*;

/// Rows of a panel: both products of a panel run while it is in the second-level cache.
pub(crate) const PANEL: usize = 64;
/// Chunks the rows are cut into, beyond one per group. Fixed, so that sums come in the same
/// order for any number of threads.
const CHUNKS: usize = 16;
/// Multiplications below which a pass stays on one thread: waking others costs more.
const WORTH_SHARING: usize = 200_000;

/// What a pass does with the rows of W before it forms the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowStep {
    /// Leave W as it is.
    Keep,
    /// Update it for the given dictionary.
    Update(Update),
}

/// A run of rows of one group.
struct Chunk {
    group: usize,
    /// Range in the group's list of rows.
    rows: std::ops::Range<usize>,
}

fn chunks<T: Element>(data: &Data<'_, T>) -> Vec<Chunk> {
    let total: usize = data.groups.iter().map(|g| g.rows.len()).sum();
    let size = total.div_ceil(CHUNKS).next_multiple_of(PANEL);
    let mut chunks = Vec::new();
    for (group, g) in data.groups.iter().enumerate() {
        for start in (0..g.rows.len()).step_by(size) {
            chunks.push(Chunk { group, rows: start..(start + size).min(g.rows.len()) });
        }
    }
    chunks
}

/// The dictionary as the products need it, in the number type of the data.
pub(crate) struct Prepared<T> {
    rank: usize,
    features: usize,
    /// diag(scale)·Hᵀ, n×r.
    scaled: Vec<T>,
    gram: Vec<f64>,
}

impl<T: Element> Prepared<T> {
    pub fn new(h: &Dictionary, scale: Option<&[f64]>) -> Self {
        let r = h.rank;
        let scaled = match scale {
            None => h.values.iter().map(|&v| T::from_f64(v)).collect(),
            Some(scale) => h
                .values
                .chunks_exact(r)
                .zip(scale)
                .flat_map(|(row, &s)| row.iter().map(move |&v| T::from_f64(v * s)))
                .collect(),
        };
        Self { rank: r, features: h.features, scaled, gram: h.gram() }
    }
}

/// One panel's buffers and one chunk's sums, reused from chunk to chunk by a thread.
struct Worker<T> {
    scratch: Scratch,
    /// X_bHᵀ and W_b of the panel in f64, PANEL×r.
    product: Vec<f64>,
    rows: Vec<f64>,
    dense: dense::Buffers<T>,
    sparse: sparse::Buffers,
    gram: Vec<f64>,
}

impl<T: Element> Worker<T> {
    fn new(rank: usize) -> Self {
        Self {
            scratch: Scratch::default(),
            product: vec![0.0; PANEL * rank],
            rows: vec![0.0; PANEL * rank],
            dense: dense::Buffers::default(),
            sparse: sparse::Buffers::default(),
            gram: vec![0.0; rank * rank],
        }
    }

    /// Runs one chunk; `w` holds its rows of W (k×r).
    fn run(
        &mut self,
        data: &GroupedData<'_, T>,
        chunk: &Chunk,
        h: &Prepared<T>,
        step: RowStep,
        w: &mut [T],
    ) -> Statistics {
        let r = h.rank;
        let rows = &data.groups[chunk.group].rows[chunk.rows.clone()];
        self.gram.clear();
        self.gram.resize(r * r, 0.0);
        match &data.matrix {
            Matrix::Dense(_) => self.dense.begin(r, h.features),
            Matrix::Sparse(_) => self.sparse.begin(h),
        }
        for (panel, w) in rows.chunks(PANEL).zip(w.chunks_mut(PANEL * r)) {
            let k = panel.len();
            if let Matrix::Dense(x) = &data.matrix {
                self.dense.load(x, panel);
            }
            for (f, &t) in self.rows[..k * r].iter_mut().zip(w.iter()) {
                *f = t.to_f64();
            }
            if let RowStep::Update(update) = step {
                let product = &mut self.product[..k * r];
                match &data.matrix {
                    Matrix::Dense(x) => self.dense.times_dictionary(x, panel, h, product),
                    Matrix::Sparse(x) => self.sparse.times_dictionary(x, panel, r, product),
                }
                update.apply(&h.gram, product, &mut self.rows[..k * r], r, &mut self.scratch);
                for (t, f) in w.iter_mut().zip(&mut self.rows[..k * r]) {
                    *t = T::from_f64(*f);
                    // The statistics are those of W as it is stored.
                    *f = t.to_f64();
                }
            }
            add_gram(&mut self.gram, &self.rows[..k * r], r);
            match &data.matrix {
                Matrix::Dense(x) => self.dense.add_cross(x, panel, w, r),
                Matrix::Sparse(x) => self.sparse.add_cross(x, panel, &self.rows[..k * r], r),
            }
        }
        let mut cross = match &data.matrix {
            Matrix::Dense(_) => self.dense.cross(r, h.features),
            Matrix::Sparse(_) => self.sparse.cross(r, h.features),
        };
        if let Some(scale) = &data.scale {
            for (row, &s) in cross.chunks_exact_mut(r).zip(scale) {
                row.iter_mut().for_each(|c| *c *= s);
            }
        }
        Statistics { gram: self.gram.clone(), cross, squared_norm: 0.0 }
    }
}

/// Updates W (rows in the order of the groups, Σm_ℓ×r) for `h` and returns every group's
/// statistics.
pub(crate) fn run<T: Element>(
    data: &GroupedData<'_, T>,
    h: &Dictionary,
    step: RowStep,
    w: &mut [T],
) -> Vec<Statistics> {
    let r = h.rank;
    let prepared = Prepared::new(h, data.scale());
    let chunks = chunks(data);
    let mut pieces = Vec::with_capacity(chunks.len());
    let mut rest = w;
    for chunk in chunks {
        let (piece, tail) = rest.split_at_mut(chunk.rows.len() * r);
        pieces.push((chunk, piece));
        rest = tail;
    }
    let mut total: Vec<Statistics> = data
        .groups
        .iter()
        .map(|g| Statistics { squared_norm: g.squared_norm, ..Statistics::zero(r, h.features) })
        .collect();
    // Waves bound the memory: as many chunk sums are alive as there are threads.
    let threads = rayon::current_num_threads();
    let shared = threads > 1 && work(data, r) >= WORTH_SHARING;
    let mut worker = Worker::new(r);
    for wave in pieces.chunks_mut(if shared { wave_size(threads, r, h.features) } else { 1 }) {
        let sums: Vec<Statistics> = if shared {
            wave.par_iter_mut()
                .map_init(
                    || Worker::new(r),
                    |worker, (c, w)| worker.run(data, c, &prepared, step, w),
                )
                .collect()
        } else {
            wave.iter_mut().map(|(c, w)| worker.run(data, c, &prepared, step, w)).collect()
        };
        for ((chunk, _), sum) in wave.iter().zip(&sums) {
            total[chunk.group].add(1.0, sum);
        }
    }
    total
}

/// Chunks in flight at once: all of them where their sums are small, else one per thread.
fn wave_size(threads: usize, rank: usize, features: usize) -> usize {
    const SMALL: usize = 1 << 22;
    threads.max(SMALL / (rank * features).max(1))
}

fn work<T: Element>(data: &GroupedData<'_, T>, rank: usize) -> usize {
    let rows: usize = data.groups.iter().map(|g| g.rows.len()).sum();
    match &data.matrix {
        Matrix::Dense(x) => rows * x.ncols() * rank,
        Matrix::Sparse(x) => (x.stored() + rows * rank) * rank,
    }
}

/// ‖X_i − W_iH‖² of every row, group after group, computed from the residual itself.
pub(crate) fn row_squared_errors<T: Element>(
    data: &GroupedData<'_, T>,
    group: usize,
    h: &Dictionary,
    w: &[T],
) -> Vec<f64> {
    let r = h.rank;
    let rows = &data.groups[group].rows;
    rows.par_iter()
        .with_min_len(PANEL)
        .zip(w.par_chunks_exact(r))
        .map_init(
            || vec![0.0; h.features],
            |residual, (&row, w)| {
                for (out, h) in residual.iter_mut().zip(h.values.chunks_exact(r)) {
                    *out = h.iter().zip(w).map(|(h, w)| h * w.to_f64()).sum();
                }
                data.matrix.for_each_in_row(row, |j, x| {
                    residual[j] -= x.to_f64() * data.scale.as_ref().map_or(1.0, |s| s[j]);
                });
                residual.iter().map(|v| v * v).sum()
            },
        )
        .collect()
}

/// ‖X_ℓ − W_ℓH‖² computed from the residual itself, for groups fitted almost exactly.
pub(crate) fn direct_squared_error<T: Element>(
    data: &GroupedData<'_, T>,
    group: usize,
    h: &Dictionary,
    w: &[T],
) -> f64 {
    let errors = row_squared_errors(data, group, h, w);
    let positions: Vec<usize> = (0..errors.len()).collect();
    sum_in_chunks(&positions, |i| errors[i])
}
