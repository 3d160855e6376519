//! Workbooks: .xlsx and .ods of a few cells, with slips in their parts and in the archive.

use fairer_nmf_io::{Format, read_bytes};

use super::check;
use super::choices::Bytes;

/// A sheet of a workbook.
pub fn excel(bytes: &mut Bytes<'_>) -> bool {
    let options = bytes.options();
    let (columns, rows) = (1 + bytes.below(4), bytes.below(5));
    let modern = bytes.rarely(2);
    let parts = if modern { xlsx(bytes, columns, rows) } else { ods(bytes, columns, rows) };
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let method = zip::CompressionMethod::Stored;
    for (name, text) in parts {
        let mut content = text.into_bytes();
        bytes.slip(&mut content);
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(name, options).expect("names of our own");
        std::io::Write::write_all(&mut writer, &content).expect("in memory");
    }
    let mut content = writer.finish().expect("in memory").into_inner();
    bytes.slip(&mut content);
    check(read_bytes("x.xlsx", &content, Format::Excel, &options))
}

fn xlsx(bytes: &mut Bytes<'_>, columns: usize, rows: usize) -> Vec<(&'static str, String)> {
    let mut cells = String::new();
    for row in 0..=rows {
        cells += "<row>";
        for column in 0..columns {
            let letter = bytes.pick(&["A", "B", "C", "D"]);
            let place = match bytes.below(12) {
                0 => format!(" r=\"{letter}{}\"", bytes.byte()),
                1 => format!(
                    " r=\"{}\"",
                    bytes.pick(&["", "A", "1", "XFD1048576", "ZZZ0", "A99999999999"])
                ),
                _ => format!(" r=\"{}{}\"", ["A", "B", "C", "D"][column], row + 1),
            };
            let kind = if row == 0 {
                "str"
            } else {
                bytes.pick(&["n", "n", "n", "str", "s", "b", "e", "d"])
            };
            let value = if row == 0 { format!("c{column}") } else { bytes.number() };
            cells += &format!("<c{place} t=\"{kind}\"><v>{}</v></c>", escaped(&value));
        }
        cells += "</row>";
    }
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    vec![
        (
            "_rels/.rels",
            format!(
                "<Relationships><Relationship Id=\"r0\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns:r=\"{relations}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships><Relationship Id=\"r1\" Type=\"{relations}/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"r2\" Type=\"{relations}/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/sharedStrings.xml",
            format!("<sst count=\"{}\"><si><t>a</t></si><si><t>b</t></si></sst>", bytes.number()),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(
                "<worksheet><dimension ref=\"A1:{}{}\"/><sheetData>{cells}</sheetData></worksheet>",
                bytes.pick(&["A", "D", "XFD"]),
                1 + bytes.below(9)
            ),
        ),
    ]
}

fn ods(bytes: &mut Bytes<'_>, columns: usize, rows: usize) -> Vec<(&'static str, String)> {
    let repeated = |bytes: &mut Bytes<'_>, what: &str| match bytes.below(16) {
        0 => format!(" table:number-{what}-repeated=\"{}\"", bytes.byte()),
        1 => format!(
            " table:number-{what}-repeated=\"{}\"",
            bytes.pick(&["", "-1", "x", "99999999999999999999"])
        ),
        _ => String::new(),
    };
    let mut table = String::new();
    for row in 0..=rows {
        table += &format!("<table:table-row{}>", repeated(bytes, "rows"));
        for column in 0..columns {
            let again = repeated(bytes, "columns");
            table += &match row {
                0 => format!(
                    "<table:table-cell{again} office:value-type=\"string\"><text:p>c{column}</text:p></table:table-cell>"
                ),
                _ => {
                    let value = escaped(&bytes.number());
                    let kind = bytes.pick(&[
                        "float",
                        "float",
                        "float",
                        "string",
                        "percentage",
                        "boolean",
                        "date",
                    ]);
                    format!(
                        "<table:table-cell{again} office:value-type=\"{kind}\" office:value=\"{value}\"><text:p>{value}</text:p></table:table-cell>"
                    )
                }
            };
        }
        table += "</table:table-row>";
    }
    vec![
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet".into()),
        ("META-INF/manifest.xml", "<manifest:manifest/>".into()),
        (
            "content.xml",
            format!(
                "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">{table}</table:table></office:spreadsheet></office:body></office:document-content>"
            ),
        ),
    ]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
