//! Where runs begin.

use serde::{Deserialize, Serialize};

/// How a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Init {
    /// The library's choice. For the AM scheme: restarts from random factors, beside several of
    /// them one from a standard fit, exchanges of topics that do little and splits, and the best is finished until its
    /// worst loss stands still.
    /// For the others as [`Init::Random`].
    Auto,
    /// W and H uniform on [0, 1), as in the paper.
    Random,
    /// From the leading singular vectors ([`Start::nndsvd`](crate::fit::Start::nndsvd)): nothing is random, so there is one run
    /// whatever the number of restarts. Zeros stay zero under multiplicative updates.
    Nndsvd,
    /// The same with small numbers in the place of zeros.
    Nndsvda,
}

impl Init {
    /// Of a start from singular vectors, whether zeros are filled.
    pub(crate) fn fill(self) -> Option<bool> {
        match self {
            Self::Auto | Self::Random => None,
            Self::Nndsvd => Some(false),
            Self::Nndsvda => Some(true),
        }
    }
}
