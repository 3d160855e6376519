//! What a user should know of a fit that is no error.

use super::{GroupFit, Model};
use crate::Note;
use crate::parameters::{Method, Parameters};
use crate::stopping::Status;
use serde::{Deserialize, Serialize};

/// Relative baseline above which a group's own topics explain next to nothing of it.
const NEAR_NORM: f64 = 0.99;

/// Groups that a warning names at the most.
const SHOWN: usize = 5;

/// Share of the rows in groups outside the maximum beyond which it is said that they are many.
const MANY: f64 = 0.1;

/// The first few names of a list, and how many there are besides.
fn listed(groups: &[String]) -> String {
    let named: Vec<String> = groups.iter().take(SHOWN).map(|g| format!("'{g}'")).collect();
    match groups.len().saturating_sub(SHOWN) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// What a fit asks of a group before it acts, beside a verdict that may be evidence all the same; nothing where it is not
/// known how many draws there were.
fn asks(draws: usize) -> String {
    match draws {
        0 => String::new(),
        draws => format!(
            " (the fit acts only on a group that lies beyond every one of {draws} draws of them, which is stricter than a verdict is about chance)"
        ),
    }
}

/// Something a user should know about a fit that is not an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// The rank is larger than the matrix.
    RankAboveMatrix {
        /// The rank.
        rank: usize,
        /// min(m, n).
        limit: usize,
    },
    /// The rank is not below a group's number of rows, so its baseline is zero by construction.
    RankAboveGroup {
        /// The rank.
        rank: usize,
        /// The group.
        group: String,
        /// Its number of rows.
        rows: usize,
        /// How many other groups are such; this is the smallest.
        #[serde(default)]
        others: usize,
    },
    /// There is only one group: the fit is standard NMF.
    OneGroup,
    /// A dictionary of their own leaves nearly all of some groups: their losses say nothing.
    BaselineNearNorm {
        /// The groups.
        groups: Vec<String>,
    },
    /// Groups with no more rows than topics stay outside the maximum.
    GroupsOutside {
        /// The rank.
        rank: usize,
        /// The groups.
        groups: Vec<String>,
    },
    /// Groups pay what random ones of their size do: the fit allows them what they pay under standard NMF.
    GroupsLikeChance {
        /// The groups.
        groups: Vec<String>,
        /// Whether these are all groups, so that the fit is standard NMF.
        #[serde(default)]
        all: bool,
        /// Whether the fit leaves every group what it has under standard NMF.
        #[serde(default)]
        kept: bool,
        /// Draws of random groups that a group would have to exceed, all of them.
        #[serde(default)]
        draws: usize,
    },
    /// The groups outside the maximum are many rows together, and nothing is minimised for them.
    ManyOutside {
        /// Their share of all rows.
        share: f64,
        /// The rows of the largest of them.
        largest: usize,
    },
    /// Fairness costs all together more than `RISE` of the data, or `RISE_SHARE` of what standard NMF loses.
    TotalErrorRose {
        /// ‖X − WH‖/‖X‖ of standard NMF.
        standard: f64,
        /// That of the fit.
        found: f64,
        /// The group that the dictionary was bent for.
        group: String,
        /// Its number of rows.
        rows: usize,
    },
    /// The time limit fell into the runs of the baselines.
    BaselinesCutShort,
    /// The run ended before it converged.
    NotConverged {
        /// How it ended.
        status: Status,
        /// After how many iterations the limit was set.
        max_iterations: usize,
    },
}

impl Warning {
    /// What the data and the rank say by themselves.
    pub(crate) fn of_shape(rows: usize, model: &Model) -> Option<Self> {
        let limit = rows.min(model.features());
        let rank = model.rank();
        (rank > limit).then_some(Self::RankAboveMatrix { rank, limit })
    }

    pub(crate) fn of(groups: &[GroupFit], parameters: &Parameters, status: Status) -> Vec<Self> {
        let rank = parameters.rank;
        let mut warnings = Vec::new();
        let small = || groups.iter().filter(|g| g.rows <= rank && !g.outside);
        if let Some(g) = small().min_by_key(|g| g.rows) {
            let (group, rows, others) = (g.name.clone(), g.rows, small().count() - 1);
            warnings.push(Self::RankAboveGroup { rank, group, rows, others });
        }
        // The worst share of rows has no groups at all.
        let of_rows = matches!(parameters.method, Method::WorstShare { .. });
        if groups.len() == 1 && !of_rows {
            warnings.push(Self::OneGroup);
        }
        // N_ℓ is positive by validation.
        let unexplained = groups.iter().filter(|g| g.baseline.error > NEAR_NORM * g.norm);
        let unexplained: Vec<String> = unexplained.map(|g| g.name.clone()).collect();
        if !unexplained.is_empty() {
            warnings.push(Self::BaselineNearNorm { groups: unexplained });
        }
        if status != Status::Converged {
            let max_iterations = parameters.stopping.max_iterations;
            warnings.push(Self::NotConverged { status, max_iterations });
        }
        warnings
    }
}

impl Warning {
    /// What a fit says of the groups outside the maximum.
    pub(crate) fn of_outside(groups: &[GroupFit], rank: usize) -> Vec<Self> {
        let few: Vec<String> =
            groups.iter().filter(|g| g.outside).map(|g| g.name.clone()).collect();
        let few = (!few.is_empty()).then_some(Self::GroupsOutside { rank, groups: few });
        let outside = || groups.iter().filter(|g| g.outside).map(|g| g.rows);
        let all: usize = groups.iter().map(|g| g.rows).sum();
        let share = outside().sum::<usize>() as f64 / all.max(1) as f64;
        let many = outside().count() > 1 && share > MANY;
        let many =
            many.then(|| Self::ManyOutside { share, largest: outside().max().unwrap_or_default() });
        few.into_iter().chain(many).collect()
    }

    /// What a fit says of groups inside the maximum that are like random ones, of which it saw so many draws: those for
    /// which `alike` is 1. `kept`: it leaves every group what it has.
    pub(crate) fn of_alike(
        groups: &[GroupFit],
        (alike, draws): (&[f64], usize),
        kept: bool,
    ) -> Option<Self> {
        let inside = || groups.iter().zip(alike).filter(|(g, _)| !g.outside);
        let such = inside().filter(|(_, alike)| **alike >= 1.0);
        let such: Vec<String> = such.map(|(g, _)| g.name.clone()).collect();
        let all = such.len() == inside().count();
        (!such.is_empty()).then_some(Self::GroupsLikeChance { groups: such, all, kept, draws })
    }

    /// Whether it only tells what was done, and nothing has to be looked after.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(self, Self::OneGroup | Self::GroupsLikeChance { .. })
    }

    /// The kind, as in files: `rank-above-group`, say.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RankAboveMatrix { .. } => "rank-above-matrix",
            Self::RankAboveGroup { .. } => "rank-above-group",
            Self::OneGroup => "one-group",
            Self::BaselineNearNorm { .. } => "baseline-near-norm",
            Self::GroupsOutside { .. } => "groups-outside",
            Self::GroupsLikeChance { .. } => "groups-like-chance",
            Self::ManyOutside { .. } => "many-outside",
            Self::TotalErrorRose { .. } => Note::TOTAL_ERROR_ROSE,
            Self::BaselinesCutShort => "baselines-cut-short",
            Self::NotConverged { .. } => "not-converged",
        }
    }
}

impl Model {
    /// What the fit says of groups that it does not help, since chance explains what they pay.
    #[must_use]
    pub fn left_alone(&self) -> Option<Note> {
        let such = |w: &&Warning| matches!(w, Warning::GroupsLikeChance { .. });
        self.warnings.iter().find(such).map(Note::from)
    }
}

impl From<&Warning> for Note {
    fn from(warning: &Warning) -> Self {
        Self::new(warning.code(), warning.to_string())
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RankAboveMatrix { rank, limit } => {
                write!(
                    f,
                    "{rank} topics are more than the matrix allows ({limit}): some are superfluous"
                )
            }
            Self::RankAboveGroup { rank, group, rows, others: 0 } => write!(
                f,
                "group '{group}' has {rows} {} and there are {rank} topics: its baseline is zero by construction, so its loss is its whole error",
                if *rows == 1 { "row" } else { "rows" }
            ),
            Self::RankAboveGroup { rank, group, rows, others } => write!(
                f,
                "{} groups have no more rows than topics ({rank}), '{group}' has {rows}: their baselines are zero by construction, so their losses are their whole errors",
                others + 1
            ),
            Self::GroupsOutside { rank, groups } => write!(
                f,
                "{} {} no more rows than topics ({rank}), so that nothing can be said of what sharing costs: kept outside the maximum, inside the total",
                listed(groups),
                if groups.len() == 1 { "has" } else { "have" },
            ),
            Self::GroupsLikeChance { all: true, kept, draws, .. } => write!(
                f,
                "No group stands out clearly enough from random groups of its size for the fit to act{}{}",
                asks(*draws),
                if *kept { ", so this fit leaves standard NMF as it is" } else { "" }
            ),
            Self::GroupsLikeChance { groups, all: false, kept, draws } => {
                let one = groups.len() == 1;
                let (does, its) = if one { ("does", "its") } else { ("do", "their") };
                let (it, them) = if one { ("it", "it") } else { ("they", "them") };
                let names = listed(groups);
                write!(
                    f,
                    "{names} {does} not stand out clearly enough from random groups of {its} size{}",
                    asks(*draws)
                )?;
                match kept {
                    true => write!(
                        f,
                        ", and {it} would have to pay more than the others would gain, so this fit leaves standard NMF as it is; more topics may serve all"
                    ),
                    false => write!(
                        f,
                        ": the fit does not set out to help {them}, nor asks {them} for clearly more than the others gain"
                    ),
                }
            }
            Self::ManyOutside { share, largest } => write!(
                f,
                "the groups outside the maximum hold {:.0} % of the rows, and the fit minimises nothing for them: merge groups of fewer than {} rows, and together they count as one",
                100.0 * share,
                largest + 1,
            ),
            Self::TotalErrorRose { .. } => f.write_str(&self.said_of("this fit")),
            Self::BaselinesCutShort => write!(
                f,
                "the time was up during the baselines: they are too large, and every loss is too small by as much"
            ),
            Self::OneGroup => write!(f, "there is one group only: this is standard NMF"),
            Self::BaselineNearNorm { groups } => {
                let names = listed(groups);
                write!(
                    f,
                    "even topics of their own leave nearly all of {names}: so few of them say nothing, nor do the losses; use more topics or other features"
                )
            }
            Self::NotConverged { status, max_iterations } => match status {
                Status::IterationLimit => write!(
                    f,
                    "not converged within {max_iterations} iterations: raise the limit or the tolerance"
                ),
                Status::TimeLimit => write!(f, "not converged within the time limit"),
                _ => write!(f, "stopped before it converged"),
            },
        }
    }
}
