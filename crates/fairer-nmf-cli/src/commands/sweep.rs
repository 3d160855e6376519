//! `sweep`: losses over ranks, methods and trials.

use clap::Args;
use fairer_nmf::data::AnyMatrix;
use fairer_nmf::{Baseline, Method, Note};
use fairer_nmf_io::{Failure, Loaded, check_rank};
use fairer_nmf_report::{Remark, Report};

use super::order::{self, OnData};
use crate::args::{BaselineArgs, DataArgs, GroupArgs, Ranks, RunArgs, SolverArgs, method};
use crate::files::{Asked, Files};
use crate::meaning;
use crate::results::{Found, Sweep, about_data, choice_note, dimensions, of_sweep, rank_table};
use crate::screen::{Bar, Deadline, stopped};
use crate::work::{Plan, left_by_ranks, load};

/// Compare methods over a range of ranks
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf sweep data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --ranks 1..10
  fairer-nmf sweep X.npz --groups y.txt --ranks 2,4,8 --methods standard,am --json s.json

The worst loss of a rank is the largest mean loss of any group over the trials. Small groups have larger
losses by construction: what random groups of the same sizes pay stands beside them, from 20 draws of
every size at every rank, which --time-limit does not count.
Trial t of T uses the seed --seed + t (t from 0), for the baselines and for every method.
--json holds one record per method, rank, trial and group, ready for a data frame, and `report`,
all that the page shows.")]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    groups: GroupArgs,

    /// The ranks: 1..10 (10 included), or 2,4,8
    #[arg(long, value_name = "RANKS", help_heading = "Sweep")]
    ranks: Ranks,

    /// The methods
    #[arg(
        long,
        value_parser = method(),
        value_name = "METHOD,...",
        value_delimiter = ',',
        default_value = "standard,am,mu",
        help_heading = "Sweep"
    )]
    methods: Vec<Method>,

    /// Repetitions, each with its own seed
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Sweep",
          value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,

    /// Name the smallest rank at which no group's loss, in the mean, exceeds this
    #[arg(long, value_name = "LOSS", help_heading = "Sweep", allow_negative_numbers = true)]
    threshold: Option<f64>,

    /// Write the records for programs; - is standard output, in place of the table
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,

    /// Write a page for people
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<String>,

    /// The heading of the page [default: the file and what it is grouped by]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,

    /// Write the charts of the page into this folder, as SVG and, in a build with `--features png`,
    /// as PNG; made if it is not there
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    charts: Option<String>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Leave groups with fewer rows out of page, charts and JSON, and with them all totals, so that
    /// these disclose nobody; the terminal still shows them
    #[arg(long, value_name = "ROWS", default_value_t = 0, help_heading = "Output")]
    min_group_size: usize,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    solver: SolverArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    order::run(args)
}

impl OnData for SweepArgs {
    type Beside = ();
    type Found = Swept;

    fn run_args(&self) -> &RunArgs {
        &self.run
    }

    fn claim(&self) -> Result<Files, Failure> {
        let groups = Some(&self.groups);
        let read = meaning::files_read(&self.data, groups, Some(&self.baseline), None)?;
        let asked = Asked {
            charts: self.charts.as_deref(),
            ..Asked::new(self.json.as_deref(), self.report.as_deref(), self.force)
        };
        meaning::check_hiding(&self.groups, self.min_group_size)?;
        Files::claim(&read, &asked)
    }

    fn load(&self, bar: &Bar) -> Result<(Loaded, ()), Failure> {
        Ok((load(&self.data, Some(&self.groups), bar)?, ()))
    }

    fn work(
        &self,
        (loaded, ()): (&Loaded, &()),
        matrix: AnyMatrix<'_>,
        files: &mut Files,
        bar: &Bar,
    ) -> Result<Swept, Failure> {
        sweep(self, loaded, matrix, files, bar)
    }
}

/// What came out, of data of this size.
pub(crate) struct Swept {
    sweep: Sweep,
    notes: Vec<Note>,
    dimensions: String,
}

impl Found for Swept {
    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn table(&self) -> String {
        rank_table(&self.sweep, &self.dimensions)
    }

    fn warnings(&self) -> &[Remark] {
        &self.sweep.warnings
    }

    fn json(&self) -> Vec<u8> {
        self.sweep.to_json()
    }

    fn page(&self) -> Result<Option<&Report>, Failure> {
        Ok(self.sweep.report.as_ref())
    }
}

fn sweep(
    args: &SweepArgs,
    loaded: &Loaded,
    matrix: AnyMatrix<'_>,
    files: &mut Files,
    bar: &Bar,
) -> Result<Swept, Failure> {
    let dataset = &loaded.dataset;
    let scaling = meaning::scaling(args.solver.normalize, &args.data.text, dataset);
    let data = loaded.grouped(matrix, &scaling)?;
    let (ranks, trials) = (&args.ranks.0, args.trials as usize);
    if let (Some(&largest), false) = (ranks.last(), args.solver.allow_small_groups) {
        check_rank(&data, largest, "the largest of --ranks")?;
    }
    let methods = meaning::each_once(&args.methods);
    let (groups, planned) = (data.groups().len(), ranks.len() * trials);
    files.reserve(0, (1 << 20) + planned * methods.len() * groups * 512)?;
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    let limit = meaning::input_limit(&args.data);
    let plan = Plan {
        ranks: ranks.clone(),
        trials,
        methods: methods.iter().map(|&m| meaning::method(m, args.solver.update.0)).collect(),
        baseline: meaning::baseline(&args.baseline, &names, Baseline::best(), limit)?,
        parameters: meaning::parameters(1, Method::am(), &args.solver),
    };
    let runs = match plan.baseline {
        Baseline::Estimate(ref estimate) => estimate.runs,
        Baseline::Adjusted { .. } => {
            return Err(Failure::wrong(
                "--baseline adjusted: sweep compares methods against the same baselines; take best",
            ));
        }
        _ => 0,
    };
    let deadline = Deadline::new(args.solver.time_limit);
    let (records, standards) = plan.run(&data, &deadline, bar)?;
    let choice = match stopped() {
        true => None,
        false => left_by_ranks(&data, ranks, args.solver.seed, &deadline, bar),
    };
    let finished = records.len() / (methods.len() * groups).max(1);
    let chosen = choice.as_ref().map(choice_note);
    let mut sweep =
        Sweep { threshold: args.threshold, rank_choice: choice, ..Sweep::of(&plan, records, runs) };
    if !stopped() && groups > 1 {
        sweep.chance = plan.chance(&data, &sweep.tried(), &standards, bar)?;
    }
    bar.finish();
    if finished < planned && !stopped() {
        let sentence = format!(
            "the time limit ended the sweep after {finished} of {planned} trials: raise --time-limit"
        );
        sweep.warnings.push(Remark::new("sweep-unfinished", sentence));
    }
    sweep.warnings.extend(sweep.unfinished(groups));
    sweep.warnings.extend(sweep.rises());
    sweep.min_group_size = args.min_group_size;
    let dimensions = dimensions(data.rows(), data.features(), groups);
    let mut notes = dataset.notes.clone();
    notes.extend(data.reader_notes());
    let mut about = about_data(args.title.as_deref(), dataset);
    about.min_group_size = args.min_group_size;
    about.notes.extend(chosen.into_iter().chain(sweep.drawn()));
    sweep.report = Some(of_sweep(about, &data, &sweep));
    Ok(Swept { sweep, notes, dimensions })
}
