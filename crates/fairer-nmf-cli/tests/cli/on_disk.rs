//! `fit --memory`: data that stay on disk, block by block.

use std::fs::File;
use std::io::{BufWriter, Write};

use super::support::{Place, number};

/// Writes a matrix of 32-bit floats near a factorisation, row by row, and its groups.
pub fn make(place: &Place, name: &str, rows: usize, columns: usize) {
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

/// A few iterations from one start, which are the same wherever the rows are.
pub const ONE_START: [&str; 12] = [
    "--init",
    "random",
    "--n-init",
    "1",
    "--max-iter",
    "20",
    "--tol",
    "0",
    "--baseline",
    "zero",
    "--no-compare",
    "--force",
];

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
    for page in [&["--report", "r.html"][..], &["--charts", "c"], &["--audit", "--json", "a.json"]]
    {
        let words = ["need all rows in memory", "fairer-nmf audit PART --model FILE"];
        refused(&[&groups[..], &["--memory", "1MB"], page].concat(), &words);
    }
    refused(&[&groups[..], &["--memory", "1MB", "--init", "nndsvd"]].concat(), &["init", "memory"]);
    let drop = ["--memory", "1MB", "--drop", "f0"];
    refused(&[&groups[..], &drop].concat(), &["--drop does not apply to x.npy"]);
    let missing = ["--memory", "1MB", "--missing", "drop-rows"];
    refused(&[&groups[..], &missing].concat(), &["--missing drop-rows"]);
    place.write("names.txt", "a\nb\n");
    let names = ["--memory", "1MB", "--feature-names", "names.txt", "--json", "n.json"];
    let words = ["--feature-names has 2 names, x.npy has 4 columns"];
    refused(&[&groups[..], &names].concat(), &words);
    place.write("short.txt", "a\nb\n");
    refused(&["--groups", "short.txt", "--memory", "1MB"], &["2 group labels for 40 rows"]);
    assert!(!place.has("r.html"));
}

/// Groups with no more rows than topics: outside the maximum on disk as in memory, unless they are allowed;
/// where all are so small, there is nothing to fit.
#[test]
fn small_groups_on_disk_are_outside_as_in_memory() {
    let place = Place::new();
    make(&place, "x.npy", 60, 8);
    place.write("x.npy.txt", format!("few\nfew\n{}", "a\nb\n".repeat(29)));
    let fixed = ["--baseline", "best", "--no-compare", "--force"];
    let outside = |more: &[&str]| {
        let ran = place.ok(&[&FIT[..], &fixed, more].concat());
        let json = place.json("out.json");
        let groups = json["groups"].as_array().unwrap().clone();
        let few = groups.iter().find(|group| group["name"] == "few").unwrap().clone();
        (few["outside"] == true, number(&json["worst_loss"]), ran.err)
    };
    let (memory, disk) = (outside(&[]), outside(&["--memory", "1MB"]));
    assert!(memory.0 && disk.0);
    assert!((memory.1 - disk.1).abs() < 1e-3, "{} in memory, {} on disk", memory.1, disk.1);
    let allowed = outside(&["--memory", "1MB", "--allow-small-groups"]);
    assert!(!allowed.0);
    let mut large = FIT;
    large[5] = "50";
    let ran = place.run(&[&large[..], &fixed, &["--memory", "1MB"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("rank 50 is larger than every group"), "{}", ran.err);
}

/// A table with numbers, a column of words and one of groups, in which some cells have no value.
fn table(place: &Place, name: &str, rows: usize) {
    let mut text = String::from("id,region,colour,\"width, mm\",b,c,d\n");
    for row in 0..rows {
        let region = ["north", "south", "west"][row * 7 % 3];
        let colour = ["red", "green", "\"dark, blue\""][row * 5 % 11 % 3];
        let cell = |k: usize| {
            ((row * (31 + k) + k * 17) % 101) as f64 / 101.0 + row as f64 % (2.0 + k as f64)
        };
        let b = if row % 97 == 13 { "NA".to_owned() } else { format!("{:.6}", cell(1)) };
        text +=
            &format!("{row},{region},{colour},{:.6},{b},{:.6},{:.6}\n", cell(0), cell(2), cell(3));
    }
    place.write(name, text);
}

#[test]
fn a_table_larger_than_memory_is_converted_once() {
    let place = Place::new();
    table(&place, "t.csv", 9000);
    let columns = ["--drop", "id", "--one-hot", "colour", "--missing", "drop-rows", "--rank", "2"];
    let fit = ["fit", "t.csv", "--group-by", "region"];
    let fit = [&fit[..], &columns, &ONE_START, &["--json", "out.json", "--model"]].concat();
    let memory = place.ok(&[&fit[..], &["a.safetensors"]].concat());
    let expected = place.json("out.json");
    // Some twenty pieces, and blocks of some rows.
    let more = ["b.safetensors", "--memory", "500kB"];
    let converted = place.ok(&[&fit[..], &more].concat());
    let found = place.json("out.json");
    assert!(
        converted.err.contains("t.csv was converted once into t.csv.shards-"),
        "{}",
        converted.err
    );
    let left_out = "93 of 9000 rows left out because of missing cells";
    assert!(memory.err.contains(left_out) && converted.err.contains(left_out), "{}", converted.err);
    let close = |a: &serde_json::Value, b: &serde_json::Value| {
        assert!((number(a) - number(b)).abs() < 1e-10, "{a} in memory, {b} on disk");
    };
    close(&expected["worst_loss"], &found["worst_loss"]);
    close(&expected["global_bound"], &found["global_bound"]);
    for at in 0..3 {
        let group = |json: &serde_json::Value| json["groups"][at].clone();
        assert_eq!(group(&expected)["name"], group(&found)["name"]);
        assert_eq!(group(&expected)["rows"], group(&found)["rows"]);
        close(&group(&expected)["relative_error"], &group(&found)["relative_error"]);
    }
    for field in ["rows", "features", "left_out"] {
        let (a, b) = (&expected["data"][field], &found["data"][field]);
        assert_eq!(a.to_string(), b.to_string(), "{field}");
    }
    // The model knows its columns and takes the table as that of memory does.
    for model in ["a.safetensors", "b.safetensors"] {
        let out = format!("{model}.csv");
        place.ok(&["transform", "t.csv", "--model", model, "--output", &out, "--quiet"]);
    }
    let rows = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let (a, b) = (rows("a.safetensors.csv"), rows("b.safetensors.csv"));
    assert_eq!(a.lines().next(), b.lines().next());
    assert_eq!(a.lines().count(), b.lines().count());

    // Again: nothing is converted; after a change it is.
    let again = place.ok(&[&fit[..], &more].concat());
    assert!(
        again.err.contains("t.csv has not changed since an earlier run converted it"),
        "{}",
        again.err
    );
    close(&found["worst_loss"], &place.json("out.json")["worst_loss"]);
    table(&place, "t.csv", 9001);
    let changed = place.ok(&[&fit[..], &more].concat());
    assert!(changed.err.contains("was converted once"), "{}", changed.err);
    assert_eq!(place.json("out.json")["data"]["rows"], 9001 - 93);
    // Other options, other rows: a folder of their own.
    let mut other = fit.to_vec();
    other.drain(5..7);
    place.ok(&[&other[..], &more].concat());
    let caches = std::fs::read_dir(place.path()).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let caches = caches.map(name).filter(|name| name.to_string_lossy().contains(".shards-"));
    assert_eq!(caches.count(), 2);
}

#[test]
fn what_is_wrong_with_a_large_table_is_said_with_its_line() {
    let place = Place::new();
    let refused = |text: &str, more: &[&str], words: &str| {
        place.write("t.csv", text);
        let fit = ["fit", "t.csv", "--rank", "1", "--memory", "1MB"];
        let ran = place.run(&[&fit[..], more].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
        let left = std::fs::read_dir(place.path()).unwrap().count();
        assert_eq!(left, 1, "nothing is left behind");
    };
    let groups = ["--group-by", "g"];
    refused("g,a\nx,1\ny,-2\n", &groups, "t.csv, line 3: the entry of column `a` is negative");
    refused("g,a\nx,1\ny,inf\n", &groups, "line 3: the entry of column `a` is not a finite number");
    refused("g,a\nx,1\ny,\n", &groups, "has 1 missing cell: line 3 column `a`");
    refused("g,a\nx,1\ny,2,3\n", &groups, "line 3: found 3 cells");
    refused("g,a\nx,1\nx,2\ny,two\n", &groups, "t.csv, line 4, column `a`: expected a number");
    refused("g,a\n", &groups, "there is no row after the header");
    let quantiles = ["--bins", "a=quantiles:2"];
    refused("g,a,b\nx,1,2\n", &quantiles, "--bins does not apply to t.csv");
}

/// SciPy's arrays in a folder, and in an archive that is too large to be read as a whole.
#[test]
fn sparse_rows_on_disk_are_those_in_memory() {
    let place = Place::new();
    let (rows, columns) = (1500, 40);
    let (mut data, mut indices, mut indptr) = (Vec::new(), Vec::new(), vec![0_i64]);
    let mut groups = String::new();
    for row in 0..rows {
        for column in (0..columns).filter(|column| (row * 13 + column * 7) % 9 < 2) {
            data.push(1.0 + ((row * 31 + column * 17) % 101) as f64 / 20.0);
            indices.push(column as i32);
        }
        indptr.push(data.len() as i64);
        groups += ["ant\n", "bee\n"][row % 2];
    }
    place.write("g.txt", groups);
    let npy = |descr: &str, shape: String, bytes: Vec<u8>| {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &bytes].concat()
    };
    let stored = data.len();
    let arrays = [
        (
            "data",
            npy("<f8", format!("{stored},"), data.iter().flat_map(|v| v.to_le_bytes()).collect()),
        ),
        (
            "indices",
            npy(
                "<i4",
                format!("{stored},"),
                indices.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
        ),
        (
            "indptr",
            npy(
                "<i8",
                format!("{},", rows + 1),
                indptr.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
        ),
        (
            "shape",
            npy(
                "<i8",
                "2,".into(),
                [rows as i64, columns as i64].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
        ),
        ("format", npy("|S3", String::new(), b"csr".to_vec())),
    ];
    std::fs::create_dir(place.path().join("csr")).unwrap();
    let mut archive = zip::ZipWriter::new(File::create(place.path().join("x.npz")).unwrap());
    for (name, bytes) in &arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
        if ["data", "indices", "indptr"].contains(name) {
            std::fs::write(place.path().join(format!("csr/{name}.npy")), bytes).unwrap();
        }
    }
    archive.finish().unwrap();
    let fit = |data: &str, more: &[&str]| {
        let own = ["fit", data, "--groups", "g.txt", "--rank", "3", "--json", "out.json"];
        let fixed = [&own[..], &ONE_START].concat();
        let said = place.ok(&[&fixed[..], more].concat()).err;
        (number(&place.json("out.json")["worst_loss"]), said)
    };
    let (memory, _) = fit("x.npz", &[]);
    let (folder, _) = fit("csr", &["--memory", "100kB"]);
    let (small, said) = fit("x.npz", &["--memory", "100MB"]);
    assert!(!said.contains("converted"), "{said}");
    let (large, said) = fit("x.npz", &["--memory", "100kB"]);
    assert!(said.contains("x.npz was converted once into x.npz.shards-"), "{said}");
    let (again, said) = fit("x.npz", &["--memory", "100kB"]);
    assert!(said.contains("x.npz has not changed"), "{said}");
    for found in [folder, small, large, again] {
        assert!((memory - found).abs() < 1e-10, "{memory} in memory, {found} on disk");
    }
    // An array that does not fit the others.
    std::fs::write(place.path().join("csr/indices.npy"), npy("<i4", "1,".into(), vec![0; 4]))
        .unwrap();
    let ran = place.run(&["fit", "csr", "--groups", "g.txt", "--rank", "2", "--memory", "1MB"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("indices.npy is damaged: 1 column numbers for"), "{}", ran.err);
}
