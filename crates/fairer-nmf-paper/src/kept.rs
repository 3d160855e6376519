//! Finished trials of a convergence study, one file each, until the study is whole.

use std::path::Path;

use fairer_nmf_io::Failure;

use super::put;

/// Losses of a trial: rule, iteration, group.
pub(super) type Histories = [Vec<Vec<f64>>; 2];

const FOLDER: &str = "convergence-trials";

fn name(key: &str, trial: usize) -> String {
    format!("{FOLDER}/{key}-{trial}.json")
}

/// A trial that an earlier run finished; what cannot be read is run again.
pub(super) fn load(folder: &Path, key: &str, trial: usize) -> Option<Histories> {
    let text = std::fs::read(folder.join(name(key, trial))).ok()?;
    let histories: Histories = serde_json::from_slice(&text).ok()?;
    histories.iter().all(|history| !history.is_empty()).then_some(histories)
}

pub(super) fn save(
    folder: &Path,
    key: &str,
    trial: usize,
    histories: &Histories,
) -> Result<(), Failure> {
    let path = folder.join(FOLDER);
    std::fs::create_dir_all(&path)
        .map_err(|e| Failure::failed(format!("cannot make the folder {}: {e}", path.display())))?;
    let text = serde_json::to_vec(histories)
        .map_err(|e| Failure::failed(format!("cannot keep a trial: {e}")))?;
    put(folder, &name(key, trial), &text)
}

/// Removes the trials of a study that is whole, and the folder once it is empty.
pub(super) fn clear(folder: &Path, key: &str, trials: usize) {
    // What is left behind does no harm.
    for trial in 0..trials {
        let _ = std::fs::remove_file(folder.join(name(key, trial)));
    }
    let _ = std::fs::remove_dir(folder.join(FOLDER));
}
