//! `reproduce unknown-groups`: the paper's data sets with their groups hidden.
//!
//! The paper assumes groups that are known and asks, in its discussion, what could be done otherwise. Here the known groups judge
//! only: what Fairer-NMF lowers their worst loss by, from standard NMF, is the benefit, and every way without the groups gets a part
//! of it, or makes it worse.

use std::fmt::Write;

use fairer_nmf::audit::evaluate;
use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::discover::{Discover, discover};
use fairer_nmf::fit::estimate_baselines;
use fairer_nmf::{Baseline, GroupedData, Method, Observer, Parameters, fit};
use fairer_nmf_io::Failure;
use fairer_nmf_report::chart_files;
use fairer_nmf_report::charts::{
    Dumbbell, DumbbellPoint, DumbbellRow, DumbbellSeries, Percent, dumbbell,
};
use serde::Serialize;

use crate::neighbours::rank;
use crate::{OfSet, Settings, Watch, on_every_set, put, put_study};

/// A way without known groups.
#[derive(Clone, Copy)]
enum Way {
    /// Groups that are found; as many as are known.
    Found(Discover),
    /// The strongest topic: as many groups as topics.
    Strongest,
    /// The worst share of rows.
    Share(f64),
}

/// The ways with their codes, for programs, and their titles.
const WAYS: [(Way, &str, &str); 7] = [
    (Way::Found(Discover::Topics), "topics", "clusters of topics"),
    (Way::Strongest, "strongest-topic", "strongest topic"),
    (Way::Found(Discover::Errors), "errors", "errors, iterated"),
    (Way::Found(Discover::HeldOutErrors), "held-out-errors", "held-out errors"),
    (Way::Share(0.5), "worst-half", "worst half of rows"),
    (Way::Share(0.25), "worst-quarter", "worst quarter of rows"),
    (Way::Share(0.1), "worst-tenth", "worst tenth of rows"),
];

/// Whether a way is another one at this rank: with as many groups as topics, clusters of topics are the strongest topic.
fn is_another(way: Way, rank: usize, groups: usize) -> bool {
    matches!(way, Way::Found(Discover::Topics)) && rank == groups
}

/// Restarts of every fit.
const STARTS: usize = 2;

/// What a way leaves of the known groups' losses.
#[derive(Debug, Clone, Serialize)]
struct Outcome {
    way: &'static str,
    title: &'static str,
    /// The worst loss of the known groups, of every trial.
    worst_losses: Vec<f64>,
    /// Which part of the benefit of known groups that is, of every trial.
    recovered: Vec<f64>,
    /// ‖X − WH‖/‖X‖, of every trial.
    total_errors: Vec<f64>,
}

/// What all ways leave of a data set.
#[derive(Debug, Clone, Serialize)]
struct Found {
    rank: usize,
    groups: usize,
    outcomes: Vec<Outcome>,
}

/// What a dictionary leaves: the worst loss of the known groups, and the total error.
fn judged(
    data: &GroupedData<'_>,
    h: &ndarray::Array2<f64>,
    baselines: &[f64],
) -> fairer_nmf::Result<(f64, f64)> {
    let found = evaluate(data, h.view(), None, baselines)?;
    let squared: f64 = found.row_squared_errors.iter().sum();
    Ok((found.worst_loss(), (squared / data.squared_norm()).sqrt()))
}

/// One trial: standard NMF, Fairer-NMF with the known groups, and every way without them, but for those that are another.
fn trial(
    data: &GroupedData<'_>,
    rank: usize,
    seed: u64,
    observer: &Observer<'_>,
) -> fairer_nmf::Result<Vec<Option<(f64, f64)>>> {
    let parameters = Parameters::new(rank).with(|p| {
        p.seed = seed;
        p.n_init = STARTS;
        p.bound = false;
        p.finish = false;
    });
    let baselines = estimate_baselines(data, rank, &parameters.baseline, seed, observer)?;
    let errors = GroupBaseline::errors(&baselines);
    let by = |data: &GroupedData<'_>, method, baseline| {
        let parameters = parameters.clone().with(|p| {
            p.method = method;
            p.baseline = baseline;
        });
        fit(data, &parameters, observer).map(|fit| fit.model.components)
    };
    let given = Baseline::Given { errors: errors.clone() };
    let mut left = vec![
        Some(judged(data, &by(data, Method::standard(), given.clone())?, &errors)?),
        Some(judged(data, &by(data, Method::am(), given)?, &errors)?),
    ];
    for (way, ..) in WAYS {
        if is_another(way, rank, data.groups().len()) {
            left.push(None);
            continue;
        }
        let h = match way {
            Way::Share(share) => by(data, Method::WorstShare { share }, Baseline::Zero)?,
            Way::Found(_) | Way::Strongest => {
                let (how, groups) = match way {
                    Way::Found(how) => (how, data.groups().len()),
                    _ => (Discover::Topics, rank),
                };
                let found = discover(data, how, groups, &parameters, observer)?;
                by(&data.with_found(&found)?, Method::am(), parameters.baseline.clone())?
            }
        };
        left.push(Some(judged(data, &h, &errors)?));
    }
    Ok(left)
}

/// Hides the groups of the data sets (20 Newsgroups where it is given), writes unknown-groups.md, .json and .svg, and gives the
/// tables.
///
/// # Errors
/// If the folder cannot be used, the data cannot be read, or it was stopped.
pub fn study(settings: &Settings<'_>, watch: &dyn Watch) -> Result<String, Failure> {
    let mut all = Vec::new();
    on_every_set(
        settings,
        watch,
        "stopped before the study was done",
        &mut |set, data, observer| {
            let trials = (0..settings.trials as u64)
                .map(|t| {
                    watch.counted("trials", t as usize, settings.trials);
                    trial(data, rank(set), settings.seed + t, observer)
                })
                .collect::<fairer_nmf::Result<Vec<_>>>()?;
            let found = gathered(rank(set), data.groups().len(), &trials);
            all.push(OfSet { dataset: set.key, title: set.title, found });
            Ok(())
        },
    )?;
    let text: String = all.iter().map(markdown).collect();
    put(settings.out, "unknown-groups.md", text.as_bytes())?;
    put_study(settings.out, "unknown-groups.json", &all)?;
    let failed = |e| Failure::failed(format!("cannot draw unknown-groups: {e}"));
    for (ending, content) in chart_files(&picture(&all)).map_err(failed)? {
        put(settings.out, &format!("unknown-groups.{ending}"), &content)?;
    }
    Ok(text)
}

fn gathered(rank: usize, groups: usize, trials: &[Vec<Option<(f64, f64)>>]) -> Found {
    let known = [("standard", "standard NMF"), ("am", "Fairer-NMF, groups known")];
    let ways = known.into_iter().chain(WAYS.map(|(_, code, title)| (code, title)));
    let outcome = |(at, (way, title)): (usize, (&'static str, &'static str))| {
        let found: Vec<(f64, f64)> = trials.iter().filter_map(|left| left[at]).collect();
        let parts = trials.iter().filter_map(|left| recovered(left, at));
        (!found.is_empty()).then(|| Outcome {
            way,
            title,
            worst_losses: found.iter().map(|(loss, _)| *loss).collect(),
            recovered: parts.collect(),
            total_errors: found.iter().map(|(_, error)| *error).collect(),
        })
    };
    Found { rank, groups, outcomes: ways.enumerate().filter_map(outcome).collect() }
}

/// The part of the fall from standard NMF to Fairer-NMF with known groups; nothing where that is next to none.
fn recovered(left: &[Option<(f64, f64)>], at: usize) -> Option<f64> {
    let (standard, known, own) = (left[0]?.0, left[1]?.0, left[at]?.0);
    let benefit = standard - known;
    Some(if benefit > 1e-6 { (standard - own) / benefit } else { 0.0 })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn markdown(OfSet { title, found, .. }: &OfSet<Found>) -> String {
    let trials = found.outcomes[0].worst_losses.len();
    let mut text = format!(
        "**{}, rank {}, {} groups hidden, trials: {trials}.**\n\n| way | worst loss of the known groups | recovered | least to most | total error |\n| --- | --- | --- | --- | --- |\n",
        title, found.rank, found.groups
    );
    for outcome in &found.outcomes {
        let (least, most) = range(&outcome.recovered);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.4} | {:.0} % | {:.0} to {:.0} % | {:.4} |",
            outcome.title,
            mean(&outcome.worst_losses),
            100.0 * mean(&outcome.recovered),
            100.0 * least,
            100.0 * most,
            mean(&outcome.total_errors)
        );
    }
    let (rank, groups) = (found.rank, found.groups);
    for (.., name) in WAYS.into_iter().filter(|(way, ..)| is_another(*way, rank, groups)) {
        let _ = writeln!(text, "\nWith as many groups as topics, {name} are the strongest topic.");
    }
    text.push('\n');
    text
}

/// Every way with the part that it recovers, set by set; what makes it worse by more than the whole benefit is drawn there.
fn picture(all: &[OfSet<Found>]) -> String {
    let series = |(colour, set): (usize, &OfSet<Found>)| {
        let name = set.title.to_owned();
        DumbbellSeries { name, colour }
    };
    let row = |(_, code, title): (Way, &str, &str)| DumbbellRow {
        name: title.to_owned(),
        points: (all.iter())
            .map(|OfSet { found, .. }| {
                let values = &found.outcomes.iter().find(|outcome| outcome.way == code)?.recovered;
                let (least, most) = range(values);
                let inside = |v: f64| v.clamp(-1.0, 1.0);
                let interval = Some((inside(least), inside(most)));
                Some(DumbbellPoint { value: inside(mean(values)), interval })
            })
            .collect(),
        band: None,
    };
    dumbbell(&Dumbbell {
        title: "Groups hidden: how much of the benefit each way recovers".to_owned(),
        x_label: "part of the fall of the worst loss that known groups bring (at −100 %: that much worse than standard NMF, or more)"
            .to_owned(),
        band: None,
        series: all.iter().enumerate().map(series).collect(),
        rows: WAYS.into_iter().map(row).collect(),
        percent: Percent { decimals: 0 },
        width: 720.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way that is another one at the rank is counted once: in the table, the file and the picture.
    #[test]
    fn ways_that_coincide_are_counted_once() {
        let trial = |topics: Option<(f64, f64)>| -> Vec<Option<(f64, f64)>> {
            let others = (0..WAYS.len() - 1).map(|k| Some((0.3 + 0.01 * k as f64, 0.5)));
            [Some((0.4, 0.5)), Some((0.2, 0.6)), topics].into_iter().chain(others).collect()
        };
        let apart = gathered(5, 2, &[trial(Some((0.3, 0.5))), trial(Some((0.4, 0.5)))]);
        let one = gathered(3, 3, &[trial(None), trial(None)]);
        let [apart, one] = [("apart", apart), ("one", one)].map(|(title, found)| OfSet {
            dataset: title,
            title,
            found,
        });
        let counted = |set: &OfSet<Found>| set.found.outcomes.len();
        assert_eq!((counted(&apart), counted(&one)), (2 + WAYS.len(), 1 + WAYS.len()));
        assert!((mean(&apart.found.outcomes[2].recovered) - 0.25).abs() < 1e-12);
        assert!(is_another(WAYS[0].0, 3, 3) && !is_another(WAYS[0].0, 5, 2));
        assert!(WAYS[1..].iter().all(|(way, ..)| !is_another(*way, 3, 3)));
        let text = markdown(&one);
        assert!(!text.contains("| clusters of topics |"), "{text}");
        assert!(text.contains("clusters of topics are the strongest topic"), "{text}");
        let drawn = picture(&[apart, one]);
        assert!(drawn.contains("clusters of topics · apart"), "{drawn}");
        assert!(!drawn.contains("clusters of topics · one"), "{drawn}");
        assert!(drawn.contains("strongest topic · one"));
    }
}
