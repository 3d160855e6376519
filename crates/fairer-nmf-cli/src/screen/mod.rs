//! What people see while it runs: tables and colours, notes and warnings, a bar, and Ctrl-C.

mod progress;
mod terminal;

pub(crate) use progress::{Bar, Deadline, listen, stopped};
pub(crate) use terminal::{
    BAD, FAINT, GOOD, PLAIN, STRONG, Table, counted, duration, listed, print, printable, report,
    styled,
};

use fairer_nmf::Note;
use fairer_nmf_io::Failure;
use fairer_nmf_report::Remark;

/// What a command says of its result: notes, the table unless standard output is taken or nobody
/// wants it, and last what must not be missed.
pub(crate) fn show(
    bar: &Bar,
    notes: &[Note],
    table: Option<String>,
    warnings: &[Remark],
) -> Result<(), Failure> {
    notes.iter().for_each(|note| bar.note(&note.sentence));
    table.map_or(Ok(()), |table| print(&table))?;
    warnings.iter().for_each(|warning| bar.warn(&warning.sentence));
    Ok(())
}
