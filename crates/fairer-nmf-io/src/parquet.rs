//! Apache Parquet (cargo feature `parquet`): columns through the format's own reader. Arrow on top of it would
//! be several times the build, for conversions of which a table needs two, to a number and to a word.

mod cells;
mod index;

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use super::cells::{Number, Part, Sink};
use super::columns::typed;
use super::delimited::Visit;
use super::error::InputError;
use super::guard;
use super::plan::{Plan, Role};
use super::room::{InputLimit, Room};
use super::table::Table;
use cells::cells;

/// Rows that are taken at once, at the least and at the most.
const FEWEST: usize = 16;
const MOST: usize = 1 << 14;
/// Cells that are taken at once of a table that fits in memory.
const CELLS: usize = 1 << 20;
/// Of the memory that may be taken, what the cells of a batch may take.
const BATCHES_IN_MEMORY: usize = 16;
/// Dates and times beyond it are said as the numbers they are (chrono ends at 95 million days).
const FARTHEST_DAY: u64 = 80_000_000;
const MILLIS_A_DAY: u64 = 86_400_000;

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
    opened.batches(&plan, batch, &mut |cells| {
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
    notes: Vec<String>,
    /// Rows of a batch.
    batch: usize,
}

impl Stream {
    /// Looks at the columns of all files, which must be the same, and at how many rows they declare.
    pub(crate) fn open(
        files: Vec<String>,
        memory: usize,
        limit: InputLimit,
    ) -> Result<Self, InputError> {
        let first = Opened::new(&files[0])?;
        let (names, notes) = (first.names(), first.note().into_iter().collect());
        for path in &files {
            let file = Opened::new(path)?;
            let other = match (file.names() == names, file.index == first.index) {
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
        let row = size_of::<Field>() * names.len().max(1);
        let batch = (memory / BATCHES_IN_MEMORY / row).clamp(FEWEST, MOST);
        Ok(Self { files, names, index: first.index, notes, batch })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Which of the columns are an index.
    pub(crate) fn index(&self) -> &[String] {
        &self.index
    }

    /// What is remarkable about the columns.
    pub(crate) fn notes(&self) -> &[String] {
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
            file.batches(plan, self.batch, &mut |cells| {
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

    fn note(&self) -> Option<String> {
        let first = self.lists.first()?;
        Some(format!(
            "{} of the columns of {} hold lists and are not read (`{first}`{})",
            self.lists.len(),
            self.path,
            if self.lists.len() > 1 { ", …" } else { "" }
        ))
    }

    /// Reads all rows that the file declares, `batch` at a time, until `visit` has seen enough.
    fn batches(
        &self,
        plan: &Plan,
        batch: usize,
        visit: &mut dyn FnMut(&Cells) -> Result<bool, InputError>,
    ) -> Result<(), InputError> {
        let wrong = |e: ParquetError| wrong(&self.path, &e);
        for at in 0..self.file.num_row_groups() {
            let group = guarded(|| self.file.get_row_group(at)).map_err(wrong)?;
            if group.num_columns() < self.columns.len() + self.lists.len() {
                return Err(InputError::damaged(&self.path, "columns are missing in some rows"));
            }
            let mut readers = Vec::new();
            for (&column, role) in self.columns.iter().zip(&plan.roles) {
                readers.push(match role {
                    Role::Unused => None,
                    _ => {
                        let reader = guarded(|| group.get_column_reader(column)).map_err(wrong)?;
                        Some((reader, self.description(column)))
                    }
                });
            }
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            while left > 0 {
                let rows = left.min(batch);
                let mut columns = Vec::with_capacity(readers.len());
                for reader in &mut readers {
                    let Some((reader, about)) = reader else {
                        columns.push(Vec::new());
                        continue;
                    };
                    let cells = guarded(|| cells(reader, about, rows))
                        .map_err(|e| in_column(&self.path, about.path().string(), &e))?;
                    columns.push(cells);
                }
                if !visit(&Cells { rows, columns })? {
                    return Ok(());
                }
                left -= rows;
            }
        }
        Ok(())
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

/// Some rows, column by column; of columns that are not used nothing.
struct Cells {
    rows: usize,
    columns: Vec<Vec<Field>>,
}

/// Hands the rows of a batch to a sink; gives the number of the next record.
fn fill<T: Number>(cells: &Cells, plan: &Plan, sink: &mut Sink<'_, T>, mut record: u64) -> u64 {
    for row in 0..cells.rows {
        for (column, (cells, role)) in cells.columns.iter().zip(&plan.roles).enumerate() {
            if let Some(cell) = cells.get(row) {
                put(cell, *role, sink, column, record);
            }
        }
        sink.end_row(record);
        record += 1;
    }
    record
}

fn put<T: Number>(cell: &Field, role: Role, sink: &mut Sink<'_, T>, column: usize, record: u64) {
    match (cell, role) {
        (Field::Null, _) => sink.missing(column, record),
        (Field::Bytes(bytes), _) => sink.cell(column, bytes.data(), record),
        (_, Role::Number(slot)) => match number(cell) {
            Some(value) if value.is_nan() => sink.missing(column, record),
            Some(value) => sink.wide(slot, value),
            None => sink.cell(column, word(cell).as_bytes(), record),
        },
        _ => sink.cell(column, word(cell).as_bytes(), record),
    }
}

/// What is a number; a date or a truth value is none.
fn number(cell: &Field) -> Option<f64> {
    Some(match cell {
        Field::Byte(v) => f64::from(*v),
        Field::Short(v) => f64::from(*v),
        Field::Int(v) => f64::from(*v),
        Field::Long(v) => *v as f64,
        Field::UByte(v) => f64::from(*v),
        Field::UShort(v) => f64::from(*v),
        Field::UInt(v) => f64::from(*v),
        Field::ULong(v) => *v as f64,
        Field::Float16(v) => v.to_f64(),
        Field::Float(v) => f64::from(*v),
        Field::Double(v) => *v,
        Field::Decimal(_) => cell.to_string().parse().ok()?,
        _ => return None,
    })
}

fn word(cell: &Field) -> String {
    let millis = FARTHEST_DAY * MILLIS_A_DAY;
    match cell {
        Field::Float(value) => format!("{value:?}"),
        Field::Double(value) => format!("{value:?}"),
        Field::Date(days) if u64::from(days.unsigned_abs()) > FARTHEST_DAY => days.to_string(),
        Field::TimestampMillis(at) if at.unsigned_abs() > millis => at.to_string(),
        Field::TimestampMicros(at) if at.unsigned_abs() / 1000 > millis => at.to_string(),
        other => other.to_string(),
    }
}
