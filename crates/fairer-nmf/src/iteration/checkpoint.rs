//! Checkpoints: the state of a fit in files, so that a process that ends too early costs little.
//!
//! FILE holds what is known of the whole fit: the errors of finished baseline runs and the bound. Beside
//! it every run has a file of its own (`FILE.restart-0`, …): where its loop stands, or what it left when
//! it was over. Each appears whole or not at all, by a rename, and runs depend on others only where these are over, so
//! that any mixture of younger and older files is a state to go on from. What was not saved is done
//! again, from the same numbers. Who has W at hand keeps it as it is: in memory a fit that goes on ends with
//! the same bits. Rows that are elsewhere make theirs anew, from the dictionary that it belongs to.

mod file;
mod fingerprint;
#[cfg(test)]
mod tests;

pub(super) use file::{Carried, Ended, Going};

use super::made::{Part, Run};
use crate::bound::BoundReport;
use crate::dictionary::Dictionary;
use crate::measured::Measured;
use crate::parameters::Parameters;
use crate::rows::{RowStep, Rows};
use crate::statistics::Statistics;
use crate::{Error, Result};
use file::{Head, RunFile, RunHead};
use fingerprint::Fingerprint;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where a fit keeps its state, and how often.
///
/// ```
/// use fairer_nmf::fit::Checkpoint;
/// use std::time::Duration;
/// let begun = Checkpoint::new("fit.state", Duration::from_secs(60));
/// assert!(!begun.resume);
/// let gone_on_with = begun.with(|c| c.resume = true);
/// # assert!(gone_on_with.resume && gone_on_with.every.as_secs() == 60);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The file; those of the runs stand beside it.
    pub path: PathBuf,
    /// The least time between two states of a run.
    pub every: Duration,
    /// Go on from what the file holds; otherwise begin anew and replace it.
    pub resume: bool,
}

impl Checkpoint {
    /// Of a fit that begins anew.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, every: Duration) -> Self {
        Self { path: path.into(), every, resume: false }
    }
}

crate::changeable!(Checkpoint);

/// The checkpoint of a fit that is going on.
pub(crate) struct Keeper {
    path: PathBuf,
    every: Duration,
    head: Mutex<Head>,
    /// When every run was last saved, or began; the whole under an empty name.
    saved: Mutex<HashMap<String, Instant>>,
    /// Baseline runs that are over, whose files are to be removed.
    over: Mutex<Vec<String>>,
}

/// Where a loop stood.
pub(super) struct Stood {
    pub dictionary: Dictionary,
    pub accepted: Option<(Dictionary, Measured)>,
    pub statistics: Vec<Statistics>,
    pub carried: Carried,
}

/// What a run left.
pub(super) struct Left {
    pub dictionary: Dictionary,
    pub statistics: Vec<Statistics>,
    pub ended: Ended,
}

impl Left {
    pub fn into_run<'r>(self, rows: Box<dyn Rows + 'r>) -> Run<'r> {
        let Self { dictionary, statistics, ended } = self;
        let Ended { measured, history, status, step_gap, weights } = ended;
        Run { dictionary, rows, statistics, measured, history, status, step_gap, weights }
    }
}

impl Keeper {
    /// Begins a checkpoint, or takes up one that fits these rows and parameters; `runs`: of the
    /// baselines, in all.
    pub fn new(
        checkpoint: &Checkpoint,
        rows: &dyn Rows,
        parameters: &Parameters,
        runs: usize,
    ) -> Result<Self> {
        let Checkpoint { path, every, resume } = checkpoint;
        let fingerprint = Fingerprint::new(rows, parameters)?;
        let head = if *resume {
            let head = Head::load(path)?;
            if let Some(reason) = head.fingerprint.difference(&fingerprint, rows) {
                return Err(Error::Checkpoint { path: path.clone(), reason });
            }
            head
        } else {
            remove_runs(path).map_err(|source| Error::Io { path: path.clone(), source })?;
            let head = Head::new(fingerprint, runs);
            head.save(path)?;
            head
        };
        let saved = HashMap::from([(String::new(), Instant::now())]);
        let (path, every) = (path.clone(), *every);
        let (head, saved) = (Mutex::new(head), Mutex::new(saved));
        Ok(Self { path, every, head, saved, over: Mutex::default() })
    }

    /// The error of a baseline run that is over.
    pub fn baseline(&self, run: usize) -> Option<f64> {
        self.head().baselines.get(run).copied().flatten()
    }

    /// A baseline run is over: its error is all that is needed of it.
    pub fn note_baseline(&self, run: usize, error: f64, name: String) -> Result<()> {
        let mut head = self.head();
        if let Some(place) = head.baselines.get_mut(run) {
            *place = Some(error);
        }
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        over.push(name);
        if self.is_due("") || head.baselines.iter().all(Option::is_some) {
            head.save(&self.path)?;
            for name in over.drain(..) {
                // Most were never saved.
                let _ = std::fs::remove_file(self.run_path(&name));
            }
        }
        Ok(())
    }

    pub fn bound(&self) -> Option<BoundReport> {
        self.head().bound.clone()
    }

    pub fn note_bound(&self, bound: &BoundReport) -> Result<()> {
        let mut head = self.head();
        head.bound = Some(bound.clone());
        head.save(&self.path)
    }

    /// What a run left, if it is over: W is then with the rows.
    pub(super) fn left(&self, name: &str, rows: &mut dyn Rows) -> Result<Option<Left>> {
        let Some(mut file) = self.open(name)? else { return Ok(None) };
        let Some(ended) = file.head.ended.take() else { return Ok(None) };
        let dictionary = file.dictionary(rows.features())?;
        if !file.restore(rows)? {
            return Ok(None);
        }
        let statistics = rows.pass(&dictionary, RowStep::Keep)?;
        Ok(Some(Left { dictionary, statistics, ended }))
    }

    /// Where a run stood, if it was on its way: W is then with the rows.
    pub(super) fn stood(&self, name: &str, rows: &mut dyn Rows) -> Result<Option<Stood>> {
        let Some(mut file) = self.open(name)? else { return Ok(None) };
        let Some(Going { accepted, carried }) = file.head.going.take() else { return Ok(None) };
        let dictionary = file.dictionary(rows.features())?;
        let accepted = match accepted {
            Some(measured) => Some((file.dictionary(rows.features())?, measured)),
            None => None,
        };
        if !file.restore(rows)? {
            return Ok(None);
        }
        let statistics = rows.pass(&dictionary, RowStep::Keep)?;
        Ok(Some(Stood { dictionary, accepted, statistics, carried }))
    }

    /// Whether the state of a run is to be saved; if so, the time begins anew.
    pub(super) fn is_due(&self, name: &str) -> bool {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let last = saved.entry(name.to_owned()).or_insert(now);
        let due = now.duration_since(*last) >= self.every;
        if due {
            *last = now;
        }
        due
    }

    /// Saves where a run stands. A baseline's begins anew where its rows depend on a path that nobody has: its
    /// error would be another, and all that follows.
    pub(super) fn save_going(
        &self,
        (part, name): (Part, &str),
        rows: &dyn Rows,
        dictionary: &Dictionary,
        accepted: Option<&(Dictionary, Measured)>,
        carried: Carried,
    ) -> Result<()> {
        let lost = !rows.keeps_rows() && rows.origin().is_some_and(|origin| origin.stands_in);
        if lost && matches!(part, Part::Baseline { .. }) {
            return Ok(());
        }
        let going = Going { accepted: accepted.map(|(_, measured)| measured.clone()), carried };
        let head = RunHead::new(self.head().id, dictionary.rank, Some(going), None);
        let mut dictionaries = vec![dictionary];
        dictionaries.extend(accepted.map(|(h, _)| h));
        file::save_run(&self.run_path(name), head, &dictionaries, rows)
    }

    /// Saves what a run left, unless it was told to stop: it then goes on from where it stood.
    pub(super) fn save_left(&self, part: Part, name: &str, run: &Run<'_>) -> Result<()> {
        let stopped = run.status.is_cut_short();
        if stopped || matches!(part, Part::Baseline { .. }) {
            return Ok(());
        }
        let head = RunHead::new(self.head().id, run.dictionary.rank, None, Some(Ended::of(run)));
        file::save_run(&self.run_path(name), head, &[&run.dictionary], &*run.rows)
    }

    fn open(&self, name: &str) -> Result<Option<RunFile>> {
        let (file, id) = (RunFile::open(&self.run_path(name))?, self.head().id);
        // A run of another fit that happens to stand here is none of ours.
        Ok(file.filter(|file| file.head.id == id))
    }

    fn head(&self) -> MutexGuard<'_, Head> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_path(&self, name: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".");
        path.push(name);
        path.into()
    }
}

/// What the names of runs begin with.
pub(super) const KINDS: [&str; 6] =
    ["restart", "standard", "exchange", "split", "finish", "baseline"];

/// Removes the files of runs that stand beside a checkpoint.
fn remove_runs(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(name) = path.file_name() else { return Ok(()) };
    let start = format!("{}.", name.to_string_lossy());
    for entry in std::fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let found = entry.file_name().to_string_lossy().into_owned();
        let of_run = |run: &str| KINDS.iter().any(|kind| run.starts_with(&format!("{kind}-")));
        if found.strip_prefix(&start).is_some_and(of_run) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
