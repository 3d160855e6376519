//! Apache Parquet (cargo feature `parquet`).

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::error::InputError;
use super::plan::{Plan, Role};
use super::room::{InputLimit, Room};
use super::table::{Number, Sink, Table};

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
        let columns: Vec<Column> = (batch.columns().iter().zip(&plan.roles))
            .map(|(array, role)| Column::new(array, *role))
            .collect::<Result<_, _>>()
            .map_err(|e| InputError::damaged(path, e))?;
        if record as usize + batch.num_rows() > records {
            return Err(InputError::damaged(path, "it has more rows than it declares"));
        }
        for row in 0..batch.num_rows() {
            for (index, column) in columns.iter().enumerate() {
                column.put(&mut sink, index, row, record);
            }
            sink.end_row(record);
            record += 1;
        }
    }
    let part = sink.finish();
    Table::new(plan, numbers, part)
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
