//! Matrices in files: what blocks hold, and what happens to files that change under a fit.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fairer_nmf::Parameters;
use fairer_nmf::fit::fit_rows;
use fairer_nmf::rows::{Block, BlockSource, FeatureScaling, GroupCodes, in_blocks};
use fairer_nmf_io::{
    AnyShards, DenseView, InputLimit, Matrix, Precision, ReadOptions, Shards, on_disk, open_shards,
    read_groups,
};
use tempfile::TempDir;

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn double(path: &str, memory: usize) -> Arc<Shards<f64>> {
    double_of(&[path.to_owned()], memory)
}

fn double_of(paths: &[String], memory: usize) -> Arc<Shards<f64>> {
    match open_shards(paths, memory, Precision::F64, InputLimit::default()) {
        Ok(AnyShards::F64(shards)) => shards,
        Ok(AnyShards::F32(_)) => panic!("double precision was asked for"),
        Err(error) => panic!("{error}"),
    }
}

fn complaint(path: &str, memory: usize) -> String {
    open_shards(&[path.to_owned()], memory, Precision::Stored, InputLimit::default())
        .err()
        .expect("refused")
        .to_string()
}

/// All rows of all blocks, dense.
fn all(shards: &Shards<f64>) -> Vec<Vec<f64>> {
    let (mut rows, n) = (Vec::new(), shards.features());
    for (block, &count) in shards.block_rows().iter().enumerate() {
        let mut found = Block::default();
        shards.read(block, &mut found).unwrap();
        for row in 0..count {
            let mut dense = vec![0.0; n];
            match found.starts.is_empty() {
                true => dense.copy_from_slice(&found.values[row * n..(row + 1) * n]),
                false => (found.starts[row]..found.starts[row + 1])
                    .for_each(|at| dense[found.columns[at] as usize] = found.values[at]),
            }
            rows.push(dense);
        }
    }
    rows
}

/// All rows as the readers of whole files see them.
fn of_reader(name: &str) -> Vec<Vec<f64>> {
    match fairer_nmf_io::read(&fixture(name), &ReadOptions::default()).unwrap().matrix {
        Matrix::Sparse(sparse) => (0..sparse.rows)
            .map(|row| {
                let mut dense = vec![0.0; sparse.cols];
                let (columns, values) = sparse.row(row);
                columns.iter().zip(values).for_each(|(&j, &v)| dense[j as usize] = v);
                dense
            })
            .collect(),
        Matrix::Dense(dense) => match dense.view() {
            DenseView::F64(x) => x.rows().into_iter().map(|row| row.to_vec()).collect(),
            DenseView::F32(_) => panic!("the fixtures are in double precision"),
        },
    }
}

/// In blocks of one row, or of all.
#[test]
fn blocks_hold_what_the_readers_read() {
    for name in ["c_f8.npy", "i2.npy", "big_endian.npy", "dense.npz", "csr.npz"] {
        let folder = TempDir::new().unwrap();
        for part in ["0", "1"] {
            fs::copy(fixture(name), folder.path().join(format!("{part}-{name}"))).unwrap();
        }
        let expected = of_reader(name);
        let row = 8 * expected[0].len();
        for memory in [16 * row, 1 << 20] {
            let memory = if name.ends_with("npz") { 1 << 20 } else { memory };
            let shards = double(&folder.path().display().to_string(), memory);
            let (first, second) = (expected.clone(), expected.clone());
            assert_eq!(all(&shards), [first, second].concat(), "{name}");
        }
    }
}

/// `numpy.save(f"part{i}.npy")` of twelve parts.
#[test]
fn shards_are_read_in_the_order_of_their_numbers() {
    let folder = TempDir::new().unwrap();
    for part in 0..12 {
        let bytes = npy(2, 1, |row, _| (2 * part + row) as f64);
        fs::write(folder.path().join(format!("part{part}.npy")), bytes).unwrap();
    }
    let rows = all(&double(&folder.path().display().to_string(), 1 << 20));
    assert_eq!(rows.concat(), (0..24).map(f64::from).collect::<Vec<_>>());
}

/// Archives that are too large to be read as a whole, of either kind, with a plain shard between them.
#[test]
fn a_folder_of_archives_is_unpacked_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows");
    fs::create_dir(&path).unwrap();
    let parts = ["2-dense.npz", "3-c_f8.npy", "10-csr.npz"];
    let [dense, plain, sparse] = parts.map(|name| (name, name.split_once('-').unwrap().1));
    let width = of_reader(plain.1)[0].len();
    for (name, own) in [dense, plain, sparse] {
        assert_eq!(of_reader(own)[0].len(), width);
        fs::copy(fixture(own), path.join(name)).unwrap();
    }
    let expected = [dense, plain, sparse].map(|(_, own)| of_reader(own)).concat();
    let path = path.display().to_string();
    let made = |memory| on_disk(&path, &ReadOptions::default(), memory, &|_| true).unwrap();
    // As they are where they are small.
    assert_eq!((made(1 << 20).shards, made(1 << 20).note), (vec![path.clone()], None));
    let memory = 32 * 8 * width;
    for note in ["was converted once into", "has not changed since"] {
        let found = made(memory);
        assert!(found.note.unwrap().sentence.contains(note));
        assert_eq!(all(&double_of(&found.shards, memory)), expected);
    }
    // Nothing is left of what is stopped or damaged.
    let kept = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(kept(), 2);
    fs::copy(fixture(dense.1), Path::new(&path).join("11.npz")).unwrap();
    let stopped = on_disk(&path, &ReadOptions::default(), memory, &|_| false).unwrap_err();
    assert!(stopped.to_string().contains("nothing was kept"), "{stopped}");
    assert_eq!(kept(), 2);
    let bytes = fs::read(fixture(dense.1)).unwrap();
    fs::write(Path::new(&path).join("11.npz"), &bytes[..bytes.len() / 2]).unwrap();
    let damaged = on_disk(&path, &ReadOptions::default(), memory, &|_| true).unwrap_err();
    assert!(damaged.to_string().contains("11.npz is damaged"), "{damaged}");
    assert_eq!(kept(), 2);
}

/// An archive with these arrays, in this order.
fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(array).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// What is unpacked is what is read as a whole, whatever names and orders there are; and a cache that was written to is made again.
#[test]
fn unpacked_archives_are_what_they_were() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows");
    fs::create_dir(&path).unwrap();
    let of = |value: f64| npy(300, 4, move |row, column| value + (row * 4 + column) as f64);
    // The order of an archive does not choose, nor do letters of a name or names that a cache has too.
    let two = archive(&[("arr_0.npy", of(9e6)), ("X.npy", of(0.0))]);
    for (name, bytes) in [
        ("1.npz", two),
        ("2.npz", archive(&[("X.npy", of(1e4))])),
        ("2.NPZ", archive(&[("X.npy", of(2e4))])),
        ("about.json.npz", archive(&[("X.npy", of(3e4))])),
        ("lock.npz", archive(&[("X.npy", of(4e4))])),
    ] {
        fs::write(path.join(name), bytes).unwrap();
    }
    let path = path.display().to_string();
    let rows = |memory| {
        let found = on_disk(&path, &ReadOptions::default(), memory, &|_| true).unwrap();
        (all(&double_of(&found.shards, memory)), found)
    };
    let (whole, small) = (rows(1 << 30), rows(1 << 14));
    assert_eq!((whole.1.note, whole.0.len()), (None, 1500));
    assert_eq!(whole.0, small.0);
    // Of the same length.
    fs::write(Path::new(&small.1.shards[0]).join("X.npy"), of(7.0)).unwrap();
    let again = rows(1 << 14);
    assert!(again.1.note.unwrap().sentence.contains("was converted once"));
    assert_eq!(again.0, whole.0);
    // Rows that do not lie together.
    let mut bytes = of(0.0);
    let at = bytes.windows(5).position(|text| text == b"False").unwrap();
    bytes[at..at + 5].copy_from_slice(b"True ");
    let fortran = folder.path().join("f.npz");
    fs::write(&fortran, archive(&[("X.npy", bytes)])).unwrap();
    let fortran = fortran.display().to_string();
    let disk = |path: &str, memory| on_disk(path, &ReadOptions::default(), memory, &|_| true);
    let error = disk(&fortran, 1 << 14).unwrap_err().to_string();
    assert!(error.contains("f.npz holds a matrix in column order") && error.contains("savez"));
    let csc = folder.path().join("csc.npz").display().to_string();
    fs::copy(fixture("csc.npz"), &csc).unwrap();
    let error = disk(&csc, 1).unwrap_err().to_string();
    assert!(error.contains("csc.npz holds a sparse matrix in the form csc"), "{error}");
    // The archive that three arrays were taken out of may lie beside them.
    let arrays = folder.path().join("arrays");
    fs::create_dir(&arrays).unwrap();
    let (opened, _) = written(&arrays, "sparse");
    fs::write(arrays.join("x.npz"), archive(&[("X.npy", of(0.0))])).unwrap();
    let found = disk(&opened, 1 << 14).unwrap();
    assert_eq!((found.shards, found.note), (vec![opened.clone()], None));
    assert_eq!(all(&double(&opened, 1 << 14)).len(), ROWS);
    // As a whole they are read.
    for path in [fortran, csc] {
        let found = disk(&path, 1 << 30).unwrap();
        assert_eq!(found.note, None);
        assert!(!all(&double_of(&found.shards, 1 << 30)).is_empty());
    }
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    assert!(complaint(&fixture("fortran_f4.npy"), 1 << 20).contains("numpy.ascontiguousarray"));
    assert!(complaint(&fixture("c_f8.npy"), 10).contains("--memory"));
    assert!(complaint(&fixture("one_dimension.npy"), 1 << 20).contains("with 1 dimension"));
    let folder = TempDir::new().unwrap();
    let path = folder.path().display().to_string();
    assert!(complaint(&path, 1 << 20).contains("no .npy or .npz shard"));
    fs::copy(fixture("c_f8.npy"), folder.path().join("a.npy")).unwrap();
    fs::write(folder.path().join("b.npy"), npy(3, 2, |_, _| 1.0)).unwrap();
    assert!(complaint(&path, 1 << 20).contains("b.npy holds 2 columns where"));
    let bytes = fs::read(fixture("c_f8.npy")).unwrap();
    fs::write(folder.path().join("b.npy"), &bytes[..bytes.len() - 1]).unwrap();
    assert!(complaint(&path, 1 << 20).contains("b.npy is damaged: its header promises"));
}

fn npy(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns})}}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for row in 0..rows {
        (0..columns).for_each(|column| bytes.extend(entry(row, column).to_le_bytes()));
    }
    bytes
}

/// An array in one dimension, of numbers in these bytes.
fn vector(descr: &str, numbers: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let all: Vec<Vec<u8>> = numbers.collect();
    let count = all.len();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},)}}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &all.concat()].concat()
}

const ROWS: usize = 200;
const COLUMNS: usize = 6;

fn entry(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64 + 0.5
}

/// The rows of [`entry`] in one of the forms; returns what is opened, and the files behind it.
fn written(folder: &Path, form: &str) -> (String, Vec<PathBuf>) {
    let put = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let whole = folder.display().to_string();
    match form {
        "one" => {
            let path = put("x.npy", npy(ROWS, COLUMNS, entry));
            (path.display().to_string(), vec![path])
        }
        "folder" => {
            let half = ROWS / 2;
            let second = |row, column| entry(row + half, column);
            let files =
                [("0.npy", npy(half, COLUMNS, entry)), ("1.npy", npy(half, COLUMNS, second))];
            (whole, files.map(|(name, bytes)| put(name, bytes)).into())
        }
        "packed" => {
            let path = put("x.npz", archive(&[("X.npy", npy(ROWS, COLUMNS, entry))]));
            (path.display().to_string(), vec![path])
        }
        "sparse" => {
            let places = || (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |j| (row, j)));
            let data = places().map(|(row, j)| entry(row, j).to_le_bytes().to_vec());
            let indices = places().map(|(_, j)| (j as i32).to_le_bytes().to_vec());
            let indptr = (0..=ROWS).map(|row| ((row * COLUMNS) as i64).to_le_bytes().to_vec());
            let files = [
                put("data.npy", vector("<f8", data)),
                put("indices.npy", vector("<i4", indices)),
                put("indptr.npy", vector("<i8", indptr)),
            ];
            (whole, files.into())
        }
        "table" => {
            let line = |row| (0..COLUMNS).map(|j| entry(row, j).to_string()).collect::<Vec<_>>();
            let lines = (0..ROWS).map(|row| line(row).join(","));
            let text = std::iter::once("a,b,c,d,e,f".to_owned()).chain(lines).collect::<Vec<_>>();
            let path = put("t.csv", text.join("\n").into()).display().to_string();
            let made = on_disk(&path, &ReadOptions::default(), 1 << 20, &|_| true).unwrap();
            let [shards] = &made.shards[..] else { panic!("{:?}", made.shards) };
            let inside = fs::read_dir(shards).unwrap().map(|file| file.unwrap().path());
            let npy = inside.filter(|path| path.extension().is_some_and(|e| e == "npy"));
            (shards.clone(), npy.collect())
        }
        _ => unreachable!("{form}"),
    }
}

/// A file that is cut short, overwritten or gone during a fit ends it with its name, not with a signal: whatever the form.
#[test]
fn files_that_change_end_the_fit_with_a_sentence() {
    let mut tried = 0;
    for form in ["one", "folder", "packed", "sparse", "table"] {
        for how in ["cut", "overwritten", "gone"] {
            for which in 0.. {
                let folder = TempDir::new().unwrap();
                let (opened, files) = written(folder.path(), form);
                let Some(path) = files.get(which) else { break };
                let word = if how == "cut" {
                    "bytes when the fit began"
                } else {
                    "changed during the fit"
                };
                let error = broken(&opened, || match how {
                    "cut" => {
                        let half = fs::metadata(path).unwrap().len() / 2;
                        fs::OpenOptions::new()
                            .write(true)
                            .open(path)
                            .unwrap()
                            .set_len(half)
                            .unwrap();
                    }
                    "overwritten" => {
                        let bytes = vec![0xff; fs::metadata(path).unwrap().len() as usize];
                        fs::write(path, bytes).unwrap();
                    }
                    _ => fs::remove_file(path).unwrap(),
                });
                let name = path.file_name().unwrap().to_str().unwrap();
                assert!(error.contains(name) && error.contains(word), "{form}, {how}: {error}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 3 * 8, "one file, two, one, three and one");
}

/// What a fit says that sees its files broken after its first iteration.
fn broken(opened: &str, break_it: impl Fn() + Sync) -> String {
    let shards = double(opened, 1 << 16);
    // An archive is one block, the others are of several.
    assert_eq!(shards.block_rows().len() > 1, !opened.ends_with(".npz"));
    let labels = (0..ROWS).map(|row| if row % 3 == 0 { "a" } else { "b" });
    let groups = GroupCodes::from_labels(labels);
    let rows = in_blocks(shards, groups, &FeatureScaling::Unit, 1 << 20).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let observer = |_: &fairer_nmf::Progress<'_>| {
        if !done.swap(true, std::sync::atomic::Ordering::Relaxed) {
            break_it();
        }
        std::ops::ControlFlow::Continue(())
    };
    fit_rows(&*rows, &Parameters::new(2), &observer).err().expect("an error").to_string()
}

#[test]
fn labels_of_a_text_file_are_read_line_by_line() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.txt");
    let source = || path.display().to_string().parse().unwrap();
    fs::write(&path, "\u{feff}b\r\na \nb\n\n").unwrap();
    let groups = read_groups(&source(), "--groups", InputLimit::default()).unwrap();
    assert_eq!(groups, GroupCodes::from_labels(["b", "a", "b"]));
    fs::write(&path, "b\n\na\n").unwrap();
    let error = read_groups(&source(), "--groups", InputLimit::default()).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("blank"), "{error}");
}
