//! Files that are written whole or not at all, and never over another without `--force`.
//!
//! An [`Output`] is claimed before any work: its temporary neighbour is made, and as soon as the
//! size of the result can be guessed it is filled with as many bytes, so that an unwritable
//! folder or a full disk is found before a long fit and not after it.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

use crate::neighbour;

use crate::failure::Failure;

/// Temporary files that a second Ctrl-C must not leave behind.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Reserving more than this costs more time than it can save.
const MOST_RESERVED: usize = 64 << 20;

/// Removes temporary files; for the moment before the program exits at once.
pub fn remove_unfinished() {
    // Not waited for: the program may end in the middle of anything.
    if let Ok(paths) = UNFINISHED.try_lock() {
        for path in paths.iter() {
            // Best effort: there is nobody left to tell.
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that will be written.
pub struct Output {
    option: &'static str,
    /// As the user called it.
    shown: String,
    place: Place,
    force: bool,
}

enum Place {
    /// `-`.
    Stdout,
    /// A device or a pipe, which cannot be replaced.
    Special(File),
    /// A file, by way of its neighbour.
    File { target: PathBuf, temporary: NamedTempFile },
}

impl Output {
    /// Claims the path that an option gave.
    pub fn claim(option: &'static str, path: &str, force: bool) -> Result<Self, Failure> {
        let shown = path.to_owned();
        if path == "-" {
            return Ok(Self { option, shown, place: Place::Stdout, force });
        }
        if path.is_empty() {
            return Err(Failure::wrong(format!("{option} '': give the name of a file")));
        }
        let target = resolved(path);
        let about = match fs::metadata(&target) {
            Ok(about) => Some(about),
            Err(_) if target.is_symlink() => {
                return Err(Failure::wrong(format!(
                    "{path} is a link to a file that does not exist ({option}): remove the link, or give another name"
                )));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            // A name that is too long, say, which the neighbour's is not.
            Err(e) => return Err(unwritable(option, path, &e)),
        };
        match &about {
            Some(about) if about.is_dir() => {
                return Err(Failure::wrong(format!(
                    "{option} {path} is a folder: give the name of a file"
                )));
            }
            Some(about) if !about.is_file() => {
                let file = OpenOptions::new().write(true).open(&target);
                let file = file.map_err(|e| unwritable(option, path, &e))?;
                return Ok(Self { option, shown, place: Place::Special(file), force });
            }
            Some(_) if !force => {
                return Err(Failure::wrong(format!(
                    "{path} exists already ({option}): give another name, or --force to replace it"
                )));
            }
            _ => {}
        }
        let temporary = neighbour::beside(&target).map_err(|e| unwritable(option, path, &e))?;
        if let Some(about) = about {
            // What was private stays private.
            let kept = temporary.as_file().set_permissions(about.permissions());
            kept.map_err(|e| unwritable(option, path, &e))?;
        }
        if let Ok(mut paths) = UNFINISHED.lock() {
            paths.push(temporary.path().to_owned());
        }
        let mut output = Self { option, shown, place: Place::File { target, temporary }, force };
        output.reserve(0)?;
        Ok(output)
    }

    /// Claims the path of an option, where it was given.
    pub fn claim_if(
        option: &'static str,
        path: Option<&str>,
        force: bool,
    ) -> Result<Option<Self>, Failure> {
        path.map(|path| Self::claim(option, path, force)).transpose()
    }

    /// Makes sure of room for so many bytes.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        match &mut self.place {
            Place::File { temporary, .. } => fill(temporary.as_file_mut(), bytes)
                .map_err(|e| unwritable(self.option, &self.shown, &e)),
            Place::Stdout | Place::Special(_) => Ok(()),
        }
    }

    /// The path as the user gave it.
    pub fn shown(&self) -> &str {
        match &self.place {
            Place::Stdout => "standard output",
            _ => &self.shown,
        }
    }

    /// Whether this is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Writes the content, whole.
    pub fn write(self, content: &[u8]) -> Result<(), Failure> {
        let shown = self.shown;
        let failed = |e: std::io::Error| unwritten(&shown, &e);
        match self.place {
            Place::Stdout => print_bytes(content),
            Place::Special(mut file) => file.write_all(content).map_err(failed),
            Place::File { target, mut temporary } => {
                let file = temporary.as_file_mut();
                file.write_all(content)
                    .and_then(|()| file.set_len(content.len() as u64))
                    .and_then(|()| file.sync_all())
                    .map_err(failed)?;
                put(temporary, &target, self.force).map_err(failed)
            }
        }
    }
}

/// Renames; the file is open, and so locked, until it is done.
fn put(temporary: NamedTempFile, target: &Path, force: bool) -> std::io::Result<()> {
    let from = temporary.path().to_owned();
    let done = match force {
        true => temporary.persist(target),
        // A file that came into being during the fit is as dear as one that was there before.
        false => temporary.persist_noclobber(target),
    };
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.retain(|path| *path != from);
    }
    done.map(drop).map_err(|e| e.error)
}

/// Bytes on standard output as they are.
///
/// # Errors
/// If nobody listens any more, or they cannot be written.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::unprinted)
}

/// No two outputs, nor an output and an input, may be the same file.
pub fn check_distinct(inputs: &[String], outputs: &[(&str, Option<&str>)]) -> Result<(), Failure> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let target = match *path {
            "-" => PathBuf::from("-"),
            path => resolved(path),
        };
        if let Some((other, _)) = seen.iter().find(|(_, known)| *known == target) {
            return Err(Failure::wrong(format!(
                "{other} and {option} both write {path}: give each its own file"
            )));
        }
        let read =
            inputs.iter().filter(|input| *input != "-").map(|input| (input, resolved(input)));
        for (input, known) in read {
            if known == target {
                return Err(Failure::wrong(format!(
                    "{option} {path} is also read: give the output another name"
                )));
            }
            // Documents lie in the folders of a folder.
            if target.parent().is_some_and(|folder| folder != known && folder.starts_with(&known)) {
                return Err(Failure::wrong(format!(
                    "{option} {path} lies among the documents of {input}: give the output another place"
                )));
            }
        }
        seen.push((option, target));
    }
    Ok(())
}

/// The path behind links, as far as it exists.
fn resolved(path: &str) -> PathBuf {
    let path = Path::new(path);
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (fs::canonicalize(folder.unwrap_or(Path::new("."))), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Fills the file, so that the room is there when it is needed.
fn fill(file: &mut File, bytes: usize) -> std::io::Result<()> {
    file.rewind()?;
    let zeros = vec![0; 1 << 16];
    let mut left = bytes.clamp(1 << 12, MOST_RESERVED);
    while left > 0 {
        let now = left.min(zeros.len());
        file.write_all(&zeros[..now])?;
        left -= now;
    }
    file.flush()?;
    file.rewind()
}

/// Found before the work: the command is wrong where the place is, the run fails where the disk
/// is full.
fn unwritable(option: &str, path: &str, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    let folder = match Path::new(path).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.display().to_string(),
        _ => "the current folder".to_owned(),
    };
    let no_folder = Path::new(path)
        .parent()
        .is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    match error.kind() {
        ErrorKind::NotFound if no_folder => Failure::wrong(format!(
            "cannot write {path} ({option}): there is no folder {folder}; make it first"
        )),
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Failure::wrong(format!(
                "cannot write {path} ({option}): {folder} is not writable; choose another place"
            ))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Failure::failed(format!(
            "cannot write {path} ({option}): the disk is full; make room or choose another place"
        )),
        ErrorKind::FileTooLarge => {
            Failure::failed(format!("cannot write {path} ({option}): {TOO_LARGE}"))
        }
        ErrorKind::InvalidFilename => Failure::wrong(format!(
            "cannot write {path} ({option}): the name is too long; give a shorter one"
        )),
        _ => Failure::wrong(format!("cannot write {path} ({option}): {}", cause(error))),
    }
}

/// The limit of `ulimit -f`, or of the disk's format.
const TOO_LARGE: &str =
    "the system allows no file so large; raise the limit (ulimit -f) or choose another place";

fn unwritten(shown: &str, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            Failure::failed(format!("cannot write {shown}: {TOO_LARGE}"))
        }
        std::io::ErrorKind::AlreadyExists => Failure::failed(format!(
            "{shown} came into being meanwhile and was left alone: run again with another name, or --force"
        )),
        _ => Failure::failed(format!("cannot write {shown}: {}", cause(error))),
    }
}

/// The system's reason; tempfile puts the temporary path, which nobody asked about, around it.
fn cause(error: &std::io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.source()) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}
