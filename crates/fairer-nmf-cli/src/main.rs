//! The program; everything but how it meets the system's limits is in the library of this package.

#[cfg(unix)]
mod limits;

#[cfg(unix)]
#[global_allocator]
static MEMORY: limits::Memory = limits::Memory;

fn main() -> std::process::ExitCode {
    #[cfg(unix)]
    limits::hear_of_large_files();
    fairer_nmf_cli::main()
}
