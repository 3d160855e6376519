//! TF-IDF against scikit-learn.

use std::fs;
use std::path::Path;

use fairer_nmf_io::{
    Dataset, DocumentFrequency, InputLimit, Matrix, Norm, ReadOptions, SparseMatrix, StopWords,
    TextOptions, read,
};
use serde_json::Value;

fn sparse(data: &Dataset) -> &SparseMatrix {
    match &data.matrix {
        Matrix::Sparse(sparse) => sparse,
        Matrix::Dense(_) => panic!("sparse expected"),
    }
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap().to_string()).collect()
}

fn frequency(value: &Value) -> DocumentFrequency {
    match value.as_u64() {
        Some(count) => DocumentFrequency::Count(count as usize),
        None => DocumentFrequency::Share(value.as_f64().unwrap()),
    }
}

/// scikit-learn's options in our words; stop words go to a file.
fn translate(options: &Value, stop_file: &Path) -> TextOptions {
    let mut text = TextOptions::default().with(|t| t.column = Some("text".into()));
    for (name, value) in options.as_object().unwrap() {
        match name.as_str() {
            "lowercase" => text.lowercase = value.as_bool().unwrap(),
            "stop_words" => {
                fs::write(stop_file, strings(value).join("\n")).unwrap();
                text.stop_words =
                    StopWords::read(stop_file.to_str().unwrap(), InputLimit::default()).unwrap();
            }
            "min_df" => text.min_df = frequency(value),
            "max_df" => text.max_df = frequency(value),
            "max_features" => text.max_features = value.as_u64().map(|n| n as usize),
            "token_pattern" => text.token_pattern = Some(value.as_str().unwrap().to_owned()),
            "vocabulary" => text.vocabulary = Some(strings(value)),
            "use_idf" => text.idf = value.as_bool().unwrap(),
            "smooth_idf" => text.smooth_idf = value.as_bool().unwrap(),
            "sublinear_tf" => text.sublinear_tf = value.as_bool().unwrap(),
            "norm" if value.is_null() => text.norm = Norm::None,
            "norm" => text.norm = Norm::L1,
            other => panic!("unknown option {other}"),
        }
    }
    text
}

#[test]
fn tfidf_equals_scikit_learn_for_every_option() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tfidf.json");
    let fixture: Value = serde_json::from_slice(&fs::read(fixture).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("documents.jsonl");
    let lines: Vec<String> = strings(&fixture["documents"])
        .iter()
        .map(|text| serde_json::json!({ "text": text }).to_string())
        .collect();
    fs::write(&path, lines.join("\n")).unwrap();
    for case in fixture["cases"].as_array().unwrap() {
        let text = translate(&case["options"], &folder.path().join("stop.txt"));
        let options = ReadOptions::default().with(|o| o.text = Some(text));
        let data = read(path.to_str().unwrap(), &options).unwrap();
        assert_eq!(data.features, strings(&case["terms"]), "{}", case["options"]);
        let matrix = sparse(&data);
        for (row, expected) in case["rows"].as_array().unwrap().iter().enumerate() {
            let expected: Vec<f64> =
                expected.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let mut actual = vec![0.0; expected.len()];
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(c, v)| actual[*c as usize] = *v);
            for (a, e) in actual.iter().zip(&expected) {
                assert!((a - e).abs() < 1e-13, "{} row {row}", case["options"]);
            }
        }
    }
}

#[test]
fn new_documents_are_weighed_as_by_scikit_learns_transform() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tfidf_transform.json");
    let fixture: Value = serde_json::from_slice(&fs::read(fixture).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name).with_extension("jsonl");
        let lines = strings(&fixture[name]);
        let lines = lines.iter().map(|text| serde_json::json!({ "text": text }).to_string());
        fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (fitted, new) = (write("fitted"), write("new"));
    for case in fixture["cases"].as_array().unwrap() {
        let stop_file = folder.path().join("stop.txt");
        let text = translate(&case["options"], &stop_file);
        let options = ReadOptions::default().with(|o| o.text = Some(text));
        let before = read(&fitted, &options).unwrap();
        assert_eq!(before.features, strings(&case["terms"]), "{}", case["options"]);
        // What is kept needs no file, and survives being written down.
        let _ = fs::remove_file(&stop_file);
        let kept = serde_json::to_string(&before.recipe.unwrap()).unwrap();
        let text = serde_json::from_str::<TextOptions>(&kept)
            .unwrap()
            .with(|t| t.vocabulary = Some(before.features));
        let options = ReadOptions::default().with(|o| o.text = Some(text));
        let data = read(&new, &options).unwrap();
        let matrix = sparse(&data);
        for (row, expected) in case["rows"].as_array().unwrap().iter().enumerate() {
            let expected: Vec<f64> =
                expected.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let mut actual = vec![0.0; expected.len()];
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(c, v)| actual[*c as usize] = *v);
            for (a, e) in actual.iter().zip(&expected) {
                assert!(
                    (a - e).abs() < 1e-15 * e.max(1.0),
                    "{} row {row}: {a} {e}",
                    case["options"]
                );
            }
        }
    }
}

#[test]
fn a_folder_has_a_group_in_each_sub_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("b/2", &b"red green"[..]),
        ("a/10", b"red caf\xe9"),
        ("a/1", b"blue blue"),
        ("README", b"not a document"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let data = read(folder.path().to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(data.features, ["blue", "café", "green", "red"]);
    assert_eq!(data.labels.as_deref().unwrap(), ["a", "a", "b"]);
    assert_eq!(sparse(&data).row(0), (&[0][..], &[1.0][..]));
    assert!(data.describe_cell(1, 3).ends_with("document a/10, term `red`"));
    assert_eq!(data.notes.len(), 2);
}

#[test]
fn columns_beside_the_text_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "id,g,text\n1,x,\"red, red\"\n2,y,\n").unwrap();
    let options = ReadOptions::default().with(|o| {
        o.group_by = vec!["g".into()];
        o.text = Some(TextOptions::default().with(|t| t.column = Some("text".into())));
    });
    let data = read(path.to_str().unwrap(), &options).unwrap();
    assert_eq!(data.matrix.shape(), (2, 1));
    let said = "with --text the features are the terms; not used: id";
    assert_eq!(data.notes, [fairer_nmf::Note::new("columns-not-used", said)]);
}
