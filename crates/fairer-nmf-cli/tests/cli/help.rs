//! Help, completions and manual pages, all from the same definitions.

use crate::support::Place;

const COMMANDS: [&str; 9] =
    ["demo", "fit", "audit", "transform", "sweep", "topics", "inspect", "completions", "man"];

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
    assert!(out.contains(".TH fairer-nmf-fit 1") && out.contains("patients.csv"), "{out}");
    Place::new().refused(&["man", "fitt"], "there is no command `fitt`: see fairer-nmf --help");
}

#[test]
fn a_wrong_command_line_is_exit_2() {
    for arguments in [&["fitt"][..], &["fit"], &["fit", "x.csv", "--rank", "0"], &["fit", "--bad"]]
    {
        assert_eq!(Place::new().run(arguments).code, 2, "{arguments:?}");
    }
}
