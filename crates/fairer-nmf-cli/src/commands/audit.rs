//! `audit`: what an existing dictionary, ours or anyone's, costs each group.

use std::time::Instant;

use clap::Args;
use fairer_nmf::audit::{
    Comparison, GroupAudit, PeerPlan, Peers, Role, Subject, compare, fit_peers,
};
use fairer_nmf::rows::Element;
use fairer_nmf::{
    GroupedData, Matrix, Method, Model, Note, Parameters, Progress,
    baseline::GroupBaseline,
    bound::global_bound,
    fit::{Allowance, allowances, estimate_baselines},
};
use fairer_nmf_io::{AnyMatrix, Components, Failure, Loaded, Scaling, check_rank};
use fairer_nmf_report::{Group, SCHEMA, library};
use ndarray::Array2;

use crate::args::{CommonArgs, DataArgs, GroupArgs, Normalize, UnseenArgs};
use crate::files::{Asked, Files, end_if_stopped};
use crate::meaning;
use crate::results::{
    About, DataFacts, GroupOutcome, Normalized, Outcome, Seconds, about, cautions, fairness, table,
    title,
};
use crate::screen::{Bar, Deadline, show, stopped};
use crate::work::{
    ForModel, Maker, left_alone, load_for_components, load_for_model, load_model, unfinished,
    warnings,
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
struct Audited {
    components: Array2<f64>,
    scaling: Scaling,
    model: Option<Model>,
}

impl Audited {
    /// The method that fitted it; none for a dictionary from elsewhere.
    fn method(&self) -> Option<Method> {
        self.model.as_ref().map(|m| m.parameters.method)
    }
}

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.common.run);
    let given = &args.dictionary;
    let (baseline, components) = (&args.common.baseline, given.components.as_ref());
    let groups = Some(&args.groups);
    let mut read = meaning::files_read(&args.data, groups, Some(baseline), components)?;
    read.extend(given.model.clone());
    meaning::check_hiding(&args.groups, args.common.audit.min_group_size)?;
    let files = Files::claim(&read, &Asked::of(&args.common))?;
    let (loaded, audited) = match (&given.model, &given.components) {
        (Some(path), _) => of_model(args, path, &bar)?,
        (None, Some(path)) => of_components(args, path, &bar)?,
        (None, None) => return Err(Failure::wrong("give --model or --components")),
    };
    match loaded.matrix()? {
        AnyMatrix::F32(matrix) => run_on(args, &loaded, matrix, &audited, files, &bar),
        AnyMatrix::F64(matrix) => run_on(args, &loaded, matrix, &audited, files, &bar),
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

fn run_on<T: Element>(
    args: &AuditArgs,
    loaded: &Loaded,
    matrix: Matrix<'_, T>,
    audited: &Audited,
    mut files: Files,
    bar: &Bar,
) -> Result<(), Failure> {
    let data = loaded.grouped(matrix, &audited.scaling)?;
    let rank = audited.components.nrows();
    if !args.common.solver.allow_small_groups {
        check_rank(&data, rank, "the rank of the dictionary")?;
    }
    let fitted = audited.model.as_ref().map(|m| &m.parameters);
    let trade_off = files.want_json() || files.want_pages();
    let seed = args.common.solver.seed;
    files.reserve(0, (1 << 20) + data.groups().len() * 2048)?;

    let start = Instant::now();
    let method = Method::Standard { update: args.common.solver.update.0 };
    let limit = meaning::input_limit(&args.data);
    let parameters = meaning::fit_parameters(rank, method, &args.common, &data, limit)?;
    let wanted = &parameters.baseline;
    let options = meaning::audit_options(&args.common.audit, fitted, wanted, trade_off, seed)?;
    bar.next_fit("", &parameters.stopping);
    bar.limit(args.common.solver.time_limit);
    let deadline = Deadline::new(args.common.solver.time_limit);
    let observer = |p: &Progress<'_>| deadline.observe(p, bar);
    let baselines = estimate_baselines(&data, rank, wanted, seed, &observer)?;
    if deadline.passed() {
        return Err(Failure::failed(
            "the time limit ended the baselines before they were done: raise --time-limit",
        ));
    }
    let baseline_time = start.elapsed().as_secs_f64();
    let errors: Vec<f64> = baselines.iter().map(|b| b.error).collect();
    let observer = |p: &Progress<'_>| bar.observe(p);
    // A model that evened out other groups is one from elsewhere to these.
    let same = audited.model.as_ref().is_some_and(|model| knows(model, &data));
    let method = audited.method().filter(|method| same || !method.evens_out());
    let peers = match args.common.no_compare || stopped() {
        true => Peers::default(),
        false => {
            let update = args.common.solver.update.0;
            let plan = PeerPlan::beside(method, update);
            // Fairer-NMF beside it is for page and JSON alone.
            let plan = PeerPlan { fairer: plan.fairer && trade_off, ..plan };
            let mut parameters = parameters.clone();
            parameters.stopping.time_limit = bar.time_left();
            fit_peers(&data, plan, &parameters, &errors, &observer)?
        }
    };
    end_if_stopped()?;

    bar.stage("auditing");
    let start = Instant::now();
    let components = audited.components.view();
    let allowed = allowed(audited, &data, &parameters);
    let cut_short = audited.model.as_ref().is_some_and(|m| m.status.is_cut_short());
    let allowances = &allowed[..];
    let subject = Subject { components, representation: None, method, allowances, cut_short };
    let found = compare(&data, &subject, &errors, peers, &options, &observer)?;
    let seconds = Seconds {
        read: loaded.seconds,
        baselines: baseline_time,
        fit: start.elapsed().as_secs_f64(),
    };
    bar.finish();

    let mut outcome = outcome(args, audited, loaded, &data, &found, &baselines);
    outcome.seconds = seconds;
    outcome.seed = seed;
    outcome.warnings = warnings(&found);
    outcome.warnings.extend(outcome.explains_little());
    let cautions = cautions::of_data(&data, &loaded.dataset);
    outcome.warnings.extend(cautions.iter().cloned());
    outcome.min_group_size = args.common.audit.min_group_size;
    let shown = !args.common.run.quiet && !files.to_stdout();
    show(bar, &outcome.notes, shown.then(|| table(&outcome)), &outcome.warnings)?;
    outcome.notes.extend(outcome.left_alone.clone());
    // Behind --json, --report and --charts alike.
    if trade_off {
        let about = About {
            title: title(args.common.title.as_deref(), &loaded.dataset),
            features: &loaded.dataset.features,
            normalize: outcome.data.normalize.name(),
            seed,
            min_group_size: args.common.audit.min_group_size,
            notes: loaded.dataset.notes.iter().cloned().chain(outcome.left_alone.clone()).collect(),
            warnings: (outcome.explains_little().into_iter())
                .chain(cautions)
                .chain(unfinished(&found))
                .collect(),
            ..about()
        };
        let fitted = audited.model.as_ref().map(|model| (model, None));
        let bound = outcome.global_bound;
        let report = library::report(about, &data, &found, &baselines, fitted, bound);
        outcome.report = Some(report);
    }
    files.write_json(|| outcome.to_json())?;
    outcome.report.iter().try_for_each(|report| files.write_pages(report))?;
    bar.wrote(&files.finish()?);
    Ok(())
}

/// What the fit of the dictionary allowed the groups, where it is ours and they are the same; else
/// their places in and outside the maximum.
fn allowed<T: Element>(
    audited: &Audited,
    data: &GroupedData<'_, T>,
    parameters: &Parameters,
) -> Vec<Allowance> {
    match &audited.model {
        Some(model) if is_of(model, data) => model.allowances(),
        _ => allowances(data, parameters),
    }
}

/// Whether the model was fitted to groups of all these names.
fn knows<T: Element>(model: &Model, data: &GroupedData<'_, T>) -> bool {
    data.groups().iter().all(|group| model.groups.iter().any(|g| g.name == group.name))
}

/// Whether the model was fitted to groups of these names alone.
fn is_of<T: Element>(model: &Model, data: &GroupedData<'_, T>) -> bool {
    model.groups.iter().map(|g| &g.name).eq(data.groups().iter().map(|g| &g.name))
}

fn outcome<T: Element>(
    args: &AuditArgs,
    audited: &Audited,
    loaded: &Loaded,
    data: &GroupedData<'_, T>,
    found: &Comparison,
    baselines: &[GroupBaseline],
) -> Outcome {
    let audit = &found.subject;
    let is_standard = audited.method().is_some_and(|method| method.is_standard());
    let itself = is_standard && !args.common.no_compare;
    // What the fit of a model of ours allowed these groups, and said of it.
    let of_fit = audited.model.as_ref().filter(|model| is_of(model, data));
    let group = |(l, group): (usize, &GroupAudit)| {
        let allowance = of_fit.and_then(|model| model.groups[l].allowance);
        let of = |role| found.of(role).map(|audit| library::result(audit, &found.subject, l));
        let own = library::result(&found.subject, &found.subject, l);
        GroupOutcome {
            group: Group { allowance, ..library::group(group, &baselines[l]) },
            own,
            standard: of(Role::Standard).or(itself.then_some(own)),
            fairer: of(Role::Fairer),
        }
    };
    let bound = global_bound(data, audit.rank, &audit.offsets());
    let model = audited.model.as_ref();
    Outcome {
        schema: SCHEMA,
        verdict: Some(library::verdict(found)),
        method: Maker::of(audited.method()),
        fairness: fairness(audited.method()),
        choices: model.map(Model::choices).unwrap_or_default(),
        penalties: None,
        worst_share: None,
        discovered: None,
        rank: audit.rank,
        seed: 0,
        status: model.map(|m| m.status),
        iterations: model.map_or(0, Model::iterations),
        reads: None,
        seconds: Seconds::default(),
        timed: "audit",
        worst_loss: audit.worst_loss,
        worst_group: audit.groups[audit.worst_group].name.clone(),
        criterion: audit.minimised(),
        worst_criterion: audit.worst_criterion(),
        step_gap: model.and_then(|m| m.step_gap),
        global_bound: bound.value,
        groups: audit.groups.iter().enumerate().map(group).collect(),
        data: DataFacts {
            path: loaded.dataset.path().to_owned(),
            rows: data.rows(),
            features: data.features(),
            precision: T::NAME,
            normalize: Normalized::of(&audited.scaling),
            left_out: loaded.dataset.left_out.clone(),
        },
        warnings: Vec::new(),
        left_alone: of_fit.and_then(left_alone),
        notes: loaded.dataset.notes.iter().cloned().chain(data.reader_notes()).collect(),
        rank_choice: None,
        certificate: Some(audit.certificate(&bound)),
        audit: Some(audit.clone()),
        report: None,
        hidden_groups: 0,
        min_group_size: 0,
        version: env!("CARGO_PKG_VERSION"),
        baseline_runs: baselines.first().map_or(0, |b| b.run_errors.len()),
    }
}
