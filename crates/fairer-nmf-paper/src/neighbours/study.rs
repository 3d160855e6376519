//! `reproduce neighbours`: the paper's data sets under every neighbour.

use std::fmt::Write;

use fairer_nmf::Parameters;
use fairer_nmf::internals::{four_digits, four_digits_below};
use fairer_nmf_io::Failure;

use super::{ALL, Compared, compare};
use crate::sets::Set;
use crate::{OfSet, Part, Settings, Watch, on_every_set, put, put_study};

/// The rank of every set: as many topics as groups at the least, and below what fits exactly.
pub(crate) fn rank(set: &Set) -> usize {
    match set.part {
        Part::Synthetic1 => 4,
        Part::Synthetic2 => 3,
        Part::Newsgroups => 6,
        Part::HeartDisease | Part::Convergence => 5,
    }
}

/// Compares all neighbours on the data sets (20 Newsgroups where it is given), writes neighbours.md and
/// neighbours.json, and gives the tables.
///
/// # Errors
/// If the folder cannot be used, the data cannot be read, or it was stopped.
pub fn study(settings: &Settings<'_>, watch: &dyn Watch) -> Result<String, Failure> {
    let mut text = String::new();
    let mut all: Vec<OfSet<Compared>> = Vec::new();
    let n_init = if settings.quick { 1 } else { Parameters::new(1).n_init };
    on_every_set(
        settings,
        watch,
        "stopped before the comparison was done",
        &mut |set, data, observer| {
            let parameters = Parameters::new(rank(set)).with(|p| {
                p.seed = settings.seed;
                p.n_init = n_init;
                p.finish = false;
            });
            let found = compare(data, &ALL, &parameters, observer)?;
            text += &markdown(set.title, &found);
            all.push(OfSet { dataset: set.key, title: set.title, found });
            Ok(())
        },
    )?;
    put_study(settings.out, "neighbours.json", &all)?;
    put(settings.out, "neighbours.md", text.as_bytes())?;
    Ok(text)
}

/// A table of a set.
fn markdown(title: &str, found: &Compared) -> String {
    let mut text = format!("## {title}, rank {}\n\n", found.rank);
    let names = found.groups.iter().map(|name| format!(" {name} |")).collect::<String>();
    let lines = "---|".repeat(5 + found.groups.len());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "| method | total error | worst loss | worst excess | seconds |{names}\n|{lines}"
    );
    for method in &found.methods {
        let losses = method.losses.iter().map(|loss| format!(" {} |", four_digits(*loss)));
        let losses = losses.collect::<String>();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} |{losses}",
            method.title,
            four_digits(method.total_error),
            four_digits(method.worst_loss),
            four_digits(method.worst_excess),
            method.seconds
        );
    }
    let bound = found.global_bound.map_or_else(|| "–".to_owned(), four_digits_below);
    let _ = writeln!(text, "\nBound on the worst loss of any model of the rank: {bound}.\n");
    text
}
