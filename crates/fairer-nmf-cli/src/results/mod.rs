//! What came out: for programs (the fields of `--json`), for the terminal (tables) and for the page.

pub(crate) mod cautions;
mod columns;
mod fitted;
mod neighbours;
mod outcome;
mod page;
mod publish;
mod ranks;
mod sweep;
mod table;

pub(crate) use columns::{column_table, proposed};
pub(crate) use fitted::{audit_fit, of_fit};
pub(crate) use neighbours::{neighbour_json, neighbour_table, of_neighbours};
pub(crate) use outcome::{
    DataFacts, GroupOutcome, Normalized, Outcome, Seconds, choice_notes, fairness,
};
pub(crate) use page::{About, about, of_sweep, ranks, title};
pub(crate) use publish::json;
pub(crate) use ranks::{choice_note, choice_table, rank_table};
pub(crate) use sweep::Sweep;
pub(crate) use table::{dimensions, table, table_after};
