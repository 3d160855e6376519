//! Numbers as people write them: `1.234,56 €`, `12 %`, `1'000`, `−3`.
//!
//! A comma or a point is either the decimal mark or stands between thousands. Which of the two is
//! told by the cells themselves where one of them makes sense one way only ([`Evidence`]); a whole
//! file is written one way. A unit (`%`, a currency) is left out: `12 %` is 12.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What stands before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// Signs and codes that may stand before or after a number. The byte 0x80 is € in Windows-1252,
/// which German programs still write.
const UNITS: [&str; 22] = [
    "%", "‰", "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₴", "zł", "kr", "\u{80}", "EUR", "USD",
    "GBP", "CHF", "JPY", "SEK", "NOK",
];

/// A number that was read, and its unit as a bit: 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    pub value: f64,
    pub unit: u32,
}

/// The units of some bits, for a message.
pub(crate) fn units(bits: u32) -> Vec<&'static str> {
    let named = UNITS.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0);
    named.map(|(_, unit)| if *unit == "\u{80}" { "€" } else { unit }).collect()
}

/// A cell as a number; none where it is not one.
pub(crate) fn parse(cell: &str, decimal: Decimal) -> Option<Written> {
    let mut text = trimmed(cell);
    let mut negative = false;
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        // As accountants write it.
        (text, negative) = (trimmed(inner), true);
    }
    let (mut unit, mut signed) = (0, negative);
    // The sign stands before the unit or after it.
    for _ in 0..2 {
        if !signed && let Some(rest) = text.strip_prefix(['-', '−', '+']) {
            (negative, signed) = (!text.starts_with('+'), true);
            text = trimmed(rest);
        }
        if unit == 0
            && let Some((bit, rest)) = strip_unit(text)
        {
            (unit, text) = (bit, rest);
        }
    }
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let exponent_is_one = |e: &str| e.parse::<i32>().is_ok();
    if !exponent.is_empty() && !exponent_is_one(&exponent[1..]) {
        return None;
    }
    let (mark, other) = match decimal {
        Decimal::Point => ('.', ','),
        Decimal::Comma => (',', '.'),
    };
    let (whole, fraction) = mantissa.split_once(mark).unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let whole = without_thousands(whole, other)?;
    if !digits(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let plain = format!("{whole}.{fraction}{exponent}");
    let value: f64 = fast_float2::parse(plain.trim_end_matches('.')).ok()?;
    Some(Written { value: if negative { -value } else { value }, unit })
}

/// Digits without the marks between thousands; none where anything else is between them.
fn without_thousands(whole: &str, other: char) -> Option<Cow<'_, str>> {
    let Some(mark) = whole.chars().find(|c| !c.is_ascii_digit()) else {
        return Some(Cow::Borrowed(whole));
    };
    if mark != other && !matches!(mark, '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}') {
        return None;
    }
    let mut groups = whole.split(mark);
    let first = groups.next().unwrap_or_default();
    let right = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
    // Nobody writes 0,123 or 012.345 for a number above a thousand.
    let leads = matches!(first.len(), 1..=3) && !first.starts_with('0');
    (leads && groups.all(right)).then(|| Cow::Owned(whole.replace(mark, "")))
}

fn strip_unit(text: &str) -> Option<(u32, &str)> {
    // Most cells begin and end with a digit, as no unit does.
    if let [b'0'..=b'9', .., b'0'..=b'9'] | [b'0'..=b'9'] = text.as_bytes() {
        return None;
    }
    UNITS.iter().enumerate().find_map(|(i, unit)| {
        let rest = text.strip_suffix(unit).or_else(|| text.strip_prefix(unit))?;
        Some((1 << i, trimmed(rest)))
    })
}

/// Blanks of every kind, the one that does not break included.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{a0}' || c == '\u{202f}')
}

/// What a cell tells of the decimal mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tells {
    /// It is no number, or the same one either way.
    Nothing,
    /// It is a number with this mark only.
    Mark(Decimal),
    /// It is another number each way, as `1,234`.
    Either,
}

/// What a cell tells of the decimal mark.
pub(crate) fn tells(cell: &str) -> Tells {
    match (parse(cell, Decimal::Point), parse(cell, Decimal::Comma)) {
        (Some(point), Some(comma)) if point != comma => Tells::Either,
        (Some(_), None) => Tells::Mark(Decimal::Point),
        (None, Some(_)) => Tells::Mark(Decimal::Comma),
        _ => Tells::Nothing,
    }
}

/// A cell that told something: line, column, what it holds.
pub(crate) type Seen = (u64, usize, String);

/// What all cells of a file tell; the first of each kind stands for the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    pub point: Option<Seen>,
    pub comma: Option<Seen>,
    /// With a comma, as `1,234`.
    pub open_comma: Option<Seen>,
    /// With a point, as `1.234`: a plain number, but in a German table.
    pub open_point: Option<Seen>,
}

impl Evidence {
    pub(crate) fn add(&mut self, cell: &str, column: usize, line: u64) {
        let place = match tells(cell) {
            Tells::Nothing => return,
            Tells::Mark(Decimal::Point) => &mut self.point,
            Tells::Mark(Decimal::Comma) => &mut self.comma,
            Tells::Either if cell.contains(',') => &mut self.open_comma,
            Tells::Either => &mut self.open_point,
        };
        place.get_or_insert_with(|| (line, column, cell.chars().take(40).collect()));
    }

    /// Takes what a later part of the file told, `lines` further on.
    pub(crate) fn append(&mut self, later: Evidence, lines: u64) {
        let pairs = [
            (&mut self.point, later.point),
            (&mut self.comma, later.comma),
            (&mut self.open_comma, later.open_comma),
            (&mut self.open_point, later.open_point),
        ];
        for (first, later) in pairs {
            if first.is_none() {
                *first = later.map(|(line, column, cell)| (line + lines, column, cell));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unit_looks_like_a_number() {
        assert!(UNITS.iter().all(|unit| unit.bytes().all(|b| !b.is_ascii_digit())));
        assert_eq!(UNITS.map(|unit| strip_unit(&format!("1{unit}")).is_some()), [true; 22]);
        assert_eq!((strip_unit("7"), strip_unit("1 234,5")), (None, None));
    }

    #[test]
    fn people_write_numbers_in_many_ways() {
        let comma = |cell| parse(cell, Decimal::Comma).map(|w| w.value);
        let point = |cell| parse(cell, Decimal::Point).map(|w| w.value);
        for (cell, value) in [
            ("1.234,56", 1234.56),
            ("12,5 %", 12.5),
            ("1.234.567", 1_234_567.0),
            ("€ 3,50", 3.5),
            ("3,50\u{a0}€", 3.5),
            ("1'234,5 CHF", 1234.5),
            ("1 234 567,5", 1_234_567.5),
            ("−2,5", -2.5),
            ("-€2,5", -2.5),
            ("1,5e3", 1500.0),
            (",5", 0.5),
            ("7,", 7.0),
        ] {
            assert_eq!(comma(cell), Some(value), "{cell}");
        }
        for (cell, value) in
            [("$1,234.50", 1234.5), ("(12)", -12.0), ("1,000", 1000.0), ("+3", 3.0), ("1e-3", 1e-3)]
        {
            assert_eq!(point(cell), Some(value), "{cell}");
        }
        for cell in ["", "-", ".", "1.5", "12.34.567", "0.123", "1,2,3", "a", "1a", "01.02.2023"] {
            assert_eq!(comma(cell), None, "{cell}");
        }
        for cell in ["1,5", "0,123", "1.2.3", "1,23,456", "%", "e5", "1e", "--1", "1 2"] {
            assert_eq!(point(cell), None, "{cell}");
        }
    }

    #[test]
    fn a_cell_tells_its_mark_where_it_makes_sense_one_way_only() {
        for (cell, expected) in [
            ("1,5", Tells::Mark(Decimal::Comma)),
            ("0,123", Tells::Mark(Decimal::Comma)),
            ("1.234,5", Tells::Mark(Decimal::Comma)),
            ("1.234.567", Tells::Mark(Decimal::Comma)),
            ("1.5", Tells::Mark(Decimal::Point)),
            ("0.123", Tells::Mark(Decimal::Point)),
            ("1,234,567", Tells::Mark(Decimal::Point)),
            ("1,234", Tells::Either),
            ("1.234", Tells::Either),
            ("42", Tells::Nothing),
            ("12 %", Tells::Nothing),
            ("word", Tells::Nothing),
        ] {
            assert_eq!(tells(cell), expected, "{cell}");
        }
    }

    #[test]
    fn units_have_names() {
        let unit =
            parse("3 %", Decimal::Point).unwrap().unit | parse("€5", Decimal::Point).unwrap().unit;
        assert_eq!(units(unit), ["%", "€"]);
        assert_eq!(parse("5", Decimal::Point).unwrap().unit, 0);
    }
}
