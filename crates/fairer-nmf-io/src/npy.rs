//! NumPy's `.npy`: a short header, then the numbers.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

mod header;

use ndarray::{Array2, ShapeBuilder};

use super::error::InputError;
use super::matrix::{DenseMatrix, declares};
use super::options::Precision;
use super::room::{InputLimit, Room};
use super::source::{Plain, Source};
use super::text;
use header::Kind;
pub(crate) use header::{Header, LONGEST_HEADER, header};

/// Reads a matrix: straight into its place where the numbers are stored as they are wanted; and how many
/// entries were too small for f32.
pub(crate) fn read(
    path: &str,
    precision: Precision,
    limit: InputLimit,
) -> Result<(DenseMatrix, usize), InputError> {
    if path != "-"
        && let Some(matrix) = in_place(path, precision, limit)?
    {
        return Ok((matrix, 0));
    }
    let source = Source::open(path, limit)?;
    matrix(source.room(path), &source, precision)
}

/// The numbers of a plain file as they stand in it, without a copy; nothing where they have to be
/// unpacked or converted, or are not all there.
fn in_place(
    path: &str,
    precision: Precision,
    limit: InputLimit,
) -> Result<Option<DenseMatrix>, InputError> {
    let mut file = Plain::open(path)?;
    let Some(length) = file.length() else { return Ok(None) };
    let head = file.head(path, LONGEST_HEADER)?;
    let Ok(header) = Header::parse(path, &head) else { return Ok(None) };
    let stored = match (header.kind, header.width) {
        (Kind::Float, 4) => Precision::F32,
        (Kind::Float, 8) => Precision::F64,
        _ => return Ok(None),
    };
    let as_wanted = precision == Precision::Stored || precision == stored;
    let end = header.end().filter(|&end| end <= length);
    if header.big_endian || cfg!(target_endian = "big") || !as_wanted || end.is_none() {
        return Ok(None);
    }
    let shape = header.matrix_shape(path)?;
    let room = Room::new(path, usize::try_from(length).unwrap_or(usize::MAX), limit);
    let (offset, fortran) = (header.offset as u64, header.fortran);
    Ok(Some(match stored {
        Precision::F32 => DenseMatrix::F32(filled(file, room, offset, shape, fortran)?),
        _ => DenseMatrix::F64(filled(file, room, offset, shape, fortran)?),
    }))
}

fn filled<T: bytemuck::Pod + Default>(
    file: Plain,
    room: Room<'_>,
    offset: u64,
    shape: (usize, usize),
    fortran: bool,
) -> Result<Array2<T>, InputError> {
    let mut numbers: Vec<T> = room.zeros(declares(shape), shape.0, shape.1)?;
    file.fill(room.path, offset, bytemuck::cast_slice_mut(&mut numbers))?;
    Ok(Array2::from_shape_vec(shape.set_f(fortran), numbers).expect("rows × columns zeros"))
}

/// Converts an array in memory to a dense matrix, and says how many entries were too small for f32.
pub(crate) fn matrix(
    room: Room<'_>,
    bytes: &[u8],
    precision: Precision,
) -> Result<(DenseMatrix, usize), InputError> {
    let path = room.path;
    let header = Header::parse(path, bytes)?;
    let shape = header.matrix_shape(path)?;
    let single = header.kind == Kind::Float && header.width <= 4;
    let numbers = header.numbers(path, bytes)?;
    if precision == Precision::F32 || precision == Precision::Stored && single {
        let mut vanished = 0;
        let numbers = numbers.map(|v| {
            let kept = v as f32;
            vanished += usize::from(v != 0.0 && kept == 0.0);
            kept
        });
        let dense = collected(room, shape, header.fortran, numbers)?;
        Ok((DenseMatrix::F32(dense), vanished))
    } else {
        Ok((DenseMatrix::F64(collected(room, shape, header.fortran, numbers)?), 0))
    }
}

fn collected<T>(
    room: Room<'_>,
    shape: (usize, usize),
    fortran: bool,
    numbers: impl Iterator<Item = T>,
) -> Result<Array2<T>, InputError> {
    // The numbers are all there, so that the product is no larger than the file.
    let mut all = room.empty(shape.0 * shape.1)?;
    all.extend(numbers);
    let shape = shape.set_f(fortran);
    Ok(Array2::from_shape_vec(shape, all).expect("elements() checked that they fill the shape"))
}

/// The elements of a numeric array of any shape, as they are stored.
pub(crate) fn numbers(path: &str, bytes: &[u8]) -> Result<Vec<f64>, InputError> {
    Ok(Header::parse(path, bytes)?.numbers(path, bytes)?.collect())
}

/// The elements of an array of integers.
pub(crate) fn integers(path: &str, bytes: &[u8]) -> Result<Vec<i64>, InputError> {
    let header = Header::parse(path, bytes)?;
    if !matches!(header.kind, Kind::Signed | Kind::Unsigned) {
        return Err(InputError::damaged(path, "an array of integers is expected"));
    }
    // Whole numbers below 2^53 are exact in f64; larger ones are no index.
    Ok(header.numbers(path, bytes)?.map(|v| v as i64).collect())
}

/// The elements of a one-dimensional array as labels: texts as they are, numbers in decimal.
pub(crate) fn labels(path: &str, bytes: &[u8]) -> Result<Vec<String>, InputError> {
    let header = Header::parse(path, bytes)?;
    if header.shape.iter().filter(|&&n| n != 1).count() > 1 {
        return Err(InputError::Unsupported {
            path: path.into(),
            what: format!("an array of shape {:?}", header.shape),
            fix: "labels are a one-dimensional array".into(),
        });
    }
    match header.kind {
        Kind::Unicode | Kind::Bytes => texts(&header, path, bytes),
        _ => Ok(header.numbers(path, bytes)?.map(|v| v.to_string()).collect()),
    }
}

/// The elements of an array of fixed-width texts.
pub(crate) fn strings(path: &str, bytes: &[u8]) -> Result<Vec<String>, InputError> {
    let header = Header::parse(path, bytes)?;
    match header.kind {
        Kind::Unicode | Kind::Bytes => texts(&header, path, bytes),
        _ => Err(InputError::damaged(path, "an array of texts is expected")),
    }
}

fn texts(header: &Header, path: &str, bytes: &[u8]) -> Result<Vec<String>, InputError> {
    let elements = header.elements(path, bytes)?;
    if header.width == 0 {
        // However many there are, no byte of the file stands behind them.
        return Err(InputError::Unsupported {
            path: path.into(),
            what: "texts without a single letter".into(),
            fix: "every label needs a text of its own".into(),
        });
    }
    let unicode = |element: &[u8]| -> Option<String> {
        let chars = element.chunks_exact(4).map(|c| {
            let code = [c[0], c[1], c[2], c[3]];
            char::from_u32(match header.big_endian {
                true => u32::from_be_bytes(code),
                false => u32::from_le_bytes(code),
            })
        });
        chars.collect()
    };
    let text = |element: &[u8]| {
        let text = match header.kind {
            Kind::Unicode => unicode(element)
                .ok_or_else(|| InputError::damaged(path, "a text in it is not valid Unicode"))?,
            _ => text::decode(element),
        };
        Ok(text.trim_end_matches('\0').to_string())
    };
    elements.chunks_exact(header.width).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_too_large_for_memory_is_damage_not_a_crash() {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}";
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        let room = Room::new("x.npy", bytes.len(), InputLimit::default());
        let error = matrix(room, &bytes, Precision::Stored).expect_err("too large");
        assert!(matches!(error, InputError::Damaged { .. }), "{error}");
    }
}
