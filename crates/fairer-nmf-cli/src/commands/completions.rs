//! `completions`: what a shell needs to complete our options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use fairer_nmf_io::Failure;

/// Print shell completions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf completions bash > ~/.local/share/bash-completion/completions/fairer-nmf
  fairer-nmf completions fish > ~/.config/fish/completions/fairer-nmf.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fairer-nmf", &mut script);
    fairer_nmf_io::print_bytes(&script)
}
