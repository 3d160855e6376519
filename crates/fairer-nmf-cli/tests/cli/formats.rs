//! The same numbers in any format are the same fit.

use std::io::Write;

use crate::support::{Place, number, ran, small, small_csv};
use serde_json::Value;

/// The groups of a fit of rank 2 without scaling, as JSON.
fn groups(place: &Place, arguments: &[&str]) -> Value {
    let common = ["--rank", "2", "--json", "-", "--no-compare"];
    let ran = place.ok(&[&["fit"], arguments, &common[..]].concat());
    serde_json::from_str::<Value>(&ran.out).unwrap()["groups"].clone()
}

fn expected() -> Value {
    let place = Place::with("a.csv", small_csv(','));
    groups(&place, &["a.csv", "--group-by", "g"])
}

fn npy(kind: &str, fortran: bool) -> Vec<u8> {
    npy_of(&small().0, kind, fortran)
}

fn npy_of(rows: &[[f64; 4]], kind: &str, fortran: bool) -> Vec<u8> {
    let count = rows.len();
    let order = if fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({count}, 4), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(118_u16.to_le_bytes());
    bytes.extend(format!("{header:<117}\n").into_bytes());
    let entries: Vec<f64> = match fortran {
        false => rows.concat(),
        true => (0..4).flat_map(|j| rows.iter().map(move |row| row[j])).collect(),
    };
    for value in entries {
        match kind {
            "<f4" => bytes.extend((value as f32).to_le_bytes()),
            _ => bytes.extend(value.to_le_bytes()),
        }
    }
    bytes
}

#[test]
fn tables() {
    let csv = small_csv(',');
    let place = Place::with("a.tsv", small_csv('\t'));
    place.write("semicolon.csv", small_csv(';'));
    place.write("quoted.csv", csv.replace('a', "\"a\""));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    place.write("a.csv.gz", gzip.finish().unwrap());
    place.write("a.csv.zst", zstd::encode_all(csv.as_bytes(), 1).unwrap());
    place.write("odd.txt", &csv);
    let expected = expected();
    for file in ["a.tsv", "semicolon.csv", "quoted.csv", "a.csv.gz", "a.csv.zst"] {
        assert_eq!(groups(&place, &[file, "--group-by", "g"]), expected, "{file}");
    }
    assert_eq!(groups(&place, &["odd.txt", "--format", "csv", "--group-by", "g"]), expected);
}

#[test]
fn combinations_of_group_columns_stay_apart() {
    let names = |cells: &[(&str, &str)]| -> Vec<String> {
        let quote = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        let row = |(g, h): &(&str, &str)| format!("{},{},1,2\n", quote(g), quote(h));
        let rows: String = cells.iter().map(row).collect();
        let place = Place::with("a.csv", format!("g,h,x,y\n{rows}"));
        let ran = place.run(&["inspect", "a.csv", "--group-by", "g,h", "--json", "-"]);
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        let groups = json["groups"].as_array().unwrap();
        groups.iter().map(|g| g["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[("x", "y"), ("x", "z"), ("x", "y")]), ["x | y", "x | z"]);
    let alike = [("x | y", "z"), ("x", "y | z"), ("x |", "z"), ("x", "| z"), ("\"x | y\"", "z")];
    let found = names(&alike);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.contains(&"\"x | y\" | z".to_owned()), "{found:?}");
    assert!(found.contains(&"x | \"y | z\"".to_owned()), "{found:?}");
}

#[test]
fn standard_input() {
    let place = Place::new();
    let args = ["fit", "-", "--group-by", "g", "--rank", "2", "--json", "-", "--no-compare"];
    let ran = ran(place.command().args(args).write_stdin(small_csv(',')));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["groups"], expected());
}

#[test]
fn standard_input_is_looked_at_as_often_as_a_file() {
    let table = "g,city,x,y\na,Rome,1,-2\nb,Oslo,,1\nb,Bern,0,0\nb,Bern,0,0\n";
    let place = Place::with("a.csv", table);
    let options = ["--group-by", "g", "--rank", "1"];
    let file = place.run(&[&["inspect", "a.csv"][..], &options].concat());
    let inspect = [&["inspect", "-"][..], &options].concat();
    let piped = ran(place.command().args(inspect).write_stdin(table));
    let named = |text: &str| {
        let text = text.replace("standard input", "a.csv").replace("fit - ", "fit a.csv ");
        text.strip_prefix("-\n").map(|rest| format!("a.csv\n{rest}")).unwrap_or(text)
    };
    assert!(file.err.contains("refused for 4 reasons"), "{}", file.err);
    assert_eq!((piped.code, named(&piped.out)), (2, file.out), "{}", piped.err);
    assert_eq!(named(&piped.err), file.err);
}

#[test]
fn json_lines() {
    let (rows, labels) = small();
    let lines: String = rows
        .iter()
        .zip(labels)
        .map(|(r, g)| {
            format!(
                "{{\"w\":{},\"x\":{},\"g\":\"{g}\",\"y\":{},\"z\":{}}}\n",
                r[0], r[1], r[2], r[3]
            )
        })
        .collect();
    let place = Place::with("a.jsonl", lines);
    assert_eq!(groups(&place, &["a.jsonl", "--group-by", "g"]), expected());
}

#[test]
fn arrays_with_labels_from_text_numpy_and_tables() {
    let place = Place::with("c.npy", npy("<f8", false));
    place.write("f.npy", npy("<f8", true));
    place.write("s.npy", npy("<f4", false));
    let (_, labels) = small();
    place.write("labels.txt", labels.join("\n") + "\n");
    place.write("a.csv", small_csv(','));
    place.write("names.txt", "w\nx\ny\nz\n");
    let expected = expected();
    for file in ["c.npy", "f.npy"] {
        for groups_file in ["labels.txt", "a.csv:g"] {
            assert_eq!(groups(&place, &[file, "--groups", groups_file]), expected);
        }
    }
    // Halves and whole numbers are exact in single precision, so only W is rounded.
    for args in [&["s.npy"][..], &["c.npy", "--precision", "f32"]] {
        let single = groups(&place, &[args, &["--groups", "labels.txt"]].concat());
        for l in 0..2 {
            let difference = number(&single[l]["loss"]) - number(&expected[l]["loss"]);
            assert!(difference.abs() < 1e-3, "{difference}");
        }
    }
    let fit = ["fit", "c.npy", "--groups", "labels.txt", "--rank", "2"];
    place.ok(&[&fit[..], &["--feature-names", "names.txt", "--model", "m.safetensors"]].concat());
    assert!(place.ok(&["topics", "m.safetensors"]).out.contains("  w "));
    // Named features of the model, none in the array: by position, and said so.
    let ran = place.ok(&["transform", "c.npy", "--model", "m.safetensors", "-o", "-"]);
    assert!(ran.err.contains(
        "note: c.npy has no feature names: its columns were taken in the order of m.safetensors"
    ));
}

#[test]
fn matrix_market_and_scipy() {
    let (rows, labels) = small();
    let mut entries = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let stored = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
        entries.extend(stored.map(|(j, v)| format!("{} {} {v}\n", i + 1, j + 1)));
    }
    let header = "%%MatrixMarket matrix coordinate real general";
    let text = format!("{header}\n7 4 {}\n{}", entries.len(), entries.concat());
    let place = Place::with("a.mtx", text);
    place.write("labels.txt", labels.join("\n"));
    let sparse = groups(&place, &["a.mtx", "--groups", "labels.txt"]);
    let expected = expected();
    for l in 0..2 {
        for field in ["norm", "loss", "baseline_error"] {
            let difference = number(&sparse[l][field]) - number(&expected[l][field]);
            assert!(difference.abs() < 1e-6, "{field} {difference}");
        }
    }
    let fixture = |name: &str| {
        format!("{}/../fairer-nmf-io/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
    };
    let with_labels = |file: &str| {
        let labels = fixture("dense.npz:group");
        groups(&place, &[&fixture(file), "--groups", &labels])
    };
    assert_eq!(with_labels("csr.npz"), with_labels("csc.npz"));
    with_labels("dense.npz:X");
}

/// The small matrix with two more rows, each with NaN, and labels for all nine.
fn with_nan() -> (Vec<[f64; 4]>, Vec<&'static str>) {
    let (mut rows, mut labels) = small();
    for (at, column, label) in [(2, 1, "a"), (5, 3, "c")] {
        let mut row = [1.0; 4];
        row[column] = f64::NAN;
        rows.insert(at, row);
        labels.insert(at, label);
    }
    (rows, labels)
}

#[test]
fn rows_with_nan_are_left_out_of_matrices_as_of_tables() {
    let (rows, labels) = with_nan();
    let place = Place::with("c.npy", npy_of(&rows, "<f8", false));
    place.write("f.npy", npy_of(&rows, "<f8", true));
    place.write("labels.txt", labels.join("\n"));
    let (mut sparse, mut dense) = (String::new(), String::new());
    let mut stored = 0;
    for (i, row) in rows.iter().enumerate() {
        for (j, value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            sparse += &format!("{} {} {value}\n", i + 1, j + 1);
            stored += 1;
        }
    }
    (0..4).for_each(|j| rows.iter().for_each(|row| dense += &format!("{}\n", row[j])));
    let kind = |form: &str| format!("%%MatrixMarket matrix {form} real general\n");
    place.write("s.mtx", format!("{}9 4 {stored}\n{sparse}", kind("coordinate")));
    place.write("d.mtx", format!("{}9 4\n{dense}", kind("array")));
    let mut npz = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default();
    npz.start_file("X.npy", plain.compression_method(zip::CompressionMethod::Stored)).unwrap();
    npz.write_all(&npy_of(&rows, "<f8", false)).unwrap();
    place.write("z.npz", npz.finish().unwrap().into_inner());
    let expected = expected();
    for file in ["c.npy", "f.npy", "d.mtx", "s.mtx", "z.npz"] {
        let fit = ["fit", file, "--groups", "labels.txt", "--rank", "2", "--no-compare"];
        place.refused(
            &fit,
            &format!("{file}, row 2, column 1 (counting from 0): the entry is NaN, so it has no value: fill it in, or leave out such rows with `--missing drop-rows`"),
        );
        let json = format!("{file}.json");
        let ran = place.ok(&[&fit[..], &["--missing", "drop-rows", "--json", &json]].concat());
        let note = ran.err.lines().next().unwrap();
        assert!(
            note.starts_with("note: 2 of 9 rows left out because of missing cells: "),
            "{note}"
        );
        let found = &place.json(&json)["groups"];
        assert_eq!(found.as_array().unwrap().len(), 2, "{file}: nothing of group c is left");
        for l in 0..2 {
            assert_eq!(found[l]["rows"], expected[l]["rows"], "{file}");
            let difference = number(&found[l]["loss"]) - number(&expected[l]["loss"]);
            assert!(difference.abs() < 1e-6, "{file}: {difference}");
        }
    }
    let look = place.run(&["inspect", "s.mtx", "--groups", "labels.txt"]);
    let problem = "2 entries are NaN, the first at s.mtx, row 2, column 1 (counting from 0): fill in what is missing, or leave out such rows with `--missing drop-rows`";
    assert!(look.out.contains(problem), "{}", look.out);
    place.ok(&["inspect", "s.mtx", "--groups", "labels.txt", "--missing", "drop-rows"]);
}

#[test]
fn places_in_a_matrix_are_those_of_its_file_when_rows_are_left_out() {
    let (mut rows, labels) = with_nan();
    rows[8][0] = -1.0;
    let place = Place::with("X.npy", npy_of(&rows, "<f4", false));
    place.write("labels.txt", labels.join("\n"));
    place.refused(
        &["fit", "X.npy", "--groups", "labels.txt", "--rank", "2", "--missing", "drop-rows"],
        "X.npy, row 8, column 0 (counting from 0): -1 is negative, and NMF needs numbers that are not: mend the entry",
    );
    let nothing = vec![[f64::NAN; 4]; 2];
    place.write("X.npy", npy_of(&nothing, "<f8", false));
    place.refused(
        &["fit", "X.npy", "--groups", "labels.txt", "--rank", "2", "--missing", "drop-rows"],
        "X.npy has no data: each of the 2 rows has missing cells",
    );
}

#[test]
fn a_folder_of_documents() {
    let place = Place::new();
    for (group, texts) in [
        ("cats", ["the cat purrs softly", "cat and cat food", "a cat sleeps"]),
        ("dogs", ["the dog barks loudly", "dog food and dog walks", "a dog runs"]),
    ] {
        std::fs::create_dir_all(place.path().join("pets").join(group)).unwrap();
        for (i, text) in texts.iter().enumerate() {
            place.write(&format!("pets/{group}/{i}.txt"), text);
        }
    }
    let args = ["pets", "--stop-words", "english", "--max-features", "4"];
    let found = groups(&place, &args);
    assert_eq!(found[0]["name"], "cats");
    let ran = place.ok(&[&["inspect"][..], &args].concat());
    assert!(ran.out.contains("6 rows, 4 features, sparse"), "{}", ran.out);
    place.refused(
        &["inspect", "pets", "--text", "body"],
        "--text does not apply to pets: in a folder every file is a document",
    );
}

#[test]
fn one_hot_columns_follow_the_model() {
    let place = Place::with("a.csv", "g,colour,x\na,red,1\na,blue,2\nb,red,3\nb,green,4\n");
    let fit = ["fit", "a.csv", "--group-by", "g", "--one-hot", "colour", "--rank", "1"];
    place.ok(&[&fit[..], &["--model", "m.safetensors"]].concat());
    // No row of the new data is green: a column of zeros.
    place.write("b.csv", "colour,x\nblue,1\nred,2\n");
    let transform = ["transform", "b.csv", "--one-hot", "colour", "--model", "m.safetensors"];
    let ran = place.ok(&[&transform[..], &["-o", "-"]].concat());
    assert_eq!(ran.out.lines().count(), 3);
    place.write("c.csv", "colour,x\npink,1\n");
    let transform = ["transform", "c.csv", "--model", "m.safetensors", "-o", "-"];
    let ran = place.ok(&transform);
    assert!(
        ran.err.contains("has values that the model has not seen: `pink`, in 1 row"),
        "{}",
        ran.err
    );
    let ran = place.run(&[&transform[..], &["--unseen", "error"]].concat());
    assert_eq!(ran.code, 2, "{}", ran.err);
}
