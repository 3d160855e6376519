//! `fit`: a fair factorisation of a data file.

use clap::Args;
use fairer_nmf::discover::{FoundGroups, discover};
use fairer_nmf::fit::{Checkpoint, StartWeights};
use fairer_nmf::rows::Element;
use fairer_nmf::{Baseline, GroupedData, Matrix, Method, Note, Parameters};
use fairer_nmf_io::{AnyMatrix, Failure, Loaded, Scaling, check_rank, keep_recipe};
use std::time::Duration;

use crate::args::{
    Bytes, ChoiceArgs, CommonArgs, DataArgs, GroupArgs, Normalize, RankName, Seconds as TimeArg,
};
use crate::files::{Asked, Files};
use crate::meaning;
use crate::results::{
    DataFacts, Normalized, Outcome, Seconds, about_data, audit_fit, cautions, choice_note,
    choice_notes, choice_table, of_fit, table, table_after,
};
use crate::screen::{Bar, show, stopped};
use crate::work::{Wanted, choose_rank, fit_and_compare, fit_shards, load, open};

/// Fit a dictionary that treats the worst-off group as well as possible
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf fit data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --rank 5 --model m.safetensors
  fairer-nmf fit posts.jsonl.gz --text text --group-by group --rank 6 --max-features 200 \\
      --stop-words english --json fit.json --report fit.html
  fairer-nmf fit X.npy --groups labels.txt --rank 10 --method mu
  fairer-nmf fit shards/ --groups labels.txt --rank 20 --memory 2GB
  fairer-nmf fit large.csv --group-by region --rank 20 --memory 2GB

The table shows for every group: R-Error, the part of it that is lost; its baseline, what a
dictionary of its own would lose (± standard deviation over the runs); and R-Loss, the
difference: what it pays for sharing; allowed is the part of it that chance explains. Fairer-NMF
makes the largest R-Loss beyond it (with other baselines than adjusted: the largest R-Loss) as
small as it can.

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

    /// Number of topics, or auto: as many as foretell entries that were held out, of all rows and of
    /// the worst-off group (bi-cross-validation)
    #[arg(long, short, value_name = "R|auto", help_heading = "Model")]
    rank: RankName,

    #[command(flatten)]
    choice: ChoiceArgs,

    /// Write the model, for transform, audit and topics
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    model: Option<String>,

    /// Audit the fit, as --report and --charts do, and put what was found into --json
    #[arg(long, help_heading = "Output", requires = "json")]
    audit: bool,

    #[command(flatten)]
    pub common: CommonArgs,

    /// Leave the data on disk and read them block by block, with this much memory in all, as in 500MB
    /// or 2GB: .npy, .npz, a folder of such shards, a folder with data.npy, indices.npy and indptr.npy
    /// (CSR); .csv and .parquet, converted once into a folder beside them; no audit
    #[arg(long, value_name = "SIZE", help_heading = "Run",
          conflicts_with_all = ["weights", "group_by_each", "membership",
                                "worst_share", "discover", "alpha_w", "alpha_h"])]
    memory: Option<Bytes>,

    /// Keep the state of the fit in this file and, one a run, in files beside it
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    checkpoint: Option<String>,

    /// How often [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Run", requires = "checkpoint")]
    every: Option<TimeArg>,

    /// Go on from the checkpoint: the model is the one that the fit would have ended with
    #[arg(long, help_heading = "Run", requires = "checkpoint")]
    resume: bool,
}

impl FitArgs {
    fn checkpoint(&self) -> Option<Checkpoint> {
        let every = self.every.map_or(EVERY, |time| time.0);
        let path = self.checkpoint.as_ref()?.into();
        Some(Checkpoint { path, every, resume: self.resume })
    }
}

/// How often a checkpoint is written unless told otherwise.
const EVERY: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.common.run);
    let groups = Some(&args.groups);
    let read = meaning::files_read(&args.data, groups, Some(&args.common.baseline), None)?;
    let asked = Asked { model: args.model.as_deref(), ..Asked::of(&args.common) };
    meaning::check_hiding(&args.groups, args.common.audit.min_group_size)?;
    if let Some(path) = args.checkpoint.as_ref().filter(|path| read.contains(path)) {
        return Err(Failure::wrong(format!(
            "--checkpoint {path} would replace what is read: give another file"
        )));
    }
    if args.memory.is_some() && (args.audit || asked.page.1.is_some() || asked.charts.is_some()) {
        return Err(Failure::wrong(
            "--audit, --report and --charts need all rows in memory: with --memory the errors and losses of all groups are in the table and in --json; for the rest write the model with --model and audit as many rows as fit in memory, `fairer-nmf audit PART --model FILE`",
        ));
    }
    let files = Files::claim(&read, &asked)?;
    let solver = &args.common.solver;
    let method = meaning::chosen_method(&args.choice, solver.update.0)?;
    check_audit(args, &files)?;
    if let Some(memory) = args.memory {
        return fit_on_disk(args, memory.0, method, files, &bar);
    }
    let loaded = load(&args.data, groups, &bar)?;
    match loaded.matrix()? {
        AnyMatrix::F32(matrix) => fit_matrix(args, method, &loaded, matrix, files, &bar),
        AnyMatrix::F64(matrix) => fit_matrix(args, method, &loaded, matrix, files, &bar),
    }
}

fn fit_matrix<T: Element>(
    args: &FitArgs,
    method: Method,
    loaded: &Loaded,
    matrix: Matrix<'_, T>,
    mut files: Files,
    bar: &Bar,
) -> Result<(), Failure> {
    let solver = &args.common.solver;
    let dataset = &loaded.dataset;
    let scaling = meaning::scaling(solver.normalize, &args.data.text, dataset);
    let whole = args.choice.discover.is_some() || args.choice.worst_share.is_some();
    let data = match whole {
        true => loaded.grouped_or_whole(matrix, &scaling)?,
        false => loaded.grouped(matrix, &scaling)?,
    };
    let audited = args.audit || files.want_pages();
    check_choices(args, &data)?;
    let choice = match args.rank {
        RankName::Given(_) => None,
        RankName::Auto => Some(choose_rank(&data, solver, bar)?),
    };
    let rank = match (args.rank, &choice) {
        (RankName::Given(rank), _) => rank,
        (RankName::Auto, choice) => choice.as_ref().map_or(1, |choice| choice.rank),
    };
    let (data, found) = found_groups(args, method, rank, data, bar)?;
    if !solver.allow_small_groups {
        check_rank(&data, rank, "--rank")?;
    }
    let limit = meaning::input_limit(&args.data);
    let mut parameters = meaning::fit_parameters(rank, method, &args.common, &data, limit)?;
    let asked = parameters.stopping.time_limit;
    if found.is_some() {
        // One limit for finding the groups and fitting them.
        parameters.stopping.time_limit = bar.time_left();
    }
    // Of every feature: its entries, its scale, and some 24 bytes of name and frequency.
    let model = (rank + 1 + 3) * data.features() * 8 + (1 << 16);
    files.reserve(model, data.groups().len() * 512 + if audited { 1 << 20 } else { 0 })?;
    let compare = (!args.common.no_compare).then_some(solver.update.0);
    bar.limit(solver.time_limit);
    let checkpoint = args.checkpoint();
    let mut compared = fit_and_compare(&data, &parameters, compare, checkpoint.as_ref(), bar)?;
    bar.finish();

    compared.fit.model.parameters.stopping.time_limit = asked;
    compared.fit.model.feature_names = dataset.is_named().then(|| dataset.features.clone());
    compared.fit.model.preparation = keep_recipe(dataset);
    compared.fit.model.found_groups = found;
    let mut outcome = of_fit(&compared, !args.common.no_compare, loaded, &data);
    outcome.notes = [&dataset.notes[..], &compared.notes].concat();
    outcome.notes.extend(data.reader_notes());
    let of_choices = choice_notes(&compared.fit.model);
    outcome.notes.extend(of_choices.iter().cloned());
    let chosen = choice.as_ref().map(choice_note);
    outcome.rank_choice = choice;
    outcome.left_alone.clone_from(&compared.left_alone);
    outcome.warnings = compared.warnings();
    outcome.warnings.extend(outcome.explains_little());
    let mut cautions = cautions::of_data(&data, dataset);
    cautions.extend(cautions::of_topics(compared.fit.representation.view()));
    outcome.warnings.extend(cautions.iter().cloned());
    outcome.min_group_size = args.common.audit.min_group_size;
    let shown = !args.common.run.quiet && !files.to_stdout();
    let ranks = outcome.rank_choice.as_ref().map(choice_table).unwrap_or_default();
    files.write_model(&compared.fit.model)?;
    let mut failure = None;
    if audited && !stopped() {
        let mut about = about_data(args.common.title.as_deref(), dataset);
        about.min_group_size = args.common.audit.min_group_size;
        about.notes.extend(chosen.into_iter().chain(of_choices));
        about.warnings = cautions;
        let done = audit_fit(about, &data, compared, &mut outcome, &args.common.audit, bar);
        bar.finish();
        failure = done.err();
    }
    // After the audit: the verdict comes first. And if that failed, what the fit found is not lost with it.
    show(bar, &outcome.notes, shown.then(|| table_after(&outcome, &ranks)), &outcome.warnings)?;
    outcome.notes.extend(outcome.left_alone.clone());
    files.write_json(|| outcome.to_json())?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    outcome.report.iter().try_for_each(|report| files.write_pages(report))?;
    bar.wrote(&files.finish()?);
    Ok(())
}

/// Refuses options of an audit that nothing asks for, and values outside their range.
fn check_audit(args: &FitArgs, files: &Files) -> Result<(), Failure> {
    let options = &args.common.audit;
    if let Some(name) = options.typed().filter(|_| !args.audit && !files.want_pages()) {
        return Err(Failure::wrong(format!(
            "{name} is about the audit of a fit, which nothing asks for: add --report PAGE.html, or --audit with --json FILE"
        )));
    }
    meaning::audit_options(options, Some(&Parameters::new(1)), &Baseline::Zero, true, 0)?;
    Ok(())
}

/// Refuses what would only be ignored, or mislead, before any work is done.
fn check_choices<T: Element>(args: &FitArgs, data: &GroupedData<'_, T>) -> Result<(), Failure> {
    let wrong = |sentence: &str| Err(Failure::wrong(sentence));
    if args.choice.discover.is_some() && args.common.audit.refit.is_some_and(|draws| draws > 0) {
        return wrong(
            "--discover does not go with --refit: groups that were found in the same rows are not tested; leave it out",
        );
    }
    if args.choice.discover_groups.is_some() && args.choice.discover.is_none() {
        return wrong("--discover-groups says how many groups to find: say how with --discover");
    }
    let solver = &args.common.solver;
    if solver.start_weights == StartWeights::Bound
        && (data.has_gaps() || args.choice.worst_share.is_some())
    {
        return wrong(
            "--start-weights bound does not go with --missing unobserved and --worst-share, which have no bound: leave it out",
        );
    }
    if data.has_gaps() && args.rank == RankName::Auto {
        return wrong(
            "--missing unobserved does not go with --rank auto, which holds out cells of its own: give the rank",
        );
    }
    if args.choice.worst_share.is_some() && args.checkpoint.is_some() {
        return wrong("--worst-share does not go with --checkpoint: leave it out");
    }
    Ok(())
}

/// The data in the groups that were found in them, where they were to be.
fn found_groups<'a, T: Element>(
    args: &FitArgs,
    method: Method,
    rank: usize,
    data: GroupedData<'a, T>,
    bar: &Bar,
) -> Result<(GroupedData<'a, T>, Option<FoundGroups>), Failure> {
    let Some((how, groups)) = meaning::discovery(&args.choice) else { return Ok((data, None)) };
    bar.stage("finding groups");
    bar.limit(args.common.solver.time_limit);
    let limit = meaning::input_limit(&args.data);
    let parameters = meaning::fit_parameters(rank, method, &args.common, &data, limit)?;
    let found = discover(&data, how, groups, &parameters, &|p| bar.observe(p))?;
    Ok((data.with_found(&found)?, Some(found)))
}

/// The same with data that stay on disk.
fn fit_on_disk(
    args: &FitArgs,
    memory: usize,
    method: Method,
    mut files: Files,
    bar: &Bar,
) -> Result<(), Failure> {
    let start = std::time::Instant::now();
    let solver = &args.common.solver;
    let RankName::Given(rank) = args.rank else {
        return Err(Failure::wrong(
            "--rank auto holds the data in memory: give the rank with --memory, or choose it on a part of the rows",
        ));
    };
    if args.groups.merge_small > 0 {
        return Err(Failure::wrong(
            "--merge-small does not go with data that stay on disk: merge the labels first",
        ));
    }
    let held = open(&args.data, &args.groups, memory, bar)?;
    let scaling = match solver.normalize {
        Some(Normalize::None) => Scaling::AsTheyAre,
        _ => Scaling::UnitFeatures,
    };
    let limit = meaning::input_limit(&args.data);
    let parameters = |names: &[&str]| {
        let baseline = meaning::baseline(&args.common.baseline, names, Baseline::best(), limit)?;
        Ok(meaning::parameters(rank, method, solver).with(|p| p.baseline = baseline))
    };
    let wanted = Wanted {
        memory,
        scaling: &scaling,
        compare: (!args.common.no_compare).then_some(solver.update.0),
        parameters: &parameters,
        checkpoint: args.checkpoint(),
    };
    bar.limit(solver.time_limit);
    let mut found = fit_shards(&held.shards, held.groups, &wanted, bar)?;
    bar.finish();
    found.model.feature_names = held.features;
    found.model.preparation = held.preparation;
    let (baselines, fit) = (found.baseline_time.as_secs_f64(), found.fit_time.as_secs_f64());
    let read = (start.elapsed().as_secs_f64() - baselines - fit).max(0.0);
    let facts = DataFacts {
        path: args.data.data.clone(),
        rows: found.shape.0,
        features: found.shape.1,
        precision: found.precision,
        normalize: Normalized::of(&scaling),
        left_out: held.left_out,
    };
    let own = method.is_standard() && !args.common.no_compare;
    let standard = if own { Some(&found.model) } else { found.standard.as_ref() };
    let seconds = Seconds { read, baselines, fit };
    let mut outcome = Outcome::of_model(&found.model, standard, seconds, facts);
    outcome.reads = Some(found.reads);
    outcome.notes = held.notes;
    let sentence = format!("all rows were read {} times", found.reads);
    outcome.notes.push(Note::new("reads", sentence));
    outcome.warnings = found.warnings;
    outcome.warnings.extend(outcome.explains_little());
    outcome.warnings.extend(cautions::of_vanished(held.vanished + held.shards.vanished()));
    outcome.min_group_size = args.common.audit.min_group_size;
    let shown = !args.common.run.quiet && !files.to_stdout();
    show(bar, &outcome.notes, shown.then(|| table(&outcome)), &outcome.warnings)?;
    files.write_model(&found.model)?;
    files.write_json(|| outcome.to_json())?;
    bar.wrote(&files.finish()?);
    Ok(())
}
