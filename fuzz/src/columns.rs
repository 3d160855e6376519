//! Tables of Parquet, by the format's own writer, with slips in their bytes. The reader opens files, so that
//! they are written to the folder of the process.

use std::sync::Arc;

use fairer_nmf_io::{ReadOptions, read};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::beside::written;
use super::check;
use super::choices::Bytes;

/// What a column may be.
const TYPES: [(&str, &str); 9] = [
    ("DOUBLE", ""),
    ("FLOAT", ""),
    ("INT32", ""),
    ("INT64", ""),
    ("BOOLEAN", ""),
    ("BINARY", "(UTF8)"),
    ("INT32", "(DATE)"),
    ("INT64", "(TIMESTAMP(MILLIS,true))"),
    ("INT32", "(DECIMAL(9,2))"),
];

/// A table: columns of the types that there are, with and without nulls, in one or two row groups.
pub fn table(bytes: &mut Bytes<'_>) -> bool {
    let mut options: ReadOptions = bytes.options();
    let (columns, groups) = (1 + bytes.below(4), 1 + bytes.below(2));
    let types: Vec<usize> =
        (0..columns).map(|_| bytes.below(TYPES.len() + 4) % TYPES.len()).collect();
    let nulls: Vec<bool> = (0..columns).map(|_| bytes.rarely(3)).collect();
    for (c, at) in types.iter().enumerate() {
        match bytes.below(6) {
            0 => options.group_by.push(format!("c{c}")),
            1 if TYPES[*at].0 == "BINARY" => options.one_hot.push(format!("c{c}")),
            2 => options.drop.push(format!("c{c}")),
            _ => {}
        }
    }
    let field = |c: usize| {
        let (name, meaning) = TYPES[types[c]];
        format!("{} {name} c{c} {meaning};", if nulls[c] { "OPTIONAL" } else { "REQUIRED" })
    };
    let schema = format!("message m {{ {} }}", (0..columns).map(field).collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).expect("a schema of our own"));
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder()
        .set_compression(bytes.pick(&[Compression::UNCOMPRESSED, Compression::SNAPPY, zstd]))
        .set_dictionary_enabled(bytes.rarely(2))
        .set_writer_version(bytes.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))
        .expect("in memory");
    for _ in 0..groups {
        let rows = bytes.below(6);
        let mut group = writer.next_row_group().expect("in memory");
        let mut c = 0;
        while let Some(column) = group.next_column().expect("a column of the schema") {
            write(bytes, column, types[c], nulls[c], rows);
            c += 1;
        }
        group.close().expect("in memory");
    }
    let mut content = writer.into_inner().expect("in memory");
    bytes.slip(&mut content);
    check(read(&written("x.parquet", &content), &options))
}

fn write(
    bytes: &mut Bytes<'_>,
    mut column: SerializedColumnWriter<'_>,
    kind: usize,
    nulls: bool,
    rows: usize,
) {
    let defined: Vec<i16> = (0..rows).map(|_| i16::from(!(nulls && bytes.rarely(4)))).collect();
    let count = defined.iter().filter(|there| **there == 1).count();
    let mut numbers = || -> Vec<i64> {
        let odd = [i64::MIN, i64::MAX, -1, i64::from(i32::MIN), 1 << 40];
        (0..count)
            .map(|_| if bytes.rarely(12) { bytes.pick(&odd) } else { bytes.byte().into() })
            .collect()
    };
    let levels = nulls.then_some(&defined[..]);
    let result = match TYPES[kind].0 {
        "DOUBLE" => {
            let values: Vec<f64> = numbers().into_iter().map(|v| v as f64 / 8.0).collect();
            column.typed::<DoubleType>().write_batch(&values, levels, None)
        }
        "FLOAT" => {
            let values: Vec<f32> = numbers().into_iter().map(|v| v as f32 / 8.0).collect();
            column.typed::<FloatType>().write_batch(&values, levels, None)
        }
        "INT32" => {
            let values: Vec<i32> = numbers().into_iter().map(|v| v as i32).collect();
            column.typed::<Int32Type>().write_batch(&values, levels, None)
        }
        "INT64" => column.typed::<Int64Type>().write_batch(&numbers(), levels, None),
        "BOOLEAN" => {
            let values: Vec<bool> = numbers().into_iter().map(|v| v % 2 == 0).collect();
            column.typed::<BoolType>().write_batch(&values, levels, None)
        }
        _ => {
            let values: Vec<ByteArray> =
                (0..count).map(|_| ByteArray::from(bytes.word().into_bytes())).collect();
            column.typed::<ByteArrayType>().write_batch(&values, levels, None)
        }
    };
    result.expect("in memory");
    column.close().expect("in memory");
}
