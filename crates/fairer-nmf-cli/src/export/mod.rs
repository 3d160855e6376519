//! Results for people and for files, one file per form.

mod ranks;
mod representation;
mod table;

pub(crate) use ranks::rank_table;
pub(crate) use representation::{Kind, npy, write_csv};
pub(crate) use table::{dimensions, method_title, table};
