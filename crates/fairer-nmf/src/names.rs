//! Choices by their names: one list for files, the program and Python.

use crate::baseline::{Baseline, Estimate, Summary};
use crate::init::Init;
use crate::model::Discover;
use crate::parameters::{Method, StartWeights, Ties};
use crate::update::Update;
use std::fmt;
use std::str::FromStr;

/// A name that no choice has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was given.
    pub given: String,
    /// What there is.
    pub expected: &'static [&'static str],
}

impl UnknownName {
    /// What there is and `more`, each in quotes: `'am', 'mu' or 'standard'`.
    #[must_use]
    pub fn listed(&self, quote: char, more: &[&str]) -> String {
        let quoted = |name: &&str| format!("{quote}{name}{quote}");
        let names: Vec<String> = more.iter().chain(self.expected).map(quoted).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no `{}`: expected {}", self.given, self.listed('`', &[]))
    }
}

impl std::error::Error for UnknownName {}

/// Names of the values of a type, in the order in which they are listed: `NAMES`, `FromStr` and `Display`.
macro_rules! named {
    ($type:ty, $($name:literal => $value:expr),+ $(,)?) => {
        impl $type {
            /// The names that there are.
            pub const NAMES: &'static [&'static str] = &[$($name),+];
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($name => Ok($value),)+
                    other => {
                        Err(UnknownName { given: other.to_owned(), expected: Self::NAMES })
                    }
                }
            }
        }
    };
}

/// The same for a type without numbers, with `Display` from the same list.
macro_rules! choices {
    ($type:ty, $($name:literal => $variant:ident),+ $(,)?) => {
        named!($type, $($name => Self::$variant),+);

        impl $type {
            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

choices!(Update, "mu" => Mu, "hals" => Hals, "nnls" => Nnls);
choices!(Init, "auto" => Auto, "random" => Random, "nndsvd" => Nndsvd, "nndsvda" => Nndsvda);
choices!(Ties, "any" => Any, "leximin" => Leximin);
choices!(Discover, "topics" => Topics, "errors" => Errors, "held-out-errors" => HeldOutErrors);
named!(StartWeights, "even" => Self::Even, "bound" => Self::Bound);
// With their defaults; what is named `worst-share` and `weighted` needs numbers.
named!(Method, "am" => Self::am(), "mu" => Self::mu(), "standard" => Self::standard());
named!(Baseline,
    "adjusted" => Self::adjusted(),
    "best" => Self::best(),
    "held-out" => Self::HeldOut { folds: Self::FOLDS, runs: Estimate::best().runs },
    "paper" => Self::paper(),
    "zero" => Self::Zero,
);

impl Baseline {
    /// The same with this many runs for every group.
    #[must_use]
    pub fn with_runs(self, runs: usize) -> Self {
        match self {
            Self::Estimate(estimate) => Self::Estimate(Estimate { runs, ..estimate }),
            Self::Adjusted { estimate, draws } => {
                Self::Adjusted { estimate: Estimate { runs, ..estimate }, draws }
            }
            Self::HeldOut { folds, .. } => Self::HeldOut { folds, runs },
            other @ (Self::Given { .. } | Self::Zero) => other,
        }
    }
}

impl fmt::Display for StartWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Even => "even",
            Self::Bound => "bound",
            Self::Given { .. } => "given",
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Estimate(Estimate { summary: Summary::Mean, .. }) => "paper",
            Self::Estimate(_) => "best",
            Self::Adjusted { .. } => "adjusted",
            Self::HeldOut { .. } => "held-out",
            Self::Given { .. } => "given",
            Self::Zero => "zero",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_come_back<T: FromStr<Err = UnknownName> + fmt::Display>(names: &[&str]) {
        for name in names {
            assert_eq!(name.parse::<T>().map_or_else(|e| e.to_string(), |v| v.to_string()), *name);
        }
    }

    #[test]
    fn every_name_is_read_and_written() {
        names_come_back::<Update>(Update::NAMES);
        names_come_back::<Init>(Init::NAMES);
        names_come_back::<Ties>(Ties::NAMES);
        names_come_back::<Discover>(Discover::NAMES);
        names_come_back::<StartWeights>(StartWeights::NAMES);
        names_come_back::<Method>(Method::NAMES);
        names_come_back::<Baseline>(Baseline::NAMES);
        let unknown = "amm".parse::<Method>().unwrap_err();
        assert_eq!(unknown.to_string(), "there is no `amm`: expected `am`, `mu` or `standard`");
    }
}
