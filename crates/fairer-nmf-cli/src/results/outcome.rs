//! What a fit or an audit found: the fields of `--json`, and what the table is made of.
//!
//! Scripts rely on the names here. Errors and losses are relative to the group's norm; `baseline_error` is in
//! the units of `norm` (divide by it to compare). A group's row is the one of the page.

use fairer_nmf::audit::rank::RankReport;
use fairer_nmf::audit::{ChanceBand, Comparison, Role};
use fairer_nmf::discover::FoundGroups;
use fairer_nmf::fit::{Choice, Minimised, ShareReport};
use fairer_nmf::stopping::Status;
use fairer_nmf::{GroupedData, Method, Model, Note, Penalties, audit::AuditReport};
use fairer_nmf_io::{Failure, LeftOut, Loaded, Scaling};
use fairer_nmf_report::library::{self, Normalized};
use fairer_nmf_report::{Group, GroupResult, Remark, Report, SCHEMA, Verdict};
use serde::Serialize;

use crate::screen::listed;
use crate::work::Maker;

/// An R-Error above this says that topics and data have next to nothing in common.
const NEXT_TO_NOTHING: f64 = 0.99;

/// One dictionary and what it costs each group.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    /// The version of these fields; docs/schema/outcome.json has them.
    pub schema: u32,
    /// What the audit says in the end, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    pub method: Maker,
    /// The weight of the worst loss against the total error, where both count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// All that was chosen that is not the paper's, as on the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// The penalties, and the objective with them, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalties: Option<Penalised>,
    /// What the worst share of rows loses, where it was minimised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_share: Option<ShareReport>,
    /// How the groups were found, where they were not known, and the group of every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discovered: Option<FoundGroups>,
    pub rank: usize,
    pub seed: u64,
    /// How the fit ended; none (`given`) for a dictionary from elsewhere.
    #[serde(serialize_with = "status_or_given")]
    pub status: Option<Status>,
    pub iterations: usize,
    pub seconds: Seconds,
    /// Whose time `seconds.fit` is, for the heading: a fit's, which an audit may have followed, or an audit's.
    #[serde(skip)]
    pub timed: Timed,
    /// How often all rows were read, where they stayed on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<usize>,
    /// The largest loss against the baselines, of the groups inside the maximum.
    pub worst_loss: f64,
    pub worst_group: String,
    /// What `worst_criterion`, `step_gap` and `global_bound` are of: `adjusted-loss` where groups have an `allowance`.
    pub criterion: Minimised,
    /// The largest of it: what the fit made as small as it could.
    pub worst_criterion: f64,
    /// How far the dictionary is at the most from the best for its representation; AM only.
    pub step_gap: Option<f64>,
    /// No model of this rank has a worst loss below this; absent where it is too costly.
    pub global_bound: Option<f64>,
    pub groups: Vec<GroupOutcome>,
    pub data: DataFacts,
    pub warnings: Vec<Remark>,
    pub notes: Vec<Note>,
    /// Notes that stand below the table: one of those above, and how many random groups were drawn.
    #[serde(skip)]
    pub left_alone: Option<Note>,
    #[serde(skip)]
    pub drawn: Option<Note>,
    /// How the rank was chosen, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_choice: Option<RankReport>,
    /// One sentence for people on `step_gap` and `global_bound`.
    pub certificate: Option<Note>,
    /// The library's statistics of the dictionary in full, where it was audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditReport>,
    /// All that the page shows, where it was audited: the same numbers under the same names,
    /// whichever command made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Why there is no audit, where one was begun.
    #[serde(skip)]
    pub failed: Option<Failure>,
    /// How many groups were hidden, where any were.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden_groups: usize,
    pub version: &'static str,
    /// Groups with fewer rows are in no file; 0 hides none.
    #[serde(skip)]
    pub min_group_size: usize,
    /// Runs behind every baseline.
    #[serde(skip)]
    pub baseline_runs: usize,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Seconds {
    pub read: f64,
    pub baselines: f64,
    pub fit: f64,
}

/// What was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timed {
    Fit,
    Audit,
}

impl Timed {
    /// In a heading.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Audit => "audit",
        }
    }
}

/// Penalties and what was minimised with them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Penalised {
    #[serde(flatten)]
    pub penalties: Penalties,
    /// ½‖X − WH‖² and the penalties.
    pub objective: Option<f64>,
}

impl Penalised {
    pub(super) fn of(model: &Model) -> Option<Self> {
        match model.parameters.method {
            Method::Penalised { penalties, .. } => {
                Some(Self { penalties, objective: model.penalised_objective })
            }
            _ => None,
        }
    }
}

/// What a way of scaling does to the features.
pub(crate) fn normalized(scaling: &Scaling) -> Normalized {
    match scaling {
        Scaling::UnitFeatures => Normalized::Features,
        Scaling::AsTheyAre => Normalized::None,
        Scaling::Given(_) => Normalized::Model,
    }
}

fn status_or_given<S: serde::Serializer>(
    status: &Option<Status>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.map_or("given", Status::name))
}

/// The data that were factorised.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DataFacts {
    pub path: String,
    pub rows: usize,
    pub features: usize,
    pub precision: &'static str,
    pub normalize: Normalized,
    /// Rows that were left out because of missing cells, by group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl DataFacts {
    /// Of data that were read, with what was done to their features.
    pub(crate) fn of(loaded: &Loaded, data: &GroupedData<'_>, normalize: Normalized) -> Self {
        Self {
            path: loaded.dataset.path().to_owned(),
            rows: data.rows(),
            features: data.features(),
            precision: data.matrix().precision(),
            normalize,
            left_out: loaded.dataset.left_out.clone(),
        }
    }
}

/// One group under the dictionary, and under what it is compared with.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GroupOutcome {
    #[serde(flatten)]
    pub group: Group,
    #[serde(flatten)]
    pub own: GroupResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<GroupResult>,
    /// What Fairer-NMF would make of it, where another dictionary was audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairer: Option<GroupResult>,
}

impl GroupOutcome {
    /// How much of the group is lost more (or, negative, less) than under standard NMF.
    pub(crate) fn change(&self) -> Option<f64> {
        Some(self.own.relative_error - self.standard?.relative_error)
    }
}

/// The groups of a model beside those of standard NMF on the same data.
fn groups(
    model: &Model,
    standard: Option<&Model>,
    random_groups: &[ChanceBand],
) -> Vec<GroupOutcome> {
    let result = |model: &Model, at: usize| {
        let group = &model.groups[at];
        let (relative_error, loss) = (group.relative_error, group.loss);
        GroupResult { relative_error, loss, ..GroupResult::default() }
    };
    let of = |at: usize| {
        let group = library::fitted_group(&model.groups[at], model.rank());
        // Groups that were found in the rows are no groups of people.
        let asked = model.found_groups.is_none();
        let known = model.groups[at].random_groups.filter(|_| asked);
        let band = known.or_else(|| random_groups.get(at).copied());
        let beside = |result: GroupResult| GroupResult {
            chance_mean: band.map(|band| band.mean),
            chance_low: band.map(|band| band.low),
            chance_high: band.map(|band| band.high),
            ..result
        };
        // They pay it under standard NMF.
        let (own, standard) = match standard.map(|s| result(s, at)) {
            Some(of_standard) if !model.parameters.method.is_standard() => {
                (result(model, at), Some(beside(of_standard)))
            }
            of_standard => (beside(result(model, at)), of_standard.map(beside)),
        };
        GroupOutcome { group, own, standard, fairer: None }
    };
    (0..model.groups.len()).map(of).collect()
}

impl Outcome {
    /// The outcome of a fit.
    pub(crate) fn of_model(
        model: &Model,
        standard: Option<&Model>,
        random_groups: &[ChanceBand],
        seconds: Seconds,
        data: DataFacts,
    ) -> Self {
        Self {
            choices: model.choices(),
            penalties: Penalised::of(model),
            worst_share: model.worst_share.clone(),
            discovered: model.found_groups.clone(),
            seed: model.parameters.seed,
            status: Some(model.status),
            iterations: model.iterations(),
            seconds,
            worst_loss: model.worst_loss(),
            worst_group: model.worst_group().name.clone(),
            criterion: model.minimised(),
            worst_criterion: model.worst_criterion(),
            step_gap: model.step_gap,
            global_bound: model.global_bound.value,
            groups: groups(model, standard, random_groups),
            certificate: Some(model.certificate()),
            baseline_runs: model.groups[0].baseline.run_errors.len(),
            ..Self::begun(Some(model.parameters.method), model.rank(), data)
        }
    }

    /// What is known before anything was measured.
    pub(super) fn begun(method: Option<Method>, rank: usize, data: DataFacts) -> Self {
        Self {
            schema: SCHEMA,
            verdict: None,
            method: Maker::of(method),
            fairness: fairness(method),
            choices: Vec::new(),
            penalties: None,
            worst_share: None,
            discovered: None,
            rank,
            seed: 0,
            status: None,
            iterations: 0,
            seconds: Seconds::default(),
            timed: Timed::Fit,
            reads: None,
            worst_loss: f64::NAN,
            worst_group: String::new(),
            criterion: Minimised::Loss,
            worst_criterion: f64::NAN,
            step_gap: None,
            global_bound: None,
            groups: Vec::new(),
            data,
            warnings: Vec::new(),
            notes: Vec::new(),
            left_alone: None,
            drawn: None,
            rank_choice: None,
            certificate: None,
            audit: None,
            report: None,
            failed: None,
            hidden_groups: 0,
            min_group_size: 0,
            version: env!("CARGO_PKG_VERSION"),
            baseline_runs: 0,
        }
    }

    /// A warning where hardly anything of a group is in the topics: nothing that is read out of
    /// them is about it.
    pub(crate) fn explains_little(&self) -> Option<Remark> {
        let little = self.groups.iter().filter(|g| g.own.relative_error > NEXT_TO_NOTHING);
        let names: Vec<String> = little.map(|g| g.group.name.clone()).collect();
        let of = match (names.len(), self.groups.len()) {
            (0, _) => return None,
            (some, all) if some == all => "every group".to_owned(),
            _ => listed(&names, 5),
        };
        let advice = match self.data.normalize {
            Normalized::None => "leave rare or noisy features out (of documents with --min-df)",
            _ => "or take the features as they are with --normalize none",
        };
        let sentence = format!(
            "the topics show next to nothing of {of} (R-Error above {NEXT_TO_NOTHING}): raise --rank, {advice}"
        );
        Some(Remark::new("explains-little", sentence))
    }

    /// Takes over what a comparison found of the groups.
    pub(crate) fn take(&mut self, found: &Comparison) {
        for (l, group) in self.groups.iter_mut().enumerate() {
            let of = |role| found.of(role).map(|audit| library::result(audit, &found.subject, l));
            // Error and loss stay as the fit measured them.
            let GroupResult { relative_error, loss, .. } = group.own;
            let own = library::result(&found.subject, &found.subject, l);
            group.own = GroupResult { relative_error, loss, ..own };
            if let Some((standard, audited)) = group.standard.as_mut().zip(of(Role::Standard)) {
                let GroupResult { relative_error, loss, .. } = *standard;
                *standard = GroupResult { relative_error, loss, ..audited };
            }
            group.fairer = of(Role::Fairer);
        }
        self.drawn = library::drawn(found);
    }
}

/// How fair a method is, where it is neither standard NMF nor Fairer-NMF alone.
fn fairness(method: Option<Method>) -> Option<f64> {
    method.map(|method| method.fairness()).filter(|fairness| *fairness > 0.0 && *fairness < 1.0)
}

/// For serde: a count that is not worth a field.
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}
