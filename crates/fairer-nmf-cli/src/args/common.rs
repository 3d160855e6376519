//! What `fit` and `audit` share: both say what a dictionary costs each group.

use clap::Args;

use super::fit::{AuditArgs, BaselineArgs, RunArgs, SolverArgs};

/// What losses are against, how fits are made, and where the result goes.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Write the result for programs; - is standard output, in place of the table
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,

    /// Write a page for people
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<String>,

    /// The heading of the page [default: the file and what it is grouped by]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,

    /// Write the charts of the page into this folder, as SVG and, in a build with `--features png`,
    /// as PNG; made if it is not there
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub charts: Option<String>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Do not fit standard NMF for comparison
    #[arg(long, help_heading = "Output")]
    pub no_compare: bool,

    #[command(flatten)]
    pub baseline: BaselineArgs,

    #[command(flatten)]
    pub solver: SolverArgs,

    #[command(flatten)]
    pub audit: AuditArgs,

    #[command(flatten)]
    pub run: RunArgs,
}
