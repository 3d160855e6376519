//! Groups that nobody knows, penalties and unobserved cells: what the options do, and what is refused.

use crate::support::{Place, number};
use serde_json::Value;

/// Persons with a sex; `gap` says which cells have no value.
pub(crate) fn people(gap: impl Fn(usize, usize) -> bool) -> String {
    let mut text = "a,b,c,d,sex\n".to_owned();
    for i in 0..40_usize {
        for j in 0..4 {
            let value = (i * (7 + j) + j * j * 3) % 10 + usize::from(i % 4 == j) * 9;
            text += &if gap(i, j) { ",".to_owned() } else { format!("{value},") };
        }
        text += &format!("{}\n", ["f", "m"][i % 3 % 2]);
    }
    text
}

pub(crate) fn none(_: usize, _: usize) -> bool {
    false
}

pub(crate) fn place() -> Place {
    Place::with("p.csv", people(none))
}

const FIT: [&str; 4] = ["fit", "p.csv", "-r", "2"];

pub(crate) fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FIT[..], more].concat()
}

#[test]
fn the_worst_share_needs_no_groups_and_reports_those_that_are_named() {
    let place = place();
    let ran = place.ok(&with(&["--drop", "sex", "--worst-share", "0.1", "--json", "w.json"]));
    assert!(ran.err.contains("the worst 10 % of rows lose"), "{}", ran.err);
    let json = place.json("w.json");
    assert_eq!(json["method"], "worst-share");
    let found = &json["worst_share"];
    let history: Vec<f64> = found["history"].as_array().unwrap().iter().map(number).collect();
    assert!(history.windows(2).all(|two| two[1] <= two[0]), "{history:?}");
    assert!((number(&found["error"]) - history[history.len() - 1]).abs() < 1e-6);
    assert_eq!(json["groups"].as_array().unwrap().len(), 1);
    place.ok(&with(&[
        "--group-by",
        "sex",
        "--worst-share",
        "0.1",
        "--json",
        "g.json",
        "--model",
        "m",
    ]));
    let grouped = place.json("g.json");
    assert_eq!(grouped["groups"].as_array().unwrap().len(), 2);
    assert_eq!(grouped["worst_share"]["error"], found["error"], "groups are reported only");
    place.ok(&["transform", "p.csv", "--model", "m", "--output", "w.csv", "--drop", "sex"]);
}

#[test]
fn groups_are_found_and_said_to_be_found() {
    let place = place();
    for how in ["topics", "errors", "held-out-errors"] {
        let more =
            ["--drop", "sex", "--discover", how, "--discover-groups", "3", "--json", "d.json"];
        let ran = place.ok(&with(&[&more[..], &["--force"]].concat()));
        assert!(ran.err.contains(&format!("found in these rows by {how}")), "{}", ran.err);
        let json = place.json("d.json");
        assert_eq!(json["discovered"]["found_by"], how);
        let labels = json["discovered"]["labels"].as_array().unwrap();
        assert_eq!(labels.len(), 40);
        let groups = json["groups"].as_array().unwrap();
        for (number, group) in groups.iter().enumerate() {
            let rows = labels.iter().filter(|l| l.as_u64() == Some(number as u64)).count();
            assert_eq!(group["rows"].as_u64().unwrap() as usize, rows);
        }
        // Random groups are nothing to hold them against, though the fit itself has drawn some.
        assert!(!ran.out.contains("random group:"), "{}", ran.out);
    }
}

/// A page of groups that were found has no p-values and no intervals, and its verdict says why.
#[test]
fn found_groups_have_a_page_without_tests() {
    let place = place();
    let files = ["--json", "f.json", "--report", "f.html"];
    let ran = place.ok(&with(&[&["--drop", "sex", "--discover", "errors"][..], &files].concat()));
    let json = place.json("f.json");
    let said = json["verdict"]["sentence"].as_str().unwrap();
    assert_eq!(json["verdict"]["code"], "not-tested");
    assert!(said.contains("found in the same rows"), "{said}");
    assert_eq!(json["report"]["verdict"], json["verdict"]);
    assert_eq!(
        (&json["report"]["found_by"], &json["discovered"]["found_by"]),
        (&"errors".into(), &"errors".into())
    );
    assert_eq!(json["audit"]["verdict"]["sentence"].as_str(), Some(said));
    assert!(ran.out.contains(said) && place.read("f.html").contains(said), "{}", ran.out);
    for group in json["report"]["who_pays"]["groups"].as_array().unwrap() {
        for result in group["results"].as_array().unwrap() {
            for field in ["relative_error_adjusted_p", "adjusted_p", "loss_low", "difference"] {
                assert_eq!(result[field], Value::Null, "{field}");
            }
        }
    }
}

/// A model is asked about the groups that it has found, or about others: the first are not tested, the second were not
/// found.
#[test]
fn an_audit_knows_which_groups_a_model_has_found() {
    let place = place();
    let fit = ["--drop", "sex", "--discover", "topics", "--discover-groups", "3"];
    place.ok(&with(&[&fit[..], &["--model", "m.safetensors", "--json", "f.json"]].concat()));
    let json = place.json("f.json");
    let labels = json["discovered"]["labels"].as_array().unwrap().iter();
    let labels = labels.map(|label| format!("found {}", label.as_u64().unwrap() + 1));
    let people = people(none);
    let mut text = String::new();
    for (line, label) in people.lines().zip(std::iter::once("found".to_owned()).chain(labels)) {
        text += &format!("{line},{label}\n");
    }
    place.write("g.csv", &text);
    for (by, other, found) in [("found", "sex", "topics"), ("sex", "found", "")] {
        let asked = ["audit", "g.csv", "--group-by", by, "--drop", other];
        place
            .ok(&[&asked[..], &["--model", "m.safetensors", "--json", "a.json", "--force"]]
                .concat());
        let json = place.json("a.json");
        assert_eq!(json["report"]["found_by"].as_str().unwrap_or_default(), found);
        let tested = json["verdict"]["code"] != "not-tested";
        assert_eq!(tested, found.is_empty(), "{}", json["verdict"]);
    }
}

/// Options, and the names and values that they are said by.
type Said<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

/// What was chosen is said by terminal, page and JSON alike.
#[test]
fn terminal_page_and_json_name_what_was_chosen() {
    let place = place();
    let each: [Said<'_>; 5] = [
        (&["--drop", "sex", "--worst-share", "0.2"], &[("worst_share", "0.2")]),
        (&["--group-by", "sex", "--fairness", "0.25"], &[("fairness", "0.25")]),
        (&["--group-by", "sex", "--ties", "leximin"], &[("ties", "leximin")]),
        (
            &[
                "--group-by",
                "sex",
                "--method",
                "standard",
                "--alpha-w",
                "0.01",
                "--l1-ratio",
                "0.5",
            ],
            &[("alpha_W", "0.01"), ("alpha_H", "0.01"), ("l1_ratio", "0.5")],
        ),
        (
            &["--drop", "sex", "--discover", "topics", "--discover-groups", "3"],
            &[("discover", "topics"), ("discover_groups", "3")],
        ),
    ];
    let few = ["--draws", "0", "--permutations", "20", "--folds", "0", "--chance-draws", "0"];
    let files = ["--json", "c.json", "--report", "c.html", "--force"];
    for (options, expected) in each {
        let ran = place.ok(&with(&[options, &few, &files].concat()));
        let json = place.json("c.json");
        let pairs = |list: &Value| -> Vec<(String, String)> {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let list = list.as_array().unwrap().iter();
            list.map(|c| (text(&c["name"]), text(&c["value"]))).collect()
        };
        let chosen = pairs(&json["choices"]);
        let settings = pairs(&json["report"]["settings"]);
        let page = place.read("c.html");
        for (pair, (name, value)) in chosen.iter().zip(expected) {
            assert_eq!((pair.0.as_str(), pair.1.as_str()), (*name, *value));
            assert!(settings.contains(pair), "{settings:?}");
            let row = format!("<dt><bdi>{name}</bdi></dt><dd><bdi>{value}</bdi></dd>");
            assert!(page.contains(&row), "{name} {value}");
            assert!(ran.out.contains(&format!("{name} {value}")), "{}", ran.out);
        }
        assert_eq!(chosen.len(), expected.len(), "{chosen:?}");
    }
    // Without such a choice nothing is said.
    place.ok(&with(&["--group-by", "sex", "--json", "c.json", "--force"]));
    assert_eq!(place.json("c.json").get("choices"), None);
}

#[test]
fn penalties_are_in_the_json_and_for_standard_nmf_alone() {
    let place = place();
    let base = ["--drop", "sex", "--method", "standard", "--worst-share", "1"];
    let standard = ["--group-by", "sex", "--method", "standard", "--json", "p.json"];
    place.ok(&with(&[&standard[..], &["--alpha-w", "0.01", "--l1-ratio", "0.5"]].concat()));
    let penalties = &place.json("p.json")["penalties"];
    assert_eq!(number(&penalties["alpha_W"]), 0.01);
    assert_eq!(penalties["alpha_H"], Value::Null);
    assert!(number(&penalties["objective"]) > 0.0);
    let refused: [(&[&str], &str); 7] = [
        (
            &["--group-by", "sex", "--alpha-w", "0.1"],
            "--alpha-w and --alpha-h need --method standard: with penalties the step of the min-max criterion has no proven gap",
        ),
        (
            &["--group-by", "sex", "--l1-ratio", "0.5"],
            "--l1-ratio 0.5 divides penalties that were not given: give --alpha-w or --alpha-h",
        ),
        (
            &base,
            "--worst-share 1 does not go with --method standard: it has an objective of its own, without groups",
        ),
        (
            &["--drop", "sex", "--worst-share", "0.1", "--fairness", "0.5"],
            "--worst-share 0.1 does not go with --fairness: it has an objective of its own, without groups",
        ),
        (
            &["--drop", "sex", "--worst-share", "0"],
            "--worst-share 0: must lie above 0 and be at most 1 (the mean over all rows)",
        ),
        (
            &["--drop", "sex", "--discover", "errors", "--report", "r.html", "--refit", "5"],
            "--discover does not go with --refit: groups that were found in the same rows are not tested; leave it out",
        ),
        (
            &["--drop", "sex", "--worst-share", "0.5", "--checkpoint", "c"],
            "--worst-share does not go with --checkpoint: leave it out",
        ),
    ];
    for (more, message) in refused {
        place.refused(&with(more), message);
    }
    let both = place.run(&with(&["--group-by", "sex", "--discover", "errors"]));
    assert_eq!(both.code, 2, "{}", both.err);
}

#[test]
fn cells_without_a_value_are_unobserved_where_that_is_asked_for() {
    let place = Place::with("p.csv", people(|i, j| (i * 5 + j * 3) % 7 == 0));
    let fit = ["--group-by", "sex", "--missing", "unobserved", "--json", "u.json", "--model", "m"];
    let ran = place.ok(&with(&fit));
    assert!(ran.out.contains("observed"), "{}", ran.out);
    assert!(ran.err.contains("errors and losses are over observed cells"), "{}", ran.err);
    let json = place.json("u.json");
    assert_eq!(json["data"]["rows"], 40, "nobody is left out");
    assert_eq!(json["global_bound"], Value::Null);
    assert_eq!(json["choices"][0]["name"], "missing");
    assert!(ran.out.contains("with missing unobserved"), "{}", ran.out);
    for group in json["groups"].as_array().unwrap() {
        let share = number(&group["observed"]);
        assert!(share > 0.8 && share < 0.9, "{share}");
    }
    // New rows are read as the fit's: cells without a value need no option.
    place.ok(&["transform", "p.csv", "--model", "m", "--output", "w.csv", "--group-by", "sex"]);
    assert!(!place.read("w.csv").contains("NaN"));
    // They are unobserved there too, not zero: the coordinates are those of the library.
    let model = fairer_nmf::Model::load(place.path().join("m")).unwrap();
    let table = people(|i, j| (i * 5 + j * 3) % 7 == 0);
    let cells: Vec<f64> = (table.lines().skip(1))
        .flat_map(|line| line.split(',').take(4).map(|cell| cell.parse().unwrap_or(f64::NAN)))
        .collect();
    let x = ndarray::Array2::from_shape_vec((40, 4), cells).unwrap();
    let (x, mask) = fairer_nmf::data::split_unobserved(x.view());
    let expected = model.transform_unobserved(x.view(), mask.view()).unwrap();
    let written = place.read("w.csv");
    for (line, row) in written.lines().skip(1).zip(expected.rows()) {
        let found: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let found = &found[found.len() - row.len()..];
        let apart: f64 = found.iter().zip(row).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart < 1e-5 * (1.0 + row.sum()), "{line}: {row}");
    }
    // An audit is of observed cells, as the fit is.
    let of_sex = ["--group-by", "sex", "--missing", "unobserved"];
    place.ok(&with(&[&of_sex[..], &["--report", "r.html"]].concat()));
    assert!(place.read("r.html").contains("over observed cells"));
    let audit = ["audit", "p.csv", "--model", "m", "--json", "a.json", "--report", "a.html"];
    let ran = place.ok(&[&audit[..], &of_sex].concat());
    assert!(ran.err.contains("errors and losses are over observed cells"), "{}", ran.err);
    assert!(place.read("a.html").contains("over observed cells"));
    let audited = place.json("a.json");
    assert_eq!(audited["global_bound"], Value::Null);
    for (fitted, audited) in
        json["groups"].as_array().unwrap().iter().zip(audited["groups"].as_array().unwrap())
    {
        let of = |group: &Value| number(&group["relative_error"]);
        assert!((of(fitted) - of(audited)).abs() < 1e-4, "{fitted} {audited}");
        assert_eq!(fitted["observed"], audited["observed"]);
    }
    let auto = ["fit", "p.csv", "-r", "auto", "--group-by", "sex", "--missing", "unobserved"];
    place.refused(
        &auto,
        "--missing unobserved does not go with --rank auto, which holds out cells of its own: give the rank",
    );
    let looked =
        place.ok(&["inspect", "p.csv", "--group-by", "sex", "--missing", "unobserved"]).out;
    assert!(looked.contains("cells without a value are taken as unobserved: 23"), "{looked}");
    // Without gaps it changes nothing.
    let place = Place::with("p.csv", people(none));
    for (missing, file) in [("error", "a.json"), ("unobserved", "b.json")] {
        place.ok(&with(&["--group-by", "sex", "--missing", missing, "--json", file]));
    }
    assert_eq!(place.json("a.json")["groups"], place.json("b.json")["groups"]);
}

#[test]
fn an_audit_is_of_the_model_that_was_fitted() {
    let place = place();
    // Coordinates that were penalised are taken as they are: every number of a row is of one model.
    let asked = ["--group-by", "sex", "--method", "standard", "--alpha-w", "0.01"];
    place.ok(&with(&[&asked[..], &["--report", "p.html", "--json", "p.json", "--audit"]].concat()));
    let json = place.json("p.json");
    assert!((number(&json["worst_loss"]) - number(&json["audit"]["worst_loss"])).abs() < 1e-6);
    for (group, audited) in
        json["groups"].as_array().unwrap().iter().zip(json["audit"]["groups"].as_array().unwrap())
    {
        let apart = number(&group["relative_error"]) - number(&audited["relative_error"]);
        assert!(apart.abs() < 1e-6, "{group} {audited}");
    }
    // The worst share of rows evens no groups out: the verdict is about it, not about standard NMF.
    let asked = ["--group-by", "sex", "--worst-share", "0.2", "--json", "w.json", "--audit"];
    place.ok(&with(&asked));
    let json = place.json("w.json");
    let verdict = &json["verdict"];
    let named = json["groups"].as_array().unwrap().iter().find(|g| g["name"] == verdict["group"]);
    let excess = &named.expect("a group that is there")["excess_loss"];
    assert_eq!(&verdict["excess_loss"], excess, "{verdict}");
    // Neither does a model of other groups even these out.
    place.write("lab.txt", (0..40).map(|i| format!("{}\n", i % 2)).collect::<String>());
    place.ok(&with(&["--drop", "sex", "--groups", "lab.txt", "--model", "m"]));
    place.ok(&["audit", "p.csv", "--model", "m", "--group-by", "sex", "--json", "a.json"]);
    let json = place.json("a.json");
    let verdict = &json["verdict"];
    let named = json["groups"].as_array().unwrap().iter().find(|g| g["name"] == verdict["group"]);
    assert_eq!(verdict["excess_loss"], named.unwrap()["excess_loss"], "{verdict}");
}

#[test]
fn what_would_be_ignored_is_refused() {
    let place = Place::with("p.csv", people(|i, j| (i + j) % 9 == 0));
    place.refused(
        &with(&["--group-by", "sex", "--missing", "unobserved", "--discover-groups", "3"]),
        "--discover-groups says how many groups to find: say how with --discover",
    );
    place.refused(
        &with(&["--group-by", "sex", "--missing", "unobserved", "--start-weights", "bound"]),
        "--start-weights bound does not go with --missing unobserved and --worst-share, which have no bound: leave it out",
    );
    for groups in [&["--group-by-each", "sex"][..], &["--discover", "errors", "--drop", "sex"]] {
        place.refused(
            &with(&[groups, &["--missing", "drop-rows", "--merge-small", "9"]].concat()),
            "--merge-small needs one group for every row (--group-by, --groups): groups that overlap, or that are still to be found, cannot be put together; leave it out",
        );
    }
    let looked =
        place.ok(&["inspect", "p.csv", "--group-by", "sex", "--missing", "unobserved"]).out;
    assert!(looked.contains("--rank 2"), "{looked}");
}
