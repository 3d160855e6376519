//! The paper against chance: is what it finds of a group more than random groups of that size show?
//!
//! For every rank a dictionary of standard NMF (best of four starts), and the losses of the groups and of
//! random groups of their sizes under it, each with a dictionary of its own fitted in the same way
//! ([`fairer_nmf::audit::RandomGroups`]). Kept in `chance.csv`, a line for every group and rank.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use fairer_nmf::audit::{AuditOptions, DrawBudget, audit};
use fairer_nmf::{Baseline, Method, Parameters, Progress, fit};
use fairer_nmf_io::Failure;

use super::sets::{SETS, Set};
use super::trials::observe;
use super::{CHANCE, Settings, Watch, put};

const HEADER: &str = "dataset,group,rank,loss,mean,low,high,adjusted_p,draws";
/// A p-value of at most this is more than chance.
const LEVEL: f64 = 0.05;

/// A group beside random groups of its size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beside {
    pub dataset: &'static str,
    pub group: &'static str,
    pub rank: usize,
    pub loss: f64,
    /// Mean of random groups, and the range of nine of ten.
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// How often some group of a shuffle stands out as much.
    pub adjusted_p: f64,
    pub draws: usize,
}

impl Beside {
    /// Whether random groups of that size do not show as much.
    pub(super) fn exceeds(&self) -> bool {
        self.adjusted_p <= LEVEL
    }

    fn line(&self) -> String {
        let Self { dataset, group, rank, loss, mean, low, high, adjusted_p, draws } = self;
        format!("{dataset},{group},{rank},{loss},{mean},{low},{high},{adjusted_p},{draws}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let set = SETS.iter().find(|set| Some(&set.key) == cells.first())?;
        let group = set.groups.iter().find(|group| Some(*group) == cells.get(1))?;
        let number = |i: usize| cells.get(i)?.parse::<f64>().ok();
        Some(Self {
            dataset: set.key,
            group,
            rank: cells.get(2)?.parse().ok()?,
            loss: number(3)?,
            mean: number(4)?,
            low: number(5)?,
            high: number(6)?,
            adjusted_p: number(7)?,
            draws: cells.get(8)?.parse().ok()?,
        })
    }
}

/// What the folder holds.
pub(super) fn read(folder: &Path) -> Vec<Beside> {
    let text = std::fs::read_to_string(folder.join(CHANCE)).unwrap_or_default();
    text.lines().filter_map(Beside::parse).collect()
}

/// Runs the ranks of a set that are not finished yet.
pub(super) fn run(
    set: &'static Set,
    settings: &Settings<'_>,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let mut known = read(settings.out);
    let ranks = set.ranks(settings.quick);
    let done = |known: &[Beside], rank: usize| {
        let here = known.iter().filter(|b| b.dataset == set.key && b.rank == rank);
        here.count() == set.groups.len()
    };
    let left: Vec<usize> = ranks.into_iter().filter(|&rank| !done(&known, rank)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let held = set.hold(settings)?;
    let data = held.grouped()?;
    let observer = |_: &Progress<'_>| observe(watch);
    for (i, &rank) in left.iter().enumerate() {
        watch.counted("random groups, rank", i, left.len());
        let parameters = Parameters::new(rank).with(|p| {
            p.method = Method::standard();
            p.baseline = Baseline::Zero;
            p.bound = false;
            p.finish = false;
            p.seed = settings.seed;
        });
        let model = fit(&data, &parameters, &observer)?.model;
        let options = AuditOptions::default().with(|o| {
            o.draws = 0;
            o.permutations = 0;
            o.folds = 0;
            o.differences = false;
            // As many as are asked for, however long they take.
            o.chance = DrawBudget { draws: draws(settings), time: Duration::MAX };
            o.trade_off = None;
            o.seed = settings.seed;
        });
        let zero = vec![0.0; set.groups.len()];
        let found = audit(&data, model.components.view(), &zero, None, &options, &observer)?;
        let (Some(chance), false) = (found.chance, watch.stopped()) else { return Ok(()) };
        known.retain(|b| !(b.dataset == set.key && b.rank == rank));
        known.extend(chance.groups.iter().zip(set.groups).map(|(c, group)| Beside {
            dataset: set.key,
            group,
            rank,
            loss: c.loss,
            mean: c.mean,
            low: c.low,
            high: c.high,
            adjusted_p: c.adjusted_p,
            draws: chance.draws,
        }));
        let lines: String = known.iter().map(Beside::line).collect();
        put(settings.out, CHANCE, format!("{HEADER}\n{lines}").as_bytes())?;
    }
    Ok(())
}

fn draws(settings: &Settings<'_>) -> usize {
    if settings.quick { 20 } else { 40 }
}

/// What is said of every group of a set.
pub(super) struct Said {
    pub title: &'static str,
    pub group: &'static str,
    pub sentence: String,
}

/// For every group of every set that was run: at which ranks it exceeds what random groups show.
pub(super) fn said(all: &[Beside]) -> Vec<Said> {
    let of_group = |set: &'static Set, group: &'static str| {
        let mut here: Vec<&Beside> =
            all.iter().filter(|b| b.dataset == set.key && b.group == group).collect();
        here.sort_by_key(|b| b.rank);
        let last = here.last()?;
        let ranks = |exceeds: bool| -> Vec<String> {
            let some = here.iter().filter(|b| b.exceeds() == exceeds);
            some.map(|b| b.rank.to_string()).collect()
        };
        let (more, not) = (ranks(true), ranks(false));
        let mut sentence = match (more.is_empty(), not.is_empty()) {
            (true, _) => "pays no more than random groups of its size at any rank".to_owned(),
            (_, true) => "pays more than random groups of its size at every rank".to_owned(),
            _ => format!(
                "pays more than random groups of its size at rank {}, not at rank {}",
                more.join(", "),
                not.join(", ")
            ),
        };
        let _ = write!(
            sentence,
            "; at rank {} its loss is {}, theirs {} to {} (p {:.3})",
            last.rank,
            percent(last.loss),
            percent(last.low),
            percent(last.high),
            last.adjusted_p
        );
        Some(Said { title: set.title, group, sentence })
    };
    SETS.iter().flat_map(|set| set.groups.iter().filter_map(move |g| of_group(set, g))).collect()
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    // Never "-0.0".
    format!("{:.1} %", (1000.0 * share).round() / 10.0 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written_and_sentences_name_the_ranks() {
        let beside = |rank, loss, adjusted_p| Beside {
            dataset: "hd",
            group: "female",
            rank,
            loss,
            mean: 0.012,
            low: 0.004,
            high: 0.02,
            adjusted_p,
            draws: 40,
        };
        let all = [beside(2, 0.05, 0.02), beside(5, 0.013, 0.6)];
        for one in &all {
            assert_eq!(Beside::parse(one.line().trim()).as_ref(), Some(one));
        }
        assert_eq!(Beside::parse(HEADER), None);
        let said = said(&all);
        assert_eq!((said.len(), said[0].group), (1, "female"));
        assert_eq!(
            said[0].sentence,
            "pays more than random groups of its size at rank 2, not at rank 5; at rank 5 its loss is 1.3 %, theirs 0.4 % to 2.0 % (p 0.600)"
        );
    }
}
