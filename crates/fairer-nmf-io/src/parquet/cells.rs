//! Cells of one column, by the format's own reader.

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

/// The next cells of a column.
pub(super) fn cells(
    reader: &mut ColumnReader,
    about: &ColumnDescPtr,
    rows: usize,
) -> Result<Vec<Field>, ParquetError> {
    match reader {
        ColumnReader::BoolColumnReader(r) => read(r, about, rows, |v| Ok(Field::Bool(v))),
        ColumnReader::Int32ColumnReader(r) => {
            read(r, about, rows, |v| Ok(Field::convert_int32(about, v)))
        }
        ColumnReader::Int64ColumnReader(r) => {
            read(r, about, rows, |v| Ok(Field::convert_int64(about, v)))
        }
        ColumnReader::Int96ColumnReader(r) => {
            read(r, about, rows, |v| Ok(Field::convert_int96(about, v)))
        }
        ColumnReader::FloatColumnReader(r) => read(r, about, rows, |v| Ok(Field::Float(v))),
        ColumnReader::DoubleColumnReader(r) => read(r, about, rows, |v| Ok(Field::Double(v))),
        ColumnReader::ByteArrayColumnReader(r) => read(r, about, rows, |v| bytes(about, v)),
        ColumnReader::FixedLenByteArrayColumnReader(r) => {
            read(r, about, rows, |v| bytes(about, v.into()))
        }
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

fn read<T: DataType>(
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
