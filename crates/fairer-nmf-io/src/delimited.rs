//! CSV and TSV.
//!
//! The file is cut at line ends into chunks that are parsed at the same time. A chunk without
//! quotes is read by a loop that scans every number once; a chunk with quotes by the csv crate.
//! A line end inside a quoted cell is no place to cut: it has an odd number of quotes before it.

mod stream;

pub(crate) use stream::{Stream, Visit};

use fairer_nmf::Note;
use memchr::{memchr, memchr_iter, memchr2_iter};
use rayon::prelude::*;

use super::cells::{Number, Part, Sink};
use super::decimals::settled;
use super::error::InputError;
use super::plan::{Plan, Reading, Role};
use super::profile::Profile;
use super::room::Room;
use super::source::check_encoding;
use super::table::Table;
use super::text;
use super::written::Decimal;

/// Long enough that starting a chunk costs nothing, short enough to share out evenly.
const CHUNK_BYTES: usize = 1 << 21;
/// What the counters of all chunks of a table that is looked at take at the most, one chunk apart.
const LOOKS: usize = 1 << 28;

/// Parses a table with a header; `planner` turns the column names into roles.
pub(crate) fn parse<T: Number>(
    room: Room<'_>,
    bytes: &[u8],
    delimiter: Option<u8>,
    planner: &dyn Fn(Vec<String>) -> Result<Plan, InputError>,
) -> Result<Table<T>, InputError> {
    parse_in_chunks(room, bytes, delimiter, planner, CHUNK_BYTES)
}

fn parse_in_chunks<T: Number>(
    room: Room<'_>,
    bytes: &[u8],
    delimiter: Option<u8>,
    planner: &dyn Fn(Vec<String>) -> Result<Plan, InputError>,
    chunk_bytes: usize,
) -> Result<Table<T>, InputError> {
    let path = room.path;
    check_encoding(path, bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let header = Header::read(path, bytes, delimiter)?;
    let mut plan = planner(header.names.clone())?;
    plan.most = room.most();
    plan.notes.extend(header.notes.iter().cloned());
    settled(plan, header.delimiter == b';', |plan| {
        fill(plan, &bytes[header.end..], header.delimiter, header.lines, chunk_bytes)
    })
}

/// One pass over rows; `before` lines stand before them in the file.
fn fill<T: Number>(
    plan: &Plan,
    body: &[u8],
    delimiter: u8,
    before: u64,
    chunk_bytes: usize,
) -> Result<(Vec<T>, Part), InputError> {
    let columns = plan.names.len();
    // A part that is looked at has counters for every column: no more of them than there is room for.
    let looked_at = plan.roles.contains(&Role::Look);
    let counters = columns.saturating_mul(if looked_at { size_of::<Profile>() } else { 0 });
    plan.room().check(format!("has {columns} columns to be described"), counters, 1)?;
    let most_parts = (LOOKS / counters.max(1)).max(1);
    let chunks = split(body, chunk_bytes.max(body.len().div_ceil(most_parts)));
    let lines: Vec<usize> = chunks.par_iter().map(|chunk| count_lines(chunk)).collect();
    let looking = plan.reading == Reading::Looking;
    let width = if looking { 0 } else { plan.numbers };
    // A row has a byte a column, but for the last; blank lines have none, and the first line that is
    // too short ends its chunk.
    let most = |(chunk, lines): (&&[u8], &usize)| (chunk.len() / columns + 1).min(*lines);
    let most: Vec<usize> = chunks.iter().zip(&lines).map(most).collect();
    let rows = most.iter().sum();
    let what = format!("has {columns} columns and up to {rows} rows");
    let mut numbers = plan.room().zeros(what, rows, width)?;
    let mut rest = &mut numbers[..];
    let mut jobs = Vec::with_capacity(chunks.len());
    for (chunk, rows) in chunks.iter().zip(&most) {
        let (out, later) = rest.split_at_mut(rows * width);
        rest = later;
        jobs.push((chunk, out));
    }
    // A plain number is what it seems to be, unless a point stands between thousands or it was
    // said to mean nothing.
    let plain_numbers = matches!(plan.reading, Reading::Open | Reading::Known(Decimal::Point))
        && plan.na_values.is_empty();
    let parts: Vec<Part> = jobs
        .into_par_iter()
        .map(|(chunk, out)| {
            let mut sink = Sink::new(plan, out);
            match memchr(b'"', chunk) {
                None => plain(chunk, delimiter, &plan.roles, plain_numbers, &mut sink),
                Some(_) => quoted(chunk, delimiter, plan.roles.len(), &mut sink),
            }
            sink.finish()
        })
        .collect();

    // Close the gaps that blank lines, quoted line ends and left-out rows have made.
    let mut whole = Sink::new(plan, &mut numbers[..0]).finish();
    let (mut line, mut start) = (before + 1, 0);
    for ((part, lines), most) in parts.into_iter().zip(lines).zip(most) {
        let (filled, end) = (whole.rows, start + part.rows);
        if filled != start {
            numbers.copy_within(start * width..end * width, filled * width);
        }
        whole.append(part, line);
        start += most;
        line += lines as u64;
    }
    Ok((numbers, whole))
}

struct Header {
    names: Vec<String>,
    delimiter: u8,
    /// Where the first row begins: byte, and lines before it.
    end: usize,
    lines: u64,
    notes: Vec<Note>,
}

impl Header {
    fn read(path: &str, bytes: &[u8], delimiter: Option<u8>) -> Result<Header, InputError> {
        let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace() && **b != b'\t');
        let mut start = blank.count();
        let mut delimiter = delimiter;
        if let Some((told, length)) = told_delimiter(&bytes[start..]) {
            start += length;
            delimiter = delimiter.or(Some(told));
        }
        let end = start + record_end(&bytes[start..], false);
        let record = &bytes[start..end];
        let delimiter = delimiter.unwrap_or_else(|| likely_delimiter(record));
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(record);
        let mut cells = csv::ByteRecord::new();
        let found =
            reader.read_byte_record(&mut cells).map_err(|e| InputError::damaged(path, e))?;
        if !found {
            let what = "a header with the names of the columns is expected".into();
            let path = path.into();
            return Err(InputError::Empty { path, what });
        }
        let names: Vec<String> = cells.iter().map(|cell| text::decode(cell.trim_ascii())).collect();
        let mut notes = Vec::new();
        if looks_like_data(&names) {
            let sentence = format!(
                "the first line of {path} holds only numbers; it was taken as the header, so if it is data, put a line with the names of the columns before it"
            );
            notes.push(Note::new("numbers-as-header", sentence));
        }
        Ok(Header {
            names,
            delimiter,
            end,
            lines: memchr_iter(b'\n', &bytes[..end]).count() as u64,
            notes,
        })
    }
}

/// The delimiter that a first line `sep=;` tells, as Excel writes and reads it, and the length of
/// that line.
fn told_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let length = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    let line = bytes[..length].strip_suffix(b"\n").unwrap_or(&bytes[..length]);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', told] if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" => {
            Some((*told, length))
        }
        _ => None,
    }
}

/// All numbers, and not the 0, 1, 2, … that pandas writes for columns without names.
fn looks_like_data(names: &[String]) -> bool {
    let counts = |first: usize| (first..).zip(names).all(|(i, name)| *name == i.to_string());
    names.iter().all(|name| name.parse::<f64>().is_ok()) && !counts(0) && !counts(1)
}

/// The most frequent of comma, semicolon and tab; comma if there is none.
fn likely_delimiter(header: &[u8]) -> u8 {
    let count = |delimiter: u8| memchr_iter(delimiter, header).count();
    let best = [b'\t', b';', b','].into_iter().max_by_key(|&d| count(d));
    best.unwrap_or(b',')
}

/// The byte after the first line end that is not inside quotes.
fn record_end(bytes: &[u8], mut quoted: bool) -> usize {
    for at in memchr2_iter(b'"', b'\n', bytes) {
        match bytes[at] {
            b'"' => quoted = !quoted,
            _ if !quoted => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// Cuts at line ends outside quotes, near every `chunk_bytes` bytes.
fn split(body: &[u8], chunk_bytes: usize) -> Vec<&[u8]> {
    let quotes: Vec<usize> =
        body.par_chunks(chunk_bytes).map(|piece| memchr_iter(b'"', piece).count()).collect();
    let mut chunks = Vec::with_capacity(quotes.len());
    let (mut start, mut quotes_before) = (0, 0);
    for (piece, quotes) in quotes.iter().enumerate() {
        let nominal = piece * chunk_bytes;
        if piece > 0 && nominal > start {
            let cut = nominal + record_end(&body[nominal..], quotes_before % 2 == 1);
            chunks.push(&body[start..cut]);
            start = cut;
        }
        quotes_before += quotes;
    }
    if start < body.len() {
        chunks.push(&body[start..]);
    }
    chunks
}

/// Lines of a chunk, and so at least as many as it has records.
fn count_lines(chunk: &[u8]) -> usize {
    let open_end = chunk.last().is_some_and(|&last| last != b'\n');
    memchr_iter(b'\n', chunk).count() + usize::from(open_end)
}

/// A chunk without quotes: every line is a record.
fn plain<T: Number>(
    chunk: &[u8],
    delimiter: u8,
    roles: &[Role],
    plain_numbers: bool,
    sink: &mut Sink<'_, T>,
) {
    let (mut at, mut line) = (0, 0);
    while at < chunk.len() {
        if !is_line_end(chunk, at) {
            let mut column = 0;
            loop {
                let role = match roles[column] {
                    Role::Number(_) if !plain_numbers => None,
                    role => Some(role),
                };
                at = plain_cell(chunk, at, delimiter, column, line, role, sink);
                column += 1;
                if is_line_end(chunk, at) {
                    break;
                }
                at += 1;
                if column == roles.len() {
                    let end = at + memchr(b'\n', &chunk[at..]).unwrap_or(chunk.len() - at);
                    let more = memchr_iter(delimiter, &chunk[at..end]).count() + 1;
                    return sink.ragged(line, column + more);
                }
            }
            if column < roles.len() {
                return sink.ragged(line, column);
            }
            sink.end_row(line);
        }
        at += 1 + usize::from(chunk.get(at) == Some(&b'\r'));
        line += 1;
    }
}

/// Whether a line ends at this byte, with `\n`, `\r\n`, or the chunk.
#[inline(always)]
fn is_line_end(chunk: &[u8], at: usize) -> bool {
    match chunk.get(at) {
        None | Some(b'\n') => true,
        Some(b'\r') => matches!(chunk.get(at + 1), None | Some(b'\n')),
        Some(_) => false,
    }
}

/// Reads one cell and returns where it ends; without a role it is left to the sink.
#[inline(always)]
fn plain_cell<T: Number>(
    chunk: &[u8],
    start: usize,
    delimiter: u8,
    column: usize,
    line: u64,
    role: Option<Role>,
    sink: &mut Sink<'_, T>,
) -> usize {
    if let Some(Role::Number(slot)) = role
        && let Ok((value, length)) = fast_float2::parse_partial::<T, _>(&chunk[start..])
        && (chunk.get(start + length) == Some(&delimiter) || is_line_end(chunk, start + length))
        && is_number(value)
    {
        sink.parsed(slot, value, &chunk[start..start + length]);
        return start + length;
    }
    let length = memchr::memchr2(delimiter, b'\n', &chunk[start..]);
    let mut end = length.map_or(chunk.len(), |length| start + length);
    if end > start && is_line_end(chunk, end - 1) {
        end -= 1;
    }
    sink.cell(column, &chunk[start..end], line);
    end
}

/// Only NaN differs from itself; the slow way takes it for a missing cell.
#[allow(clippy::eq_op)]
fn is_number<T: Number>(value: T) -> bool {
    value == value
}

/// A chunk with quotes somewhere.
fn quoted<T: Number>(chunk: &[u8], delimiter: u8, columns: usize, sink: &mut Sink<'_, T>) {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(chunk);
    let mut record = csv::ByteRecord::new();
    // Reading from memory as flexible bytes cannot fail.
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let line = record.position().map_or(0, |position| {
            // The position is before the blank lines that were skipped.
            let from = &chunk[(position.byte() as usize).min(chunk.len())..];
            let blank = from.iter().take_while(|b| matches!(b, b'\n' | b'\r'));
            position.line() - 1 + blank.filter(|b| **b == b'\n').count() as u64
        });
        if record.len() != columns {
            return sink.ragged(line, record.len());
        }
        for (column, cell) in record.iter().enumerate() {
            sink.cell(column, cell, line);
        }
        sink.end_row(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    fn rows(text: &str, options: &ReadOptions, chunk_bytes: usize) -> Result<String, InputError> {
        let planner = |names| Plan::new("t.csv", names, options);
        let room = Room::new("t.csv", text.len(), crate::InputLimit::default());
        let table = parse_in_chunks::<f64>(room, text.as_bytes(), None, &planner, chunk_bytes)?;
        let data = table.into_dataset(None, true)?;
        let last = data.describe_cell(data.matrix.shape().0 - 1, 0);
        Ok(format!("{:?} {:?} {last}", data.matrix, data.labels))
    }

    #[test]
    fn chunks_of_any_size_give_the_same_table() {
        let options = ReadOptions {
            group_by: vec!["g".into()],
            missing: crate::Missing::DropRows,
            ..ReadOptions::default()
        };
        let text = "a,g,b\r\n1,x,2\r\n\n 3 ,\"y, \"\"z\"\"\nw\",-4e2\r\n5,,6\n\"7\",v,.5\n8,u,9";
        let whole = rows(text, &options, 1 << 20).expect("readable");
        assert!(whole.contains("[3.0, -400.0]") && whole.contains("[7.0, 0.5]"), "{whole}");
        assert!(whole.contains(r#"y, \"z\"\nw"#) && whole.contains("line 8,"), "{whole}");
        for chunk_bytes in 1..text.len() {
            assert_eq!(rows(text, &options, chunk_bytes).expect("readable"), whole);
        }
    }

    #[test]
    fn ragged_rows_are_found_with_and_without_quotes() {
        let complaint = |text| rows(text, &ReadOptions::default(), 4).map_err(|e| e.to_string());
        for (text, line, found) in
            [("a,b\n1,2\n3\n", 3, 1), ("a,b\n1,2,3,4\n", 2, 4), ("a,b\n1,2\n\n\"3\",4,5\n", 4, 3)]
        {
            let message = complaint(text).expect_err("ragged");
            let start = format!("t.csv, line {line}: found {found} cells where the header has 2");
            assert!(message.starts_with(&start), "{message}");
        }
    }

    #[test]
    fn a_lone_carriage_return_is_no_line_end() {
        let message = rows("a,b\n1\r2,3\n", &ReadOptions::default(), 99).expect_err("text");
        assert!(message.to_string().contains("not numeric: `a`"), "{message}");
    }
}
