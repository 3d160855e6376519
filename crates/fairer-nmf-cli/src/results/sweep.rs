//! What a sweep found: the fields of its `--json`.

use fairer_nmf::audit::{ChanceBand, rank::RankReport};
use fairer_nmf::stopping::Status;
use fairer_nmf::{Note, Warning};
use fairer_nmf_report::{Remark, Report, SCHEMA, Yardstick, mean_and_sd};
use serde::Serialize;

use super::outcome::is_zero;
use crate::screen::counted;
use crate::work::{Maker, Plan, RandomGroup, Record};

/// A sweep: the fields of `--json`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sweep {
    /// The version of these fields; docs/schema/sweep.json has them.
    pub schema: u32,
    pub ranks: Vec<usize>,
    pub methods: Vec<Maker>,
    pub trials: usize,
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    pub records: Vec<Record>,
    /// What random groups of every group's size pay at every rank, under standard NMF, and how many were drawn.
    pub chance: Vec<RandomGroup>,
    pub chance_draws: usize,
    /// What the ranks leave of held-out entries, and which of them bi-cross-validation picks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_choice: Option<RankReport>,
    pub warnings: Vec<Remark>,
    /// All that the page shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
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
    /// What the baselines are.
    #[serde(skip)]
    pub baseline_kind: Option<Yardstick>,
}

/// Mean errors over the trials: name, rows and relative error of every group, and the total.
struct Means<'a> {
    groups: Vec<(&'a str, usize, f64)>,
    total_error: f64,
}

impl Sweep {
    /// What a plan found.
    pub(crate) fn of(plan: &Plan, records: Vec<Record>, baseline_runs: usize) -> Self {
        Self {
            schema: SCHEMA,
            ranks: plan.ranks.clone(),
            methods: plan.methods.iter().map(|&method| Maker::of(Some(method))).collect(),
            trials: plan.trials,
            seed: plan.parameters.seed,
            threshold: None,
            records,
            chance: Vec::new(),
            chance_draws: ChanceBand::DRAWS,
            rank_choice: None,
            warnings: Vec::new(),
            report: None,
            hidden_groups: 0,
            min_group_size: 0,
            version: env!("CARGO_PKG_VERSION"),
            baseline_runs,
            baseline_kind: Yardstick::of(&plan.baseline),
        }
    }

    /// What random groups of a group's size pay at a rank.
    pub(crate) fn random_group(&self, rank: usize, group: &str) -> Option<&RandomGroup> {
        self.chance.iter().find(|random| random.rank == rank && random.group == group)
    }

    /// The ranks of which there are results.
    pub(crate) fn tried(&self) -> Vec<usize> {
        let known = |rank: &&usize| self.records.iter().any(|r| r.rank == **rank);
        self.ranks.iter().filter(known).copied().collect()
    }

    /// How many random groups stand behind what chance shows.
    pub(crate) fn drawn(&self) -> Option<Note> {
        let sentence = format!(
            "What random groups show comes from {} draws of groups of every size at every rank, under standard NMF of the first trial; limits on time do not count them.",
            self.chance_draws
        );
        (!self.chance.is_empty()).then(|| Note::new("draws-of-random-groups", sentence))
    }

    /// Where methods lose clearly more of all data than standard NMF, in the mean of the trials, and for whom.
    pub(crate) fn rises(&self) -> Vec<Remark> {
        let others = self.methods.iter().filter(|method| **method != Maker::Standard);
        let pairs = others.flat_map(|method| self.ranks.iter().map(move |rank| (*method, *rank)));
        let rises = pairs.filter_map(|(method, rank)| {
            let topics = counted(rank, "topic");
            Some((format!("{} with {topics}", method.title()), self.rise(method, rank)?))
        });
        let said = Warning::said_of_several(&rises.collect::<Vec<_>>());
        said.into_iter().map(Remark::from).collect()
    }

    fn rise(&self, method: Maker, rank: usize) -> Option<Warning> {
        let (found, standard) = (self.means(method, rank)?, self.means(Maker::Standard, rank)?);
        let groups = found.groups.iter().zip(&standard.groups);
        let falls = groups.map(|(own, other)| (own.0, own.1, other.2 - own.2));
        Warning::of_helped(falls, found.total_error, standard.total_error)
    }

    /// Means over the trials of a method at a rank; none where there are none.
    fn means(&self, method: Maker, rank: usize) -> Option<Means<'_>> {
        let mine = |r: &&Record| r.method == method && r.rank == rank;
        let records = || self.records.iter().filter(mine);
        let first = records().next()?;
        let mean = |values: Vec<f64>| mean_and_sd(&values).map_or(f64::NAN, |(mean, _)| mean);
        let of_group = |of: &'_ Record| {
            let errors = records().filter(|r| r.group == of.group).map(|r| r.relative_error);
            mean(errors.collect())
        };
        let groups = records().filter(|r| r.trial == first.trial);
        Some(Means {
            groups: groups.map(|r| (&r.group[..], r.rows, of_group(r))).collect(),
            total_error: mean(records().map(|r| r.total_error).collect()),
        })
    }

    /// A warning where fits did not converge; every fit has a record of each of the `groups`.
    pub(crate) fn unfinished(&self, groups: usize) -> Option<Remark> {
        let records = &self.records;
        let count =
            records.iter().filter(|r| r.status != Status::Converged).count() / groups.max(1);
        let all = records.len() / groups.max(1);
        (count > 0).then(|| {
            let sentence =
                format!("{count} of {all} fits did not converge: raise --max-iter or --tol");
            Remark::new("not-converged", sentence)
        })
    }
}
