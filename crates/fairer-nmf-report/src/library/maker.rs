//! Who made a dictionary.

use fairer_nmf::{Method, Update};
use serde::{Serialize, Serializer};

use super::YOURS;

/// One of our methods, or somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// Fairer-NMF by alternating minimisation.
    Am,
    /// Fairer-NMF by multiplicative updates.
    Mu,
    /// Weights that follow the losses, with another update; models of the library can have it.
    Weighted,
    /// Standard NMF.
    Standard,
    /// The worst share of rows.
    WorstShare,
    /// A dictionary from elsewhere.
    Given,
}

impl Maker {
    /// Of a method; none made a dictionary from elsewhere.
    #[must_use]
    pub fn of(method: Option<Method>) -> Self {
        match method {
            Some(method) if method.is_standard() => Self::Standard,
            Some(Method::Am { .. }) => Self::Am,
            Some(Method::WorstShare { .. }) => Self::WorstShare,
            Some(Method::Weighted { update: Update::Mu, .. }) => Self::Mu,
            Some(_) => Self::Weighted,
            None => Self::Given,
        }
    }

    /// In files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Am => "am",
            Self::Mu => "mu",
            Self::Weighted => "weighted",
            Self::Standard => "standard",
            Self::WorstShare => "worst-share",
            Self::Given => "given",
        }
    }

    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Am => "Fairer-NMF (AM)",
            Self::Mu => "Fairer-NMF (MU)",
            Self::Standard => "Standard NMF",
            Self::WorstShare => "Worst share of rows",
            Self::Weighted | Self::Given => YOURS,
        }
    }
}

impl Serialize for Maker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
