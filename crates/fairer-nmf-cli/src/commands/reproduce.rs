//! `reproduce`: the paper's experiments with this program, beside the paper's numbers.

use std::path::Path;

use clap::{Args, ValueEnum};
use fairer_nmf_io::Failure;
use fairer_nmf_paper::{self as paper, Part, Settings};

use crate::args::RunArgs;
use crate::screen::{Bar, print};

/// Run the paper's experiments and put the results beside the paper's
///
/// Generates the synthetic data, carries Heart Disease, and reads 20 Newsgroups from --data.
/// Writes results.csv, convergence.csv, the figures as SVG (in a build with `--features png` as PNG
/// too), and reproduction.html, which goes through the claims of the paper one by one
/// (reproduction.md has its tables). What is finished is kept: the same command goes on where it
/// was stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf reproduce heart-disease --out heart
  fairer-nmf reproduce all --data 20news-bydate.tar.gz --out reproduction
  fairer-nmf reproduce synthetic-1 --quick --out quick")]
pub(crate) struct ReproduceArgs {
    /// Which experiment
    #[arg(value_enum, default_value = "all")]
    what: What,

    /// The folder for everything that is written; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    out: String,

    /// The 20 Newsgroups posts: the archive 20news-bydate.tar.gz, or the folder it unpacks into
    #[arg(long, value_name = "PATH")]
    data: Option<String>,

    /// Trials of every experiment; the convergence study has ten times as many [default: 10,
    /// with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,

    /// Few ranks and few trials, to see it work
    #[arg(long)]
    quick: bool,

    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Two groups in orthogonal subspaces, ranks 1 to 9
    #[value(name = "synthetic-1")]
    Synthetic1,
    /// Three groups, one with noise, ranks 1 to 6
    #[value(name = "synthetic-2")]
    Synthetic2,
    /// Patients by sex, ranks 1 to 10
    HeartDisease,
    /// Posts by subject, ranks 1 to 20
    #[value(name = "20-newsgroups")]
    Newsgroups,
    /// The decaying step of MU against the largest loss, on both synthetic sets
    Convergence,
    /// Seconds of AM and MU on Heart Disease and 20 Newsgroups
    Timing,
    /// The methods of others beside Fairer-NMF on the four data sets: neighbours.md, neighbours.json
    Neighbours,
    /// The four data sets with their groups hidden: unknown-groups.md, .json, .svg
    UnknownGroups,
    /// All of the paper's
    All,
}

impl What {
    fn parts(self) -> &'static [Part] {
        match self {
            Self::Synthetic1 => &[Part::Synthetic1],
            Self::Synthetic2 => &[Part::Synthetic2],
            Self::HeartDisease => &[Part::HeartDisease],
            Self::Newsgroups => &[Part::Newsgroups],
            Self::Convergence => &[Part::Convergence],
            Self::Neighbours | Self::UnknownGroups => &[],
            Self::Timing => &[Part::HeartDisease, Part::Newsgroups],
            Self::All => &[
                Part::Synthetic1,
                Part::Synthetic2,
                Part::HeartDisease,
                Part::Convergence,
                Part::Newsgroups,
            ],
        }
    }
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let trials = match (args.trials, args.quick) {
        (Some(trials), _) => trials as usize,
        (None, true) => 2,
        (None, false) => 10,
    };
    let settings = Settings {
        parts: args.what.parts(),
        out: Path::new(&args.out),
        data: args.data.as_deref(),
        trials,
        quick: args.quick,
        seed: args.seed,
    };
    let bar = Bar::new(&args.run);
    if matches!(args.what, What::Neighbours | What::UnknownGroups) {
        let found = match args.what {
            What::UnknownGroups => paper::unknown::study(&settings, &bar),
            _ => paper::neighbours::study(&settings, &bar),
        };
        bar.finish();
        let found = found?;
        return if args.run.quiet { Ok(()) } else { print(&found) };
    }
    let done = paper::run(&settings, &bar);
    bar.finish();
    let done = done?;
    if !args.run.quiet {
        print(&done.summary)?;
        print(&format!("\nThe whole comparison: {}\n", done.page.display()))?;
    }
    Ok(())
}
