//! A fit, and standard NMF beside it on the same data and baselines.

use std::time::Instant;

use fairer_nmf::audit::{ChanceBand, PeerPlan, Peers, fit_peers};
use fairer_nmf::fit::{Checkpoint, Minimised, fit_kept};
use fairer_nmf::stopping::Status;
use fairer_nmf::{Fit, GroupedData, Model, Note, Parameters, Update, Warning};

use fairer_nmf_io::Failure;
use fairer_nmf_report::Remark;

use super::remarks;
use crate::screen::Bar;

/// A fit and what it is compared with.
pub(crate) struct Compared {
    pub fit: Fit,
    /// Standard NMF; where the fit itself is standard NMF, nothing.
    pub peers: Peers,
    /// About the fit itself.
    pub warnings: Vec<Remark>,
    pub notes: Vec<Note>,
    /// Whom the fit does not help, since chance explains what it pays.
    pub left_alone: Option<Note>,
    /// What random groups pay, where the model does not say it.
    pub random_groups: Vec<ChanceBand>,
}

impl Compared {
    /// All there is to know before the results are read.
    pub(crate) fn warnings(&self) -> Vec<Remark> {
        let peers = self.peers.remarks();
        self.warnings.iter().cloned().chain(peers.iter().filter_map(remarks::warning)).collect()
    }
}

/// Fits, and fits standard NMF with `compare` where that is wanted.
pub(crate) fn fit_and_compare(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    compare: Option<Update>,
    checkpoint: Option<&Checkpoint>,
    bar: &Bar,
) -> Result<Compared, Failure> {
    let start = Instant::now();
    bar.next_fit("", &parameters.stopping);
    let cut = || {
        let sentence =
            "stopped while the baselines were measured; without them there is nothing to write";
        Failure::failed(sentence)
    };
    let main = match fit_kept(data, parameters, checkpoint, &|p| bar.observe(p)) {
        Err(fairer_nmf::Error::Stopped) => return Err(cut()),
        found => found?,
    };
    if bar.baselines_were_cut() {
        return Err(cut());
    }
    let (notes, others): (Vec<&Warning>, Vec<&Warning>) =
        main.model.warnings.iter().partition(|w| w.is_note());
    let left_alone = main.model.left_alone();
    let notes = notes.into_iter().map(Note::from);
    let notes = notes.filter(|note| Some(note) != left_alone.as_ref()).collect();
    let limit = parameters.stopping.time_limit;
    let mut peers = Peers::default();
    if let Some(update) = compare.filter(|_| main.model.status != Status::Stopped) {
        let baselines = main.model.baseline_errors();
        let mut parameters = parameters.clone();
        parameters.stopping.time_limit = limit.map(|limit| limit.saturating_sub(start.elapsed()));
        let plan = PeerPlan::beside(Some(parameters.method), update);
        // Fairer-NMF beside standard NMF is for the page alone.
        let plan = PeerPlan { fairer: false, ..plan };
        peers = fit_peers(data, plan, &parameters, &baselines, &|p| bar.observe(p))?;
    }
    // The size-adjusted fit knows standard NMF and says it itself; others have met one run of it at the most.
    let is_rise = |w: &&Warning| matches!(w, Warning::TotalErrorRose { .. });
    let adjusted = main.model.minimised() == Minimised::AdjustedLoss;
    let said = adjusted && main.model.warnings.iter().any(|w| is_rise(&w));
    let rose = peers.standard.as_ref().filter(|_| !said);
    let own = others.into_iter().filter(|w| rose.is_none() || !is_rise(w));
    let mut warnings: Vec<Remark> = own.filter_map(in_words).collect();
    let is_said = main.model.warnings.contains(&Warning::BaselinesCutShort);
    if !is_said && limit.is_some_and(|limit| main.baseline_time >= limit) {
        let sentence = "the time limit ended the baselines early, so the losses are too low: raise --time-limit";
        warnings.push(Remark::new("baselines-cut-short", sentence));
    }
    let share = |model: &Model| model.total_error() / data.squared_norm().sqrt();
    let rose = rose.and_then(|peer| {
        Warning::of_rise(&main.model, share(&main.model), (share(&peer.model), &peer.model))
    });
    warnings.extend(rose.as_ref().and_then(in_words));
    let random_groups = Vec::new();
    Ok(Compared { fit: main, peers, warnings, notes, left_alone, random_groups })
}

/// The peers of a dictionary, in the time that is left.
pub(crate) fn peers_beside(
    data: &GroupedData<'_>,
    plan: PeerPlan,
    parameters: &Parameters,
    baselines: &[f64],
    bar: &Bar,
) -> Result<Peers, Failure> {
    let mut parameters = parameters.clone();
    parameters.stopping.time_limit = bar.time_left();
    Ok(fit_peers(data, plan, &parameters, baselines, &|p| bar.observe(p))?)
}

/// The library's warnings with the names of our options.
pub(super) fn in_words(warning: &Warning) -> Option<Remark> {
    let sentence = match warning {
        Warning::NotConverged { status: Status::Stopped, .. } => return None,
        Warning::NotConverged { status: Status::IterationLimit, max_iterations } => {
            format!("not converged within {max_iterations} iterations: raise --max-iter or --tol")
        }
        Warning::NotConverged { status: Status::TimeLimit, .. } => {
            "not converged within the time limit: raise --time-limit".to_owned()
        }
        Warning::GroupsOutside { .. } => format!(
            "{warning} (--allow-small-groups lets them in, --merge-small puts small groups together)"
        ),
        other => other.to_string(),
    };
    Some(Remark::new(warning.code(), sentence))
}
