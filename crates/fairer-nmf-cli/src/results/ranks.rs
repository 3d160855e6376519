//! The table of a sweep on the terminal.

use super::page;
use super::sweep::Sweep;
use crate::screen::{PLAIN, STRONG, Table, counted, styled};
use crate::work::Maker;

/// The largest mean loss of any group, ± its standard deviation over the trials, per rank and
/// method.
pub(crate) fn rank_table(sweep: &Sweep, what: &str) -> String {
    let mut header = vec!["rank".to_owned()];
    header.extend(sweep.methods.iter().map(|m| m.title().to_owned()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(1, &header);
    let ranks = page::ranks(sweep);
    for &rank in &sweep.ranks {
        let cell = |method: &Maker| match ranks.worst(method.title(), rank) {
            None => "-".to_owned(),
            Some((worst, _)) if sweep.trials == 1 => format!("{:.4}", worst.loss_mean),
            Some((worst, _)) => format!("{:.4} ± {:.4}", worst.loss_mean, worst.loss_sd),
        };
        let cells = std::iter::once(rank.to_string()).chain(sweep.methods.iter().map(cell));
        table.row(PLAIN, cells);
    }
    let trials = counted(sweep.trials, "trial");
    let heading = styled(STRONG, "Worst loss by rank");
    format!("{heading}\n{what}; {trials}\n\n{}{}", table.render(), enough(sweep, &ranks))
}

/// The smallest rank under the threshold, for every method.
fn enough(sweep: &Sweep, ranks: &fairer_nmf_report::Ranks) -> String {
    let Some(threshold) = sweep.threshold else { return String::new() };
    let mut text = String::from("\n");
    for method in &sweep.methods {
        let title = method.title();
        text += &match ranks.enough(title) {
            Some(rank) => format!(
                "{title}: rank {rank} is the smallest with a worst loss of at most {threshold}\n"
            ),
            None => format!("{title}: no rank has a worst loss of at most {threshold}\n"),
        };
    }
    text
}
