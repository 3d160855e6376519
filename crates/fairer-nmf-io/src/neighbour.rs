//! Temporary files beside their targets, and those that runs which were killed have left behind.
//!
//! Whoever writes a temporary file holds a lock on it until it has its final name. The system
//! lets go of the lock when a process ends, however it ends: a temporary file that can be locked is
//! nobody's any more, whatever machine or container its owner ran on.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

const PREFIX: &str = ".fairer-nmf-";
const SUFFIX: &str = ".part";

/// A new temporary file in the folder of `target`, locked. Removes what earlier runs left there.
pub(crate) fn beside(target: &Path) -> std::io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    tidy_once(folder);
    in_folder(folder)
}

/// A new temporary file in a folder, locked.
pub fn in_folder(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the user's umask decides.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let made = builder.tempfile_in(folder)?;
        // Where files cannot be locked nobody can, and so nobody tidies up either. Where another
        // run was quicker to lock it, it takes ours for left behind.
        let lost = matches!(made.as_file().try_lock(), Err(fs::TryLockError::WouldBlock));
        if !lost && made.path().exists() {
            return Ok(made);
        }
    }
}

/// Tidies a folder up, unless this process has done so: a run writes many files.
fn tidy_once(folder: &Path) {
    static DONE: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let Ok(mut done) = DONE.lock() else { return };
    if done.get_or_insert_default().insert(folder.to_owned()) {
        tidy(folder);
    }
}

/// Removes the temporary files of a folder that no process holds. What cannot be looked at or
/// removed stays: it is in nobody's way.
fn tidy(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if !name.to_str().is_some_and(ours) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            // Before the lock goes: its owner, if it is only about to lock it, then makes another.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_holds_stays_and_what_a_dead_one_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let held = in_folder(folder.path()).unwrap();
        fs::write(folder.path().join(".fairer-nmf-dead.part"), "half").unwrap();
        fs::write(folder.path().join("mine.part"), "mine").unwrap();
        fs::create_dir(folder.path().join(".fairer-nmf-folder.part")).unwrap();
        tidy(folder.path());
        let count = || fs::read_dir(folder.path()).unwrap().count();
        assert!(held.path().exists());
        assert_eq!(count(), 3, "the dead one's file is gone");
        drop(held);
        assert_eq!(count(), 2);
    }

    #[test]
    fn runs_side_by_side_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let run = || {
            for _ in 0..200 {
                let file = in_folder(folder.path()).unwrap();
                tidy(folder.path());
                assert!(file.path().exists(), "taken away while it was held");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
