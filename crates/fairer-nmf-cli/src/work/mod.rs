//! What takes time: reading the data, fits beside their peers, trials over ranks.
//!
//! Nothing here prints a result or writes a file; [`crate::results`] says what came out.

mod beside;
mod data;
mod fitting;
mod on_disk;
mod ranks;
mod remarks;
mod trials;

pub(crate) use beside::{RandomGroup, beside_fit};
pub(crate) use data::{ForModel, load, load_for_components, load_for_model, load_model, merged};
pub(crate) use fairer_nmf_report::Maker;
pub(crate) use fitting::{Compared, fit_and_compare, peers_beside};
pub(crate) use on_disk::{Wanted, fit_shards, open};
pub(crate) use ranks::{choose_rank, left_by_ranks};
pub(crate) use remarks::{unfinished, warnings};
pub(crate) use trials::{Plan, Record};
