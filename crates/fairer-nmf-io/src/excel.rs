//! Sheets of Excel and of LibreOffice (cargo feature `excel`): .xlsx, .xls, .xlsb and .ods.

use std::io::{BufReader, Cursor, Read};

use calamine::{Data, Range, Reader, Sheets, open_workbook_auto_from_rs};
use quick_xml::events::Event;
use zip::ZipArchive;

use super::cells::{Number, Sink};
use super::decimals::settled;
use super::error::InputError;
use super::guard::{CONTRADICTION, guarded};
use super::plan::{Plan, Reading, Role};
use super::room::Room;
use super::table::Table;

/// Reads a sheet, the first one unless it is named; its first row that is not empty is the header.
/// Cells are numbers, texts or dates as the program stored them, whatever it shows.
pub(crate) fn parse<T: Number>(
    room: Room<'_>,
    bytes: &[u8],
    sheet: Option<&str>,
    planner: &dyn Fn(Vec<String>) -> Result<Plan, InputError>,
) -> Result<Table<T>, InputError> {
    let path = room.path;
    let range = guarded(|| sheet_of(room, bytes, sheet))
        .unwrap_or_else(|| Err(InputError::damaged(path, CONTRADICTION)))?;
    let first_line = range.start().map_or(0, |(row, _)| u64::from(row)) + 1;
    let mut rows = (first_line..).zip(range.rows()).filter(|(_, row)| !row.iter().all(is_empty));
    let Some((_, header)) = rows.next() else {
        let what = "the sheet is empty; a header with the names of the columns is expected".into();
        return Err(InputError::Empty { path: path.into(), what });
    };
    let width = header.iter().rposition(|cell| !is_empty(cell)).map_or(0, |last| last + 1);
    let names = header[..width].iter().map(|cell| text(cell).trim().to_owned()).collect();
    let rows: Vec<(u64, &[Data])> = rows.collect();
    let mut plan = planner(names)?;
    plan.most = room.most();
    let what = format!("has {width} columns and {} rows", rows.len());
    settled(plan, false, |plan| {
        let looking = plan.reading == Reading::Looking;
        let mut numbers = room.zeros(&what, if looking { 0 } else { rows.len() }, plan.numbers)?;
        let mut sink = Sink::new(plan, &mut numbers);
        for (line, row) in &rows {
            // What stands beside the table, under no name, belongs to no column.
            if let Some(beyond) = row[width..].iter().rposition(|cell| !is_empty(cell)) {
                sink.ragged(*line, width + beyond + 1);
                break;
            }
            for (column, cell) in row[..width].iter().enumerate() {
                put(&mut sink, plan, column, cell, *line);
            }
            sink.end_row(*line);
        }
        let part = sink.finish();
        Ok((numbers, part))
    })
}

fn sheet_of(room: Room<'_>, bytes: &[u8], sheet: Option<&str>) -> Result<Range<Data>, InputError> {
    let path = room.path;
    check_unpacked(room, bytes)?;
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(|e| {
        InputError::damaged(path, format!("it is no workbook that can be read ({e})"))
    })?;
    let sheets = book.sheet_names();
    let name = match sheet {
        None => sheets.first().cloned(),
        Some(wanted) => sheets.iter().find(|name| *name == wanted).cloned(),
    };
    let Some(name) = name else {
        let what = format!("has no sheet `{}`", sheet.unwrap_or_default());
        return Err(InputError::WhichArray { path: path.into(), what, arrays: sheets });
    };
    check_extent(room, &mut book, &name)?;
    book.worksheet_range(&name).map_err(|e| InputError::damaged(path, e))
}

/// Refuses a workbook whose parts unpack to more than there is room for, whatever they say of their
/// sizes, or do not end: the reader itself unpacks without a limit.
fn check_unpacked(room: Room<'_>, bytes: &[u8]) -> Result<(), InputError> {
    // The old form (.xls) is not packed; what is no whole archive is for the reader to explain.
    let Ok(mut zip) = ZipArchive::new(Cursor::new(bytes)) else { return Ok(()) };
    let mut left = room.most();
    for part in 0..zip.len() {
        let Ok(member) = zip.by_index(part) else { continue };
        let name = member.name().map_or_else(|_| String::new(), |name| name.into_owned());
        let mut content = member.take(left.saturating_add(1));
        let is_xml = name.ends_with(".xml") || name.ends_with(".rels");
        let closed = !is_xml || is_closed(&mut content);
        // What is left of it where that was not all.
        let _ = std::io::copy(&mut content, &mut std::io::sink());
        let unpacked = left.saturating_add(1) - content.limit();
        let Some(rest) = left.checked_sub(unpacked) else {
            return Err(room.too_large("unpacks (zip)", None));
        };
        if !closed {
            let what = format!("`{name}` in it does not end as it should");
            return Err(InputError::damaged(room.path, what));
        }
        left = rest;
    }
    Ok(())
}

/// Whether every element of a part ends. The reader of .ods waits for ends for ever.
fn is_closed(part: impl Read) -> bool {
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(part));
    let (mut open, mut room) = (0_usize, Vec::new());
    loop {
        room.clear();
        match reader.read_event_into(&mut room) {
            Ok(Event::Start(_)) => open += 1,
            // Ends without a beginning are errors.
            Ok(Event::End(_)) => open = open.saturating_sub(1),
            Ok(Event::Eof) => return open == 0,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Refuses a sheet with two cells a world apart: a sheet in memory is a whole rectangle.
fn check_extent(
    room: Room<'_>,
    book: &mut Sheets<Cursor<&[u8]>>,
    name: &str,
) -> Result<(), InputError> {
    let damaged = |e: &dyn std::fmt::Display| InputError::damaged(room.path, e);
    let (mut first, mut last) = ((u32::MAX, u32::MAX), (0, 0));
    let mut meet = |(row, column): (u32, u32)| {
        first = (row.min(first.0), column.min(first.1));
        last = (row.max(last.0), column.max(last.1));
    };
    match book {
        Sheets::Xlsx(book) => {
            // What is no sheet of cells (a chart, say) is for the reader to explain.
            let Ok(mut cells) = book.worksheet_cells_reader(name) else { return Ok(()) };
            while let Some(cell) = cells.next_cell().map_err(|e| damaged(&e))? {
                meet(cell.get_position());
            }
        }
        Sheets::Xlsb(book) => {
            let Ok(mut cells) = book.worksheet_cells_reader(name) else { return Ok(()) };
            while let Some(cell) = cells.next_cell().map_err(|e| damaged(&e))? {
                meet(cell.get_position());
            }
        }
        // Made into a rectangle when they were opened: the one has at most 65,536 rows, for the other
        // the reader has a limit of its own.
        Sheets::Xls(_) | Sheets::Ods(_) => return Ok(()),
    }
    if first.0 > last.0 {
        return Ok(());
    }
    let (rows, columns) = (last.0 - first.0 + 1, last.1 - first.1 + 1);
    let what = format!("has cells that lie {rows} rows and {columns} columns apart");
    room.check(what, (rows as usize).saturating_mul(columns as usize), 2 * size_of::<Data>())
}

fn put<T: Number>(sink: &mut Sink<'_, T>, plan: &Plan, column: usize, cell: &Data, line: u64) {
    let number = match cell {
        Data::Int(value) => Some(*value as f64),
        Data::Float(value) => Some(*value),
        _ => None,
    };
    match (plan.roles[column], number) {
        (Role::Number(slot), Some(value)) if plan.na_values.is_empty() && value.is_finite() => {
            sink.wide(slot, value);
        }
        _ if is_empty(cell) => sink.missing(column, line),
        _ => sink.cell(column, text(cell).as_bytes(), line),
    }
}

/// Nothing, blanks, or an error such as #N/A.
fn is_empty(cell: &Data) -> bool {
    match cell {
        Data::Empty | Data::Error(_) => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A cell as a text file would have it.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(when) if when.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = when.to_ymd_hms_milli();
            match (hour, minute, second) {
                (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        other => other.to_string(),
    }
}
