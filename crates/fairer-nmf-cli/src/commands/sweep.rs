//! `sweep`: losses over ranks, methods and trials.

use clap::Args;
use fairer_nmf::{Baseline, Element, GroupedData, Matrix, Method, Parameters, Status, fit};
use fairer_nmf_report::Report;
use serde::Serialize;

use crate::args::{
    BaselineArgs, BaselineKind, DataArgs, GroupArgs, MethodName, Ranks, RunArgs, SolverArgs,
};
use crate::export;
use crate::fitting::{self, trial_baselines};
use crate::load;
use crate::meaning;
use crate::outcome;
use crate::outputs;
use crate::pages::{self, Pages};
use crate::progress::{self, Bar, Deadline};
use crate::publish;
use crate::report::{self, About};
use crate::terminal;
use fairer_nmf_io::Failure;
use fairer_nmf_io::Output;
use fairer_nmf_io::{AnyMatrix, Loaded, check_rank};

/// Compare methods over a range of ranks
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf sweep data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --ranks 1..10
  fairer-nmf sweep X.npz --groups y.txt --ranks 2,4,8 --methods standard,am --json s.json

The worst loss of a rank is the largest mean loss of any group over the trials.
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
        value_enum,
        value_name = "METHOD,...",
        value_delimiter = ',',
        default_value = "standard,am,mu",
        help_heading = "Sweep"
    )]
    methods: Vec<MethodName>,

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

/// A sweep: the fields of `--json`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sweep {
    pub ranks: Vec<usize>,
    pub methods: Vec<&'static str>,
    pub trials: usize,
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    pub records: Vec<Record>,
    pub warnings: Vec<String>,
    /// All that the page shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// How many groups were hidden, where any were.
    #[serde(skip_serializing_if = "publish::is_zero")]
    pub hidden_groups: usize,
    pub version: &'static str,
    /// Groups with fewer rows are in no file; 0 hides none.
    #[serde(skip)]
    pub min_group_size: usize,
    /// Runs behind every baseline.
    #[serde(skip)]
    pub baseline_runs: usize,
}

/// What a sweep fits at every rank, in every trial.
pub(crate) struct Plan {
    pub ranks: Vec<usize>,
    pub trials: usize,
    pub methods: Vec<Method>,
    pub baseline: Baseline,
    /// All but rank, method, baseline and seed of the trial.
    pub parameters: Parameters,
}

impl Plan {
    /// An empty sweep after this plan.
    fn begin(&self, threshold: Option<f64>, baseline_runs: usize) -> Sweep {
        Sweep {
            ranks: self.ranks.clone(),
            methods: self.methods.iter().map(Method::name).collect(),
            trials: self.trials,
            seed: self.parameters.seed,
            threshold,
            records: Vec::new(),
            warnings: Vec::new(),
            report: None,
            hidden_groups: 0,
            min_group_size: 0,
            version: env!("CARGO_PKG_VERSION"),
            baseline_runs,
        }
    }

    /// All trials of all ranks, or those that were done when it was stopped.
    pub(crate) fn run<T: Element>(
        &self,
        data: &GroupedData<'_, T>,
        threshold: Option<f64>,
        baseline_runs: usize,
        deadline: &Deadline,
        bar: &Bar,
    ) -> Result<Sweep, Failure> {
        let mut sweep = self.begin(threshold, baseline_runs);
        let jobs = self.ranks.iter().flat_map(|&rank| (0..self.trials).map(move |t| (rank, t)));
        for (done, (rank, trial)) in jobs.enumerate() {
            if progress::stopped() || deadline.passed() {
                break;
            }
            let all = self.ranks.len() * self.trials;
            let prefix = format!("{}/{all}, rank {rank}, trial {}: ", done + 1, trial + 1);
            let records = one_trial(self, data, (rank, trial), &prefix, deadline, bar)?;
            sweep.records.extend(records);
        }
        Ok(sweep)
    }
}

/// One group under one method, rank and trial.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    pub method: &'static str,
    pub rank: usize,
    pub trial: usize,
    pub seed: u64,
    pub group: String,
    pub rows: usize,
    pub norm: f64,
    pub baseline_error: f64,
    pub baseline_std: Option<f64>,
    pub relative_error: f64,
    pub loss: f64,
    /// The largest loss of this fit's groups.
    pub worst_loss: f64,
    pub status: &'static str,
    pub iterations: usize,
    /// Of the fit, without the baselines.
    pub seconds: f64,
}

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.run);
    let (report, charts) = (args.report.as_deref(), args.charts.as_deref());
    let json = [("--json", args.json.as_deref())];
    let read = load::files_read(&args.data, Some(&args.groups), Some(&args.baseline), None)?;
    pages::check_distinct(&read, &json, report, charts)?;
    let pages = Pages::claim(report, charts, args.force)?;
    let json = Output::claim_if("--json", args.json.as_deref(), args.force)?;
    let loaded = load::load(&args.data, Some(&args.groups), &bar)?;
    match loaded.matrix()? {
        AnyMatrix::F32(matrix) => sweep(args, &loaded, matrix, json, pages, &bar),
        AnyMatrix::F64(matrix) => sweep(args, &loaded, matrix, json, pages, &bar),
    }
}

fn sweep<T: Element>(
    args: &SweepArgs,
    loaded: &Loaded,
    matrix: Matrix<'_, T>,
    mut json: Option<Output>,
    mut pages: Pages,
    bar: &Bar,
) -> Result<(), Failure> {
    let scaling = meaning::scaling(args.solver.normalize, &args.data.text, &loaded.dataset);
    let data = loaded.grouped(matrix, &scaling)?;
    let (ranks, trials) = (&args.ranks.0, args.trials as usize);
    if let (Some(&largest), false) = (ranks.last(), args.solver.allow_small_groups) {
        check_rank(&data, largest, "the largest of --ranks")?;
    }
    let methods = methods(&args.methods);
    let count = ranks.len() * trials * methods.len() * data.groups().len();
    json.as_mut().map_or(Ok(()), |json| json.reserve((1 << 20) + count * 512))?;
    pages.reserve()?;
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    let plan = Plan {
        ranks: ranks.clone(),
        trials,
        methods: methods.iter().map(|&m| meaning::method(m, args.solver.update)).collect(),
        baseline: meaning::baseline(&args.baseline, &names)?,
        parameters: meaning::parameters(1, Method::am(), &args.solver),
    };
    let runs = match args.baseline.baseline {
        BaselineKind::Paper | BaselineKind::Best => args.baseline.baseline_runs as usize,
        BaselineKind::Zero | BaselineKind::File(_) => 0,
    };
    let deadline = Deadline::new(args.solver.time_limit);
    let mut sweep = plan.run(&data, args.threshold, runs, &deadline, bar)?;
    bar.finish();
    let fits = methods.len() * data.groups().len();
    let finished = sweep.records.len() / fits.max(1);
    let planned = ranks.len() * trials;
    if finished < planned && !progress::stopped() {
        sweep.warnings.push(format!(
            "the time limit ended the sweep after {finished} of {planned} trials: raise --time-limit"
        ));
    }
    sweep.warnings.extend(unfinished(&sweep.records, data.groups().len()));

    loaded.dataset.notes.iter().for_each(|note| bar.note(note));
    let to_stdout = pages.to_stdout() || json.as_ref().is_some_and(Output::is_stdout);
    if !args.run.quiet && !to_stdout {
        let what = export::dimensions(data.rows(), data.features(), data.groups().len());
        terminal::print(&export::rank_table(&sweep, &what))?;
    }
    sweep.warnings.iter().for_each(|warning| bar.warn(warning));
    sweep.min_group_size = args.min_group_size;
    let dataset = &loaded.dataset;
    let about = About {
        title: format!("{}: which rank?", report::short_name(dataset.path())),
        features: &dataset.features,
        min_group_size: args.min_group_size,
        notes: dataset.notes.clone(),
        ..report::about()
    };
    sweep.report = Some(report::of_sweep(about, &data, &sweep));
    let json = outputs::write_json(json, || outcome::json(&*sweep.published()))?;
    let mut written: Vec<String> = json.into_iter().collect();
    if let Some(report) = &sweep.report {
        written.extend(pages.write(report)?);
    }
    if progress::stopped() {
        return fitting::stopped(&written);
    }
    if !written.is_empty() {
        bar.note(&format!("wrote {}", written.join(", ")));
    }
    Ok(())
}

/// In the order given, each once.
fn methods(given: &[MethodName]) -> Vec<MethodName> {
    let mut methods = Vec::new();
    for &method in given {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

/// Baselines once, then every method on them. No records where it was stopped on the way: half
/// a trial would favour some methods.
fn one_trial<T: Element>(
    plan: &Plan,
    data: &GroupedData<'_, T>,
    (rank, trial): (usize, usize),
    prefix: &str,
    deadline: &Deadline,
    bar: &Bar,
) -> Result<Vec<Record>, Failure> {
    let seed = plan.parameters.seed.wrapping_add(trial as u64);
    bar.next_fit(prefix, &plan.parameters.stopping);
    let observer = |p: &fairer_nmf::Progress<'_>| deadline.observe(p, bar);
    let Some(baselines) = trial_baselines(data, rank, &plan.baseline, seed, &observer)? else {
        return Ok(Vec::new());
    };
    let errors: Vec<f64> = baselines.iter().map(|b| b.error).collect();
    let mut records = Vec::new();
    for &method in &plan.methods {
        let mut parameters = Parameters {
            rank,
            method,
            baseline: Baseline::Given { errors: errors.clone() },
            bound: false,
            seed,
            ..plan.parameters.clone()
        };
        // The limit is the sweep's, and the observer keeps it.
        parameters.stopping.time_limit = None;
        bar.next_fit(&format!("{prefix}{}: ", method.name()), &parameters.stopping);
        let fit = fit(data, &parameters, &observer)?;
        if fit.model.status == Status::Stopped {
            return Ok(Vec::new());
        }
        let worst_loss = fit.model.worst_loss();
        for (group, baseline) in fit.model.groups.iter().zip(&baselines) {
            records.push(Record {
                method: method.name(),
                rank,
                trial,
                seed,
                group: group.name.clone(),
                rows: group.rows,
                norm: group.norm,
                baseline_error: baseline.error,
                baseline_std: baseline.spread(),
                relative_error: group.relative_error,
                loss: group.loss,
                worst_loss,
                status: fit.model.status.name(),
                iterations: fit.model.iterations(),
                seconds: fit.fit_time.as_secs_f64(),
            });
        }
    }
    Ok(records)
}

fn unfinished(records: &[Record], groups: usize) -> Option<String> {
    let count = records.iter().filter(|r| r.status != "converged").count() / groups.max(1);
    let all = records.len() / groups.max(1);
    (count > 0)
        .then(|| format!("{count} of {all} fits did not converge: raise --max-iter or --tol"))
}
