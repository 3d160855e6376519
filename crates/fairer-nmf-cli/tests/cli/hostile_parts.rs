//! Hostile files beside the data, in parts, and in sheets: limits that can be raised for each, and the
//! promise of `hostile.rs` for all.
#![cfg(unix)]

use crate::hostile::{gz, npy, npz, sparse, survives};
use crate::support::{Place, small_csv};

/// A matrix of `rows` × 4 that stays on disk, with labels of its rows.
fn on_disk(rows: usize) -> Place {
    let place = Place::new();
    let numbers: Vec<u8> =
        (0..rows * 4).flat_map(|i| ((i * i % 17) as f64).to_le_bytes()).collect();
    place.write("x.npy", npy("<f8", &format!("({rows}, 4)"), &numbers));
    std::fs::create_dir(place.path().join("shards")).unwrap();
    place.write("shards/a.npz", npz(&[("X", npy("<f8", &format!("({rows}, 4)"), &numbers))]));
    place.write("lab.txt", "a\nb\n".repeat(rows / 2));
    place.write("lab.csv.gz", gz(format!("g\n{}", "a\nb\n".repeat(rows / 2)).as_bytes()));
    place
}

const BLOCKS: [&str; 6] = ["--memory", "1MB", "--rank", "1", "--quiet", "--no-compare"];

/// With `little` room it is refused in the words of the limit, with more it is read.
fn limited_until_raised(place: &Place, arguments: &[&str], file: &str, little: &str) {
    let ran = survives(place, &[arguments, &["--input-limit", little]].concat());
    assert!(ran.code > 0, "{arguments:?}: {}", ran.err);
    assert!(ran.err.starts_with(&format!("error: {file} unpacks")), "{}", ran.err);
    assert!(ran.err.contains("raise it with `--input-limit"), "{}", ran.err);
    let ran = survives(place, &[arguments, &["--input-limit", "1MB"]].concat());
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
}

#[test]
fn limits_of_files_beside_the_data_can_be_raised() {
    let place = on_disk(600);
    let fit = ["fit", "x.npy", "--groups", "lab.csv.gz:g"];
    limited_until_raised(&place, &[&fit[..], &BLOCKS].concat(), "lab.csv.gz", "1kB");
    let fit = ["fit", "shards", "--groups", "lab.txt"];
    limited_until_raised(&place, &[&fit[..], &BLOCKS].concat(), "shards/a.npz", "1kB");

    let place = Place::with("a.csv", small_csv(','));
    let others: String = (0..999).map(|i| format!("other {i},1\n")).collect();
    let errors = format!("group,baseline_error\na,0.1\nb,0.1\n{others}");
    place.write("b.csv.gz", gz(errors.as_bytes()));
    let given = ["--group-by", "g", "--rank", "2", "--baseline", "b.csv.gz", "--quiet"];
    let fit = [&["fit", "a.csv"], &given[..], &["--no-compare"]].concat();
    limited_until_raised(&place, &fit, "b.csv.gz", "1kB");
    limited_until_raised(&place, &[&["compare", "a.csv"], &given[..]].concat(), "b.csv.gz", "1kB");
}

#[test]
fn shards_that_declare_more_than_they_hold() {
    let most = i64::MAX;
    for (rows, columns) in [(1, 1 << 61), (1, most), (most, 1), (1 << 40, 4), (-1, 4), (600, 0)] {
        let place = on_disk(600);
        place.write("shards/a.npz", sparse("csr", rows, columns, &[0, 1]));
        let fit = ["fit", "shards", "--groups", "lab.txt"];
        let ran = survives(&place, &[&fit[..], &BLOCKS].concat());
        assert_eq!(ran.code, 2, "{rows} x {columns}: {}", ran.err);
    }
    // Cut anywhere, and of another shape than it says.
    let place = on_disk(600);
    let whole = std::fs::read(place.path().join("shards/a.npz")).unwrap();
    let other = npy("<f8", "(2, 4)", &[0; 64]);
    let shape: Vec<u8> = [600_i64, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    let lies = npz(&[("X", other.clone()), ("shape", npy("<i8", "(2,)", &shape)), ("data", other)]);
    let cuts = (0..10).map(|cut| whole[..whole.len() * cut / 10].to_vec());
    for content in cuts.chain([lies]) {
        place.write("shards/a.npz", content);
        let fit = ["fit", "shards", "--groups", "lab.txt"];
        let ran = survives(&place, &[&fit[..], &BLOCKS].concat());
        assert!(ran.code > 0, "{}", ran.err);
    }
}

/// Counters for every column in every part of the file would take more than the file's share of memory.
#[test]
fn a_million_columns_and_no_line_that_fills_them() {
    let header: Vec<String> = (0..1_000_000).map(|i| format!("{i:x}h")).collect();
    let place = Place::with("x.csv", header.join(",") + "\n" + &"1\n".repeat(30 << 20));
    let fit = ["fit", "x.csv", "--group-by", "0h", "--rank", "1"];
    let ran = survives(&place, &fit);
    assert!(
        ran.err.starts_with("error: x.csv, line 2: found 1 cells where the header has 1000000"),
        "{}",
        ran.err
    );
    // Every column is found among the others by its name, not by going through all of them.
    survives(&place, &["inspect", "x.csv", "--quiet"]);
}

#[cfg(feature = "excel")]
mod sheets {
    use super::*;

    fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in parts {
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(*name, options).unwrap();
            std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// A workbook with these cells: place and number.
    fn workbook(cells: &[(&str, u32, &str)], after: &str) -> Vec<u8> {
        let cell = |(column, row, value): &(&str, u32, &str)| {
            format!(r#"<row r="{row}"><c r="{column}{row}"><v>{value}</v></c></row>"#)
        };
        let cells: String = cells.iter().map(cell).collect();
        let sheet = format!("<worksheet><sheetData>{cells}</sheetData>{after}</worksheet>");
        archive(&[
            (
                "_rels/.rels",
                r#"<Relationships><Relationship Id="r0" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
            ),
            (
                "xl/workbook.xml",
                r#"<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#,
            ),
            (
                "xl/_rels/workbook.xml.rels",
                r#"<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
            ),
            ("xl/worksheets/sheet1.xml", &sheet),
        ])
    }

    fn ods(rows: &str, columns: &str) -> Vec<u8> {
        let cell = format!(
            r#"<table:table-cell table:number-columns-repeated="{columns}" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell>"#
        );
        let row = format!(
            r#"<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>"#
        );
        let content = format!(
            r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="S">{row}</table:table></office:spreadsheet></office:body></office:document-content>"#
        );
        archive(&[
            ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            ("META-INF/manifest.xml", "<manifest:manifest/>"),
            ("content.xml", &content),
        ])
    }

    #[test]
    fn sheets_that_declare_more_than_they_hold() {
        let far = [("A", 1, "1"), ("XFD", 1_048_576, "2")];
        let small = [("A", 1, "1"), ("A", 2, "2"), ("A", 3, "3")];
        let place = Place::with("far.xlsx", workbook(&far, ""));
        place.write("lab.txt", "a\nb\n");
        let fit =
            |name| ["fit", name, "--groups", "lab.txt", "--rank", "1", "--quiet", "--no-compare"];
        let ran = survives(&place, &fit("far.xlsx"));
        assert_eq!(
            ran.err,
            "error: far.xlsx has cells that lie 1048576 rows and 16384 columns apart, which takes 1 TiB of memory, more than the limit of 1 GiB for this file: if the file is right, raise it with `--input-limit 1024GiB`\n"
        );
        place.write("blanks.xlsx", workbook(&small, &" ".repeat(200_000)));
        limited_until_raised(&place, &fit("blanks.xlsx"), "blanks.xlsx", "100kB");
        place.write("rows.ods", ods("2000000000", "1"));
        place.write("all.ods", ods("1048576", "16384"));
        place.write("word.ods", ods("99999999999999999999", "-1"));
        place.write("word.xlsx", workbook(&[("ZZZZZZ", 4_294_967_295, "x")], ""));
        for name in ["rows.ods", "all.ods", "word.ods", "word.xlsx"] {
            assert!(survives(&place, &fit(name)).code > 0, "{name}");
            survives(&place, &["inspect", name]);
        }
        // An element that never ends: the reader of .ods would wait for ever.
        for (from, to) in [("</table:table>", "</tab)e:table>"), ("</table:table>", "")] {
            let whole = "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\"><table:table-row><table:table-cell office:value-type=\"string\"><text:p>c</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";
            let content = whole.replace(from, to);
            let ods = archive(&[
                ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
                ("META-INF/manifest.xml", "<manifest:manifest/>"),
                ("content.xml", &content),
            ]);
            place.write("open.ods", ods);
            let ran = survives(&place, &fit("open.ods"));
            assert!(
                ran.err.contains("`content.xml` in it does not end as it should"),
                "{}",
                ran.err
            );
        }
        // A column beyond 2³² would be another one, were the overflow not looked at.
        let beyond = [("A", 1, "1"), ("A", 2, "2"), ("ZZZZZZZZ", 2, "3"), ("A", 3, "3")];
        place.write("beyond.xlsx", workbook(&beyond, ""));
        let ran = survives(&place, &fit("beyond.xlsx"));
        assert!(ran.err.contains("its parts contradict each other"), "{}", ran.err);
    }

    #[test]
    fn sheets_that_are_cut_or_garbled_are_refused_in_words() {
        let whole = workbook(&[("A", 1, "1"), ("A", 2, "2"), ("B", 2, "3")], "");
        // What old workbooks begin with, and then anything.
        let old = [&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..], &[0x41; 1024]].concat();
        let place = Place::with("lab.txt", "a\nb\n");
        let cuts = (0..20).map(|cut| whole[..whole.len() * cut / 20].to_vec());
        for (i, content) in cuts.chain([old.clone(), old[..8].to_vec()]).enumerate() {
            for name in ["x.xlsx", "x.xls", "x.xlsb", "x.ods"] {
                place.write(name, &content);
                let ran = survives(&place, &["fit", name, "--groups", "lab.txt", "--rank", "1"]);
                assert_eq!(ran.code, 2, "{name}, {i}: {}", ran.err);
            }
        }
    }
}

/// Tables of Parquet that say more than they hold, whole and in blocks.
#[cfg(feature = "parquet")]
#[test]
fn parquet_that_lies_or_is_cut() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../fairer-nmf-io/tests/fixtures");
    let bomb = std::fs::read(format!("{fixtures}/bomb.parquet")).unwrap();
    let kinds = std::fs::read(format!("{fixtures}/kinds.parquet")).unwrap();
    let end = kinds.len();
    let mut long = kinds.clone();
    long[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let footer = kinds[..4].iter().chain(&kinds[end - 8..]).copied().collect();
    let cut = kinds[..end / 2].to_vec();
    for content in [bomb, long, footer, cut, b"PAR1".to_vec(), Vec::new()] {
        let place = Place::with("a.parquet", content);
        place.write("lab.txt", "a\nb\n");
        let fit = ["fit", "a.parquet", "--groups", "lab.txt", "--rank", "1", "--quiet"];
        for more in [&[][..], &["--memory", "1MB"]] {
            let ran = survives(&place, &[&fit[..], more].concat());
            assert_eq!(ran.code, 2, "{}", ran.err);
            assert!(ran.err.contains("a.parquet"), "{}", ran.err);
            assert_eq!(place.files().len(), 2, "{:?}", place.files());
        }
    }
}
