//! Ends that nobody foresees: kills at any moment, limits of the system, runs side by side, readers
//! that go away. Small counts here; `KILLS=250 cargo test --release --test cli kills` for large ones.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::hostile::{Resource, limited};
use crate::support::{Place, kills, small_csv};

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
    command.args(arguments).current_dir(place.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills runs at moments that are spread over the time of a whole one.
fn kill_loop(count: u32, whole: Duration, run: impl Fn(u32) -> Child, check: impl Fn(u32)) {
    for i in 0..count {
        let mut child = run(i);
        // The golden section spreads any number of moments evenly.
        std::thread::sleep(whole.mul_f64(f64::from(i) * 0.618_034 % 1.0));
        child.kill().unwrap();
        child.wait().unwrap();
        check(i);
    }
}

const FIT: [&str; 6] = ["fit", "a.csv", "--group-by", "g", "--rank", "2"];
const OUTPUTS: [&str; 7] =
    ["--json", "f.json", "--model", "m.safetensors", "--report", "r.html", "--force"];
const QUICK: [&str; 4] = ["--draws", "9", "--permutations", "9"];

#[test]
fn a_kill_at_any_moment_leaves_whole_files_or_none_and_the_next_run_tidies_up() {
    let place = Place::with("a.csv", small_csv(','));
    let fit = [&FIT[..], &OUTPUTS, &QUICK].concat();
    let begin = Instant::now();
    place.ok(&fit);
    let whole = begin.elapsed();
    let expected = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    let model = expected("m.safetensors");
    let check = |_| {
        for name in ["f.json", "m.safetensors", "r.html"].into_iter().filter(|n| place.has(n)) {
            let found = expected(name);
            match name {
                "f.json" => assert!(place.json(name)["rank"] == 2),
                "r.html" => assert!(place.read(name).trim_end().ends_with("</html>")),
                _ => assert!(found == model, "{name} is half written"),
            }
        }
        // At most what the last run held: earlier ones are tidied up by the next.
        let left = place.files().into_iter().filter(|f| f.ends_with(".part")).count();
        assert!(left <= 3, "{left} temporary files");
    };
    let run = |i: u32| {
        if i.is_multiple_of(2) {
            ["f.json", "m.safetensors", "r.html"].iter().for_each(|name| {
                let _ = std::fs::remove_file(place.path().join(name));
            });
        }
        start(&place, &fit)
    };
    kill_loop(kills(10), whole, run, check);
    place.ok(&fit);
    assert_eq!(place.files(), ["a.csv", "f.json", "m.safetensors", "r.html"]);
}

/// What a run finds, without its seconds.
fn numbers(csv: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        csv.lines().filter(|line| !line.contains(",time_s,")).map(String::from).collect();
    lines.sort();
    lines
}

#[test]
fn experiments_that_are_killed_go_on_to_the_same_numbers() {
    let place = Place::new();
    let reproduce = |out| ["reproduce", "heart-disease", "--quick", "--trials", "2", "--out", out];
    let begin = Instant::now();
    place.ok(&reproduce("whole"));
    let whole = begin.elapsed();
    kill_loop(kills(5), whole, |_| start(&place, &reproduce("r")), |_| {});
    place.ok(&reproduce("r"));
    let found = |out: &str| numbers(&place.read(&format!("{out}/results.csv")));
    assert_eq!(found("r"), found("whole"));
    let parts = std::fs::read_dir(place.path().join("r")).unwrap().flatten();
    let parts = parts.filter(|e| e.file_name().to_string_lossy().ends_with(".part")).count();
    assert_eq!(parts, 0);
}

#[test]
fn a_result_that_is_cut_inside_its_number_is_made_again() {
    let place = Place::new();
    let run = ["reproduce", "synthetic-1", "--quick", "--trials", "1", "--out", "r"];
    place.ok(&run);
    let whole = place.read("r/results.csv");
    let cut = whole.rfind('\n').unwrap();
    assert!(whole[..cut - 2].ends_with(|c: char| c.is_ascii_digit()), "a number is cut");
    place.write("r/results.csv", &whole[..cut - 2]);
    place.ok(&run);
    assert_eq!(numbers(&place.read("r/results.csv")), numbers(&whole));
    let times = |csv: &str| csv.lines().filter(|line| line.contains(",time_s,")).count();
    assert_eq!(times(&place.read("r/results.csv")), times(&whole));
    let last = |csv: &str| csv.lines().last().map(String::from);
    assert_ne!(last(&place.read("r/results.csv")), last(&whole[..cut - 2]), "taken as whole");
}

#[test]
fn what_cannot_be_written_is_found_before_the_work() {
    let place = Place::with("a.csv", small_csv(','));
    let endless = ["--method", "mu", "--tol", "0", "--max-iter", "4000000000"];
    let fit = |more: [&'static str; 2]| [&FIT[..], &endless, &more].concat();
    std::os::unix::fs::symlink("nowhere", place.path().join("link.json")).unwrap();
    for force in [false, true] {
        let force: &[&str] = if force { &["--force"] } else { &[] };
        place.refused(
            &[&fit(["--json", "link.json"])[..], force].concat(),
            "link.json is a link to a file that does not exist (--json): remove the link, or give another name",
        );
    }
    place.refused(&fit(["--json", ""]), "--json '': give the name of a file");
    let long = "x".repeat(256);
    place.refused(
        &[&FIT[..], &endless, &["--model", &long]].concat(),
        &format!("cannot write {long} (--model): the name is too long; give a shorter one"),
    );
    assert_eq!(place.files(), ["a.csv", "link.json"]);
}

#[test]
fn documents_are_not_written_over() {
    let place = Place::new();
    for (group, name, text) in [("a", "1", "one two"), ("b", "2", "two three")] {
        std::fs::create_dir_all(place.path().join("docs").join(group)).unwrap();
        place.write(&format!("docs/{group}/{name}"), text);
    }
    let fit = ["fit", "docs", "--rank", "1", "--force", "--json"];
    for target in ["docs/a/1", "docs/a/new.json", "./docs/../docs/b/2"] {
        place.refused(
            &[&fit[..], &[target]].concat(),
            &format!(
                "--json {target} lies among the documents of docs: give the output another place"
            ),
        );
    }
    assert_eq!(place.read("docs/a/1"), "one two");
    // Beside the groups lies nothing that is read.
    place.ok(&[&fit[..], &["docs/fit.json"]].concat());
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_nothing() {
    let place = Place::with("a.csv", small_csv(','));
    for most in [0, 100, 5_000, 20_000, 70_000] {
        let fit = [&FIT[..], &OUTPUTS, &QUICK].concat();
        let ran = limited(&place, &fit, Resource::FileSize, most);
        assert_eq!(ran.code, 1, "{most}: {}", ran.err);
        assert!(ran.err.contains("no file so large; raise the limit (ulimit -f)"), "{}", ran.err);
        let left = place.files();
        assert!(left.iter().all(|f| !f.ends_with(".part")), "{most}: {left:?}");
    }
}

#[test]
fn runs_side_by_side_write_whole_files() {
    let place = Place::with("a.csv", small_csv(','));
    let fit = [&FIT[..], &OUTPUTS, &QUICK].concat();
    let children: Vec<Child> = (0..4).map(|_| start(&place, &fit)).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(place.files(), ["a.csv", "f.json", "m.safetensors", "r.html"]);
    assert_eq!(place.json("f.json")["rank"], 2);
    // Without --force the first wins, and the others say so.
    let fit = [&FIT[..], &["--json", "one.json"]].concat();
    let children: Vec<Child> = (0..4).map(|_| start(&place, &fit)).collect();
    let codes: Vec<_> = children.into_iter().map(|mut c| c.wait().unwrap().code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert!(place.json("one.json")["rank"] == 2 && place.files().len() == 5);
}

#[test]
fn readers_that_go_away_are_no_crash() {
    let place = Place::with("a.csv", small_csv(','));
    let commands: [&[&str]; 4] = [
        &["inspect", "a.csv", "--group-by", "g"],
        &["fit", "a.csv", "--group-by", "g", "--rank", "2"],
        &["fit", "a.csv", "--group-by", "g", "--rank", "9"],
        &["--help"],
    ];
    for arguments in commands {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
        command.args(arguments).current_dir(place.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0..=2)), "{arguments:?}: {code:?}");
    }
}
