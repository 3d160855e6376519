//! `audit`: what an existing dictionary, ours or anyone's, costs each group.

use std::time::Instant;

use clap::Args;
use fairer_nmf::audit::{Comparison, PeerPlan, Peers, Subject, compare};
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::data::AnyMatrix;
use fairer_nmf::fit::estimate_baselines;
use fairer_nmf::{GroupedData, Method, Model, Note, Parameters, Progress};
use fairer_nmf_io::{Components, Failure, Loaded, Scaling, check_rank};
use fairer_nmf_report::Remark;
use ndarray::Array2;

use super::order::{self, OnData};
use crate::args::{
    CommonArgs, DataArgs, GroupArgs, Normalize, RunArgs, Seconds as TimeArg, UnseenArgs,
};
use crate::files::{Asked, Files, end_if_stopped};
use crate::meaning;
use crate::results::{Outcome, Seconds, about_data, cautions, of_audit, page_of};
use crate::screen::{Bar, Deadline, stopped};
use crate::work::{
    ForModel, load_for_components, load_for_model, load_model, peers_beside, warnings,
};

/// Measure what an existing dictionary costs each group
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf audit data/heart_disease.csv --model m.safetensors
  fairer-nmf audit X.npy --groups labels.txt --components H.npy

A model of ours brings along how its data were read (groups, dropped and one-hot columns, ranges,
missing cells) and the scaling of its features; options say otherwise. A dictionary from elsewhere was most
likely fitted to the numbers as they are, so --normalize is none for it unless you say
otherwise. H has one row a topic and one column a feature; the transpose is recognised.

The column p: how often a random group of the same size has an error at least as large (with --refit: a
loss), adjusted over the groups. The columns \"random group\" and \"excess\": the mean loss of random groups of
that size, with what nine of ten of them show, and the loss less that mean. That a group pays more than the others is the
verdict's to say.

--report and --json also fit Fairer-NMF of the same rank, unless the model is one, and show what
it would change and for whom; --no-compare leaves that and standard NMF out. In --json, `report`
has all that the page shows, `audit` the library's statistics of the dictionary.")]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    groups: GroupArgs,

    #[command(flatten)]
    unseen: UnseenArgs,

    #[command(flatten)]
    dictionary: Dictionary,

    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Dictionary {
    /// A model that `fit --model` wrote
    #[arg(long, value_name = "FILE", help_heading = "Dictionary")]
    model: Option<String>,

    /// A dictionary from anywhere: .npy, or .csv with the names of the features as header
    #[arg(long, value_name = "H.npy|H.csv", help_heading = "Dictionary")]
    components: Option<String>,
}

/// The dictionary that is audited.
pub(crate) struct Audited {
    components: Array2<f64>,
    scaling: Scaling,
    model: Option<Model>,
}

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    order::run(args)
}

impl OnData for AuditArgs {
    type Beside = Audited;
    type Found = Outcome;

    fn run_args(&self) -> &RunArgs {
        &self.common.run
    }

    fn claim(&self) -> Result<Files, Failure> {
        let (groups, given) = (Some(&self.groups), &self.dictionary);
        let (baseline, components) = (&self.common.baseline, given.components.as_ref());
        let mut read = meaning::files_read(&self.data, groups, Some(baseline), components)?;
        read.extend(given.model.clone());
        meaning::check_hiding(&self.groups, self.common.audit.min_group_size)?;
        Files::claim(&read, &Asked::of(&self.common))
    }

    fn load(&self, bar: &Bar) -> Result<(Loaded, Audited), Failure> {
        match (&self.dictionary.model, &self.dictionary.components) {
            (Some(path), _) => of_model(self, path, bar),
            (None, Some(path)) => of_components(self, path, bar),
            (None, None) => Err(Failure::wrong("give --model or --components")),
        }
    }

    fn work(
        &self,
        read: (&Loaded, &Audited),
        matrix: AnyMatrix<'_>,
        files: &mut Files,
        bar: &Bar,
    ) -> Result<Outcome, Failure> {
        audit(self, read, matrix, files, bar)
    }
}

fn of_model(args: &AuditArgs, path: &str, bar: &Bar) -> Result<(Loaded, Audited), Failure> {
    if args.common.solver.normalize.is_some() {
        return Err(Failure::wrong(
            "--normalize does not go with --model: the model brings its own scaling",
        ));
    }
    let model = load_model(path)?;
    let for_model =
        ForModel { model: &model, path, groups: Some(&args.groups), unseen: args.unseen, id: None };
    let loaded = load_for_model(&for_model, &args.data, bar)?;
    let scaling = model.scale.clone().map_or(Scaling::AsTheyAre, Scaling::Given);
    Ok((loaded, Audited { components: model.components.clone(), scaling, model: Some(model) }))
}

fn of_components(args: &AuditArgs, path: &str, bar: &Bar) -> Result<(Loaded, Audited), Failure> {
    let found = Components::read(path, meaning::input_limit(&args.data))?;
    let mut notes: Vec<Note> = found.note().into_iter().collect();
    let (mut loaded, components, turned) =
        load_for_components(&args.data, &args.groups, found, bar)
            // It may be the reason.
            .inspect_err(|_| notes.iter().for_each(|note| bar.note(&note.sentence)))?;
    if turned {
        let sentence = format!("{path} has one row a feature: it was turned around");
        notes.push(Note::new("turned-around", sentence));
    }
    let scaling = match args.common.solver.normalize {
        Some(Normalize::Features) => Scaling::UnitFeatures,
        Some(Normalize::None) => Scaling::AsTheyAre,
        None => {
            let sentence = format!(
                "{path} was taken to be fitted to the numbers as they are; if its features were scaled to unit length, say --normalize features"
            );
            notes.push(Note::new("taken-as-not-scaled", sentence));
            Scaling::AsTheyAre
        }
    };
    loaded.dataset.notes.splice(0..0, notes);
    Ok((loaded, Audited { components, scaling, model: None }))
}

/// Compares what is asked for on these data, and says what came out.
fn audit(
    args: &AuditArgs,
    (loaded, audited): (&Loaded, &Audited),
    matrix: AnyMatrix<'_>,
    files: &mut Files,
    bar: &Bar,
) -> Result<Outcome, Failure> {
    let data = loaded.grouped(matrix, &audited.scaling)?;
    let rank = audited.components.nrows();
    if !args.common.solver.allow_small_groups {
        check_rank(&data, rank, "the rank of the dictionary")?;
    }
    // The trade-off, and the page with it, stand behind --json, --report and --charts alike.
    let in_full = files.want_json() || files.want_pages();
    files.reserve(0, (1 << 20) + data.groups().len() * 2048)?;
    let start = Instant::now();
    let method = Method::Standard { update: args.common.solver.update.0 };
    let limit = meaning::input_limit(&args.data);
    let parameters = meaning::fit_parameters(rank, method, &args.common, &data, limit)?;
    let fitted = audited.model.as_ref().map(|m| &m.parameters);
    let (wanted, seed) = (&parameters.baseline, parameters.seed);
    let options = meaning::audit_options(&args.common.audit, fitted, wanted, in_full, seed)?;
    let baselines = baselines(&data, &parameters, args.common.solver.time_limit, bar)?;
    let baseline_time = start.elapsed().as_secs_f64();
    let errors = GroupBaseline::errors(&baselines);
    let model = audited.model.as_ref().map(|model| model.beside(&data));
    let model = model.as_deref();
    let subject = match model {
        Some(model) => Subject::of_model(model, &data, &parameters),
        None => Subject::from_elsewhere(audited.components.view(), &data, &parameters),
    };
    let peers = match args.common.no_compare || stopped() {
        true => Peers::default(),
        false => {
            let update = args.common.solver.update.0;
            let plan = PeerPlan::beside(subject.method, update);
            // Fairer-NMF beside it is for page and JSON alone.
            let plan = PeerPlan { fairer: plan.fairer && in_full, ..plan };
            peers_beside(&data, plan, &parameters, &errors, bar)?
        }
    };
    end_if_stopped()?;
    bar.stage("auditing");
    let start = Instant::now();
    let observer = |p: &Progress<'_>| bar.observe(p);
    let found = compare(&data, &subject, &errors, peers, &options, &observer)?;
    let fit = start.elapsed().as_secs_f64();
    bar.finish();
    let seconds = Seconds { read: loaded.seconds, baselines: baseline_time, fit };
    let cautions = cautions::of_data(&data, &loaded.dataset);
    let results = (&found, &baselines[..]);
    let read = (loaded, &audited.scaling);
    let mut outcome = outcome(args, read, (model, &data), results, &cautions);
    (outcome.seconds, outcome.seed) = (seconds, seed);
    if in_full {
        let mut about = about_data(args.common.title.as_deref(), &loaded.dataset);
        about.min_group_size = args.common.audit.min_group_size;
        about.warnings = cautions;
        let fitted = model.map(|model| (model, None));
        outcome.report = Some(page_of(about, &data, results, fitted, Vec::new(), &outcome));
    }
    Ok(outcome)
}

/// What every group is held against, in the time that there is.
fn baselines(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    limit: Option<TimeArg>,
    bar: &Bar,
) -> Result<Vec<GroupBaseline>, Failure> {
    bar.next_fit("", &parameters.stopping);
    bar.limit(limit);
    let deadline = Deadline::new(limit);
    let observer = |p: &Progress<'_>| deadline.observe(p, bar);
    let (rank, wanted, seed) = (parameters.rank, &parameters.baseline, parameters.seed);
    let baselines = estimate_baselines(data, rank, wanted, seed, &observer)?;
    match deadline.passed() {
        true => Err(Failure::failed(
            "the time limit ended the baselines before they were done: raise --time-limit",
        )),
        false => Ok(baselines),
    }
}

/// What came out, but for the page.
fn outcome(
    args: &AuditArgs,
    read: (&Loaded, &Scaling),
    (model, data): (Option<&Model>, &GroupedData<'_>),
    (found, baselines): (&Comparison, &[GroupBaseline]),
    cautions: &[Remark],
) -> Outcome {
    let is_standard = model.is_some_and(|m| m.parameters.method.is_standard());
    let itself = is_standard && !args.common.no_compare;
    let mut outcome = of_audit(read, data, (found, baselines), model, itself);
    outcome.notes.extend(outcome.left_alone.clone());
    outcome.warnings = warnings(found);
    outcome.warnings.extend(outcome.explains_little());
    outcome.warnings.extend(cautions.iter().cloned());
    outcome.min_group_size = args.common.audit.min_group_size;
    outcome
}
