//! From the outcome of a command to the page of `fairer-nmf-report`. What the program shares with
//! the Python package is in that crate's `library`.

use std::path::Path;

use fairer_nmf::{AuditReport, Element, GroupAudit, GroupFit, GroupedData, Model};
use fairer_nmf_report as page;
use fairer_nmf_report::library::{self, Audited, Fitted, setting};
use fairer_nmf_report::mean_and_sd;

use crate::auditing::{Audits, Fairer, is_fairer};
use crate::commands::Sweep;
use crate::export::method_title;
use crate::outcome::{GroupOutcome, Outcome};

/// A model and the seconds its fit took.
pub(crate) type Timed<'a> = (&'a Model, Option<f64>);

/// What a page is about.
pub(crate) struct Subject<'a> {
    pub title: String,
    /// Names of the features, in column order.
    pub features: &'a [String],
    pub min_group_size: usize,
    /// Where a remark belongs to the data.
    pub notes: Vec<String>,
}

/// The last part of a path: enough for a title.
pub(crate) fn short_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// The page of a fit or an audit: `model` where it is ours, `standard` where it is compared, each
/// with the seconds its fit took, where that is known.
pub(crate) fn of_audit<'a, T: Element>(
    subject: &Subject<'_>,
    data: &GroupedData<'_, T>,
    outcome: &Outcome,
    audits: &Audits,
    model: Option<Timed<'a>>,
    standard: Option<Timed<'a>>,
) -> page::Report {
    let name = match outcome.method.as_str() {
        "given" => library::YOURS,
        method => method_title(method),
    };
    let ours = is_fairer(&outcome.method);
    let main = Audited { name, audit: &audits.main };
    let reference = audits.standard.as_ref().map(|audit| Audited { name: STANDARD, audit });
    let fairer = audits.fairer.as_ref();
    let shown: Vec<Audited<'_>> = {
        let fairer = fairer.map(|f| Audited { name: method_title("am"), audit: &f.audit });
        library::in_order(main, ours, reference, fairer).collect()
    };
    let fits = {
        let fitted = |name, (model, seconds): Timed<'a>| Fitted { name, model, seconds };
        let fairer = fairer.map(|f| Fitted {
            name: method_title("am"),
            model: &f.model,
            seconds: Some(f.seconds),
        });
        let (main, standard) =
            (model.map(|m| fitted(name, m)), standard.map(|s| fitted(STANDARD, s)));
        library::in_order(main, ours, Some(standard), Some(fairer)).flatten()
    };
    page::Report {
        subtitle: format!("{name} of rank {}", outcome.rank),
        settings: settings(outcome, model.map(|(model, _)| model)),
        models: library::models(&shown),
        who_pays: page::WhoPays {
            baseline_runs: outcome.baseline_runs,
            groups: (audits.main.groups.iter().zip(&outcome.groups).enumerate())
                .map(|(l, (audit, group))| {
                    let fairer = fairer.map(|f| &f.model.groups[l]);
                    self::group(audit, group, ours, reference.is_some(), fairer)
                })
                .collect(),
        },
        is_it_real: library::is_it_real(main.audit, &shown),
        cost: cost(&audits.main, ours, fairer),
        quality: Some(library::quality(fits, outcome.global_bound)),
        topics: Some(library::topics(main, reference.map(|r| r.name), |j| {
            subject.features.get(j).cloned().unwrap_or_else(|| format!("f{j}"))
        })),
        warnings: outcome.warnings.clone(),
        ..about(subject, data)
    }
}

/// The page of a sweep: every rank, and one in detail: the smallest under the threshold, or the
/// largest.
pub(crate) fn of_sweep<T: Element>(
    subject: &Subject<'_>,
    data: &GroupedData<'_, T>,
    sweep: &Sweep,
) -> page::Report {
    let (ranks, methods) = (ranks(sweep), in_order(sweep));
    let picked = methods.last().and_then(|method| {
        // By the groups shown: what picks a rank must not tell of the others.
        let small = |name: &str| {
            sweep.records.iter().any(|r| r.group == name && r.rows < subject.min_group_size)
        };
        let mut shown = ranks.clone();
        shown.series.retain(|s| !small(&s.group));
        shown.enough(method_title(method))
    });
    let rank = picked.or_else(|| ranks.tried().last().copied()).unwrap_or(0);
    let why = if picked.is_some() { ", which the threshold picks" } else { "" };
    let first = methods.first().copied().unwrap_or("standard");
    let group = |name: &str| {
        let records = || sweep.records.iter().filter(move |r| r.group == name && r.rank == rank);
        let some = records().next()?;
        let mean = |method: &str, value: &dyn Fn(&crate::commands::Record) -> f64| {
            let values: Vec<f64> = records().filter(|r| r.method == method).map(value).collect();
            mean_and_sd(&values).map_or(f64::NAN, |(mean, _)| mean)
        };
        let result = |method: &&str| page::ModelResult {
            relative_error: mean(method, &|r| r.relative_error),
            loss: mean(method, &|r| r.loss),
        };
        Some(page::GroupOutcome {
            name: name.to_owned(),
            rows: some.rows,
            norm: Some(some.norm),
            relative_baseline: mean(first, &|r| r.baseline_error / r.norm),
            relative_baseline_std: some
                .baseline_std
                .map(|_| mean(first, &|r| r.baseline_std.unwrap_or(f64::NAN) / r.norm)),
            small_group: fairer_nmf::is_small(some.rows, rank),
            results: methods.iter().map(result).collect(),
        })
    };
    let total = |name: &&str| page::ModelSummary {
        name: method_title(name).to_owned(),
        rank,
        total_error: None,
    };
    let names = data.groups().iter().map(|g| g.name.as_str());
    page::Report {
        subtitle: format!(
            "Ranks {}; section 1 shows rank {rank}{why}, means over {} trials",
            sweep.ranks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            sweep.trials
        ),
        settings: vec![
            setting("methods", sweep.methods.join(", ")),
            setting("trials", sweep.trials),
            setting("seed", sweep.seed),
        ],
        models: methods.iter().map(total).collect(),
        who_pays: page::WhoPays {
            baseline_runs: sweep.baseline_runs,
            groups: names.filter_map(group).collect(),
        },
        ranks: Some(ranks),
        warnings: sweep.warnings.clone(),
        ..about(subject, data)
    }
}

/// The methods of a sweep: a page compares its first model with its last.
fn in_order(sweep: &Sweep) -> Vec<&'static str> {
    ["standard", "mu", "am"].into_iter().filter(|m| sweep.methods.contains(m)).collect()
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

fn series(sweep: &Sweep, method: &str, group: &str) -> page::RankSeries {
    let point = |&rank: &usize| {
        let of =
            |r: &&crate::commands::Record| r.rank == rank && r.group == group && r.method == method;
        let records = || sweep.records.iter().filter(of);
        let errors: Vec<f64> = records().map(|r| r.relative_error).collect();
        let losses: Vec<f64> = records().map(|r| r.loss).collect();
        let (error_mean, error_sd) = mean_and_sd(&errors)?;
        let (loss_mean, loss_sd) = mean_and_sd(&losses)?;
        let sd = |sd: Option<f64>| sd.unwrap_or(0.0);
        Some(page::RankPoint {
            rank,
            error_mean,
            error_sd: sd(error_sd),
            loss_mean,
            loss_sd: sd(loss_sd),
        })
    };
    page::RankSeries {
        method: method_title(method).to_owned(),
        group: group.to_owned(),
        points: sweep.ranks.iter().filter_map(point).collect(),
    }
}

/// What every page says about its data.
fn about<T: Element>(subject: &Subject<'_>, data: &GroupedData<'_, T>) -> page::Report {
    page::Report {
        title: subject.title.clone(),
        generated: format!("Made by fairer-nmf {}", env!("CARGO_PKG_VERSION")),
        command: Some(command()),
        data: library::data_summary(data),
        notes: subject.notes.clone(),
        min_group_size: subject.min_group_size,
        ..page::Report::default()
    }
}

/// The name of what a dictionary is compared with.
const STANDARD: &str = "Standard NMF";

/// What the way to a fairer model costs: to the audited one, or from it.
fn cost(main: &AuditReport, is_fairer: bool, fairer: Option<&Fairer>) -> Option<page::Cost> {
    let change = match is_fairer {
        true => main.individuals.as_ref(),
        false => fairer.map(|f| &f.change),
    };
    Some(library::cost(&main.groups, change?, main.trade_off.as_ref()))
}

/// A group in numbers of the outcome, in the order of the page's models.
fn group(
    group: &GroupAudit,
    outcome: &GroupOutcome,
    is_fairer: bool,
    compared: bool,
    fairer: Option<&GroupFit>,
) -> page::GroupOutcome {
    let result = |(relative_error, loss)| page::ModelResult { relative_error, loss };
    let standard = outcome.standard_relative_error.zip(outcome.standard_loss).map(result);
    let standard = standard.filter(|_| compared);
    let own = result((outcome.relative_error, outcome.loss));
    let fairer = fairer.map(|f| result((f.relative_error, f.loss)));
    let results = library::in_order(own, is_fairer, standard, fairer).collect();
    library::group(group, outcome.baseline_std, results)
}

fn settings(outcome: &Outcome, model: Option<&Model>) -> Vec<page::Setting> {
    let mut settings = vec![
        setting("method", &outcome.method),
        setting("rank", outcome.rank),
        setting("seed", outcome.seed),
        setting("normalize", outcome.data.normalize),
        setting("precision", outcome.data.precision),
    ];
    if let Some(model) = model {
        let p = &model.parameters;
        settings.push(setting("n_init", p.n_init));
        settings.push(setting("tolerance", p.stopping.tolerance));
        settings.push(setting("max_iterations", p.stopping.max_iterations));
    }
    settings
}

/// The command that was typed, quoted for a shell, without the folders of its files: a page is
/// handed on, and they are nobody's business.
fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = crate::arguments().skip(1).map(|word| word.to_string_lossy().into_owned());
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
