//! A real SIGINT to real, long runs, sent when what they show on a terminal says that they are
//! where it is meant to reach them.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::support::{BY_SEX, HEART, Place, small_csv};

/// A program at work, whose standard error is a terminal.
pub struct Watched {
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Watched {
    /// Starts the program in a place, before a terminal of so many columns.
    pub fn new(place: &Place, columns: u16, arguments: &[&str], input: Stdio) -> Self {
        let (mut screen, theirs) = terminal(columns);
        let child = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"))
            .args(arguments)
            .current_dir(place.path())
            .env("NO_COLOR", "1")
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(theirs)
            .spawn()
            .unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let mut part = [0; 4096];
            // A terminal whose other end is closed gives an error in place of an end.
            while let Ok(count @ 1..) = screen.read(&mut part) {
                shared.lock().unwrap().extend(&part[..count]);
            }
        });
        Self { child, seen, reader }
    }

    /// Waits until the screen shows a text.
    pub fn until(self, text: &str) -> Self {
        self.until_it(text, |shown| shown.contains(text))
    }

    /// Waits until the screen is as wanted.
    fn until_it(self, what: &str, is: impl Fn(&str) -> bool) -> Self {
        let start = Instant::now();
        while !is(&shown(&self.seen)) {
            let seen = shown(&self.seen);
            assert!(start.elapsed() < LONGEST, "no {what:?} in {:?}", seen.get(..2000));
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Waits until the screen has changed many times.
    pub fn later(self) -> Self {
        let length = shown(&self.seen).len();
        self.until_it("more", |shown| shown.len() > length + 2_000)
    }

    /// Presses Ctrl-C, and waits for the end: what was on the screen, and the exit code.
    pub fn stop(self) -> (String, Option<i32>) {
        interrupt(&self.child);
        self.end()
    }

    fn end(mut self) -> (String, Option<i32>) {
        let start = Instant::now();
        let status = self.child.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "it took long to stop");
        self.reader.join().unwrap();
        (shown(&self.seen), status.code())
    }
}

/// All that was on the screen, without the codes that clear a line.
fn shown(seen: &Mutex<Vec<u8>>) -> String {
    let seen = seen.lock().unwrap();
    String::from_utf8_lossy(&seen).replace("\x1b[2K", "").replace("\r\n", "\n")
}

/// For what has to come on a machine that does other work.
const LONGEST: Duration = Duration::from_secs(120);

/// A fit that would take days, at its iterations: multiplicative updates never stand still.
fn long_fit(place: &Place, more: &[&str]) -> Watched {
    let fit = [&["fit", "long.csv", "--group-by", "g"][..], &ENDLESS, more].concat();
    long_table(place);
    Watched::new(place, 200, &fit, Stdio::null()).until(", iteration ")
}

pub const ENDLESS: [&str; 10] = [
    "--rank",
    "3",
    "--method",
    "mu",
    "--tol",
    "0",
    "--max-iter",
    "4000000000",
    "--baseline-runs",
    "1",
];

/// `long.csv`: 400 rows of two groups.
fn long_table(place: &Place) {
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
    let (err, code) = long_fit(&place, &["--model", "m.safetensors", "--json", "fit.json"]).stop();
    assert!(err.contains("note: stopping at the next iteration"), "{err}");
    assert!(err.ends_with("error: stopped; wrote m.safetensors, fit.json\n"), "{err}");
    assert_eq!(code, Some(1));
    let json = place.json("fit.json");
    assert_eq!(json["status"], "stopped");
    assert!(json["iterations"].as_u64().unwrap() > 1);
    assert!(json["worst_loss"].is_number());
    assert!(place.ok(&["topics", "m.safetensors"]).out.contains("Topic 3"));
    assert_eq!(place.files(), ["fit.json", "long.csv", "m.safetensors"]);
}

#[test]
fn a_stop_says_which_files_were_not_written() {
    let place = Place::new();
    let wanted = ["--json", "fit.json", "--report", "r.html", "--charts", "charts"];
    let (err, _) = long_fit(&place, &wanted).stop();
    assert!(err.ends_with("error: stopped; wrote fit.json, but not r.html, charts\n"), "{err}");
    assert_eq!(place.files(), ["fit.json", "long.csv"]);
}

#[test]
fn transform_stops_between_chunks_and_writes_nothing() {
    let place = Place::with("a.csv", small_csv(','));
    place.ok(&["fit", "a.csv", "--group-by", "g", "--rank", "2", "--model", "m.safetensors"]);
    let transform = ["transform", "-", "--drop", "g", "--model", "m.safetensors", "-o", "W.csv"];
    // It waits for the end of its input, so that the stop is there before the first chunk.
    let mut program = Watched::new(&place, 200, &transform, Stdio::piped()).until("reading");
    interrupt(&program.child);
    program = program.until("note: stopping at the next iteration");
    program.child.stdin.take().unwrap().write_all(small_csv(',').as_bytes()).unwrap();
    let (err, code) = program.end();
    assert!(err.ends_with("error: stopped; nothing was written\n"), "{err}");
    assert_eq!(code, Some(1));
    assert_eq!(place.files(), ["a.csv", "m.safetensors"]);
}

#[test]
fn reproduce_goes_on_after_a_stop() {
    let place = Place::new();
    let reproduce = |trials| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
        command
            .args(["reproduce", "heart-disease", "--quick", "--out", "r", "--threads", "1"])
            .args(["--trials", trials])
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // Two groups: sixteen lines a trial, and ranks 2, 5 and 10.
    const LINES: usize = 16;
    let lines = || match place.has("r/results.csv") {
        true => place.read("r/results.csv").lines().count(),
        false => 0,
    };
    let child = reproduce("100000");
    let start = Instant::now();
    while lines() <= 3 * LINES && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    interrupt(&child);
    let output = end(child);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.ends_with(
            "error: stopped; what was finished is kept in r: the same command goes on from there\n"
        ),
        "{err}"
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(!place.has("r/reproduction.html"));
    let kept = place.read("r/results.csv");
    assert_eq!((kept.lines().count() - 1) % LINES, 0, "no trial is there by halves");

    // One more trial than was begun.
    let trials = (kept.lines().count() - 1) / LINES / 3 + 2;
    let output = end(reproduce(&trials.to_string()));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let whole = place.read("r/results.csv");
    assert!(whole.starts_with(&kept), "what was finished is kept as it was");
    assert_eq!(whole.lines().count(), 1 + trials * 3 * LINES);
    assert!(place.has("r/reproduction.html"));
}

#[test]
fn the_convergence_study_goes_on_after_a_stop() {
    let place = Place::new();
    let reproduce = |out| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
        command
            .args(["reproduce", "all", "--quick", "--threads", "1", "--out", out])
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // Not held to the time of a stop: how long a whole run takes is the machine's business.
    let whole = |child: Child| child.wait_with_output().unwrap().status.code();
    let first = || place.has("r/convergence-trials/ortho1-1.json");
    let child = reproduce("r");
    let start = Instant::now();
    while !first() && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    assert_eq!(end(child).status.code(), Some(1));
    assert!(first() && !place.has("r/convergence.csv"), "stopped within the study");
    // A folder in which one trial stands in for another: it shows that kept trials are read.
    std::fs::create_dir_all(place.path().join("other/convergence-trials")).unwrap();
    for name in ["seed.txt", "results.csv"] {
        place.write(&format!("other/{name}"), place.read(&format!("r/{name}")));
    }
    let kept = place.read("r/convergence-trials/ortho1-1.json");
    place.write("other/convergence-trials/ortho1-0.json", kept);
    assert_eq!(whole(reproduce("other")), Some(0));

    assert_eq!(whole(reproduce("r")), Some(0));
    assert_eq!(whole(reproduce("whole")), Some(0));
    assert_eq!(place.read("r/convergence.csv"), place.read("whole/convergence.csv"));
    assert_ne!(place.read("other/convergence.csv"), place.read("whole/convergence.csv"));
    assert!(!place.has("r/convergence-trials"), "removed once the study is whole");
}

#[test]
fn a_sweep_that_is_stopped_writes_the_trials_that_it_finished() {
    let place = Place::new();
    let sweep = ["--ranks", "2..2", "--trials", "20000", "--methods", "standard,am"];
    long_table(&place);
    let all = [&["sweep", "long.csv", "--group-by", "g", "--json", "sweep.json"][..], &sweep];
    // The bar is drawn ten times a second: it does not show every trial.
    let third = |shown: &str| {
        let trials = shown.split("trial ").filter_map(|rest| rest.split_once(':')?.0.parse().ok());
        trials.max().is_some_and(|trial: usize| trial >= 3)
    };
    let program = Watched::new(&place, 200, &all.concat(), Stdio::null());
    let (err, code) = program.until_it("third trial", third).stop();
    assert!(err.ends_with("error: stopped; wrote sweep.json\n"), "{err}");
    assert_eq!(code, Some(1));
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
    let program = long_fit(&place, &["--json", "fit.json"]);
    interrupt(&program.child);
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(program.stop().1, Some(1));
    // The first may have been heard in time to write; half a file is never there.
    let files = place.files();
    assert!(files.iter().all(|f| ["fit.json", "long.csv"].contains(&f.as_str())), "{files:?}");
}

/// Statistics that would take days, at work after a quick fit.
fn long_audit(place: &Place, command: &str, more: &[&str]) -> Watched {
    let refits = ["--draws", "100", "--permutations", "100", "--refit", "1000000000"];
    let all = [&[command, HEART][..], &BY_SEX, &refits, more].concat();
    Watched::new(place, 200, &all, Stdio::null()).until("with refits ")
}

#[test]
fn a_stop_during_the_audit_writes_what_is_finished_and_says_what_is_missing() {
    let place = Place::new();
    let options = ["--rank", "2", "--model", "m.safetensors", "--report", "r.html"];
    let options = [&options[..], &["--json", "f.json"]].concat();
    let (err, code) = long_audit(&place, "fit", &options).stop();
    assert!(err.contains("warning: the audit was stopped before it was done: it has no "), "{err}");
    assert!(err.ends_with("error: stopped; wrote m.safetensors, f.json, r.html\n"), "{err}");
    assert_eq!(code, Some(1));
    let page = place.read("r.html");
    assert!(page.contains("the audit was stopped before it was done"));
    assert!(page.contains("permutation test with refits"), "the page names what is missing");
    assert!(page.contains("What are the topics?") && page.trim_end().ends_with("</html>"));
    let json = place.json("f.json");
    let unfinished = json["audit"]["unfinished"].as_array().unwrap();
    assert!(unfinished.iter().any(|part| part == "refit-intervals"), "{unfinished:?}");
    assert_eq!(json["report"], crate::support::data(&page));
    assert_eq!(place.files(), ["f.json", "m.safetensors", "r.html"]);

    let options = ["--model", "m.safetensors", "--json", "a.json", "--no-compare"];
    let (err, _) = long_audit(&place, "audit", &options).stop();
    assert!(err.ends_with("error: stopped; wrote a.json\n"), "{err}");
    let json = place.json("a.json");
    let unfinished = json["audit"]["unfinished"].as_array().unwrap();
    assert!(unfinished.iter().any(|part| part == "refit-intervals"), "{unfinished:?}");
    assert!(json["audit"]["permutation_refit"].is_null() && json["worst_loss"].is_number());
}

/// A terminal: the end that we read, and the end of the program.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let mut size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let nothing = std::ptr::null_mut();
    // SAFETY: the pointers are to live variables, or null where nothing is wanted.
    let made = unsafe {
        libc::openpty(&mut ours, &mut theirs, nothing, std::ptr::null_mut(), &raw mut size)
    };
    assert_eq!(made, 0);
    // SAFETY: both were just opened, and nobody else has them.
    unsafe { (File::from(OwnedFd::from_raw_fd(ours)), OwnedFd::from_raw_fd(theirs)) }
}

#[test]
fn a_narrow_terminal_shows_the_time_left_and_the_note_on_its_own() {
    let place = Place::new();
    let ranks = ["--ranks", "9..10", "--trials", "1000", "--methods", "mu"];
    let sweep = [&["sweep", HEART][..], &BY_SEX, &ranks].concat();
    let (seen, code) = Watched::new(&place, 80, &sweep, Stdio::null()).until(": fit, ").stop();
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = seen.split(['\r', '\n']).collect();
    let fits: Vec<_> = lines.iter().filter(|line| line.contains(": fit, ")).collect();
    assert!(!fits.is_empty(), "{seen}");
    for line in fits {
        assert!(line.contains(" left, "), "{line}");
    }
    let note = lines.iter().find(|line| line.contains("stopping at the next")).unwrap();
    assert!(note.starts_with("note: "), "{note}");
}

#[test]
fn a_pipe_sees_no_progress() {
    let place = Place::new();
    long_table(&place);
    let fit =
        [&["fit", "long.csv", "--group-by", "g", "--time-limit", "1s"][..], &ENDLESS].concat();
    let ran = place.ok(&fit);
    let expected = "warning: not converged within the time limit: raise --time-limit\nwarning: no time was left to fit standard NMF for comparison: raise --time-limit\n";
    assert_eq!(ran.err, expected);
}
