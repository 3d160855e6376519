//! `fit --memory` under a limit of the system on the memory of the process.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;

use crate::hostile::{Resource, limited};
use crate::on_disk::{ONE_START, make};
use crate::support::{Place, number};

/// Worst loss and errors of the groups in `out.json`.
fn found(place: &Place) -> Vec<f64> {
    let json = place.json("out.json");
    let groups = json["groups"].as_array().unwrap();
    let errors = groups.iter().map(|group| number(&group["relative_error"]));
    std::iter::once(number(&json["worst_loss"])).chain(errors).collect()
}

/// How far a fit with `memory`, under a limit that does not let it do without, is from that in memory.
fn apart(place: &Place, fit: &[&str], memory: [&str; 2], limit: u64) -> f64 {
    let within = |arguments: &[&str]| limited(place, arguments, Resource::Memory, limit);
    assert_ne!(within(fit).code, 0, "the limit does not bind");
    let ran = within(&[fit, &memory].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let disk = found(place);
    place.ok(fit);
    let own = found(place);
    assert_eq!(disk.len(), own.len());
    disk.iter().zip(own).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// What the program itself, its threads and 8 MB take, and little more; the smallest data below take more than that alone.
const LIMIT: u64 = 50_000_000;
const BUDGET: [&str; 2] = ["--memory", "8MB"];

/// Six and twelve times as much data as memory: whatever the number of rows, the same memory is enough, and errors and losses are
/// those of memory.
#[test]
fn memory_stays_within_its_budget() {
    let place = Place::new();
    let fit = ["fit", "x.npy", "--groups", "x.npy.txt", "--rank", "10", "--json", "out.json"];
    let fixed = [&fit[..], &["--precision", "f64"], &ONE_START].concat();
    // 48 and 96 MB of rows; W has 4 and 8, and goes to a file.
    for rows in [50_000, 100_000] {
        make(&place, "x.npy", rows, 120);
        let apart = apart(&place, &fixed, BUDGET, LIMIT);
        assert!(apart < 1e-10, "{rows} rows: {apart} from memory");
    }
    // Without a place for that file there is no fit.
    let mut homeless = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
    homeless.current_dir(place.path()).env("TMPDIR", "nowhere").args(&fixed).args(BUDGET);
    let ended = homeless.output().unwrap();
    assert!(!ended.status.success() && String::from_utf8_lossy(&ended.stderr).contains("nowhere"));
    // Baselines and two starts, which share reads, in the same memory.
    let whole = ["--n-init", "2", "--max-iter", "5", "--baseline", "best", "--baseline-runs", "1"];
    let whole = [&fit[..], &whole, &["--no-compare", "--force", "--quiet"]].concat();
    let apart = apart(&place, &whole, BUDGET, LIMIT);
    assert!(apart < 1e-5, "{apart} from memory");
}

#[test]
fn threads_that_there_is_no_memory_for_are_said() {
    let place = Place::new();
    let start = "ulimit -v 200000; RAYON_NUM_THREADS=1000 exec \"$0\" demo";
    let mut command = Command::new("sh");
    command.args(["-c", start]).arg(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
    let ended = command.current_dir(place.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot start the threads") && said.contains("--threads 1"), "{said}");
}

/// A table that does not fit into the memory that the system allows, nor its text, is converted and fitted within it.
#[test]
fn a_table_is_converted_within_its_budget() {
    let place = Place::new();
    let (rows, columns) = (100_000, 60);
    let mut out = BufWriter::new(File::create(place.path().join("t.csv")).unwrap());
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    writeln!(out, "kind,{}", names.join(",")).unwrap();
    for row in 0..rows {
        let kind = row * 7 % 3;
        write!(out, "{}", ["ant", "bee", "cat"][kind]).unwrap();
        for column in 0..columns {
            let topic = if (column + kind + row % 2) % 4 == 0 { 2000 } else { 0 };
            let thousandths = topic + (row * 31 + column * 17) % 1009;
            write!(out, ",{}.{:03}", thousandths / 1000, thousandths % 1000).unwrap();
        }
        writeln!(out).unwrap();
    }
    out.flush().unwrap();
    // The text has 36 MB, its numbers 48.
    let fit = ["fit", "t.csv", "--group-by", "kind", "--rank", "5", "--json", "out.json"];
    let apart = apart(&place, &[&fit[..], &ONE_START].concat(), BUDGET, LIMIT);
    assert!(apart < 1e-10, "{apart} from memory");
}
