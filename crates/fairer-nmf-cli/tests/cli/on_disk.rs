//! `fit --memory`: data that stay on disk, block by block.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;

use super::support::{Place, number};

/// Writes a matrix of 32-bit floats near a factorisation, row by row, and its groups.
fn make(place: &Place, name: &str, rows: usize, columns: usize) {
    let mut out = BufWriter::new(File::create(place.path().join(name)).unwrap());
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    out.write_all(b"\x93NUMPY\x01\x00").unwrap();
    out.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    out.write_all(header.as_bytes()).unwrap();
    let mut groups = String::new();
    for row in 0..rows {
        let group = row * 7 % 3;
        groups += ["ant\n", "bee\n", "cat\n"][group];
        let mut line = Vec::with_capacity(4 * columns);
        for column in 0..columns {
            let noise = ((row * 31 + column * 17) % 101) as f32 / 101.0;
            let topic = if (column + group + row % 2) % 4 == 0 { 2.0 } else { 0.0 };
            line.extend_from_slice(&(topic + noise).to_le_bytes());
        }
        out.write_all(&line).unwrap();
    }
    out.flush().unwrap();
    place.write(&format!("{name}.txt"), groups);
}

const FIT: [&str; 9] =
    ["fit", "x.npy", "--groups", "x.npy.txt", "--rank", "3", "--quiet", "--json", "out.json"];

#[test]
fn a_fit_on_disk_is_the_fit_in_memory() {
    let place = Place::new();
    make(&place, "x.npy", 900, 30);
    // What a random group would pay is for data in memory: both without it.
    let plain = ["--baseline", "best"];
    place.ok(&[&FIT[..], &plain].concat());
    let memory = place.json("out.json");
    assert!(memory.get("reads").is_none());
    // The same as shards of one folder, in a budget with many blocks.
    std::fs::create_dir(place.path().join("shards")).unwrap();
    std::fs::rename(place.path().join("x.npy"), place.path().join("shards/a.npy")).unwrap();
    let mut arguments = FIT;
    arguments[1] = "shards";
    place.ok(&[
        &arguments[..],
        &plain,
        &["--memory", "200kB", "--force", "--model", "m.safetensors"],
    ]
    .concat());
    let disk = place.json("out.json");
    for field in ["worst_loss", "global_bound"] {
        let (a, b) = (number(&memory[field]), number(&disk[field]));
        assert!((a - b).abs() < 1e-3, "{field}: {a} in memory, {b} on disk");
    }
    for at in 0..3 {
        let standard = |json: &serde_json::Value| {
            assert_eq!(json["groups"][at]["name"], ["ant", "bee", "cat"][at]);
            number(&json["groups"][at]["standard"]["relative_error"])
        };
        assert!((standard(&memory) - standard(&disk)).abs() < 1e-3);
    }
    assert!(number(&disk["reads"]) > 10.0, "{}", disk["reads"]);
    let said = place.ok(&["topics", "m.safetensors"]).out;
    assert!(said.contains("f0") || said.contains("f1"), "{said}");
}

#[test]
fn what_does_not_go_with_blocks_is_refused() {
    let place = Place::new();
    make(&place, "x.npy", 40, 4);
    let refused = |more: &[&str], words: &[&str]| {
        let ran = place.run(&[&["fit", "x.npy", "--rank", "2"][..], more].concat());
        assert_eq!(ran.code, 2, "{more:?}");
        for word in words {
            assert!(ran.err.contains(word), "{more:?}: {}", ran.err);
        }
    };
    let groups = ["--groups", "x.npy.txt"];
    refused(&["--memory", "1MB"], &["what are the groups?"]);
    refused(
        &[&groups[..], &["--memory", "100"]].concat(),
        &["--memory", "a row of x.npy has 16 bytes"],
    );
    refused(&[&groups[..], &["--memory", "1MB", "--report", "r.html"]].concat(), &["--report"]);
    refused(&[&groups[..], &["--memory", "1MB", "--init", "nndsvd"]].concat(), &["init", "memory"]);
    let missing = ["--memory", "1MB", "--missing", "drop-rows"];
    refused(&[&groups[..], &missing].concat(), &["--missing drop-rows"]);
    place.write("short.txt", "a\nb\n");
    refused(&["--groups", "short.txt", "--memory", "1MB"], &["2 group labels for 40 rows"]);
    assert!(!place.has("r.html"));
}

/// Three times as much data as memory, and a limit of the system that the data do not fit into.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_its_budget() {
    let place = Place::new();
    make(&place, "x.npy", 60_000, 1000);
    let limited = |more: &[&str]| {
        let mut command = Command::new("sh");
        // 64 MB, and as much again for the program itself and its threads; the data are 240 MB.
        command.args(["-c", "ulimit -v 140000; exec \"$0\" \"$@\""]);
        command.arg(assert_cmd::cargo::cargo_bin!("fairer-nmf")).current_dir(place.path());
        command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "2");
        let fixed = ["--n-init", "2", "--max-iter", "2", "--baseline", "zero", "--no-compare"];
        command.args(FIT).args(fixed).args(more).output().unwrap()
    };
    let whole = limited(&[]);
    assert!(!whole.status.success(), "the limit does not bind");
    let blocks = limited(&["--memory", "64MB"]);
    let said = String::from_utf8_lossy(&blocks.stderr).into_owned();
    assert!(blocks.status.success(), "{said}");
    assert!(number(&place.json("out.json")["worst_loss"]).is_finite());
}
