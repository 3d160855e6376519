//! What the cells of a table made trouble with, and what they told on the way.

use std::collections::BTreeMap;

use fairer_nmf::Note;

use super::error::{CellPlace, InputError};
use super::plan::Plan;
use super::recipe::Missing;
use super::written::{self, Evidence};

/// How many missing cells an error names.
const NAMED_CELLS: usize = 5;

/// What was met in a part of a table.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    missing: usize,
    first_missing: Vec<(u64, usize)>,
    /// Per column: how many cells were missing. Here and below only columns that were met: there may be
    /// millions of columns, and a part for every few lines of them.
    missing_in: BTreeMap<usize, usize>,
    /// Per column: texts where a number was expected.
    texts_in: BTreeMap<usize, Texts>,
    /// Per column: how many numbers had a unit, and which.
    units_in: BTreeMap<usize, (usize, u32)>,
    ragged: Option<(u64, usize)>,
    pub(super) dropped: usize,
    /// Numbers that are zero in f32 and are not in the file.
    pub(super) vanished: usize,
    /// Numbers that are another one, or none, with the other decimal mark.
    pub(super) open_numbers: usize,
    /// What the cells tell of the decimal mark, where they were asked.
    pub(super) evidence: Evidence,
}

#[derive(Debug, Clone)]
struct Texts {
    count: usize,
    line: u64,
    value: String,
}

impl Issues {
    fn missing_of(&self, column: usize) -> usize {
        self.missing_in.get(&column).copied().unwrap_or(0)
    }

    pub(super) fn missing(&mut self, column: usize, line: u64) {
        self.missing += 1;
        *self.missing_in.entry(column).or_default() += 1;
        if self.first_missing.len() < NAMED_CELLS {
            self.first_missing.push((line, column));
        }
    }

    /// A cell that is taken as unobserved.
    pub(super) fn unobserved(&mut self, column: usize) {
        *self.missing_in.entry(column).or_default() += 1;
    }

    pub(super) fn not_a_number(&mut self, column: usize, cell: &str, line: u64) {
        let first = || Texts { count: 0, line, value: cell.chars().take(40).collect() };
        self.texts_in.entry(column).or_insert_with(first).count += 1;
    }

    pub(super) fn unit(&mut self, column: usize, unit: u32) {
        if unit != 0 {
            let (count, units) = self.units_in.entry(column).or_default();
            *count += 1;
            *units |= unit;
        }
    }

    pub(super) fn ragged(&mut self, line: u64, found: usize) {
        self.ragged.get_or_insert((line, found));
    }

    /// Takes what a later part of the file met, `lines` further on.
    pub(super) fn append(&mut self, later: Issues, lines: u64) {
        self.missing += later.missing;
        self.dropped += later.dropped;
        self.vanished += later.vanished;
        self.open_numbers += later.open_numbers;
        let room = NAMED_CELLS - self.first_missing.len();
        let more = later.first_missing.into_iter().take(room);
        self.first_missing.extend(more.map(|(line, column)| (line + lines, column)));
        for (column, more) in later.missing_in {
            *self.missing_in.entry(column).or_default() += more;
        }
        for (column, (more, others)) in later.units_in {
            let (count, units) = self.units_in.entry(column).or_default();
            (*count, *units) = (*count + more, *units | others);
        }
        for (column, more) in later.texts_in {
            let first = Texts { count: 0, line: more.line + lines, value: more.value };
            self.texts_in.entry(column).or_insert(first).count += more.count;
        }
        if self.ragged.is_none() {
            self.ragged = later.ragged.map(|(line, found)| (line + lines, found));
        }
        self.evidence.append(later.evidence, lines);
    }

    /// The row that has the wrong number of cells, where there is one.
    pub(super) fn check_shape(&self, plan: &Plan) -> Result<(), InputError> {
        match self.ragged {
            None => Ok(()),
            Some((line, found)) => Err(InputError::RaggedRow {
                path: plan.path.clone(),
                line,
                found,
                expected: plan.names.len(),
            }),
        }
    }

    pub(super) fn check(&self, plan: &Plan, records: usize) -> Result<(), InputError> {
        self.check_words(plan, records)?;
        if self.missing > 0 && plan.missing != Missing::DropRows {
            let cells = self
                .first_missing
                .iter()
                .map(|&(line, column)| CellPlace { line, column: plan.names[column].clone() });
            return Err(InputError::MissingCells {
                path: plan.path.clone(),
                count: self.missing,
                cells: cells.collect(),
            });
        }
        Ok(())
    }

    /// Rows of the wrong length, and texts among numbers, of so many records.
    pub(super) fn check_words(&self, plan: &Plan, records: usize) -> Result<(), InputError> {
        self.check_shape(plan)?;
        let path = || plan.path.clone();
        let texts = || self.texts_in.iter().map(|(column, texts)| (*column, texts));
        // A column is not numeric if at least half of its values are texts.
        let mut wordy =
            texts().filter(|(c, texts)| 2 * texts.count >= records - self.missing_of(*c));
        if let Some((first, texts)) = wordy.next() {
            let columns = std::iter::once(first).chain(wordy.map(|(column, _)| column));
            return Err(InputError::NonNumericColumns {
                path: path(),
                columns: columns.map(|column| plan.names[column].clone()).collect(),
                line: texts.line,
                value: texts.value.clone(),
                advice: None,
            });
        }
        if let Some((column, texts)) = texts().min_by_key(|(_, texts)| texts.line) {
            return Err(InputError::TextCell {
                path: path(),
                line: texts.line,
                column: plan.names[column].clone(),
                value: texts.value.clone(),
            });
        }
        Ok(())
    }

    /// A note on every column whose numbers have several units, or one now and then.
    pub(super) fn mixed_units(&self, plan: &Plan, records: usize) -> Vec<Note> {
        let columns = self.units_in.iter().filter(|(column, (count, units))| {
            units.count_ones() > 1 || count + self.missing_of(**column) < records
        });
        columns
            .map(|(column, (count, units))| {
                let units = written::units(*units).join(", ");
                let name = &plan.names[*column];
                let sentence = format!(
                    "{count} of {} numbers of column `{name}` have a unit ({units}), the others have another or none: all were taken as they stand, without it",
                    records - self.missing_of(*column)
                );
                Note::new("mixed-units", sentence)
            })
            .collect()
    }
}
