//! The paper's experiments (arXiv 2411.09847) with this library, beside the paper's numbers.
//!
//! `sets` has the data, `trials` runs them, `chance` sets them beside random groups, `store` keeps what is finished, `cells` holds
//! mean and spread of ours and of the paper's; `claims`, `cause`, `figures`, `page` and `tables` say
//! what came out. Nothing here knows of commands or of a terminal: whoever runs it is a [`Watch`].

mod approach;
mod cause;
mod cells;
mod chance;
mod claims;
mod convergence;
mod figures;
mod kept;
mod metric;
pub mod neighbours;
pub mod newsgroups;
mod page;
mod sets;
mod store;
mod tables;
mod trials;
pub mod unknown;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fairer_nmf::{GroupedData, Observer, Progress};
use fairer_nmf_io::{Failure, Output};
use fairer_nmf_report::{SCHEMA, chart_files};
use serde::Serialize;

use cells::Cells;
pub use sets::HEART_DISEASE;
use sets::{SETS, Set};
use store::Store;
pub use trials::trial_baselines;

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Two groups in orthogonal subspaces.
    Synthetic1,
    /// Three groups, one with noise.
    Synthetic2,
    /// Patients by sex.
    HeartDisease,
    /// Posts by subject.
    Newsgroups,
    /// The two weight rules of MU.
    Convergence,
}

/// What was asked for.
pub struct Settings<'a> {
    /// The experiments, in this order.
    pub parts: &'a [Part],
    /// The folder for everything that is written; made if it is not there.
    pub out: &'a Path,
    /// Where the 20 Newsgroups posts are.
    pub data: Option<&'a str>,
    /// Of every experiment; the convergence study has ten times as many.
    pub trials: usize,
    /// Few ranks.
    pub quick: bool,
    /// Of all random numbers.
    pub seed: u64,
}

/// Who watches the experiments, and can stop them.
pub trait Watch: Sync {
    /// Which experiment of how many comes next.
    fn next(&self, which: &str);
    /// So many of so many are done.
    fn counted(&self, what: &'static str, done: usize, total: usize);
    /// Something to know.
    fn note(&self, text: &str);
    /// Whether to stop.
    fn stopped(&self) -> bool;
}

/// What was written.
pub struct Reproduction {
    /// Every claim of the paper with its verdict, a line each.
    pub summary: String,
    /// The whole comparison.
    pub page: PathBuf,
}

/// The groups beside random groups of their sizes.
const CHANCE: &str = "chance.csv";
/// The curves of the convergence study.
const CURVES: &str = "convergence.csv";
/// The comparison with the paper, for people.
const PAGE: &str = "reproduction.html";
/// The same in tables.
const TABLES: &str = "reproduction.md";

/// What is said where the posts are needed and were not given.
const NO_POSTS: &str = "20 Newsgroups is skipped: get 20news-bydate.tar.gz from http://qwone.com/~jason/20Newsgroups/ and pass it (or the folder it unpacks into) with --data";

/// Runs what is not finished yet and writes what came out.
///
/// # Errors
/// If the folder cannot be used or holds something else, the posts cannot be read, or it was
/// stopped: what was finished is kept, and the same call goes on from there.
pub fn run(settings: &Settings<'_>, watch: &dyn Watch) -> Result<Reproduction, Failure> {
    make_folder(settings)?;
    let mut store = Store::open(settings.out, settings.seed)?;
    let mut notes = Vec::new();
    for (i, &part) in settings.parts.iter().enumerate() {
        if watch.stopped() {
            break;
        }
        watch.next(&format!("{}/{}", i + 1, settings.parts.len()));
        let Some(set) = Set::of(part) else {
            convergence::run(settings, watch)?;
            continue;
        };
        if part == Part::Newsgroups && settings.data.is_none() {
            watch.note(NO_POSTS);
            notes.push(NO_POSTS.to_owned());
            continue;
        }
        trials::run(set, settings, &mut store, watch)?;
        chance::run(set, settings, watch)?;
    }
    if watch.stopped() {
        return Err(Failure::failed(format!(
            "stopped; what was finished is kept in {}: the same command goes on from there",
            settings.out.display()
        )));
    }
    write(settings, &store, &notes)
}

/// Figures and the page, from everything that the folder holds.
fn write(
    settings: &Settings<'_>,
    store: &Store,
    notes: &[String],
) -> Result<Reproduction, Failure> {
    let ours = Cells::of_results(store.rows());
    let paper = Cells::of_paper();
    let curves = convergence::read(settings.out)?;
    let figures = figures::all(&ours, &paper, &curves);
    for figure in &figures {
        let failed = |e| Failure::failed(format!("cannot draw {}: {e}", figure.stem));
        for (ending, content) in chart_files(&figure.svg).map_err(failed)? {
            put(settings.out, &format!("{}.{ending}", figure.stem), &content)?;
        }
    }
    let findings = claims::judge(&ours, &paper, &curves);
    let chance = chance::read(settings.out);
    let page = page::render(&page::Content {
        ours: &ours,
        paper: &paper,
        figures: &figures,
        findings: &findings,
        chance: &chance,
        notes,
        settings,
    });
    put(settings.out, PAGE, page.as_bytes())?;
    let tables = tables::render(&ours, &paper, &findings, &curves, &chance);
    put(settings.out, TABLES, tables.as_bytes())?;
    Ok(Reproduction {
        summary: claims::summary(&findings, settings.quick),
        page: settings.out.join(PAGE),
    })
}

/// What a study of all data sets does with one.
type OnSet<'a> =
    dyn FnMut(&'static Set, &GroupedData<'_>, &Observer<'_>) -> Result<(), Failure> + 'a;

/// Does something with every data set, 20 Newsgroups where its posts were given; stopped, it ends with `unfinished`.
fn on_every_set(
    settings: &Settings<'_>,
    watch: &dyn Watch,
    unfinished: &str,
    work: &mut OnSet<'_>,
) -> Result<(), Failure> {
    make_folder(settings)?;
    for (i, set) in SETS.iter().enumerate() {
        if set.part == Part::Newsgroups && settings.data.is_none() {
            watch.note(NO_POSTS);
            continue;
        }
        watch.next(&format!("{}/{}", i + 1, SETS.len()));
        let held = set.hold(settings)?;
        let observer = |_: &Progress<'_>| match watch.stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        work(set, &held.grouped()?, &observer)?;
        if watch.stopped() {
            return Err(Failure::failed(unfinished));
        }
    }
    Ok(())
}

/// Makes the folder for everything that is written.
fn make_folder(settings: &Settings<'_>) -> Result<(), Failure> {
    std::fs::create_dir_all(settings.out).map_err(|e| {
        Failure::wrong(format!("cannot make the folder {}: {e}", settings.out.display()))
    })
}

/// Writes a file of the folder, whole; it may replace the one of an earlier run.
fn put(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name).display().to_string();
    Output::claim("--out", &path, true)?.write(content)
}

/// A study of all data sets as JSON.
#[derive(Serialize)]
struct Study<'a, T> {
    /// The version of the fields; docs/schema has a schema for every study.
    schema: u32,
    sets: &'a [OfSet<T>],
    version: &'static str,
}

/// What a study found on a data set.
#[derive(Serialize)]
struct OfSet<T> {
    /// As in results.csv.
    dataset: &'static str,
    title: &'static str,
    #[serde(flatten)]
    found: T,
}

/// Writes what a study found on all sets.
fn put_study<T: Serialize>(folder: &Path, name: &str, sets: &[OfSet<T>]) -> Result<(), Failure> {
    let study = Study { schema: SCHEMA, sets, version: env!("CARGO_PKG_VERSION") };
    let mut text = serde_json::to_vec_pretty(&study)
        .map_err(|e| Failure::failed(format!("cannot write {name}: {e}")))?;
    text.push(b'\n');
    put(folder, name, &text)
}
