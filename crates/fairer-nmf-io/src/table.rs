//! Tables: cells arrive in rows from any format and leave as a data set.
//!
//! A format calls [`Sink`] for every cell; nothing here knows how a format is parsed.

use std::borrow::Cow;

use fast_float2::FastFloat;
use ndarray::Array2;

use super::dataset::{Dataset, Origin, RowOrigin};
use super::error::{CellPlace, InputError};
use super::labels;
use super::matrix::{DenseMatrix, Matrix};
use super::missing;
use super::options::Missing;
use super::places::Places;
use super::plan::{GROUP_SEPARATOR, Plan, Role};
use super::text::{self, TextOptions};

/// How many missing cells an error names.
const NAMED_CELLS: usize = 5;

/// The number type of a table's matrix.
pub(crate) trait Number: FastFloat + Copy + Default + PartialEq + Send + Sync {
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
    issues: Issues,
}

#[derive(Debug, Default)]
struct Issues {
    missing: usize,
    first_missing: Vec<(u64, usize)>,
    /// Per column: how many cells were missing.
    missing_in: Vec<usize>,
    /// Per column: texts where a number was expected.
    texts_in: Vec<Option<Texts>>,
    ragged: Option<(u64, usize)>,
    dropped: usize,
}

#[derive(Debug, Clone)]
struct Texts {
    count: usize,
    line: u64,
    value: String,
}

impl<'a, T: Number> Sink<'a, T> {
    pub(crate) fn new(plan: &'a Plan, out: &'a mut [T]) -> Self {
        let part = Part {
            words: vec![Vec::new(); plan.words],
            issues: Issues {
                missing_in: vec![0; plan.names.len()],
                texts_in: vec![None; plan.names.len()],
                ..Issues::default()
            },
            ..Part::default()
        };
        Sink { plan, out, incomplete: false, part }
    }

    /// A number for feature `slot` (of [`Role::Number`]) of the current row.
    #[inline]
    pub(crate) fn feature(&mut self, slot: usize, value: T) {
        self.out[self.part.rows * self.plan.numbers + slot] = value;
    }

    /// A cell as text, whatever its column is for.
    pub(crate) fn cell(&mut self, column: usize, cell: &[u8], line: u64) {
        let trimmed = cell.trim_ascii();
        match self.plan.roles[column] {
            Role::Unused => {}
            Role::Document(list) => self.part.words[list].push(text::decode(cell)),
            _ if is_missing(trimmed) => self.missing(column, line),
            Role::Word(list) => self.part.words[list].push(text::decode(trimmed)),
            Role::Number(slot) => match fast_float2::parse::<T, _>(trimmed) {
                Ok(value) => self.feature(slot, value),
                Err(_) => self.not_a_number(column, trimmed, line),
            },
        }
    }

    /// A cell without a value.
    pub(crate) fn missing(&mut self, column: usize, line: u64) {
        match self.plan.roles[column] {
            Role::Unused => return,
            Role::Number(_) => {}
            Role::Word(list) | Role::Document(list) => self.part.words[list].push(String::new()),
        }
        self.incomplete = true;
        let issues = &mut self.part.issues;
        issues.missing += 1;
        issues.missing_in[column] += 1;
        if issues.first_missing.len() < NAMED_CELLS {
            issues.first_missing.push((line, column));
        }
    }

    fn not_a_number(&mut self, column: usize, cell: &[u8], line: u64) {
        match &mut self.part.issues.texts_in[column] {
            Some(texts) => texts.count += 1,
            none => {
                let value = text::decode(cell).chars().take(40).collect();
                *none = Some(Texts { count: 1, line, value });
            }
        }
    }

    /// The row is complete.
    pub(crate) fn end_row(&mut self, line: u64) {
        let part = &mut self.part;
        if self.incomplete && self.plan.missing == Missing::DropRows {
            part.issues.dropped += 1;
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
        self.part.issues.ragged.get_or_insert((line, found));
    }

    pub(crate) fn finish(self) -> Part {
        self.part
    }
}

/// `?`, nothing, and the usual abbreviations in any case.
fn is_missing(cell: &[u8]) -> bool {
    let names: [&[u8]; 5] = [b"na", b"n/a", b"nan", b"-nan", b"null"];
    matches!(cell, b"" | b"?") || names.iter().any(|name| cell.eq_ignore_ascii_case(name))
}

impl Part {
    /// Appends the part that follows in the file; its lines are counted from `lines` on.
    pub(crate) fn append(&mut self, later: Part, lines: u64) {
        self.places.append(&later.places, self.rows, self.records, lines);
        self.rows += later.rows;
        self.records += later.records;
        for (words, more) in self.words.iter_mut().zip(later.words) {
            words.extend(more);
        }
        self.issues.append(later.issues, lines);
    }
}

impl Issues {
    fn append(&mut self, later: Issues, lines: u64) {
        self.missing += later.missing;
        self.dropped += later.dropped;
        let room = NAMED_CELLS - self.first_missing.len();
        let more = later.first_missing.into_iter().take(room);
        self.first_missing.extend(more.map(|(line, column)| (line + lines, column)));
        for (count, more) in self.missing_in.iter_mut().zip(later.missing_in) {
            *count += more;
        }
        for (texts, more) in self.texts_in.iter_mut().zip(later.texts_in) {
            match (texts, more) {
                (Some(texts), Some(more)) => texts.count += more.count,
                (texts @ None, Some(more)) => {
                    let line = more.line + lines;
                    *texts = Some(Texts { line, ..more });
                }
                (_, None) => {}
            }
        }
        if self.ragged.is_none() {
            self.ragged = later.ragged.map(|(line, found)| (line + lines, found));
        }
    }

    fn check(&self, plan: &Plan, records: usize) -> Result<(), InputError> {
        let path = || plan.path.clone();
        if let Some((line, found)) = self.ragged {
            return Err(InputError::RaggedRow {
                path: path(),
                line,
                found,
                expected: plan.names.len(),
            });
        }
        let texts = || {
            let texts = self.texts_in.iter().enumerate();
            texts.filter_map(|(column, texts)| Some((column, texts.as_ref()?)))
        };
        // A column is not numeric if at least half of its values are texts.
        let mut wordy =
            texts().filter(|(c, texts)| 2 * texts.count >= records - self.missing_in[*c]);
        if let Some((first, texts)) = wordy.next() {
            let columns = std::iter::once(first).chain(wordy.map(|(column, _)| column));
            return Err(InputError::NonNumericColumns {
                path: path(),
                columns: columns.map(|column| plan.names[column].clone()).collect(),
                line: texts.line,
                value: texts.value.clone(),
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
        if self.missing > 0 && plan.missing == Missing::Error {
            let cells = self
                .first_missing
                .iter()
                .map(|&(line, column)| CellPlace { line, column: plan.names[column].clone() });
            return Err(InputError::MissingCells {
                path: path(),
                count: self.missing,
                cells: cells.collect(),
            });
        }
        Ok(())
    }
}

/// A parsed table: numbers (row-major, `rows × plan.numbers`) and words.
pub(crate) struct Table<T> {
    plan: Plan,
    numbers: Vec<T>,
    part: Part,
}

impl<T: Number> Table<T> {
    /// Checks what the parser met on its way.
    pub(crate) fn new(plan: Plan, mut numbers: Vec<T>, part: Part) -> Result<Self, InputError> {
        part.issues.check(&plan, part.records)?;
        if part.rows == 0 {
            let what = match part.records {
                0 => "there is no row after the header".to_string(),
                n => missing::all_incomplete(n),
            };
            let path = plan.path;
            return Err(InputError::Empty { path, what });
        }
        numbers.truncate(part.rows * plan.numbers);
        Ok(Table { plan, numbers, part })
    }

    /// The words of a table read with [`Plan::one_column`].
    pub(crate) fn into_words(mut self) -> Vec<String> {
        self.part.words.pop().unwrap_or_default()
    }

    /// The matrix, the names and the groups. Formats without lines say `lines: false`.
    pub(crate) fn into_dataset(
        self,
        options: Option<&TextOptions>,
        lines: bool,
    ) -> Result<Dataset, InputError> {
        let Table { plan, numbers, mut part } = self;
        let labels = (!plan.groups.is_empty()).then(|| group_labels(&plan, &part));
        let weights = plan.weights.map(|list| {
            let line = |row: usize| part.places.find(row).map_or(0, |(_, line)| line);
            let words = part.words[list].iter().enumerate();
            words.map(|(row, word)| labels::weight(word, &plan.path, line(row))).collect()
        });
        let weights = weights.transpose()?;
        let family = |(name, list): &(String, usize)| (name.clone(), part.words[*list].clone());
        let families = plan.families.iter().map(family).collect();
        let mut notes = plan.notes.clone();
        if part.issues.dropped > 0 {
            notes.push(missing::left_out(part.issues.dropped, part.records));
        }
        let (matrix, features, recipe) = match (plan.document, options) {
            (Some(list), Some(options)) => {
                let documents = std::mem::take(&mut part.words[list]);
                let made = text::vectorize(&plan.path, &documents, options)?;
                notes.extend(made.notes);
                (Matrix::Sparse(made.matrix), made.terms, Some(made.recipe))
            }
            _ => {
                let (array, features) = dense(&plan, numbers, &part);
                (Matrix::Dense(T::dense(array)), features, None)
            }
        };
        let index = plan.index.map(|list| std::mem::take(&mut part.words[list]));
        let one_hot = plan.one_hot.into_iter().map(|(name, _)| name).collect();
        let Part { places, records, .. } = part;
        let rows = match lines {
            true => RowOrigin::Lines { places, records },
            false => RowOrigin::Records { places, records },
        };
        let path = plan.path;
        let origin = Origin { path, rows };
        Ok(Dataset {
            matrix,
            features,
            labels,
            families,
            weights,
            notes,
            recipe,
            one_hot,
            index,
            origin,
        })
    }
}

fn group_labels(plan: &Plan, part: &Part) -> Vec<String> {
    if let [only] = plan.groups[..] {
        return part.words[only].clone();
    }
    let label = |row: usize| {
        let cells = plan.groups.iter().map(|&g| name_in_combination(&part.words[g][row]));
        cells.collect::<Vec<_>>().join(GROUP_SEPARATOR)
    };
    (0..part.rows).map(label).collect()
}

/// In quotes where the cell holds a bar, so that no two combinations have the same name.
fn name_in_combination(cell: &str) -> Cow<'_, str> {
    match cell.contains('|') || cell.starts_with('"') {
        true => Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\""))),
        false => Cow::Borrowed(cell),
    }
}

/// The numeric columns in file order, then the one-hot columns in the order they were asked for.
fn dense<T: Number>(plan: &Plan, numbers: Vec<T>, part: &Part) -> (Array2<T>, Vec<String>) {
    let is_feature = |role: &Role| matches!(role, Role::Number(_));
    let columns = plan.names.iter().zip(&plan.roles);
    let mut features: Vec<String> =
        columns.filter(|(_, role)| is_feature(role)).map(|(name, _)| name.clone()).collect();
    let array = Array2::from_shape_vec((part.rows, plan.numbers), numbers)
        .expect("Table::new cut the numbers to rows × columns");
    if plan.one_hot.is_empty() {
        return (array, features);
    }
    let mut first = Vec::new();
    let mut categories = Vec::new();
    for (name, list) in &plan.one_hot {
        let mut values: Vec<&String> = part.words[*list].iter().collect();
        values.sort();
        values.dedup();
        first.push(features.len());
        features.extend(values.iter().map(|value| format!("{name}={value}")));
        categories.push(values);
    }
    let mut wide = Array2::from_elem((part.rows, features.len()), T::default());
    wide.slice_mut(ndarray::s![.., ..plan.numbers]).assign(&array);
    for ((first, values), (_, list)) in first.iter().zip(&categories).zip(&plan.one_hot) {
        for (row, word) in part.words[*list].iter().enumerate() {
            if let Ok(value) = values.binary_search(&word) {
                wide[[row, first + value]] = T::ONE;
            }
        }
    }
    (wide, features)
}
