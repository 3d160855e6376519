//! The paper's 20 Newsgroups matrix, from the posts.

#[path = "../../fairer-nmf-io/tests/shared/mod.rs"]
mod shared;

use std::fs;

use fairer_nmf_io::{Dataset, Matrix, ReadOptions, SparseMatrix, TextOptions, read};
use fairer_nmf_paper::newsgroups;
use shared::shared;

/// A file of 20 Newsgroups, where it is there.
fn posts(name: &str) -> Option<String> {
    shared(&format!("20newsgroups/{name}"))
}

fn sparse(data: &Dataset) -> &SparseMatrix {
    match &data.matrix {
        Matrix::Sparse(sparse) => sparse,
        Matrix::Dense(_) => panic!("sparse expected"),
    }
}

/// Each column divided by its norm, as the paper does before anything else.
fn scale_columns(matrix: &SparseMatrix) -> SparseMatrix {
    let mut squares = vec![0.0; matrix.cols];
    for (col, value) in matrix.indices.iter().zip(&matrix.values) {
        squares[*col as usize] += value * value;
    }
    let mut scaled = matrix.clone();
    for (col, value) in scaled.indices.iter().zip(&mut scaled.values) {
        *value /= squares[*col as usize].sqrt();
    }
    scaled
}

fn assert_is_the_papers(data: &Dataset) {
    let (Some(matrix), Some(terms), Some(rows)) =
        (posts("20n_tfidf_1500x200.npz"), posts("20n_vocabulary.csv"), posts("20n_rows.csv"))
    else {
        return;
    };
    let expected = read(&matrix, &ReadOptions::default()).unwrap();
    let (expected, actual) = (sparse(&expected), scale_columns(sparse(data)));
    assert_eq!((actual.rows, actual.cols), (1500, 200));
    assert_eq!(actual.indptr, expected.indptr);
    assert_eq!(actual.indices, expected.indices);
    let apart = actual.values.iter().zip(&expected.values).map(|(a, e)| (a - e).abs());
    let worst = apart.fold(0.0, f64::max);
    println!("largest difference from the paper's matrix: {worst:e}");
    assert!(worst < 1e-12);
    let labels = |path: &str, column: &str| {
        let options = ReadOptions::default()
            .with(|o| o.groups = Some(format!("{path}:{column}").parse().unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let ones = folder.path().join("ones.csv");
        let rows = fs::read_to_string(path).unwrap().lines().count();
        fs::write(&ones, "1\n".repeat(rows)).unwrap();
        read(ones.to_str().unwrap(), &options).unwrap().labels.unwrap()
    };
    assert_eq!(data.features, labels(&terms, "term"));
    assert_eq!(data.labels.as_deref().unwrap(), labels(&rows, "group_name"));
}

#[test]
fn newsgroups_from_the_archive_are_the_papers() {
    if let Some(path) = posts("20news-bydate-train.tar.gz") {
        let data = newsgroups::read(&path).unwrap();
        assert_is_the_papers(&data);
        assert!(data.describe_cell(0, 0).ends_with("document comp.windows.x/67372, term `able`"));
    }
}

#[test]
fn newsgroups_unpacked_are_the_papers() {
    let Some(path) = posts("20news-bydate-train.tar.gz") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let packed = flate2::read::GzDecoder::new(fs::File::open(path).unwrap());
    tar::Archive::new(packed).unpack(folder.path()).unwrap();
    let path = folder.path().to_str().unwrap();
    assert_is_the_papers(&newsgroups::read(path).unwrap());

    fs::remove_file(folder.path().join("20news-bydate-train/comp.windows.x/67372")).unwrap();
    let message = newsgroups::read(path).unwrap_err().to_string();
    assert!(message.contains("has no post 20news-bydate-train/comp.windows.x/67372"), "{message}");
}

#[test]
fn newsgroups_from_json_lines_are_the_papers() {
    let Some(path) = posts("20n_subset_1500.jsonl.gz") else {
        return;
    };
    for (column, clean) in [("clean", false), ("text", true)] {
        let options = ReadOptions::default().with(|o| {
            o.group_by = vec!["group".into()];
            o.text = Some(TextOptions::paper().with(|t| {
                t.column = Some(column.into());
                t.clean = clean;
            }));
        });
        let mut data = read(&path, &options).unwrap();
        let name = |label: &String| newsgroups::GROUPS[label.parse::<usize>().unwrap()].to_string();
        data.labels = data.labels.map(|labels| labels.iter().map(name).collect());
        assert_is_the_papers(&data);
    }
}
