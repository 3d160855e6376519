//! What came out: for programs (the fields of `--json`), for the terminal (tables) and for the page.

mod audited;
pub(crate) mod cautions;
mod columns;
mod fitted;
mod found;
mod neighbours;
mod outcome;
mod page;
mod publish;
mod ranks;
mod sweep;
mod table;

pub(crate) use audited::{of_audit, page_of};
pub(crate) use columns::{column_table, proposed};
pub(crate) use fitted::{audit_fit, choice_notes, drawn_beside, of_fit};
pub(crate) use found::{Found, tell, write};
pub(crate) use neighbours::{neighbour_json, neighbour_table, neighbour_warnings, of_neighbours};
pub(crate) use outcome::{DataFacts, Outcome, Seconds, normalized};
pub(crate) use page::{About, about, about_data, of_sweep, ranks};
pub(crate) use publish::json;
pub(crate) use ranks::{choice_note, rank_table};
pub(crate) use sweep::Sweep;
pub(crate) use table::{dimensions, table_after};
