//! Which rank: bi-cross-validation within what the options allow.

use fairer_nmf::audit::rank::{RankOptions, RankReport, choose};
use fairer_nmf::{GroupedData, Progress};
use fairer_nmf_io::Failure;

use crate::args::SolverArgs;
use crate::screen::{Bar, Deadline, stopped};

/// The rank for a fit. No group may be below it, unless that was allowed.
pub(crate) fn choose_rank(
    data: &GroupedData<'_>,
    solver: &SolverArgs,
    bar: &Bar,
) -> Result<RankReport, Failure> {
    let smallest = data.groups().iter().map(|g| g.rows.len()).min().unwrap_or(1);
    let mut options = RankOptions::default().with(|o| o.seed = solver.seed);
    if !solver.allow_small_groups {
        options.at_most = options.at_most.min(smallest);
    }
    bar.limit(solver.time_limit);
    let found = choose(data, &options, &|p: &Progress<'_>| bar.observe(p));
    found.map_err(|error| match error {
        fairer_nmf::Error::Stopped if stopped() => error.into(),
        fairer_nmf::Error::Stopped => Failure::failed(
            "the time limit ended the choice of the rank: raise --time-limit, or give --rank",
        ),
        other => other.into(),
    })
}

/// What the ranks of a sweep leave of held-out entries; none where there are too few rows or
/// features, or the time is over.
pub(crate) fn left_by_ranks(
    data: &GroupedData<'_>,
    ranks: &[usize],
    seed: u64,
    deadline: &Deadline,
    bar: &Bar,
) -> Option<RankReport> {
    let options = RankOptions::default().with(|o| {
        o.ranks = ranks.to_vec();
        o.seed = seed;
    });
    choose(data, &options, &|p: &Progress<'_>| deadline.observe(p, bar)).ok()
}
