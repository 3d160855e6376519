//! Options about what is minimised, and for whom.

use clap::Args;
use fairer_nmf::Method;
use fairer_nmf::discover::Discover;
use fairer_nmf::fit::Ties;

use super::values::{discover, method, ties};

/// What is minimised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ChoiceArgs {
    /// The method
    #[arg(long, value_parser = method(), value_name = "METHOD", default_value = "am")]
    pub method: Method,

    /// How fair, from 0 (standard NMF) to 1 (the worst loss alone, the default): the weight of the
    /// worst loss against the total error
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub fairness: Option<f64>,

    /// What is done once the worst loss cannot be lowered
    #[arg(long, value_parser = ties(), value_name = "HOW", default_value = "any")]
    pub ties: Ties,

    /// Without groups: minimise the mean relative error of the worst share of rows, as in 0.1; groups
    /// that are named are reported only
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub worst_share: Option<f64>,

    /// Find the groups in the data where nobody knows them; an audit then tests nothing, since its tests
    /// hold for groups known beforehand
    #[arg(long, value_parser = discover(), value_name = "HOW",
          conflicts_with_all = ["group_by", "group_by_each", "groups", "membership", "worst_share"])]
    pub discover: Option<Discover>,

    /// How many groups to find [default: 2]
    #[arg(long, value_name = "K", requires = "discover")]
    pub discover_groups: Option<u32>,

    /// Penalty on the coordinates W, with scikit-learn's meaning; for method standard [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub alpha_w: Option<f64>,

    /// Penalty on the dictionary H, with scikit-learn's meaning; for method standard [default: as
    /// --alpha-w]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub alpha_h: Option<f64>,

    /// What part of the penalties is on absolute values (1) rather than squares (0) [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub l1_ratio: Option<f64>,
}
