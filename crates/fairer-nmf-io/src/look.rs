//! Every column of a table, described: its kind, its values, and what to do with it.

use std::collections::HashSet;

use fairer_nmf::Note;
use serde::Serialize;

use super::categories::spellings;
use super::columns;
use super::columns::typed;
use super::error::InputError;
use super::options::ReadOptions;
use super::profile::Profile;
use super::recipe::Missing;
use super::written::Decimal;

/// Columns of words with at most so many values are worth a 0/1 column each.
const FEW: usize = 20;
/// With more groups than this nobody reads the table.
const GROUPS: usize = 12;

/// What a column seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Amounts.
    Number,
    /// Words that repeat.
    Category,
    /// Prose.
    Text,
    /// Days or times.
    Date,
    /// Another value in every row: it says who, not what.
    Id,
    /// One value or none.
    Constant,
}

impl Kind {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Category => "category",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Id => "id",
            Kind::Constant => "constant",
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it seems to be.
    pub kind: Kind,
    /// Different values; beyond a million, at least so many.
    pub distinct: usize,
    /// Cells without a value.
    pub missing: usize,
    /// The smallest and the largest number, for numbers.
    pub range: Option<(f64, f64)>,
    /// Frequent values, for the others.
    pub examples: Vec<String>,
    /// What there is to know.
    pub flags: Vec<Note>,
    /// Texts among numbers, where they are few and of few kinds.
    #[serde(skip)]
    strays: Vec<String>,
}

/// A table as a whole.
#[derive(Debug)]
pub struct Look {
    /// Rows after the header.
    pub rows: usize,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The decimal mark, where its cells tell one.
    pub decimal: Option<Decimal>,
}

/// What to do with the columns of a table that no option speaks of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// Where no groups were asked for: a column that may be them.
    pub group_by: Option<String>,
    /// Ids, dates, constants, and words with too many values.
    pub drop: Vec<String>,
    /// Words with few values.
    pub one_hot: Vec<String>,
    /// Prose.
    pub text: Option<String>,
    /// Texts that seem to mean "no value".
    pub na_values: Vec<String>,
    /// Whether rows have to be left out because of missing cells.
    pub drop_rows: bool,
}

impl Column {
    pub(crate) fn of(name: &str, profile: &Profile, decimal: Decimal) -> Self {
        let numbers = &profile.numbers[usize::from(decimal == Decimal::Comma)];
        let (present, distinct) = (profile.cells - profile.missing, profile.distinct());
        let mostly = |count: usize, tenths: usize| present > 0 && 10 * count >= tenths * present;
        let kind = if distinct <= 1 {
            Kind::Constant
        } else if mostly(profile.dates, 9) {
            Kind::Date
        } else if mostly(numbers.count, 8) {
            match is_id(name, profile, decimal) {
                true => Kind::Id,
                false => Kind::Number,
            }
        } else if profile.words >= 4 * present && 2 * distinct > present {
            Kind::Text
        } else if 2 * distinct <= present || distinct <= FEW && (distinct < present || present < 10)
        {
            Kind::Category
        } else {
            Kind::Id
        };
        let mut flags = Vec::new();
        let mut strays = Vec::new();
        match kind {
            Kind::Constant if present == 0 => flags.push(Note::new("empty-column", "empty")),
            Kind::Constant => {
                flags.push(Note::new("constant", "the same in every row: it tells nothing"));
            }
            Kind::Id => flags.push(Note::new(
                "identifies-rows",
                "another value in nearly every row: it says who, not what",
            )),
            Kind::Number if numbers.count < present => {
                let shown: Vec<String> = numbers.strays.iter().map(|s| format!("`{s}`")).collect();
                let sentence = format!(
                    "{} of {present} cells are no numbers, such as {}",
                    present - numbers.count,
                    shown.join(", ")
                );
                flags.push(Note::new("texts-among-numbers", sentence));
                // As many as are kept may be more.
                if numbers.strays.len() < 4 {
                    strays = numbers.strays.clone();
                }
            }
            _ => {}
        }
        if kind == Kind::Number && numbers.least < 0.0 {
            flags.push(Note::new("negative", "has negative numbers, which NMF cannot take"));
        }
        if kind == Kind::Category {
            if distinct > FEW {
                let sentence = format!("{distinct} values: too many for 0/1 columns");
                flags.push(Note::new("many-values", sentence));
            }
            let repeated = profile.values.iter().map(|(value, _)| value.as_str());
            for set in spellings(repeated) {
                let names: Vec<String> =
                    set.iter().map(|(label, _)| format!("`{label}`")).collect();
                let sentence = format!("{} differ in case or blanks only", names.join(" and "));
                flags.push(Note::new("spellings-differ", sentence));
            }
        }
        let mut frequent: Vec<&(String, usize)> = profile.values.iter().collect();
        frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown = |(value, _): &&(String, usize)| value.chars().take(40).collect();
        Self {
            name: name.to_owned(),
            kind,
            distinct,
            missing: profile.missing,
            range: (kind == Kind::Number).then_some((numbers.least, numbers.most)),
            examples: frequent.iter().take(3).map(shown).collect(),
            flags,
            strays,
        }
    }
}

/// Whether whole numbers count or name the rows.
fn is_id(name: &str, profile: &Profile, decimal: Decimal) -> bool {
    let numbers = &profile.numbers[usize::from(decimal == Decimal::Comma)];
    let (count, distinct) = (numbers.count, profile.distinct());
    if numbers.whole < count || count < 5 {
        return false;
    }
    let unique = distinct == count;
    let counts = unique && numbers.most - numbers.least + 1.0 == count as f64;
    let called = says_id(name) && 10 * distinct >= 9 * count;
    counts || called || 2 * numbers.padded > count
}

/// Names of columns that say who.
fn says_id(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let known = [
        "id", "ids", "nr", "no", "uuid", "guid", "index", "idx", "key", "kennung", "ident",
        "rownames",
    ];
    words.iter().any(|word| known.contains(word)) || name.ends_with("ID") || name.ends_with("Id")
}

/// How likely a column names groups of people, by its name.
fn says_group(name: &str) -> bool {
    const KNOWN: [&str; 17] = [
        "sex",
        "gender",
        "geschlecht",
        "race",
        "ethnic",
        "herkunft",
        "nationality",
        "religion",
        "group",
        "gruppe",
        "cohort",
        "class",
        "klasse",
        "region",
        "cell_type",
        "celltype",
        "donor",
    ];
    let lower = name.to_lowercase();
    KNOWN.iter().any(|known| lower.contains(known))
}

impl Look {
    /// What to do with the columns that the options do not speak of.
    pub fn proposal(&self, options: &ReadOptions) -> Proposal {
        let names: Vec<String> = self.columns.iter().map(|c| c.name.clone()).collect();
        let mut spoken = columns::resolve(&options.group_by, &names);
        spoken.extend(columns::resolve(&options.group_by_each, &names));
        spoken.extend(options.weights.clone());
        spoken.extend(columns::resolve(&options.drop, &names));
        spoken.extend(columns::resolve(&options.one_hot, &names));
        spoken.extend(options.bins.iter().map(|bins| bins.column.clone()));
        spoken.extend(options.id.clone());
        let text = options.text.as_ref().and_then(|text| text.column.clone());
        spoken.extend(text.clone());
        let spoken: HashSet<String> = spoken.into_iter().collect();
        let free: Vec<&Column> =
            self.columns.iter().filter(|c| !spoken.contains(&c.name)).collect();
        let mut found = Proposal::default();
        let asked = !options.group_by.is_empty() || !options.group_by_each.is_empty();
        if !asked && options.groups.is_none() && options.bins.is_empty() {
            found.group_by = likely_groups(&free, self.rows);
        }
        if text.is_none() {
            let prose = free.iter().filter(|c| c.kind == Kind::Text);
            found.text = prose.max_by_key(|c| c.distinct).map(|c| c.name.clone());
        }
        // Beside documents nothing else is a feature.
        if text.is_some() || found.text.is_some() {
            return found;
        }
        for column in free {
            let negative = column.range.is_some_and(|(least, _)| least < 0.0);
            let name = column.name.clone();
            match column.kind {
                _ if Some(&column.name) == found.group_by.as_ref() => {
                    found.drop_rows |= column.missing > 0;
                    continue;
                }
                Kind::Number if negative => found.drop.push(name),
                Kind::Number if !column.flags.is_empty() && column.strays.is_empty() => {
                    found.drop.push(name);
                }
                Kind::Number => {
                    found.na_values.extend(column.strays.iter().cloned());
                    found.drop_rows |= column.missing > 0 || !column.strays.is_empty();
                }
                Kind::Category if column.distinct <= FEW => {
                    found.one_hot.push(name);
                    found.drop_rows |= column.missing > 0;
                }
                _ => found.drop.push(name),
            }
        }
        let used =
            |c: &&Column| options.group_by.contains(&c.name) || options.one_hot.contains(&c.name);
        found.drop_rows |= self.columns.iter().filter(used).any(|c| c.missing > 0);
        found.drop_rows &= options.missing == Missing::Error;
        found.na_values.sort();
        found.na_values.dedup();
        found
    }

    /// What to do with columns that are not numeric, for a message.
    pub(crate) fn advice(&self, wordy: &[String], options: &ReadOptions) -> Option<String> {
        let found = self.proposal(options);
        let both = |names: &[String]| -> Vec<String> {
            let names: HashSet<&String> = names.iter().collect();
            wordy.iter().filter(|name| names.contains(name)).cloned().collect()
        };
        let mut parts = Vec::new();
        if let Some(text) = found.text.filter(|text| wordy.contains(text)) {
            let only = std::slice::from_ref(&text);
            parts.push(format!("take `{text}` as documents with `{}`", typed("--text", only)));
            parts.push(format!("or leave it out with `{}`", typed("--drop", only)));
            return Some(parts.join(", "));
        }
        if let Some(group) = found.group_by.filter(|group| wordy.contains(group)) {
            let only = std::slice::from_ref(&group);
            parts.push(format!("`{group}` may be the groups: `{}`", typed("--group-by", only)));
        }
        let (drop, one_hot) = (both(&found.drop), both(&found.one_hot));
        if !drop.is_empty() {
            let dropped: HashSet<&String> = drop.iter().collect();
            let kinds = self.columns.iter().filter(|c| dropped.contains(&c.name));
            let mut kinds: Vec<&str> = kinds
                .map(|c| match c.kind {
                    Kind::Id => "ids",
                    Kind::Date => "dates",
                    Kind::Constant => "constants",
                    _ => "words of too many values",
                })
                .collect();
            kinds.sort_unstable();
            kinds.dedup();
            parts.push(format!("leave out {} with `{}`", kinds.join(", "), typed("--drop", &drop)));
        }
        if !one_hot.is_empty() {
            parts.push(format!(
                "turn words of few values into 0/1 columns with `{}`, or leave them out with `{}`",
                typed("--one-hot", &one_hot),
                typed("--drop", &one_hot)
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The column that is most likely to name groups.
fn likely_groups(free: &[&Column], rows: usize) -> Option<String> {
    let fits = |c: &&&Column| {
        let whole = c.range.is_some_and(|(least, most)| most - least < GROUPS as f64);
        let words = c.kind == Kind::Category || c.kind == Kind::Number && whole && c.distinct <= 6;
        words && (2..=GROUPS).contains(&c.distinct) && 5 * c.distinct <= rows.max(10)
    };
    let candidates: Vec<&&Column> = free.iter().filter(fits).collect();
    let named = candidates.iter().find(|c| says_group(&c.name));
    let first = candidates.iter().find(|c| c.kind == Kind::Category);
    named.or(first).map(|c| c.name.clone())
}

impl InputError {
    /// The same with what to do about columns that are not numeric, where `look` can tell.
    pub(crate) fn advised(
        self,
        look: impl FnOnce() -> Option<Look>,
        options: &ReadOptions,
    ) -> Self {
        match self {
            InputError::NonNumericColumns { path, columns, line, value, advice: None } => {
                let advice = look().and_then(|look| look.advice(&columns, options));
                InputError::NonNumericColumns { path, columns, line, value, advice }
            }
            other => other,
        }
    }
}
