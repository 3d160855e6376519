//! What a sweep found: the fields of its `--json`.

use fairer_nmf::audit::rank::RankReport;
use fairer_nmf::stopping::Status;
use fairer_nmf_report::{Remark, Report, SCHEMA};
use serde::Serialize;

use super::outcome::is_zero;
use crate::work::{Maker, Plan, Record};

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
            rank_choice: None,
            warnings: Vec::new(),
            report: None,
            hidden_groups: 0,
            min_group_size: 0,
            version: env!("CARGO_PKG_VERSION"),
            baseline_runs,
        }
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
