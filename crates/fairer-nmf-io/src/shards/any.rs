//! Shards of either number type.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use fairer_nmf::Error;
use fairer_nmf::rows::{BlockSource, Blocks, FeatureScaling, GroupCodes, in_blocks};

use super::Shards;

/// Shards of either number type.
pub enum AnyShards {
    /// Single precision.
    F32(Arc<Shards<f32>>),
    /// Double precision.
    F64(Arc<Shards<f64>>),
}

/// For either number type, here, so that readers are compiled once and well.
impl AnyShards {
    /// Number of rows m.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::F32(shards) => shards.rows(),
            Self::F64(shards) => shards.rows(),
        }
    }

    /// Number of features n.
    #[must_use]
    pub fn features(&self) -> usize {
        match self {
            Self::F32(shards) => shards.features,
            Self::F64(shards) => shards.features,
        }
    }

    /// The number type.
    #[must_use]
    pub fn precision(&self) -> &'static str {
        match self {
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }

    /// Entries that are not zero and too small for the number type, of the blocks that were read so far.
    #[must_use]
    pub fn vanished(&self) -> usize {
        match self {
            Self::F32(shards) => shards.vanished.load(Relaxed),
            Self::F64(_) => 0,
        }
    }

    /// An entry in the user's words.
    #[must_use]
    pub fn describe(&self, row: usize, column: usize) -> String {
        match self {
            Self::F32(shards) => shards.describe(row, column),
            Self::F64(shards) => shards.describe(row, column),
        }
    }

    /// The rows for a fit, as [`in_blocks`] holds them.
    ///
    /// # Errors
    /// As [`in_blocks`].
    pub fn hold(
        &self,
        groups: GroupCodes,
        scaling: &FeatureScaling,
        memory: usize,
    ) -> Result<Box<dyn Blocks>, Error> {
        match self {
            Self::F32(shards) => in_blocks(Arc::clone(shards), groups, scaling, memory),
            Self::F64(shards) => in_blocks(Arc::clone(shards), groups, scaling, memory),
        }
    }
}
