//! A pass over rows with unobserved cells.
//!
//! Every row is updated for its observed features alone, with the Gram matrix of those; then its unobserved cells are filled with
//! what the factors say, and the statistics are those of the filled rows. A group's filled error is at least its observed one for
//! any dictionary, and equal to it for the one of the pass: so a dictionary that lowers filled errors, their sum or the largest of
//! the losses, lowers the observed ones (majorisation and minimisation; for the sum Srebro and Jaakkola 2003, Zhang et al. 2006).

use super::{RowStep, pass};
use crate::data::{Element, GroupedData, Table};
use crate::dictionary::Dictionary;
use crate::statistics::Statistics;
use crate::update::Scratch;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// X (k×n), rows in the order of the parts, scaled, with the unobserved cells filled.
pub(super) struct Filled<T> {
    rows: GroupedData<'static>,
    matrix: Vec<T>,
    /// The row of the data that every row is.
    origin: Vec<usize>,
}

impl<T: Element> Filled<T> {
    /// Unobserved cells are zero before the first pass.
    pub fn new(data: &GroupedData<'_>) -> Self {
        let origin: Vec<usize> = data.grouped_rows().collect();
        let mut matrix = vec![T::default(); origin.len() * data.features()];
        for (line, &row) in matrix.chunks_exact_mut(data.features()).zip(&origin) {
            // Rows of a group have a positive weight.
            let root = data.root(row);
            data.for_each_in_row(row, |j, x| line[j] = T::from_f64(x / root));
        }
        Self { rows: data.in_line(), matrix, origin }
    }

    /// Updates W, fills, and gives the statistics of the filled rows.
    pub fn pass(
        &mut self,
        data: &GroupedData<'_>,
        h: &Dictionary,
        step: RowStep,
        w: &mut [T],
    ) -> Vec<Statistics> {
        let (r, gram) = (h.rank, h.gram());
        let lines = self.matrix.par_chunks_mut(h.features);
        let origin = self.origin.par_iter();
        let added: Vec<f64> = lines
            .zip(origin)
            .zip(w.par_chunks_mut(r))
            .map_init(Room::default, |room, ((line, &row), w)| {
                let root = data.root(row);
                let gaps = data.gaps_of(row);
                if step.parts().is_some() && !data.limit.is_over() {
                    room.update(data, row, h, &gram, step, w);
                }
                let mut added = 0.0;
                for &j in gaps {
                    let j = j as usize;
                    let topics = &h.values[j * r..(j + 1) * r];
                    let value: f64 = topics.iter().zip(w.iter()).map(|(h, w)| h * w.to_f64()).sum();
                    line[j] = T::from_f64(value / root);
                    let stored = line[j].to_f64() * root;
                    added += stored * stored;
                }
                added
            })
            .collect();
        let mut norms: Vec<f64> = data.groups().iter().map(|g| g.squared_norm).collect();
        let mut whole = data.squared_norm();
        let mut place = 0;
        for part in 0..data.part_count() {
            let count = data.part_rows(part).len();
            let sum: f64 = added[place..place + count].iter().sum();
            data.for_each_group_of(part, |l| norms[l] += sum);
            whole += sum;
            place += count;
        }
        norms.push(whole);
        let shape = (self.origin.len(), h.features);
        let matrix = ArrayView2::from_shape(shape, &self.matrix).expect("made in this shape");
        let filled = self.rows.of_matrix(matrix, &norms);
        pass::run(Table::of(&filled), h, RowStep::Keep, w, &mut pass::Workers::default())
    }
}

/// Room of one thread.
#[derive(Default)]
struct Room {
    scratch: Scratch,
    gram: Vec<f64>,
    c: Vec<f64>,
    f: Vec<f64>,
}

impl Room {
    /// The update of one row, for its observed features.
    fn update<T: Element>(
        &mut self,
        data: &GroupedData<'_>,
        row: usize,
        h: &Dictionary,
        gram: &[f64],
        step: RowStep,
        w: &mut [T],
    ) {
        let Some((update, share)) = step.parts() else { return };
        let r = h.rank;
        let topics = |j: usize| &h.values[j * r..(j + 1) * r];
        let gaps = data.gaps_of(row);
        // From the smaller side: a difference of nearly everything would cancel.
        let few = 2 * gaps.len() < h.features;
        self.gram.clear();
        match few {
            true => self.gram.extend_from_slice(gram),
            false => self.gram.resize(r * r, 0.0),
        }
        let mut gaps_left = gaps.iter().copied().peekable();
        for j in 0..h.features {
            let gap = gaps_left.next_if(|&g| g as usize == j).is_some();
            if gap == few {
                let by = if few { -1.0 } else { 1.0 };
                for (line, a) in self.gram.chunks_exact_mut(r).zip(topics(j)) {
                    line.iter_mut().zip(topics(j)).for_each(|(g, b)| *g += by * a * b);
                }
            }
        }
        self.c.clear();
        self.c.resize(r, 0.0);
        let c = &mut self.c;
        data.for_each_in_row(row, |j, x| {
            c.iter_mut().zip(topics(j)).for_each(|(c, h)| *c += x * h);
        });
        self.f.clear();
        self.f.extend(w.iter().map(|v| v.to_f64()));
        if let Some(cost) = step.cost() {
            cost.clear_free(&self.gram, &mut self.f, r);
            cost.add_to_gram(&mut self.gram, r);
            self.c.iter_mut().for_each(|c| *c -= cost.l1 * data.root(row));
        }
        self.scratch.until(data.limit);
        update.apply(&self.gram, &self.c, &mut self.f, r, &mut self.scratch);
        for (w, f) in w.iter_mut().zip(&self.f) {
            *w = T::from_f64(share * f + (1.0 - share) * w.to_f64());
        }
    }
}
