//! The four data sets, with the names and ranks of the paper's figures.

use fairer_nmf::{GroupedData, synthetic};
use fairer_nmf_io::{Failure, Loaded, Missing, Precision, ReadOptions, Scaling, read_csv};
use ndarray::Array2;

pub(super) use super::Part;
use super::{Settings, newsgroups};

/// A data set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub part: Part,
    /// In files, as in the paper's.
    pub key: &'static str,
    pub title: &'static str,
    /// What the bar counts.
    pub trials: &'static str,
    /// As the library sorts them.
    pub groups: &'static [&'static str],
    pub most: usize,
    /// The ranks of `--quick`.
    quick: &'static [usize],
    /// A note that belongs to every figure.
    pub note: &'static str,
}

pub(super) static SETS: [Set; 4] = [
    Set {
        part: Part::Synthetic1,
        key: "ortho1",
        title: "Synthetic 1",
        trials: "Synthetic 1, trial",
        groups: &["High rank", "Low rank"],
        most: 9,
        quick: &[3, 6, 9],
        note: "",
    },
    Set {
        part: Part::Synthetic2,
        key: "ortho2",
        title: "Synthetic 2",
        trials: "Synthetic 2, trial",
        groups: &["Group 1", "Group 2", "Group 3"],
        most: 6,
        quick: &[1, 3, 6],
        note: "",
    },
    Set {
        part: Part::HeartDisease,
        key: "hd",
        title: "Heart Disease",
        trials: "Heart Disease, trial",
        groups: &["female", "male"],
        most: 10,
        quick: &[2, 5, 10],
        note: "Groups are named by the description of the data set (sex = 1 is male). The paper has them the other way round: its \u{201c}male\u{201d} is our female, its \u{201c}female\u{201d} our male.",
    },
    Set {
        part: Part::Newsgroups,
        key: "20n",
        title: "20 Newsgroups",
        trials: "20 Newsgroups, trial",
        groups: &["Computer", "Politics", "Recreation", "Religion", "Sale", "Science"],
        most: 20,
        quick: &[2, 20],
        note: "",
    },
];

/// The Heart Disease table as CSV; data/README.md of the repository says where it comes from.
pub const HEART_DISEASE: &str = include_str!("../data/heart_disease.csv");

/// The data of a set, however they are kept.
pub(super) enum Held {
    Table(Array2<f64>, Vec<&'static str>),
    Read(Box<Loaded>),
}

impl Set {
    pub(super) fn of(part: Part) -> Option<&'static Self> {
        SETS.iter().find(|set| set.part == part)
    }

    pub(super) fn is_synthetic(&self) -> bool {
        matches!(self.part, Part::Synthetic1 | Part::Synthetic2)
    }

    pub(super) fn ranks(&self, quick: bool) -> Vec<usize> {
        match quick {
            true => self.quick.to_vec(),
            false => (1..=self.most).collect(),
        }
    }

    /// The paper's name of one of our groups.
    pub(super) fn papers_name(&self, group: &'static str) -> &'static str {
        match (self.part, group) {
            (Part::HeartDisease, "female") => "male",
            (Part::HeartDisease, "male") => "female",
            _ => group,
        }
    }

    pub(super) fn hold(&self, settings: &Settings<'_>) -> Result<Held, Failure> {
        let dataset = match self.part {
            Part::Synthetic1 | Part::Convergence => {
                let (x, labels) = synthetic::first(settings.seed);
                return Ok(Held::Table(x, labels));
            }
            Part::Synthetic2 => {
                let (x, labels) = synthetic::second(settings.seed);
                return Ok(Held::Table(x, labels));
            }
            Part::HeartDisease => {
                let options = ReadOptions::default().with(|o| {
                    o.group_by = vec!["sex".to_owned()];
                    o.drop = vec!["disease".to_owned()];
                    o.missing = Missing::DropRows;
                });
                read_csv(self.title, HEART_DISEASE.as_bytes(), &options)?
            }
            Part::Newsgroups => newsgroups::read(settings.data.unwrap_or_default())?,
        };
        Ok(Held::Read(Box::new(Loaded::new(dataset, Precision::Stored, 0.0))))
    }
}

impl Held {
    /// In groups, every feature scaled to unit length over all rows.
    pub(super) fn grouped(&self) -> Result<GroupedData<'_>, Failure> {
        match self {
            Self::Table(x, labels) => Ok(GroupedData::new(x.view(), labels)?.normalize_features()?),
            Self::Read(loaded) => loaded.grouped(loaded.matrix()?, &Scaling::UnitFeatures),
        }
    }
}
