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
    let few = ["--permutations", "50", "--draws", "0", "--folds", "0", "--chance-draws", "10"];
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
        assert!(said.contains("nine of ten random groups of that size"), "{said}");
        for group in json["groups"].as_array().unwrap() {
            let own = |field: &str| number(&group[field]);
            let excess = own("loss") - own("chance_mean");
            let near = if baseline == "best" { 5e-3 } else { 1e-9 };
            assert!((excess - own("excess_loss")).abs() < near, "{baseline}: {group}");
            assert!(said.contains(&format!("{:.4}", own("excess_loss"))), "{said}");
        }
        let notes = json["report"]["notes"].to_string();
        assert!(notes.contains("comes from 10 draws of groups of every size"), "{notes}");
        // What the reader has to know besides stands below the verdict, in the same words everywhere.
        let verdict = &json["verdict"];
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], verdict["sentence"].as_str().unwrap());
        let notes = verdict["notes"].as_array().unwrap();
        for (line, note) in lines[1..].iter().zip(notes) {
            assert_eq!(*line, note.as_str().unwrap());
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

#[test]
fn options_of_an_audit_that_nothing_asks_for_are_refused() {
    let place = Place::new();
    for option in [["--draws", "10"], ["--level", "0.9"], ["--matters", "0.1"], ["--refit", "3"]] {
        let asked = [&["fit", HEART][..], &BY_SEX, &["--rank", "2"], &option].concat();
        let message = "is about the audit of a fit, which nothing asks for: add --report PAGE.html, or --audit with --json FILE";
        place.refused(&asked, &format!("{} {message}", option[0]));
    }
    let asked = ["--rank", "2", "--audit", "--json", "f.json", "--draws", "0", "--folds", "0"];
    let few = ["--permutations", "20", "--chance-draws", "10", "--quiet"];
    place.ok(&[&["fit", HEART][..], &BY_SEX, &asked, &few].concat());
    // The verdict on a fairer model is about standard NMF: chance is found beside that.
    let standard = &place.json("f.json")["groups"][0]["standard"];
    assert!(number(&standard["chance_low"]) <= number(&standard["chance_high"]), "{standard}");
}
