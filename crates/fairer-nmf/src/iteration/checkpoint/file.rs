//! The files of a checkpoint: one line of JSON, and after it, of a run, its dictionaries (n×r) and W as
//! 64-bit numbers. Who does not have W at hand leaves it out: the last dictionary is the one that it
//! is made anew from.

use super::Fingerprint;
use crate::bound::BoundReport;
use crate::dictionary::Dictionary;
use crate::iteration::dictionary_step::Memory;
use crate::iteration::made::Run;
use crate::iteration::momentum::Momentum;
use crate::measured::Measured;
use crate::rows::{Begin, Origin, RowStep, Rows};
use crate::stopping::Status;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of the format, and of the way in which this version of the library searches; another is refused.
const VERSION: u32 = 7;

/// What is known of the whole fit.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    version: u32,
    /// The version of the library: another may search in another way, and go on to another model.
    #[serde(default)]
    library: String,
    /// Ties the files of the runs to this one.
    pub id: u64,
    pub fingerprint: Fingerprint,
    /// The errors of the baseline runs that are over.
    pub baselines: Vec<Option<f64>>,
    pub bound: Option<BoundReport>,
}

/// What is known of a run, but for its matrices.
#[derive(Serialize, Deserialize)]
pub(super) struct RunHead {
    version: u32,
    pub id: u64,
    rank: usize,
    pub going: Option<Going>,
    pub ended: Option<Ended>,
    /// How W is made from the last dictionary.
    origin: Option<(Begin, RowStep)>,
    /// Whether W is there.
    rows: bool,
}

/// Where a loop stands, but for its matrices.
#[derive(Serialize, Deserialize)]
pub struct Going {
    /// What the last accepted dictionary achieved, if there is one.
    pub accepted: Option<Measured>,
    pub carried: Carried,
}

/// What a loop carries from iteration to iteration beside its matrices.
#[derive(Serialize, Deserialize)]
pub struct Carried {
    pub latest: Option<Measured>,
    pub momentum: Momentum,
    pub dictionary: Memory,
    pub history: Vec<Vec<f64>>,
}

/// How a run ended.
#[derive(Serialize, Deserialize)]
pub struct Ended {
    pub measured: Measured,
    pub history: Vec<Vec<f64>>,
    pub status: Status,
    pub step_gap: Option<f64>,
    pub weights: Vec<f64>,
}

impl Ended {
    pub fn of(run: &Run<'_>) -> Self {
        Self {
            measured: run.measured.clone(),
            history: run.history.clone(),
            status: run.status,
            step_gap: run.step_gap,
            weights: run.weights.clone(),
        }
    }
}

impl Head {
    pub fn new(fingerprint: Fingerprint, runs: usize) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // Any number that another fit in this place is unlikely to have.
        let id = since.map_or(0, |t| t.as_nanos() as u64) ^ (u64::from(std::process::id()) << 32);
        Self {
            version: VERSION,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            fingerprint,
            baselines: vec![None; runs],
            bound: None,
        }
    }

    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => {
                unusable(path, "there is no checkpoint to go on from: begin without resuming")
            }
            _ => Error::Io { path: path.to_owned(), source },
        })?;
        let head: Self = parsed(path, &text)?;
        checked(path, head.version)?;
        match head.library == env!("CARGO_PKG_VERSION") {
            true => Ok(head),
            false => Err(another_version(path)),
        }
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        whole(path, |out| out.write_all(&serde_json::to_vec(self)?))
    }
}

impl RunHead {
    pub fn new(id: u64, rank: usize, going: Option<Going>, ended: Option<Ended>) -> Self {
        Self { version: VERSION, id, rank, going, ended, origin: None, rows: false }
    }
}

/// The file of a run, after its first line.
pub(super) struct RunFile {
    pub head: RunHead,
    path: PathBuf,
    rest: BufReader<File>,
}

impl RunFile {
    /// None where there is none.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let mut rest = match File::open(path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut line = Vec::new();
        rest.read_until(b'\n', &mut line).map_err(failed)?;
        let head: RunHead = parsed(path, &line)?;
        checked(path, head.version)?;
        Ok(Some(Self { head, path: path.to_owned(), rest }))
    }

    /// The next dictionary.
    pub fn dictionary(&mut self, features: usize) -> Result<Dictionary> {
        let rank = self.head.rank;
        let mut values = vec![0.0; rank * features];
        let mut number = [0; 8];
        for value in &mut values {
            self.rest.read_exact(&mut number).map_err(|e| unusable(&self.path, &e.to_string()))?;
            *value = f64::from_le_bytes(number);
        }
        Ok(Dictionary { rank, features, values })
    }

    /// W, which comes last, into the rows, or what makes it anew. False, and the rows stay as they
    /// are, where the file has neither for them.
    pub fn restore(mut self, rows: &mut dyn Rows) -> Result<bool> {
        let dictionary = match self.head.origin {
            Some(_) => Some(self.dictionary(rows.features())?),
            None => None,
        };
        if self.head.rows && rows.keeps_rows() {
            let done = rows.restore(self.head.rank, &mut self.rest);
            done.map_err(|e| unusable(&self.path, &format!("its rows: {e}")))?;
            return Ok(true);
        }
        let (Some((begin, step)), Some(dictionary)) = (self.head.origin, dictionary) else {
            return Ok(false);
        };
        Origin { begin, step, dictionary, stands_in: true }.make(rows)?;
        Ok(true)
    }
}

/// Saves a run. In a soft beginning, and without W at hand, nothing is saved: so short a run begins anew.
pub(super) fn save_run(
    path: &Path,
    mut head: RunHead,
    dictionaries: &[&Dictionary],
    rows: &dyn Rows,
) -> Result<()> {
    let origin = rows.origin();
    head.origin = origin.map(|origin| (origin.begin, origin.step));
    head.rows = rows.keeps_rows();
    if !head.rows && origin.is_none() {
        return Ok(());
    }
    whole(path, |out| {
        out.write_all(&serde_json::to_vec(&head)?)?;
        out.write_all(b"\n")?;
        let made_from = origin.map(|origin| &origin.dictionary.values);
        for value in dictionaries.iter().map(|h| &h.values).chain(made_from).flatten() {
            out.write_all(&value.to_le_bytes())?;
        }
        if head.rows { rows.save(out) } else { Ok(()) }
    })
}

/// Writes a file that appears whole or not at all.
fn whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = || {
        let mut file = tempfile::Builder::new()
            .prefix(".fairer-nmf-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        file.as_file().sync_data()?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn parsed<'a, D: Deserialize<'a>>(path: &Path, text: &'a [u8]) -> Result<D> {
    serde_json::from_slice(text)
        .map_err(|e| unusable(path, &format!("this is no checkpoint, or a damaged one ({e})")))
}

fn checked(path: &Path, version: u32) -> Result<()> {
    match version == VERSION {
        true => Ok(()),
        false => Err(another_version(path)),
    }
}

fn another_version(path: &Path) -> Error {
    unusable(path, "it was written by another version: begin without resuming")
}

fn unusable(path: &Path, reason: &str) -> Error {
    Error::Checkpoint { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_beside_its_place_and_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        std::fs::write(&path, "before").unwrap();
        let write = |out: &mut dyn Write| {
            out.write_all(b"now")?;
            // A rename is whole inside one file system only.
            assert_eq!((entries(), std::fs::read(&path)?), (2, b"before".to_vec()));
            Ok(())
        };
        whole(&path, write).unwrap();
        assert_eq!((entries(), std::fs::read(&path).unwrap()), (1, b"now".to_vec()));
        assert!(whole(&path, |_| Err(std::io::Error::other("no room"))).is_err());
        assert_eq!((entries(), std::fs::read(&path).unwrap()), (1, b"now".to_vec()));
    }
}
