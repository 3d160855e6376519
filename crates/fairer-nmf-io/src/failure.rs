//! Why a run ends early: one line for the user, and whose fault it is.

use std::fmt::Display;

use crate::InputError;

/// An early end. Each message is one sentence: what, where, what to do.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The command or the input is wrong: exit code 2.
    Wrong(String),
    /// The run failed, or was stopped: exit code 1.
    Failed(String),
    /// Whoever read our standard output has gone: nothing is left to say.
    Unheard,
}

impl Failure {
    /// The command or the input is wrong.
    pub fn wrong(message: impl Display) -> Self {
        Self::Wrong(message.to_string())
    }

    /// Standard output could not be written.
    pub fn unprinted(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Unheard,
            _ => Self::failed(format!("cannot write to standard output: {error}")),
        }
    }

    /// The run failed, or was stopped.
    pub fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match error {
            // A good file on a machine that is too small for it.
            InputError::NoMemory { .. }
            | InputError::Stopped { .. }
            | InputError::NoCache { .. }
            | InputError::NoSpool { .. } => Self::failed(error),
            error => Self::wrong(error),
        }
    }
}

/// What the library refuses is wrong input: it fails at nothing else but writing, which the
/// caller maps, at being stopped, and at rows that change while they are fitted.
impl From<fairer_nmf::Error> for Failure {
    fn from(error: fairer_nmf::Error) -> Self {
        match error {
            fairer_nmf::Error::Stopped => Self::failed("stopped; nothing was written"),
            // The files were good when the run began.
            error @ fairer_nmf::Error::Rows { .. } => Self::failed(error),
            error => Self::wrong(error),
        }
    }
}

/// A message as it is, or its beginning and its end: what is wrong and what to do. Names in it come
/// from files and may be as long as these.
#[must_use]
pub fn bounded(text: String) -> String {
    const LONGEST: usize = 960;
    const END: usize = 320;
    if text.len() <= LONGEST {
        return text;
    }
    let whole = |at: &usize| text.is_char_boundary(*at);
    let start = (0..LONGEST - END - 8).rev().find(whole).unwrap_or(0);
    let end = (text.len() - END..text.len()).find(whole).unwrap_or(text.len());
    format!("{} […] {}", &text[..start], &text[end..])
}
