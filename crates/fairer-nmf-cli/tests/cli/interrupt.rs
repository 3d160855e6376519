//! A real SIGINT to real, long runs.
#![cfg(unix)]

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{BY_SEX, HEART, Place};

/// A fit that would take days: multiplicative updates never stand still.
fn long_fit(place: &Place, more: &[&str]) -> Child {
    let endless = ["--rank", "3", "--method", "mu", "--tol", "0", "--max-iter", "4000000000"];
    started(place, "fit", &[&endless[..], &["--baseline-runs", "1"], more].concat())
}

/// A command at work on a table of its own.
fn started(place: &Place, command: &str, more: &[&str]) -> Child {
    let mut csv = String::from("g,a,b,c,d,e,f\n");
    let mut state = 1_u32;
    for row in 0..400 {
        csv += if row % 3 == 0 { "x" } else { "y" };
        for _ in 0..6 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            csv += &format!(",{}", state >> 20);
        }
        csv += "\n";
    }
    place.write("long.csv", csv);
    Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"))
        .args([command, "long.csv", "--group-by", "g"])
        .args(more)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let id = i32::try_from(child.id()).unwrap();
    // SAFETY: the process is our own child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
}

fn end(child: Child) -> Output {
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "it took long to stop");
    output
}

#[test]
fn the_first_ctrl_c_stops_and_writes_what_there_is() {
    let place = Place::new();
    let child = long_fit(&place, &["--model", "m.safetensors", "--json", "fit.json"]);
    std::thread::sleep(Duration::from_secs(3));
    interrupt(&child);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("note: stopping at the next iteration"), "{err}");
    assert!(err.ends_with("error: stopped; wrote m.safetensors, fit.json\n"), "{err}");
    assert_eq!(output.status.code(), Some(1));
    let json = place.json("fit.json");
    assert_eq!(json["status"], "stopped");
    assert!(json["iterations"].as_u64().unwrap() > 1);
    assert!(json["worst_loss"].is_number());
    assert!(place.ok(&["topics", "m.safetensors"]).out.contains("Topic 3"));
    assert_eq!(place.files(), ["fit.json", "long.csv", "m.safetensors"]);
}

#[test]
fn a_sweep_that_is_stopped_writes_the_trials_that_it_finished() {
    let place = Place::new();
    let sweep = ["--ranks", "2..2", "--trials", "20000", "--methods", "standard,am"];
    let child = started(&place, "sweep", &[&sweep[..], &["--json", "sweep.json"]].concat());
    std::thread::sleep(Duration::from_secs(4));
    interrupt(&child);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.ends_with("error: stopped; wrote sweep.json\n"), "{err}");
    assert_eq!(output.status.code(), Some(1));
    let json = place.json("sweep.json");
    let records = json["records"].as_array().unwrap();
    // Two methods and two groups: no trial is there by halves.
    assert!(!records.is_empty() && records.len().is_multiple_of(4), "{}", records.len());
    assert!(records.iter().all(|r| r["status"] == "converged"));
    assert_eq!(place.files(), ["long.csv", "sweep.json"]);
}

#[test]
fn the_second_ctrl_c_ends_at_once_and_leaves_nothing_behind() {
    let place = Place::new();
    let child = long_fit(&place, &["--json", "fit.json"]);
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(1));
    interrupt(&child);
    let output = end(child);
    assert_eq!(output.status.code(), Some(1));
    // The first may have been heard in time to write; half a file is never there.
    let files = place.files();
    assert!(files.iter().all(|f| ["fit.json", "long.csv"].contains(&f.as_str())), "{files:?}");
}

/// Statistics that would take days, started right after a quick fit.
fn long_audit(place: &Place, command: &str, more: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"))
        .args([command, HEART])
        .args(BY_SEX)
        .args(["--draws", "100", "--permutations", "100", "--refit", "1000000000"])
        .args(more)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_stop_during_the_audit_writes_what_is_finished_and_says_what_is_missing() {
    let place = Place::new();
    let options = ["--rank", "2", "--model", "m.safetensors", "--report", "r.html"];
    let child = long_audit(&place, "fit", &options);
    let start = Instant::now();
    while !place.has("m.safetensors") && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(1));
    interrupt(&child);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("warning: the audit was stopped before it was done: it has no "), "{err}");
    assert!(err.ends_with("error: stopped; wrote m.safetensors, r.html\n"), "{err}");
    assert_eq!(output.status.code(), Some(1));
    let page = place.read("r.html");
    assert!(page.contains("the audit was stopped before it was done"));
    assert!(page.contains("permutation test with refits"), "the page names what is missing");
    assert!(page.contains("What are the topics?") && page.trim_end().ends_with("</html>"));
    assert_eq!(place.files(), ["m.safetensors", "r.html"]);

    let options = ["--model", "m.safetensors", "--json", "a.json", "--no-compare"];
    let child = long_audit(&place, "audit", &options);
    std::thread::sleep(Duration::from_secs(4));
    interrupt(&child);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.ends_with("error: stopped; wrote a.json\n"), "{err}");
    let json = place.json("a.json");
    let unfinished = json["audit"]["unfinished"].as_array().unwrap();
    assert!(unfinished.iter().any(|part| part == "refit-permutation"), "{unfinished:?}");
    assert!(json["audit"]["permutation_refit"].is_null() && json["worst_loss"].is_number());
}

#[test]
fn a_pipe_sees_no_progress() {
    let place = Place::new();
    let child = long_fit(&place, &["--time-limit", "1s"]);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    let expected = "warning: not converged within the time limit: raise --time-limit\nwarning: no time was left to fit standard NMF for comparison: raise --time-limit\n";
    assert_eq!(err, expected);
    assert_eq!(output.status.code(), Some(0));
}
