//! Data that were converted once and lie beside their source for later runs.
//!
//! A cache is a folder, called after its source and after how that was read (`X.csv.shards-1a2b3c4d`).
//! `about.json` in it is written last: it says which files it was made of (where, how long, when last
//! written), how, and what belongs to it. Where any of that is not as it says, it is made again.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::InputError;
use super::neighbour;

/// Version of what lies in a cache; another is made again.
const VERSION: u32 = 5;
const ABOUT: &str = "about.json";
const LOCK: &str = "lock";

/// A file, and what it was like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: String,
    length: u64,
    /// Seconds and nanoseconds since 1970.
    written: Option<(u64, u32)>,
}

impl Stamp {
    fn of(path: &str) -> Result<Self, InputError> {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
        Self::called(whole.display().to_string(), Path::new(path))
            .map_err(|e| InputError::io(path, e))
    }

    /// A part of a cache, by its name in it: the folder may move.
    fn called(name: String, path: &Path) -> std::io::Result<Self> {
        let about = fs::metadata(path)?;
        let since =
            about.modified().ok().and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map(|t| (t.as_secs(), t.subsec_nanos()));
        Ok(Self { path: name, length: about.len(), written })
    }
}

/// What a cache is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Key {
    version: u32,
    files: Vec<Stamp>,
    recipe: Value,
}

/// `about.json`.
#[derive(Serialize, Deserialize)]
struct About<A> {
    key: Key,
    /// What belongs to the cache: names in the folder, with lengths and times.
    parts: Vec<Stamp>,
    found: A,
}

/// The place of a cache, which need not be there yet.
pub(crate) struct Cache {
    source: String,
    folder: PathBuf,
    files: Vec<String>,
    key: Key,
}

impl Cache {
    /// Of `source`, which the user named and which consists of `files`, read as `recipe` says.
    pub(crate) fn of(source: &str, files: Vec<String>, recipe: Value) -> Result<Self, InputError> {
        let stamps = files.iter().map(|path| Stamp::of(path)).collect::<Result<_, _>>()?;
        // FNV-1a: the same name for the same recipe, on any machine.
        let text = recipe.to_string();
        let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = text.bytes().fold(0x811c_9dc5, mix);
        let bare = source.trim_end_matches(['/', '\\']);
        let folder = PathBuf::from(format!("{bare}.shards-{hash:08x}"));
        let key = Key { version: VERSION, files: stamps, recipe };
        Ok(Self { source: source.to_owned(), folder, files, key })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What an earlier run found, where all of it is there and the source has not changed since.
    pub(crate) fn kept<A: DeserializeOwned>(&self) -> Option<A> {
        let text = fs::read(self.folder.join(ABOUT)).ok()?;
        let about: About<A> = serde_json::from_slice(&text).ok()?;
        let whole = |part: &Stamp| {
            let now = Stamp::called(part.path.clone(), &self.folder.join(&part.path));
            now.is_ok_and(|now| now == *part)
        };
        (about.key == self.key && about.parts.iter().all(whole)).then_some(about.found)
    }

    /// Makes the folder, empty; nobody else makes it meanwhile.
    pub(crate) fn begin(&self) -> Result<Making<'_>, InputError> {
        let failed = |source: std::io::Error| InputError::NoCache {
            path: self.source.clone(),
            folder: self.folder.display().to_string(),
            source,
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let lock = File::create(self.folder.join(LOCK)).map_err(failed)?;
        if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(InputError::Unsupported {
                path: self.folder.display().to_string(),
                what: format!("rows of {} that another process is converting", self.source),
                fix: "run again once it is done".into(),
            });
        }
        // What says that the cache is whole goes first.
        for name in [ABOUT.to_owned()].into_iter().chain(self.names().map_err(failed)?) {
            let path = self.folder.join(&name);
            let gone =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match gone {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
                _ => {}
            }
        }
        Ok(Making { cache: self, _lock: lock, done: false })
    }

    /// What is in the folder, but for the lock.
    fn names(&self) -> std::io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let names: std::io::Result<Vec<String>> = names.collect();
        Ok(names?.into_iter().filter(|name| name != LOCK).collect())
    }
}

/// A cache that is being made; what is not finished is removed.
pub(crate) struct Making<'a> {
    cache: &'a Cache,
    _lock: File,
    done: bool,
}

impl Making<'_> {
    /// An error of writing into the folder.
    pub(crate) fn failed(&self, source: std::io::Error) -> InputError {
        let folder = self.cache.folder.display().to_string();
        InputError::NoCache { path: self.cache.source.clone(), folder, source }
    }

    /// The cache is whole: it has these parts, and this is what was found.
    pub(crate) fn finish<A: Serialize>(
        mut self,
        parts: &[String],
        found: A,
    ) -> Result<(), InputError> {
        let now: Vec<Stamp> =
            self.cache.files.iter().map(|path| Stamp::of(path)).collect::<Result<_, _>>()?;
        if now != self.cache.key.files {
            return Err(InputError::Changed { path: self.cache.source.clone() });
        }
        let stamp = |name: &String| Stamp::called(name.clone(), &self.cache.folder.join(name));
        let written = || {
            let parts = parts.iter().map(stamp).collect::<std::io::Result<Vec<_>>>()?;
            let about = About { key: self.cache.key.clone(), parts, found };
            let target = self.cache.folder.join(ABOUT);
            let mut file = neighbour::beside(&target)?;
            file.write_all(&serde_json::to_vec(&about)?)?;
            file.persist(&target)?;
            Ok(())
        };
        written().map_err(|e| self.failed(e))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        if !self.done {
            // Best effort: without `about.json` it is taken for nothing.
            let _ = fs::remove_dir_all(&self.cache.folder);
        }
    }
}
