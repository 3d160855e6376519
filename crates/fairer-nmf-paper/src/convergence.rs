//! The convergence study of MU: decaying weights against all weight on the largest loss, 1,000
//! iterations, at the highest rank of both synthetic sets.

use std::path::Path;
use std::sync::Mutex;

use fairer_nmf::baseline::{Estimate, GroupBaseline};
use fairer_nmf::stopping::Status;
use fairer_nmf::weights::WeightRule;
use fairer_nmf::{Baseline, Method, Progress, Stopping, Update, fit};
use fairer_nmf_io::Failure;
use fairer_nmf_report::mean_and_sd;

use super::kept::{self, Histories, ITERATIONS};
use super::sets::{Part, SETS, Set};
use super::trials::{observe, one_thread_each, papers_parameters, trial_baselines};
use super::{CURVES, Settings, Watch, put};

const HEADER: &str = "dataset,rule,group,iteration,mean,sd,trials";

/// The weight rules that are set side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Steps that get smaller.
    Decaying,
    /// All weight on the largest loss.
    Largest,
}

impl Rule {
    pub(super) const ALL: [Self; 2] = [Self::Decaying, Self::Largest];

    /// In files.
    fn name(self) -> &'static str {
        match self {
            Self::Decaying => "decaying",
            Self::Largest => "largest",
        }
    }

    fn weights(self) -> WeightRule {
        match self {
            Self::Decaying => WeightRule::Decaying { even_start: true },
            Self::Largest => WeightRule::Largest,
        }
    }
}

/// One group's loss over the iterations.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    pub dataset: &'static str,
    pub rule: Rule,
    pub group: &'static str,
    pub trials: usize,
    pub mean: Vec<f64>,
    pub sd: Vec<f64>,
}

/// Runs the sets that are not finished yet.
pub(super) fn run(settings: &Settings<'_>, watch: &dyn Watch) -> Result<(), Failure> {
    let trials = if settings.quick { 5 } else { settings.trials * 10 };
    for set in SETS.iter().filter(|set| set.is_synthetic()) {
        let mut curves = read(settings.out)?;
        let done = |c: &Curve| c.dataset == set.key && c.trials >= trials;
        if curves.iter().any(done) {
            continue;
        }
        curves.retain(|c| c.dataset != set.key);
        curves.extend(study(set, settings, trials, watch)?);
        if watch.stopped() {
            return Ok(());
        }
        put(settings.out, CURVES, text(&curves).as_bytes())?;
        kept::clear(settings.out, set.key, trials);
    }
    Ok(())
}

fn study(
    set: &'static Set,
    settings: &Settings<'_>,
    trials: usize,
    watch: &dyn Watch,
) -> Result<Vec<Curve>, Failure> {
    let held = set.hold(settings)?;
    let data = held.grouped()?;
    let what = match set.part {
        Part::Synthetic1 => "convergence on synthetic 1, trial",
        _ => "convergence on synthetic 2, trial",
    };
    watch.counted(what, 0, trials);
    let finished: Mutex<Vec<(usize, Histories)>> = Mutex::default();
    let stopping = Stopping::default().with(|s| {
        s.tolerance = 0.0;
        s.max_iterations = ITERATIONS;
    });
    let finish = |trial: usize, histories: Histories| -> Result<(), Failure> {
        let mut finished = finished.lock().map_err(|_| Failure::failed("a trial failed"))?;
        finished.push((trial, histories));
        watch.counted(what, finished.len(), trials);
        Ok(())
    };
    one_thread_each(trials, watch, |trial| {
        if let Some(histories) = kept::load(settings.out, set.key, trial, set.groups.len()) {
            return finish(trial, histories);
        }
        let seed = settings.seed.wrapping_add(trial as u64);
        let observer = |_: &Progress<'_>| observe(watch);
        let baseline = Baseline::Estimate(Estimate::paper());
        let Some(baselines) = trial_baselines(&data, set.most, &baseline, seed, &observer)? else {
            return Ok(());
        };
        let errors = GroupBaseline::errors(&baselines);
        let mut histories = Histories::default();
        for (rule, history) in Rule::ALL.into_iter().zip(&mut histories) {
            let method = Method::Weighted { weights: rule.weights(), update: Update::Mu };
            let parameters = papers_parameters(set.most, method, &errors, stopping, seed);
            let fit = fit(&data, &parameters, &observer)?;
            if fit.model.status == Status::Stopped {
                return Ok(());
            }
            *history = fit.model.history;
        }
        kept::save(settings.out, set.key, trial, &histories)?;
        finish(trial, histories)
    })?;
    let mut finished = finished.into_inner().map_err(|_| Failure::failed("a trial failed"))?;
    // Sums do not depend on who was first.
    finished.sort_by_key(|(trial, _)| *trial);
    let curve = |rule: usize, group: usize| {
        let at = |iteration: usize| {
            let losses = finished.iter().map(|(_, histories)| {
                let history = &histories[rule];
                // A run whose groups all stand still ends early, and stays where it is.
                history[iteration.min(history.len() - 1)][group]
            });
            let (mean, sd) = mean_and_sd(&losses.collect::<Vec<f64>>()).unwrap_or_default();
            (mean, sd.unwrap_or(0.0))
        };
        let (mean, sd) = (0..ITERATIONS).map(at).unzip();
        let (rule, group) = (Rule::ALL[rule], set.groups[group]);
        Curve { dataset: set.key, rule, group, trials, mean, sd }
    };
    let groups = 0..set.groups.len();
    Ok((0..Rule::ALL.len())
        .flat_map(|r| groups.clone().map(move |g| (r, g)))
        .map(|(r, g)| curve(r, g))
        .collect())
}

fn text(curves: &[Curve]) -> String {
    let mut text = format!("{HEADER}\n");
    for c in curves {
        for (i, (mean, sd)) in c.mean.iter().zip(&c.sd).enumerate() {
            let (iteration, trials) = (i + 1, c.trials);
            text += &format!(
                "{},{},{},{iteration},{mean},{sd},{trials}\n",
                c.dataset,
                c.rule.name(),
                c.group
            );
        }
    }
    text
}

/// The curves that the folder holds.
pub(super) fn read(folder: &Path) -> Result<Vec<Curve>, Failure> {
    let path = folder.join(CURVES);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(parse(&text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Failure::failed(format!("cannot use {}: {e}", path.display()))),
    }
}

fn parse(text: &str) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let [dataset, rule, group, _, mean, sd, trials] = fields[..] else { continue };
        let Some(set) = SETS.iter().find(|set| set.key == dataset) else { continue };
        let group = set.groups.iter().copied().find(|g| *g == group);
        let rule = Rule::ALL.into_iter().find(|known| known.name() == rule);
        let (Some(group), Some(rule), Ok(mean), Ok(sd), Ok(trials)) =
            (group, rule, mean.parse(), sd.parse(), trials.parse())
        else {
            continue;
        };
        let same = |c: &&mut Curve| (c.dataset, c.rule, c.group) == (set.key, rule, group);
        match curves.iter_mut().find(same) {
            Some(curve) => {
                curve.mean.push(mean);
                curve.sd.push(sd);
            }
            None => curves.push(Curve {
                dataset: set.key,
                rule,
                group,
                trials,
                mean: vec![mean],
                sd: vec![sd],
            }),
        }
    }
    curves.retain(|c| c.mean.len() == ITERATIONS);
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_come_back_as_they_were_written() {
        let curve = Curve {
            dataset: "ortho2",
            rule: Rule::Largest,
            group: "Group 2",
            trials: 5,
            mean: vec![0.1 / 3.0; ITERATIONS],
            sd: vec![0.5; ITERATIONS],
        };
        assert_eq!(parse(&text(std::slice::from_ref(&curve))), [curve]);
    }
}
