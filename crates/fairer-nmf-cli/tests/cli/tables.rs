//! Tables as people have them: German exports, missing values, ids, categories; and what a model
//! remembers of them.

use crate::support::{HEART, Place, number};

/// What pandas writes with `sep=";", decimal=","`, by way of a German Excel: 40 rows, of which some
/// have no income, more of them women.
fn survey() -> String {
    let mut text = String::from("sep=;\nID;Geschlecht;Alter;Einkommen;Anteil;Region;Datum;Art\n");
    for i in 0..40 {
        let sex = ["w", "m"][i % 2];
        let income = match i {
            0 | 2 | 4 => "k.A.".to_owned(),
            7 => "#NV".to_owned(),
            _ => format!("{}.{:03},{}0 €", 1 + i % 3, 37 * i % 1000, i % 10),
        };
        let region = ["Nord", "Süd", "West"][i % 3];
        text += &format!(
            "{};{sex};{};{income};{},5 %;{region};{:02}.03.2024;x\n",
            1001 + i,
            18 + (i * 7) % 60,
            (i * 13) % 100,
            1 + i % 28
        );
    }
    text
}

#[test]
fn a_german_export_is_read_as_it_is_and_losses_are_counted_by_group() {
    let place = Place::with("umfrage.csv", survey());
    let fit = ["fit", "umfrage.csv", "--group-by", "Geschlecht", "--drop", "ID,Datum,Art"];
    let more = ["--one-hot", "Region", "--rank", "2", "--missing", "drop-rows", "--no-compare"];
    let files = ["--json", "fit.json", "--report", "fit.html", "--draws", "20"];
    let few = ["--permutations", "20", "--folds", "0"];
    let ran = place.ok(&[&fit[..], &more, &files, &few].concat());
    let note = "4 of 40 rows left out because of missing cells: 3 of 20 of `w` (15.0 %), 1 of 20 of `m` (5.0 %)";
    assert!(ran.err.contains(&format!("note: {note}\n")), "{}", ran.err);
    assert!(ran.err.contains("umfrage.csv writes numbers with a decimal comma"), "{}", ran.err);
    assert!(place.read("fit.html").contains("3 of 20 of"));
    let json = place.json("fit.json");
    assert_eq!(
        json["data"]["left_out"][0],
        serde_json::json!({ "group": "m", "rows": 1, "of": 20 })
    );
    assert_eq!(json["data"]["features"], 3 + 3);
    // The same numbers as from a plain table.
    let plain: Vec<String> = survey()
        .lines()
        .skip(1)
        .filter(|line| !line.contains("k.A.") && !line.contains("#NV"))
        .map(|line| line.replace(" €", "").replace(" %", "").replace('.', "").replace(',', "."))
        .collect();
    place.write("plain.csv", plain.join("\n").replace(';', ","));
    let fit = ["fit", "plain.csv", "--group-by", "Geschlecht", "--drop", "ID,Datum,Art"];
    let more = ["--one-hot", "Region", "--rank", "2", "--no-compare", "--json", "plain.json"];
    place.ok(&[&fit[..], &more].concat());
    assert_eq!(place.json("plain.json")["groups"][0]["loss"], json["groups"][0]["loss"]);
    assert_eq!(place.json("plain.json")["groups"][0]["norm"], json["groups"][0]["norm"]);
}

#[test]
fn a_mark_that_nothing_tells_is_asked_for() {
    let place = Place::with("a.csv", "g\tx\ty\na\t1,234\t5\na\t2,345\t6\nb\t3,456\t7\nb\t1\t8\n");
    let fit = ["fit", "a.csv", "--format", "tsv", "--group-by", "g", "--rank", "1", "--quiet"];
    place.refused(
        &fit,
        "a.csv: line 2 of `x` holds `1,234`, which may be thousands or a fraction; say what stands before the decimals with `--decimal comma` or `--decimal point`",
    );
    let norm = |mark: &str| {
        let more = ["--decimal", mark, "--normalize", "none", "--json", "-"];
        let ran = place.ok(&[&fit[..], &more].concat());
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        number(&json["groups"][0]["norm"])
    };
    let expected = |x: [f64; 2]| (x[0] * x[0] + x[1] * x[1] + 25.0 + 36.0_f64).sqrt();
    assert!((norm("comma") - expected([1.234, 2.345])).abs() < 1e-9);
    assert!((norm("point") - expected([1234.0, 2345.0])).abs() < 1e-9);
    // Both at once is said with a cell of each.
    place.write("b.csv", "g;x;y\na;1,5;2.5\nb;3;4\n");
    let ran = place.run(&["fit", "b.csv", "--group-by", "g", "--rank", "1"]);
    assert!(
        ran.err.contains("line 2 of `x` holds `1,5` and line 2 of `y` holds `2.5`"),
        "{}",
        ran.err
    );
}

#[test]
fn more_texts_can_mean_no_value() {
    let place = Place::with("a.csv", "g,x\na,1\na,99\na,2\nb,3\nb,refused\nb,5\nb,-\n");
    let fit = ["fit", "a.csv", "--group-by", "g", "--rank", "1", "--missing", "drop-rows"];
    let ran = place.ok(&[&fit[..], &["--na-values", "99,refused"]].concat());
    let expected = "3 of 7 rows left out because of missing cells: 2 of 4 of `b` (50.0 %), 1 of 3 of `a` (33.3 %)";
    assert!(ran.err.contains(expected), "{}", ran.err);
}

#[test]
fn inspect_lists_every_column_and_proposes_what_works() {
    let mut text = String::from("id,sex,age,income,comment,city,when,unit\n");
    for i in 0..60 {
        let sex = ["female", "male", "Female"][if i == 30 { 2 } else { i % 2 }];
        let income = if i == 3 { "?".to_owned() } else { (1000 + 17 * i).to_string() };
        let word = |k: usize| ["river", "stone", "garden", "winter", "letter"][(i / k) % 5];
        text += &format!(
            "{},{sex},{},{income},\"case {i}: {} before {}, then {}\",City{},2024-01-{:02},kg\n",
            500 + i,
            20 + i % 40,
            word(1),
            word(5),
            word(3),
            i % 4,
            1 + i % 28
        );
    }
    let place = Place::with("t.csv", &text);
    let ran = place.run(&["inspect", "t.csv", "--json", "t.json"]);
    assert_eq!(ran.code, 2);
    let json = place.json("t.json");
    let columns = json["columns"].as_array().unwrap();
    let kinds: Vec<&str> = columns.iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["id", "category", "number", "number", "text", "category", "date", "constant"]
    );
    assert_eq!(columns[3]["missing"], 1);
    assert_eq!(columns[2]["range"], serde_json::json!([20.0, 59.0]));
    assert!(
        columns[1]["flags"][0]["sentence"].as_str().unwrap().contains("`Female`"),
        "{}",
        columns[1]
    );
    assert!(ran.out.contains("This works:\n  fairer-nmf fit t.csv"), "{}", ran.out);
    // Without the prose it is a table like others.
    let ran = place.run(&["inspect", "t.csv", "--drop", "comment", "--json", "u.json"]);
    let command = place.json("u.json")["command"].as_str().unwrap().to_owned();
    let expected = "fairer-nmf fit t.csv --drop comment --rank auto --group-by sex --drop id,when,unit --one-hot city --missing drop-rows";
    assert_eq!(command, expected, "{}", ran.err);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    place.ok(&[&words[..], &["--no-compare", "--quiet"]].concat());
    // A fit proposes the same, and never 0/1 columns for ids.
    let ran = place.run(&["fit", "t.csv", "--drop", "comment", "--group-by", "sex", "--rank", "2"]);
    assert!(ran.err.contains("leave out constants, dates with `--drop when,unit`"), "{}", ran.err);
    assert!(ran.err.contains("with `--one-hot city`"), "{}", ran.err);
}

#[test]
fn inspect_goes_on_where_a_fit_would_stop() {
    let place = Place::with("a.csv", "g;x;y\na;1,5;2.5\nb;3;word\nb;4;5\nb;;5\n");
    let ran = place.run(&["inspect", "a.csv", "--group-by", "g,nobody", "--json", "a.json"]);
    assert_eq!(ran.code, 2);
    let json = place.json("a.json");
    assert_eq!(json["columns"].as_array().unwrap().len(), 3);
    assert!(json["problems"].as_array().unwrap().len() >= 3, "{json}");
}

/// A model of a table with everything that a recipe can hold.
fn with_model() -> Place {
    let mut text = String::from("id,when,sex,age,job,x,y\n");
    for i in 0..40 {
        let job = ["none yet", "clerk", "nurse"][i % 3];
        let x = if i == 5 { "refused".to_owned() } else { (i % 7).to_string() };
        text += &format!(
            "r{i},2024-01-0{},{},{},{job},{x},{}\n",
            1 + i % 9,
            ["w", "m"][i % 2],
            20 + i,
            i % 5
        );
    }
    let place = Place::with("train.csv", text);
    let fit =
        ["fit", "train.csv", "--group-by", "sex", "--drop", "id,when", "--one-hot", "job,age"];
    let more = ["--bins", "age=30,45", "--na-values", "refused", "--missing", "drop-rows"];
    let rest = ["--rank", "2", "--no-compare", "--model", "m.safetensors", "--quiet"];
    place.ok(&[&fit[..], &more, &rest].concat());
    place
}

#[test]
fn a_model_remembers_how_its_table_was_read() {
    let place = with_model();
    // Only the data: group, dropped columns, categories, ranges, missing values are known.
    let ran = place.ok(&["transform", "train.csv", "--model", "m.safetensors", "-o", "W.csv"]);
    assert!(ran.err.contains("(40 rows, 2 topics)"), "{}", ran.err);
    let lines: Vec<String> = place.read("W.csv").lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), lines[0].as_str()), (41, "row,topic_1,topic_2"));
    assert_eq!(lines[6], "6,,", "row 6 has no x and stays, empty");
    assert!(lines[7].starts_with("7,") && lines[7].len() > 8);
    let few = ["--draws", "0", "--permutations", "0", "--folds", "0", "--no-compare"];
    let audit = ["audit", "train.csv", "--model", "m.safetensors", "--json", "a.json", "--quiet"];
    place.ok(&[&audit[..], &few].concat());
    let groups = &place.json("a.json")["groups"];
    assert_eq!((groups[0]["name"].as_str(), groups[1]["name"].as_str()), (Some("m"), Some("w")));
    // Without the columns that make no features, in another order, with the ids.
    place.write(
        "new.csv",
        "y,who,x,age,job\n1,anna,2,31,nurse\n2,\"b, c\",3,20,pilot\n0,dora,?,60,clerk\n",
    );
    let transform = ["transform", "new.csv", "--model", "m.safetensors"];
    let ran = place.ok(&[&transform[..], &["--id", "who", "-o", "-"]].concat());
    let out: Vec<&str> = ran.out.lines().collect();
    assert_eq!(out[0], "who,topic_1,topic_2");
    assert!(out[1].starts_with("anna,") && out[2].starts_with("\"b, c\",") && out[3] == "dora,,");
    assert!(
        ran.err.contains("has values that the model has not seen: `pilot`, in 1 row"),
        "{}",
        ran.err
    );
    let ran =
        place.run(&[&transform[..], &["--id", "who", "--unseen", "error", "-o", "-"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: --unseen error: column `job`"), "{}", ran.err);
}

#[test]
fn the_group_column_is_welcome_in_transform() {
    let place = Place::new();
    let model = ["--rank", "3", "--model", "m.safetensors", "--no-compare", "--quiet"];
    assert_eq!(place.heart("fit", &model).code, 0);
    let transform = ["transform", HEART, "--model", "m.safetensors", "-o"];
    place.ok(&[&transform[..], &["a.csv"]].concat());
    place.ok(&[&transform[..], &["b.csv", "--group-by", "sex", "--drop", "disease"]].concat());
    assert_eq!(place.read("a.csv"), place.read("b.csv"));
    assert_eq!(place.read("a.csv").lines().count(), 304);
    assert_eq!(place.read("a.csv").lines().filter(|line| line.ends_with(",,,")).count(), 6);
}

#[test]
fn numbers_become_groups_and_spellings_one() {
    let place = Place::with(
        "a.csv",
        "g,age,x,y\nw,17,1,2\nW,29.5,2,1\nw,30,3,5\n m,44,1,1\nm,65,2,2\nM,80,1,4\n",
    );
    let names = |more: &[&str]| -> (Vec<String>, String) {
        let fit = ["fit", "a.csv", "--rank", "1", "--no-compare", "--json", "a.json", "--force"];
        let ran = place.ok(&[&fit[..], more].concat());
        let json = place.json("a.json");
        let groups = json["groups"].as_array().unwrap().iter();
        (groups.map(|g| g["name"].as_str().unwrap().to_owned()).collect(), ran.err)
    };
    let (groups, _) = names(&["--bins", "age=18,30,65", "--drop", "g"]);
    assert_eq!(groups, ["18 to under 30", "30 to under 65", "65 and over", "under 18"]);
    let (groups, _) = names(&["--bins", "age=quantiles:2", "--drop", "g"]);
    assert_eq!(groups, ["44 and over", "under 44"]);
    let (groups, err) = names(&["--group-by", "g", "--drop", "age"]);
    assert_eq!(groups, ["M", "W", "m", "w"]);
    let said = "groups whose labels differ in case or blanks only: `m` (2) and `M` (1), `w` (2) and `W` (1); if they are the same, say --merge-spellings";
    assert!(err.contains(said), "{err}");
    let (groups, _) = names(&["--group-by", "g", "--drop", "age", "--merge-spellings"]);
    assert_eq!(groups, ["m", "w"]);
    let (groups, _) = names(&["--group-by", "g", "--bins", "age=50", "--merge-spellings"]);
    assert_eq!(groups, ["m | 50 and over", "m | under 50", "w | under 50"]);
}

#[test]
fn a_tie_of_nearly_all_groups_is_not_worst_on_every_line() {
    let mut text = String::from("g,a,b,c,d,e\n");
    for i in 0..40 {
        let g = i % 5;
        let cells: Vec<String> =
            (0..5).map(|j| if j == g { "5" } else { "0" }.to_owned()).collect();
        text += &format!("g{g},{}\n", cells.join(","));
    }
    let place = Place::with("a.csv", text);
    for (baseline, what) in [("adjusted", "R-Loss less what is allowed"), ("paper", "R-Loss")] {
        let fit = ["fit", "a.csv", "--group-by", "g", "--rank", "1", "--no-compare"];
        let ran = place.ok(&[&fit[..], &["--baseline", baseline]].concat());
        assert!(!ran.out.contains("<- "), "{}", ran.out);
        assert!(ran.out.contains(&format!("groups share the largest {what}, ")), "{}", ran.out);
    }
}
