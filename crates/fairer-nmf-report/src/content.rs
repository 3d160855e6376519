//! What a report says, as plain numbers and names.
//!
//! The program and the Python bindings fill these structs; this crate only
//! draws them. Every error, loss and bound is a *fraction of the group's norm*
//! (0.106 is shown as 10.6 %), named as in the public interfaces: see
//! [`GroupResult`]. A number that is not finite is shown as a dash.

mod compared;
mod evidence;
mod groups;
mod maker;
mod ranks;
mod remark;

pub use compared::*;
pub use evidence::*;
pub use groups::*;
pub use maker::Maker;
pub use ranks::*;
pub use remark::*;

pub use fairer_nmf::audit::{Role, VerdictCode};
pub use fairer_nmf::discover::Discover;
pub use fairer_nmf::fit::Minimised;
pub use fairer_nmf::stopping::Status;
use serde::{Deserialize, Deserializer, Serialize};

/// The version of the fields of every JSON file. docs/schema has a JSON Schema for each kind.
pub const SCHEMA: u32 = 1;

/// Everything one page shows. Sections that are `None` leave no hole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The version of these fields: [`SCHEMA`].
    pub schema: u32,
    /// Heading of the page.
    pub title: String,
    /// One line under the heading; may be empty.
    pub subtitle: String,
    /// When and by what the report was made, ready to print; may be empty.
    pub generated: String,
    /// The command or call that makes this report again.
    pub command: Option<String>,
    /// What the audit says in the end, where there was one.
    pub verdict: Option<Verdict>,
    /// The data that were factorised.
    pub data: DataSummary,
    /// How the groups were found in the data, so that no test holds for them; none where they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<Discover>,
    /// Settings of the run, in the order to show them.
    pub settings: Vec<Setting>,
    /// The models compared. The first is what one starts from (standard NMF, or the
    /// dictionary that is audited), the last the fairer one; a single one where
    /// nothing is compared.
    pub models: Vec<ModelSummary>,
    /// Section 1, always there.
    pub who_pays: WhoPays,
    /// Section 2: intervals and permutation tests.
    pub is_it_real: Option<IsItReal>,
    /// Section 3: the price of the fairer model, and who pays it.
    pub cost: Option<Cost>,
    /// Section 4: convergence and optimality.
    pub quality: Option<Quality>,
    /// The methods of others side by side, where they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// Section 5: a sweep over ranks.
    pub ranks: Option<Ranks>,
    /// Section 6: the dictionary in words.
    pub topics: Option<Topics>,
    /// Remarks on the data.
    pub notes: Vec<Remark>,
    /// Things to know before reading on, shown at the top.
    pub warnings: Vec<Remark>,
    /// Groups with fewer rows than this appear in no output; 0 hides none.
    pub min_group_size: usize,
    /// How many groups were hidden. Set by [`Report::published`].
    pub hidden_groups: usize,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            title: String::new(),
            subtitle: String::new(),
            generated: String::new(),
            command: None,
            verdict: None,
            data: DataSummary::default(),
            found_by: None,
            settings: Vec::new(),
            models: Vec::new(),
            who_pays: WhoPays::default(),
            is_it_real: None,
            cost: None,
            quality: None,
            compared: None,
            ranks: None,
            topics: None,
            notes: Vec::new(),
            warnings: Vec::new(),
            min_group_size: 0,
            hidden_groups: 0,
        }
    }
}

/// Shape and preparation of the data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataSummary {
    /// Number of samples (rows). Counts shown groups only once groups are hidden.
    pub rows: usize,
    /// Number of features (columns).
    pub features: usize,
    /// Number of groups. Counts shown groups only once groups are hidden.
    pub groups: usize,
    /// Share of entries that are not zero, 0 to 1.
    pub density: Option<f64>,
    /// Whether each feature was scaled to unit length over all rows.
    pub normalized: bool,
}

/// One setting of the run, ready to print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Public name, such as `rank`.
    pub name: String,
    /// Value as text.
    pub value: String,
}

impl Report {
    /// Whether the groups were found in the data: no test holds for them.
    pub(crate) fn groups_were_found(&self) -> bool {
        self.found_by.is_some()
    }

    /// Whether baselines are of rows that the groups' own dictionaries have not seen.
    pub(crate) fn baselines_are_held_out(&self) -> bool {
        self.who_pays.baseline_kind == Some(Yardstick::HeldOut)
    }

    /// Whether no group has a baseline, so that a loss is the whole error.
    pub(crate) fn has_no_baselines(&self) -> bool {
        self.who_pays.groups.iter().all(|group| group.relative_baseline <= 0.0)
    }
}

/// One of the models compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSummary {
    /// Display name: "Standard NMF", "Fairer-NMF (AM)", "Your topics".
    pub name: String,
    /// `subject` for the dictionary that the report is about; `standard` and `fairer` for those
    /// beside it.
    pub role: Role,
    /// Number of topics.
    pub rank: usize,
    /// ‖X − WH‖/‖X‖ over all groups together.
    pub total_error: Option<f64>,
}

/// Section 3: the price of the fairer model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Fits between standard (alpha 0) and min-max (alpha 1), in order of alpha.
    pub curve: Vec<TradeOffPoint>,
    /// What the fairer fit made small: `loss`, or `adjusted-loss`, the loss beyond what the fit
    /// allows (the loss that chance explains).
    pub criterion: Minimised,
    /// One entry per group: last model against the first.
    pub changes: Vec<Change>,
    /// Share of all samples whose error rises, 0 to 1.
    pub share_worse: Option<f64>,
}

/// One fit of the mixed objective (1−α)·total + α·worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeOffPoint {
    /// Weight of the worst group's loss, 0 to 1.
    #[serde(deserialize_with = "number")]
    pub alpha: f64,
    /// ‖X − WH‖/‖X‖ over all groups.
    #[serde(deserialize_with = "number")]
    pub total_error: f64,
    /// Largest loss over the groups inside the maximum.
    #[serde(deserialize_with = "number")]
    pub worst_loss: f64,
    /// The largest of what was traded against the total: see [`Cost::criterion`].
    #[serde(deserialize_with = "number")]
    pub worst_criterion: f64,
}

/// What the change of model does to one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Name of the group.
    pub group: String,
    /// Relative error under the last model minus that under the first. The
    /// loss changes by the same amount, for the baseline is the same.
    #[serde(deserialize_with = "number")]
    pub change: f64,
    /// Share of the group's samples whose error rises, 0 to 1.
    pub share_worse: Option<f64>,
}

/// Section 4: convergence and optimality.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quality {
    /// What history, gap and bound are of.
    pub criterion: Minimised,
    /// One entry per model fitted.
    pub fits: Vec<FitQuality>,
}

/// How one fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FitQuality {
    /// Name of the model, as in [`ModelSummary::name`].
    pub model: String,
    /// How the fit ended.
    pub status: Status,
    /// Number of iterations.
    pub iterations: usize,
    /// Wall-clock seconds.
    pub seconds: Option<f64>,
    /// Largest loss (of [`Quality::criterion`]) over the groups after each iteration.
    #[serde(deserialize_with = "numbers")]
    pub history: Vec<f64>,
    /// Certified distance of the dictionary from the best for its representation, as a loss.
    pub step_gap: Option<f64>,
    /// No model of this rank has a worst loss (of [`Quality::criterion`]) below this.
    pub global_bound: Option<f64>,
}

impl Default for FitQuality {
    fn default() -> Self {
        Self {
            model: String::new(),
            status: Status::Converged,
            iterations: 0,
            seconds: None,
            history: Vec::new(),
            step_gap: None,
            global_bound: None,
        }
    }
}

/// Section 6: the dictionary in words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topics {
    /// The model whose topics these are, as in [`ModelSummary::name`].
    pub model: Option<String>,
    /// The model they were matched with.
    pub reference: Option<String>,
    /// Topics of the model, in order.
    pub topics: Vec<Topic>,
}

/// One row of the dictionary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topic {
    /// Display name, such as "Topic 1".
    pub name: String,
    /// Strongest features, strongest first.
    pub features: Vec<Feature>,
    /// How much each group uses the topic.
    pub usage: Vec<Usage>,
    /// The group this topic mainly serves, if there is one.
    pub main_group: Option<String>,
    /// Nearest topic of [`Topics::reference`].
    pub matched: Option<TopicMatch>,
}

/// A feature and its share of a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Name of the feature.
    pub name: String,
    /// Its share of the topic: the entries of a topic add up to 1.
    #[serde(deserialize_with = "number")]
    pub share: f64,
}

/// A group's use of a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Name of the group.
    pub group: String,
    /// Share of the group's own representation that lies in this topic, 0 to 1:
    /// over the topics, a group's shares add up to 1.
    #[serde(deserialize_with = "number")]
    pub share: f64,
}

/// The counterpart of a topic in the reference model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicMatch {
    /// Display name of the counterpart.
    pub topic: String,
    /// Cosine similarity of the two dictionary rows, 0 to 1.
    #[serde(deserialize_with = "number")]
    pub similarity: f64,
}

/// JSON has no NaN: what is not finite is written as `null`, and read as NaN.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(from)?;
    Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
}
