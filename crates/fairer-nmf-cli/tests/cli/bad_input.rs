//! Bad input gets one clear line (what, where, what to do) and exit code 2.

use crate::support::{BY_SEX, HEART, Place, small_csv};

/// `fit FILE --group-by g --rank 1`.
fn fit(file: &str) -> Vec<&str> {
    vec!["fit", file, "--group-by", "g", "--rank", "1"]
}

#[test]
fn a_missing_file() {
    Place::new()
        .refused(&fit("no.csv"), "no.csv does not exist: check the spelling and the folder");
}

#[test]
fn ragged_rows() {
    let place = Place::with("a.csv", "g,x,y\na,1,2\nb,3\n");
    place.refused(
        &fit("a.csv"),
        "a.csv, line 3: found 2 cells where the header has 3: mend the line (a missing delimiter, or an unquoted one inside a text?)",
    );
}

#[test]
fn a_text_cell_in_a_numeric_column() {
    let place = Place::with("a.csv", "g,x\na,1\na,2\nb,three\nb,4\n");
    place.refused(
        &fit("a.csv"),
        "a.csv, line 4, column `x`: expected a number, found `three`: mend the cell, or leave the column out with `--drop x`",
    );
}

#[test]
fn non_numeric_columns() {
    let place = Place::with("a.csv", "g,city,x\na,Rome,1\nb,Oslo,2\n");
    place.refused(
        &fit("a.csv"),
        "a.csv has a column that is not numeric: `city` (line 2 of `city` holds `Rome`); turn words of few values into 0/1 columns with `--one-hot city`, or leave them out with `--drop city`",
    );
}

#[test]
fn columns_with_commas_in_their_names() {
    let header = "\"age, years\",\"income, k$\",it's,sex,x";
    let rows = "1,lots,u,f,2\n3,none,v,m,1\n2,some,v,m,4\n1,none,u,f,3\n";
    let place = Place::with("comma.csv", format!("{header}\n{rows}"));
    let fit = ["fit", "comma.csv", "--group-by", "sex", "--rank", "1"];
    place.refused(
        &fit,
        r#"comma.csv has columns that are not numeric: `income, k$`, `it's` (line 2 of `income, k$` holds `lots`); turn words of few values into 0/1 columns with `--one-hot '"income, k$",it'\''s'`, or leave them out with `--drop '"income, k$",it'\''s'`"#,
    );
    // What the message says, as a shell passes it on; then in other ways.
    for more in [
        &["--drop", "\"income, k$\",it's"][..],
        &["--drop", "income, k$", "--drop", "it's"],
        &["--one-hot", "income, k$", "--drop", "it's"],
        &["--drop", "it's , \"income, k$\""],
    ] {
        place.ok(&[&fit[..], more].concat());
    }
    let by =
        |columns| place.ok(&["inspect", "comma.csv", "--drop", "it's,sex", "--group-by", columns]);
    assert!(by("income, k$").out.contains("\nlots "));
    assert!(by("\"income, k$\",\"age, years\"").out.contains("lots | 1"));
    place.refused(
        &[&fit[..], &["--drop", "it's,postcode"]].concat(),
        "comma.csv has no column `postcode` (--drop); its columns are `age, years`, `income, k$`, `it's`, `sex`, `x`",
    );
    place.write("negative.csv", "\"a, b\",g\n-1,x\n2,y\n");
    place.refused(
        &["fit", "negative.csv", "--group-by", "g", "--rank", "1"],
        "negative.csv, line 2, column `a, b`: -1 is negative, and NMF needs numbers that are not: mend the cell, or leave the column out with `--drop 'a, b'`",
    );
}

#[test]
fn missing_cells() {
    let place = Place::with("a.csv", "g,x,y\na,1,2\nb,,?\n");
    place.refused(
        &fit("a.csv"),
        "a.csv has 2 missing cells: line 3 column `x`, line 3 column `y`; fill them in, or leave out the rows with `--missing drop-rows`",
    );
}

#[test]
fn negative_numbers() {
    let place = Place::with("a.csv", "g,x,y\na,1,2\nb,3,-4\n");
    place.refused(
        &fit("a.csv"),
        "a.csv, line 3, column `y`: -4 is negative, and NMF needs numbers that are not: mend the cell, or leave the column out with `--drop y`",
    );
    let place = Place::with(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -3\n",
    );
    place.write("labels.txt", "a\nb\n");
    place.refused(
        &["fit", "a.mtx", "--groups", "labels.txt", "--rank", "1"],
        "a.mtx, row 1, column 1 (counting from 0): -3 is negative, and NMF needs numbers that are not: mend the entry",
    );
}

#[test]
fn a_group_column_that_does_not_exist() {
    Place::new().refused(
        &["fit", HEART, "--group-by", "Sexe", "--rank", "2"],
        &format!("{HEART} has no column `Sexe` (--group-by); did you mean `sex`?"),
    );
}

#[test]
fn a_name_of_one_letter_is_no_slip_of_another() {
    let place = Place::with("a.csv", "x,y\n1,2\n3,4\n");
    place.refused(&fit("a.csv"), "a.csv has no column `g` (--group-by); its columns are `x`, `y`");
}

#[test]
fn utf_16() {
    let utf_16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let place = Place::with("a.csv", utf_16("g,x\na,1\nb,2\n"));
    place.refused(&fit("a.csv"), "a.csv holds UTF-16 text: save it as UTF-8");
    place.write("a.jsonl", utf_16("{\"g\":\"a\",\"x\":1}\n"));
    place.refused(&fit("a.jsonl"), "a.jsonl holds UTF-16 text: save it as UTF-8");
    place.write("b.csv", "x\n1\n2\n");
    place.write("labels.txt", utf_16("a\nb\n"));
    place.refused(
        &["fit", "b.csv", "--groups", "labels.txt", "--rank", "1"],
        "labels.txt holds UTF-16 text: save it as UTF-8",
    );
}

#[test]
fn dictionaries_without_a_header_or_with_bad_entries() {
    let place = Place::with("a.csv", small_csv(','));
    let audit = ["audit", "a.csv", "--group-by", "g", "--components", "H.csv"];
    place.write("H.csv", "0.5,0.25,0.125,1\n1,2,3,4\n");
    place.refused(
        &audit,
        "H.csv has no header, for its first line holds only numbers: put a line with the names of the 4 features before it",
    );
    place.write("H.csv", "w,x,y,z\n1,2,-1e-9,4\n");
    place.refused(
        &audit,
        "H.csv, line 2, column `y`: -0.000000001 is not a number ≥ 0, as entries of a dictionary must be: set tiny negative entries to zero first",
    );
    place.write("H.csv", "w,x,y,z\n1,2,-0.23,4\n");
    place.refused(
        &audit,
        "H.csv, line 2, column `y`: -0.23 is not a number ≥ 0, as entries of a dictionary must be: give one that a non-negative factorisation made",
    );
}

#[test]
fn no_groups() {
    let place = Place::with("a.csv", "x,y\n1,2\n3,4\n");
    place.refused(
        &["fit", "a.csv", "--rank", "1"],
        "what are the groups? name their column with `--group-by COLUMN`, or give a file with the label of every row with `--groups FILE`",
    );
}

#[test]
fn one_group_only_is_allowed_with_a_note() {
    let place = Place::with("a.csv", "g,x,y\na,1,2\na,3,4\na,2,1\n");
    let ran = place.ok(&fit("a.csv"));
    assert_eq!(ran.err, "note: there is one group only: this is standard NMF\n");
}

#[test]
fn a_group_with_no_more_rows_than_topics_stays_outside() {
    let mut csv = small_csv(',');
    (0..9).for_each(|k| csv += &format!("c,{},{},{},{}\n", 1 + k, 9 - k, 2 + k % 3, 1 + k % 5));
    let place = Place::with("a.csv", csv);
    let fit = ["fit", "a.csv", "--group-by", "g", "--rank", "4", "--json", "a.json"];
    let ran = place.ok(&fit);
    let said = "no more rows than topics (4), so that nothing can be said of what sharing costs: kept outside the maximum, inside the total";
    assert!(ran.err.contains(said) && ran.err.contains("--allow-small-groups"), "{}", ran.err);
    assert!(ran.out.contains("(outside the maximum)"), "{}", ran.out);
    let json = place.json("a.json");
    assert_eq!(json["groups"][0]["outside"], true);
    assert_eq!(json["worst_group"], "c", "the only one with more rows");
    let ran = place.ok(&[&fit[..], &["--allow-small-groups", "--force"]].concat());
    assert!(
        ran.err.contains("warning: 2 groups have no more rows than topics (4), 'a' has 3"),
        "{}",
        ran.err
    );
    assert!(place.json("a.json")["groups"][0].get("outside").is_none());
    // Looked at beforehand, it is a note and no reason to refuse.
    let look = ["inspect", "a.csv", "--group-by", "g", "--rank", "4"];
    let ran = place.ok(&look);
    assert!(ran.out.contains("A fit with these options would start."), "{}", ran.out);
    assert!(ran.out.contains("would keep them outside the maximum"), "{}", ran.out);
    let ran = place.ok(&[&look[..], &["--allow-small-groups"]].concat());
    assert!(!ran.out.contains("outside the maximum"), "{}", ran.out);
    // Where all groups are so small, nobody is left out.
    place.write("all.csv", small_csv(','));
    let ran = place.ok(&["fit", "all.csv", "--group-by", "g", "--rank", "4"]);
    assert!(
        ran.err.contains("warning: 2 groups have no more rows than topics (4), 'a' has 3"),
        "{}",
        ran.err
    );
}

#[test]
fn small_groups_are_put_together() {
    let mut csv = small_csv(',');
    (0..9).for_each(|k| csv += &format!("c,{},{},{},{}\n", 1 + k, 9 - k, 2 + k % 3, 1 + k % 5));
    let place = Place::with("a.csv", csv);
    let fit = ["fit", "a.csv", "--group-by", "g", "--rank", "2", "--json", "-", "--merge-small"];
    let ran = place.ok(&[&fit[..], &["5"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let names: Vec<&str> =
        json["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Other", "c"]);
    assert!(json["notes"].to_string().contains("2 groups with fewer than 5 rows became `Other`"));
    // One alone stays what it is called.
    let ran = place.ok(&[&fit[..], &["1"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["groups"].as_array().unwrap().len(), 3);
}

#[test]
fn labels_of_another_length() {
    let place = Place::with("a.csv", "x,y\n1,2\n3,4\n");
    place.write("labels.txt", "a\nb\na\n");
    place.refused(
        &["fit", "a.csv", "--groups", "labels.txt", "--rank", "1"],
        "labels.txt has 3 labels, but a.csv has 2 rows: give exactly one for each",
    );
}

#[test]
fn a_damaged_npz() {
    let whole = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fairer-nmf-io/tests/fixtures/csr.npz"
    ));
    let whole = whole.unwrap();
    let place = Place::with("a.npz", &whole[..whole.len() / 2]);
    place.write("labels.txt", "a\nb\na\nb\n");
    let ran = place.run(&["fit", "a.npz", "--groups", "labels.txt", "--rank", "1"]);
    assert!(ran.err.starts_with("error: a.npz is damaged: "), "{}", ran.err);
    assert!(ran.err.ends_with("; make or download it again\n"), "{}", ran.err);
    assert_eq!((ran.code, ran.err.lines().count()), (2, 1));
}

#[test]
fn a_model_whose_features_differ() {
    let place = Place::with("a.csv", small_csv(','));
    place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "2", "--model", "m.safetensors"]);
    let transform = |file| ["transform", file, "--model", "m.safetensors", "-o", "W.csv"];
    // What made the groups is no feature, but anything else might be one.
    place.write("more.csv", "g,q,w,x,y,z\na,0,1,2,3,4\n");
    place.refused(
        &transform("more.csv"),
        "more.csv differs from m.safetensors in its features: `q` is not in m.safetensors: leave it out with `--drop q`",
    );
    place.write("less.csv", "w,x,y\n1,2,3\n");
    place.refused(
        &transform("less.csv"),
        "less.csv differs from m.safetensors in its features: `z` is missing",
    );
    place.write("other.csv", "w,x,y,zz\n1,2,3,4\n");
    place.refused(
        &transform("other.csv"),
        "other.csv differs from m.safetensors in its features: `z` is missing; `zz` is not in m.safetensors: leave it out with `--drop zz`",
    );
    place.write("few.mtx", "%%MatrixMarket matrix array real general\n1 3\n1\n2\n3\n");
    place.refused(
        &transform("few.mtx"),
        "few.mtx has 3 features, m.safetensors has 4: give the columns it was fitted on",
    );
    assert!(!place.has("W.csv"));
    let audit = ["audit", "other.csv", "--group-by", "w", "--model", "m.safetensors"];
    place.refused(
        &audit,
        "other.csv differs from m.safetensors in its features: `w`, `z` are missing; `zz` is not in m.safetensors: leave it out with `--drop zz`",
    );
}

#[test]
fn model_files_that_are_none() {
    let place = Place::with("m.safetensors", "hello");
    place.refused(
        &["topics", "m.safetensors"],
        "m.safetensors: not a model of fairer-nmf: give a file that `save` or `--model` wrote",
    );
    place.refused(
        &["topics", "none.safetensors"],
        "none.safetensors does not exist: check the spelling and the folder",
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_without_its_feature() {
    let place = Place::with("a.parquet", "PAR1");
    place.refused(
        &fit("a.parquet"),
        "a.parquet is Parquet, which this build cannot read: install with `cargo install fairer-nmf-cli --features parquet`, or convert the file to CSV",
    );
}

#[test]
fn baselines_that_do_not_fit() {
    let place = Place::with("b.csv", "group,baseline_error\nmale,0.5\nfemales,0.4\n");
    let fit = [&["fit", HEART][..], &BY_SEX, &["--rank", "2", "--baseline"]].concat();
    place.refused(
        &[&fit[..], &["b.csv"]].concat(),
        "b.csv (--baseline): no line for group `female` (it has `females`): give one line for every group",
    );
    place.refused(
        &[&fit[..], &["papr"]].concat(),
        "--baseline papr: expected adjusted, best, held-out, paper, zero, or a file, and there is no such file",
    );
    place.write("c.csv", "group,baseline_error\nmale,low\nfemale,0.4\n");
    place.refused(
        &[&fit[..], &["c.csv"]].concat(),
        "c.csv (--baseline): group `male` has `low`: a number that is not negative is expected",
    );
    place.write("d.csv", "group,error\nmale,1\n");
    place.refused(
        &[&fit[..], &["d.csv"]].concat(),
        "d.csv has no column `baseline_error` (--baseline); its columns are `group`, `error`",
    );
}

#[test]
fn options_that_do_not_go_together() {
    let place = Place::with("a.csv", "g,x\na,1\nb,2\n");
    place.refused(
        &[&fit("a.csv")[..], &["--max-features", "5"]].concat(),
        "--max-features is about documents, but a.csv was not said to hold any: name their column with `--text COLUMN`",
    );
    place.write("X.npy", "x");
    place.refused(
        &fit("X.npy"),
        "--group-by does not apply to X.npy: a matrix has no named columns; give the labels of its rows with `--groups FILE`",
    );
    let ran = place.run(&[&fit("a.csv")[..], &["--groups", "l.txt"]].concat());
    assert_eq!(ran.code, 2);
    place.refused(
        &[&fit("a.csv")[..], &["--tol", "-1"]].concat(),
        "tolerance is -1: must be finite and not negative",
    );
}

#[test]
fn standard_input_that_is_asked_for_twice() {
    let place = Place::with("a.csv", "g,x\na,1\nb,2\n");
    place.refused(
        &["fit", "-", "--groups", "-", "--rank", "1"],
        "DATA and --groups both ask for standard input (-), which can be read only once: give one of them as a file",
    );
    place.refused(
        &["audit", "-", "--group-by", "g", "--components", "-"],
        "DATA and --components both ask for standard input (-), which can be read only once: give one of them as a file",
    );
}

#[test]
fn document_frequencies_that_no_term_can_have() {
    let place = Place::with("a.csv", "g,t\na,one two\nb,two one one\n");
    let fit = ["fit", "a.csv", "--text", "t", "--group-by", "g", "--rank", "1"];
    place.refused(
        &[&fit[..], &["--min-df", "10"]].concat(),
        "--min-df: 10 documents are asked for, and there are 2: lower it",
    );
    place.refused(
        &[&fit[..], &["--min-df", "2", "--max-df", "1"]].concat(),
        "--max-df: it is fewer documents than --min-df: raise it, or lower the other",
    );
}
