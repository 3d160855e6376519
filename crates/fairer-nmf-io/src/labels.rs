//! Group labels and feature names from files of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use fairer_nmf::rows::GroupCodes;

use super::assemble::weight;
use super::dataset::Dataset;
use super::error::InputError;
use super::options::{Format, GroupsSource};
use super::plan::Plan;
use super::room::InputLimit;
use super::source::{Source, check_encoding};
use super::{delimited, jsonl, npy, npz, text};

/// Reads one label (or name) a line, or a column; `option` is how the user asked for it.
///
/// # Errors
/// If the file cannot be read or does not hold such a column.
pub fn read(
    source: &GroupsSource,
    option: &'static str,
    limit: InputLimit,
) -> Result<Vec<String>, InputError> {
    read_any(source, option, limit).map_err(InputError::of_all_rows)
}

fn read_any(
    source: &GroupsSource,
    option: &'static str,
    limit: InputLimit,
) -> Result<Vec<String>, InputError> {
    let GroupsSource { path, column } = source;
    let format = Format::of(path);
    let column = column.as_deref();
    if format == Some(Format::Parquet) {
        return parquet_column(path, column, option, limit);
    }
    let bytes = Source::open(path, limit)?;
    let room = bytes.room(path);
    let planner = |column: &str| {
        let column = column.to_string();
        move |names| Plan::one_column(path, names, &column, option)
    };
    match (format, column) {
        (Some(Format::Npy), None) => npy::labels(path, &bytes),
        (Some(Format::Npz), member) => npz::labels(room, &bytes, member),
        (Some(Format::Csv | Format::Tsv), Some(column)) => {
            Ok(delimited::parse::<f64>(room, &bytes, None, &planner(column))?.into_words())
        }
        (Some(Format::JsonLines), Some(column)) => {
            Ok(jsonl::parse::<f64>(room, &bytes, &planner(column))?.into_words())
        }
        (Some(Format::JsonLines), None) => Err(which_column(path, option)),
        (Some(Format::Csv | Format::Tsv), None) => {
            let lines = lines(path, &bytes)?;
            // One label a line is a fine CSV without a header; several columns are not labels.
            match lines.iter().any(|line| line.contains([',', '\t', ';'])) {
                true => Err(which_column(path, option)),
                false => Ok(lines),
            }
        }
        (_, Some(column)) => Err(InputError::Unsupported {
            path: path.into(),
            what: format!("no columns, so no `{column}`"),
            fix: "a column is named for a table, as in FILE.csv:COLUMN".into(),
        }),
        (_, None) => lines(path, &bytes),
    }
}

/// The weights of the rows of a data set from a file with one of every record.
pub(crate) fn weights(
    name: &str,
    dataset: &Dataset,
    limit: InputLimit,
) -> Result<Vec<f64>, InputError> {
    let Ok(source) = name.parse::<GroupsSource>();
    let texts = read(&source, "--weights", limit)?;
    let (found, expected) = (texts.len(), dataset.records());
    if found != expected {
        return Err(InputError::WrongCount {
            path: source.path,
            what: "weights",
            found,
            data: dataset.path().into(),
            expected,
            axis: "rows",
            turned: false,
        });
    }
    let rows = 0..dataset.matrix.shape().0;
    rows.map(|row| {
        weight(&texts[dataset.record(row)], &source.path, dataset.record(row) as u64 + 1)
    })
    .collect()
}

/// Groups that may have rows in common: `table`, read from `path`, has the same rows and one column of
/// 0 and 1 a group.
///
/// # Errors
/// It has other rows, or other numbers.
pub(crate) fn members(
    path: &str,
    table: &Dataset,
    dataset: &Dataset,
) -> Result<Vec<(String, Vec<bool>)>, InputError> {
    let ((found, groups), expected) = (table.matrix.shape(), dataset.records());
    if found != expected {
        return Err(InputError::WrongCount {
            path: path.into(),
            what: "rows",
            found,
            data: dataset.path().into(),
            expected,
            axis: "rows",
            turned: false,
        });
    }
    let kept: Vec<usize> = (0..dataset.matrix.shape().0).map(|row| dataset.record(row)).collect();
    let mut members: Vec<(String, Vec<bool>)> =
        table.features.iter().map(|name| (name.clone(), vec![false; kept.len()])).collect();
    for (place, &row) in kept.iter().enumerate() {
        for (column, (_, inside)) in members.iter_mut().enumerate().take(groups) {
            inside[place] = match table.matrix.entry(row, column) {
                0.0 => false,
                1.0 => true,
                other => {
                    let place = table.describe_cell(row, column);
                    let what = format!("{place} has {other}: a row is in a group (1) or not (0)");
                    return Err(InputError::BadOption { option: "--membership", what });
                }
            };
        }
    }
    Ok(members)
}

/// Reads the group of every row as a number: a text file (`.txt`) line by line, so that no label is
/// kept twice; others as [`read`] does.
///
/// # Errors
/// As [`read`].
pub fn codes(
    source: &GroupsSource,
    option: &'static str,
    limit: InputLimit,
) -> Result<GroupCodes, InputError> {
    let path = &source.path;
    if source.column.is_some() || !path.to_lowercase().ends_with(".txt") {
        return Ok(GroupCodes::from_labels(read(source, option, limit)?));
    }
    let file = File::open(path).map_err(|e| InputError::io(path, e))?;
    let mut lines = BufReader::new(file).split(b'\n').enumerate();
    let (mut wrong, mut blank) = (None, None);
    let labels = std::iter::from_fn(|| {
        let (number, line) = lines.next()?;
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                wrong = Some(InputError::io(path, error));
                return None;
            }
        };
        // What Windows programs call Unicode shows in the first bytes.
        if number == 0
            && let Err(error) = check_encoding(path, &line)
        {
            wrong = Some(error);
            return None;
        }
        let label = label(number, &line);
        // Only the end of the file may be blank.
        match (label.is_empty(), blank) {
            (true, None) => blank = Some(number),
            (false, Some(_)) => {
                wrong = Some(blank_line(path, blank.unwrap_or_default()));
                return None;
            }
            _ => {}
        }
        Some(label)
    });
    let mut groups = GroupCodes::from_labels(labels.filter(|label| !label.is_empty()));
    match wrong {
        Some(error) => Err(error),
        None => {
            groups.codes.shrink_to_fit();
            Ok(groups)
        }
    }
}

/// What stands in a line, whose number counts from 0. Every line by itself is UTF-8 or else ISO-8859-1, as
/// every cell of a table is.
fn label(number: usize, line: &[u8]) -> String {
    let line = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 0).unwrap_or(line);
    text::decode(line).trim().to_string()
}

fn blank_line(path: &str, line: usize) -> InputError {
    InputError::BadLine {
        path: path.into(),
        line: line as u64 + 1,
        what: "the line is blank; one label or name a line is expected".into(),
    }
}

#[cfg(feature = "parquet")]
fn parquet_column(
    path: &str,
    column: Option<&str>,
    option: &'static str,
    limit: InputLimit,
) -> Result<Vec<String>, InputError> {
    let column = column.ok_or_else(|| which_column(path, option))?;
    let planner = |names, _: &[String]| Plan::one_column(path, names, column, option);
    Ok(super::parquet::parse::<f64>(path, limit, &planner)?.into_words())
}

#[cfg(not(feature = "parquet"))]
fn parquet_column(
    path: &str,
    _column: Option<&str>,
    _option: &'static str,
    _limit: InputLimit,
) -> Result<Vec<String>, InputError> {
    Err(InputError::parquet_is_off(path))
}

fn which_column(path: &str, option: &str) -> InputError {
    InputError::Unsupported {
        path: path.into(),
        what: "several columns".into(),
        fix: format!("name the one that is meant, as in `{option} {path}:COLUMN`"),
    }
}

/// The lines of a text file; only the end of the file may be blank.
pub(crate) fn lines(path: &str, bytes: &[u8]) -> Result<Vec<String>, InputError> {
    check_encoding(path, bytes)?;
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    let mut lines: Vec<String> = lines.map(|(number, line)| label(number, line)).collect();
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    match lines.iter().position(String::is_empty) {
        Some(blank) => Err(blank_line(path, blank)),
        None => Ok(lines),
    }
}

/// One name a line; of lines with tabs the second column, which is the name of a gene behind its
/// identifier. A name that is there already gets a number: GENE, GENE-1.
pub(crate) fn names(path: &str, limit: InputLimit) -> Result<Vec<String>, InputError> {
    let lines = lines(path, &Source::open(path, limit)?)?;
    let name = |line: &String| {
        let mut cells = line.split('\t');
        let first = cells.next().unwrap_or_default();
        cells.next().unwrap_or(first).trim().to_owned()
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    let has_columns = lines.iter().any(|line| line.contains('\t'));
    let mut names: Vec<String> = lines.iter().map(name).collect();
    if has_columns {
        for name in &mut names {
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                *name = format!("{name}-{}", *count - 1);
            }
        }
    }
    Ok(names)
}
