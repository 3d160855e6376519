//! What the pages of the program say besides what they share with the Python package (the report
//! crate's `library`): the command, and the ranks of a sweep.

use std::path::Path;

use fairer_nmf::GroupedData;
use fairer_nmf_io::{Dataset, TableRecipe};
use fairer_nmf_report as page;
pub(crate) use fairer_nmf_report::library::About;
use fairer_nmf_report::library::{self, setting};
use fairer_nmf_report::mean_and_sd;

use super::sweep::Sweep;
use crate::args::typed;
use crate::work::{Maker, Record};

/// The heading that was typed, or one that names the data and what they are grouped by.
fn title(typed: Option<&str>, dataset: &Dataset) -> String {
    let none = TableRecipe::default();
    let table = dataset.table.as_ref().unwrap_or(&none);
    let by = match (table.group_by.as_slice(), table.group_by_each.as_slice()) {
        ([], []) => "group".to_owned(),
        ([], families) => format!("each of {}", families.join(", ")),
        (columns, _) => columns.join(" and "),
    };
    typed.map_or_else(|| format!("{} by {by}", short_name(dataset.path())), ToOwned::to_owned)
}

/// The last part of a path: enough for a title.
fn short_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// A sweep has many models, and a verdict is about one.
const NOT_TESTED: &str = "Whether some group pays more than the others was not tested: a sweep compares numbers of topics. Fit or audit with the one that you choose, which tests it.";

/// The page of a sweep: every rank, and one in detail: the smallest under the threshold, or the
/// largest.
pub(crate) fn of_sweep(about: About<'_>, data: &GroupedData<'_>, sweep: &Sweep) -> page::Report {
    let (ranks, methods) = (ranks(sweep), in_order(sweep));
    let picked = methods.last().and_then(|method| {
        // By the groups shown: what picks a rank must not tell of the others.
        let small = |name: &str| {
            sweep.records.iter().any(|r| r.group == name && r.rows < about.min_group_size)
        };
        let mut shown = ranks.clone();
        shown.series.retain(|s| !small(&s.group));
        shown.enough(*method)
    });
    let rank = picked.or_else(|| ranks.tried().last().copied()).unwrap_or(0);
    let why = if picked.is_some() { ", which the threshold picks" } else { "" };
    let first = methods.first().copied().unwrap_or(Maker::Standard);
    let group = |name: &str| {
        let records = || sweep.records.iter().filter(move |r| r.group == name && r.rank == rank);
        let some = records().next()?;
        let mean = |method: Maker, value: &dyn Fn(&Record) -> f64| {
            let values: Vec<f64> = records().filter(|r| r.method == method).map(value).collect();
            mean_and_sd(&values).map_or(f64::NAN, |(mean, _)| mean)
        };
        let random = sweep.random_group(rank, name);
        let result = |&method: &Maker| {
            let loss = mean(method, &|r| r.loss);
            page::GroupResult {
                relative_error: mean(method, &|r| r.relative_error),
                loss,
                chance_mean: random.map(|r| r.chance_mean),
                chance_low: random.map(|r| r.chance_low),
                chance_high: random.map(|r| r.chance_high),
                excess_loss: random.map(|r| loss - r.chance_mean),
                ..page::GroupResult::default()
            }
        };
        let alone = page::Alone {
            error: mean(first, &|r| r.baseline_error),
            relative_error: mean(first, &|r| r.baseline_error / r.norm),
            relative_sd: some
                .relative_baseline_sd
                .map(|_| mean(first, &|r| r.relative_baseline_sd.unwrap_or(f64::NAN))),
        };
        let group = page::Group::new(name, some.rows, some.norm, alone, rank);
        Some(page::GroupOutcome {
            group,
            results: methods.iter().map(result).collect(),
            ..page::GroupOutcome::default()
        })
    };
    let total = |method: &Maker| page::ModelSummary {
        name: method.title().to_owned(),
        rank,
        ..page::ModelSummary::default()
    };
    let names: Vec<&str> = sweep.methods.iter().map(|method| method.name()).collect();
    let groups = data.groups().iter().map(|g| g.name.as_str());
    page::Report {
        verdict: Some(page::Verdict::not_tested(NOT_TESTED)),
        subtitle: format!(
            "{} topics; section 1 shows the models with {rank}{why}, means over {} trials",
            sweep.ranks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            sweep.trials
        ),
        settings: vec![
            setting("methods", names.join(", ")),
            setting("trials", sweep.trials),
            setting("seed", sweep.seed),
        ],
        models: methods.iter().map(total).collect(),
        who_pays: page::WhoPays {
            baseline_runs: sweep.baseline_runs,
            baseline_kind: sweep.baseline_kind,
            groups: groups.filter_map(group).collect(),
        },
        ranks: Some(ranks),
        warnings: sweep.warnings.clone(),
        title: about.title,
        generated: about.generated,
        command: about.command,
        data: library::data_summary(data),
        notes: (about.notes.into_iter().chain(data.reader_notes()))
            .map(page::Remark::from)
            .collect(),
        min_group_size: about.min_group_size,
        ..page::Report::default()
    }
}

/// The methods of a sweep: a page compares its first model with its last.
fn in_order(sweep: &Sweep) -> Vec<Maker> {
    [Maker::Standard, Maker::Mu, Maker::Am]
        .into_iter()
        .filter(|m| sweep.methods.contains(m))
        .collect()
}

/// Means over the trials of every method, group and rank.
pub(crate) fn ranks(sweep: &Sweep) -> page::Ranks {
    let mut groups: Vec<&str> = Vec::new();
    for record in &sweep.records {
        if !groups.contains(&record.group.as_str()) {
            groups.push(&record.group);
        }
    }
    let of = |method| groups.iter().map(move |group| series(sweep, method, group));
    page::Ranks {
        threshold: sweep.threshold,
        trials: sweep.trials,
        series: in_order(sweep).into_iter().flat_map(of).collect(),
    }
}

fn series(sweep: &Sweep, method: Maker, group: &str) -> page::RankSeries {
    let point = |&rank: &usize| {
        let of = |r: &&Record| r.rank == rank && r.group == group && r.method == method;
        let records = || sweep.records.iter().filter(of);
        let errors: Vec<f64> = records().map(|r| r.relative_error).collect();
        let losses: Vec<f64> = records().map(|r| r.loss).collect();
        let (relative_error_mean, relative_error_sd) = mean_and_sd(&errors)?;
        let (loss_mean, loss_sd) = mean_and_sd(&losses)?;
        let sd = |sd: Option<f64>| sd.unwrap_or(0.0);
        let random = sweep.random_group(rank, group);
        Some(page::RankPoint {
            rank,
            relative_error_mean,
            relative_error_sd: sd(relative_error_sd),
            loss_mean,
            loss_sd: sd(loss_sd),
            chance_mean: random.map(|r| r.chance_mean),
            chance_low: random.map(|r| r.chance_low),
            chance_high: random.map(|r| r.chance_high),
        })
    };
    page::RankSeries {
        method,
        group: group.to_owned(),
        points: sweep.ranks.iter().filter_map(point).collect(),
    }
}

/// What every page of this program says of itself.
pub(crate) fn about<'a>() -> About<'a> {
    About {
        generated: library::made_by(concat!("fairer-nmf ", env!("CARGO_PKG_VERSION"))),
        command: Some(command()),
        ..About::default()
    }
}

/// The same with what a data set says of itself, under the heading that was typed.
pub(crate) fn about_data<'a>(typed: Option<&str>, dataset: &'a Dataset) -> About<'a> {
    let (features, notes) = (&dataset.features[..], dataset.notes.clone());
    About { title: title(typed, dataset), features, notes, ..about() }
}

/// The command that was typed, quoted for a shell, without the folders of its files: a page is
/// handed on, and they are nobody's business.
fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = typed().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = words.map(|word| quoted(without_folder(&word)));
    std::iter::once("fairer-nmf".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word of the command line without the folder of its file, where it names one that is there:
/// of a column `mg/dl` nothing is cut off.
fn without_folder(word: &str) -> String {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (&word[..=option.len()], value),
        _ => ("", word),
    };
    let folder = Path::new(value).parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.is_some_and(Path::is_dir) {
        true => format!("{option}{}", short_name(value)),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_cut_off_files_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_str().unwrap();
        let cut = |word: &str| without_folder(&word.replace("HERE", folder));
        assert_eq!(cut("HERE/data.csv"), "data.csv");
        assert_eq!(cut("HERE/labels.csv:sex"), "labels.csv:sex");
        assert_eq!(cut("--report=HERE/r.html"), "--report=r.html");
        assert!(!cut("HERE/").contains('/') && !cut("HERE").contains('/'));
        for word in ["mg/dl", "--group-by=mg/dl", "-", "--rank", "a=b/c", "data.csv", "(a|/b)"] {
            assert_eq!(cut(word), word);
        }
    }
}
