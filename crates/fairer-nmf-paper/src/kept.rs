//! Finished trials of a convergence study, one file each, until the study is whole.

use std::path::Path;

use fairer_nmf_io::Failure;

use super::put;

/// Losses of a trial: rule, iteration, group.
pub(super) type Histories = [Vec<Vec<f64>>; 2];

/// Iterations of a trial, at the most.
pub(super) const ITERATIONS: usize = 1_000;

const FOLDER: &str = "convergence-trials";

fn name(key: &str, trial: usize) -> String {
    format!("{FOLDER}/{key}-{trial}.json")
}

/// A trial of so many groups that an earlier run finished; what cannot be read, or is not such a
/// trial, is run again.
pub(super) fn load(folder: &Path, key: &str, trial: usize, groups: usize) -> Option<Histories> {
    let text = std::fs::read(folder.join(name(key, trial))).ok()?;
    let histories: Histories = serde_json::from_slice(&text).ok()?;
    let whole = |losses: &Vec<f64>| losses.len() == groups && losses.iter().all(|l| l.is_finite());
    let good = |history: &Vec<Vec<f64>>| {
        (1..=ITERATIONS).contains(&history.len()) && history.iter().all(whole)
    };
    histories.iter().all(good).then_some(histories)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trial_of_these_groups_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let good: Histories = [vec![vec![0.1, 0.2]], vec![vec![0.1, 0.2], vec![0.0, -0.1]]];
        save(folder.path(), "s", 0, &good).expect("saved");
        assert_eq!(load(folder.path(), "s", 0, 2), Some(good));
        assert_eq!(load(folder.path(), "s", 0, 3), None);
        let path = folder.path().join(name("s", 1));
        for damaged in [
            "[[[0.1]],[[0.1]]]",
            "[[[0.1,0.2],[]],[[0.1,0.2]]]",
            "[[[0.1,1e999]],[[0.1,0.2]]]",
            "[[],[]]",
            "{}",
            "[[[0.1,",
        ] {
            std::fs::write(&path, damaged).expect("written");
            assert_eq!(load(folder.path(), "s", 1, 2), None, "{damaged}");
        }
    }
}
