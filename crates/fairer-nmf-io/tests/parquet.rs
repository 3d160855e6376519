//! Parquet as pyarrow writes it (`fixtures/make_parquet.py`), whole, on disk and damaged.
#![cfg(feature = "parquet")]

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use fairer_nmf_io::{
    Dataset, DenseView, InputError, Matrix, Missing, ReadOptions, column_names, on_disk, read,
};
use ndarray::{Array2, Axis, concatenate};

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

const WORDS: [&str; 4] = ["kind", "yes", "level", "day"];

/// Groups by one of the columns of words, the others left out.
fn by(group: &str) -> ReadOptions {
    let others = WORDS.iter().filter(|word| **word != group);
    ReadOptions {
        group_by: vec![group.to_owned()],
        drop: others.map(|word| (*word).to_owned()).collect(),
        missing: Missing::DropRows,
        ..ReadOptions::default()
    }
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
            let note = found.notes.iter().find(|note| note.contains("hold lists"));
            assert!(note.is_some_and(|note| note.contains("lists.list.element")), "{note:?}");
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
            fs::read_dir(&found.shards).unwrap().map(|e| e.unwrap().path()).collect();
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
        fs::remove_dir_all(Path::new(&found.shards).parent().unwrap()).unwrap();
    }
    fs::copy(fixture("small.parquet"), Path::new(path).join("other.parquet")).unwrap();
    let message = on_disk(path, &options, 1 << 20, &|_| true).unwrap_err().to_string();
    assert!(message.contains("other.parquet holds other columns than"), "{message}");
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
                    fs::remove_dir_all(Path::new(&made.shards).parent().unwrap()).unwrap();
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
