//! What the cells of a column have in common, counted as they pass.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::written::{self, Decimal};

/// Values that are kept with their counts: more are no categories.
const KEPT: usize = 200;
/// Different values that are told apart; beyond, "at least so many" is all that is known.
const COUNTED: usize = 1 << 20;
/// Texts among numbers that are kept as examples.
const STRAYS: usize = 4;

/// A column on its way through the reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    pub(super) cells: usize,
    pub(super) missing: usize,
    /// The first values, each with its count.
    pub(super) values: Vec<(String, usize)>,
    place: HashMap<String, usize>,
    seen: HashSet<u64>,
    /// Read with a decimal point, and with a comma.
    pub(super) numbers: [Numbers; 2],
    pub(super) dates: usize,
    /// Words of all cells, as blanks divide them.
    pub(super) words: usize,
}

/// The cells that are numbers.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(super) count: usize,
    pub(super) whole: usize,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Numbers such as 00123, which are none.
    pub(super) padded: usize,
    /// Some of the others.
    pub(super) strays: Vec<String>,
}

impl Default for Numbers {
    fn default() -> Self {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0, whole: 0, least, most, padded: 0, strays: Vec::new() }
    }
}

impl Profile {
    /// A cell without a value.
    pub(crate) fn missing(&mut self) {
        self.cells += 1;
        self.missing += 1;
    }

    /// A cell with a value.
    pub(crate) fn add(&mut self, cell: &str) {
        self.cells += 1;
        self.count_value(cell, 1);
        if self.seen.len() < COUNTED {
            let mut hasher = DefaultHasher::new();
            cell.hash(&mut hasher);
            self.seen.insert(hasher.finish());
        }
        self.words += cell.split_whitespace().count();
        self.dates += usize::from(is_date(cell));
        let plain = fast_float2::parse::<f64, _>(cell).ok();
        let marked = cell.contains(['.', ',']);
        for (numbers, decimal) in self.numbers.iter_mut().zip([Decimal::Point, Decimal::Comma]) {
            let value = match plain {
                Some(value) if decimal == Decimal::Point || !marked => Some(value),
                _ => written::parse(cell, decimal).map(|w| w.value),
            };
            numbers.add(cell, value);
        }
    }

    fn count_value(&mut self, cell: &str, count: usize) {
        match self.place.get(cell) {
            Some(&at) => self.values[at].1 += count,
            None if self.values.len() < KEPT => {
                self.place.insert(cell.to_owned(), self.values.len());
                self.values.push((cell.to_owned(), count));
            }
            None => {}
        }
    }

    /// Takes what a later part of the file holds.
    pub(crate) fn append(&mut self, later: Profile) {
        self.cells += later.cells;
        self.missing += later.missing;
        self.dates += later.dates;
        self.words += later.words;
        for (value, count) in &later.values {
            self.count_value(value, *count);
        }
        let room = COUNTED.saturating_sub(self.seen.len());
        self.seen.extend(later.seen.into_iter().take(room));
        for (numbers, more) in self.numbers.iter_mut().zip(later.numbers) {
            numbers.append(more);
        }
    }

    /// Different values.
    pub(crate) fn distinct(&self) -> usize {
        self.seen.len()
    }
}

impl Numbers {
    fn add(&mut self, cell: &str, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            if self.strays.len() < STRAYS && !self.strays.iter().any(|stray| stray == cell) {
                self.strays.push(cell.to_owned());
            }
            return;
        };
        self.count += 1;
        self.whole += usize::from(value.fract() == 0.0);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        let digits = cell.bytes().all(|b| b.is_ascii_digit());
        self.padded += usize::from(digits && cell.len() > 1 && cell.starts_with('0'));
    }

    fn append(&mut self, later: Numbers) {
        self.count += later.count;
        self.whole += later.whole;
        self.least = self.least.min(later.least);
        self.most = self.most.max(later.most);
        self.padded += later.padded;
        for stray in later.strays {
            if self.strays.len() < STRAYS && !self.strays.contains(&stray) {
                self.strays.push(stray);
            }
        }
    }
}

/// `2024-03-01`, `1.3.2024`, `03/01/24`, each also with a time after it, and times alone.
fn is_date(cell: &str) -> bool {
    let (day, time) = match cell.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time.trim_end_matches('Z'))),
        None => (cell, None),
    };
    let numbers = |text: &str, mark: char| -> Option<Vec<(usize, u32)>> {
        text.split(mark).map(|part| Some((part.len(), part.parse().ok()?))).collect()
    };
    let is_time = |text: &str| {
        let text = text.split(['.', '+']).next().unwrap_or_default();
        numbers(text, ':').is_some_and(|parts| {
            matches!(parts.len(), 2..=3) && parts[0].1 < 24 && parts[1..].iter().all(|p| p.1 < 60)
        })
    };
    let is_day = ['-', '/', '.'].into_iter().any(|mark| {
        let Some(parts) = numbers(day, mark) else { return false };
        let [(a, year), (_, month), (_, last)] = parts[..] else { return false };
        let calendar = |day: u32, month: u32| (1..=31).contains(&day) && (1..=12).contains(&month);
        match a {
            4 => calendar(last, month) && (1000..3000).contains(&year),
            _ => {
                let (day, year_length) = (year, parts[2].0);
                matches!(year_length, 2 | 4) && (calendar(day, month) || calendar(month, day))
            }
        }
    });
    match time {
        Some(time) => is_day && is_time(time),
        None => is_day || is_time(day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_numbers_and_versions() {
        for date in
            ["2024-03-01", "1.3.2024", "31/12/99", "12/31/1999", "2024-03-01T10:00:00Z", "23:59"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in ["1.5", "2024", "1.234.567", "99.99.2024", "a-b-c", "192.168.1.1", "25:00", ""]
        {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn parts_of_a_file_add_up() {
        let cells = ["1", "2,5", "x", "1", "3", "x", "007"];
        let mut whole = Profile::default();
        cells.iter().for_each(|cell| whole.add(cell));
        let mut parts = Profile::default();
        for cell in cells {
            let mut part = Profile::default();
            part.add(cell);
            parts.append(part);
        }
        assert_eq!(format!("{:?}", whole.values), format!("{:?}", parts.values));
        assert_eq!(whole.distinct(), 5);
        assert_eq!(parts.distinct(), 5);
        assert_eq!([&whole, &parts].map(|p| p.numbers[1].count), [5, 5]);
        assert_eq!([&whole, &parts].map(|p| p.numbers[0].count), [4, 4]);
        assert_eq!(parts.numbers[1].padded, 1);
    }
}
