//! What is said first, and chance beside every loss: terminal, JSON and page say the same.

use crate::support::{BY_SEX, HEART, Place, number};
use serde_json::Value;

/// An audit of standard NMF of the heart table by sex, with few draws.
fn audited(place: &Place, more: &[&str]) -> (String, Value) {
    if !place.has("m.safetensors") {
        place.ok(&[
            &["fit", HEART][..],
            &BY_SEX,
            &["--method", "standard", "--rank", "4", "--model", "m.safetensors", "--quiet"],
        ]
        .concat());
    }
    let few = ["--permutations", "50", "--draws", "0", "--folds", "0", "--chance-draws", "20"];
    let asked = ["audit", HEART, "--model", "m.safetensors", "--no-compare", "--force"];
    let said = place.ok(&[&asked[..], &few, more].concat()).out;
    place
        .ok(&[&asked[..], &few, &["--json", "a.json", "--report", "a.html", "--quiet"], more]
            .concat());
    (said, place.json("a.json"))
}

#[test]
fn chance_and_excess_stand_beside_the_loss() {
    let place = Place::new();
    for baseline in ["best", "paper", "held-out", "zero"] {
        let (said, json) = audited(&place, &["--baseline", baseline]);
        assert!(said.contains("random group  ") && said.contains("  excess  "), "{said}");
        // The number that the verdict is about, how sure it is, and what the draws may take.
        assert!(said.contains("  difference  adjusted p"), "{said}");
        assert!(
            said.contains("comes from 20 draws") && said.contains("60 s at the most"),
            "{said}"
        );
        assert!(said.contains("the mean of random groups of that size"), "{said}");
        assert!(said.contains("nine of ten random groups of that size"), "{said}");
        for group in json["groups"].as_array().unwrap() {
            let own = |field: &str| number(&group[field]);
            let excess = own("loss") - own("chance_mean");
            let near = if baseline == "best" { 5e-3 } else { 1e-9 };
            assert!((excess - own("excess_loss")).abs() < near, "{baseline}: {group}");
            assert!(said.contains(&format!("{:.4}", own("excess_loss"))), "{said}");
            let range = format!("{:.4} ({:.4} to", own("chance_mean"), own("chance_low"));
            assert!(said.contains(&range.replace("-0.0000", "0.0000")), "{range}: {said}");
        }
        let notes = json["report"]["notes"].to_string();
        assert!(notes.contains("comes from 20 draws of groups of every size"), "{notes}");
        // What the reader has to know besides stands below the verdict, in the same words everywhere.
        let verdict = &json["verdict"];
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], verdict["sentence"].as_str().unwrap());
        let notes = verdict["notes"].as_array().unwrap();
        for (line, note) in lines[1..].iter().zip(notes) {
            assert_eq!(*line, note["sentence"].as_str().unwrap());
        }
        assert_eq!(baseline == "zero", said.contains("a loss is the whole error"), "{said}");
    }
}

#[test]
fn what_matters_is_the_users_to_say() {
    let place = Place::new();
    let code = |json: &Value| json["verdict"]["code"].as_str().unwrap().to_owned();
    let (said, json) = audited(&place, &["--matters", "0.9"]);
    assert_eq!(code(&json), "no-evidence", "{said}");
    assert!(said.contains("more than 90.0 points is ruled out"), "{said}");
    let (said, json) = audited(&place, &["--matters", "0.0001"]);
    assert_eq!(code(&json), "too-few-rows", "{said}");
    let asked = ["audit", HEART, "--model", "m.safetensors", "--matters", "5"];
    place.refused(&asked, "--matters 5: must lie between 0 and 1");
}

/// With baselines of another kind the interval is of another loss than the one it stands beside, and says which.
#[test]
fn an_interval_says_what_it_is_held_against() {
    let place = Place::new();
    let (said, _) = audited(&place, &["--baseline", "zero"]);
    assert!(said.contains("against the group's own best dictionary"), "{said}");
    let page = place.read("a.html");
    assert!(page.contains("; against its own best dictionary, on other samples"), "{page}");
}

#[test]
fn draws_too_few_for_a_range_are_refused() {
    let place = Place::new();
    place.ok(&[&["fit", HEART][..], &BY_SEX, &["--rank", "2", "--model", "m", "--quiet"]].concat());
    let asked = ["audit", HEART, "--model", "m", "--chance-draws", "5"];
    place.refused(&asked, "chance draws is 5: give 20 or more, for a range that holds nine of ten, or 0 to leave them out");
}

/// A sweep has no verdict, and its page does not open as if it had one. What random groups show stands beside its losses.
#[test]
fn a_sweep_says_that_nothing_was_tested() {
    let place = Place::new();
    let asked = ["--ranks", "2,3", "--trials", "1", "--json", "s.json", "--report", "s.html"];
    place.ok(&[&["sweep", HEART][..], &BY_SEX, &asked, &["--quiet"]].concat());
    let report = &place.json("s.json")["report"];
    assert_eq!(report["verdict"]["code"], "not-tested", "{report}");
    let page = place.read("s.html");
    let (first, rest) = page.split_once("What follows?").unwrap();
    assert!(first.contains("was not tested: a sweep compares numbers of topics"), "{first}");
    assert!(!first.contains("pays most"), "{first}");
    assert!(page.contains("beside random groups of its size"), "{page}");
    assert!(!rest.contains("would show was not looked at"), "{rest}");
    let json = place.json("s.json");
    assert_eq!((json["chance"].as_array().unwrap().len(), &json["chance_draws"]), (4, &20.into()));
    for (random, points) in json["chance"].as_array().unwrap().iter().zip([0, 1, 0, 1]) {
        let of = |field: &str| number(&random[field]);
        assert!(of("chance_low") <= of("chance_mean") && of("chance_mean") <= of("chance_high"));
        let series = &report["ranks"]["series"][points];
        let shown = series["points"].as_array().unwrap().iter();
        let of_rank = shown.filter(|point| point["rank"] == random["rank"]);
        assert!(of_rank.map(|point| &point["chance_high"]).eq([&random["chance_high"]]));
    }
    let said =
        place.ok(&[&["sweep", HEART][..], &BY_SEX, &asked[..4], &["--methods", "am"]].concat());
    assert!(said.out.contains("random group: the mean of random groups"), "{}", said.out);
    assert!(said.out.contains("(20 draws)"), "{}", said.out);
}

/// Methods that were bent for a few rows are said to be, with the numbers of topics.
#[test]
fn a_sweep_says_which_fits_were_bent_for_a_few_rows() {
    let place = Place::with("h.csv", eight_of_heart());
    let data = ["--group-by", "part", "--drop", "disease,sex", "--ranks", "4,5", "--trials", "1"];
    let files = ["--methods", "standard,am", "--json", "s.json", "--report", "s.html"];
    let ran = place.ok(&[&["sweep", "h.csv"][..], &data, &files].concat());
    let json = place.json("s.json");
    let rises: Vec<&Value> = (json["warnings"].as_array().unwrap().iter())
        .filter(|warning| warning["code"] == "total-error-rose")
        .collect();
    assert_eq!(rises.len(), 1, "{json}");
    let said = rises[0]["sentence"].as_str().unwrap();
    assert!(said.starts_with("Fairer-NMF (AM) with ") && said.contains("'few' (8 rows)"), "{said}");
    assert!(ran.err.contains(said), "{}", ran.err);
    assert!(json["report"]["warnings"].to_string().contains("total-error-rose"));
    // What it is about is told of nobody who is hidden.
    let hidden = [&["sweep", "h.csv"][..], &data, &files, &["--min-group-size", "20", "--force"]];
    place.ok(&hidden.concat());
    let json = place.json("s.json");
    assert!(!json.to_string().contains("few") && json["records"][0]["total_error"].is_null());
    assert_eq!(json["chance"].as_array().unwrap().len(), 2, "{json}");
}

/// What a fit that was cut short loses is its being cut short, and nobody's fault.
#[test]
fn a_fit_that_was_cut_short_was_bent_for_nobody() {
    let place = Place::new();
    let asked = ["--rank", "5", "--time-limit", "0.001", "--json", "f.json", "--quiet"];
    place.ok(&[&["fit", HEART][..], &BY_SEX, &asked].concat());
    let json = place.json("f.json");
    assert_eq!(json["status"], "time-limit", "{json}");
    let warnings = &json["warnings"];
    let times =
        |code: &str| warnings.as_array().unwrap().iter().filter(|w| w["code"] == code).count();
    assert_eq!(times("total-error-rose"), 0, "{warnings}");
    assert_eq!(times("baselines-cut-short"), 1, "{warnings}");
}

/// The heart table with eight of its rows, 93 apart, called a group: labels that mean nothing.
fn eight_of_heart() -> String {
    let table = std::fs::read_to_string(HEART).unwrap();
    let mut lines = table.lines();
    let whole = |line: &str| !line.split(',').any(str::is_empty);
    let head = format!("{},part\n", lines.next().unwrap());
    let rows: Vec<&str> = lines.filter(|line| whole(line)).collect();
    let few: Vec<usize> = (1..9).map(|k| 93 * k % rows.len()).collect();
    let part = |i: usize| if few.contains(&i) { "few" } else { "rest" };
    rows.iter().enumerate().fold(head, |all, (i, row)| format!("{all}{row},{}\n", part(i)))
}

/// The sentences about a rise of the total error in the terminal, in JSON and on the page: the same everywhere.
fn said_of_rise(place: &Place, arguments: &[&str]) -> Vec<String> {
    let few = ["--draws", "0", "--permutations", "0", "--folds", "0", "--chance-draws", "0"];
    let files = ["--json", "r.json", "--report", "r.html", "--force"];
    let ran = place.ok(&[arguments, &few, &files].concat());
    let of = |found: &Value| -> Vec<String> {
        let all = found["warnings"].as_array().unwrap().iter();
        let rises = all.filter(|w| w["code"] == "total-error-rose");
        rises.map(|w| w["sentence"].as_str().unwrap().to_owned()).collect()
    };
    let json = place.json("r.json");
    let said = of(&json);
    assert_eq!(said, of(&json["report"]), "JSON and page");
    assert_eq!(ran.err.matches("it was bent for").count(), said.len(), "{}", ran.err);
    // In its text and in the data behind it.
    assert_eq!(place.read("r.html").matches("it was bent for").count(), 2 * said.len());
    assert!(said.iter().all(|sentence| ran.err.contains(sentence)), "{}", ran.err);
    said
}

/// Whoever fits, audits or sets Fairer-NMF beside a model hears that it was bent for eight rows.
#[test]
fn a_model_that_was_bent_for_a_few_rows_is_said_to_be() {
    let place = Place::with("h.csv", eight_of_heart());
    let data = ["--group-by", "part", "--drop", "disease,sex", "--rank", "5"];
    let fit = |more: &[&str]| said_of_rise(&place, &[&["fit", "h.csv"][..], &data, more].concat());
    let best = ["--baseline", "best", "--model", "m", "--method"];
    let rest = "loses 24.6 %: it was bent for group 'few' (8 rows); is that what you want?";
    let only = |said: Vec<String>, who: &str| {
        assert!(
            matches!(&said[..], [one] if one.starts_with(who) && one.ends_with(rest)),
            "{said:?}"
        );
    };
    // With nothing beside it, by the standard NMF that its search begins from; else by the one beside it.
    let alone = |baseline| fit(&["--baseline", baseline, "--method", "am", "--no-compare"]);
    only(alone("best"), "this fit loses 2");
    only(alone("paper"), "this fit loses 2");
    // What its own rows did not fit is no baseline to be bent for.
    assert_eq!(alone("held-out"), [""; 0]);
    only(fit(&[&best[..], &["am"]].concat()), "this fit loses 2");
    let audit = ["audit", "h.csv", "--model", "m", "--baseline", "best"];
    only(said_of_rise(&place, &audit), "this model loses 2");
    only(fit(&[&best[..], &["standard"]].concat()), "Fairer-NMF loses 2");
    only(said_of_rise(&place, &audit), "Fairer-NMF loses 2");
    // What allows for chance is not bent.
    assert_eq!(fit(&["--method", "standard"]), [""; 0]);
}

/// Means of loose runs move with the seed by more than what is compared; the lowest errors do not.
#[test]
fn baselines_that_vary_by_more_than_what_is_compared_are_said_to() {
    let place = Place::new();
    for (baseline, seeds, unsettled) in
        [("paper", 0..5, true), ("best", 0..2, false), ("adjusted", 0..1, false)]
    {
        for seed in seeds {
            let (said, json) =
                audited(&place, &["--baseline", baseline, "--seed", &format!("{seed}")]);
            let notes = json["verdict"]["notes"].to_string();
            assert_eq!(
                notes.contains("\"baselines-unsettled\""),
                unsettled,
                "{baseline} {seed}: {said}"
            );
            assert_eq!(said.contains("The losses shown move with the seed"), unsettled, "{said}");
        }
    }
}

#[test]
fn options_of_an_audit_that_nothing_asks_for_are_refused() {
    let place = Place::new();
    for option in [["--draws", "10"], ["--level", "0.9"], ["--matters", "0.1"], ["--refit", "3"]] {
        let asked = [&["fit", HEART][..], &BY_SEX, &["--rank", "2"], &option].concat();
        let message = "is about the audit of a fit, which nothing asks for: add --report PAGE.html, or --audit with --json FILE";
        place.refused(&asked, &format!("{} {message}", option[0]));
    }
    let asked = ["--rank", "2", "--audit", "--json", "f.json", "--draws", "0", "--folds", "0"];
    let few = ["--permutations", "20", "--chance-draws", "20", "--quiet"];
    place.ok(&[&["fit", HEART][..], &BY_SEX, &asked, &few].concat());
    // The verdict on a fairer model is about standard NMF: chance is found beside that.
    let standard = &place.json("f.json")["groups"][0]["standard"];
    assert!(number(&standard["chance_low"]) <= number(&standard["chance_high"]), "{standard}");
}

#[test]
fn a_comparison_says_that_nothing_was_tested_and_what_random_groups_show() {
    let place = Place::new();
    place.heart(
        "compare",
        &["--rank", "3", "--methods", "standard,am,separate", "--report", "c.html"],
    );
    let page = place.read("c.html");
    assert!(page.contains("was not tested: the methods are only set side by side"));
    assert!(page.contains(" rows would show ") && page.contains("Beside random groups"));
    assert!(!page.contains("Beyond the others, points"), "no difference was tested");
    assert!(page.contains("No shared model of this rank"), "separate models are below the bound");
}

/// Random groups under a dictionary that was fitted to the groups are worse off by construction.
#[test]
fn chance_is_not_shown_under_a_dictionary_that_evens_out() {
    let place = Place::new();
    place.heart("fit", &["--rank", "3", "--model", "m.safetensors", "--no-compare"]);
    let audit = ["--model", "m.safetensors", "--no-compare", "--json", "a.json"];
    let said = place.heart("audit", &audit).out;
    assert!(!said.contains("random group:"), "{said}");
    assert!(place.json("a.json")["groups"][0]["chance_mean"].is_null());
}

/// Small groups look worst by construction: what random ones show stands beside them, and who bends the methods is said.
#[test]
fn a_comparison_says_which_methods_were_bent_for_a_few_rows() {
    let place = Place::with("h.csv", eight_of_heart());
    let data = ["--group-by", "part", "--drop", "disease,sex", "--rank", "5"];
    let files =
        ["--methods", "standard,am,reweighted-rows", "--json", "c.json", "--report", "c.html"];
    let ran = place.ok(&[&["compare", "h.csv"][..], &data, &files].concat());
    let json = place.json("c.json");
    let said = json["warnings"][0]["sentence"].as_str().unwrap();
    assert_eq!(json["warnings"][0]["code"], "total-error-rose");
    assert!(
        said.starts_with("Fairer-NMF (AM)") && said.contains("bent for group 'few' (8 rows)"),
        "{said}"
    );
    assert!(ran.err.contains(said) && ran.err.matches("bent for").count() == 1, "{}", ran.err);
    for row in ["random group, mean", "random group, from", "random group, to"] {
        assert!(ran.out.contains(row), "{}", ran.out);
    }
    let [mean, low, high] =
        ["chance_mean", "chance_low", "chance_high"].map(|field| number(&json[field][0]));
    assert!(low < mean && mean < high && low > 0.0, "{low} {mean} {high}");
    let page = place.read("c.html");
    assert!(page.contains("(8\u{a0}rows)") || page.contains("(8 rows)"), "{said}");
    assert!(page.contains("random groups of the same size"), "the band of the first picture");
}
