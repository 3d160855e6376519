//! Help, completions and manual pages, all from the same definitions.

use crate::support::{HEART, Place};

const COMMANDS: [&str; 10] = [
    "demo",
    "fit",
    "audit",
    "transform",
    "sweep",
    "topics",
    "inspect",
    "reproduce",
    "completions",
    "man",
];

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!("help", Place::new().ok(&["--help"]).out);
}

#[test]
fn help_of_fit() {
    insta::assert_snapshot!("help-fit", Place::new().ok(&["fit", "--help"]).out);
}

#[test]
fn every_command_has_an_example() {
    for command in COMMANDS {
        for help in ["--help", "-h"] {
            let out = Place::new().ok(&[command, help]).out;
            assert!(out.contains(&format!("  fairer-nmf {command}")), "{command}: {out}");
        }
    }
}

/// Lines that call the program, continued ones joined, as words.
fn calls(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.trim().strip_prefix("fairer-nmf "));
    lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

/// A place that looks like a clone of the repository, as far as the examples go.
fn clone() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("data")).unwrap();
    place.write("data/heart_disease.csv", std::fs::read(HEART).unwrap());
    place
}

fn run_all(place: &Place, calls: &[Vec<String>]) {
    for call in calls {
        place.ok(&call.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn the_readme_can_be_followed_from_a_file() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let section = readme.split("## From a file").nth(1).unwrap().split("## ").next().unwrap();
    let block = section.split("```").nth(1).unwrap();
    let calls = calls(block);
    assert_eq!(calls.len(), 2, "{calls:?}");
    let place = clone();
    run_all(&place, &calls);
    assert!(place.has("m.safetensors") && place.has("r.html"));
}

#[test]
fn examples_on_the_shipped_table_run() {
    let place = clone();
    for command in ["inspect", "fit", "audit", "transform", "sweep"] {
        let mut calls = calls(&place.ok(&[command, "--help"]).out);
        calls.retain(|call| call.contains(&"data/heart_disease.csv".to_owned()));
        assert_eq!(calls.len(), 1, "{command}: {calls:?}");
        if command == "sweep" {
            // Ten trials show nothing here that one does not.
            calls[0].extend(["--trials", "1"].map(str::to_owned));
        }
        run_all(&place, &calls);
    }
    assert!(place.has("m.safetensors") && place.has("W.csv"));
}

#[test]
fn completions_know_every_command_and_option() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let out = Place::new().ok(&["completions", shell]).out;
        for word in COMMANDS.iter().chain(&["baseline-runs", "group-by", "time-limit"]) {
            assert!(out.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn manual_pages_are_roff_and_hold_the_examples() {
    let out = Place::new().ok(&["man"]).out;
    assert!(out.contains(".TH fairer-nmf 1"), "{out}");
    let out = Place::new().ok(&["man", "fit"]).out;
    assert!(out.contains(".TH fairer-nmf-fit 1") && out.contains("heart_disease.csv"), "{out}");
    Place::new().refused(&["man", "fitt"], "there is no command `fitt`: see fairer-nmf --help");
}

#[test]
fn a_wrong_command_line_is_exit_2() {
    for arguments in [&["fitt"][..], &["fit"], &["fit", "x.csv", "--rank", "0"], &["fit", "--bad"]]
    {
        assert_eq!(Place::new().run(arguments).code, 2, "{arguments:?}");
    }
}
