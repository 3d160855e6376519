//! The program; everything is in the library of this package.

fn main() -> std::process::ExitCode {
    fairer_nmf_cli::main()
}
