//! Sentences that programs know by a code.

use fairer_nmf::Note;
use serde::{Deserialize, Serialize};

/// Something to know, for programs and for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remark {
    /// What kind it is, such as `not-converged`.
    pub code: String,
    /// One sentence.
    pub sentence: String,
}

impl Remark {
    /// A remark of that kind.
    pub fn new(code: &str, sentence: impl Into<String>) -> Self {
        Self { code: code.to_owned(), sentence: sentence.into() }
    }
}

impl From<Note> for Remark {
    fn from(note: Note) -> Self {
        Self { code: note.code.into_owned(), sentence: note.sentence }
    }
}
