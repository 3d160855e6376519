//! `--checkpoint` and `--resume`: a process that is killed at any moment costs little.

use std::process::Command;
use std::time::{Duration, Instant};

use super::support::{HEART, Place, kills};

const FIT: [&str; 19] = [
    "--group-by",
    "sex",
    "--drop",
    "disease",
    "--missing",
    "drop-rows",
    "--rank",
    "3",
    "--tol",
    "1e-6",
    "--n-init",
    "3",
    "--no-compare",
    "--quiet",
    "--force",
    "--model",
    "m.safetensors",
    "--baseline",
    "paper",
];

fn program(place: &Place, more: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
    command.current_dir(place.path()).arg("fit").arg("heart.csv").args(FIT).args(more);
    command
}

/// A folder with the table, which is converted beside itself where it stays on disk.
fn place() -> Place {
    let place = Place::new();
    std::fs::copy(HEART, place.path().join("heart.csv")).unwrap();
    place
}

fn model(place: &Place) -> Vec<u8> {
    std::fs::read(place.path().join("m.safetensors")).unwrap()
}

/// The runs of a checkpoint: their names, and whether they were left in the middle.
fn runs(place: &Place) -> Vec<(String, bool)> {
    let files = std::fs::read_dir(place.path()).unwrap().map(|file| file.unwrap().path());
    let run = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("state.")?.to_owned();
        let begin = std::fs::read(path).unwrap_or_default();
        let begin = String::from_utf8_lossy(&begin[..begin.len().min(400)]).into_owned();
        Some((name, begin.contains("\"going\":{")))
    };
    files.filter_map(run).collect()
}

/// Which part a checkpoint was left in: 0 the baselines, 1 the starts and exchanges, 2 the closing.
fn part(runs: &[(String, bool)]) -> usize {
    let has = |kind| runs.iter().any(|(name, _)| name.starts_with(kind));
    match (has("finish"), ["restart", "standard", "exchange"].into_iter().any(has)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}

/// Kills the fit after random times, and goes on each time; returns how often it was killed.
fn kill_and_go_on(kills: u32, seed: u64, memory: &[&str]) -> u32 {
    let place = place();
    let start = Instant::now();
    assert!(program(&place, memory).status().unwrap().success());
    let whole = start.elapsed();
    let expected = model(&place);
    let (mut state, mut killed, mut on_its_way) = (seed, 0, 0);
    let mut parts = [0; 3];
    // So many, and more where few of them fell into the middle of a run: that is for the machine to say.
    let more = |killed: u32, on_its_way: u32| {
        killed < kills || (on_its_way <= kills / 10 && killed < 20 * kills)
    };
    while more(killed, on_its_way) {
        std::fs::remove_file(place.path().join("m.safetensors")).unwrap();
        let mut begun = false;
        loop {
            let checkpoint = ["--checkpoint", "state", "--every", "1ms", "--resume"];
            let options = if begun { &checkpoint[..] } else { &checkpoint[..4] };
            let mut child = program(&place, &[memory, options].concat()).spawn().unwrap();
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let share = (state >> 40) as f64 / (1u64 << 24) as f64;
            // Every other time it may run to its end.
            let wait = whole.mul_f64(share * 2.0).max(Duration::from_millis(5));
            let until = Instant::now() + wait;
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if Instant::now() >= until && more(killed, on_its_way) {
                    break None;
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            if let Some(status) = ended {
                assert!(status.success(), "killed {killed} times before");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            // A process that ends before its checkpoint begins leaves none: begin anew.
            begun = place.has("state");
            let runs = runs(&place);
            on_its_way += u32::from(runs.iter().any(|(_, going)| *going));
            parts[part(&runs)] += 1;
        }
        assert_eq!(expected, model(&place), "killed {killed} times");
    }
    assert!(on_its_way > kills / 10, "only {on_its_way} of {killed} were in the middle of a run");
    println!(
        "{on_its_way} of {killed} in the middle of a run; in baselines, starts, closing: {parts:?}"
    );
    // A few need not reach all parts.
    assert!(kills < 100 || parts.iter().all(|part| *part > kills / 50), "{parts:?}");
    killed
}

#[test]
fn a_process_killed_at_random_times_ends_with_the_same_model() {
    let count = kills(10);
    assert!(kill_and_go_on(count, 1, &[]) >= count);
}

/// In a dozen blocks.
#[test]
fn a_process_with_rows_on_disk_killed_at_random_times_ends_with_the_same_model() {
    let count = kills(5);
    assert!(kill_and_go_on(count, 2, &["--memory", "40kB"]) >= count);
}

#[test]
fn what_cannot_be_gone_on_from_is_refused() {
    let place = place();
    let said = |more: &[&str]| {
        let output = program(&place, more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["--resume"]).contains("--checkpoint"));
    let kept = ["--checkpoint", "state", "--resume"];
    assert!(said(&kept).contains("checkpoint state: there is no checkpoint to go on from"));
    assert!(program(&place, &kept[..2]).status().unwrap().success());
    let other = [&kept[..], &["--seed", "3"]].concat();
    assert!(said(&other).contains("seed was 0 and is 3 now"));
}
