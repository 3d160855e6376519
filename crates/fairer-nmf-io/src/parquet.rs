//! Apache Parquet (cargo feature `parquet`).

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::delimited::Visit;
use super::error::InputError;
use super::plan::{Plan, Reading, Role};
use super::room::{InputLimit, Room};
use super::table::{Number, Part, Sink, Table};

/// Reads a table; a null is a missing cell. Records are counted from 0 in place of lines.
pub(crate) fn parse<T: Number>(
    path: &str,
    limit: InputLimit,
    planner: &dyn Fn(Vec<String>) -> Result<Plan, InputError>,
) -> Result<Table<T>, InputError> {
    let file = File::open(path).map_err(|e| InputError::io(path, e))?;
    let stored = file.metadata().map_or(0, |about| about.len() as usize);
    let room = Room::new(path, stored, limit);
    let damaged = |e: ParquetError| InputError::damaged(path, e);
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
    let schema = builder.schema().clone();
    let records = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let names = schema.fields().iter().map(|field| field.name().clone());
    let mut plan = planner(names.collect())?;
    plan.most = room.most();
    let what = format!("declares {records} rows and {} columns", plan.names.len());
    let mut numbers = room.zeros(what, records, plan.numbers)?;
    let mut sink = Sink::new(&plan, &mut numbers);
    let mut record = 0;
    for batch in builder.build().map_err(damaged)? {
        let batch = batch.map_err(|e| InputError::damaged(path, e))?;
        if record as usize + batch.num_rows() > records {
            return Err(InputError::damaged(path, "it has more rows than it declares"));
        }
        record = fill(path, &batch, &plan, &mut sink, record)?;
    }
    let part = sink.finish();
    Table::new(plan, numbers, part)
}

/// The rows of one or several files, batch by batch.
pub(crate) struct Stream {
    files: Vec<String>,
    names: Vec<String>,
    /// Rows of a batch.
    batch: usize,
}

/// Of the memory that may be taken, what the rows of a batch may take.
const BATCHES_IN_MEMORY: usize = 64;

impl Stream {
    /// Looks at the columns of all files, which must be the same.
    pub(crate) fn open(files: Vec<String>, memory: usize) -> Result<Self, InputError> {
        let names = columns_of(&files[0])?;
        for path in &files[1..] {
            if columns_of(path)? != names {
                return Err(InputError::Unsupported {
                    path: path.clone(),
                    what: format!("other columns than {}", files[0]),
                    fix: "the files of a folder are rows of one table".into(),
                });
            }
        }
        let row = 8 * names.len().max(1);
        let batch = (memory / BATCHES_IN_MEMORY / row).clamp(16, 1 << 14);
        Ok(Self { files, names, batch })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// One pass over all rows, as [`delimited::Stream`](super::delimited::Stream) makes it.
    pub(crate) fn pass<T: Number>(
        &self,
        plan: &Plan,
        visit: &mut Visit<'_, T>,
    ) -> Result<Part, InputError> {
        let mut total = Sink::<T>::new(plan, &mut []).finish();
        let mut record = 0;
        for path in &self.files {
            let file = File::open(path).map_err(|e| InputError::io(path, e))?;
            let damaged = |e: ParquetError| InputError::damaged(path, e);
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
            for batch in builder.with_batch_size(self.batch).build().map_err(damaged)? {
                let batch = batch.map_err(|e| InputError::damaged(path, e))?;
                let mut numbers = vec![T::default(); batch.num_rows() * plan.numbers];
                let mut sink = Sink::new(plan, &mut numbers);
                record = fill(path, &batch, plan, &mut sink, record)?;
                let mut part = sink.finish();
                numbers.truncate(part.rows * plan.numbers);
                visit(numbers, &mut part)?;
                if total.count(part, plan)? {
                    return Ok(total);
                }
            }
        }
        Ok(total)
    }
}

fn columns_of(path: &str) -> Result<Vec<String>, InputError> {
    let file = File::open(path).map_err(|e| InputError::io(path, e))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file);
    let builder = builder.map_err(|e| InputError::damaged(path, e))?;
    Ok(builder.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// Hands the rows of a batch to a sink; gives the number of the next record.
fn fill<T: Number>(
    path: &str,
    batch: &RecordBatch,
    plan: &Plan,
    sink: &mut Sink<'_, T>,
    mut record: u64,
) -> Result<u64, InputError> {
    let columns: Vec<Column> = (batch.columns().iter().zip(&plan.roles))
        .map(|(array, role)| Column::new(array, *role))
        .collect::<Result<_, _>>()
        .map_err(|e| InputError::damaged(path, e))?;
    for row in 0..batch.num_rows() {
        for (index, column) in columns.iter().enumerate() {
            column.put(sink, index, row, record);
        }
        sink.end_row(record);
        record += 1;
    }
    Ok(record)
}

/// A column of a batch in the one or the other form that a sink takes.
enum Column {
    Unused,
    Number(usize, ArrayRef),
    Text(ArrayRef),
}

impl Column {
    fn new(array: &ArrayRef, role: Role) -> Result<Column, ArrowError> {
        Ok(match role {
            Role::Unused => Column::Unused,
            Role::Number(slot) if array.data_type().is_numeric() => {
                Column::Number(slot, cast(array, &DataType::Float64)?)
            }
            _ => Column::Text(cast(array, &DataType::LargeUtf8)?),
        })
    }

    fn put<T: Number>(&self, sink: &mut Sink<'_, T>, column: usize, row: usize, record: u64) {
        match self {
            Column::Unused => {}
            Column::Number(_, array) | Column::Text(array) if array.is_null(row) => {
                sink.missing(column, record);
            }
            Column::Number(slot, array) => {
                let value = array.as_primitive::<Float64Type>().value(row);
                match value.is_nan() {
                    true => sink.missing(column, record),
                    false => sink.feature(*slot, T::of(value)),
                }
            }
            Column::Text(array) => {
                let text = array.as_string::<i64>().value(row);
                sink.cell(column, text.as_bytes(), record);
            }
        }
    }
}
