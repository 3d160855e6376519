//! The library's errors as Python exceptions, with the library's own sentence.

use fairer_nmf::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};

pub fn to_python(error: Error) -> PyErr {
    let sentence = bounded(error.to_string());
    match error {
        // With its number, Python picks the subclass: FileNotFoundError, PermissionError, …
        Error::Io { source, .. } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, sentence)),
            None => PyOSError::new_err(sentence),
        },
        // scikit-learn's tools look for these words.
        Error::BadEntry { value, .. } if value < 0.0 => {
            PyValueError::new_err(format!("Negative values in data: {sentence}"))
        }
        _ => PyValueError::new_err(sentence),
    }
}

/// A sentence as it is, or its beginning and its end: what is wrong and what to do. Names of groups
/// may be of any length.
fn bounded(text: String) -> String {
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
