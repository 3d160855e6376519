//! NumPy's `.npy`: a short header, then the numbers.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use ndarray::{Array2, ShapeBuilder};

use super::error::InputError;
use super::matrix::{DenseMatrix, declares};
use super::options::Precision;
use super::room::{InputLimit, Room};
use super::source::{Plain, Source};

/// The header of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    kind: Kind,
    /// Bytes of one element.
    width: usize,
    big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// Where the elements begin.
    offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    /// UTF-32, padded with zeros.
    Unicode,
    /// Bytes, padded with zeros.
    Bytes,
}

/// More than any header has; NumPy itself reads no longer ones.
pub(crate) const LONGEST_HEADER: u64 = 1 << 16;

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
            _ => super::text::decode(element),
        };
        Ok(text.trim_end_matches('\0').to_string())
    };
    elements.chunks_exact(header.width).map(text).collect()
}

impl Header {
    /// Reads the header at the start of `bytes`.
    pub(crate) fn parse(path: &str, bytes: &[u8]) -> Result<Header, InputError> {
        let short = || InputError::damaged(path, "its NumPy header is cut short");
        let Some(rest) = bytes.strip_prefix(b"\x93NUMPY") else {
            return Err(InputError::damaged(path, "it does not begin as a NumPy array does"));
        };
        let (start, length): (usize, usize) = match *rest {
            [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
            [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
            _ => return Err(short()),
        };
        // At most 2^32 + 12; more is cut short on any machine.
        let offset = start.checked_add(length).ok_or_else(short)?;
        let text = bytes.get(start..offset).ok_or_else(short)?;
        let text = super::text::decode(text);
        let garbled = || InputError::damaged(path, "its NumPy header is garbled");
        let fortran = match value_of(&text, "fortran_order").ok_or_else(garbled)? {
            value if value.starts_with("True") => true,
            value if value.starts_with("False") => false,
            _ => return Err(garbled()),
        };
        let shape = value_of(&text, "shape").and_then(parse_shape).ok_or_else(garbled)?;
        let descr = value_of(&text, "descr").ok_or_else(garbled)?;
        let quoted = descr.strip_prefix('\'').and_then(|descr| descr.split('\'').next());
        let (kind, width, big_endian) =
            quoted
                .and_then(parse_type)
                .ok_or_else(|| InputError::Unsupported {
                    path: path.into(),
                    what: format!("elements of type {}", quoted.unwrap_or("structure")),
                    fix: "save it from NumPy as float64 or float32 (labels: integers or fixed-width texts)".into(),
                })?;
        Ok(Header { kind, width, big_endian, fortran, shape, offset })
    }

    /// Whether the array is a matrix of numbers.
    pub(crate) fn is_matrix(&self) -> bool {
        self.shape.len() == 2 && !matches!(self.kind, Kind::Unicode | Kind::Bytes)
    }

    pub(crate) fn matrix_shape(&self, path: &str) -> Result<(usize, usize), InputError> {
        match self.shape[..] {
            [rows, cols] if rows > 0 && cols > 0 => Ok((rows, cols)),
            [_, _] => Err(InputError::Empty {
                path: path.into(),
                what: format!("its shape is {:?}", self.shape),
            }),
            _ => Err(InputError::Unsupported {
                path: path.into(),
                what: match self.shape.len() {
                    1 => "an array with 1 dimension".into(),
                    n => format!("an array with {n} dimensions"),
                },
                fix: "a matrix with two, samples × features, is expected".into(),
            }),
        }
    }

    /// Where the elements begin.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Where they end, if a file can be that long.
    pub(crate) fn end(&self) -> Option<u64> {
        let size = self.shape.iter().try_fold(self.width, |size, &n| size.checked_mul(n))?;
        self.offset.checked_add(size).map(|end| end as u64)
    }

    /// Whether the elements are floats that f32 holds.
    pub(crate) fn is_single(&self) -> bool {
        self.kind == Kind::Float && self.width <= 4
    }

    /// Whether the elements are numbers of this type as they lie in memory.
    pub(crate) fn is_plain<T>(&self) -> bool {
        let native = self.big_endian == cfg!(target_endian = "big");
        self.kind == Kind::Float && self.width == size_of::<T>() && native
    }

    /// Whether the elements are 32-bit integers as they lie in memory.
    pub(crate) fn is_plain_i32(&self) -> bool {
        let native = self.big_endian == cfg!(target_endian = "big");
        self.kind == Kind::Signed && self.width == 4 && native
    }

    /// Whether the elements are integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }

    /// Bytes of an element.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Elements that were read apart from their header, in stored order.
    pub(crate) fn converted<'a>(
        &self,
        path: &str,
        elements: &'a [u8],
    ) -> Result<impl Iterator<Item = f64> + use<'a>, InputError> {
        let shape = vec![elements.len() / self.width.max(1)];
        Self { shape, offset: 0, ..self.clone() }.numbers(path, elements)
    }

    /// The bytes of the elements, all there.
    fn elements<'a>(&self, path: &str, bytes: &'a [u8]) -> Result<&'a [u8], InputError> {
        let end = self.end().and_then(|end| usize::try_from(end).ok());
        end.and_then(|end| bytes.get(self.offset..end)).ok_or_else(|| {
            let there = bytes.len() - self.offset;
            let shape = &self.shape;
            InputError::damaged(
                path,
                format!("its header promises the shape {shape:?}, but only {there} bytes follow"),
            )
        })
    }

    /// The elements in stored order, as f64.
    fn numbers<'a>(
        &self,
        path: &str,
        bytes: &'a [u8],
    ) -> Result<impl Iterator<Item = f64> + use<'a>, InputError> {
        let elements = self.elements(path, bytes)?;
        let convert: fn([u8; 8]) -> f64 = match (self.kind, self.width) {
            (Kind::Float, 8) => f64::from_le_bytes,
            (Kind::Float, 4) => |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            (Kind::Signed, 8) => |b| i64::from_le_bytes(b) as f64,
            (Kind::Signed, 4) => |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            (Kind::Signed, 2) => |b| f64::from(i16::from_le_bytes([b[0], b[1]])),
            (Kind::Signed, 1) => |b| f64::from(b[0] as i8),
            (Kind::Unsigned | Kind::Bool, _) => |b| u64::from_le_bytes(b) as f64,
            _ => {
                return Err(InputError::Unsupported {
                    path: path.into(),
                    what: "texts, or floats of an unusual width".into(),
                    fix: "numbers are expected; save it from NumPy as float64 or float32".into(),
                });
            }
        };
        let (width, big_endian) = (self.width, self.big_endian);
        Ok(elements.chunks_exact(width).map(move |element| {
            let mut low_first = [0; 8];
            low_first[..width].copy_from_slice(element);
            if big_endian {
                low_first[..width].reverse();
            }
            convert(low_first)
        }))
    }
}

/// What follows `'key':` in the header's Python dictionary.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{key}'"))?;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

/// `(2, 3), …` to its numbers.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let numbers = inside.split(',').map(str::trim).filter(|n| !n.is_empty());
    numbers.map(|n| n.trim_end_matches('L').parse().ok()).collect()
}

/// `<f8` to kind, bytes and byte order.
fn parse_type(text: &str) -> Option<(Kind, usize, bool)> {
    let order = text.chars().next()?;
    let big_endian = order == '>' || order == '=' && cfg!(target_endian = "big");
    let text = text.trim_start_matches(['<', '>', '|', '=']);
    let kind = text.chars().next()?;
    let width: usize = text.get(1..)?.parse().ok()?;
    let known = match (kind, width) {
        ('f', 4 | 8) => (Kind::Float, width),
        ('i', 1 | 2 | 4 | 8) => (Kind::Signed, width),
        ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, width),
        ('b', 1) => (Kind::Bool, width),
        ('U', _) => (Kind::Unicode, width.checked_mul(4)?),
        ('S', _) => (Kind::Bytes, width),
        _ => return None,
    };
    Some((known.0, known.1, big_endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_kinds_are_understood() {
        assert_eq!(parse_type("<f8"), Some((Kind::Float, 8, false)));
        assert_eq!(parse_type(">U3"), Some((Kind::Unicode, 12, true)));
        assert_eq!(parse_type("|O"), None);
        assert_eq!(parse_shape("(3,), }"), Some(vec![3]));
        assert_eq!(parse_shape("(), }"), Some(vec![]));
        assert_eq!(parse_shape("(2, 40)"), Some(vec![2, 40]));
    }

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
