//! The program; everything else is in the library of this package.

#[cfg(unix)]
#[global_allocator]
static MEMORY: fairer_nmf_cli::limits::Memory = fairer_nmf_cli::limits::Memory;

fn main() -> std::process::ExitCode {
    #[cfg(unix)]
    fairer_nmf_cli::limits::begin();
    fairer_nmf_cli::main()
}
