//! `fit`: a fair factorisation of a data file.

mod on_disk;

use std::time::Duration;

use clap::Args;
use fairer_nmf::audit::rank::RankReport;
use fairer_nmf::data::AnyMatrix;
use fairer_nmf::discover::{FoundGroups, discover};
use fairer_nmf::fit::{Checkpoint, StartWeights};
use fairer_nmf::{Baseline, GroupedData, Method, Model, Parameters, Update};
use fairer_nmf_io::{Dataset, Failure, Loaded, check_rank, keep_recipe};
use fairer_nmf_report::Remark;

use super::order::{self, OnData};
use crate::args::{
    Bytes, ChoiceArgs, CommonArgs, DataArgs, GroupArgs, RankName, RunArgs, Seconds as TimeArg,
};
use crate::files::{Asked, Files};
use crate::meaning;
use crate::results::{
    About, Outcome, about_data, audit_fit, cautions, choice_note, choice_notes, drawn_beside,
    of_fit,
};
use crate::screen::{Bar, stopped};
use crate::work::{Compared, beside_fit, choose_rank, fit_and_compare, load};
use on_disk::fit_on_disk;

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
        let path = self.checkpoint.as_ref()?;
        Some(Checkpoint::new(path, every).with(|c| c.resume = self.resume))
    }

    fn method(&self) -> Result<Method, Failure> {
        meaning::chosen_method(&self.choice, self.common.solver.update.0)
    }

    /// The update of standard NMF beside the fit, where that is wanted.
    fn compare(&self) -> Option<Update> {
        (!self.common.no_compare).then_some(self.common.solver.update.0)
    }
}

/// How often a checkpoint is written unless told otherwise.
const EVERY: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    match args.memory {
        Some(memory) => fit_on_disk(args, memory.0),
        None => order::run(args),
    }
}

impl OnData for FitArgs {
    type Beside = Method;
    type Found = Outcome;

    fn run_args(&self) -> &RunArgs {
        &self.common.run
    }

    fn claim(&self) -> Result<Files, Failure> {
        let (groups, common) = (Some(&self.groups), &self.common);
        let read = meaning::files_read(&self.data, groups, Some(&common.baseline), None)?;
        let asked = Asked { model: self.model.as_deref(), ..Asked::of(common) };
        meaning::check_hiding(&self.groups, common.audit.min_group_size)?;
        if let Some(path) = self.checkpoint.as_ref().filter(|path| read.contains(path)) {
            return Err(Failure::wrong(format!(
                "--checkpoint {path} would replace what is read: give another file"
            )));
        }
        if self.memory.is_some() && (self.audit || asked.page.1.is_some() || asked.charts.is_some())
        {
            return Err(Failure::wrong(
                "--audit, --report and --charts need all rows in memory: with --memory the errors and losses of all groups are in the table and in --json; for the rest write the model with --model and audit as many rows as fit in memory, `fairer-nmf audit PART --model FILE`",
            ));
        }
        let files = Files::claim(&read, &asked)?;
        self.method()?;
        check_audit(self, &files)?;
        Ok(files)
    }

    fn load(&self, bar: &Bar) -> Result<(Loaded, Method), Failure> {
        let method = self.method()?;
        Ok((load(&self.data, Some(&self.groups), bar)?, method))
    }

    fn work(
        &self,
        (loaded, &method): (&Loaded, &Method),
        matrix: AnyMatrix<'_>,
        files: &mut Files,
        bar: &Bar,
    ) -> Result<Outcome, Failure> {
        let data = grouped(self, loaded, matrix)?;
        check_choices(self, &data)?;
        let (rank, choice) = rank_of(self, &data, bar)?;
        let (data, found) = found_groups(self, method, rank, data, bar)?;
        if !self.common.solver.allow_small_groups {
            check_rank(&data, rank, "--rank")?;
        }
        let audited = self.audit || files.want_pages();
        // Of every feature: its entries, its scale, and some 24 bytes of name and frequency.
        let model = (rank + 1 + 3) * data.features() * 8 + (1 << 16);
        files.reserve(model, data.groups().len() * 512 + if audited { 1 << 20 } else { 0 })?;
        let mut compared = fit(self, method, rank, (&data, found), &loaded.dataset, bar)?;
        files.write_model(&compared.fit.model)?;
        if !audited && !self.common.no_compare && !stopped() {
            compared.random_groups = beside_fit(&data, &compared, bar);
            bar.finish();
        }
        let cautions = cautions_of(&compared, loaded, &data);
        let mut outcome = outcome(self, &compared, loaded, &data, &cautions);
        outcome.rank_choice = choice;
        if audited && !stopped() {
            let about = about(self, loaded, &outcome, &compared.fit.model, cautions);
            let done = audit_fit(about, &data, compared, &mut outcome, &self.common.audit, bar);
            bar.finish();
            // What the fit found is not lost with it.
            outcome.failed = done.err();
        }
        Ok(outcome)
    }
}

/// The rows by the groups that were asked for, in the scale that was.
fn grouped<'a>(
    args: &FitArgs,
    loaded: &Loaded,
    matrix: AnyMatrix<'a>,
) -> Result<GroupedData<'a>, Failure> {
    let normalize = args.common.solver.normalize;
    let scaling = meaning::scaling(normalize, &args.data.text, &loaded.dataset);
    match args.choice.discover.is_some() || args.choice.worst_share.is_some() {
        true => Ok(loaded.grouped_or_whole(matrix, &scaling)?),
        false => Ok(loaded.grouped(matrix, &scaling)?),
    }
}

/// The rank, and how it was chosen where that was left to the data.
fn rank_of(
    args: &FitArgs,
    data: &GroupedData<'_>,
    bar: &Bar,
) -> Result<(usize, Option<RankReport>), Failure> {
    match args.rank {
        RankName::Given(rank) => Ok((rank, None)),
        RankName::Auto => {
            let choice = choose_rank(data, &args.common.solver, bar)?;
            Ok((choice.rank, Some(choice)))
        }
    }
}

/// The fit beside its peers; the model knows what its data were called and how they were read.
fn fit(
    args: &FitArgs,
    method: Method,
    rank: usize,
    (data, found): (&GroupedData<'_>, Option<FoundGroups>),
    dataset: &Dataset,
    bar: &Bar,
) -> Result<Compared, Failure> {
    let limit = meaning::input_limit(&args.data);
    let mut parameters = meaning::fit_parameters(rank, method, &args.common, data, limit)?;
    let asked = parameters.stopping.time_limit;
    if found.is_some() {
        // One limit for finding the groups and fitting them.
        parameters.stopping.time_limit = bar.time_left();
    }
    bar.limit(args.common.solver.time_limit);
    let (peers, checkpoint) = (args.compare(), args.checkpoint());
    let mut compared = fit_and_compare(data, &parameters, peers, checkpoint.as_ref(), bar)?;
    bar.finish();
    let model = &mut compared.fit.model;
    model.parameters.stopping.time_limit = asked;
    model.feature_names = dataset.is_named().then(|| dataset.features.clone());
    model.preparation = keep_recipe(dataset);
    model.found_groups = found;
    Ok(compared)
}

/// What came out, before any audit.
fn outcome(
    args: &FitArgs,
    compared: &Compared,
    loaded: &Loaded,
    data: &GroupedData<'_>,
    cautions: &[Remark],
) -> Outcome {
    let mut outcome = of_fit(compared, !args.common.no_compare, loaded, data);
    outcome.notes = [&loaded.dataset.notes[..], &compared.notes].concat();
    outcome.notes.extend(data.reader_notes());
    outcome.notes.extend(choice_notes(&compared.fit.model));
    outcome.notes.extend(compared.left_alone.clone());
    outcome.left_alone.clone_from(&compared.left_alone);
    outcome.drawn = drawn_beside(&outcome, compared);
    outcome.warnings = compared.warnings();
    outcome.warnings.extend(outcome.explains_little());
    outcome.warnings.extend(cautions.iter().cloned());
    outcome.min_group_size = args.common.audit.min_group_size;
    outcome
}

/// What the data and the topics might be misread for.
fn cautions_of(compared: &Compared, loaded: &Loaded, data: &GroupedData<'_>) -> Vec<Remark> {
    let mut cautions = cautions::of_data(data, &loaded.dataset);
    cautions.extend(cautions::of_topics(compared.fit.representation.to_f64().view()));
    cautions
}

/// What the page says besides what the audit finds.
fn about<'a>(
    args: &FitArgs,
    loaded: &'a Loaded,
    outcome: &Outcome,
    model: &Model,
    cautions: Vec<Remark>,
) -> About<'a> {
    let mut about = about_data(args.common.title.as_deref(), &loaded.dataset);
    about.min_group_size = args.common.audit.min_group_size;
    about.notes.extend(outcome.rank_choice.as_ref().map(choice_note));
    about.notes.extend(choice_notes(model));
    about.warnings = cautions;
    about
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
fn check_choices(args: &FitArgs, data: &GroupedData<'_>) -> Result<(), Failure> {
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
fn found_groups<'a>(
    args: &FitArgs,
    method: Method,
    rank: usize,
    data: GroupedData<'a>,
    bar: &Bar,
) -> Result<(GroupedData<'a>, Option<FoundGroups>), Failure> {
    let Some((how, groups)) = meaning::discovery(&args.choice) else { return Ok((data, None)) };
    bar.stage("finding groups");
    bar.limit(args.common.solver.time_limit);
    let limit = meaning::input_limit(&args.data);
    let parameters = meaning::fit_parameters(rank, method, &args.common, &data, limit)?;
    let found = discover(&data, how, groups, &parameters, &|p| bar.observe(p))?;
    Ok((data.with_found(&found)?, Some(found)))
}
