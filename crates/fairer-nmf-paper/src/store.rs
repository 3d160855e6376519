//! Finished trials on disk: `results.csv`, in the layout of the paper's published results.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use fairer_nmf_io::Failure;

use super::approach::Approach;
use super::metric::Metric;
use super::put;
use super::sets::{SETS, Set};

pub(super) const RESULTS: &str = "results.csv";
const HEADER: &str = "dataset,method,metric,group,rank,trial,value";
/// Which seed the results have.
const SEED: &str = "seed.txt";

/// One number of one trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub dataset: &'static str,
    pub method: Approach,
    pub metric: Metric,
    pub group: &'static str,
    pub rank: usize,
    pub trial: usize,
    pub value: f64,
}

/// Results of this folder, those of earlier runs included.
pub(super) struct Store {
    path: PathBuf,
    file: File,
    rows: Vec<Row>,
    done: BTreeSet<(&'static str, usize, usize)>,
}

impl Store {
    /// Opens the folder; half a trial, left by a run that was killed, is dropped. What is not
    /// ours is left alone.
    pub(super) fn open(folder: &Path, seed: u64) -> Result<Self, Failure> {
        check_seed(folder, seed)?;
        let path = folder.join(RESULTS);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(failed(&path, &e)),
        };
        // A header is written whole, so that a file with another one is somebody else's.
        if text.lines().next().is_some_and(|first| first != HEADER) {
            return Err(foreign(folder, RESULTS));
        }
        // A last line without its end may have been cut inside a number, and still be one.
        let ended = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let read: Vec<Row> = ended.lines().filter_map(parse).collect();
        let mut done = BTreeSet::new();
        for set in &SETS {
            let trials: BTreeSet<_> =
                read.iter().filter(|r| r.dataset == set.key).map(|r| (r.rank, r.trial)).collect();
            for (rank, trial) in trials {
                let of = |r: &&Row| (r.dataset, r.rank, r.trial) == (set.key, rank, trial);
                if read.iter().filter(of).count() == rows_of_a_trial(set) {
                    done.insert((set.key, rank, trial));
                }
            }
        }
        let rows: Vec<Row> =
            read.into_iter().filter(|r| done.contains(&(r.dataset, r.rank, r.trial))).collect();
        let whole: String =
            std::iter::once(format!("{HEADER}\n")).chain(rows.iter().map(line)).collect();
        if whole != text {
            put(folder, RESULTS, whole.as_bytes())?;
        }
        let file = OpenOptions::new().append(true).open(&path).map_err(|e| failed(&path, &e))?;
        Ok(Self { path, file, rows, done })
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn has(&self, set: &Set, rank: usize, trial: usize) -> bool {
        self.done.contains(&(set.key, rank, trial))
    }

    /// Keeps the rows of one trial.
    pub(super) fn add(&mut self, rows: Vec<Row>) -> Result<(), Failure> {
        let text: String = rows.iter().map(line).collect();
        self.file.write_all(text.as_bytes()).map_err(|e| failed(&self.path, &e))?;
        self.done.extend(rows.iter().map(|r| (r.dataset, r.rank, r.trial)));
        self.rows.extend(rows);
        Ok(())
    }
}

/// Error and loss of three methods, the error alone, and the times of the two schemes.
fn rows_of_a_trial(set: &Set) -> usize {
    set.groups.len() * 7 + 2
}

fn line(row: &Row) -> String {
    let Row { dataset, method, metric, group, rank, trial, value } = row;
    format!("{dataset},{method},{metric},{group},{rank},{trial},{value}\n")
}

/// A line of ours; anything else is nothing.
fn parse(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    let [dataset, method, metric, group, rank, trial, value] = fields[..] else { return None };
    let set = SETS.iter().find(|set| set.key == dataset)?;
    let group = match group {
        "all" => "all",
        _ => *set.groups.iter().find(|g| **g == group)?,
    };
    Some(Row {
        dataset: set.key,
        method: Approach::of(method)?,
        metric: Metric::of(metric).filter(|metric| *metric != Metric::WorstLoss)?,
        group,
        rank: rank.parse().ok()?,
        trial: trial.parse().ok()?,
        value: value.parse().ok().filter(|value: &f64| value.is_finite())?,
    })
}

/// The file of the seed is also the mark of a folder that is ours: a new one gets it.
fn check_seed(folder: &Path, seed: u64) -> Result<(), Failure> {
    let path = folder.join(SEED);
    match std::fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse::<u64>() {
            Ok(found) if found == seed => Ok(()),
            Ok(found) => Err(Failure::wrong(format!(
                "{} holds results of --seed {found}: pass that seed to go on, or another folder",
                folder.display(),
            ))),
            Err(_) => Err(foreign(folder, SEED)),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            if let Some(name) = would_be_replaced(folder).map_err(|e| failed(folder, &e))? {
                return Err(foreign(folder, &name));
            }
            put(folder, SEED, format!("{seed}\n").as_bytes())
        }
        Err(e) => Err(failed(&path, &e)),
    }
}

/// A file with a name that this command writes, the first by the alphabet.
fn would_be_replaced(folder: &Path) -> std::io::Result<Option<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let figure = |name: &str| {
        let of_a_set =
            |set: &Set| name.strip_prefix(set.key).is_some_and(|rest| rest.starts_with('-'));
        (name.ends_with(".svg") || name.ends_with(".png")) && SETS.iter().any(of_a_set)
    };
    let ours = [RESULTS, super::CHANCE, super::CURVES, super::PAGE, super::TABLES];
    Ok(names.into_iter().find(|name| ours.contains(&name.as_str()) || figure(name)))
}

fn foreign(folder: &Path, name: &str) -> Failure {
    Failure::wrong(format!(
        "{} is not of an earlier run of this command and would be replaced: give another folder with --out",
        folder.join(name).display()
    ))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot use {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_as_it_was_written() {
        let row = Row {
            dataset: "hd",
            method: Approach::Mu,
            metric: Metric::Loss,
            group: "female",
            rank: 3,
            trial: 1,
            value: -0.1 / 3.0,
        };
        assert_eq!(parse(line(&row).trim_end()), Some(row));
        assert_eq!(parse(HEADER), None);
        assert_eq!(parse("hd,fairer_mu,loss,fem"), None);
    }
}
