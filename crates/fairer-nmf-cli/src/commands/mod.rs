//! The commands, one file each: what can be typed after it, an example, and what it does.
//!
//! A new command is a file, a line in [`Command`] and a line in [`run`].

mod audit;
mod compare;
mod completions;
mod demo;
mod fit;
mod inspect;
mod man;
mod order;
mod reproduce;
mod sweep;
mod topics;
mod transform;

use std::error::Error;

use clap::{CommandFactory, Parser, Subcommand};

use crate::args::{RunArgs, typed};
use crate::screen::listen;
use fairer_nmf_io::{Failure, closest_name};

/// Group-fair non-negative matrix factorisation, from a data file in one command.
///
/// Standard NMF minimises the average error, so small or complex groups are often represented
/// badly. fairer-nmf measures what every group pays for sharing one dictionary (its loss) and
/// minimises the largest of these.
#[derive(Debug, Parser)]
#[command(name = "fairer-nmf", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fairer-nmf demo
  fairer-nmf inspect data/heart_disease.csv --group-by sex --drop disease --missing drop-rows
  fairer-nmf fit data/heart_disease.csv --group-by sex --drop disease --missing drop-rows \\
      --rank 5 --model m.safetensors

Exit codes: 0 done (also where a fit did not converge, with a warning), 1 the run failed or
was stopped, 2 the command or the input is wrong.";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Fit(fit::FitArgs),
    Audit(audit::AuditArgs),
    Transform(transform::TransformArgs),
    Sweep(sweep::SweepArgs),
    Compare(compare::CompareArgs),
    Topics(topics::TopicsArgs),
    Inspect(inspect::InspectArgs),
    Reproduce(reproduce::ReproduceArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Parses the arguments and runs the command.
pub(crate) fn run() -> Result<(), Failure> {
    let cli = Cli::try_parse_from(typed()).unwrap_or_else(|error| with_closest(error).exit());
    listen()?;
    match cli.command {
        Command::Demo(args) => on_threads(&args.run, || demo::run(&args)),
        Command::Fit(args) => on_threads(&args.common.run, || fit::run(&args)),
        Command::Audit(args) => on_threads(&args.common.run, || audit::run(&args)),
        Command::Transform(args) => on_threads(&args.run.clone(), || transform::run(args)),
        Command::Sweep(args) => on_threads(&args.run, || sweep::run(&args)),
        Command::Compare(args) => on_threads(&args.run, || compare::run(&args)),
        Command::Topics(args) => topics::run(&args),
        Command::Inspect(args) => on_threads(&args.run, || inspect::run(&args)),
        Command::Reproduce(args) => on_threads(&args.run, || reproduce::run(&args)),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// A command that is not there, with the closest one that is: two letters that changed places are as near as
/// one that is missing.
fn with_closest(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let known: Vec<String> =
        Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
    if let (Some(ContextValue::String(typed)), None) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
        && let Some(near) = closest_name(typed, &known)
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    error
}

/// Runs on as many threads as were asked for.
fn on_threads(
    run: &RunArgs,
    work: impl FnOnce() -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let Some(threads) = run.threads else {
        // At once, while there is memory for them. Where the process has them already, that is no failure.
        return match rayon::ThreadPoolBuilder::new().build_global() {
            Err(e) if e.source().is_some() => Err(Failure::failed(format!(
                "cannot start the threads: {e}: give --threads 1, or more memory"
            ))),
            _ => work(),
        };
    };
    // More than the machine has would only wait for each other.
    let most = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    match rayon::ThreadPoolBuilder::new().num_threads((threads as usize).min(most)).build() {
        Ok(pool) => pool.install(work),
        Err(e) => Err(Failure::failed(format!("cannot start {threads} threads: {e}"))),
    }
}
