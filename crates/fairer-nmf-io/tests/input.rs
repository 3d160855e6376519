//! Real files of every format, right ones and wrong ones.

mod shared;

use std::fs;
use std::io::Write;
use std::path::Path;

use fairer_nmf_io::{
    Dataset, DenseMatrix, DenseView, InputError, Matrix, Missing, Precision, ReadOptions,
    SparseMatrix, read,
};
use ndarray::{Array2, array};
use shared::shared;
use tempfile::TempDir;

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder with one file in it.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

fn dense(data: &Dataset) -> Array2<f64> {
    match &data.matrix {
        Matrix::Dense(dense) => match dense.view() {
            DenseView::F64(view) => view.to_owned(),
            DenseView::F32(view) => view.mapv(f64::from),
        },
        Matrix::Sparse(sparse) => expand(sparse),
    }
}

fn expand(sparse: &SparseMatrix) -> Array2<f64> {
    let mut dense = Array2::zeros((sparse.rows, sparse.cols));
    for row in 0..sparse.rows {
        let (columns, values) = sparse.row(row);
        for (col, value) in columns.iter().zip(values) {
            dense[[row, *col as usize]] = *value;
        }
    }
    dense
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn by(columns: &[&str]) -> ReadOptions {
    options().with(|o| o.group_by = names(columns))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// The message about a wrong input, without the folder: one sentence on one line.
fn complaint(path: &str, options: &ReadOptions) -> String {
    let message = read(path, options).expect_err("wrong input").to_string();
    assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
    match Path::new(path).parent().and_then(Path::to_str) {
        Some(folder) if !folder.is_empty() => message.replace(&format!("{folder}/"), ""),
        _ => message,
    }
}

fn twelve() -> Array2<f64> {
    Array2::from_shape_fn((4, 3), |(i, j)| (3 * i + j) as f64 / 4.0)
}

const PEOPLE: &str = "age,sex,city,pay\n63,1,\"Rome, IT\",2.5\n41,0,Bonn,1e3\n57,1,Bonn,7\n";

#[test]
fn a_csv_gives_features_groups_and_one_hot_columns() {
    let (_folder, path) = file("people.csv", PEOPLE);
    let options = by(&["sex"]).with(|o| o.one_hot = names(&["city"]));
    let data = read(&path, &options).unwrap();
    assert_eq!(data.features, ["age", "pay", "city=Bonn", "city=Rome, IT"]);
    assert_eq!(data.labels.as_deref(), Some(&names(&["1", "0", "1"])[..]));
    let expected = array![[63., 2.5, 0., 1.], [41., 1e3, 1., 0.], [57., 7., 1., 0.]];
    assert_eq!(dense(&data), expected);
    assert_eq!(data.describe_cell(1, 1), format!("{path}, line 3, column `pay`"));
}

#[test]
fn several_group_columns_are_joined() {
    let (_folder, path) = file("people.csv", PEOPLE);
    let data = read(&path, &by(&["sex", "city"])).unwrap();
    let labels = names(&["1 | Rome, IT", "0 | Bonn", "1 | Bonn"]);
    assert_eq!(data.labels, Some(labels));
}

#[test]
fn compression_and_delimiter_do_not_matter() {
    let plain = "a;b\n1;2\n3;4\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(plain.as_bytes()).unwrap();
    let zst = zstd::encode_all(plain.as_bytes(), 1).unwrap();
    let tsv = plain.replace(';', "\t");
    for (name, content) in [
        ("a.csv", plain.as_bytes().to_vec()),
        ("a.csv.gz", gz.finish().unwrap()),
        ("a.csv.zst", zst),
        ("a.tsv", tsv.into_bytes()),
        ("bom.csv", [b"\xef\xbb\xbf", plain.as_bytes()].concat()),
    ] {
        let (_folder, path) = file(name, content);
        let data = read(&path, &options()).unwrap();
        assert_eq!(data.features, ["a", "b"], "{name}");
        assert_eq!(dense(&data), array![[1., 2.], [3., 4.]], "{name}");
    }
}

#[test]
fn single_precision_is_single() {
    let (_folder, path) = file("a.csv", "a\n0.1\n");
    let options = options().with(|o| o.precision = Precision::F32);
    let data = read(&path, &options).unwrap();
    assert!(matches!(&data.matrix, Matrix::Dense(DenseMatrix::F32(a)) if a[[0, 0]] == 0.1f32));
}

#[test]
fn missing_cells_are_named_or_their_rows_left_out() {
    let (_folder, path) = file("m.csv", "a,g\n1,x\n?,y\n3,NA\n4,z\nnan,\n");
    let strict = by(&["g"]);
    assert_eq!(
        complaint(&path, &strict),
        "m.csv has 4 missing cells: line 3 column `a`, line 4 column `g`, line 6 column `a`, line 6 column `g`; fill them in, or leave out the rows with `--missing drop-rows`"
    );
    let drop = strict.with(|o| o.missing = Missing::DropRows);
    let data = read(&path, &drop).unwrap();
    assert_eq!(dense(&data), array![[1.], [4.]]);
    assert_eq!(data.labels, Some(names(&["x", "z"])));
    assert_eq!(
        data.notes.iter().map(|note| &*note.sentence).collect::<Vec<_>>(),
        [
            "3 of 5 rows left out because of missing cells: 1 of 1 of `y` (100.0 %), 2 of 2 of `(no group)` (100.0 %), none of the others"
        ]
    );
    assert!(data.describe_cell(1, 0).ends_with("line 5, column `a`"));

    // A file of labels belongs to the rows of the data file, also to those left out.
    let (_folder2, labels) = file("labels.txt", "p\nq\nr\ns\nt\n");
    let drop = drop.with(|o| {
        o.group_by = Vec::new();
        o.drop = names(&["g"]);
        o.groups = Some(labels.parse().unwrap());
    });
    let data = read(&path, &drop).unwrap();
    assert_eq!(data.labels, Some(names(&["p", "r", "s"])));
}

#[test]
fn wrong_tables_are_explained() {
    let (_folder, path) = file("people.csv", PEOPLE);
    assert_eq!(
        complaint(&path, &options()),
        "people.csv has a column that is not numeric: `city` (line 2 of `city` holds `Rome, IT`); turn words of few values into 0/1 columns with `--one-hot city`, or leave them out with `--drop city`"
    );
    assert_eq!(
        complaint(&path, &by(&["Sexx"])),
        "people.csv has no column `Sexx` (--group-by); did you mean `sex`?"
    );
    let twice = by(&["sex"]).with(|o| o.one_hot = names(&["sex"]));
    assert!(complaint(&path, &twice).contains("`sex` of people.csv is named by both"));
    for (content, expected) in [
        (
            "a,b\n1,2\n3\n",
            "t.csv, line 3: found 1 cells where the header has 2: mend the line (a missing delimiter, or an unquoted one inside a text?)",
        ),
        (
            "a,b\n1,2\n3,4o\n5,6\n7,8\n",
            "t.csv, line 3, column `b`: expected a number, found `4o`: mend the cell, or leave the column out with `--drop b`",
        ),
        ("a,a\n1,2\n", "t.csv has two columns named `a`: rename one of them in the header"),
        ("a,b\n", "t.csv has no data: there is no row after the header"),
        ("", "t.csv has no data: a header with the names of the columns is expected"),
    ] {
        let (_folder, path) = file("t.csv", content);
        assert_eq!(complaint(&path, &options()), expected);
    }
}

#[test]
fn files_that_are_not_there_or_not_whole_are_explained() {
    assert_eq!(
        complaint("nowhere.csv", &options()),
        "nowhere.csv does not exist: check the spelling and the folder"
    );
    let (_folder, path) = file("a.xyz", "1");
    assert!(complaint(&path, &options()).starts_with("a.xyz has no ending that tells its format"));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&b"a,b\n1,2\n".repeat(1000)).unwrap();
    let gz = gz.finish().unwrap();
    let (_folder, path) = file("cut.csv.gz", &gz[..gz.len() / 2]);
    assert!(
        complaint(&path, &options()).starts_with("cut.csv.gz is damaged: its gzip data breaks off")
    );
    for name in ["dense.npz", "csr.npz", "c_f8.npy", "fortran_f4.npy"] {
        let whole = fs::read(fixture(name)).unwrap();
        for length in [whole.len() / 2, 5, whole.len() - 4] {
            let (_folder, path) = file(name, &whole[..length]);
            let message = complaint(&path, &options());
            assert!(message.starts_with(&format!("{name} is damaged")), "{message}");
        }
    }
}

#[test]
fn a_flipped_bit_in_an_archive_is_found() {
    let mut bytes = fs::read(fixture("csr.npz")).unwrap();
    // Inside the packed numbers of the first array.
    bytes[70] ^= 1;
    let (_folder, path) = file("flip.npz", bytes);
    assert!(matches!(read(&path, &options()), Err(InputError::Damaged { .. })));
}

#[test]
fn npy_is_read_in_both_orders_and_converted_where_asked() {
    for name in ["c_f8.npy", "fortran_f4.npy"] {
        let data = read(&fixture(name), &options()).unwrap();
        let single = matches!(data.matrix, Matrix::Dense(DenseMatrix::F32(_)));
        assert_eq!(single, name == "fortran_f4.npy");
        assert_eq!(dense(&data), twelve(), "{name}");
        assert_eq!(data.features, ["f0", "f1", "f2"]);
    }
    assert_eq!(dense(&read(&fixture("big_endian.npy"), &options()).unwrap()), twelve());
    let integers = read(&fixture("i2.npy"), &options()).unwrap();
    assert_eq!(dense(&integers), twelve() * 4.0 - 1.0);
    assert!(integers.describe_cell(2, 1).ends_with("i2.npy, row 2, column 1 (counting from 0)"));
    let double = options().with(|o| o.precision = Precision::F64);
    let data = read(&fixture("fortran_f4.npy"), &double).unwrap();
    assert!(matches!(&data.matrix, Matrix::Dense(DenseMatrix::F64(a)) if *a == twelve()));
    assert!(
        complaint(&fixture("one_dimension.npy"), &options()).contains("with 1 dimension: a matrix")
    );
    assert!(complaint(&fixture("objects.npy"), &options()).contains("elements of type |O"));
    assert!(complaint(&fixture("c_f8.npy"), &by(&["sex"])).contains("`--groups FILE`"));
}

#[test]
fn npz_holds_dense_arrays_or_a_sparse_matrix() {
    assert_eq!(dense(&read(&fixture("dense.npz"), &options()).unwrap()), twelve());
    let part = read(&format!("{}:other", fixture("dense.npz")), &options()).unwrap();
    assert_eq!(part.matrix.shape(), (2, 3));
    let expected = twelve().mapv(|v| if v > 1.0 { v } else { 0.0 });
    let csr = read(&fixture("csr.npz"), &options()).unwrap();
    let csc = read(&fixture("csc.npz"), &options()).unwrap();
    let (Matrix::Sparse(csr), Matrix::Sparse(csc)) = (&csr.matrix, &csc.matrix) else {
        panic!("sparse expected")
    };
    assert_eq!(csr, csc);
    assert_eq!(expand(csr), expected);
    assert!(complaint(&fixture("several.npz"), &options()).contains("it holds `a`, `b`"));
    assert!(complaint(&fixture("coo.npz"), &options()).contains(".tocsr()"));
    let unknown = format!("{}:Y", fixture("dense.npz"));
    assert!(complaint(&unknown, &options()).contains("has no array `Y`"));
}

#[test]
fn labels_come_from_text_npy_npz_and_csv() {
    let data = fixture("c_f8.npy");
    let labels = |source: &str| {
        let groups = Some(source.parse().unwrap());
        read(&data, &options().with(|o| o.groups = groups)).map(|data| data.labels.unwrap())
    };
    assert_eq!(labels(&fixture("labels_int.npy")).unwrap(), ["1", "0", "1", "2"]);
    assert_eq!(labels(&fixture("labels_text.npy")).unwrap(), ["men", "women", "Ä", "men"]);
    let member = format!("{}:group", fixture("dense.npz"));
    assert_eq!(labels(&member).unwrap(), ["0", "0", "1", "1"]);
    let (_folder, text) = file("labels.txt", "a\nb b\r\na\nc\n\n");
    assert_eq!(labels(&text).unwrap(), ["a", "b b", "a", "c"]);
    let (_folder, csv) = file("who.csv", "id,g\n1,x\n2,y\n3,x\n4,x\n");
    assert_eq!(labels(&format!("{csv}:g")).unwrap(), ["x", "y", "x", "x"]);
    let wrong = labels(&format!("{csv}:gg")).unwrap_err().to_string();
    assert!(wrong.contains("did you mean `g`?"), "{wrong}");
    let wrong = labels(&csv).unwrap_err().to_string();
    assert!(wrong.contains("holds several columns"), "{wrong}");
    let (_folder, short) = file("short.txt", "a\nb\n");
    let wrong = labels(&short).unwrap_err().to_string();
    assert!(
        wrong.contains("short.txt has 2 labels, but") && wrong.contains("has 4 rows"),
        "{wrong}"
    );
    let (_folder, blank) = file("blank.txt", "a\n\nb\nc\n");
    assert!(labels(&blank).unwrap_err().to_string().contains("line 2: the line is blank"));
}

#[test]
fn feature_names_come_from_a_file() {
    let (_folder, path) = file("names.txt", "one\ntwo\nthree\n");
    let options = options().with(|o| o.feature_names = Some(path));
    let data = read(&fixture("c_f8.npy"), &options).unwrap();
    assert_eq!(data.features, ["one", "two", "three"]);
}

#[test]
fn matrix_market_is_read_plain_and_packed() {
    let text = "%%MatrixMarket matrix coordinate real general\n% made by hand\n3 2 3\n3 1 .5\n1 2 2\n3 1 1\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    for (name, bytes) in [("a.mtx", text.as_bytes().to_vec()), ("a.mtx.gz", gz.finish().unwrap())] {
        let (_folder, path) = file(name, bytes);
        let data = read(&path, &options()).unwrap();
        assert_eq!(dense(&data), array![[0., 2.], [0., 0.], [1.5, 0.]]);
    }
}

#[test]
fn json_lines_have_keys_for_columns() {
    let text = "{\"a\": 1, \"g\": \"x\"}\n\n{\"g\": 2, \"a\": 0.5, \"b\": null}\n{\"a\":3,\"b\":4,\"g\":true}\n";
    let (_folder, path) = file("a.jsonl", text);
    let drop_b = by(&["g"]).with(|o| o.drop = names(&["b"]));
    let data = read(&path, &drop_b).unwrap();
    assert_eq!(dense(&data), array![[1.], [0.5], [3.]]);
    assert_eq!(data.labels, Some(names(&["x", "2", "true"])));
    assert!(data.describe_cell(2, 0).ends_with("line 4, column `a`"));
    let message = complaint(&path, &by(&["g"]));
    assert!(message.contains("2 missing cells: line 1 column `b`, line 3 column `b`"), "{message}");
    let (_folder, path) = file("bad.jsonl", "{\"a\": 1}\n[2]\n");
    assert!(complaint(&path, &options()).starts_with("bad.jsonl, line 2: not a JSON object"));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_names_the_feature() {
    let message = complaint(&fixture("small.parquet"), &options());
    assert!(message.contains("--features parquet"), "{message}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_a_table() {
    let options = by(&["g"]).with(|o| o.missing = Missing::DropRows);
    let data = read(&fixture("small.parquet"), &options).unwrap();
    assert_eq!(data.features, ["a", "b"]);
    assert_eq!(dense(&data), array![[1., 0.5], [2., 1.5]]);
    assert_eq!(data.labels, Some(names(&["x", "y"])));
    let groups = format!("{}:g", fixture("small.parquet")).parse().unwrap();
    let (_folder, path) = file("a.csv", "a\n1\n2\n3\n");
    let options = self::options().with(|o| o.groups = Some(groups));
    assert_eq!(read(&path, &options).unwrap().labels, Some(names(&["x", "y", "x"])));
}

#[test]
fn the_heart_disease_table_gives_the_papers_matrix() {
    let (Some(table), Some(expected)) =
        (shared("heart-disease/processed.cleveland.data"), shared("heart-disease/hd_297x12.npz"))
    else {
        return;
    };
    let header = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,num\n";
    let content = header.to_string() + &fs::read_to_string(table).unwrap();
    let (_folder, path) = file("heart.csv", content);
    let options = by(&["sex"]).with(|o| {
        o.drop = names(&["num"]);
        o.missing = Missing::DropRows;
    });
    let data = read(&path, &options).unwrap();
    let note = &data.notes[0];
    assert!(
        note.sentence.starts_with("6 of 303 rows left out because of missing cells: "),
        "{note}"
    );
    let expected = dense(&read(&expected, &self::options()).unwrap());
    let mut actual = dense(&data);
    for mut column in actual.columns_mut() {
        let norm = column.dot(&column).sqrt();
        column /= norm;
    }
    let labels = data.labels.unwrap();
    let order = |sex: &str| (0..297).filter(|&row| labels[row] == sex).collect::<Vec<_>>();
    let order = [order("1.0"), order("0.0")].concat();
    for (row, from) in order.into_iter().enumerate() {
        for col in 0..12 {
            assert!((actual[[from, col]] - expected[[row, col]]).abs() < 1e-14);
        }
    }
}
