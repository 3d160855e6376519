//! Files in and out: tables, matrices and documents become plain matrices, names and group labels;
//! results are written whole or not at all.
//!
//! [`ReadOptions`] says what the user asked; `plan` what each column is for; one file per format
//! feeds `cells` to a `table` or makes a [`Matrix`]; `reading` finds the format; [`Dataset`] is what
//! comes out, and [`Loaded`] how the library takes it. [`Output`] is a file that will be written. Nothing here knows of
//! commands or of a terminal: what goes wrong is a [`Failure`] or an [`InputError`], one sentence
//! each, in the words of the program's options.

mod align;
mod archive;
mod assemble;
mod cache;
mod categories;
mod cells;
mod columns;
mod components;
mod convert;
mod dataset;
mod decimals;
mod delimited;
mod error;
#[cfg(feature = "excel")]
mod excel;
mod failure;
mod folder;
mod forms;
#[cfg(any(feature = "excel", feature = "parquet"))]
mod guard;
mod issues;
mod jsonl;
mod labels;
mod loaded;
mod look;
mod matrix;
mod missing;
mod mtx;
mod neighbour;
mod npy;
mod npz;
mod on_disk;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod plan;
mod profile;
mod reading;
mod recipe;
mod representation;
mod room;
mod shards;
mod size;
mod source;
mod table;
mod tenx;
mod text;
mod unpacked;
mod wishes;
mod written;

pub use align::align;
pub use columns::{in_a_shell, remove as remove_column, typed as typed_columns};
pub use components::Components;
pub use convert::{TableFacts, column_names};
pub use dataset::{Dataset, LeftOut, keep_recipe};
pub use error::{CellPlace, InputError, closest as closest_name};
pub use failure::{Failure, bounded};
pub use folder::read_documents;
pub use forms::look;
pub use labels::{codes as read_groups, read as read_names};
pub use loaded::{
    Loaded, Scaling, check_group_rows, check_rank, group_sizes, intersections, merge_small,
};
pub use look::{Column, Kind, Look, Proposal};
pub use matrix::{DenseMatrix, DenseView, Matrix, SparseMatrix};
pub use neighbour::in_folder as temporary_in;
pub use on_disk::{OnDisk, on_disk};
pub use options::{Bins, Cuts, Format, GroupsSource, Precision, ReadOptions, Unseen, split_member};
pub use output::{Output, check_distinct, print_bytes, remove_unfinished};
pub use reading::{read, read_bytes, read_csv};
pub use recipe::{Missing, Preparation, TableRecipe, kept as kept_recipe};
pub use representation::Form;
pub use room::{InputLimit, memory_can_be_refused};
pub use shards::{AnyShards, Shards, is_shard_folder, open_shards};
pub use size::parse_bytes;
pub use source::keep_standard_input;
pub use text::{DocumentFrequency, Norm, StopWords, TermFrequencies, TextOptions};
pub use written::Decimal;
