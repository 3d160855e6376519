//! Something that a reader of results has to know.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A sentence for people, and a code by which programs know it, whatever the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Words of small letters and digits, with hyphens between them; docs/codes.md lists them all.
    pub code: Cow<'static, str>,
    /// What it says.
    pub sentence: String,
}

impl Note {
    /// There was no time for as many random groups as a verdict needs.
    pub const CHANCE_OUT_OF_TIME: &'static str = "chance-out-of-time";
    /// What counts as noticeable is more than all that is lost.
    pub const MATTERS_BEYOND_ERROR: &'static str = "matters-beyond-error";
    /// A model leaves more than half of the data unexplained.
    pub const MUCH_UNEXPLAINED: &'static str = "much-unexplained";
    /// A model that evens groups out leaves clearly more of the data than standard NMF.
    pub const TOTAL_ERROR_ROSE: &'static str = "total-error-rose";

    /// A note of that code; codes that are looked for again are constants here.
    #[must_use]
    pub fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), sentence: sentence.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
