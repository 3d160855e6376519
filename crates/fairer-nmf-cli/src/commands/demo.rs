//! `demo`: the embedded Heart Disease table, standard NMF against Fairer-NMF.

use std::time::Instant;

use clap::Args;
use fairer_nmf::{Method, Parameters, Update};

use super::{Plan, fit};
use crate::args::{AuditArgs, RunArgs};
use crate::export;
use crate::failure::Failure;
use crate::fitting::{self, fit_and_compare};
use crate::input::{self, Missing, Precision, ReadOptions};
use crate::load::{AnyMatrix, Loaded, Scaling};
use crate::pages::Pages;
use crate::progress::{self, Bar, Deadline};
use crate::report::{self, Subject};
use crate::terminal::{self, STRONG, styled};

/// See it work on embedded data: heart disease patients by sex, rank 5
///
/// Fits standard NMF and Fairer-NMF to the Cleveland Heart Disease table (297 patients without
/// missing values, 12 measurements) and shows what each costs women and men. Writes
/// demo-report.html, which also compares the ranks 1 to 8.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf demo
  fairer-nmf demo --out /tmp")]
pub(crate) struct DemoArgs {
    /// The folder for demo-report.html
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: String,

    /// Write the charts of the page into this folder too, as SVG and PNG; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    charts: Option<String>,

    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    pub run: RunArgs,
}

/// data/README.md says where it comes from.
const TABLE: &[u8] = include_bytes!("../../../../data/heart_disease.csv");
const NAME: &str = "Heart Disease (Cleveland)";
const RANK: usize = 5;
const LABELS: &str = "The published paper calls sex = 1 female; the description of the data set says 1 = male, and so do we.";

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.run);
    let page = std::path::Path::new(&args.out).join("demo-report.html");
    let page = page.display().to_string();
    // The demo may replace its own page and charts.
    let mut pages = Pages::claim_as("--out", Some(&page), args.charts.as_deref(), true)?;
    pages.reserve()?;

    let start = Instant::now();
    let options = ReadOptions {
        group_by: vec!["sex".to_owned()],
        drop: vec!["disease".to_owned()],
        missing: Missing::DropRows,
        ..ReadOptions::default()
    };
    let dataset = input::read_csv(NAME, TABLE, &options)?;
    let loaded = Loaded::new(dataset, Precision::Stored, start.elapsed().as_secs_f64());
    let AnyMatrix::F64(matrix) = loaded.matrix()? else {
        return Err(Failure::failed("the embedded table is not f64"));
    };
    let data = loaded.grouped(matrix, &Scaling::UnitFeatures)?;
    let parameters = Parameters { method: Method::am(), seed: args.seed, ..Parameters::new(RANK) };
    let mut compared = fit_and_compare(&data, &parameters, Some(Update::Hals), &bar)?;
    bar.finish();
    compared.fit.model.feature_names = Some(loaded.dataset.features.clone());
    let mut outcome = fit::outcome(&compared, true, &loaded, &data);
    outcome.notes = loaded.dataset.notes.clone();
    outcome.warnings = compared.warnings.clone();
    if progress::stopped() {
        return fitting::stopped(&[]);
    }

    if !args.run.quiet {
        terminal::print(&introduction())?;
        terminal::print(&export::table(&outcome))?;
    }
    outcome.warnings.iter().for_each(|warning| bar.warn(warning));
    let subject = Subject {
        title: format!("{NAME} by sex"),
        features: &loaded.dataset.features,
        min_group_size: 0,
        notes: vec![LABELS.to_owned()],
    };
    let mut report = fit::page(&subject, &data, &compared, &outcome, &AuditArgs::standard(), &bar)?;
    let sweep = Plan {
        ranks: (1..=8).collect(),
        trials: 3,
        methods: vec![Method::standard(), Method::am()],
        baseline: parameters.baseline.clone(),
        parameters,
    };
    let sweep = sweep.run(&data, None, outcome.baseline_runs, &Deadline::new(None), &bar)?;
    bar.finish();
    report.ranks = Some(report::ranks(&sweep));
    let written = pages.write(&report)?;
    if progress::stopped() {
        return fitting::stopped(&written);
    }
    if !args.run.quiet {
        terminal::print(&format!(
            "\nThe whole story: {page}\nYour own data:   fairer-nmf fit DATA.csv --group-by COLUMN --rank 5\n"
        ))?;
    }
    Ok(())
}

fn introduction() -> String {
    format!(
        "{}\n303 patients of the Cleveland clinic, 297 without missing values, grouped by sex; the\nquestion is what women and men each lose when both share one dictionary of {RANK} topics.\n\n",
        styled(STRONG, NAME)
    )
}
