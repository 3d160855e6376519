//! What a fuzzer's bytes mean to every reader, and what must hold whatever they are. Most inputs are
//! made to be valid up to a few slips, so that the code behind the parsers is reached.
//!
//! The targets of `cargo fuzz` and the replay of the corpus (`fairer-nmf-bench/tests/corpus.rs`)
//! share this file.

mod arrays;
mod beside;
mod choices;
mod columns;
mod sheets;

use arrays::{npy_bytes, npz_bytes};
#[allow(unused_imports)] // For the replay.
pub use beside::tidy_up;
use choices::Bytes;
use fairer_nmf_io::{
    Dataset, Decimal, DenseView, DocumentFrequency, Format, InputError, Loaded, Matrix, Precision,
    Scaling, StopWords, TextOptions, kept_recipe, read_bytes, read_documents,
};

/// Every target.
#[allow(dead_code)] // The replay goes through all of them; a target knows only itself.
pub const TARGETS: [&str; 13] = [
    "npy",
    "npz",
    "table",
    "jsonl",
    "mtx",
    "model",
    "packed",
    "documents",
    "excel",
    "labels",
    "shards",
    "checkpoint",
    "parquet",
];

/// Everything on the thread that asks: inputs are too small to be worth waking another one, and a found
/// input is one run.
#[allow(dead_code)] // The replay has the threads that it has.
pub fn on_one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the first pool of the process");
}

/// Reads what the bytes make, and checks what comes out. Returns whether it was a valid input.
pub fn run(target: &str, data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    match target {
        "npy" => npy(&mut bytes),
        "npz" => npz(&mut bytes),
        "table" => table(&mut bytes),
        "jsonl" => jsonl(&mut bytes),
        "mtx" => mtx(&mut bytes),
        "model" => model(&mut bytes),
        "packed" => packed(&mut bytes),
        "documents" => documents(&mut bytes),
        "excel" => sheets::excel(&mut bytes),
        "labels" => beside::labels(&mut bytes),
        "shards" => beside::shards(&mut bytes),
        "checkpoint" => beside::checkpoint(&mut bytes),
        "parquet" => columns::table(&mut bytes),
        other => panic!("no target {other}"),
    }
}

/// What holds for all that is read, and for all that is refused.
fn check(read: Result<Dataset, InputError>) -> bool {
    let dataset = match read {
        Ok(dataset) => dataset,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let (rows, columns) = dataset.matrix.shape();
    assert!(rows > 0 && dataset.features.len() == columns);
    assert!(dataset.labels.as_ref().is_none_or(|labels| labels.len() == rows));
    assert!(!dataset.describe_cell(rows - 1, columns.saturating_sub(1)).is_empty());
    if let Matrix::Sparse(sparse) = &dataset.matrix {
        assert!(sparse.indptr.len() == rows + 1 && sparse.indptr.is_sorted());
        for row in 0..rows {
            let (found, _) = sparse.row(row);
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(found.iter().all(|&column| (column as usize) < columns));
        }
    }
    // On to the library, as the program would: what it refuses, it refuses in words.
    let mut dataset = dataset;
    dataset.labels.get_or_insert_with(|| (0..rows).map(|row| (row % 2).to_string()).collect());
    let loaded = Loaded::new(dataset, Precision::Stored, 0.0);
    if let Ok(matrix) = loaded.matrix() {
        drop(loaded.grouped(matrix, &Scaling::UnitFeatures));
    }
    true
}

fn npy(bytes: &mut Bytes<'_>) -> bool {
    let options = bytes.options();
    let mut content = npy_bytes(bytes);
    bytes.slip(&mut content);
    check(read_bytes("x.npy", &content, Format::Npy, &options))
}

fn npz(bytes: &mut Bytes<'_>) -> bool {
    let options = bytes.options();
    let mut content = npz_bytes(bytes);
    bytes.slip(&mut content);
    check(read_bytes("x.npz", &content, Format::Npz, &options))
}

/// A table as text, with what its plain numbers must come back as.
fn table(bytes: &mut Bytes<'_>) -> bool {
    let mut options = bytes.options();
    let (columns, rows) = (1 + bytes.below(5), bytes.below(7));
    let delimiter = bytes.pick(&[',', ';', '\t', '|']);
    let names: Vec<String> = (0..columns)
        .map(|c| if bytes.rarely(9) { bytes.word() } else { format!("c{c}") })
        .collect();
    let kinds: Vec<usize> = (0..columns).map(|_| bytes.below(6)).collect();
    for (name, kind) in names.iter().zip(&kinds) {
        match kind {
            0 => options.group_by.push(name.clone()),
            1 => options.one_hot.push(name.clone()),
            2 if bytes.rarely(2) => options.drop.push(name.clone()),
            _ => {}
        }
    }
    if bytes.rarely(2) {
        options.delimiter = Some(delimiter as u8);
    }
    let quote = |text: &str| match text.contains([delimiter, '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut plain = bytes.rarely(2);
    let end = bytes.pick(&["\n", "\r\n"]);
    let join = |cells: Vec<String>| cells.join(&delimiter.to_string());
    let mut text = join(names.iter().map(|n| quote(n)).collect()) + end;
    plain &= names.iter().enumerate().all(|(c, n)| *n == format!("c{c}"));
    plain &= kinds.iter().all(|kind| *kind > 2) && delimiter != '|' && columns > 1;
    if plain && delimiter == ';' {
        // Between semicolons 1.625 may be thousands, and the reader asks.
        options.decimal = Some(Decimal::Point);
    }
    let mut numbers = Vec::new();
    for _ in 0..rows {
        let cells: Vec<String> = kinds
            .iter()
            .map(|kind| match kind {
                0 | 1 => quote(&bytes.word()),
                _ if plain => {
                    let number = f64::from(bytes.byte()) / 8.0;
                    numbers.push(number);
                    number.to_string()
                }
                _ => quote(&if bytes.rarely(9) { bytes.word() } else { bytes.number() }),
            })
            .collect();
        text += &join(cells);
        if !plain && bytes.rarely(12) {
            text += bytes.pick(&[",", "\"", "\n\n", "\r", ";;"]);
        }
        text += end;
    }
    let mut content = text.into_bytes();
    if !plain {
        bytes.slip(&mut content);
    }
    let read = read_bytes("x.csv", &content, Format::Csv, &options);
    if plain && rows > 0 {
        let dataset = read.as_ref().expect("a plain table of numbers is read");
        assert_eq!(dataset.matrix.shape(), (rows, columns));
        let Matrix::Dense(dense) = &dataset.matrix else { panic!("a table is dense") };
        let found: Vec<f64> = match dense.view() {
            DenseView::F64(view) => view.iter().copied().collect(),
            DenseView::F32(view) => view.iter().map(|v| f64::from(*v)).collect(),
        };
        assert_eq!(found, numbers, "eighths below 32 are exact in both");
    }
    check(read)
}

fn jsonl(bytes: &mut Bytes<'_>) -> bool {
    let mut options = bytes.options();
    if bytes.rarely(2) {
        options.group_by = vec!["a".into()];
    }
    if bytes.rarely(4) {
        options.one_hot = vec!["b".into()];
    }
    let mut text = String::new();
    for _ in 0..bytes.below(6) {
        let mut object = serde_json::Map::new();
        for _ in 0..bytes.below(5) {
            let value = match bytes.below(9) {
                0 => serde_json::Value::Null,
                1 => bytes.word().into(),
                2 => (bytes.byte() > 100).into(),
                3 => vec![1, 2].into(),
                4 => f64::from_bits(u64::from(bytes.byte()) << 56 | 77).into(),
                _ => bytes.byte().into(),
            };
            object.insert(bytes.pick(&["a", "b", "c", "d", ""]).into(), value);
        }
        text += &serde_json::Value::from(object).to_string();
        text += bytes.pick(&["\n", "\r\n", "\n\n", " \n"]);
    }
    let mut content = text.into_bytes();
    bytes.slip(&mut content);
    check(read_bytes("x.jsonl", &content, Format::JsonLines, &options))
}

fn mtx(bytes: &mut Bytes<'_>) -> bool {
    let options = bytes.options();
    let form = bytes.pick(&["coordinate", "array"]);
    let field = bytes.pick(&["real", "integer", "pattern", "complex", "double"]);
    let symmetry = bytes.pick(&["general", "symmetric", "skew-symmetric", "hermitian"]);
    let mut sizes = [1 + bytes.below(5), 1 + bytes.below(5), bytes.below(6)];
    if symmetry != "general" && !bytes.rarely(9) {
        sizes[1] = sizes[0];
    }
    let mut text = format!("%%MatrixMarket matrix {form} {field} {symmetry}\n");
    if bytes.rarely(4) {
        text += "% a comment\n\n";
    }
    let [rows, columns, entries] = sizes;
    if bytes.rarely(8) {
        sizes[bytes.below(3)] = (1_usize << bytes.below(63)) - 1;
    }
    if form == "array" {
        text += &format!("{} {}\n", sizes[0], sizes[1]);
        let count = match symmetry {
            "general" => rows * columns,
            "symmetric" => rows * (rows + 1) / 2,
            _ => rows * (rows - 1) / 2,
        };
        for _ in 0..count + usize::from(bytes.rarely(12)) {
            text += &format!("{}\n", bytes.number());
        }
    } else {
        text += &format!("{} {} {}\n", sizes[0], sizes[1], sizes[2]);
        for _ in 0..entries {
            text += &format!("{} {}", 1 + bytes.below(rows), 1 + bytes.below(columns));
            if field != "pattern" {
                text += &format!(" {}", bytes.number());
            }
            text += "\n";
        }
    }
    let mut content = text.into_bytes();
    bytes.slip(&mut content);
    check(read_bytes("x.mtx", &content, Format::MatrixMarket, &options))
}

/// A real model, with other numbers, another header, or slips.
fn model(bytes: &mut Bytes<'_>) -> bool {
    use std::sync::OnceLock;
    static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
    let good = MODEL.get_or_init(|| {
        let x = ndarray::Array2::from_shape_fn((8, 3), |(i, j)| ((i * 5 + j * 3) % 7) as f64);
        let labels: Vec<String> = (0..8).map(|i| (i % 2).to_string()).collect();
        let data = fairer_nmf::GroupedData::new(x.view(), &labels).expect("good data");
        let parameters = fairer_nmf::Parameters::new(2);
        let mut fitted =
            fairer_nmf::fit(&data, &parameters, &|_: &_| std::ops::ControlFlow::Continue(()))
                .expect("a fit");
        fitted.model.feature_names = Some(["u", "v", "w"].map(String::from).to_vec());
        let made = read_documents(
            "d",
            vec!["1".into(), "2".into()],
            &["aa bb".into(), "bb cc".into()],
            vec!["a".into(), "b".into()],
            &TextOptions::default(),
        );
        fitted.model.preparation = fairer_nmf_io::keep_recipe(&made.expect("documents"));
        fitted.model.to_bytes().expect("a model")
    });
    let mut content = good.clone();
    let header = u64::from_le_bytes(content[..8].try_into().expect("eight bytes")) as usize;
    match bytes.below(4) {
        // Numbers of the tensors: any bits at all.
        0 => {
            for _ in 0..1 + bytes.below(6) {
                let words = (content.len() - 8 - header) / 8;
                let at = 8 + header + 8 * (usize::from(bytes.byte()) % words.max(1));
                let value = match bytes.below(4) {
                    0 => f64::from_bits(
                        u64::from(bytes.byte()) << 56 | u64::from(bytes.byte()) << 48,
                    ),
                    _ => bytes.pick(&[1e200, 5e-324, f64::NAN, -1.0, f64::INFINITY, 0.0, 1e-300]),
                };
                content[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        // Digits and letters of the header.
        1 => {
            for _ in 0..1 + bytes.below(6) {
                let at = 8 + (usize::from(bytes.byte()) << 8 | usize::from(bytes.byte())) % header;
                let digit = content[at].is_ascii_digit();
                content[at] = if digit { bytes.pick(b"0123456789-e.") } else { bytes.byte() };
            }
        }
        // Words of the header, in place.
        2 => {
            let words = ["null", "true", "0", "-1", "1e999", "\"\"", "[]", "{}", "4294967296"];
            let at = 8 + (usize::from(bytes.byte()) << 8 | usize::from(bytes.byte())) % header;
            let word = bytes.pick(&words).as_bytes();
            let end = (at + word.len()).min(8 + header);
            content[at..end].copy_from_slice(&word[..end - at]);
        }
        _ => bytes.slip(&mut content),
    }
    let Ok(model) = fairer_nmf::Model::from_bytes(&content) else { return false };
    let again = model.to_bytes().expect("what was read can be written");
    assert!(fairer_nmf::Model::from_bytes(&again).is_ok(), "and read again");
    // The recipe is checked apart from the rest.
    let recipe = kept_recipe(model.preparation.as_deref(), model.features(), "m.safetensors");
    if let Some(recipe) = recipe.ok().and_then(|kept| kept.text) {
        let terms = model.feature_names.clone();
        let text = recipe.with(|t| t.vocabulary = terms);
        let made =
            read_documents("d", vec!["1".into()], &["aa bb u v".into()], vec!["a".into()], &text);
        if let Ok(dataset) = made
            && let Matrix::Sparse(sparse) = &dataset.matrix
        {
            assert!(
                sparse.values.iter().all(|v| v.is_finite() && *v >= 0.0),
                "{:?}",
                sparse.values
            );
        }
    }
    let x = ndarray::array![[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]];
    if let Ok(w) = model.transform(x.view()) {
        assert!(w.iter().all(|v: &f64| v.is_finite() && *v >= 0.0), "{w}");
    }
    true
}

/// Packed tables: gzip of ours, and any bytes behind the first ones of gzip and zstd.
fn packed(bytes: &mut Bytes<'_>) -> bool {
    let options = bytes.options();
    let mut content = match bytes.below(3) {
        0 => [&[0x28, 0xb5, 0x2f, 0xfd][..], bytes.0].concat(),
        1 => [&[0x1f, 0x8b, 8, 0][..], bytes.0].concat(),
        _ => {
            let text = format!("a,b\n{}", "1,2\n".repeat(1 + bytes.below(200)));
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            let _ = std::io::Write::write_all(&mut encoder, text.as_bytes());
            encoder.finish().expect("in memory")
        }
    };
    bytes.slip(&mut content);
    check(read_bytes("x.csv.gz", &content, Format::Csv, &options))
}

fn documents(bytes: &mut Bytes<'_>) -> bool {
    let count = 1 + bytes.below(5);
    let documents: Vec<String> =
        (0..count).map(|_| (0..bytes.below(8)).map(|_| bytes.word() + " ").collect()).collect();
    let frequency = |bytes: &mut Bytes<'_>| match bytes.below(3) {
        0 => DocumentFrequency::Auto,
        1 => DocumentFrequency::Count(bytes.below(4)),
        _ => DocumentFrequency::Share(f64::from(bytes.byte()) / 255.0),
    };
    let options = TextOptions::default().with(|t| {
        t.clean = bytes.rarely(2);
        t.lowercase = bytes.rarely(2);
        t.token_pattern =
            bytes.rarely(6).then(|| bytes.pick(&[r"\w+", r"(\w)\w*", ".", "", "(a)|b"]).into());
        t.stop_words = match bytes.below(4) {
            0 => StopWords::Auto,
            1 => StopWords::English,
            2 => StopWords::Words(vec!["a".into(), bytes.word()]),
            _ => StopWords::None,
        };
        t.max_features = bytes.rarely(3).then(|| bytes.below(4));
        t.min_df = frequency(bytes);
        t.max_df = frequency(bytes);
        t.vocabulary = bytes.rarely(5).then(|| vec!["ab".into(), "word".into()]);
        t.idf = bytes.rarely(2);
        t.smooth_idf = bytes.rarely(2);
        t.sublinear_tf = bytes.rarely(2);
    });
    let names = (0..count).map(|i| i.to_string()).collect();
    let labels = (0..count).map(|i| (i % 2).to_string()).collect();
    check(read_documents("d", names, &documents, labels, &options))
}
