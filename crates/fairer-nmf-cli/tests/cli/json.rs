//! The audit for programs: what the page shows is in `--json` of every command that makes one.

use crate::support::{Place, data, number, small_csv};
use serde_json::Value;

/// Quick statistics: the fields are the same.
const FEW: [&str; 6] = ["--draws", "50", "--permutations", "50", "--folds", "2"];

/// The fields that scripts rely on.
const FIELDS: [&str; 10] = [
    "method",
    "rank",
    "seed",
    "status",
    "iterations",
    "seconds",
    "worst_loss",
    "step_gap",
    "global_bound",
    "groups",
];

/// The JSON has all that the page shows, and the tables of the page show its numbers.
fn check_same(page: &str, json: &Value) {
    assert_eq!(data(page), json["report"]);
    let table = page.split_once("<section id=\"who-pays\"").unwrap().1;
    let table = table.split_once("<tbody").unwrap().1.split_once("</tbody>").unwrap().0;
    let groups = json["report"]["who_pays"]["groups"].as_array().unwrap();
    assert!(!groups.is_empty());
    for group in groups {
        let name = group["name"].as_str().unwrap();
        let row = table.split("<tr").find(|r| r.contains(&format!("<bdi>{name}</bdi>"))).unwrap();
        let mut shown = vec![&group["rows"], &group["norm"], &group["relative_baseline"]];
        for result in group["results"].as_array().unwrap() {
            shown.extend([&result["relative_error"], &result["loss"]]);
        }
        let cells: Vec<f64> = row
            .split("data-v=\"")
            .skip(1)
            .map(|c| c.split('"').next().unwrap())
            .map(read)
            .collect();
        assert_eq!(cells, shown.into_iter().map(number).collect::<Vec<_>>(), "{name}");
    }
}

fn read(number: &str) -> f64 {
    number.parse().unwrap()
}

/// A fit measures by its statistics, an audit by residuals: the same but for rounding.
fn same(fit: f64, audit: f64) {
    assert!((fit - audit).abs() < 1e-12, "{fit} {audit}");
}

fn largest(json: &Value, model: usize) -> f64 {
    let groups = json["report"]["who_pays"]["groups"].as_array().unwrap();
    groups.iter().map(|g| number(&g["results"][model]["loss"])).fold(f64::MIN, f64::max)
}

#[test]
fn a_fit_has_the_audit_where_it_was_asked_for() {
    let place = Place::new();
    let fit = |more: &[&str]| {
        let ran = place.heart("fit", &[&["--rank", "3"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    fit(&["--json", "plain.json"]);
    fit(&[&FEW[..], &["--json", "audited.json", "--audit"]].concat());
    fit(&[&FEW[..], &["--json", "paged.json", "--report", "p.html"]].concat());
    let plain = place.json("plain.json");
    for part in ["audit", "report", "verdict"] {
        assert!(plain.get(part).is_none(), "{part}");
    }
    for name in ["audited.json", "paged.json"] {
        let mut json = place.json(name);
        for field in FIELDS {
            // Times differ from run to run.
            if !["seconds", "groups"].contains(&field) {
                assert_eq!(json[field], plain[field], "{name}: {field}");
            }
        }
        assert_eq!(json["audit"]["bootstrap"]["draws"], 50, "{name}");
        assert_eq!(json["report"]["is_it_real"]["draws"].as_array().unwrap().len(), 2);
        // Limits of both; what is tested is the model one starts from.
        let results = &json["report"]["who_pays"]["groups"][0]["results"];
        assert!(results[0]["loss_low"].is_number() && results[1]["loss_low"].is_number());
        assert!(results[0]["adjusted_p"].is_number() && results[1].get("adjusted_p").is_none());
        // Of a model that evens out, the test of errors would say nothing.
        assert_eq!(json["groups"][0]["relative_error_adjusted_p"], Value::Null);
        assert!(json["groups"][0]["standard"]["relative_error_adjusted_p"].is_number());
        for l in 0..2 {
            let (audited, fitted) = (&json["groups"][l], &plain["groups"][l]);
            for field in ["name", "loss", "relative_error", "baseline_error"] {
                assert_eq!(audited[field], fitted[field], "{name}: {field}");
            }
            for field in ["loss", "relative_error"] {
                assert_eq!(
                    audited["standard"][field], fitted["standard"][field],
                    "{name}: {field}"
                );
            }
        }
        same(number(&json["worst_loss"]), largest(&json, 1));
        // Apart from the times and the command that made them, both audits are the same.
        json["report"]["command"] = Value::Null;
        for fit in json["report"]["quality"]["fits"].as_array_mut().unwrap() {
            fit["seconds"] = Value::Null;
        }
        place.write(name, json["report"].to_string());
    }
    assert_eq!(place.json("audited.json"), place.json("paged.json"));
    fit(&["--json", "again.json", "--report", "again.html"]);
    check_same(&place.read("again.html"), &place.json("again.json"));

    let ran = place.heart("fit", &["--rank", "3", "--audit"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--json <FILE>"), "{}", ran.err);
}

#[test]
fn audit_sweep_and_demo_write_their_page_as_json() {
    let place = Place::new();
    let files = ["--json", "fit.json", "--report", "fit.html", "--model", "m.safetensors"];
    let fit = ["--rank", "2", "--method", "standard"];
    let ran = place.heart("fit", &[&fit[..], &files, &FEW].concat());
    let json = place.json("fit.json");
    assert!(ran.out.starts_with(json["verdict"]["sentence"].as_str().unwrap()), "{}", ran.out);
    check_same(&place.read("fit.html"), &json);
    // Beside standard NMF, a fit shows what Fairer-NMF would make of it, as an audit does.
    same(
        number(&json["groups"][0]["fairer"]["loss"]),
        number(&json["report"]["who_pays"]["groups"][0]["results"][1]["loss"]),
    );

    let files = ["--model", "m.safetensors", "--json", "audit.json", "--report", "audit.html"];
    let ran = place.heart("audit", &[&files[..], &FEW].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = place.json("audit.json");
    check_same(&place.read("audit.html"), &json);
    // The verdict leads: in the file, on the terminal, on the page.
    let sentence = json["verdict"]["sentence"].as_str().unwrap();
    assert_eq!(json["verdict"], json["report"]["verdict"]);
    assert!(ran.out.starts_with(sentence), "{}", ran.out);
    let codes = ["evidence", "no-evidence", "too-few-rows"];
    assert!(codes.contains(&json["verdict"]["code"].as_str().unwrap()));
    let page = place.read("audit.html");
    assert!(page.find("class=\"verdict").unwrap() < page.find("class=\"chart\"").unwrap());
    assert!(json["report"]["cost"]["curve"].as_array().unwrap().len() > 2);

    let sweep = ["--ranks", "1..2", "--trials", "2", "--json", "sweep.json", "--report", "s.html"];
    let ran = place.heart("sweep", &sweep);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = place.json("sweep.json");
    check_same(&place.read("s.html"), &json);
    assert_eq!(json["records"].as_array().unwrap().len(), 2 * 2 * 3 * 2);
    // Methods are called in the page's numbers as they are in the records.
    let series = json["report"]["ranks"]["series"].as_array().unwrap();
    let methods: Vec<&Value> = series.iter().map(|series| &series["method"]).collect();
    assert_eq!(methods, ["standard", "standard", "mu", "mu", "am", "am"]);
    let series = &series[0]["points"][1];
    let of = |trial: usize| {
        let records = json["records"].as_array().unwrap();
        let ours = |r: &&Value| r["trial"] == trial && r["rank"] == 2 && r["method"] == "standard";
        number(&records.iter().find(ours).unwrap()["loss"])
    };
    assert!((number(&series["loss_mean"]) - (of(0) + of(1)) / 2.0).abs() < 1e-12);

    let ran = place.ok(&["demo", "--json", "demo.json"]);
    assert!(ran.out.contains("demo-report.html"));
    let json = place.json("demo.json");
    check_same(&place.read("demo-report.html"), &json);
    assert_eq!(json["report"]["ranks"]["series"].as_array().unwrap().len(), 4);
    let message = "error: demo.json exists already (--json)";
    let again = place.run(&["demo", "--json", "demo.json"]);
    assert_eq!((again.code, again.err.starts_with(message)), (2, true), "{}", again.err);
    let printed = place.ok(&["demo", "--json", "-"]).out;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["worst_loss"], json["worst_loss"]);
}

/// All numbers in a value, with the digits that tell one from another.
fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(n) => found.extend(n.as_f64().filter(|n| n.fract() != 0.0)),
        Value::Array(all) => all.iter().for_each(|v| numbers(v, found)),
        Value::Object(all) => all.values().for_each(|v| numbers(v, found)),
        _ => {}
    }
}

/// The small table with a third group of two rows, worse off than the others.
fn with_a_tiny_group() -> Place {
    Place::with("a.csv", small_csv(',') + "tiny,0.9,0,0.9,0\ntiny,0,0.9,0,0.8\n")
}

#[test]
fn hidden_groups_pick_no_rank() {
    let place = with_a_tiny_group();
    let sweep = ["sweep", "a.csv", "--group-by", "g", "--ranks", "2..2", "--trials", "1"];
    let sweep = [&sweep[..], &["--methods", "standard", "--json", "j", "--force"]].concat();
    place.ok(&sweep);
    let json = place.json("j");
    let worst = |hide: bool| {
        let records = json["records"].as_array().unwrap().iter();
        let shown = records.filter(|r| !(hide && r["group"] == "tiny"));
        shown.map(|r| number(&r["loss"])).fold(f64::MIN, f64::max)
    };
    assert!(worst(true) < worst(false), "the tiny group fares worst");
    let between = format!("{}", (worst(true) + worst(false)) / 2.0);
    place.ok(&[&sweep[..], &["--threshold", &between, "--min-group-size", "3"]].concat());
    let subtitle = place.json("j")["report"]["subtitle"].to_string();
    assert!(subtitle.contains("shows the models with 2, which the threshold picks"), "{subtitle}");
}

#[test]
fn published_json_tells_nothing_of_small_groups() {
    let place = with_a_tiny_group();
    let run = |command: &str, more: &[&str], hide: &[&str]| {
        let data = [command, "a.csv", "--group-by", "g", "--force"];
        place.ok(&[&data[..], more, hide].concat());
    };
    let audit = [&["--rank", "2", "--audit", "--json", "j"], &FEW[..]].concat();
    let plain = ["--rank", "2", "--json", "j"];
    let sweep = ["--ranks", "1..2", "--trials", "2", "--json", "j"];
    let hide = ["--min-group-size", "3"];
    for (command, more) in [("fit", &audit[..]), ("fit", &plain), ("sweep", &sweep)] {
        run(command, more, &[]);
        let all = place.json("j");
        run(command, more, &hide);
        let (text, shown) = (place.read("j"), place.json("j"));
        assert!(!text.contains("tiny"), "{command}: {text}");
        assert_eq!(shown["hidden_groups"], 1, "{command}");
        assert!(shown.get("audit").is_none(), "{command}");
        // Differences from all other groups would tell of the hidden ones.
        let results = (shown["report"]["who_pays"]["groups"].as_array().into_iter().flatten())
            .flat_map(|group| group["results"].as_array().into_iter().flatten());
        let groups = shown["groups"].as_array().into_iter().flatten();
        let standard = groups.clone().map(|group| &group["standard"]);
        for result in results.chain(groups).chain(standard).chain([&shown["verdict"]]) {
            for field in
                ["difference", "difference_low", "difference_high", "loss_low", "loss_high"]
            {
                assert!(result[field].is_null(), "{command}: {field} of {result}");
            }
        }
        // Numbers of the small group, and of all groups together.
        let (mut secret, mut public) = (Vec::new(), vec![0.95]);
        let mut of = |list: &Value, name: &str| {
            for entry in list.as_array().into_iter().flatten() {
                match entry[name] == "tiny" {
                    true => numbers(entry, &mut secret),
                    // Two groups may share the largest loss.
                    false => [&entry["loss"], &entry["standard"]["loss"]]
                        .iter()
                        .for_each(|loss| numbers(loss, &mut public)),
                }
            }
        };
        of(&all["records"], "group");
        of(&all["groups"], "name");
        let report = &all["report"];
        of(&report["who_pays"]["groups"], "name");
        for totals in [&report["models"], &all["global_bound"]] {
            numbers(totals, &mut secret);
        }
        for point in report["cost"]["curve"].as_array().into_iter().flatten() {
            numbers(&point["total_error"], &mut secret);
        }
        assert!(secret.len() >= 4, "{command}");
        let mut told = Vec::new();
        numbers(&shown, &mut told);
        for number in secret {
            let tells = told.contains(&number) && !public.contains(&number);
            assert!(!tells, "{command} tells {number}: {text}");
        }
        match command {
            "sweep" => assert!(shown["records"][0]["norm"].is_null()),
            _ => {
                assert_eq!(shown["data"]["rows"], 7);
                assert!(["a", "b"].contains(&shown["worst_group"].as_str().unwrap()));
                let group = &shown["groups"][0];
                assert!(group["norm"].is_null() && group["baseline_error"].is_null());
                assert!(group["loss"].is_number() && shown["global_bound"].is_null());
            }
        }
    }
}

#[test]
fn published_json_has_no_numbers_over_all_rows_of_any_method() {
    let place = with_a_tiny_group();
    let known = ["fit", "a.csv", "--group-by", "g", "--rank", "2", "--json", "j", "--force"];
    // Of nine rows in two groups one group has fewer than five.
    let found = ["fit", "a.csv", "--drop", "g", "--discover", "topics", "--discover-groups", "2"];
    let found = [&found[..], &["--rank", "2", "--json", "j", "--force"]].concat();
    let penalised = [&known[..], &["--method", "standard", "--alpha-h", "0.1"]].concat();
    let shared = [&known[..], &["--worst-share", "0.3"]].concat();
    for (fit, least, told) in [
        (penalised, "3", "/penalties/objective"),
        (shared, "3", "/worst_share"),
        (found, "5", "/discovered/labels"),
    ] {
        place.ok(&fit);
        assert!(place.json("j").pointer(told).is_some_and(|is| !is.is_null()), "{told}");
        place.ok(&[&fit[..], &["--min-group-size", least]].concat());
        let json = place.json("j");
        assert_eq!(json["hidden_groups"], 1, "{told}: {json}");
        assert!(json.pointer(told).is_none_or(Value::is_null), "{told}: {json}");
    }
}
