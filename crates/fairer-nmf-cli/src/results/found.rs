//! What any command has found, said and written in one order: what is on the screen is there before a file is.

use fairer_nmf::Note;
use fairer_nmf_io::Failure;
use fairer_nmf_report::{Remark, Report};

use super::outcome::Outcome;
use super::ranks::choice_table;
use super::table::table_after;
use crate::files::Files;
use crate::screen::{Bar, show};

/// What came out, for people and for programs.
pub(crate) trait Found {
    /// What to know before the table.
    fn notes(&self) -> Vec<Note>;
    fn table(&self) -> String;
    /// What must not be missed, after the table.
    fn warnings(&self) -> &[Remark];
    fn json(&self) -> Vec<u8>;
    /// The page, where there is one, or why it could not be made.
    fn page(&self) -> Result<Option<&Report>, Failure>;
}

/// Notes, table and warnings; no table where nobody wants it or standard output is taken.
pub(crate) fn tell(
    found: &impl Found,
    files: &Files,
    quiet: bool,
    bar: &Bar,
) -> Result<(), Failure> {
    let shown = !quiet && !files.to_stdout();
    show(bar, &found.notes(), shown.then(|| found.table()), found.warnings())
}

/// JSON, page and charts, and the names of what was written.
pub(crate) fn write(found: &impl Found, mut files: Files) -> Result<Vec<String>, Failure> {
    files.write_json(|| found.json())?;
    found.page()?.map_or(Ok(()), |page| files.write_pages(page))?;
    files.finish()
}

impl Found for Outcome {
    /// Without the one that stands below the table.
    fn notes(&self) -> Vec<Note> {
        let below = self.left_alone.as_ref();
        self.notes.iter().filter(|note| Some(*note) != below).cloned().collect()
    }

    /// How the rank was chosen, where it was, stands between the verdict and the heading.
    fn table(&self) -> String {
        let ranks = self.rank_choice.as_ref().map(choice_table).unwrap_or_default();
        table_after(self, &ranks)
    }

    fn warnings(&self) -> &[Remark] {
        &self.warnings
    }

    fn json(&self) -> Vec<u8> {
        self.to_json()
    }

    fn page(&self) -> Result<Option<&Report>, Failure> {
        match &self.failed {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.report.as_ref()),
        }
    }
}
