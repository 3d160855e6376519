//! Who made a dictionary.

use fairer_nmf::weights::WeightRule;
use fairer_nmf::{Method, Update};
use serde::{Deserialize, Serialize};

use crate::escape::YOURS;

/// One of our methods, or somebody else. Files have [`Maker::name`], people read [`Maker::title`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

    /// In files: the name of the method ([`Method::name`]), or `given`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let weights = WeightRule::Uniform;
        match self {
            Self::Am => Method::am().name(),
            Self::Mu => Method::mu().name(),
            Self::Weighted => Method::Weighted { weights, update: Update::Hals }.name(),
            Self::Standard => Method::standard().name(),
            Self::WorstShare => Method::WorstShare { share: 1.0 }.name(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_name_of_a_maker() {
        use Maker::{Am, Given, Mu, Standard, Weighted, WorstShare};
        for maker in [Am, Mu, Weighted, Standard, WorstShare, Given] {
            let written = serde_json::to_value(maker).unwrap();
            assert_eq!(written, maker.name());
            assert_eq!(serde_json::from_value::<Maker>(written).unwrap(), maker);
        }
    }

    #[test]
    fn a_maker_has_the_name_of_its_method() {
        let weights = WeightRule::Uniform;
        let weighted = |update| Method::Weighted { weights, update };
        for method in [
            Method::am(),
            Method::leximin(),
            Method::between(0.5),
            Method::between(0.0),
            Method::mu(),
            weighted(Update::Mu),
            weighted(Update::Nnls),
            Method::standard(),
            Method::WorstShare { share: 0.1 },
        ] {
            assert_eq!(Maker::of(Some(method)).name(), method.name());
        }
        assert_eq!(Maker::of(None).name(), "given");
    }
}
