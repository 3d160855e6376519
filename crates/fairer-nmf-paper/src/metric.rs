//! What is kept of a trial.

use std::fmt;

/// A number of a method, of a group or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// R-Error in percent, as the paper has it.
    ErrorPercent,
    /// R-Loss, a fraction.
    Loss,
    /// Seconds with the baselines.
    Seconds,
    /// The largest loss of the groups of a trial; made from them, and not in our file of results.
    WorstLoss,
}

impl Metric {
    const ALL: [Self; 4] = [Self::ErrorPercent, Self::Loss, Self::Seconds, Self::WorstLoss];

    /// By its name in files.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::ErrorPercent => "error_percent",
            Self::Loss => "loss",
            Self::Seconds => "time_s",
            Self::WorstLoss => "worst_loss",
        }
    }

    /// For people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ErrorPercent => "relative error, %",
            Self::Loss => "loss, %",
            Self::Seconds => "seconds",
            Self::WorstLoss => "worst loss, %",
        }
    }

    /// What it is multiplied by to be a fraction of the norm, as charts have it; times are none, and stay.
    pub(super) fn fraction(self) -> f64 {
        match self {
            Self::ErrorPercent => 0.01,
            Self::Loss | Self::WorstLoss | Self::Seconds => 1.0,
        }
    }

    /// What it is multiplied by to be shown: fractions in percent.
    pub(super) fn scale(self) -> f64 {
        match self {
            Self::ErrorPercent | Self::Seconds => 1.0,
            Self::Loss | Self::WorstLoss => 100.0,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
