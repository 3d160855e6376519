//! `inspect`: what a data file holds, and what a fit would refuse, before any long run.

mod entries;

use clap::Args;
use fairer_nmf::Note;
use fairer_nmf_io::{
    self as input, Column, Dataset, Decimal, DenseView, Failure, InputError, LeftOut, Matrix,
    Missing, Output, ReadOptions, check_distinct, group_sizes,
};
use fairer_nmf_report::SCHEMA;
use serde::Serialize;

use crate::args::{DataArgs, GroupArgs, RunArgs};
use crate::meaning;
use crate::results::{column_table, json, proposed};
use crate::screen::{
    BAD, Bar, GOOD, PLAIN, STRONG, Table, counted, listed, print, printable, styled,
};
use crate::work::merged;
use entries::Entries;

/// Look at a data file: columns, groups, what a fit would refuse and why
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf inspect data/heart_disease.csv --group-by sex --drop disease --missing drop-rows
  fairer-nmf inspect X.npz --groups labels.npy --rank 20

Of a table every column is listed: its kind (number, category, text, date, id, constant), its range
or frequent values, how many values differ and how many are missing, and what to mind. The command
at the end is one that works on the file.

Exit code 0 if a fit with the same options would start, 2 if it would be refused. What is found
wrong is set aside (the column dropped, the rows left out) and the look goes on, so that one
run shows every problem.")]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    groups: GroupArgs,

    /// Also check the groups against a rank
    #[arg(long, short, value_name = "R", help_heading = "Data",
          value_parser = clap::value_parser!(u32).range(1..))]
    rank: Option<u32>,

    /// Allow groups with fewer rows than the rank, as in `fit`
    #[arg(long, help_heading = "Data")]
    allow_small_groups: bool,

    /// Write the findings for programs; - is standard output, in place of the table
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// What was found: the fields of `--json`.
#[derive(Debug, Default, Serialize)]
struct Findings {
    /// The version of these fields; docs/schema/inspect.json has them.
    schema: u32,
    path: String,
    rows: usize,
    features: usize,
    storage: Storage,
    /// Entries that are not zero.
    nonzeros: usize,
    /// Their share of all entries.
    density: f64,
    zero_rows: usize,
    zero_features: usize,
    groups: Vec<GroupSize>,
    /// Rows that were left out because of missing cells, by group.
    left_out: Vec<LeftOut>,
    /// The columns of a table.
    columns: Vec<Column>,
    /// The decimal mark that the cells of a table tell.
    decimal: Option<Decimal>,
    /// A fit that would start.
    command: Option<String>,
    /// Why a fit with these options would be refused; empty if it would not.
    problems: Vec<Note>,
    notes: Vec<Note>,
}

/// How the entries are held.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Storage {
    #[default]
    NotRead,
    Sparse,
    DenseF32,
    DenseF64,
}

impl Storage {
    fn of(matrix: &Matrix) -> Self {
        match matrix {
            Matrix::Sparse(_) => Self::Sparse,
            Matrix::Dense(dense) => match dense.view() {
                DenseView::F64(_) => Self::DenseF64,
                DenseView::F32(_) => Self::DenseF32,
            },
        }
    }

    /// In a sentence.
    fn words(self) -> &'static str {
        match self {
            Self::NotRead => "not read",
            Self::Sparse => "sparse",
            Self::DenseF32 => "dense f32",
            Self::DenseF64 => "dense f64",
        }
    }
}

#[derive(Debug, Serialize)]
struct GroupSize {
    name: String,
    rows: usize,
}

/// More problems than this are the same one over and over.
const MOST_LOOKS: usize = 20;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.run);
    let read = meaning::files_read(&args.data, Some(&args.groups), None, None)?;
    check_distinct(&read, &[("--json", args.json.as_deref())])?;
    let output = Output::claim_if("--json", args.json.as_deref(), args.force)?;
    let options = meaning::read_options(&args.data, Some(&args.groups))?;
    bar.reading(&args.data.data);
    // It is looked at more than once.
    if args.data.data == "-" {
        input::keep_standard_input()?;
    }
    let look = input::look(&args.data.data, &options).ok();
    let (mut dataset, problems) = match read_leniently(&args.data.data, options.clone()) {
        Ok((dataset, problems)) => (Some(dataset), problems),
        // Of a table there is more to say than what is wrong with it, but not of an option.
        Err((problems, of_data)) if look.is_some() && of_data => (None, problems),
        Err((problems, _)) => return Err(Failure::wrong(&problems[0].sentence)),
    };
    if let Some(dataset) = &mut dataset {
        merged(dataset, Some(&args.groups))?;
    }
    bar.stage("counting");
    let rank = args.rank.filter(|_| !args.allow_small_groups).map(|r| r as usize);
    let mut findings = match &dataset {
        Some(dataset) => findings(dataset, problems, rank),
        None => {
            let path = args.data.data.clone();
            let rows = look.as_ref().map_or(0, |look| look.rows);
            Findings { schema: SCHEMA, path, rows, problems, ..Findings::default() }
        }
    };
    if let Some(look) = look {
        findings.command = proposed(&args.data.data, &look, &options);
        (findings.columns, findings.decimal) = (look.columns, look.decimal);
    }
    bar.finish();
    let to_stdout = output.as_ref().is_some_and(Output::is_stdout);
    output.map_or(Ok(()), |output| output.write(&json(&findings)))?;
    if !args.run.quiet && !to_stdout {
        print(&text(&findings))?;
    }
    match findings.problems.len() {
        0 => Ok(()),
        1 => Err(Failure::wrong(&findings.problems[0].sentence)),
        n => Err(Failure::wrong(format!(
            "a fit would be refused for {n} reasons, the first: {}",
            findings.problems[0]
        ))),
    }
}

/// Reads around everything that can be set aside, collecting the reasons; those alone where
/// something cannot, and whether that is in the data.
fn read_leniently(
    path: &str,
    mut options: ReadOptions,
) -> Result<(Dataset, Vec<Note>), (Vec<Note>, bool)> {
    let mut problems = Vec::new();
    for _ in 0..MOST_LOOKS {
        let error = match input::read(path, &options) {
            Ok(dataset) => return Ok((dataset, problems)),
            Err(error) => error,
        };
        problems.push(Note::new(error.code(), error.to_string()));
        match &error {
            InputError::NonNumericColumns { columns, .. } => options.drop.extend(columns.clone()),
            InputError::TextCell { column, .. } => options.drop.push(column.clone()),
            InputError::MissingCells { .. } => options.missing = Missing::DropRows,
            InputError::NoSuchColumn { column, .. } => {
                let ReadOptions { group_by, group_by_each, drop, one_hot, weights, .. } =
                    &mut options;
                for columns in [group_by, group_by_each, drop, one_hot] {
                    input::remove_column(columns, column);
                }
                weights.take_if(|name| name == column);
                options.bins.retain(|bins| bins.column != *column);
                if options.text.as_ref().is_some_and(|t| t.column.as_ref() == Some(column)) {
                    return Err((problems, true));
                }
            }
            InputError::WhichDecimal { .. } => options.decimal = Some(Decimal::Comma),
            InputError::WrongCount { what: "labels", .. } => options.groups = None,
            InputError::BadOption { .. } | InputError::OptionDoesNotApply { .. } => {
                return Err((problems, false));
            }
            _ => return Err((problems, true)),
        }
    }
    Err((problems, true))
}

/// Which groups a fit would keep outside the maximum.
fn outside(groups: &[GroupSize], rank: usize) -> Option<Note> {
    let small: Vec<String> = (groups.iter().filter(|g| g.rows <= rank))
        .map(|g| format!("{} ({})", g.name, g.rows))
        .collect();
    (!small.is_empty() && small.len() < groups.len()).then(|| {
        let sentence = format!(
            "no more rows than topics ({rank}), so that a fit would keep them outside the maximum unless --allow-small-groups is given: {}; --merge-small puts small groups together",
            listed(&small, 5)
        );
        Note::new("groups-outside", sentence)
    })
}

fn findings(dataset: &Dataset, mut problems: Vec<Note>, rank: Option<usize>) -> Findings {
    let (rows, features) = dataset.matrix.shape();
    let entries = Entries::of(&dataset.matrix);
    if let Some((row, column)) = entries.first_nan.filter(|_| !dataset.unobserved) {
        let sentence = format!(
            "{}, the first at {}: fill in what is missing, or leave out such rows with `--missing drop-rows`",
            match entries.nan {
                1 => "1 entry is NaN".to_owned(),
                n => format!("{n} entries are NaN"),
            },
            dataset.describe_cell(row, column)
        );
        problems.push(Note::new("missing-cells", sentence));
    }
    if let Some((row, column, value)) = entries.first_bad {
        let sentence = format!(
            "{}, the first at {} ({value}): NMF needs finite numbers that are not negative",
            match entries.bad {
                1 => "1 entry is negative or not finite".to_owned(),
                n => format!("{n} entries are negative or not finite"),
            },
            dataset.describe_cell(row, column)
        );
        problems.push(Note::new("negative-or-not-finite", sentence));
    }
    let mut groups = Vec::new();
    let named = |(family, labels): &(String, Vec<String>)| -> Vec<String> {
        labels.iter().map(|label| format!("{family}={label}")).collect()
    };
    let families: Vec<Vec<String>> = dataset.families.iter().map(named).collect();
    match &dataset.labels {
        None if !families.is_empty() || !dataset.members.is_empty() => {}
        None => {
            let sentence = match dataset.is_table() {
                true => "the groups are not known: give --group-by COLUMN or --groups FILE",
                false => "the groups are not known: give --groups FILE",
            };
            problems.push(Note::new("no-groups", sentence));
        }
        Some(_) => {}
    }
    for labels in dataset.labels.iter().chain(&families) {
        {
            let mut used = std::collections::HashMap::<&str, bool>::new();
            for (label, row_used) in labels.iter().zip(&entries.row_used) {
                *used.entry(label).or_default() |= row_used;
            }
            for (name, rows) in group_sizes(labels) {
                if !used.get(name).copied().unwrap_or(false) {
                    let sentence = format!(
                        "all entries of group `{name}` are zero, so its relative loss is undefined: leave the group out"
                    );
                    problems.push(Note::new("group-of-zeros", sentence));
                }
                groups.push(GroupSize { name: name.to_owned(), rows });
            }
            groups.sort_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.name.cmp(&b.name)));
        }
    }
    groups.extend(dataset.members.iter().map(|(name, members)| GroupSize {
        name: name.clone(),
        rows: members.iter().filter(|member| **member).count(),
    }));
    let mut notes = dataset.notes.clone();
    if dataset.unobserved && entries.nan > 0 {
        let sentence = format!("cells without a value are taken as unobserved: {}", entries.nan);
        notes.push(Note::new("taken-as-unobserved", sentence));
    }
    notes.extend(rank.and_then(|rank| outside(&groups, rank)));
    if groups.len() == 1 {
        let sentence = "there is one group only: a fit would be standard NMF";
        notes.push(Note::new("one-group", sentence));
    }
    Findings {
        schema: SCHEMA,
        path: dataset.path().to_owned(),
        rows,
        features,
        storage: Storage::of(&dataset.matrix),
        nonzeros: entries.nonzeros,
        density: match rows * features {
            0 => 0.0,
            all => entries.nonzeros as f64 / all as f64,
        },
        zero_rows: entries.row_used.iter().filter(|used| !**used).count(),
        zero_features: entries.column_used.iter().filter(|used| !**used).count(),
        groups,
        left_out: dataset.left_out.clone(),
        problems,
        notes,
        ..Findings::default()
    }
}

fn text(findings: &Findings) -> String {
    let mut text = format!("{}\n", styled(STRONG, &printable(&findings.path)));
    text += &format!(
        "{}, {}, {}; {:.1} % of the entries are not zero\n",
        counted(findings.rows, "row"),
        counted(findings.features, "feature"),
        findings.storage.words(),
        100.0 * findings.density
    );
    if findings.zero_rows > 0 {
        text += &format!("{} all zero\n", are(findings.zero_rows, "row"));
    }
    if findings.zero_features > 0 {
        text += &format!("{} all zero\n", are(findings.zero_features, "feature"));
    }
    if !findings.groups.is_empty() {
        let mut table = Table::new(1, &["group", "rows", "share"]);
        for group in &findings.groups {
            let share = 100.0 * group.rows as f64 / findings.rows as f64;
            let cells = [group.name.clone(), group.rows.to_string(), format!("{share:.1} %")];
            table.row(PLAIN, cells);
        }
        text += &format!("\n{}", table.render());
    }
    if !findings.columns.is_empty() {
        text += &format!("\n{}", column_table(&findings.columns));
    }
    for note in &findings.notes {
        text += &format!("\nNote: {}", printable(&note.sentence));
    }
    if !findings.notes.is_empty() {
        text.push('\n');
    }
    match findings.problems.as_slice() {
        [] => text += &format!("\n{}\n", styled(GOOD, "A fit with these options would start.")),
        problems => {
            text += &format!("\n{}\n", styled(BAD, "A fit with these options would be refused:"));
            for problem in problems {
                text += &format!("  - {}\n", printable(&problem.sentence));
            }
        }
    }
    if let Some(command) = &findings.command {
        text += &format!("\nThis works:\n  {}\n", printable(command));
    }
    text
}

fn are(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}
