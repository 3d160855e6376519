//! The order in which a command works on data: what is asked for is claimed before anything takes time, and what was
//! found is said before it is written.

use fairer_nmf::data::AnyMatrix;
use fairer_nmf_io::{Failure, Loaded};

use crate::args::RunArgs;
use crate::files::Files;
use crate::results::{Found, tell, write};
use crate::screen::Bar;

/// A command that reads data and works on them.
pub(super) trait OnData {
    /// What it has to know besides the data.
    type Beside;
    type Found: Found;

    fn run_args(&self) -> &RunArgs;

    /// Refuses what cannot be done, and claims the files that are asked for.
    fn claim(&self) -> Result<Files, Failure>;

    fn load(&self, bar: &Bar) -> Result<(Loaded, Self::Beside), Failure>;

    fn work(
        &self,
        read: (&Loaded, &Self::Beside),
        matrix: AnyMatrix<'_>,
        files: &mut Files,
        bar: &Bar,
    ) -> Result<Self::Found, Failure>;
}

/// Claims, reads, works, says and writes.
pub(super) fn run<C: OnData>(command: &C) -> Result<(), Failure> {
    let bar = Bar::new(command.run_args());
    let mut files = command.claim()?;
    let (loaded, beside) = command.load(&bar)?;
    let read = (&loaded, &beside);
    let found = command.work(read, loaded.matrix()?, &mut files, &bar)?;
    finish(&found, files, command.run_args(), &bar)
}

/// Says and writes what was found.
pub(super) fn finish(
    found: &impl Found,
    files: Files,
    run: &RunArgs,
    bar: &Bar,
) -> Result<(), Failure> {
    tell(found, &files, run.quiet, bar)?;
    bar.wrote(&write(found, files)?);
    Ok(())
}
