//! What a run is for, and what it leaves.

use crate::dictionary::Dictionary;
use crate::measured::Measured;
use crate::penalties::{self, Cost};
use crate::rows::Rows;
use crate::statistics::Statistics;
use crate::stopping::Status;

/// One restart's factors *and* what they achieve; W is with the rows.
pub(crate) struct Run<'r> {
    pub dictionary: Dictionary,
    pub rows: Box<dyn Rows + 'r>,
    pub statistics: Vec<Statistics>,
    pub measured: Measured,
    pub history: Vec<Vec<f64>>,
    pub status: Status,
    pub step_gap: Option<f64>,
    pub weights: Vec<f64>,
}

impl Run<'_> {
    /// Its objective with these costs, for exact rows, in the holder's units.
    pub fn penalised(&self, (w, h): (Cost, Cost)) -> f64 {
        let r = self.dictionary.rank;
        let sum = Statistics::of_all(&self.statistics, self.rows.groups().len());
        let squares: f64 = (0..r).map(|k| sum.gram[k * r + k]).sum();
        let of_w: f64 =
            penalties::absolute(&sum, &self.dictionary, &self.dictionary.gram(), w).iter().sum();
        let values = &self.dictionary.values;
        let square = values.iter().map(|v| v * v).sum::<f64>();
        let of_h = h.l1 * values.iter().sum::<f64>() + 0.5 * h.l2 * square;
        0.5 * self.measured.squares() + of_w + 0.5 * w.l2 * squares + of_h
    }
}

/// What a run of a fit is for: its checkpoint is called by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A restart.
    Restart,
    /// The standard fit that a restart begins from.
    Standard,
    /// A run from a dictionary with one topic exchanged, or two at once.
    Exchange {
        /// In which round.
        round: usize,
        /// Which of the round.
        number: usize,
    },
    /// A run from a dictionary with one topic as two and two as one.
    Split {
        /// In which round.
        round: usize,
        /// Which of the round.
        number: usize,
    },
    /// The best run, until its worst loss stands still.
    Finish,
    /// The baseline of a group.
    Baseline {
        /// The group.
        group: usize,
        /// Which of its runs.
        run: usize,
    },
}

impl Part {
    /// What the checkpoint of a run for it is called, the `restart`-th where there are several.
    pub fn name(self, restart: usize) -> String {
        match self {
            Self::Restart => format!("restart-{restart}"),
            Self::Standard => format!("standard-{restart}"),
            Self::Exchange { round, number } => format!("exchange-{round}-{number}"),
            Self::Split { round, number } => format!("split-{round}-{number}"),
            Self::Finish => format!("finish-{restart}"),
            Self::Baseline { group, run } => format!("baseline-{group}-{run}"),
        }
    }
}
