//! Results for people and for files, one file per form.

mod ranks;
mod representation;
mod table;

pub(crate) use fairer_nmf_report::library::method_title;
pub(crate) use ranks::rank_table;
pub(crate) use representation::{Kind, npy, write_csv};
pub(crate) use table::{dimensions, table};
