//! Nothing lost: files appear whole, nothing is overwritten, and what cannot be written is found
//! before the fit.

use std::time::Instant;

use crate::support::{Place, small_csv};

const FIT: [&str; 6] = ["fit", "a.csv", "--group-by", "g", "--rank", "2"];

fn place() -> Place {
    Place::with("a.csv", small_csv(','))
}

fn fit<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FIT[..], more].concat()
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let place = place();
    place.write("fit.json", "precious");
    place.refused(
        &fit(&["--json", "fit.json"]),
        "fit.json exists already (--json): give another name, or --force to replace it",
    );
    assert_eq!(place.read("fit.json"), "precious");
    place.ok(&fit(&["--json", "fit.json", "--force"]));
    assert_eq!(place.json("fit.json")["rank"], 2);
    assert_eq!(place.files(), ["a.csv", "fit.json"]);
}

#[test]
fn demo_replaces_no_page_but_its_own() {
    let message = "./demo-report.html is not of an earlier demo and would be replaced: give another folder with --out, or --force to replace it";
    let place = place();
    // A page of another command is not the demo's either.
    place.ok(&fit(&["--report", "page.html", "--draws", "9", "--permutations", "9"]));
    for foreign in ["precious".to_owned(), place.read("page.html")] {
        place.write("demo-report.html", &foreign);
        place.refused(&["demo"], message);
        assert!(place.read("demo-report.html") == foreign);
    }
    place.ok(&["demo", "--force"]);
    assert!(place.read("demo-report.html").contains("Heart Disease (Cleveland) by sex"));
    place.ok(&["demo"]);
}

#[test]
fn outputs_and_inputs_are_different_files() {
    let place = place();
    place.refused(
        &fit(&["--model", "x", "--json", "./x"]),
        "--model and --json both write ./x: give each its own file",
    );
    place.refused(
        &fit(&["--json", "a.csv", "--force"]),
        "--json a.csv is also read: give the output another name",
    );
    assert_eq!(place.files(), ["a.csv"]);
}

/// Every option that names something to read.
#[test]
fn force_does_not_reach_anything_that_is_read() {
    let place = place();
    place.write("xy.csv", "x,y\n1,2\n3,4\n");
    place.write("lab.txt", "a\nb\n");
    place.write("lab.csv", "who\na\nb\n");
    place.write("b.csv", "group,baseline_error\na,0\nb,0\n");
    place.write("words.txt", "the\n");
    place.write("terms.txt", "one\ntwo\n");
    place.write("posts.csv", "g,t\na,one two\nb,two one one\n");
    place.write("X.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    place.write("H.csv", "w,x,y,z\n1,1,1,1\n");
    place.ok(&fit(&["--model", "m.safetensors"]));
    let contents = || -> Vec<(String, Vec<u8>)> {
        let read = |name: String| (name.clone(), std::fs::read(place.path().join(name)).unwrap());
        place.files().into_iter().map(read).collect()
    };
    let before = contents();
    let by_file = |labels| ["fit", "xy.csv", "--groups", labels, "--rank", "1"];
    let posts = ["fit", "posts.csv", "--text", "t", "--group-by", "g", "--rank", "1"];
    let matrix = ["fit", "X.mtx", "--groups", "lab.txt", "--rank", "1"];
    let audit = ["audit", "a.csv", "--group-by", "g"];
    let cases: [(Vec<&str>, &str, &str); 11] = [
        (by_file("lab.txt").to_vec(), "--json", "lab.txt"),
        (by_file("lab.csv:who").to_vec(), "--json", "lab.csv"),
        (fit(&["--baseline", "b.csv"]), "--report", "b.csv"),
        ([&posts[..], &["--stop-words", "words.txt"]].concat(), "--model", "words.txt"),
        ([&posts[..], &["--vocabulary", "terms.txt"]].concat(), "--json", "terms.txt"),
        ([&matrix[..], &["--feature-names", "words.txt"]].concat(), "--json", "words.txt"),
        (
            [&audit[..], &["--components", "H.csv", "--baseline", "b.csv"]].concat(),
            "--json",
            "b.csv",
        ),
        ([&audit[..], &["--components", "H.csv"]].concat(), "--json", "H.csv"),
        (vec!["sweep", "xy.csv", "--groups", "lab.txt", "--ranks", "1"], "--json", "lab.txt"),
        (vec!["inspect", "xy.csv", "--groups", "lab.txt"], "--json", "lab.txt"),
        (vec!["topics", "m.safetensors"], "--json", "m.safetensors"),
    ];
    for (command, option, file) in cases {
        place.refused(
            &[&command[..], &[option, file, "--force"]].concat(),
            &format!("{option} {file} is also read: give the output another name"),
        );
    }
    assert_eq!(contents(), before);
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_fit() {
    let place = place();
    let endless = ["--method", "mu", "--tol", "0", "--max-iter", "4000000000"];
    let start = Instant::now();
    place.refused(
        &fit(&[&endless[..], &["--model", "none/m.safetensors"]].concat()),
        "cannot write none/m.safetensors (--model): there is no folder none; make it first",
    );
    std::fs::create_dir(place.path().join("folder")).unwrap();
    place.refused(
        &fit(&[&endless[..], &["--json", "folder"]].concat()),
        "--json folder is a folder: give the name of a file",
    );
    if cfg!(target_os = "linux") {
        // Not even root may make a file here.
        let ran = place.run(&fit(&[&endless[..], &["--report", "/proc/r.html"]].concat()));
        let message = "error: cannot write /proc/r.html (--report): /proc is not writable; choose another place\n";
        assert_eq!((ran.code, ran.err.as_str()), (2, message));
    }
    assert!(start.elapsed().as_secs() < 20, "the fit was started");
}

/// A tiny file system of its own; only root may make one.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(folder)),
            _ => {
                crate::shared::skipped::skipped("a small disk cannot be mounted without root");
                None
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_found_before_the_fit() {
    let Some(disk) = SmallDisk::new() else { return };
    let target = disk.0.path().join("r.html").display().to_string();
    let endless = ["--method", "mu", "--tol", "0", "--max-iter", "4000000000"];
    let ran = place().run(&fit(&[&endless[..], &["--report", &target]].concat()));
    assert_eq!(
        ran.err,
        format!(
            "error: cannot write {target} (--report): the disk is full; make room or choose another place\n"
        )
    );
    assert_eq!(ran.code, 1);
    assert_eq!(std::fs::read_dir(disk.0.path()).unwrap().count(), 0);
}

#[test]
#[cfg(unix)]
fn files_have_the_usual_permissions_and_devices_are_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let place = place();
    let usual = place.path().join("usual");
    std::fs::write(&usual, "").unwrap();
    place.ok(&fit(&["--json", "new.json", "--model", "m.safetensors"]));
    let mode = |name: &str| {
        std::fs::metadata(place.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("new.json"), mode("usual"));
    assert_eq!(mode("m.safetensors"), mode("usual"));
    place.ok(&fit(&["--json", "/dev/null"]));
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let place = place();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"))
        .args(fit(&["--json", "-", "--allow-small-groups"]))
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
}
