//! Tables that do not fit into memory: read once, piece by piece, into shards of rows that later runs find
//! again ([`Cache`]).

mod source;
mod writing;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use fairer_nmf::Note;
use fairer_nmf::rows::GroupCodes;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::assemble::{dense, group_labels};
use super::cache::{Cache, Making};
use super::categories;
use super::cells::{Number, Part};
use super::columns::typed;
use super::dataset::LeftOut;
use super::decimals::passes;
use super::error::InputError;
use super::missing;
use super::npy;
use super::options::{Cuts, Format, Precision, ReadOptions};
use super::plan::{Plan, Reading};
use super::recipe::{Missing, TableRecipe};
use super::written::Decimal;
use source::{Source, files, parquet_files};
use writing::{Labels, SHARDS, ShardWriter, write_codes};

const GROUPS: &str = "groups.npy";

/// A table as shards on disk.
pub(crate) struct Converted {
    /// The folder of the cache, and the one with the shards in it.
    pub(crate) folder: String,
    pub(crate) shards: String,
    /// Whether an earlier run had made it.
    pub(crate) reused: bool,
    /// The group of every row, where columns of the table tell it.
    pub(crate) groups: Option<GroupCodes>,
    pub(crate) found: TableFacts,
}

/// What a table holds beside its numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TableFacts {
    /// Names of the features.
    pub features: Vec<String>,
    /// How other tables become the same features.
    pub recipe: TableRecipe,
    /// Rows that were left out, by group.
    pub left_out: Vec<LeftOut>,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// Entries that were too small for f32, where that was asked for.
    pub vanished: usize,
    /// Names of the groups.
    names: Option<Vec<String>>,
}

/// Whether a path is a table that [`convert`] takes.
pub(crate) fn is_table(path: &str, options: &ReadOptions) -> bool {
    let format = options.format.or_else(|| Format::of(path));
    matches!(format, Some(Format::Csv | Format::Tsv | Format::Parquet))
        || !parquet_files(path).is_empty()
}

/// Names of the columns of a table on disk; none where the data are no table.
///
/// # Errors
/// A table whose header cannot be read.
pub fn column_names(
    path: &str,
    options: &ReadOptions,
    memory: usize,
) -> Result<Option<Vec<String>>, InputError> {
    match is_table(path, options) {
        true => Ok(Some(Source::open(path, files(path), options, memory)?.names())),
        false => Ok(None),
    }
}

/// Converts a table into shards beside it, or finds those that an earlier run has made. `memory` is what
/// that may take in bytes; `watch` hears how many rows are done, and says whether to go on.
///
/// # Errors
/// Whatever is wrong with the table, as [`read`](super::read) says it; options that need all rows at once;
/// a folder that cannot be written.
pub(crate) fn convert(
    path: &str,
    options: &ReadOptions,
    memory: usize,
    watch: &dyn Fn(usize) -> bool,
) -> Result<Converted, InputError> {
    refuse(path, options)?;
    let files = files(path);
    let recipe = json!({
        "group_by": options.group_by, "drop": options.drop, "one_hot": options.one_hot,
        "missing": options.missing, "na_values": options.na_values, "decimal": options.decimal,
        "bins": options.bins.iter().map(|bins| format!("{bins:?}")).collect::<Vec<_>>(),
        "precision": format!("{:?}", options.precision), "delimiter": options.delimiter,
        "format": options.format.map(|format| format!("{format:?}")),
    });
    let cache = Cache::of(path, files.clone(), recipe)?;
    let (reused, found) = match cache.kept::<TableFacts>() {
        Some(found) => (true, found),
        None => {
            let source = Source::open(path, files, options, memory)?;
            let job = Job { path, options, folder: cache.folder(), watch };
            let found = match options.precision {
                Precision::F32 => job.run::<f32>(&source, cache.begin()?)?,
                _ => job.run::<f64>(&source, cache.begin()?)?,
            };
            (false, found)
        }
    };
    let groups = match &found.names {
        None => None,
        Some(names) => {
            let path = cache.folder().join(GROUPS).display().to_string();
            let bytes = fs::read(&path).map_err(|e| InputError::io(&path, e))?;
            let codes = npy::integers(&path, &bytes)?.into_iter().map(|code| code as u32);
            Some(GroupCodes { names: names.clone(), codes: codes.collect() })
        }
    };
    let folder = cache.folder().display().to_string();
    let shards = cache.folder().join(SHARDS).display().to_string();
    Ok(Converted { folder, shards, reused, groups, found })
}

/// What needs all rows at once, or is about something else.
fn refuse(path: &str, options: &ReadOptions) -> Result<(), InputError> {
    let all = "it looks at all rows at once, and these do not fit in memory";
    let quantiles = options.bins.iter().any(|bins| matches!(bins.cuts, Cuts::Quantiles(_)));
    let drops = options.missing == Missing::DropRows;
    let given = [
        ("--text", options.text.is_some(), all),
        ("--group-by-each", !options.group_by_each.is_empty(), all),
        ("--weights", options.weights.is_some(), all),
        ("--merge-spellings", options.merge_spellings, all),
        ("--bins", quantiles, "quantiles need all rows at once: give the numbers to cut at"),
        ("--transpose", options.transpose, "only a matrix has samples in rows or in columns"),
        ("--feature-names", options.feature_names.is_some(), "its columns have names of their own"),
        (
            "--groups",
            options.groups.is_some() && drops,
            "with --missing drop-rows its lines would not be those of the rows: name the groups' column with --group-by",
        ),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => {
            Err(InputError::OptionDoesNotApply { option, path: path.into(), why })
        }
        None => Ok(()),
    }
}

struct Job<'a> {
    path: &'a str,
    options: &'a ReadOptions,
    folder: &'a Path,
    watch: &'a dyn Fn(usize) -> bool,
}

impl Job<'_> {
    fn run<T: Number>(
        &self,
        source: &Source,
        making: Making<'_>,
    ) -> Result<TableFacts, InputError> {
        let plan = source.plan(self.path, self.options)?;
        let one_hot = !plan.one_hot.is_empty();
        let (mut plan, mut kept, mut part) = passes(plan, source.has_semicolons(), |plan| {
            // The values of words are not known before all rows were seen.
            self.pass::<T>(source, plan, &making, !one_hot)
        })?;
        if one_hot {
            for (one_hot, values) in plan.one_hot.iter_mut().zip(&kept.values) {
                one_hot.known.get_or_insert_with(|| values.iter().cloned().collect());
            }
            (kept, part) = self.pass::<T>(source, &plan, &making, true)?;
        }
        part.issues.check(&plan, part.records)?;
        if part.rows == 0 {
            let what = match part.records {
                0 => "there is no row after the header".to_string(),
                n => missing::all_incomplete(n),
            };
            return Err(InputError::Empty { path: self.path.into(), what });
        }
        let decimal = kept.decimal(&plan);
        plan.recipe.decimal = (decimal == Decimal::Comma).then_some(decimal);
        plan.recipe.one_hot = kept.one_hot;
        plan.recipe.bins = kept.bins;
        let mut parts = kept.shards.finish().map_err(|e| making.failed(e))?;
        let mut notes = plan.notes.clone();
        notes.extend(part.issues.mixed_units(&plan, part.records));
        let (mut left_out, mut names) = (Vec::new(), None);
        if !plan.groups.is_empty() {
            let groups = GroupCodes::from_numbers(kept.labels.names, kept.labels.codes);
            notes.extend(categories::counted(
                &groups,
                &kept.lost,
                part.issues.dropped,
                &mut left_out,
            ));
            write_codes(&self.folder.join(GROUPS), &groups.codes).map_err(|e| making.failed(e))?;
            parts.push(GROUPS.to_owned());
            names = Some(groups.names);
        } else if part.issues.dropped > 0 {
            notes.insert(0, categories::left_out_note(part.issues.dropped, part.records, &[]));
        }
        let (features, vanished) = (kept.features, part.issues.vanished);
        let found = TableFacts { features, recipe: plan.recipe, left_out, notes, vanished, names };
        making.finish(&parts, &found)?;
        Ok(found)
    }

    /// One pass over the table; without `write` only words are looked at.
    fn pass<T: Number>(
        &self,
        source: &Source,
        plan: &Plan,
        making: &Making<'_>,
        write: bool,
    ) -> Result<(Kept, Part), InputError> {
        let shards =
            ShardWriter::new::<T>(self.folder.join(SHARDS)).map_err(|e| making.failed(e))?;
        let mut kept = Kept {
            shards,
            labels: Labels::default(),
            lost: HashMap::new(),
            values: vec![BTreeSet::new(); plan.one_hot.len()],
            features: Vec::new(),
            one_hot: Vec::new(),
            bins: Vec::new(),
        };
        let mut rows = 0;
        let part = source.pass::<T>(plan, &mut |numbers, part| {
            rows += part.rows;
            if !(self.watch)(rows) {
                return Err(InputError::Stopped { path: self.path.into() });
            }
            if plan.reading == Reading::Looking
                || plan.reading == Reading::Open && part.issues.open_numbers > 0
            {
                return Ok(());
            }
            kept.cut(plan, part)?;
            if !write {
                for (values, one_hot) in kept.values.iter_mut().zip(&plan.one_hot) {
                    values.extend(part.words[one_hot.list].iter().cloned());
                }
                return Ok(());
            }
            kept.take(plan, numbers, part, making)
        })?;
        Ok((kept, part))
    }
}

/// What a pass keeps of a table.
struct Kept {
    shards: ShardWriter,
    labels: Labels,
    /// Groups of rows that were left out.
    lost: HashMap<String, usize>,
    /// Different words of every one-hot column.
    values: Vec<BTreeSet<String>>,
    features: Vec<String>,
    one_hot: Vec<(String, Vec<String>)>,
    bins: Vec<(String, Vec<f64>)>,
}

impl Kept {
    fn decimal(&self, plan: &Plan) -> Decimal {
        match plan.reading {
            Reading::Known(decimal) => decimal,
            _ => Decimal::Point,
        }
    }

    /// Cuts numbers among the words into ranges.
    fn cut(&mut self, plan: &Plan, part: &mut Part) -> Result<(), InputError> {
        let decimal = self.decimal(plan);
        self.bins.clear();
        for (bins, list) in &plan.bins {
            let (words, lost) = (&mut part.words[*list], &mut part.lost[*list]);
            let cuts = categories::cut(bins, decimal, words, lost)?;
            self.bins.push((bins.column.clone(), cuts));
        }
        Ok(())
    }

    /// Writes the rows of a piece.
    fn take<T: Number>(
        &mut self,
        plan: &Plan,
        numbers: Vec<T>,
        part: &Part,
        making: &Making<'_>,
    ) -> Result<(), InputError> {
        if !plan.groups.is_empty() {
            self.labels.extend(group_labels(plan, &part.words, part.rows));
            for label in group_labels(plan, &part.lost, part.issues.dropped) {
                *self.lost.entry(label).or_default() += 1;
            }
        }
        let made = dense(plan, numbers, part, &mut Vec::new())?;
        let zero = T::default();
        for (row, values) in made.array.rows().into_iter().enumerate() {
            // Neither is NaN, nor below zero, nor infinite: infinity less itself is NaN.
            #[allow(clippy::eq_op)]
            let good = |v: &T| *v >= zero && *v - *v == zero;
            if let Some(column) = values.iter().position(|v| !good(v)) {
                let line = part.places.find(row).map_or(0, |(_, line)| line);
                return Err(bad_entry(plan, line, &made.names[column], values[column] < zero));
            }
        }
        let flat = made.array.as_slice().expect("rows are made one after the other");
        self.shards
            .write(bytemuck::cast_slice(flat), made.names.len())
            .map_err(|e| making.failed(e))?;
        (self.features, self.one_hot) = (made.names, made.one_hot);
        Ok(())
    }
}

fn bad_entry(plan: &Plan, line: u64, column: &str, negative: bool) -> InputError {
    let what = match negative {
        true => "is negative, and NMF needs numbers that are not",
        false => "is not a finite number",
    };
    let drop = typed("--drop", &[column.to_owned()]);
    InputError::BadLine {
        path: plan.path.clone(),
        line,
        what: format!(
            "the entry of column `{column}` {what}: mend the cell, or leave the column out with `{drop}`"
        ),
    }
}
