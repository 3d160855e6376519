//! `fit --memory` under a limit of the system on the memory of the process.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::Command;

use parquet::data_type::FloatType;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::hostile::{Resource, limited, npy, npz};
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
    furthest(&disk, &found(place))
}

fn furthest(some: &[f64], others: &[f64]) -> f64 {
    assert_eq!(some.len(), others.len());
    some.iter().zip(others).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
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

/// The entries of what [`make`] has written.
fn entries(place: &Place, columns: usize) -> Vec<f32> {
    let bytes = fs::read(place.path().join("x.npy")).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let numbers =
        bytes[header..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    let numbers: Vec<f32> = numbers.collect();
    assert_eq!(numbers.len() % columns, 0);
    numbers
}

/// SciPy's arrays of some rows, with all entries above a half.
fn sparse(rows: &[f32], columns: usize) -> Vec<(&'static str, Vec<u8>)> {
    let (mut data, mut indices, mut starts) = (Vec::new(), Vec::new(), vec![0_i32]);
    for row in rows.chunks_exact(columns) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value > 0.5) {
            data.push(*value);
            indices.push(column as i32);
        }
        starts.push(data.len() as i32);
    }
    let one = |descr: &str, bytes: Vec<u8>| npy(descr, &format!("({},)", bytes.len() / 4), &bytes);
    let integers =
        |values: &[i32]| one("<i4", values.iter().flat_map(|v| v.to_le_bytes()).collect());
    vec![
        ("data", one("<f4", data.iter().flat_map(|v| v.to_le_bytes()).collect())),
        ("indices", integers(&indices)),
        ("indptr", integers(&starts)),
        ("shape", integers(&[starts.len() as i32 - 1, columns as i32])),
        ("format", npy("|S3", "()", b"csr")),
    ]
}

/// Whatever form the rows have: three arrays of a sparse matrix, packed shards of either kind, each too large to be read as a whole,
/// and Parquet, of which the pages of all columns at once are too large.
#[test]
fn rows_of_any_form_stay_within_the_budget() {
    let place = Place::new();
    let (rows, columns) = (50_000, 120);
    make(&place, "x.npy", rows, columns);
    let all = entries(&place, columns);
    let at = |name: &str| place.path().join(name);
    ["packed", "csr", "shards"].iter().for_each(|name| fs::create_dir(at(name)).unwrap());
    for (k, part) in all.chunks(rows / 10 * columns).enumerate() {
        let shape = format!("({}, {columns})", part.len() / columns);
        let bytes: Vec<u8> = part.iter().flat_map(|v| v.to_le_bytes()).collect();
        let archive = npz(&[("X", npy("<f4", &shape, &bytes))]);
        fs::write(at(&format!("packed/{k}.npz")), archive).unwrap();
        fs::write(at(&format!("shards/{k}.npz")), npz(&sparse(part, columns))).unwrap();
    }
    let whole = sparse(&all, columns);
    for (name, array) in whole.iter().filter(|(name, _)| *name != "format") {
        fs::write(at(&format!("csr/{name}.npy")), array).unwrap();
    }
    fs::write(at("sparse.npz"), npz(&whole)).unwrap();
    let declared = (0..columns).map(|column| format!("required float x{column};"));
    let schema = format!("message rows {{ {} }}", declared.collect::<String>());
    let schema = parse_message_type(&schema).unwrap().into();
    let file = File::create(at("x.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for first in 0..columns {
        let values: Vec<f32> = all.iter().copied().skip(first).step_by(columns).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FloatType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let fit = |data| {
        let own = ["fit", data, "--groups", "x.npy.txt", "--rank", "10", "--json", "out.json"];
        [&own[..], &["--precision", "f64"], &ONE_START].concat()
    };
    let mut memory = Vec::new();
    for data in ["x.npy", "sparse.npz"] {
        assert_ne!(
            limited(&place, &fit(data), Resource::Memory, LIMIT).code,
            0,
            "it does not bind"
        );
        place.ok(&fit(data));
        memory.push(found(&place));
    }
    let forms = [("packed", 0), ("csr", 1), ("shards", 1), ("sparse.npz", 1), ("x.parquet", 0)];
    let built = forms.len() - usize::from(!cfg!(feature = "parquet"));
    for (data, own) in &forms[..built] {
        let ran = limited(&place, &[&fit(data)[..], &BUDGET].concat(), Resource::Memory, LIMIT);
        assert_eq!(ran.code, 0, "{data}: {}", ran.err);
        assert_eq!(ran.err.contains("converted once"), *data != "csr", "{}", ran.err);
        let apart = furthest(&found(&place), &memory[*own]);
        assert!(apart < 1e-10, "{data}: {apart} from memory");
    }
}
