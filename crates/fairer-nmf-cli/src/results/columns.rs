//! The columns of a table for people, and the command that works on them.

use fairer_nmf_io::{
    Column, Decimal, Kind, Look, Missing, ReadOptions, in_a_shell, read, typed_columns,
};

use crate::args::typed;
use crate::screen::{PLAIN, Table, printable};

/// Every column in a line, and what to mind below.
pub(crate) fn column_table(columns: &[Column]) -> String {
    let mut table = Table::new(2, &["column", "kind", "distinct", "missing", "values"]);
    for column in columns {
        let values = match (column.range, column.kind) {
            (Some((least, most)), _) => format!("{least} to {most}"),
            (None, Kind::Text) => shown(&column.examples, 1),
            (None, _) => shown(&column.examples, 3),
        };
        let numbers = [column.distinct, column.missing].map(|n| n.to_string());
        let cells = [column.name.clone(), column.kind.name().to_owned()];
        table.row(PLAIN, cells.into_iter().chain(numbers).chain([values]));
    }
    let mut text = table.render();
    for column in columns {
        for flag in &column.flags {
            text += &format!("  {}: {}\n", printable(&column.name), printable(&flag.sentence));
        }
    }
    text
}

fn shown(examples: &[String], most: usize) -> String {
    examples.iter().take(most).cloned().collect::<Vec<_>>().join(", ")
}

/// What was typed as a fit that would start, with what is missing filled in; none where that is
/// not known.
pub(crate) fn proposed(path: &str, look: &Look, options: &ReadOptions) -> Option<String> {
    let found = look.proposal(options);
    let mut filled = options.clone();
    let mut more = Vec::new();
    let mut add = |option: &str, names: &[String]| {
        if !names.is_empty() {
            more.push(typed_columns(option, names));
        }
    };
    add("--text", found.text.as_slice());
    add("--group-by", found.group_by.as_slice());
    add("--drop", &found.drop);
    add("--one-hot", &found.one_hot);
    add("--na-values", &found.na_values);
    if found.drop_rows {
        more.push("--missing drop-rows".to_owned());
        filled.missing = Missing::DropRows;
    }
    if let Some(column) = found.text {
        let topics = fairer_nmf_io::TextOptions::topics();
        filled.text = Some(topics.with(|t| t.column = Some(column)));
    }
    filled.group_by.extend(found.group_by);
    filled.drop.extend(found.drop);
    filled.one_hot.extend(found.one_hot);
    filled.na_values.extend(found.na_values);
    let mut read_with = |decimal: Option<Decimal>| {
        filled.decimal = decimal.or(options.decimal);
        let found = read(path, &filled).ok();
        found.filter(|dataset| dataset.labels.is_some() || !dataset.families.is_empty())
    };
    let dataset = match read_with(None) {
        Some(dataset) => dataset,
        None => {
            // Which of the two it is, the user has to say: where the cells do not tell.
            more.push("--decimal comma|point".to_owned());
            read_with(Some(Decimal::Comma))?
        }
    };
    let (rows, features) = dataset.matrix.shape();
    let rank = match rows.min(features) {
        ..4 => "1",
        // Its choice needs every cell.
        4.. if dataset.unobserved => "2",
        4.. => "auto",
    };
    Some(format!("{} {}", as_fit(rank), more.join(" ")).trim_end().to_owned())
}

/// What was typed, as a fit, of this rank where none was typed.
fn as_fit(otherwise: &str) -> String {
    let mut words = vec!["fairer-nmf".to_owned(), "fit".to_owned()];
    let mut ranked = false;
    let mut typed = typed().skip(2).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = typed.next() {
        ranked |= word.starts_with("--rank") || word.starts_with("-r");
        match word.as_str() {
            "--json" => drop(typed.next()),
            "--force" | "--quiet" | "-q" | "--no-progress" => {}
            word if word.starts_with("--json=") => {}
            word => words.push(in_a_shell(word).into_owned()),
        }
    }
    if !ranked {
        words.push(format!("--rank {otherwise}"));
    }
    words.join(" ")
}
