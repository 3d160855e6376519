//! Each command on real data: what it promises holds.

use crate::support::{BY_SEX, HEART, Place, number, ran, small_csv};
use serde_json::Value;

#[test]
fn demo_says_what_is_there_and_writes_its_page() {
    let place = Place::new();
    let ran = place.ok(&["demo"]);
    assert_eq!(ran.err, "");
    for part in [
        "297 rows, 12 features, 2 groups",
        "female    96",
        "male     201",
        "so this fit leaves standard NMF as it is",
        "Better off than under standard NMF: no group",
        "Worse off than under standard NMF:  no group",
        "Certificate: worst adjusted loss",
        "no rank-5 model can be below",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains('\x1b'), "colour in a pipe");
    let place_of = |part: &str| ran.out.find(part).unwrap_or_else(|| panic!("{part}: {}", ran.out));
    assert!(place_of("no group pays noticeably more") < place_of("R-Loss"), "the verdict leads");
    // What the verdict compares groups by stands beside the losses of standard NMF, as in JSON and on the page.
    let header = ran.out.lines().find(|line| line.starts_with("group ")).unwrap();
    assert!(place_of("standard R-Loss") < place_of("  excess  "), "{header}");
    assert!(header.contains("  random group  excess  difference"), "{header}");
    assert!(!ran.out.contains("p of R-Error"), "AM evens out, and no test holds: {}", ran.out);
    let page = place.read("demo-report.html");
    for part in ["Heart Disease", "female", "Standard NMF", "Fairer-NMF (AM)", "thalach"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<section ").count(), 9, "the demo shows all there is");
    // It may replace its own page.
    place.ok(&["demo"]);
    std::fs::create_dir(place.path().join("there")).unwrap();
    place.ok(&["demo", "--out", "there", "--quiet"]);
    assert!(place.has("there/demo-report.html"));
}

#[test]
fn fit_writes_the_fields_that_scripts_rely_on() {
    let place = Place::new();
    let asked = ["--rank", "5", "--json", "fit.json", "--seed", "3", "--baseline", "best"];
    let ran = place.heart("fit", &asked);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = place.json("fit.json");
    assert_eq!(json["method"], "am");
    assert_eq!(json["rank"], 5);
    assert_eq!(json["seed"], 3);
    assert_eq!(json["status"], "converged");
    assert!(json["iterations"].as_u64().unwrap() > 1);
    for part in ["read", "baselines", "fit"] {
        assert!(number(&json["seconds"][part]) >= 0.0, "{part}");
    }
    assert_eq!(json["seconds"].as_object().unwrap().len(), 3);
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    let worst = groups.iter().map(|g| number(&g["loss"])).fold(f64::MIN, f64::max);
    assert_eq!(number(&json["worst_loss"]), worst);
    assert!(number(&json["global_bound"]) <= worst);
    assert!(number(&json["step_gap"]) < 1e-4);
    for group in groups {
        let loss = number(&group["relative_error"])
            - number(&group["baseline_error"]) / number(&group["norm"]);
        assert!((loss - number(&group["loss"])).abs() < 1e-12);
        let standard = number(&group["standard"]["relative_error"])
            - number(&group["baseline_error"]) / number(&group["norm"]);
        assert!((standard - number(&group["standard"]["loss"])).abs() < 1e-12);
        assert!(number(&group["relative_baseline_sd"]) > 0.0);
    }
    assert_eq!((&groups[0]["name"], &groups[0]["rows"]), (&"female".into(), &96.into()));
    let standard = groups.iter().map(|g| number(&g["standard"]["loss"])).fold(f64::MIN, f64::max);
    assert!(worst < standard, "the fairer model is not fairer");
    let note = json["notes"][0]["sentence"].as_str().unwrap();
    assert!(note.starts_with("6 of 303 rows left out because of missing cells: "), "{note}");
}

#[test]
fn transform_in_chunks_gives_every_row_its_own_coordinates() {
    let place = Place::with("a.csv", small_csv(','));
    place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "2", "--model", "m.safetensors"]);
    let transform = |file, out| {
        let options = ["--model", "m.safetensors", "--drop", "g", "-o", out];
        place.run(&[&["transform", file][..], &options].concat())
    };
    assert_eq!(transform("a.csv", "W.csv").code, 0);
    let (table, w) = (small_csv(','), place.read("W.csv"));
    let body = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    // Seven rows over and over are more than two chunks.
    const TIMES: usize = 5_000;
    let long = format!("g,w,x,y,z\n{}", body(&table).repeat(TIMES));
    place.write("long.csv", &long);
    assert_eq!(transform("long.csv", "long-W.csv").code, 0);
    let numbers = |text: &str| -> Vec<f64> {
        let cells = |line: &str| -> Vec<f64> {
            line.split(',').skip(1).map(|c| c.parse().unwrap()).collect()
        };
        body(text).lines().flat_map(cells).collect()
    };
    let (one, all) = (numbers(&w), numbers(&place.read("long-W.csv")));
    assert_eq!(all.len(), TIMES * one.len());
    for (at, value) in all.iter().enumerate() {
        assert!((value - one[at % one.len()]).abs() < 1e-9, "entry {at}");
    }
    // A bad cell in a later chunk keeps its line.
    place.write("bad.csv", format!("{long}a,1,2,-3,4\n"));
    let ran = transform("bad.csv", "bad-W.csv");
    let line = 7 * TIMES + 2;
    assert!(ran.err.contains(&format!("bad.csv, line {line}, column `y`: -3")), "{}", ran.err);
    assert_eq!(ran.code, 2);
}

#[test]
fn without_comparison_the_standard_fields_are_left_out() {
    let ran = Place::new().heart("fit", &["--rank", "2", "--no-compare", "--json", "-"]);
    assert_eq!(ran.code, 0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let group = json["groups"][0].as_object().unwrap();
    assert!(!group.contains_key("standard"));
    assert!(group.contains_key("relative_baseline_sd"));
}

#[test]
fn what_random_groups_pay_stands_beside_the_losses_of_a_fit() {
    let fit = |more: &[&str]| {
        let place = Place::new();
        let ran = place.heart("fit", &[&["--rank", "2", "--json", "fit.json"], more].concat());
        (ran.out, place.json("fit.json"))
    };
    let means = |json: &Value, whose: &[&str]| -> Vec<Option<f64>> {
        let of =
            |group: &Value| whose.iter().fold(group, |of, name| &of[name])["chance_mean"].as_f64();
        json["groups"].as_array().unwrap().iter().map(of).collect()
    };
    for baseline in ["adjusted", "best", "paper"] {
        let (out, json) = fit(&["--baseline", baseline]);
        assert!(out.contains("random group") && !out.contains("excess"), "{out}");
        let draws = if baseline == "adjusted" { 40 } else { 20 };
        assert!(out.contains(&format!("under standard NMF, by {draws} draws")), "{out}");
        // They pay it under standard NMF, and the women are fewer.
        let found = means(&json, &["standard"]);
        assert!(found[0].unwrap() > found[1].unwrap(), "{baseline}: {found:?}");
        assert_eq!(means(&json, &[]), [None, None]);
        assert_eq!(out.contains("allowed"), baseline == "adjusted");
    }
    // Whoever has looked says so without standard NMF, too; nobody else does.
    let (out, json) = fit(&["--no-compare"]);
    assert!(out.contains("random group") && out.contains("allowed"), "{out}");
    assert!(means(&json, &[]).iter().all(Option::is_some));
    for nobody in [&["--baseline", "best"][..], &["--method", "standard"]] {
        let (out, _) = fit(&[nobody, &["--no-compare"]].concat());
        assert!(!out.contains("random group"), "{out}");
    }
    let (_, json) = fit(&["--method", "standard"]);
    assert!(means(&json, &[]).iter().all(Option::is_some));
}

#[test]
fn standard_nmf_is_its_own_comparison() {
    let args = ["--rank", "2", "--method", "standard", "--update", "nnls", "--json", "-"];
    let json: Value = serde_json::from_str(&Place::new().heart("fit", &args).out).unwrap();
    assert_eq!(json["method"], "standard");
    assert_eq!(json["step_gap"], Value::Null);
    for group in json["groups"].as_array().unwrap() {
        assert_eq!(group["loss"], group["standard"]["loss"]);
    }
}

#[test]
fn not_converged_is_a_warning_and_exit_0() {
    let place = Place::new();
    let ran = place.heart("fit", &["--rank", "3", "--max-iter", "2", "--json", "fit.json"]);
    assert_eq!(ran.code, 0);
    let expected = "warning: not converged within 2 iterations: raise --max-iter or --tol\n";
    assert!(ran.err.contains(expected), "{}", ran.err);
    assert_eq!(place.json("fit.json")["status"], "iteration-limit");
}

#[test]
fn the_answer_does_not_depend_on_the_threads() {
    let losses = |threads| {
        let args = ["--rank", "4", "--threads", threads, "--json", "-"];
        let json: Value = serde_json::from_str(&Place::new().heart("fit", &args).out).unwrap();
        json["groups"].clone()
    };
    assert_eq!(losses("1"), losses("2"));
}

#[test]
fn baselines_from_a_file_are_those_of_the_json() {
    let place = Place::new();
    place.heart("fit", &["--rank", "3", "--json", "a.json", "--baseline", "paper"]);
    let a = place.json("a.json");
    let mut csv = String::from("baseline_error,group\n");
    for group in a["groups"].as_array().unwrap() {
        csv += &format!("{},{}\n", group["baseline_error"], group["name"].as_str().unwrap());
    }
    place.write("b.csv", csv);
    place.heart("fit", &["--rank", "3", "--json", "b.json", "--baseline", "b.csv"]);
    let b = place.json("b.json");
    assert!((number(&a["worst_loss"]) - number(&b["worst_loss"])).abs() < 1e-9);
    assert_eq!(b["groups"][0]["relative_baseline_sd"], Value::Null);
    place.heart("fit", &["--rank", "3", "--json", "z.json", "--baseline", "zero"]);
    let zero = place.json("z.json");
    assert_eq!(zero["groups"][0]["loss"], zero["groups"][0]["relative_error"]);
    let best = place.heart("fit", &["--rank", "3", "--json", "-", "--baseline", "best"]);
    let best: Value = serde_json::from_str(&best.out).unwrap();
    let baseline = |json: &Value| number(&json["groups"][0]["baseline_error"]);
    assert!(baseline(&best) <= baseline(&a));
    assert_eq!(
        (&best["criterion"], &best["worst_criterion"]),
        (&"loss".into(), &best["worst_loss"])
    );
    // The default has those baselines, and allows every group what a random one would pay.
    place.heart("fit", &["--rank", "3", "--json", "d.json"]);
    let default = place.json("d.json");
    assert_eq!(baseline(&default), baseline(&best));
    assert_eq!(default["criterion"], "adjusted-loss");
    let group = |l: usize| &default["groups"][l];
    let excess = |l: usize| number(&group(l)["loss"]) - number(&group(l)["allowance"]);
    assert!((number(&default["worst_criterion"]) - excess(0).max(excess(1))).abs() < 1e-12);
    assert!(
        default["certificate"]["sentence"].as_str().unwrap().starts_with("worst adjusted loss ")
    );
    let held_out = place.heart("fit", &["--rank", "3", "--json", "-", "--baseline", "held-out"]);
    let held_out: Value = serde_json::from_str(&held_out.out).unwrap();
    assert!(baseline(&held_out) > baseline(&best));
}

#[test]
fn quiet_prints_nothing_and_colour_obeys() {
    let place = Place::new();
    let quiet = place.heart("fit", &["--rank", "2", "--quiet"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str(), quiet.code), ("", "", 0));
    let args = [&["fit", HEART][..], &BY_SEX, &["--rank", "2"]].concat();
    let forced = ran(place.command().args(&args).env("CLICOLOR_FORCE", "1"));
    assert!(forced.out.contains("\x1b[1m"));
    let none = ran(place.command().args(&args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!place.heart("fit", &["--rank", "2"]).out.contains('\x1b'));
    assert!(!none.out.contains('\x1b'), "NO_COLOR");
}

#[test]
fn several_group_columns_make_combinations() {
    let args = ["fit", HEART, "--group-by", "sex,disease", "--missing", "drop-rows", "--rank", "2"];
    let ran = Place::new().ok(&[&args[..], &["--json", "-"]].concat());
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let names: Vec<&str> =
        json["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"female | 0") && names.contains(&"male | 1"), "{names:?}");
}

#[test]
fn long_and_foreign_names_line_up() {
    let long = "x".repeat(80);
    let csv =
        format!("g,a,b\n女性,1,2\n女性,2,1\nmännlich,3,1\nmännlich,1,1\n{long},1,0\n{long},0,1\n");
    let place = Place::with("a.csv", csv);
    let out = place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "1"]).out;
    let rows: Vec<&str> = out.lines().filter(|l| l.contains(" ± ")).collect();
    assert_eq!(rows.len(), 3);
    let place_of = |row: &&str| {
        let before = &row[..row.find(" ± ").unwrap()];
        unicode_width::UnicodeWidthStr::width(before)
    };
    assert!(rows.windows(2).all(|pair| place_of(&pair[0]) == place_of(&pair[1])), "{out}");
}

#[test]
fn transform_gives_the_representation_of_the_fit_in_any_column_order() {
    let place = Place::with("a.csv", small_csv(','));
    place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "2", "--model", "m.safetensors"]);
    let transform = |file: &str, out: &str| {
        let ran =
            place.ok(&["transform", file, "--model", "m.safetensors", "--drop", "g", "-o", out]);
        assert_eq!(ran.err, format!("note: wrote {out} (7 rows, 2 topics)\n"));
    };
    transform("a.csv", "W.csv");
    let turned: String = small_csv(',')
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n")
        .collect();
    place.write("turned.csv", turned);
    transform("turned.csv", "V.csv");
    assert_eq!(place.read("W.csv"), place.read("V.csv"));
    assert!(place.read("W.csv").starts_with("row,topic_1,topic_2\n1,"));
    assert_eq!(place.read("W.csv").lines().count(), 8);

    transform("a.csv", "W.npy");
    let bytes = std::fs::read(place.path().join("W.npy")).unwrap();
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(header.contains("'<f8'") && header.contains("(7, 2)"), "{header}");
    let numbers: Vec<f64> = bytes[bytes.len() - 7 * 2 * 8..]
        .chunks_exact(8)
        .map(|c| f64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let text = place.read("W.csv");
    let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
    let written = cells.map(|c| c.parse().unwrap());
    assert_eq!(numbers, written.collect::<Vec<f64>>());
    place.refused(
        &["transform", "a.csv", "--model", "m.safetensors", "-o", "W.txt"],
        "--output W.txt: the name must end in .csv or .npy, which is how it will be written",
    );
}

#[test]
fn sweep_has_one_record_per_method_rank_trial_and_group() {
    let place = Place::new();
    let more = ["--ranks", "1..3", "--trials", "2", "--methods", "standard,am"];
    let files = ["--json", "s.json", "--report", "s.html", "--threshold", "0.5"];
    let ran = place.heart("sweep", &[&more[..], &files].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("rank     Standard NMF  R-Error  Fairer-NMF (AM)  R-Error"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("rank 1 is the smallest with a worst loss of at most 0.5"));
    let json = place.json("s.json");
    let records = json["records"].as_array().unwrap();
    assert_eq!(records.len(), 2 * 3 * 2 * 2);
    let keys: std::collections::HashSet<String> = records
        .iter()
        .map(|r| format!("{} {} {} {}", r["method"], r["rank"], r["trial"], r["group"]))
        .collect();
    assert_eq!(keys.len(), records.len());
    for record in records {
        for field in ["loss", "relative_error", "baseline_error", "norm", "worst_loss"] {
            assert!(record[field].is_number(), "{field}");
        }
    }
    assert!(place.read("s.html").contains("Fairer-NMF (AM)"));
}

#[test]
fn topics_name_the_strongest_features() {
    let place = Place::new();
    let few = ["--draws", "0", "--permutations", "0", "--folds", "0"];
    let files = ["--rank", "3", "--model", "m.safetensors", "--report", "p.html"];
    place.heart("fit", &[&files[..], &few].concat());
    let out = place.ok(&["topics", "m.safetensors", "--top", "2"]).out;
    assert_eq!(out.lines().filter(|l| l.starts_with("Topic ")).count(), 3);
    let topics = |top: &str| -> Value {
        let json = place.ok(&["topics", "m.safetensors", "--top", top, "--json", "-"]).out;
        serde_json::from_str::<Value>(&json).unwrap()["topics"].take()
    };
    assert_eq!(topics("2")[2]["topic"], 3);
    assert!(topics("2")[0]["features"].as_array().unwrap().len() <= 2);
    // All entries of a topic add up to 1, and the page has the same numbers.
    let page = crate::support::data(&place.read("p.html"));
    for (k, topic) in topics("99").as_array().unwrap().iter().enumerate() {
        let features = topic["features"].as_array().unwrap();
        let total: f64 = features.iter().map(|f| number(&f["share"])).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        let shown = page["topics"]["topics"][k]["features"].as_array().unwrap();
        assert!(!shown.is_empty());
        for (on_page, typed) in shown.iter().zip(features) {
            assert_eq!(on_page["name"], typed["name"]);
            assert!((number(&on_page["share"]) - number(&typed["share"])).abs() < 1e-12);
        }
    }
}

#[test]
fn inspect_shows_everything_that_would_be_refused() {
    let place =
        Place::with("a.csv", "g,city,x,y\na,Rome,1,-2\nb,Oslo,,1\nb,Bern,0,0\nb,Bern,0,0\n");
    let ran = place.run(&["inspect", "a.csv", "--group-by", "g", "--rank", "1"]);
    assert_eq!(ran.code, 2);
    for part in [
        "3 rows, 2 features, dense f64",
        "2 rows are all zero",
        "`city` (line 2 of `city` holds `Rome`)",
        "1 missing cell: line 3 column `x`",
        "1 entry is negative or not finite, the first at a.csv, line 2, column `y` (-2)",
        "all entries of group `b` are zero",
        "outside the maximum unless --allow-small-groups is given: a (1)",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.err.starts_with("error: a fit would be refused for 4 reasons, the first: "));
    let fine = place.run(&[&["inspect", HEART][..], &BY_SEX, &["--json", "-"]].concat());
    assert_eq!(fine.code, 0);
    let json: Value = serde_json::from_str(&fine.out).unwrap();
    assert_eq!((&json["rows"], &json["features"]), (&297.into(), &12.into()));
    assert_eq!(json["groups"][0], serde_json::json!({"name": "male", "rows": 201}));
    assert_eq!(json["problems"], serde_json::json!([]));
}
