//! The cells of a table: they arrive in rows from any format and are kept as numbers and words.
//!
//! A format calls [`Sink`] for every cell; nothing here knows how a format is parsed.

use std::borrow::Cow;

use fast_float2::FastFloat;
use ndarray::Array2;

use super::error::InputError;
use super::issues::Issues;
use super::matrix::DenseMatrix;
use super::missing;
use super::places::Places;
use super::plan::{Plan, Reading, Role};
use super::profile::Profile;
use super::recipe::Missing;
use super::text;
use super::written::{self, Decimal, Tells};

/// The number type of a table's matrix.
pub(crate) trait Number:
    FastFloat + bytemuck::Pod + Default + PartialOrd + std::ops::Sub<Output = Self> + Send + Sync
{
    const ONE: Self;
    fn of(value: f64) -> Self;
    fn dense(array: Array2<Self>) -> DenseMatrix;
}

impl Number for f64 {
    const ONE: f64 = 1.0;
    fn of(value: f64) -> f64 {
        value
    }
    fn dense(array: Array2<f64>) -> DenseMatrix {
        DenseMatrix::F64(array)
    }
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    fn of(value: f64) -> f32 {
        value as f32
    }
    fn dense(array: Array2<f32>) -> DenseMatrix {
        DenseMatrix::F32(array)
    }
}

/// Takes the cells of consecutive rows, column by column.
///
/// `out` is row-major with room for every record; rows with missing cells are overwritten by
/// the next row when such rows are to be left out.
pub(crate) struct Sink<'a, T> {
    plan: &'a Plan,
    out: &'a mut [T],
    incomplete: bool,
    part: Part,
}

/// What a run of records held, apart from its numbers.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) rows: usize,
    pub(crate) records: usize,
    pub(crate) places: Places,
    pub(crate) words: Vec<Vec<String>>,
    /// The words of rows that were left out, of the lists that matter for them too.
    pub(crate) lost: Vec<Vec<String>>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) issues: Issues,
}

impl<'a, T: Number> Sink<'a, T> {
    pub(crate) fn new(plan: &'a Plan, out: &'a mut [T]) -> Self {
        let looked_at = plan.roles.contains(&Role::Look);
        let part = Part {
            words: vec![Vec::new(); plan.words],
            lost: vec![Vec::new(); plan.words],
            profiles: vec![Profile::default(); if looked_at { plan.names.len() } else { 0 }],
            ..Part::default()
        };
        Sink { plan, out, incomplete: false, part }
    }

    /// A number for feature `slot` (of [`Role::Number`]) of the current row.
    #[inline]
    pub(crate) fn feature(&mut self, slot: usize, value: T) {
        if self.plan.reading != Reading::Looking {
            self.out[self.part.rows * self.plan.numbers + slot] = value;
        }
    }

    /// The same, of a number that may be too small for the type.
    pub(crate) fn wide(&mut self, slot: usize, value: f64) {
        let kept = T::of(value);
        self.part.issues.vanished += usize::from(value != 0.0 && kept == T::default());
        self.feature(slot, kept);
    }

    /// The same, of a number that was parsed from a text.
    #[inline]
    pub(crate) fn parsed(&mut self, slot: usize, value: T, text: &[u8]) {
        // Only where it is zero and could be another number is the text looked at again.
        if value == T::default() && size_of::<T>() < size_of::<f64>() {
            let digits = text.iter().take_while(|b| !matches!(b, b'e' | b'E'));
            let nonzero = digits.into_iter().any(|b| (b'1'..=b'9').contains(b));
            self.part.issues.vanished += usize::from(nonzero);
        }
        self.feature(slot, value);
    }

    /// A cell as text, whatever its column is for.
    pub(crate) fn cell(&mut self, column: usize, cell: &[u8], line: u64) {
        let trimmed = cell.trim_ascii();
        match self.plan.roles[column] {
            Role::Unused => {}
            Role::Document(list) => self.part.words[list].push(text::decode(cell)),
            _ if missing::is_missing(trimmed, &self.plan.na_values) => self.missing(column, line),
            Role::Word(list) => self.part.words[list].push(text::decode(trimmed)),
            Role::Look => {
                let cell = decoded(trimmed);
                self.part.issues.evidence.add(&cell, column, line);
                self.part.profiles[column].add(&cell);
            }
            Role::Number(slot) => self.number(column, slot, trimmed, line),
        }
    }

    fn number(&mut self, column: usize, slot: usize, cell: &[u8], line: u64) {
        let issues = &mut self.part.issues;
        let reading = self.plan.reading;
        if reading == Reading::Looking {
            return issues.evidence.add(&decoded(cell), column, line);
        }
        if reading != Reading::Known(Decimal::Comma)
            && let Ok(value) = fast_float2::parse::<T, _>(cell)
        {
            return self.parsed(slot, value, cell);
        }
        let cell = decoded(cell);
        let decimal = match reading {
            Reading::Known(decimal) => decimal,
            _ => Decimal::Point,
        };
        if reading == Reading::Open && written::tells(&cell) != Tells::Nothing {
            issues.open_numbers += 1;
        }
        match written::parse(&cell, decimal) {
            Some(number) => {
                issues.unit(column, number.unit);
                self.wide(slot, number.value);
            }
            None => issues.not_a_number(column, &cell, line),
        }
    }

    /// A cell without a value.
    pub(crate) fn missing(&mut self, column: usize, line: u64) {
        match self.plan.roles[column] {
            Role::Unused => return,
            Role::Look => return self.part.profiles[column].missing(),
            Role::Number(slot) if self.plan.missing == Missing::Unobserved => {
                self.feature(slot, T::of(f64::NAN));
                return self.part.issues.unobserved(column);
            }
            Role::Number(_) => {}
            Role::Word(list) | Role::Document(list) => self.part.words[list].push(String::new()),
        }
        self.incomplete = true;
        self.part.issues.missing(column, line);
    }

    /// The row is complete.
    pub(crate) fn end_row(&mut self, line: u64) {
        let part = &mut self.part;
        if self.incomplete && self.plan.missing == Missing::DropRows {
            part.issues.dropped += 1;
            for list in self.plan.lists_of_all_rows() {
                part.lost[list].extend(part.words[list].pop());
            }
            for words in &mut part.words {
                words.truncate(part.rows);
            }
        } else {
            part.places.push(part.rows, part.records, line);
            part.rows += 1;
        }
        self.incomplete = false;
        part.records += 1;
    }

    /// The row has the wrong number of cells; nothing after it makes sense.
    pub(crate) fn ragged(&mut self, line: u64, found: usize) {
        self.part.issues.ragged(line, found);
    }

    pub(crate) fn finish(self) -> Part {
        self.part
    }
}

fn decoded(cell: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(cell).map_or_else(|_| Cow::Owned(text::decode(cell)), Cow::Borrowed)
}

impl Part {
    /// Forgets the words and places of rows that are done with; what is counted stays.
    fn forget_rows(&mut self) {
        self.places = Places::default();
        self.words.iter_mut().chain(&mut self.lost).for_each(Vec::clear);
    }

    /// Counts a part of a long pass whose rows were visited; true where the pass has seen enough.
    pub(crate) fn count(&mut self, mut later: Part, plan: &Plan) -> Result<bool, InputError> {
        later.forget_rows();
        self.append(later, 0);
        if plan.reading == Reading::Open && self.issues.open_numbers > 0 {
            return Ok(true);
        }
        // What is no number ends a long pass early.
        self.issues.check_words(plan, self.records)?;
        Ok(false)
    }

    /// Appends the part that follows in the file; its lines are counted from `lines` on.
    pub(crate) fn append(&mut self, later: Part, lines: u64) {
        self.places.append(&later.places, self.rows, self.records, lines);
        self.rows += later.rows;
        self.records += later.records;
        for (words, more) in self.words.iter_mut().zip(later.words) {
            words.extend(more);
        }
        for (lost, more) in self.lost.iter_mut().zip(later.lost) {
            lost.extend(more);
        }
        for (profile, more) in self.profiles.iter_mut().zip(later.profiles) {
            profile.append(more);
        }
        self.issues.append(later.issues, lines);
    }
}
