//! `fit`: a fair factorisation of a data file.

use clap::Args;
use fairer_nmf::audit::{PeerPlan, Subject, compare, fit_peers};
use fairer_nmf::{Element, GroupBaseline, GroupedData, Matrix, Method, Parameters, Update};
use fairer_nmf_report::library;

use crate::args::{AuditArgs, DataArgs, GroupArgs, MeasureArgs, MethodName};
use crate::auditing;
use crate::export;
use crate::fitting::{self, Compared, fit_and_compare};
use crate::load;
use crate::meaning;
use crate::outcome::{DataFacts, Outcome, Seconds};
use crate::outputs;
use crate::pages::{self, Pages};
use crate::progress::{self, Bar};
use crate::report::{self, About};
use crate::terminal;
use fairer_nmf_io::Failure;
use fairer_nmf_io::Output;
use fairer_nmf_io::{AnyMatrix, Loaded, check_rank, keep_recipe};

/// Fit a dictionary that treats the worst-off group as well as possible
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf fit data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --rank 5 --model m.safetensors
  fairer-nmf fit posts.jsonl.gz --text text --group-by group --rank 6 --max-features 200 \\
      --stop-words english --json fit.json --report fit.html
  fairer-nmf fit X.npy --groups labels.txt --rank 10 --method mu

The table shows for every group: R-Error, the part of it that is lost; its baseline, what a
dictionary of its own would lose (mean ± standard deviation over the runs); and R-Loss, the
difference: what it pays for sharing. Fairer-NMF makes the largest R-Loss as small as it can.

--report and --charts need an audit: intervals, tests, the trade-off, topics. --json then holds
it too: `report` has all that the page shows, `audit` the library's statistics of the dictionary.
--audit asks for it without a page; plain --json does not wait for it.

Ctrl-C stops at the next iteration and writes --model and --json as they stand, but no --report
and no --charts unless the fit was done (exit code 1); a second Ctrl-C ends at once.")]
pub(crate) struct FitArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    groups: GroupArgs,

    /// Number of topics
    #[arg(long, short, value_name = "R", help_heading = "Model",
          value_parser = clap::value_parser!(u32).range(1..))]
    rank: u32,

    /// The method
    #[arg(long, value_enum, value_name = "METHOD", default_value_t, help_heading = "Model")]
    method: MethodName,

    /// Write the model, for transform, audit and topics
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    model: Option<String>,

    /// Audit the fit, as --report and --charts do, and put what was found into --json
    #[arg(long, help_heading = "Output", requires = "json")]
    audit: bool,

    #[command(flatten)]
    pub common: MeasureArgs,
}

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.common.run);
    let outputs = Outputs::claim(args)?;
    auditing::options(&args.common.audit, Some(&Parameters::new(1)), true, 0)?;
    let loaded = load::load(&args.data, Some(&args.groups), &bar)?;
    match loaded.matrix()? {
        AnyMatrix::F32(matrix) => fit_matrix(args, &loaded, matrix, outputs, &bar),
        AnyMatrix::F64(matrix) => fit_matrix(args, &loaded, matrix, outputs, &bar),
    }
}

fn fit_matrix<T: Element>(
    args: &FitArgs,
    loaded: &Loaded,
    matrix: Matrix<'_, T>,
    mut outputs: Outputs,
    bar: &Bar,
) -> Result<(), Failure> {
    let rank = args.rank as usize;
    let normalize = args.common.solver.normalize;
    let scaling = meaning::scaling(normalize, &args.data.text, &loaded.dataset);
    let data = loaded.grouped(matrix, &scaling)?;
    if !args.common.solver.allow_small_groups {
        check_rank(&data, rank, "--rank")?;
    }
    let parameters = parameters(args, &data, rank)?;
    let audited = args.audit || outputs.pages.are_wanted();
    outputs.reserve((rank, data.features()), data.groups().len(), audited)?;
    let compare = (!args.common.no_compare).then(|| meaning::update(args.common.solver.update));
    bar.limit(args.common.solver.time_limit);
    let mut compared = fit_and_compare(&data, &parameters, compare, bar)?;
    bar.finish();

    let dataset = &loaded.dataset;
    compared.fit.model.feature_names = dataset.is_named().then(|| dataset.features.clone());
    compared.fit.model.preparation = keep_recipe(dataset);
    let mut outcome = outcome(&compared, !args.common.no_compare, loaded, &data);
    outcome.notes = [&dataset.notes[..], &compared.notes].concat();
    outcome.warnings = compared.warnings();
    outcome.warnings.extend(outcome.explains_little());
    outcome.min_group_size = args.common.audit.min_group_size;

    outcome.notes.iter().for_each(|note| bar.note(note));
    if !args.common.run.quiet && !outputs.to_stdout() {
        terminal::print(&export::table(&outcome))?;
    }
    outcome.warnings.iter().for_each(|warning| bar.warn(warning));
    let mut written = outputs.write_model(&compared)?;
    if progress::stopped() {
        written.extend(outputs.write_json(&outcome)?);
        let pages = [&args.common.report, &args.common.charts];
        let missing: Vec<&str> = pages.into_iter().flatten().map(String::as_str).collect();
        return fitting::stopped_without(&written, &missing);
    }
    if audited {
        let about = About {
            title: format!("{} by group", report::short_name(dataset.path())),
            features: &dataset.features,
            min_group_size: args.common.audit.min_group_size,
            notes: dataset.notes.clone(),
            ..report::about()
        };
        let done = audit(about, &data, compared, &mut outcome, &args.common.audit, bar);
        if let Err(failure) = done {
            // The fit is done, and what it found is not lost with its audit.
            outputs.write_json(&outcome)?;
            return Err(failure);
        }
    }
    written.extend(outputs.write_json(&outcome)?);
    if let Some(report) = &outcome.report {
        written.extend(outputs.pages.write(report)?);
    }
    if progress::stopped() {
        return fitting::stopped(&written);
    }
    if !written.is_empty() {
        bar.note(&format!("wrote {}", written.join(", ")));
    }
    Ok(())
}

fn parameters<T: Element>(
    args: &FitArgs,
    data: &GroupedData<'_, T>,
    rank: usize,
) -> Result<Parameters, Failure> {
    let names: Vec<&str> = data.groups().iter().map(|g| g.name.as_str()).collect();
    let method = meaning::method(args.method, args.common.solver.update);
    Ok(Parameters {
        baseline: meaning::baseline(&args.common.baseline, &names)?,
        ..meaning::parameters(rank, method, &args.common.solver)
    })
}

/// The outcome of a fit, beside standard NMF where that was wanted.
pub(crate) fn outcome<T: Element>(
    compared: &Compared<T>,
    wanted: bool,
    loaded: &Loaded,
    data: &GroupedData<'_, T>,
) -> Outcome {
    let fit = &compared.fit;
    let is_standard = matches!(fit.model.parameters.method, Method::Standard { .. });
    let standard = match &compared.peers.standard {
        Some(standard) => Some(&standard.model),
        // Standard NMF is its own comparison.
        None => (wanted && is_standard).then_some(&fit.model),
    };
    let seconds = Seconds {
        read: loaded.seconds,
        baselines: fit.baseline_time.as_secs_f64(),
        fit: fit.fit_time.as_secs_f64(),
    };
    let facts = DataFacts {
        path: loaded.dataset.path().to_owned(),
        rows: data.rows(),
        features: data.features(),
        precision: T::NAME,
        normalize: if data.scale().is_some() { "features" } else { "none" },
    };
    Outcome::of_model(&fit.model, standard, seconds, facts)
}

/// Adds to the outcome of a fit what the library's audit says of it, and the page's content.
pub(crate) fn audit<T: Element>(
    about: About<'_>,
    data: &GroupedData<'_, T>,
    compared: Compared<T>,
    outcome: &mut Outcome,
    args: &AuditArgs,
    bar: &Bar,
) -> Result<(), Failure> {
    bar.stage("auditing");
    let observer = |p: &fairer_nmf::Progress<'_>| bar.observe(p);
    let (model, mut peers) = (&compared.fit.model, compared.peers);
    let parameters = &model.parameters;
    let options = auditing::options(args, Some(parameters), true, parameters.seed)?;
    let baselines: Vec<GroupBaseline> = model.groups.iter().map(|g| g.baseline.clone()).collect();
    let errors: Vec<f64> = baselines.iter().map(|b| b.error).collect();
    let method = Some(parameters.method);
    // The comparison of standard NMF is what Fairer-NMF would make of it.
    if outcome.groups.iter().any(|g| g.standard_loss.is_some()) {
        let fairer = PeerPlan::beside(method, Update::Hals).fairer;
        let mut parameters = parameters.clone();
        parameters.stopping.time_limit = bar.time_left();
        let plan = PeerPlan { standard: None, fairer };
        let more = fit_peers(data, plan, &parameters, &errors, &observer)?;
        peers.fairer = more.fairer;
        peers.out_of_time.extend(more.out_of_time);
    }
    let subject = Subject { components: model.components.view(), representation: None, method };
    let found = compare(data, &subject, &errors, peers, &options, &observer)?;
    bar.finish();
    let mut missing = auditing::warnings(&found);
    missing.retain(|warning| !outcome.warnings.contains(warning));
    missing.iter().for_each(|warning| bar.warn(warning));
    outcome.warnings.extend(missing);
    let fairer = found.fairer.iter().flat_map(|fairer| &fairer.model.groups);
    for (group, fairer) in outcome.groups.iter_mut().zip(fairer) {
        group.fairer_relative_error = Some(fairer.relative_error);
        group.fairer_loss = Some(fairer.loss);
    }
    let about = About {
        normalize: outcome.data.normalize,
        seed: outcome.seed,
        warnings: (compared.warnings.into_iter())
            .chain(outcome.explains_little())
            .chain(auditing::unfinished(&found))
            .collect(),
        ..about
    };
    let fitted = Some((model, Some(compared.fit.fit_time.as_secs_f64())));
    let bound = outcome.global_bound;
    outcome.report = Some(library::report(about, data, &found, &baselines, fitted, bound));
    outcome.audit = Some(found.subject);
    Ok(())
}

/// The files that were asked for.
struct Outputs {
    model: Option<Output>,
    json: Option<Output>,
    pages: Pages,
}

impl Outputs {
    fn claim(args: &FitArgs) -> Result<Self, Failure> {
        let outputs = [("--model", args.model.as_deref()), ("--json", args.common.json.as_deref())];
        let (report, charts) = (args.common.report.as_deref(), args.common.charts.as_deref());
        let read =
            load::files_read(&args.data, Some(&args.groups), Some(&args.common.baseline), None)?;
        pages::check_distinct(&read, &outputs, report, charts)?;
        let claim = |at: usize| Output::claim_if(outputs[at].0, outputs[at].1, args.common.force);
        let pages = Pages::claim(report, charts, args.common.force)?;
        Ok(Self { model: claim(0)?, json: claim(1)?, pages })
    }

    /// Makes sure of room for what is likely to come.
    fn reserve(
        &mut self,
        (rank, features): (usize, usize),
        groups: usize,
        audited: bool,
    ) -> Result<(), Failure> {
        if let Some(model) = &mut self.model {
            // Of every feature: its entries, its scale, and some 24 bytes of name and frequency.
            model.reserve((rank + 1 + 3) * features * 8 + (1 << 16))?;
        }
        if let Some(json) = &mut self.json {
            json.reserve(groups * 512 + if audited { 1 << 20 } else { 0 })?;
        }
        self.pages.reserve()
    }

    /// Whether standard output is taken, so that the table has to go.
    fn to_stdout(&self) -> bool {
        let files = [&self.model, &self.json];
        self.pages.to_stdout() || files.into_iter().flatten().any(Output::is_stdout)
    }

    /// Writes the model, where it was asked for, and tells the names of its file.
    fn write_model<T: Element>(&mut self, compared: &Compared<T>) -> Result<Vec<String>, Failure> {
        let Some(output) = self.model.take() else { return Ok(Vec::new()) };
        let name = (!output.is_stdout()).then(|| output.shown().to_owned());
        // Into the room that was reserved: nothing else is written on the way.
        output.write(&compared.fit.model.to_bytes().map_err(Failure::failed)?)?;
        Ok(name.into_iter().collect())
    }

    /// Writes the outcome, where it was asked for, and tells the name of its file.
    fn write_json(&mut self, outcome: &Outcome) -> Result<Option<String>, Failure> {
        outputs::write_json(self.json.take(), || outcome.to_json())
    }
}
