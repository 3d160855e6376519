//! `compare`: the methods of others on the same rows, groups and rank, under one audit.

use clap::Args;
use fairer_nmf::data::AnyMatrix;
use fairer_nmf::{Baseline, Method, Note};
use fairer_nmf_io::{Failure, Loaded, check_rank};
use fairer_nmf_paper::neighbours::{Compared, Neighbour, compare, named};
use fairer_nmf_report::{Remark, Report};

use super::order::{self, OnData};
use crate::args::{BaselineArgs, BaselineKind, DataArgs, GroupArgs, RunArgs, SolverArgs};
use crate::files::{Asked, Files};
use crate::meaning;
use crate::results::{
    Found, about_data, neighbour_json, neighbour_table, neighbour_warnings, of_neighbours,
};
use crate::screen::{Bar, stopped};
use crate::work::load;

/// Set the methods of others beside Fairer-NMF, under one audit
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf compare data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --rank 5
  fairer-nmf compare X.npz --groups y.txt --rank 8 --methods standard,am,robust --json c.json

Methods: standard, am (Fairer-NMF), reweighted-rows and reweighted-norms (standard NMF in which every
group counts the same), glrm-power, glrm-exponential and glrm-disparity (Buet-Golfouse and Utyagulov
2022), robust (Gillis et al. 2021), fair-pca (Samadi et al. 2018), fair-pca-loss (the same with the loss
of Fairer-NMF), shared-budget, separate. All are measured against the same baselines; the files of
`neighbours` in the source say what was chosen where a paper leaves something open.")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    groups: GroupArgs,

    /// Number of topics
    #[arg(long, short, value_name = "R", help_heading = "Model",
          value_parser = clap::value_parser!(u32).range(1..))]
    rank: u32,

    /// The methods [default: all]
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', help_heading = "Model")]
    methods: Vec<String>,

    /// Write the results for programs; - is standard output, in place of the table
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,

    /// Write a page for people
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<String>,

    /// The heading of the page [default: the file and what it is grouped by]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    solver: SolverArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    order::run(args)
}

impl OnData for CompareArgs {
    type Beside = Vec<Neighbour>;
    type Found = Neighbours;

    fn run_args(&self) -> &RunArgs {
        &self.run
    }

    fn claim(&self) -> Result<Files, Failure> {
        methods(&self.methods)?;
        if self.solver.time_limit.is_some() {
            return Err(Failure::wrong(
                "--time-limit does not go with compare: a method that is cut short says nothing of the method",
            ));
        }
        if self.baseline.baseline == Some(BaselineKind::Named(Baseline::adjusted())) {
            return Err(Failure::wrong(
                "--baseline adjusted: compare has the excess loss beside every loss; take best",
            ));
        }
        let groups = Some(&self.groups);
        let read = meaning::files_read(&self.data, groups, Some(&self.baseline), None)?;
        let asked = Asked::new(self.json.as_deref(), self.report.as_deref(), self.force);
        Files::claim(&read, &asked)
    }

    fn load(&self, bar: &Bar) -> Result<(Loaded, Vec<Neighbour>), Failure> {
        let methods = methods(&self.methods)?;
        Ok((load(&self.data, Some(&self.groups), bar)?, methods))
    }

    fn work(
        &self,
        (loaded, methods): (&Loaded, &Vec<Neighbour>),
        matrix: AnyMatrix<'_>,
        _files: &mut Files,
        bar: &Bar,
    ) -> Result<Neighbours, Failure> {
        run_on(self, methods, loaded, matrix, bar)
    }
}

/// What came out, and its page.
pub(crate) struct Neighbours {
    found: Compared,
    notes: Vec<Note>,
    warnings: Vec<Remark>,
    page: Report,
}

impl Found for Neighbours {
    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn table(&self) -> String {
        neighbour_table(&self.found)
    }

    fn warnings(&self) -> &[Remark] {
        &self.warnings
    }

    fn json(&self) -> Vec<u8> {
        neighbour_json(&self.found)
    }

    fn page(&self) -> Result<Option<&Report>, Failure> {
        Ok(Some(&self.page))
    }
}

/// The methods that were typed, each once.
fn methods(typed: &[String]) -> Result<Vec<Neighbour>, Failure> {
    named(typed).map_err(|wrong| {
        let names = wrong.expected.join(", ");
        Failure::wrong(format!("--methods {}: expected some of {names}", wrong.given))
    })
}

fn run_on(
    args: &CompareArgs,
    methods: &[Neighbour],
    loaded: &Loaded,
    matrix: AnyMatrix<'_>,
    bar: &Bar,
) -> Result<Neighbours, Failure> {
    let dataset = &loaded.dataset;
    let scaling = meaning::scaling(args.solver.normalize, &args.data.text, dataset);
    let data = loaded.grouped(matrix, &scaling)?;
    let rank = args.rank as usize;
    if !args.solver.allow_small_groups {
        check_rank(&data, rank, "--rank")?;
    }
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    let limit = meaning::input_limit(&args.data);
    let baseline = meaning::baseline(&args.baseline, &names, Baseline::best(), limit)?;
    let parameters = meaning::parameters(rank, Method::am(), &args.solver);
    let parameters = parameters.with(|p| p.baseline = baseline);
    bar.stage("comparing");
    let found = compare(&data, methods, &parameters, &|p| bar.observe(p))?;
    bar.finish();
    if stopped() {
        return Err(Failure::failed(
            "stopped; a method that is cut short says nothing of the method",
        ));
    }
    let about = about_data(args.title.as_deref(), dataset);
    let page = of_neighbours(about, &data, (&found, &parameters.baseline));
    let (notes, warnings) = (dataset.notes.clone(), neighbour_warnings(&found));
    Ok(Neighbours { found, notes, warnings, page })
}
