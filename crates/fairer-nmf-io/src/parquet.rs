//! Apache Parquet (cargo feature `parquet`): columns through the format's own reader. Arrow on top of it would
//! be several times the build, for conversions of which a table needs two, to a number and to a word.

mod cells;
mod index;
mod spool;

use std::fs::File;

use fairer_nmf::Note;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use super::cells::{Number, Part, Sink};
use super::columns::typed;
use super::delimited::Visit;
use super::error::InputError;
use super::guard;
use super::plan::{Plan, Role};
use super::room::{InputLimit, Room};
use super::table::Table;
use cells::Cell;
use spool::{Spool, Spooled};

/// Rows that are taken at once, at the least and at the most.
const FEWEST: usize = 16;
const MOST: usize = 1 << 14;
/// Cells that are taken at once of a table that fits in memory.
const CELLS: usize = 1 << 20;
/// Of the memory that may be taken, what the cells of a batch may take.
const BATCHES_IN_MEMORY: usize = 16;
/// And what the columns of rows that lie together may take unpacked, to be read side by side.
const COLUMNS_IN_MEMORY: usize = 4;

/// Plans the columns, of their names and of which of them are an index.
type Planner<'a> = dyn Fn(Vec<String>, &[String]) -> Result<Plan, InputError> + 'a;

/// Reads a table; a null is a missing cell. Records are counted from 0 in place of lines.
pub(crate) fn parse<T: Number>(
    path: &str,
    limit: InputLimit,
    planner: &Planner<'_>,
) -> Result<Table<T>, InputError> {
    let opened = Opened::new(path)?;
    let room = Room::new(path, opened.stored, limit);
    let mut plan = planner(opened.names(), &opened.index)?;
    plan.most = room.most();
    plan.notes.extend(opened.note());
    let what = format!("declares {} rows and {} columns", opened.rows, plan.names.len());
    let mut numbers = room.zeros(what, opened.rows, plan.numbers)?;
    let mut sink = Sink::new(&plan, &mut numbers);
    let mut record = 0;
    let batch = (CELLS / plan.names.len().max(1)).clamp(FEWEST, MOST);
    opened.batches(&plan, batch, usize::MAX, &mut |cells| {
        record = fill(cells, &plan, &mut sink, record);
        Ok(true)
    })?;
    let part = sink.finish();
    Table::new(plan, numbers, part)
}

/// The rows of one or several files, batch by batch.
pub(crate) struct Stream {
    files: Vec<String>,
    names: Vec<String>,
    index: Vec<String>,
    notes: Vec<Note>,
    /// Rows of a batch.
    batch: usize,
    /// Bytes.
    memory: usize,
}

impl Stream {
    /// Looks at the columns of all files, which must be the same, and at how many rows they declare.
    pub(crate) fn open(
        files: Vec<String>,
        memory: usize,
        limit: InputLimit,
    ) -> Result<Self, InputError> {
        // What describes a file grows with its row groups: one at a time.
        let first = Opened::new(&files[0])?;
        let (names, index) = (first.names(), first.index.clone());
        let notes = first.note().into_iter().collect();
        drop(first);
        for path in &files {
            let file = Opened::new(path)?;
            let other = match (file.names() == names, file.index == index) {
                (true, true) => None,
                (true, false) => Some("another index"),
                (false, _) => Some("other columns"),
            };
            if let Some(other) = other {
                return Err(InputError::Unsupported {
                    path: path.clone(),
                    what: format!("{other} than {}", files[0]),
                    fix: "the files of a folder are rows of one table".into(),
                });
            }
            let what = format!("declares {} rows and {} columns", file.rows, names.len());
            let room = Room::on_disk(path, file.stored, limit);
            room.check(what, file.rows.saturating_mul(names.len()), size_of::<f64>())?;
        }
        let row = size_of::<Cell>() * names.len().max(1);
        let batch = (memory / BATCHES_IN_MEMORY / row).clamp(FEWEST, MOST);
        Ok(Self { files, names, index, notes, batch, memory })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Which of the columns are an index.
    pub(crate) fn index(&self) -> &[String] {
        &self.index
    }

    /// What is remarkable about the columns.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// One pass over all rows, as [`delimited::Stream`](super::delimited::Stream) makes it.
    pub(crate) fn pass<T: Number>(
        &self,
        plan: &Plan,
        visit: &mut Visit<'_, T>,
    ) -> Result<Part, InputError> {
        let mut total = Sink::<T>::new(plan, &mut []).finish();
        let (mut record, mut enough) = (0, false);
        for path in &self.files {
            let file = Opened::new(path)?;
            if file.names() != self.names {
                return Err(InputError::Changed { path: path.clone() });
            }
            file.batches(plan, self.batch, self.memory, &mut |cells| {
                let mut numbers = vec![T::default(); cells.rows * plan.numbers];
                let mut sink = Sink::new(plan, &mut numbers);
                record = fill(cells, plan, &mut sink, record);
                let mut part = sink.finish();
                numbers.truncate(part.rows * plan.numbers);
                visit(numbers, &mut part)?;
                enough = total.count(part, plan)?;
                Ok(!enough)
            })?;
            if enough {
                break;
            }
        }
        Ok(total)
    }
}

/// A file whose end, which describes it, was read.
struct Opened {
    path: String,
    file: SerializedFileReader<File>,
    stored: usize,
    rows: usize,
    /// Which columns of the file are columns of the table, and which hold lists.
    columns: Vec<usize>,
    lists: Vec<String>,
    /// Columns of the table that are the index of a frame, by a name that they have.
    index: Vec<String>,
}

impl Opened {
    fn new(path: &str) -> Result<Self, InputError> {
        let source = File::open(path).map_err(|e| InputError::io(path, e))?;
        let stored = source.metadata().map_or(0, |about| about.len() as usize);
        let opened = guarded(|| SerializedFileReader::new(source));
        let file = opened.map_err(|e| wrong(path, &e))?;
        let mut rows = 0_usize;
        for group in file.metadata().row_groups() {
            let more = usize::try_from(group.num_rows()).ok();
            let sum = more.and_then(|more| rows.checked_add(more));
            rows = sum.ok_or_else(|| InputError::damaged(path, "it declares no number of rows"))?;
        }
        let (mut columns, mut lists, mut index) = (Vec::new(), Vec::new(), Vec::new());
        let about = file.metadata().file_metadata();
        let named = index::named(about);
        for (at, column) in about.schema_descr().columns().iter().enumerate() {
            let name = column.path().string();
            match column.max_rep_level() {
                _ if index::is_nameless(&name) => {}
                0 => {
                    columns.push(at);
                    // Parts of a column that has several are none by themselves.
                    if column.path().parts().len() == 1 && named.contains(&name) {
                        index.push(name);
                    }
                }
                _ => lists.push(name),
            }
        }
        Ok(Self { path: path.to_owned(), file, stored, rows, columns, lists, index })
    }

    fn description(&self, column: usize) -> ColumnDescPtr {
        self.file.metadata().file_metadata().schema_descr().column(column)
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|&at| self.description(at).path().string()).collect()
    }

    fn note(&self) -> Option<Note> {
        let first = self.lists.first()?;
        let sentence = format!(
            "{} of the columns of {} hold lists and are not read (`{first}`{})",
            self.lists.len(),
            self.path,
            if self.lists.len() > 1 { ", …" } else { "" }
        );
        Some(Note::new("lists-not-read", sentence))
    }

    /// Reads all rows that the file declares, `batch` at a time, until `visit` has seen enough.
    fn batches(
        &self,
        plan: &Plan,
        batch: usize,
        memory: usize,
        visit: &mut dyn FnMut(&Cells) -> Result<bool, InputError>,
    ) -> Result<(), InputError> {
        for at in 0..self.file.num_row_groups() {
            let group =
                guarded(|| self.file.get_row_group(at)).map_err(|e| wrong(&self.path, &e))?;
            if group.num_columns() < self.columns.len() + self.lists.len() {
                return Err(InputError::damaged(&self.path, "columns are missing in some rows"));
            }
            let mut columns = self.columns_of(&*group, plan, (batch, memory), visit)?;
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            while left > 0 {
                let rows = left.min(batch);
                let next = |column: &mut Column| self.next(column, rows);
                let columns = columns.iter_mut().map(next).collect::<Result<_, _>>()?;
                if !visit(&Cells { rows, columns })? {
                    return Ok(());
                }
                left -= rows;
            }
        }
        Ok(())
    }

    /// The columns of some rows, to be read side by side: as they are, or out of a file without a name where the pages of all of
    /// them would take too much memory at once.
    fn columns_of(
        &self,
        group: &dyn RowGroupReader,
        plan: &Plan,
        (batch, memory): (usize, usize),
        visit: &mut dyn FnMut(&Cells) -> Result<bool, InputError>,
    ) -> Result<Vec<Column>, InputError> {
        let used = self.columns.iter().zip(&plan.roles).filter(|(_, role)| **role != Role::Unused);
        let unpacked = used.clone().map(|(&column, _)| {
            usize::try_from(group.metadata().column(column).uncompressed_size()).unwrap_or(0)
        });
        let fits = unpacked.fold(0, usize::saturating_add) <= memory / COLUMNS_IN_MEMORY;
        let mut spool = match fits {
            true => None,
            false => Some(Spool::new(used.count(), memory).map_err(|e| self.no_spool(e))?),
        };
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut columns = Vec::with_capacity(self.columns.len());
        for (&column, role) in self.columns.iter().zip(&plan.roles) {
            if *role == Role::Unused {
                columns.push(Column::Unused);
                continue;
            }
            let reader = guarded(|| group.get_column_reader(column));
            let reader = reader.map_err(|e| wrong(&self.path, &e))?;
            let mut packed = Column::Packed(Box::new(reader), self.description(column), *role);
            if let Some(spool) = &mut spool {
                for first in (0..rows).step_by(batch) {
                    let cells = self.next(&mut packed, batch.min(rows - first))?;
                    spool.write(&cells).map_err(|e| self.no_spool(e))?;
                }
                packed = Column::Spooled(spool.end_column().map_err(|e| self.no_spool(e))?);
                // Nothing yet, so that who watches can end it.
                visit(&Cells { rows: 0, columns: Vec::new() })?;
            }
            columns.push(packed);
        }
        Ok(columns)
    }

    /// The next cells of a column.
    fn next(&self, column: &mut Column, rows: usize) -> Result<Vec<Cell>, InputError> {
        match column {
            Column::Unused => Ok(Vec::new()),
            Column::Packed(reader, about, role) => guarded(|| cells::read(reader, about, rows))
                .map(|found| found.into_iter().map(|field| Cell::of(field, *role)).collect())
                .map_err(|e| in_column(&self.path, about.path().string(), &e)),
            Column::Spooled(spooled) => (0..rows)
                .map(|_| spooled.next())
                .collect::<std::io::Result<_>>()
                .map_err(|e| self.no_spool(e)),
        }
    }

    fn no_spool(&self, source: std::io::Error) -> InputError {
        let folder = std::env::temp_dir().display().to_string();
        InputError::NoSpool { path: self.path.clone(), folder, source }
    }
}

/// Runs the format's reader; a panic in it is an error.
fn guarded<R>(decode: impl FnOnce() -> Result<R, ParquetError>) -> Result<R, ParquetError> {
    let contradiction = || Err(ParquetError::General(guard::CONTRADICTION.into()));
    guard::guarded(decode).unwrap_or_else(contradiction)
}

fn wrong(path: &str, error: &ParquetError) -> InputError {
    match error {
        ParquetError::General(what) if what.contains("Disabled feature") => {
            InputError::Unsupported {
                path: path.into(),
                what: format!("packed columns that this build cannot unpack ({what})"),
                fix: "write it again with snappy, gzip, zstd or lz4".into(),
            }
        }
        ParquetError::External(e) => InputError::damaged(path, e),
        ParquetError::EOF(what) | ParquetError::General(what) | ParquetError::NYI(what) => {
            InputError::damaged(path, what)
        }
        other => InputError::damaged(path, other),
    }
}

fn in_column(path: &str, column: String, error: &ParquetError) -> InputError {
    match wrong(path, error) {
        InputError::Damaged { path, what } => {
            let drop = typed("--drop", std::slice::from_ref(&column));
            let what = format!("column `{column}`: {what} (`{drop}` reads the others)");
            InputError::Damaged { path, what }
        }
        other => other,
    }
}

/// A column of rows that lie together.
enum Column {
    Unused,
    Packed(Box<ColumnReader>, ColumnDescPtr, Role),
    Spooled(Spooled),
}

/// Some rows, column by column; of columns that are not used nothing.
struct Cells {
    rows: usize,
    columns: Vec<Vec<Cell>>,
}

/// Hands the rows of a batch to a sink; gives the number of the next record.
fn fill<T: Number>(cells: &Cells, plan: &Plan, sink: &mut Sink<'_, T>, mut record: u64) -> u64 {
    for row in 0..cells.rows {
        for (column, (cells, role)) in cells.columns.iter().zip(&plan.roles).enumerate() {
            match (cells.get(row), role) {
                (Some(Cell::Missing), _) => sink.missing(column, record),
                (Some(Cell::Number(value)), Role::Number(slot)) => sink.wide(*slot, *value),
                (Some(Cell::Word(word)), _) => sink.cell(column, word.data(), record),
                // Of a column that is not used; numbers are of columns of numbers.
                (None | Some(Cell::Number(_)), _) => {}
            }
        }
        sink.end_row(record);
        record += 1;
    }
    record
}
