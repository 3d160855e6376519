//! Output that cannot mislead: cautions, refusals, and a command that makes the same again.

use crate::support::{Place, number};

/// A table of two groups with the features that `row` gives.
fn table(header: &str, row: impl Fn(usize) -> String) -> Place {
    let rows: String = (0..30).map(|i| format!("{},{}\n", ["a", "b"][i % 2], row(i))).collect();
    Place::with("t.csv", format!("g,{header}\n{rows}"))
}

fn codes(place: &Place, more: &[&str]) -> Vec<String> {
    let fit = ["fit", "t.csv", "--group-by", "g", "--no-compare", "--json", "t.json", "--force"];
    place.ok(&[&fit[..], more].concat());
    let json = place.json("t.json");
    let warnings = json["warnings"].as_array().unwrap().iter();
    warnings.map(|w| w["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_feature_that_carries_all_is_said_and_cured() {
    let place = table("income,x,y", |i| format!("{},{},{}", 50_000 + 100 * i, i % 4, i % 3));
    assert_eq!(codes(&place, &["--rank", "2", "--normalize", "none"])[0], "one-feature");
    assert!(!codes(&place, &["--rank", "2"]).contains(&"one-feature".to_owned()));
}

#[test]
fn groups_of_one_row_and_too_many_groups_are_said() {
    let mut text = String::from("g,x,y\n");
    (0..60).for_each(|i| text += &format!("g{},{},{}\n", i % 30, 1 + i % 4, 1 + i % 3));
    text += "alone,1,2\n";
    let place = Place::with("t.csv", text);
    let found = codes(&place, &["--rank", "1"]);
    for code in ["one-row-groups", "many-groups"] {
        assert!(found.contains(&code.to_owned()), "{found:?}");
    }
}

#[test]
fn a_page_is_html_and_nothing_else() {
    let place = table("x,y", |i| format!("{},{}", i % 4, i % 3));
    let fit = ["fit", "t.csv", "--group-by", "g", "--rank", "1"];
    place.refused(
        &[&fit[..], &["--report", "out.pdf"]].concat(),
        "--report out.pdf: the page is HTML: name it out.html, open it in a browser and print it to PDF",
    );
    assert_eq!(place.files(), ["t.csv"]);
}

#[test]
fn a_mistyped_command_finds_its_neighbour() {
    let place = Place::new();
    for (typed, meant) in
        [("inspct", "inspect"), ("trasform", "transform"), ("sweeep", "sweep"), ("fti", "fit")]
    {
        let ran = place.run(&[typed]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(&format!("'{meant}'")), "{}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn the_printed_command_makes_the_same_again() {
    let rows: String = (0..24)
        .map(|i| format!("{},{},{},{}\n", ["a b", "it's"][i % 2], i % 5, i % 7, i))
        .collect();
    let place = Place::with("o'dd name.csv", format!("\"who, when\",x $y,\"z;z\",id\n{rows}"));
    let fit = ["fit", "o'dd name.csv", "--group-by", "who, when", "--drop=id", "--rank", "2"];
    let more = ["--seed", "7", "--audit", "--json", "a.json", "--draws", "20", "--folds", "2"];
    place.ok(&[&fit[..], &more, &["--permutations", "20", "--quiet"]].concat());
    let first = place.json("a.json");
    let command = first["report"]["command"].as_str().unwrap().to_owned();
    let program = assert_cmd::cargo::cargo_bin!("fairer-nmf").to_str().unwrap();
    let command = command.replacen("fairer-nmf", program, 1).replace("a.json", "b.json");
    let status = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(place.path())
        .status()
        .unwrap();
    assert!(status.success(), "{command}");
    let second = place.json("b.json");
    assert_eq!(first["groups"], second["groups"]);
    assert_eq!(first["audit"], second["audit"]);
}

#[test]
fn chosen_ranks_are_in_table_and_json() {
    let place = Place::new();
    let ran = place.heart("fit", &["--rank", "auto", "--no-compare", "--json", "f.json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = place.json("f.json");
    let rank = &json["rank_choice"]["rank"];
    assert_eq!(&json["rank"], rank);
    assert!(ran.out.starts_with(&format!("Bi-cross-validation picks rank {rank}")), "{}", ran.out);
    let sweep = ["--ranks", "1,2", "--trials", "1", "--methods", "standard", "--json", "s.json"];
    let ran = place.heart("sweep", &sweep);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("R-Error") && ran.out.contains("held-out error"), "{}", ran.out);
    let points = &place.json("s.json")["rank_choice"]["points"];
    assert!(number(&points[0]["held_out_error"]) > 0.0);
}

/// Entries that f32 cannot hold are counted, once; with f64 there is nothing to say.
#[test]
fn entries_that_vanish_in_f32_are_said() {
    let rows: Vec<String> =
        (1..40).map(|i| format!("{},{},{}", i % 7 + 1, i % 5 + 2, ["x", "y"][i % 2])).collect();
    let place =
        Place::with("p.csv", format!("a,b,g\n1e-50,0.0e-60,x\n-0,1e-60,y\n{}\n", rows.join("\n")));
    let lines: Vec<String> = (2..=40).map(|i| format!("{i} 1 {}\n{i} 2 1", i % 7 + 1)).collect();
    let header = "%%MatrixMarket matrix coordinate real general\n40 2 80\n1 1 1e-50\n1 2 1e-60\n";
    place.write("s.mtx", format!("{header}{}\n", lines.join("\n")));
    let header = "%%MatrixMarket matrix array real general\n40 2\n1e-50\n";
    let lines: Vec<String> = (2..=40).map(|i| format!("{}\n", i % 7 + 1)).collect();
    place.write("d.mtx", format!("{header}{}1e-60\n{}", lines.concat(), "1\n".repeat(39)));
    let numbers: Vec<f64> =
        [1e-50, 1e-60].into_iter().chain((2..80).map(|i| f64::from(i % 7 + 1))).collect();
    let shape = "{'descr': '<f8', 'fortran_order': False, 'shape': (40, 2), }";
    let mut npy = [
        b"\x93NUMPY\x01\x00".as_slice(),
        &118_u16.to_le_bytes(),
        format!("{shape:<117}\n").as_bytes(),
    ]
    .concat();
    npy.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
    place.write("d.npy", npy);
    let labels: Vec<&str> = (0..40).map(|i| ["x", "y"][i % 2]).collect();
    place.write("labels.txt", labels.join("\n"));
    let table = ["fit", "p.csv", "--group-by", "g"];
    let [sparse, dense, array] =
        ["s.mtx", "d.mtx", "d.npy"].map(|file| ["fit", file, "--groups", "labels.txt"]);
    let said = "2 entries are too small for f32 and zero there: they are gone from the fit";
    // In memory and, in several blocks, on disk: there a converted table a second time, too.
    let on_disk = ["--memory", "800"];
    let starts = [(table, &[][..]), (sparse, &[]), (dense, &[]), (array, &[])];
    let again = [(array, &on_disk[..]), (table, &on_disk), (table, &on_disk)];
    for (start, memory) in starts.into_iter().chain(again) {
        let with = |more: &[&'static str]| [&start[..], &["-r", "1"], memory, more].concat();
        let err = place.ok(&with(&["--precision", "f32", "--json", "v.json", "--force"])).err;
        assert_eq!(err.matches(said).count(), 1, "{err}");
        let warnings = place.json("v.json")["warnings"].clone();
        let codes: Vec<&str> =
            warnings.as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect();
        assert!(codes.contains(&"vanished-in-f32"), "{codes:?}");
        let err = place.ok(&with(&["--precision", "f64"])).err;
        assert!(!err.contains("too small for f32"), "{err}");
    }
}
