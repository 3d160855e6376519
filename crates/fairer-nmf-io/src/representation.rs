//! A representation as CSV or as a NumPy array.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use fairer_nmf::data::Element;
use ndarray::ArrayView2;

use crate::npy::header;
use crate::{DenseView, Failure};

/// How a representation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// CSV with a header.
    Csv,
    /// NumPy's format.
    Npy,
}

impl Form {
    /// The form that the name of an output tells; standard output is CSV.
    ///
    /// # Errors
    /// A name with another ending.
    pub fn of(path: &str) -> Result<Self, Failure> {
        let ending = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
        match ending.to_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "npy" => Ok(Self::Npy),
            _ if path == "-" => Ok(Self::Csv),
            _ => Err(Failure::wrong(format!(
                "--output {path}: the name must end in .csv or .npy, which is how it will be written"
            ))),
        }
    }
}

impl DenseView<'_> {
    /// CSV with the header NAME,topic_1,topic_2,…, where NAME heads `ids`; every number reads back
    /// exactly, and what is NaN is an empty cell.
    #[must_use]
    pub fn to_csv(&self, name: &str, ids: &[String]) -> Vec<u8> {
        match self {
            Self::F32(matrix) => csv(*matrix, name, ids),
            Self::F64(matrix) => csv(*matrix, name, ids),
        }
    }

    /// NumPy's format, version 1.0, C order, little endian.
    #[must_use]
    pub fn to_npy(&self) -> Vec<u8> {
        match self {
            Self::F32(matrix) => npy(*matrix),
            Self::F64(matrix) => npy(*matrix),
        }
    }
}

fn csv<T: Element>(matrix: ArrayView2<'_, T>, name: &str, ids: &[String]) -> Vec<u8> {
    let mut text = cell(name).into_owned();
    (1..=matrix.ncols()).for_each(|k| text += &format!(",topic_{k}"));
    text.push('\n');
    for (row, id) in matrix.rows().into_iter().zip(ids) {
        text += &cell(id);
        for value in row {
            text.push(',');
            if !value.to_f64().is_nan() {
                // Writing to a String cannot fail. `Debug` of a float is its shortest exact form.
                let _ = write!(text, "{value:?}");
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// A text as a cell, in quotes where it needs them.
fn cell(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}

fn npy<T: Element>(matrix: ArrayView2<'_, T>) -> Vec<u8> {
    let (rows, columns) = matrix.dim();
    let kind = if T::SINGLE { "<f4" } else { "<f8" };
    let mut bytes = header(kind, &[rows, columns]).to_vec();
    for value in matrix.iter() {
        match T::SINGLE {
            true => bytes.extend((value.to_f64() as f32).to_le_bytes()),
            false => bytes.extend(value.to_f64().to_le_bytes()),
        }
    }
    bytes
}
