//! Matrix Market: coordinate and array; real, integer and pattern; symmetric files expanded.
//!
//! Format: <https://math.nist.gov/MatrixMarket/formats.html>.

use ndarray::{Array2, ShapeBuilder};

use super::error::InputError;
use super::matrix::{DenseMatrix, Matrix, SparseMatrix, declares};
use super::options::Precision;
use super::room::Room;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The lines of a file that are neither comments nor blank, with their numbers.
struct Lines<'a> {
    path: &'a str,
    room: Room<'a>,
    rest: &'a [u8],
    number: u64,
}

/// Parses a matrix; one sample per row.
pub(crate) fn parse(
    room: Room<'_>,
    bytes: &[u8],
    precision: Precision,
) -> Result<(Matrix, usize), InputError> {
    let path = room.path;
    let mut lines = Lines { path, room, rest: bytes, number: 0 };
    let banner = lines.raw().unwrap_or_default();
    let banner = String::from_utf8_lossy(banner).to_lowercase();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", form, field, symmetry] = words[..] else {
        return Err(lines.wrong(
            "expected `%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric`",
        ));
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        _ => return Err(unsupported(path, symmetry)),
    };
    match (form, field) {
        ("coordinate", "real" | "double" | "integer") => {
            Ok((coordinate(&mut lines, false, symmetry)?, 0))
        }
        ("coordinate", "pattern") => Ok((coordinate(&mut lines, true, symmetry)?, 0)),
        ("array", "real" | "double" | "integer") => array(&mut lines, symmetry, precision),
        (_, field) => Err(unsupported(path, field)),
    }
}

fn unsupported(path: &str, what: &str) -> InputError {
    InputError::Unsupported {
        path: path.into(),
        what: format!("a Matrix Market matrix of the kind `{what}`"),
        fix: "real, integer or pattern, general or symmetric are read".into(),
    }
}

fn coordinate(
    lines: &mut Lines<'_>,
    pattern: bool,
    symmetry: Symmetry,
) -> Result<Matrix, InputError> {
    let [rows, cols, stored] = lines.sizes("rows, columns and entries")?;
    check_shape(lines, rows, cols, symmetry)?;
    let room = lines.room;
    // An entry takes four bytes at the least.
    let mut entries = room.empty(stored.min(lines.rest.len() / 4 + 1))?;
    for _ in 0..stored {
        let line = lines.next().ok_or_else(|| {
            let found = entries.len();
            InputError::damaged(
                lines.path,
                format!("it promises {stored} entries and ends after {found}"),
            )
        })?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let index = |word: Option<&[u8]>, size: usize| {
            let index: usize = std::str::from_utf8(word?).ok()?.parse().ok()?;
            (1..=size).contains(&index).then(|| index as u32 - 1)
        };
        let (row, col) = (index(words.next(), rows), index(words.next(), cols));
        let value = match pattern {
            true => Some(1.0),
            false => words.next().and_then(|word| fast_float2::parse(word).ok()),
        };
        let (Some(row), Some(col), Some(value), None) = (row, col, value, words.next()) else {
            let parts = if pattern { "row column" } else { "row column value" };
            return Err(lines.wrong(&format!(
                "expected `{parts}` with rows 1 to {rows} and columns 1 to {cols}, found `{}`",
                String::from_utf8_lossy(line)
            )));
        };
        entries.push((row, col, value));
    }
    lines.end()?;
    if symmetry != Symmetry::General {
        let sign = if symmetry == Symmetry::Skew { -1.0 } else { 1.0 };
        let below = entries.iter().filter(|(row, col, _)| row != col);
        let above: Vec<_> = below.map(|&(row, col, v)| (col, row, sign * v)).collect();
        entries.extend(above);
    }
    Ok(Matrix::Sparse(SparseMatrix::from_entries(room, rows, cols, &entries)?))
}

/// Column by column; of a symmetric matrix the part on and below the diagonal.
fn array(
    lines: &mut Lines<'_>,
    symmetry: Symmetry,
    precision: Precision,
) -> Result<(Matrix, usize), InputError> {
    let [rows, cols] = lines.sizes("rows and columns")?;
    check_shape(lines, rows, cols, symmetry)?;
    let least = |n: usize| if symmetry == Symmetry::General { n } else { n / 2 - rows.min(n / 2) };
    if rows.checked_mul(cols).is_none_or(|n| least(n) > lines.rest.len()) {
        let what = format!("it promises {rows} × {cols} numbers, more than it has room for");
        return Err(InputError::damaged(lines.path, what));
    }
    let zeros = lines.room.zeros(declares((rows, cols)), rows, cols)?;
    let mut dense = Array2::<f64>::from_shape_vec((rows, cols).f(), zeros).expect("as many zeros");
    for col in 0..cols {
        let first = match symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => col,
            Symmetry::Skew => col + 1,
        };
        for row in first..rows {
            let line = lines.next().ok_or_else(|| {
                InputError::damaged(
                    lines.path,
                    format!(
                        "it promises {rows} × {cols} numbers and ends before row {}, column {}",
                        row + 1,
                        col + 1
                    ),
                )
            })?;
            let value: f64 = fast_float2::parse(line).map_err(|_| {
                let found = String::from_utf8_lossy(line);
                lines.wrong(&format!("expected one number, found `{found}`"))
            })?;
            dense[[row, col]] = value;
            match symmetry {
                Symmetry::Symmetric => dense[[col, row]] = value,
                Symmetry::Skew => dense[[col, row]] = -value,
                Symmetry::General => {}
            }
        }
    }
    lines.end()?;
    Ok(match precision {
        Precision::F32 => {
            let single = dense.mapv(|v| v as f32);
            let vanished = dense.iter().zip(&single).filter(|(v, s)| **v != 0.0 && **s == 0.0);
            let vanished = vanished.count();
            (Matrix::Dense(DenseMatrix::F32(single)), vanished)
        }
        Precision::F64 | Precision::Stored => (Matrix::Dense(DenseMatrix::F64(dense)), 0),
    })
}

fn check_shape(
    lines: &Lines<'_>,
    rows: usize,
    cols: usize,
    symmetry: Symmetry,
) -> Result<(), InputError> {
    if rows == 0 || cols == 0 {
        let (path, what) = (lines.path.into(), format!("its shape is {rows} × {cols}"));
        return Err(InputError::Empty { path, what });
    }
    if rows.max(cols) > i32::MAX as usize {
        return Err(lines.wrong("more than 2^31 rows or columns"));
    }
    if symmetry != Symmetry::General && rows != cols {
        return Err(lines.wrong("a symmetric matrix has as many rows as columns"));
    }
    Ok(())
}

impl<'a> Lines<'a> {
    fn raw(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest);
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[..0]),
        };
        self.rest = rest;
        self.number += 1;
        Some(line.trim_ascii())
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some(line) = self.raw() {
            if !line.is_empty() && line[0] != b'%' {
                return Some(line);
            }
        }
        None
    }

    fn sizes<const N: usize>(&mut self, what: &str) -> Result<[usize; N], InputError> {
        let line = self.next().unwrap_or_default();
        let words = String::from_utf8_lossy(line);
        let sizes: Option<Vec<usize>> = words.split_whitespace().map(|w| w.parse().ok()).collect();
        sizes
            .and_then(|sizes| sizes.try_into().ok())
            .ok_or_else(|| self.wrong(&format!("expected the numbers of {what}, found `{words}`")))
    }

    fn end(&mut self) -> Result<(), InputError> {
        match self.next() {
            None => Ok(()),
            Some(_) => Err(self.wrong("there are more entries than the size line says")),
        }
    }

    fn wrong(&self, what: &str) -> InputError {
        InputError::BadLine { path: self.path.into(), line: self.number, what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::InputLimit;

    fn read(text: &str) -> Result<Matrix, InputError> {
        let room = Room::new("t.mtx", text.len(), InputLimit::default());
        parse(room, text.as_bytes(), Precision::Stored).map(|(matrix, _)| matrix)
    }

    fn sparse(text: &str) -> SparseMatrix {
        match read(text) {
            Ok(Matrix::Sparse(matrix)) => matrix,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_symmetric_file_is_expanded() {
        let half = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 4e-1\n";
        let full = "%%MatrixMarket MATRIX coordinate integer general\n% a comment\n\n2 2 3\n2 1 0.4\n1 2 0.4\n1 1 3\n";
        assert_eq!(sparse(half), sparse(full));
    }

    #[test]
    fn a_pattern_is_ones() {
        let text = "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n";
        assert_eq!(sparse(text).values, [1.0, 1.0]);
    }

    #[test]
    fn an_array_is_stored_by_columns() {
        let text = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
        let matrix = read(text).expect("readable");
        let Matrix::Dense(DenseMatrix::F64(array)) = matrix else { panic!("dense expected") };
        assert_eq!(array, ndarray::array![[1.0, 3.0], [2.0, 4.0]]);
    }

    #[test]
    fn wrong_files_name_the_line() {
        let message = |text: &str| read(text).expect_err("wrong").to_string();
        let head = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n";
        assert!(message(head).contains("promises 2 entries and ends after 1"));
        assert!(message(&format!("{head}3 1 1\n")).starts_with("t.mtx, line 4: expected"));
        assert!(
            message(&format!("{head}1 1 1\n1 1 1\n")).starts_with("t.mtx, line 5: there are more")
        );
        assert!(
            message("%%MatrixMarket matrix array complex general\n1 1\n1 1\n").contains("complex")
        );
        assert!(message("hello\n").starts_with("t.mtx, line 1: expected"));
    }
}
