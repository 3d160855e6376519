//! `demo`: the embedded Heart Disease table, standard NMF against Fairer-NMF.

use std::fs;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use fairer_nmf::{Baseline, GroupedData, Method, Note, Parameters, Update, baseline::Estimate};
use fairer_nmf_io::{Failure, Loaded, Missing, Precision, ReadOptions, Scaling, read_csv};
use fairer_nmf_report::{Ranks, Remark, Report};

use crate::args::{AuditArgs, RunArgs};
use crate::files::{Asked, Files, end_if_stopped};
use crate::results::{
    About, Found, Outcome, Sweep, about, audit_fit, of_fit, ranks, table_after, tell, write,
};
use crate::screen::{Bar, Deadline, STRONG, print, styled};
use crate::work::{Plan, fit_and_compare};

/// See it work on embedded data: heart disease patients by sex, rank 5
///
/// Fits standard NMF and Fairer-NMF to the Cleveland Heart Disease table (297 patients without
/// missing values, 12 measurements) and shows what each costs women and men. Writes
/// demo-report.html, which also compares the ranks 1 to 8.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf demo
  fairer-nmf demo --out /tmp
  fairer-nmf demo --json demo.json

The fields of --json are those of `fit --json --audit`.")]
pub(crate) struct DemoArgs {
    /// The folder for demo-report.html
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: String,

    /// Write the charts of the page into this folder too, as SVG and, in a build with `--features
    /// png`, as PNG; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    charts: Option<String>,

    /// Write the result for programs, with all that the page shows as `report`; - is standard
    /// output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<String>,

    /// Replace files that exist; a page of an earlier demo is replaced in any case
    #[arg(long)]
    force: bool,

    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    pub run: RunArgs,
}

const TABLE: &[u8] = fairer_nmf_paper::HEART_DISEASE.as_bytes();
const NAME: &str = "Heart Disease (Cleveland)";
const RANK: usize = 5;
const LABELS: &str = "The published paper calls sex = 1 female; the description of the data set says 1 = male, and so do we.";

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.run);
    let page = Path::new(&args.out).join("demo-report.html");
    let is_own = is_own(&page);
    let is_foreign = page.is_file() && !is_own;
    let page = page.display().to_string();
    if is_foreign && !args.force {
        return Err(Failure::wrong(format!(
            "{page} is not of an earlier demo and would be replaced: give another folder with --out, or --force to replace it"
        )));
    }
    let asked = Asked {
        page: ("--out", Some(&page)),
        charts: args.charts.as_deref(),
        replace_page: is_own,
        ..Asked::new(args.json.as_deref(), None, args.force)
    };
    let mut files = Files::claim(&[], &asked)?;
    files.reserve(0, 1 << 20)?;
    let quiet = args.run.quiet || files.to_stdout();

    let start = Instant::now();
    let options = ReadOptions::default().with(|o| {
        o.group_by = vec!["sex".to_owned()];
        o.drop = vec!["disease".to_owned()];
        o.missing = Missing::DropRows;
    });
    let dataset = read_csv(NAME, TABLE, &options)?;
    let loaded = Loaded::new(dataset, Precision::Stored, start.elapsed().as_secs_f64());
    let data = loaded.grouped(loaded.matrix()?, &Scaling::UnitFeatures)?;
    let parameters = Parameters::careful(RANK).with(|p| {
        p.method = Method::am();
        p.seed = args.seed;
    });
    let mut compared = fit_and_compare(&data, &parameters, Some(Update::Hals), None, &bar)?;
    bar.finish();
    compared.fit.model.feature_names = Some(loaded.dataset.features.clone());
    let mut outcome = of_fit(&compared, true, &loaded, &data);
    outcome.notes = loaded.dataset.notes.clone();
    outcome.notes.extend(compared.left_alone.clone());
    outcome.left_alone.clone_from(&compared.left_alone);
    outcome.warnings = compared.warnings();
    end_if_stopped()?;

    let about = About {
        title: title(),
        features: &loaded.dataset.features,
        notes: vec![Note::new("labels-as-described", LABELS)],
        ..about()
    };
    audit_fit(about, &data, compared, &mut outcome, &AuditArgs::default(), &bar)?;
    bar.finish();
    let runs = outcome.baseline_runs;
    let mut found = Introduced(outcome);
    tell(&found, &files, args.run.quiet, &bar)?;
    let ranks = by_rank(&data, parameters, runs, &bar)?;
    if let Some(report) = &mut found.0.report {
        report.ranks = Some(ranks);
    }
    write(&found, files)?;
    if !quiet {
        print(&format!(
            "\nThe whole story: {page}\nYour own data:   fairer-nmf fit DATA.csv --group-by COLUMN --rank 5\n"
        ))?;
    }
    Ok(())
}

/// The same at eight numbers of topics.
fn by_rank(
    data: &GroupedData<'_>,
    parameters: Parameters,
    runs: usize,
    bar: &Bar,
) -> Result<Ranks, Failure> {
    let plan = Plan {
        ranks: (1..=8).collect(),
        trials: 3,
        methods: vec![Method::standard(), Method::am()],
        baseline: Baseline::Estimate(Estimate::best()),
        parameters,
    };
    let (records, _) = plan.run(data, &Deadline::new(None), bar)?;
    bar.finish();
    Ok(ranks(&Sweep::of(&plan, records, runs)))
}

/// What came out, after what the demo is about.
struct Introduced(Outcome);

impl Found for Introduced {
    /// The rows that were left out are the introduction's.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    fn table(&self) -> String {
        table_after(&self.0, &introduction())
    }

    fn warnings(&self) -> &[Remark] {
        self.0.warnings()
    }

    fn json(&self) -> Vec<u8> {
        self.0.json()
    }

    fn page(&self) -> Result<Option<&Report>, Failure> {
        self.0.page()
    }
}

fn title() -> String {
    format!("{NAME} by sex")
}

/// Whether a file is a page of this command: it carries a report with our title.
fn is_own(page: &Path) -> bool {
    if !page.is_file() {
        return false;
    }
    let text = fs::read_to_string(page).unwrap_or_default();
    let after = text.split_once("id=\"report-data\">").map_or("", |(_, after)| after);
    let json = after.split_once("</script>").map_or("", |(json, _)| json);
    serde_json::from_str::<serde_json::Value>(json).is_ok_and(|report| report["title"] == title())
}

fn introduction() -> String {
    format!(
        "{}\n303 patients of the Cleveland clinic, 297 without missing values, grouped by sex; the\nquestion is what women and men each lose when both share one dictionary of {RANK} topics.\n\n",
        styled(STRONG, NAME)
    )
}
