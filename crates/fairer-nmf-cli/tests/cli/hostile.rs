//! Files that say more than they hold: whatever a file declares or unpacks to, the program ends with
//! 0, 1 or 2 and a message of less than a kilobyte, in 2 GiB of address space.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use crate::interrupt::{ENDLESS, Watched};
use crate::support::{Place, Ran, small_csv};

/// Runs the program with a limit of the system's.
pub fn limited(place: &Place, arguments: &[&str], which: Resource, most: u64) -> Ran {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fairer-nmf"));
    command.args(arguments).current_dir(place.path());
    // Threads have addresses of their own, and so has a second arena of the system's allocator (64 MB).
    command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
    // SAFETY: the child sets a limit of its own and does nothing else before it becomes another.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: most as _, rlim_max: most as _ };
            match libc::setrlimit(which as _, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        })
    };
    let output = command.output().unwrap();
    let status = output.status;
    assert!(status.code().is_some(), "{arguments:?}: ended by signal {:?}", status.signal());
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: status.code().unwrap(),
    }
}

/// What is limited.
#[derive(Clone, Copy)]
pub enum Resource {
    Memory = libc::RLIMIT_AS as isize,
    FileSize = libc::RLIMIT_FSIZE as isize,
}

/// The promise: no signal, no panic, a short message that starts with the error, and nothing left.
pub fn survives(place: &Place, arguments: &[&str]) -> Ran {
    let ran = limited(place, arguments, Resource::Memory, 2 << 30);
    assert!(matches!(ran.code, 0..=2), "{arguments:?}: {} {}", ran.code, ran.err);
    assert!(ran.err.len() < 1024, "{arguments:?}: {} bytes: {}", ran.err.len(), ran.err);
    if ran.code > 0 {
        assert!(ran.err.contains("error: "), "{arguments:?}: {}", ran.err);
    }
    let left: Vec<String> = place.files().into_iter().filter(|f| f.ends_with(".part")).collect();
    assert_eq!(left, [""; 0], "{arguments:?}");
    ran
}

pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // As NumPy does, so that the numbers begin on a cache line.
    header += &" ".repeat(63 - (header.len() + 10) % 64);
    header += "\n";
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(array).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// SciPy's form of a matrix with one entry.
pub fn sparse(format: &str, rows: i64, columns: i64, starts: &[i64]) -> Vec<u8> {
    let integers = |values: &[i64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        npy("<i8", &format!("({},)", values.len()), &bytes)
    };
    npz(&[
        ("format", npy("|S3", "()", format.as_bytes())),
        ("shape", integers(&[rows, columns])),
        ("indptr", integers(starts)),
        ("indices", integers(&[0])),
        ("data", npy("<f8", "(1,)", &1_f64.to_le_bytes())),
    ])
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame of `blocks` times 128 KiB, each a byte that is repeated.
fn zstd_of_one_letter(blocks: usize) -> Vec<u8> {
    // Magic number; a descriptor without a size or a checksum; a window of 128 KiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for block in 1..=blocks {
        let last = u32::from(block == blocks);
        let header = last | 1 << 1 | (128 << 10) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'1');
    }
    frame
}

const MTX: &str = "%%MatrixMarket matrix coordinate real general\n";

/// Name and content of files that lie about their size.
fn matrices() -> Vec<(&'static str, Vec<u8>)> {
    let most = i64::from(i32::MAX);
    let mtx = |sizes: &str| format!("{MTX}{sizes}\n1 1 1\n").into_bytes();
    let array = |kind: &str, sizes: &str| {
        format!("%%MatrixMarket matrix array real {kind}\n{sizes}\n1\n").into_bytes()
    };
    vec![
        ("rows.mtx", mtx("2147483647 2 1")),
        ("columns.mtx", mtx("2 2147483647 1")),
        ("both.mtx", mtx("2147483647 2147483647 1")),
        ("beyond.mtx", mtx("18446744073709551615 2 1")),
        ("entries.mtx", mtx("2 2 1152921504606846976")),
        ("some-rows.mtx", mtx("4000000 2 1")),
        ("some-columns.mtx", mtx("2 1000000 1")),
        ("array.mtx", array("general", "2147483647 2147483647")),
        ("symmetric.mtx", array("symmetric", "2147483647 2147483647")),
        ("skew.mtx", array("skew-symmetric", "1000000 1000000")),
        ("csr.npz", sparse("csr", 1, most, &[0, 1])),
        ("csc.npz", sparse("csc", most, 1, &[0, 1])),
        ("negative.npz", sparse("csr", -1, 1, &[0, 1])),
        ("starts.npz", sparse("csr", 1, 1, &[0, i64::MAX])),
        ("format.npz", {
            let nothing = npy("<U0", "(1099511627776,)", b"");
            npz(&[("format", nothing), ("data", Vec::new()), ("shape", Vec::new())])
        }),
        ("shape.npy", npy("<f8", "(4294967296, 4294967296)", b"")),
        ("long.npy", npy("<f8", "(1099511627776, 1)", &[0; 64])),
        ("dimensions.npy", npy("<f8", &format!("({})", "1,".repeat(20_000)), &[0; 64])),
        ("wide-text.npy", npy("<U999999999999999999", "(2, 2)", b"")),
        ("header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f8'".to_vec()),
        ("nothing.npy", Vec::new()),
        ("zstd.csv.zst", zstd_of_one_letter(20_000)),
        ("gzip.csv.gz", gz(&[b'1'; 1 << 20]).repeat(2_000)),
        ("gzip.npy.gz", gz(&[b'1'; 1 << 20]).repeat(2_000)),
    ]
}

#[test]
fn matrices_that_declare_more_than_they_hold() {
    for (name, content) in matrices() {
        let place = Place::with(name, content);
        place.write("lab.txt", "a\nb\n");
        let ran = survives(&place, &["fit", name, "--groups", "lab.txt", "--rank", "1"]);
        assert_ne!(ran.code, 0, "{name}");
        let ran = survives(&place, &["inspect", name]);
        assert!(!ran.err.contains("download it again") || ran.err.contains("damaged"), "{name}");
    }
}

#[test]
fn a_limit_is_said_and_can_be_raised() {
    let place = Place::with("csr.npz", sparse("csr", 1, 30_000_000, &[0, 1]));
    place.write("lab.txt", "a\n");
    place.write("small.csv.gz", gz(small_csv(',').as_bytes()));
    let fit = ["fit", "csr.npz", "--groups", "lab.txt", "--rank", "1"];
    let ran = survives(&place, &fit);
    assert_eq!(
        ran.err,
        "error: csr.npz declares 1 rows and 30000000 columns, which takes 1.3 GiB of memory, more than the limit of 1 GiB for this file: if the file is right, raise it with `--input-limit 2GiB`\n"
    );
    // What it says is enough; there is no such memory here, which is another matter.
    let ran = survives(&place, &[&fit[..], &["--input-limit", "2GiB"]].concat());
    assert!(!ran.err.contains("--input-limit"), "{}", ran.err);
    let packed = ["fit", "small.csv.gz", "--group-by", "g", "--rank", "1", "--input-limit"];
    let ran = survives(&place, &[&packed[..], &["50"]].concat());
    assert!(ran.err.starts_with("error: small.csv.gz unpacks (gzip) to more than"), "{}", ran.err);
    assert_eq!(survives(&place, &[&packed[..], &["1MiB"]].concat()).code, 0);
}

#[test]
fn labels_without_letters_are_refused() {
    for shape in ["(1099511627776,)", "(4294967296, 4294967296, 4294967296)", "(2,)"] {
        for kind in ["<U0", "|S0"] {
            let place = Place::with("lab.npy", npy(kind, shape, b""));
            place.write("x.csv", "u,v\n1,2\n3,4\n");
            let ran = survives(&place, &["fit", "x.csv", "--groups", "lab.npy", "--rank", "1"]);
            assert_eq!(ran.code, 2, "{kind} {shape}");
        }
    }
}

#[test]
fn tables_whose_lines_do_not_fill_their_columns() {
    let header: Vec<String> = (0..100_000).map(|i| format!("c{i}")).collect();
    let header = format!("g,{}\n", header.join(","));
    let one = format!("a{}\n", ",1".repeat(100_000));
    let own_keys = |i: usize| format!("{{\"g\":\"a\",\"k{i}\":1}}\n");
    let values = |i: usize| format!("a,{i},v{i}\n");
    let long = "x".repeat(20 << 20);
    let cases: Vec<(&str, String, &[&str])> = vec![
        ("blank.csv", format!("{header}{one}{}{one}", "\n".repeat(1_000_000)), &[]),
        ("short.csv", format!("{header}{}", "1\n".repeat(1_000_000)), &[]),
        ("ragged.csv", format!("{header}{}", "1,2,\"3\"\n".repeat(1_000_000)), &[]),
        ("keys.jsonl", (0..100_000).map(own_keys).collect(), &[]),
        ("deep.jsonl", format!("{{\"g\":{}", "[".repeat(1_000_000)), &[]),
        (
            "values.csv",
            format!("g,n,v\n{}", (0..100_000).map(values).collect::<String>()),
            &["--one-hot", "v"],
        ),
        ("cell.csv", format!("g,x\na,{long}\nb,2\n"), &[]),
        ("name.csv", format!("g,{long}\na,word\nb,2\n"), &[]),
        ("names.csv", format!("{}\n", "name,".repeat(1 << 20)), &[]),
        ("group.csv", format!("g,x\n{long},1\nb,0\n"), &[]),
        ("key.jsonl", format!("{{\"g\":\"a\",\"{long}\":\"word\"}}\n"), &[]),
        ("words.csv", format!("{header}a{}\n", ",word".repeat(100_000)), &[]),
        ("empties.csv", format!("{header}a{}\n", ",".repeat(100_000)), &[]),
    ];
    for (name, content, more) in cases {
        let place = Place::with(name, content);
        let fit = ["fit", name, "--group-by", "g", "--rank", "1", "--quiet", "--no-compare"];
        survives(&place, &[&fit[..], more].concat());
    }
}

#[test]
fn dictionaries_and_models_that_declare_more_than_they_hold() {
    let place = Place::with("a.csv", small_csv(','));
    place.write("H.mtx", format!("{MTX}30000 30000 1\n1 1 1\n"));
    place.write("rows.mtx", format!("{MTX}2147483647 4 1\n1 1 1\n"));
    for name in ["H.mtx", "rows.mtx"] {
        let audit = ["audit", "a.csv", "--group-by", "g", "--components", name];
        assert_eq!(survives(&place, &audit).code, 2);
    }
    let tensor =
        r#"{"components":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#;
    let header = |length: u64, text: &str| [&length.to_le_bytes()[..], text.as_bytes()].concat();
    place.write("huge.safetensors", header(u64::MAX, ""));
    place.write("large.safetensors", header(90_000_000, "{"));
    place.write("shape.safetensors", header(tensor.len() as u64, tensor));
    for name in ["huge.safetensors", "large.safetensors", "shape.safetensors"] {
        let transform = ["transform", "a.csv", "--drop", "g", "--model", name, "-o", "w.csv"];
        assert_eq!(survives(&place, &transform).code, 2, "{name}");
    }
}

#[test]
fn thousands_of_arrays_over_one_packed_piece_are_not_unpacked() {
    let large = npy("<f8", "(1000, 100)", &vec![0; 800_000]);
    let names: Vec<String> = (0..100).map(|i| format!("m{i}")).collect();
    let arrays: Vec<(&str, Vec<u8>)> = names.iter().map(|n| (n.as_str(), large.clone())).collect();
    let place = Place::with("many.npz", npz(&arrays));
    let ran = survives(&place, &["inspect", "many.npz"]);
    assert!(ran.err.contains("has several matrices"), "{}", ran.err);
}

/// What cannot be foreseen from a file: the work itself needs more than there is.
#[test]
fn memory_that_runs_out_is_said() {
    let rows: String = (0..2_000).map(|i| format!("{},{},1\n", i % 2, i % 7)).collect();
    let place = Place::with("x.csv", format!("g,u,v\n{rows}"));
    let fit = ["fit", "x.csv", "--group-by", "g", "--rank", "60000", "--allow-small-groups"];
    let ran = survives(&place, &[&fit[..], &["--json", "x.json"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.starts_with("error: memory ran out ("), "{}", ran.err);
    assert_eq!(place.files(), ["x.csv"]);
}

#[test]
fn many_small_groups_are_one_warning() {
    let rows: String = (0..40).map(|i| format!("group {},{},{}\n", i / 2, i % 7, i % 3)).collect();
    let place = Place::with("x.csv", format!("g,u,v\n{rows}"));
    let fit = ["fit", "x.csv", "--group-by", "g", "--rank", "2", "--no-compare"];
    let ran = place.ok(&[&fit[..], &["--allow-small-groups"]].concat());
    let warnings = ran.err.lines().filter(|line| line.starts_with("warning: ")).count();
    assert_eq!(ran.err.matches("whole errors").count(), 1, "{}", ran.err);
    assert!(warnings <= 2, "{}", ran.err);
    assert!(ran.err.contains("20 groups have no more rows than topics (2), 'group 0' has 2"));
}

#[test]
fn rows_of_other_files_are_not_said_to_be_left_out() {
    let place = Place::with("a.csv", small_csv(','));
    place.write("H.csv", "w,x,y,z\n1,1,,1\n");
    place.write("b.csv", "group,baseline_error\na,\nb,1\n");
    place.refused(
        &["audit", "a.csv", "--group-by", "g", "--components", "H.csv"],
        "H.csv has 1 missing cell: line 2 column `y`; fill it in",
    );
    place.refused(
        &["fit", "a.csv", "--group-by", "g", "--rank", "1", "--baseline", "b.csv"],
        "b.csv has 1 missing cell: line 2 column `baseline_error`; fill it in",
    );
}

/// Read, not mapped: what happens to the file during the fit does not reach it.
#[test]
fn a_file_that_is_cut_or_written_over_during_the_fit_does_no_harm() {
    use std::os::unix::fs::FileExt;
    let numbers: Vec<u8> =
        (0..4_096 * 16_u64).flat_map(|i| ((i * i % 17) as f64).to_le_bytes()).collect();
    let nan = f64::NAN.to_le_bytes().repeat(1 << 12);
    let changes: [&dyn Fn(&std::fs::File); 2] =
        [&|file| file.set_len(0).unwrap(), &|file| file.write_all_at(&nan, 128).unwrap()];
    for change in changes {
        let place = Place::with("x.npy", npy("<f8", "(4096, 16)", &numbers));
        place.write("lab.txt", "a\nb\n".repeat(2_048));
        let fit = ["fit", "x.npy", "--groups", "lab.txt", "--json", "f.json"];
        let fit = [&fit[..], &ENDLESS].concat();
        let program = Watched::new(&place, 200, &fit, Stdio::null()).until(", iteration ");
        change(&std::fs::File::options().write(true).open(place.path().join("x.npy")).unwrap());
        let (err, code) = program.later().stop();
        assert_eq!(code, Some(1), "{err}");
        let json = place.json("f.json");
        assert_eq!(json["status"], "stopped");
        let loss = json["worst_loss"].as_f64().expect("a number");
        assert!(loss.is_finite() && loss < 1.0, "{loss}");
    }
}
