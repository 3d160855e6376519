//! The library's errors as Python exceptions, with the library's own sentence.

use fairer_nmf::Error;
use fairer_nmf_io::bounded;
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
