//! `compare`: the methods of others on the same rows, groups and rank, under one audit.

use clap::Args;
use fairer_nmf::rows::Element;
use fairer_nmf::{Baseline, Matrix, Method};
use fairer_nmf_io::{AnyMatrix, Failure, Loaded, check_rank};
use fairer_nmf_paper::neighbours::{ALL, Neighbour, compare};

use crate::args::{BaselineArgs, BaselineKind, DataArgs, GroupArgs, RunArgs, SolverArgs};
use crate::files::{Asked, Files};
use crate::meaning;
use crate::results::{
    about_data, neighbour_json, neighbour_table, neighbour_warnings, of_neighbours,
};
use crate::screen::{Bar, show, stopped};
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
    let bar = Bar::new(&args.run);
    let groups = Some(&args.groups);
    let methods = methods(&args.methods)?;
    if args.solver.time_limit.is_some() {
        return Err(Failure::wrong(
            "--time-limit does not go with compare: a method that is cut short says nothing of the method",
        ));
    }
    if args.baseline.baseline == Some(BaselineKind::Named(Baseline::adjusted())) {
        return Err(Failure::wrong(
            "--baseline adjusted: compare has the excess loss beside every loss; take best",
        ));
    }
    let read = meaning::files_read(&args.data, groups, Some(&args.baseline), None)?;
    let asked = Asked::new(args.json.as_deref(), args.report.as_deref(), args.force);
    let files = Files::claim(&read, &asked)?;
    let loaded = load(&args.data, groups, &bar)?;
    match loaded.matrix()? {
        AnyMatrix::F32(matrix) => run_on(args, &methods, &loaded, matrix, files, &bar),
        AnyMatrix::F64(matrix) => run_on(args, &methods, &loaded, matrix, files, &bar),
    }
}

/// The methods that were typed, each once.
fn methods(typed: &[String]) -> Result<Vec<Neighbour>, Failure> {
    let named = |name: &String| {
        ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|method| method.name()).collect();
            Failure::wrong(format!("--methods {name}: expected some of {}", names.join(", ")))
        })
    };
    let methods = typed.iter().map(named).collect::<Result<Vec<Neighbour>, Failure>>()?;
    Ok(if methods.is_empty() { ALL.to_vec() } else { meaning::each_once(&methods) })
}

fn run_on<T: Element>(
    args: &CompareArgs,
    methods: &[Neighbour],
    loaded: &Loaded,
    matrix: Matrix<'_, T>,
    mut files: Files,
    bar: &Bar,
) -> Result<(), Failure> {
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
    let shown = !args.run.quiet && !files.to_stdout();
    show(bar, &dataset.notes, shown.then(|| neighbour_table(&found)), &neighbour_warnings(&found))?;
    let page = of_neighbours(about_data(args.title.as_deref(), dataset), &data, &found);
    files.write_json(|| neighbour_json(&found))?;
    files.write_pages(&page)?;
    bar.wrote(&files.finish()?);
    Ok(())
}
