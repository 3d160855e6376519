//! Cells of one column, by the format's own reader, as numbers and words.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use crate::plan::Role;

/// Dates and times beyond it are said as the numbers they are (chrono ends at 95 million days).
const FARTHEST_DAY: u64 = 80_000_000;
const MILLIS_A_DAY: u64 = 86_400_000;

/// What a table needs of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Missing,
    /// Where the column is one of numbers.
    Number(f64),
    Word(ByteArray),
}

impl Cell {
    pub(super) fn of(field: Field, role: Role) -> Self {
        let number = match role {
            Role::Number(_) => number(&field),
            _ => None,
        };
        match (field, number) {
            (Field::Null, _) => Self::Missing,
            (Field::Bytes(bytes), _) => Self::Word(bytes),
            (_, Some(value)) if value.is_nan() => Self::Missing,
            (_, Some(value)) => Self::Number(value),
            (other, None) => Self::Word(word(&other).into_bytes().into()),
        }
    }
}

/// The next cells of a column.
pub(super) fn read(
    reader: &mut ColumnReader,
    about: &ColumnDescPtr,
    rows: usize,
) -> Result<Vec<Field>, ParquetError> {
    match reader {
        ColumnReader::BoolColumnReader(r) => values(r, about, rows, |v| Ok(Field::Bool(v))),
        ColumnReader::Int32ColumnReader(r) => {
            values(r, about, rows, |v| Ok(Field::convert_int32(about, v)))
        }
        ColumnReader::Int64ColumnReader(r) => values(r, about, rows, |v| Ok(long(about, v))),
        ColumnReader::Int96ColumnReader(r) => {
            values(r, about, rows, |v| Ok(Field::convert_int96(about, v)))
        }
        ColumnReader::FloatColumnReader(r) => values(r, about, rows, |v| Ok(Field::Float(v))),
        ColumnReader::DoubleColumnReader(r) => values(r, about, rows, |v| Ok(Field::Double(v))),
        ColumnReader::ByteArrayColumnReader(r) => values(r, about, rows, |v| bytes(about, v)),
        ColumnReader::FixedLenByteArrayColumnReader(r) => {
            values(r, about, rows, |v| bytes(about, v.into()))
        }
    }
}

/// A number, a date or a time; those of nanoseconds, as pandas writes them, are numbers to the format's own reader.
fn long(about: &ColumnDescPtr, value: i64) -> Field {
    let micros = value.div_euclid(1000);
    match about.logical_type_ref() {
        Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => {
            Field::TimestampMicros(micros)
        }
        Some(LogicalType::Time(time)) if time.unit == TimeUnit::NANOS => Field::TimeMicros(micros),
        _ => Field::convert_int64(about, value),
    }
}

/// Text in whatever encoding, or a number that is stored as bytes.
fn bytes(about: &ColumnDescPtr, value: ByteArray) -> Result<Field, ParquetError> {
    let half = about.logical_type_ref() == Some(&LogicalType::Float16);
    match half || about.converted_type() == ConvertedType::DECIMAL {
        true => Field::convert_byte_array(about, value),
        false => Ok(Field::Bytes(value)),
    }
}

fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    about: &ColumnDescPtr,
    rows: usize,
    convert: impl Fn(T::T) -> Result<Field, ParquetError>,
) -> Result<Vec<Field>, ParquetError> {
    let short = || ParquetError::General("fewer rows than the file declares".into());
    let (mut values, mut levels, mut done) = (Vec::new(), Vec::new(), 0);
    while done < rows {
        let (more, _, _) =
            reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if more == 0 {
            return Err(short());
        }
        done += more;
    }
    // A level below that of a value says that there is none.
    let present = about.max_def_level();
    let mut values = values.into_iter();
    let mut cell = |row: usize| match levels.get(row) {
        Some(level) if *level < present => Ok(Field::Null),
        _ => convert(values.next().ok_or_else(short)?),
    };
    (0..rows).map(&mut cell).collect()
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
