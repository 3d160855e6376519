//! Who made a dictionary.

use fairer_nmf::{Method, Update};
use fairer_nmf_report::library::method_title;
use serde::{Serialize, Serializer};

/// One of our methods, or somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Am,
    Mu,
    /// Weights that follow the losses, with another update; models of the library can have it.
    Weighted,
    Standard,
    /// The worst share of rows.
    WorstShare,
    /// A dictionary from elsewhere.
    Given,
}

impl Maker {
    pub(crate) fn of(method: Option<Method>) -> Self {
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
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) fn title(self) -> &'static str {
        method_title(self.name())
    }
}

impl Serialize for Maker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
