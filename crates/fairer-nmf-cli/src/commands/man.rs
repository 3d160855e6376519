//! `man`: the manual page of the program or of a command.

use clap::{Args, CommandFactory};

use super::Cli;
use fairer_nmf_io::Failure;

/// Print a manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf man > fairer-nmf.1
  fairer-nmf man fit | man -l -")]
pub(crate) struct ManArgs {
    /// The command it is about [default: the program]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command();
    // Fills in what subcommands inherit.
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            let command = found.ok_or_else(|| {
                Failure::wrong(format!("there is no command `{name}`: see fairer-nmf --help"))
            })?;
            command.display_name(format!("fairer-nmf-{name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|e| Failure::failed(format!("cannot make the manual page: {e}")))?;
    fairer_nmf_io::print_bytes(&text)
}
