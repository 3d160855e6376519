//! The paper's methods, as trials are kept under them.

use std::fmt;

use fairer_nmf::{Method, Update};

/// What a trial fits. In the order of their names, which is that of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Approach {
    /// Fairer-NMF by alternating minimisation.
    Am,
    /// Fairer-NMF by multiplicative updates.
    Mu,
    /// Standard NMF of all data together.
    Standard,
    /// Standard NMF of every group alone.
    Alone,
}

impl Approach {
    const ALL: [Self; 4] = [Self::Am, Self::Mu, Self::Standard, Self::Alone];

    /// By its name in files.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|approach| approach.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Am => "fairer_am",
            Self::Mu => "fairer_mu",
            Self::Standard => "standard",
            Self::Alone => "standard_per_group",
        }
    }

    /// For people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Am => "Fairer-NMF, AM",
            Self::Mu => "Fairer-NMF, MU",
            Self::Standard => "standard NMF",
            Self::Alone => "standard NMF, group alone",
        }
    }

    /// The library's, as the paper has it.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Am => Method::am(),
            Self::Mu => Method::mu(),
            Self::Standard | Self::Alone => Method::Standard { update: Update::Mu },
        }
    }
}

impl fmt::Display for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approaches_are_in_the_order_of_their_names_and_come_back_from_them() {
        assert!(Approach::ALL.is_sorted() && Approach::ALL.is_sorted_by_key(|a| a.name()));
        for approach in Approach::ALL {
            assert_eq!(Approach::of(&approach.to_string()), Some(approach));
        }
        assert_eq!(Approach::of("fairer"), None);
    }
}
