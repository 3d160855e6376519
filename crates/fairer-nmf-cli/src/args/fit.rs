//! Options about the factorisation and about the run.

use clap::Args;
use fairer_nmf::fit::StartWeights;
use fairer_nmf::{Init, Parameters};

use super::values::{BaselineKind, Normalize, Seconds, StandardUpdate, init, start_weights};

/// Where the baselines come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Baselines")]
pub(crate) struct BaselineArgs {
    /// What a group could have alone: adjusted (lowest of several tight runs; the fit allows every
    /// group what chance explains for its size, so that chance hardly steers it), best
    /// (the same without that allowance), held-out (on rows that its own dictionary has not seen),
    /// paper (mean of several runs of multiplicative updates), zero, or a CSV with the columns
    /// `group` and `baseline_error` (in units of the group's norm after scaling, as in --json)
    /// [default: adjusted; sweep and compare: best]
    #[arg(long, value_name = "adjusted|best|held-out|paper|zero|FILE")]
    pub baseline: Option<BaselineKind>,

    /// Runs per group
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub baseline_runs: u32,
}

/// The library's defaults, which live there.
fn defaults() -> Parameters {
    Parameters::new(1)
}

/// How to solve.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// The seed of all random numbers: same seed, same answer
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// The update of standard NMF, also where it is what a fit is compared with
    #[arg(long, value_parser = StandardUpdate::parser(), value_name = "HOW", default_value = "auto")]
    pub update: StandardUpdate,

    /// How a run starts
    #[arg(long, value_parser = init(), value_name = "HOW", default_value = "auto")]
    pub init: Init,

    /// The weights of the groups that a run of method am begins with
    #[arg(long, value_parser = start_weights(), value_name = "WHICH", default_value = "even")]
    pub start_weights: StartWeights,

    /// How long to search: restarts, of which the best is kept (method am: a quarter as many, one from standard
    /// NMF, and rounds of exchanges and splits of topics)
    #[arg(long, value_name = "N", default_value_t = defaults().n_init as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub n_init: u32,

    /// Converged when no group's error changes by more than this, relative to itself
    #[arg(long, value_name = "X", default_value_t = defaults().stopping.tolerance,
          allow_negative_numbers = true)]
    pub tol: f64,

    /// Iterations at the most
    #[arg(long, value_name = "N", default_value_t = defaults().stopping.max_iterations as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iter: u32,

    /// Time at the most, baselines, comparison and audit included: seconds, or as in 90s, 5m, 2h
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Seconds>,

    /// Scaling of the features [default: features, as in the paper; none for documents]
    #[arg(long, value_enum, value_name = "HOW")]
    pub normalize: Option<Normalize>,

    /// Let groups into the maximum that have no more rows than topics; otherwise they count in the total
    /// only
    #[arg(long)]
    pub allow_small_groups: bool,
}

/// How the program behaves.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Threads [default: all cores]; the answer does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// Print nothing but warnings and errors
    #[arg(long, short)]
    pub quiet: bool,

    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// What is computed for an audit and shown on its page. Nothing has a default here, so that an option that
/// would be ignored is known to have been typed.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Audit and report")]
pub(crate) struct AuditArgs {
    /// Bootstrap draws with the dictionary fixed, for `audit` of --json alone: the page has intervals
    /// that hold for small groups too; 0 leaves them out [default: 2000]
    #[arg(long, value_name = "N")]
    pub draws: Option<u32>,

    /// The level of the intervals and of the verdict [default: 0.95]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub level: Option<f64>,

    /// The difference between a group's loss and the others' that would matter to you: the verdict rules
    /// it out, or says that the rows are too few to [default: 0.05, five points of a hundred]
    #[arg(long, value_name = "LOSS", allow_negative_numbers = true)]
    pub matters: Option<f64>,

    /// Random groupings behind the permutation test; 0 leaves it out [default: 2000]
    #[arg(long, value_name = "N")]
    pub permutations: Option<u32>,

    /// Folds of the held-out baseline; 0 leaves it out [default: 5]
    #[arg(long, value_name = "N")]
    pub folds: Option<u32>,

    /// Random groups drawn of every size, what chance would show, 20 at least; 0 leaves them out
    /// [default: 40]
    #[arg(long, value_name = "N")]
    pub chance_draws: Option<u32>,

    /// Time at the most for those draws, on top of --time-limit: seconds, or as in 90s, 5m, 2h
    /// [default: 60s]
    #[arg(long, value_name = "TIME")]
    pub chance_time: Option<Seconds>,

    /// Fit baselines and dictionary anew in N bootstrap draws, for a second interval of every loss, and baselines in
    /// N draws of the test of standard NMF; also of the models compared (slow)
    #[arg(long, value_name = "N")]
    pub refit: Option<u32>,

    /// Leave groups with fewer rows out of page, charts and JSON, and with them all totals, so that
    /// these disclose nobody; the terminal still shows them
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub min_group_size: usize,
}

impl AuditArgs {
    /// The first of the options that was typed and has no meaning without an audit.
    pub(crate) fn typed(&self) -> Option<&'static str> {
        [
            ("--draws", self.draws.is_some()),
            ("--level", self.level.is_some()),
            ("--matters", self.matters.is_some()),
            ("--permutations", self.permutations.is_some()),
            ("--folds", self.folds.is_some()),
            ("--chance-draws", self.chance_draws.is_some()),
            ("--chance-time", self.chance_time.is_some()),
            ("--refit", self.refit.is_some()),
        ]
        .into_iter()
        .find_map(|(name, typed)| typed.then_some(name))
    }
}
