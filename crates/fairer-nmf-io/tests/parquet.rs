//! Parquet as pyarrow writes it (`fixtures/make_parquet.py`), whole, on disk and damaged.
#![cfg(feature = "parquet")]

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use fairer_nmf_io::{
    Dataset, DenseView, InputError, Matrix, Missing, ReadOptions, column_names, on_disk, read,
};
use ndarray::{Array2, Axis, concatenate};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

const WORDS: [&str; 4] = ["kind", "yes", "level", "day"];

/// Groups by one of the columns of words, the others left out.
fn by(group: &str) -> ReadOptions {
    let others = WORDS.iter().filter(|word| **word != group);
    ReadOptions::default().with(|o| {
        o.group_by = vec![group.to_owned()];
        o.drop = others.map(|word| (*word).to_owned()).collect();
        o.missing = Missing::DropRows;
    })
}

fn dense(data: &Dataset) -> Array2<f64> {
    let Matrix::Dense(dense) = &data.matrix else { panic!("a table is dense") };
    match dense.view() {
        DenseView::F64(view) => view.to_owned(),
        DenseView::F32(view) => view.mapv(f64::from),
    }
}

#[test]
fn every_kind_of_column_is_read_as_pandas_writes_it() {
    for group in WORDS {
        let options = by(group);
        let expected = read(&fixture("kinds.csv"), &options).unwrap();
        assert_eq!(dense(&expected).dim(), (39, 8));
        for name in ["kinds", "none", "gzip", "zstd", "lz4"] {
            let found = read(&fixture(&format!("{name}.parquet")), &options).unwrap();
            assert_eq!(found.features, expected.features);
            assert_eq!(dense(&found), dense(&expected), "{name}");
            let lower = |data: &Dataset| -> Vec<String> {
                data.labels.iter().flatten().map(|label| label.to_lowercase()).collect()
            };
            assert_eq!(lower(&found), lower(&expected), "{name} by {group}");
            let note = found.notes.iter().find(|note| note.code == "lists-not-read");
            assert!(
                note.is_some_and(|note| note.sentence.contains("hold lists")
                    && note.sentence.contains("lists.list.element")),
                "{note:?}"
            );
        }
    }
}

#[test]
fn a_folder_on_disk_holds_the_rows_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    fs::create_dir(&path).unwrap();
    for name in ["kinds", "zstd"] {
        fs::copy(fixture(&format!("{name}.parquet")), path.join(format!("{name}.parquet")))
            .unwrap();
    }
    let path = path.to_str().unwrap();
    let options = by("kind");
    let names = column_names(path, &options, 1 << 20).unwrap().unwrap();
    assert!(
        names.contains(&"money".to_owned()) && !names.iter().any(|name| name.contains("index"))
    );
    // Batches of 16 rows, and of all.
    for memory in [1, 1 << 24] {
        let found = on_disk(path, &options, memory, &|_| true).unwrap();
        let mut shards: Vec<_> =
            fs::read_dir(&found.shards[0]).unwrap().map(|e| e.unwrap().path()).collect();
        shards.sort();
        let rows =
            |path: &Path| dense(&read(path.to_str().unwrap(), &ReadOptions::default()).unwrap());
        let parts: Vec<Array2<f64>> = shards.iter().map(|path| rows(path)).collect();
        let parts: Vec<_> = parts.iter().map(|part| part.view()).collect();
        let one = read(&fixture("kinds.csv"), &options).unwrap();
        let twice = concatenate(Axis(0), &[dense(&one).view(), dense(&one).view()]).unwrap();
        assert_eq!(concatenate(Axis(0), &parts).unwrap(), twice);
        let groups = found.groups.unwrap();
        let labels = groups.codes.iter().map(|&code| groups.names[code as usize].clone());
        let expected = one.labels.unwrap();
        assert_eq!(labels.collect::<Vec<_>>(), [&expected[..], &expected[..]].concat());
        fs::remove_dir_all(Path::new(&found.shards[0]).parent().unwrap()).unwrap();
    }
    // Columns that go through a file can be stopped before there are rows.
    let stopped = on_disk(path, &options, 1, &|rows| rows > 0).unwrap_err().to_string();
    assert!(stopped.contains("nothing was kept"), "{stopped}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    fs::copy(fixture("small.parquet"), Path::new(path).join("other.parquet")).unwrap();
    let message = on_disk(path, &options, 1 << 20, &|_| true).unwrap_err().to_string();
    assert!(message.contains("other.parquet holds other columns than"), "{message}");
}

/// A file with one column.
fn column(path: &Path, values: &[f64]) {
    let schema = parse_message_type("message rows { required double a; }").unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.into(), Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    writer.close().unwrap();
}

/// Labels beside a table are of the rows that they were made of.
#[test]
fn the_files_of_dask_are_read_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    fs::create_dir(&path).unwrap();
    for part in 0..12 {
        column(&path.join(format!("part.{part}.parquet")), &[f64::from(part), 0.5]);
    }
    let found =
        on_disk(path.to_str().unwrap(), &ReadOptions::default(), 1 << 20, &|_| true).unwrap();
    let shard = format!("{}/000000.npy", found.shards[0]);
    let rows = dense(&read(&shard, &ReadOptions::default()).unwrap());
    let first: Vec<f64> = rows.column(0).iter().copied().step_by(2).collect();
    assert_eq!(first, (0..12).map(f64::from).collect::<Vec<_>>());
}

/// As pandas writes `datetime64[ns]`: a date is no number, in whatever unit.
#[test]
fn times_in_nanoseconds_are_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let schema = "message rows { required double a; required int64 day (TIMESTAMP(NANOS,false)); }";
    let schema = parse_message_type(schema).unwrap();
    let file = fs::File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.into(), Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&[1.0, 2.0], None, None).unwrap();
    column.close().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let days = [1_577_836_800_000_000_000, 1_577_923_200_000_000_000];
    column.typed::<Int64Type>().write_batch(&days, None, None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    writer.close().unwrap();
    let path = path.to_str().unwrap();
    let error = read(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("`day`") && error.contains("2020-01-01"), "{error}");
    let options = ReadOptions::default().with(|o| o.group_by = vec!["day".into()]);
    let labels = read(path, &options).unwrap().labels.unwrap();
    assert!(labels[0].starts_with("2020-01-01") && labels[1].starts_with("2020-01-02"));
}

/// What pandas and Dask take off when they read is no feature, in memory and on disk; it can still be named.
#[test]
fn the_index_of_a_frame_is_no_feature() {
    let folder = tempfile::tempdir().unwrap();
    let plain = ReadOptions::default();
    for name in ["index_named.parquet", "index_dask.parquet"] {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        fs::copy(fixture(name), &path).unwrap();
        let data = read(&path, &plain).unwrap();
        assert_eq!(data.features, ["a", "b"], "{name}");
        assert_eq!(dense(&data).column(0).to_vec(), [0., 1., 2., 3., 4., 5.]);
        let table = on_disk(&path, &plain, 1 << 20, &|_| true).unwrap().table.unwrap();
        assert_eq!(table.features, ["a", "b"], "{name}");
        for notes in [data.notes, table.notes] {
            let said =
                notes.iter().any(|note| note.sentence.contains("`id` is the index of the pandas"));
            assert_eq!(said, name == "index_named.parquet", "{notes:?}");
        }
    }
    let path = folder.path().join("index_named.parquet").to_str().unwrap().to_owned();
    let names = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let by_index = plain.clone().with(|o| o.group_by = names(&["id"]));
    let groups = on_disk(&path, &by_index, 1 << 20, &|_| true).unwrap().groups.unwrap();
    assert_eq!(groups.names, ["2", "3", "5", "7", "8", "9"]);
    let data = read(&path, &by_index).unwrap();
    assert_eq!(data.labels.unwrap(), ["7", "5", "3", "2", "8", "9"]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    let dropped = read(&path, &plain.clone().with(|o| o.drop = names(&["id"]))).unwrap();
    assert!(dropped.features == ["a", "b"] && dropped.notes.is_empty(), "{:?}", dropped.notes);
    let words = read(&path, &plain.with(|o| o.one_hot = names(&["id"]))).unwrap();
    assert_eq!(words.features.len(), 2 + 6);
}

/// Cut, or with a byte changed: a sentence or a table, never a panic.
#[test]
fn damaged_files_are_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet").to_str().unwrap().to_owned();
    let (mut refused, mut whole) = (0, 0);
    for name in ["small.parquet", "zstd.parquet"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let cuts = (0..bytes.len()).step_by(7).map(|cut| bytes[..cut].to_vec());
        let changed = (0..bytes.len()).step_by(3).flat_map(|at| {
            [0x00, 0x7f, 0x80, 0xff].map(|byte| {
                let mut changed = bytes.clone();
                changed[at] = byte;
                changed
            })
        });
        for content in cuts.chain(changed) {
            fs::write(&path, &content).unwrap();
            let options = if name == "small.parquet" { ReadOptions::default() } else { by("kind") };
            let ended = catch_unwind(|| {
                // Files take time: every eighth.
                let disk = (whole % 8 == 0).then(|| on_disk(&path, &options, 1 << 20, &|_| true));
                if let Some(Ok(made)) = &disk {
                    fs::remove_dir_all(Path::new(&made.shards[0]).parent().unwrap()).unwrap();
                }
                [read(&path, &options).err(), disk.and_then(Result::err)]
            });
            for error in ended.expect("no panic").into_iter().flatten() {
                let message = error.to_string();
                assert!(message.contains("a.parquet"), "{message}");
                assert!((10..2000 + path.len()).contains(&message.len()), "{message}");
                refused += 1;
            }
            whole += 1;
        }
    }
    assert!(refused > whole / 4, "{refused} of {whole}");
}

#[test]
fn rows_that_are_declared_and_not_there_take_no_memory_and_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.parquet");
    fs::copy(fixture("bomb.parquet"), &path).unwrap();
    let path = path.to_str().unwrap();
    let options = ReadOptions::default();
    for error in [
        read(path, &options).map(drop).unwrap_err(),
        on_disk(path, &options, 1 << 20, &|_| true).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, InputError::TooLarge { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("declares 300000000 rows and 2 columns"), "{message}");
        assert!(message.contains("--input-limit"), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}
