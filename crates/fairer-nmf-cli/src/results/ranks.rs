//! The table of a sweep on the terminal.

use fairer_nmf::Note;
use fairer_nmf::audit::rank::RankReport;
use fairer_nmf::internals::four_digits;

use super::page;
use super::sweep::Sweep;
use super::table::chance_band;
use crate::screen::{PLAIN, STRONG, Table, counted, printable, styled};
use crate::work::{Maker, RandomGroup};

/// The largest mean loss of any group, ± its standard deviation over the trials, per rank and
/// method, with the R-Error of that group; beside them what bi-cross-validation says of the rank.
pub(crate) fn rank_table(sweep: &Sweep, what: &str) -> String {
    let mut header = vec!["rank".to_owned()];
    for method in &sweep.methods {
        header.extend([method.title().to_owned(), "R-Error".to_owned()]);
    }
    let choice = sweep.rank_choice.as_ref();
    if choice.is_some() {
        header.extend(["held-out error".to_owned(), "stability".to_owned()]);
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(1, &header);
    let ranks = page::ranks(sweep);
    for &rank in &sweep.ranks {
        let cell = |method: &Maker| match ranks.worst(*method, rank) {
            None => ["-", "-"].map(ToOwned::to_owned),
            Some((worst, _)) => {
                let loss = match sweep.trials {
                    1 => four_digits(worst.loss_mean),
                    _ => format!("{} ± {:.4}", four_digits(worst.loss_mean), worst.loss_sd),
                };
                [loss, format!("{:.4}", worst.relative_error_mean)]
            }
        };
        let mut cells = vec![rank.to_string()];
        cells.extend(sweep.methods.iter().flat_map(cell));
        if let Some(point) = choice.and_then(|c| c.points.iter().find(|p| p.rank == rank)) {
            cells.push(format!("{:.4}", point.held_out_error));
            cells.push(format!("{:.2}", point.stability));
        }
        table.row(PLAIN, cells);
    }
    let trials = counted(sweep.trials, "trial");
    let heading = styled(STRONG, "Worst loss by rank");
    let mut text = format!("{heading}\n{what}; {trials}\n\n{}", table.render());
    text += &beside_chance(sweep, &ranks);
    text += &enough(sweep, &ranks);
    if let Some(choice) = choice {
        text += &format!("\n{}\n", choice_sentence(choice));
    }
    text
}

/// The groups with the largest losses, and with the largest beyond chance, beside random groups of their size.
fn beside_chance(sweep: &Sweep, ranks: &fairer_nmf_report::Ranks) -> String {
    if sweep.chance.is_empty() {
        return String::new();
    }
    let mut header = vec!["rank", "group", "rows", "random group"];
    for method in &sweep.methods {
        header.extend([method.title(), "excess"]);
    }
    let mut table = Table::new(2, &header);
    for random in sweep.chance.iter().filter(|random| is_largest(random, sweep, ranks)) {
        let mut cells = vec![
            random.rank.to_string(),
            random.group.clone(),
            random.rows.to_string(),
            chance_band(random.chance_mean, random.chance_low, random.chance_high),
        ];
        for &method in &sweep.methods {
            let loss = ranks.loss(method, random.rank, &random.group);
            cells.extend(match loss {
                Some(loss) => [loss, loss - random.chance_mean].map(four_digits),
                None => ["-", "-"].map(ToOwned::to_owned),
            });
        }
        table.row(PLAIN, cells);
    }
    format!(
        "\n{}\nrandom group: the mean of random groups of that size under standard NMF, whoever is in them, and in brackets what nine of ten of them show ({} draws); excess: the loss less that mean. Groups: those with the largest loss or excess under some method.\n",
        table.render(),
        sweep.chance_draws
    )
}

/// Whether some method leaves no other group of the rank a larger loss, or a larger one beyond chance.
fn is_largest(random: &RandomGroup, sweep: &Sweep, ranks: &fairer_nmf_report::Ranks) -> bool {
    let excess = |method: Maker, of: &RandomGroup| {
        ranks.loss(method, of.rank, &of.group).map(|loss| loss - of.chance_mean)
    };
    let others = || sweep.chance.iter().filter(|other| other.rank == random.rank);
    sweep.methods.iter().any(|&method| {
        let worst = ranks.worst(method, random.rank).is_some_and(|(_, name)| name == random.group);
        let own = excess(method, random);
        worst || own.is_some() && others().all(|other| excess(method, other) <= own)
    })
}

/// The rank that was picked, as a note.
pub(crate) fn choice_note(choice: &RankReport) -> Note {
    Note::new("rank-chosen", choice_sentence(choice))
}

/// Which rank bi-cross-validation picks, and for whom.
fn choice_sentence(choice: &RankReport) -> String {
    let RankReport { rank, rank_of_all, worst_off, .. } = choice;
    match worst_off {
        Some((group, of_group)) if of_group > rank_of_all => format!(
            "Bi-cross-validation picks rank {rank}: {rank_of_all} would do for all rows together, the worst-off group `{group}` needs {of_group}"
        ),
        _ => format!("Bi-cross-validation picks rank {rank}"),
    }
}

/// The ranks that were tried before a fit.
pub(crate) fn choice_table(choice: &RankReport) -> String {
    let group = choice.worst_off.as_ref().map(|(group, _)| group);
    let at = group.and_then(|group| choice.groups.iter().position(|name| name == group));
    let mut header = vec!["rank", "held-out error"];
    let of_group = group.map(|group| format!("of {group}"));
    header.extend(of_group.as_deref());
    header.extend(["stability", ""]);
    let mut table = Table::new(1, &header);
    for point in &choice.points {
        let mut cells = vec![point.rank.to_string(), format!("{:.4}", point.held_out_error)];
        cells.extend(at.map(|at| format!("{:.4}", point.group_errors[at])));
        cells.push(format!("{:.2}", point.stability));
        cells.push(if point.rank == choice.rank { "<- taken" } else { "" }.to_owned());
        table.row(PLAIN, cells);
    }
    format!("{}\n\n{}\n", styled(STRONG, &printable(&choice_sentence(choice))), table.render())
}

/// The smallest rank under the threshold, for every method.
fn enough(sweep: &Sweep, ranks: &fairer_nmf_report::Ranks) -> String {
    let Some(threshold) = sweep.threshold else { return String::new() };
    let mut text = String::from("\n");
    for &method in &sweep.methods {
        let title = method.title();
        text += &match ranks.enough(method) {
            Some(rank) => format!(
                "{title}: rank {rank} is the smallest with a worst loss of at most {threshold}\n"
            ),
            None => format!("{title}: no rank has a worst loss of at most {threshold}\n"),
        };
    }
    text
}
