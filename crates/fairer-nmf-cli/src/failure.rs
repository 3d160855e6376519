//! Why the program ends early: one line for the user, and an exit code for scripts.

use std::fmt::Display;
use std::process::ExitCode;

use crate::input::InputError;

/// An early end. Each message is one sentence: what, where, what to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command or the input is wrong: exit code 2.
    Wrong(String),
    /// The run failed, or was stopped: exit code 1.
    Failed(String),
    /// Whoever read our standard output has gone: nothing is left to say.
    Unheard,
}

impl Failure {
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self::Wrong(message.to_string())
    }

    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// Says it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Wrong(message) => {
                crate::terminal::error(message);
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                crate::terminal::error(message);
                ExitCode::from(1)
            }
            Self::Unheard => ExitCode::SUCCESS,
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::wrong(error)
    }
}

/// What the library refuses is wrong input: it fails at nothing else but writing, which the
/// caller maps, and at being stopped.
impl From<fairer_nmf::Error> for Failure {
    fn from(error: fairer_nmf::Error) -> Self {
        match error {
            fairer_nmf::Error::Stopped => Self::failed("stopped; nothing was written"),
            error => Self::wrong(error),
        }
    }
}
