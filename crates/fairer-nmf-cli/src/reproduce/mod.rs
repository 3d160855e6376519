//! The paper's experiments (arXiv 2411.09847) with this program, beside the paper's numbers.
//!
//! [`sets`] has the data, [`trials`] runs them, [`store`] keeps what is finished, [`cells`] holds
//! mean and spread of ours and of the paper's; [`claims`], [`cause`], [`figures`], [`page`] and [`tables`] say
//! what came out.

mod cause;
mod cells;
mod claims;
mod convergence;
mod figures;
mod kept;
mod page;
mod sets;
mod store;
mod tables;
mod trials;

use std::path::Path;

use crate::failure::Failure;
use crate::outputs::Output;
use crate::pages::write_chart;
use crate::progress::{self, Bar};
use crate::terminal;
use cells::Cells;
use sets::Set;
use store::Store;

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Synthetic1,
    Synthetic2,
    HeartDisease,
    Newsgroups,
    /// The two weight rules of MU.
    Convergence,
}

/// What was asked for.
pub(crate) struct Settings<'a> {
    pub parts: &'a [Part],
    pub out: &'a Path,
    /// Where the 20 Newsgroups posts are.
    pub data: Option<&'a str>,
    pub trials: usize,
    pub quick: bool,
    pub seed: u64,
    pub quiet: bool,
}

/// The comparison with the paper, for people.
const PAGE: &str = "reproduction.html";
/// The same in tables.
const TABLES: &str = "reproduction.md";

/// What is said where the posts are needed and were not given.
const NO_POSTS: &str = "20 Newsgroups is skipped: get 20news-bydate.tar.gz from http://qwone.com/~jason/20Newsgroups/ and pass it (or the folder it unpacks into) with --data";

pub(crate) fn run(settings: &Settings<'_>, bar: &Bar) -> Result<(), Failure> {
    std::fs::create_dir_all(settings.out).map_err(|e| {
        Failure::wrong(format!("cannot make the folder {}: {e}", settings.out.display()))
    })?;
    let mut store = Store::open(settings.out, settings.seed)?;
    let mut notes = Vec::new();
    for (i, &part) in settings.parts.iter().enumerate() {
        if progress::stopped() {
            break;
        }
        bar.next_work(&format!("{}/{}", i + 1, settings.parts.len()));
        let Some(set) = Set::of(part) else {
            convergence::run(settings, bar)?;
            continue;
        };
        if part == Part::Newsgroups && settings.data.is_none() {
            bar.note(NO_POSTS);
            notes.push(NO_POSTS.to_owned());
            continue;
        }
        trials::run(set, settings, &mut store, bar)?;
    }
    bar.finish();
    if progress::stopped() {
        return Err(Failure::failed(format!(
            "stopped; what was finished is kept in {}: the same command goes on from there",
            settings.out.display()
        )));
    }
    write(settings, &store, &notes)
}

/// Figures and the page, from everything that the folder holds.
fn write(settings: &Settings<'_>, store: &Store, notes: &[String]) -> Result<(), Failure> {
    let ours = Cells::of_results(store.rows());
    let paper = Cells::of_paper();
    let curves = convergence::read(settings.out)?;
    let figures = figures::all(&ours, &paper, &curves);
    for figure in &figures {
        write_chart(settings.out, "--out", &figure.stem, &figure.svg, true)?;
    }
    let findings = claims::judge(&ours, &paper, &curves);
    let page = page::render(&page::Content {
        ours: &ours,
        paper: &paper,
        figures: &figures,
        findings: &findings,
        notes,
        settings,
    });
    put(settings.out, PAGE, page.as_bytes())?;
    let tables = tables::render(&ours, &paper, &findings, &curves);
    put(settings.out, TABLES, tables.as_bytes())?;
    if !settings.quiet {
        terminal::print(&claims::summary(&findings))?;
        let page = settings.out.join(PAGE);
        terminal::print(&format!("\nThe whole comparison: {}\n", page.display()))?;
    }
    Ok(())
}

/// Writes a file of the folder, whole; it may replace the one of an earlier run.
fn put(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name).display().to_string();
    Output::claim("--out", &path, true)?.write(content)
}
