//! The holder in memory: X borrowed, W beside it.
//!
//! Where rows have weights ω, both are seen times √ω ([`crate::data`]); W is handed out without it.
//!
//! The one place where the number type of the data is chosen: behind the door nothing knows it, so
//! the kernels are compiled once for f32 and once for f64, here.

use super::digest::digest;
use super::filled::Filled;
use super::moments::InMemory;
use super::origin::{Origin, Trace};
use super::{
    Held, Moments, Representation, RowGroup, RowStart, RowStep, Rows, pass, restore_rows, rising,
    save_rows,
};
use crate::data::{AnyMatrix, Element, GroupedData, Table};
use crate::dictionary::Dictionary;
use crate::random::{Purpose, Stream};
use crate::statistics::Statistics;
use crate::{Error, Result};
use ndarray::Array2;
use std::sync::Arc;

/// The units that a holder sees the data in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Those of the data.
    Given,
    /// Those of fits: ‖X‖² = n, or features of norm 1.
    Own,
    /// A power of two away from the given ones, so that f32 is never left.
    Range,
}

/// The data behind the door: the one place where their number type is looked at.
pub(crate) fn hold<'a>(data: &'a GroupedData<'_>, units: Units) -> Box<dyn Rows + 'a> {
    match data.matrix() {
        AnyMatrix::F32(_) => Box::new(Memory::<f32>::new(data, units)),
        AnyMatrix::F64(_) => Box::new(Memory::<f64>::new(data, units)),
    }
}

/// Data in memory, with W (rows in the order of the parts of the data, each once).
pub struct Memory<'a, T> {
    /// As they came, and the units that were asked for.
    given: (Arc<GroupedData<'a>>, Units),
    /// In those units.
    data: Arc<GroupedData<'a>>,
    unit: f64,
    groups: Vec<RowGroup>,
    rank: usize,
    w: Vec<T>,
    /// X with the unobserved cells filled, where there are any.
    filled: Option<Filled<T>>,
    trace: Trace,
    workers: pass::Workers<T>,
}

impl<'a, T: Element> Memory<'a, T> {
    pub fn new(data: &GroupedData<'a>, units: Units) -> Self {
        Self::of(Arc::new(data.clone()), units)
    }

    fn of(given: Arc<GroupedData<'a>>, units: Units) -> Self {
        let (data, unit) = match units {
            Units::Given => (Arc::clone(&given), 1.0),
            Units::Own => shared(given.in_own_units()),
            Units::Range => shared(given.in_range()),
        };
        Self::with_unit((given, units), data, unit)
    }

    fn with_unit(
        given: (Arc<GroupedData<'a>>, Units),
        data: Arc<GroupedData<'a>>,
        unit: f64,
    ) -> Self {
        let of_group = |g: &crate::data::Group| RowGroup {
            name: g.name.clone(),
            rows: g.rows.len(),
            squared_norm: g.squared_norm,
        };
        let groups = data.groups().iter().map(of_group).collect();
        Self {
            given,
            data,
            unit,
            groups,
            rank: 0,
            w: Vec::new(),
            filled: None,
            trace: Trace::default(),
            workers: pass::Workers::default(),
        }
    }

    /// Room for the unobserved cells, where there are any: rows that are only put under other labels need none.
    fn make_room(&mut self) {
        if self.filled.is_none() && self.data.has_gaps() {
            self.filled = Some(Filled::new(&self.data));
        }
    }

    /// ‖x_i − w_iH‖² of the rows of a part.
    fn errors_of_part(&self, part: usize, h: &Dictionary) -> Vec<f64> {
        let before: usize = (0..part).map(|p| self.data.part_rows(p).len()).sum();
        let own = self.data.part_rows(part).len();
        let w = &self.w[before * self.rank..][..own * self.rank];
        pass::row_squared_errors(&self.data, part, h, w)
    }
}

impl<T: Element> Rows for Memory<'_, T>
where
    for<'w> Held<'w>: From<&'w [T]>,
{
    fn groups(&self) -> &[RowGroup] {
        &self.groups
    }

    fn features(&self) -> usize {
        self.data.features()
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn trusted_squared_error(&self) -> f64 {
        T::TRUSTED_SQUARED_ERROR
    }

    fn begin(&mut self, rank: usize, start: RowStart<'_>) -> Result<()> {
        self.make_room();
        self.rank = rank;
        self.trace = Trace::begin(start);
        let rows = self.data.grouped_rows();
        self.w = match start {
            RowStart::Zero => vec![T::default(); rows.count() * rank],
            RowStart::Random { seed, restart } => rows
                .flat_map(|row| {
                    let purpose = Purpose::Representation(restart);
                    let mut stream = Stream::new(seed, purpose, self.data.key(row));
                    let root = self.data.root(row);
                    (0..rank).map(move |_| T::from_f64(root * stream.uniform()))
                })
                .collect(),
            RowStart::Given(w) => {
                let times = |row: usize| self.data.root(row);
                rows.flat_map(|row| (&w.row(row) * times(row)).to_vec()).map(T::from_f64).collect()
            }
            RowStart::Near(held) => {
                let mut w = held.entries();
                // A guess of another shape says nothing.
                let entries = rows.count() * rank;
                if w.len() != entries {
                    w = vec![T::default(); entries];
                }
                w
            }
        };
        Ok(())
    }

    fn pass(&mut self, h: &Dictionary, step: RowStep) -> Result<Vec<Statistics>> {
        self.trace.note(h, step);
        Ok(match &mut self.filled {
            None => pass::run(Table::of(&self.data), h, step, &mut self.w, &mut self.workers),
            Some(filled) => filled.pass(&self.data, h, step, &mut self.w),
        })
    }

    fn squared_error(&self, group: usize, h: &Dictionary) -> Result<f64> {
        let mut squared = 0.0;
        for part in 0..self.data.part_count() {
            let mut within = group == self.groups.len();
            self.data.for_each_group_of(part, |l| within |= l == group);
            if within {
                squared += self.errors_of_part(part, h).iter().sum::<f64>();
            }
        }
        Ok(squared)
    }

    fn row_squared_errors(&self, h: &Dictionary) -> Result<Vec<Vec<f64>>> {
        let by_part = (0..self.data.part_count()).map(|part| self.errors_of_part(part, h));
        if !self.data.overlaps() {
            return Ok(by_part.collect());
        }
        let mut of_row = vec![0.0; self.data.rows()];
        self.data.grouped_rows().zip(by_part.flatten()).for_each(|(row, e)| of_row[row] = e);
        let of_group = |g: &crate::data::Group| g.rows.iter().map(|&row| of_row[row]).collect();
        Ok(self.data.groups().iter().map(of_group).collect())
    }

    fn mass(&self) -> f64 {
        self.data.grouped_rows().map(|row| self.data.weight(row)).sum()
    }

    fn is_complete(&self) -> bool {
        !self.data.has_gaps()
    }

    fn overlap(&self) -> Option<f64> {
        self.data.overlaps().then(|| self.data.squared_norm())
    }

    fn representation(&self) -> Result<Representation> {
        let mut out = Array2::from_elem((self.data.rows(), self.rank), T::default());
        for (row, values) in self.data.grouped_rows().zip(self.w.chunks_exact(self.rank)) {
            let mut out = out.row_mut(row);
            match self.data.is_weighted() {
                false => out.iter_mut().zip(values).for_each(|(o, &v)| *o = v),
                // Positive: rows without weight are in no group.
                true => {
                    let root = self.data.root(row);
                    let undone = |v: &T| T::from_f64(v.to_f64() / root);
                    out.iter_mut().zip(values).for_each(|(o, v)| *o = undone(v));
                }
            }
        }
        if out.iter().any(|v| !v.to_f64().is_finite()) {
            return Err(Error::NotFinite { what: "the representation" });
        }
        Ok(Representation::from(out))
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn held(&self) -> Option<Held<'_>> {
        Some(Held::from(&self.w[..]))
    }

    fn origin(&self) -> Option<&Origin> {
        self.trace.origin()
    }

    fn save(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let rows: Vec<usize> = self.data.grouped_rows().collect();
        save_rows(&self.w, self.rank, rising(&rows), out)
    }

    fn restore(&mut self, rank: usize, from: &mut dyn std::io::Read) -> std::io::Result<()> {
        let rows: Vec<usize> = self.data.grouped_rows().collect();
        self.make_room();
        self.rank = rank;
        self.trace.forget();
        self.w = vec![T::default(); rows.len() * rank];
        restore_rows(&mut self.w, rank, rising(&rows), from)
    }

    fn moments(&self) -> Box<dyn Moments + '_> {
        Box::new(InMemory::new(&self.data))
    }

    fn digest(&self) -> Result<u64> {
        Ok(digest(&self.data, 0))
    }

    fn apart(&self) -> Box<dyn Rows + '_> {
        let given = (Arc::clone(&self.given.0), self.given.1);
        Box::new(Self::with_unit(given, Arc::clone(&self.data), self.unit))
    }

    fn only(&self, group: usize) -> Box<dyn Rows + '_> {
        let given = (Arc::new(self.given.0.only(group)), self.given.1);
        let (data, unit) = shared(self.data.only(group).with_usual_norm());
        Box::new(Self::with_unit(given, data, self.unit * unit))
    }

    fn relabel(&self, groups: Vec<(String, Vec<usize>)>) -> Result<Box<dyn Rows + '_>> {
        let (given, units) = &self.given;
        given.check_gaps()?;
        Ok(Box::new(Self::of(Arc::new(given.regrouped(groups)?), *units)))
    }

    fn unknown_features(&self) -> Vec<usize> {
        self.data.unknown_features(self.data.grouped_rows())
    }
}

fn shared<'a>((data, unit): (GroupedData<'a>, f64)) -> (Arc<GroupedData<'a>>, f64) {
    (Arc::new(data), unit)
}
