//! JSON lines: one object a line; the columns are all keys, in the order they first appear.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::cells::{Number, Sink};
use super::decimals::settled;
use super::error::InputError;
use super::plan::{Plan, Reading, Role};
use super::room::Room;
use super::source::check_encoding;
use super::table::Table;

/// Parses JSON lines; `planner` turns the column names into roles.
///
/// A key that a line does not have is a missing cell, as is `null`.
pub(crate) fn parse<T: Number>(
    room: Room<'_>,
    bytes: &[u8],
    planner: &dyn Fn(Vec<String>) -> Result<Plan, InputError>,
) -> Result<Table<T>, InputError> {
    let path = room.path;
    check_encoding(path, bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let objects = || {
        let lines = (1..).zip(bytes.split(|&byte| byte == b'\n'));
        lines.filter(|(_, text)| !text.trim_ascii().is_empty())
    };
    let mut names = Vec::new();
    let mut column = HashMap::new();
    let mut records = 0_usize;
    for (line, object) in objects() {
        for (key, _) in parse_line::<Entries<IgnoredAny>>(path, line, object)?.0 {
            if !column.contains_key(&key) {
                column.insert(key.clone(), names.len());
                names.push(key);
            }
        }
        records += 1;
    }
    if names.is_empty() {
        return Err(InputError::Empty {
            path: path.into(),
            what: "one JSON object a line is expected".into(),
        });
    }

    let mut plan = planner(names)?;
    plan.most = room.most();
    // Of every line a look at every key.
    let what = format!("has {records} lines and {} different keys", plan.names.len());
    room.check(&what, records.saturating_mul(plan.names.len()), size_of::<T>())?;
    settled(plan, false, |plan| {
        let looking = plan.reading == Reading::Looking;
        let mut numbers = room.zeros(&what, if looking { 0 } else { records }, plan.numbers)?;
        let mut sink = Sink::new(plan, &mut numbers);
        let mut row = vec![Value::Null; plan.names.len()];
        for (line, object) in objects() {
            row.fill(Value::Null);
            for (key, value) in parse_line::<Entries<Value>>(path, line, object)?.0 {
                row[column[&key]] = value;
            }
            for (index, value) in row.iter().enumerate() {
                let role = (plan.roles[index], plan.na_values.is_empty());
                put(&mut sink, index, role, value, line);
            }
            sink.end_row(line);
        }
        let part = sink.finish();
        Ok((numbers, part))
    })
}

/// `plain` where a number is what it seems to be.
fn put<T: Number>(
    sink: &mut Sink<'_, T>,
    column: usize,
    (role, plain): (Role, bool),
    value: &Value,
    line: u64,
) {
    match (role, value) {
        (Role::Unused, _) => {}
        (_, Value::Null) => sink.missing(column, line),
        (_, Value::String(text)) => sink.cell(column, text.as_bytes(), line),
        (Role::Number(slot), Value::Number(number)) if plain => match number.as_f64() {
            Some(number) => sink.wide(slot, number),
            None => sink.cell(column, number.to_string().as_bytes(), line),
        },
        // Truth values, lists and objects: categories at best, never numbers.
        (_, other) => sink.cell(column, other.to_string().as_bytes(), line),
    }
}

fn parse_line<'a, L: Deserialize<'a>>(
    path: &str,
    line: u64,
    text: &'a [u8],
) -> Result<L, InputError> {
    serde_json::from_slice(text).map_err(|error| InputError::BadLine {
        path: path.into(),
        line,
        what: format!("not a JSON object ({error}); one object a line is expected"),
    })
}

/// The keys and values of an object, in order; `IgnoredAny` values are skipped over.
struct Entries<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collect(PhantomData))
    }
}

struct Collect<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Collect<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
