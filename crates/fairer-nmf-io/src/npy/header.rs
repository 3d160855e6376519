//! The header of a NumPy array: kind, width and order of its elements, its shape, where they begin;
//! and the elements themselves as numbers.

use crate::error::InputError;
use crate::text;

/// The header of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(super) kind: Kind,
    /// Bytes of one element.
    pub(super) width: usize,
    pub(super) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// Where the elements begin.
    pub(super) offset: usize,
}

/// What the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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

/// Elements that are converted at a time: they stay in cache until they are used.
const AT_ONCE: usize = 1 << 12;

/// Bytes of a header that [`header`] makes, whatever it says.
const HEADER_BYTES: usize = 128;

/// The header of an array in C order, always of one length, so that it can be written again.
pub(crate) fn header(descr: &str, shape: &[usize]) -> [u8; HEADER_BYTES] {
    let sizes = match shape {
        [one] => format!("{one},"),
        several => several.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let mut bytes = [b' '; HEADER_BYTES];
    bytes[..8].copy_from_slice(b"\x93NUMPY\x01\x00");
    bytes[8..10].copy_from_slice(&((HEADER_BYTES - 10) as u16).to_le_bytes());
    bytes[10..10 + text.len()].copy_from_slice(text.as_bytes());
    bytes[HEADER_BYTES - 1] = b'\n';
    bytes
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
        let text = text::decode(text);
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

    /// Elements that were read apart from their header, in stored order, some at a time.
    pub(crate) fn converted<'a>(
        &self,
        path: &str,
        elements: &'a [u8],
    ) -> Result<impl Iterator<Item = Vec<f64>> + use<'a>, InputError> {
        let convert: fn(&[u8], bool) -> Vec<f64> = match (self.kind, self.width) {
            (Kind::Float, 8) => |e, big| each(e, big, f64::from_le_bytes),
            (Kind::Float, 4) => |e, big| each(e, big, |b| f64::from(f32::from_le_bytes(b))),
            (Kind::Signed, 8) => |e, big| each(e, big, |b| i64::from_le_bytes(b) as f64),
            (Kind::Signed, 4) => |e, big| each(e, big, |b| f64::from(i32::from_le_bytes(b))),
            (Kind::Signed, 2) => |e, big| each(e, big, |b| f64::from(i16::from_le_bytes(b))),
            (Kind::Signed, 1) => |e, big| each(e, big, |b| f64::from(i8::from_le_bytes(b))),
            (Kind::Unsigned, 8) => |e, big| each(e, big, |b| u64::from_le_bytes(b) as f64),
            (Kind::Unsigned, 4) => |e, big| each(e, big, |b| f64::from(u32::from_le_bytes(b))),
            (Kind::Unsigned, 2) => |e, big| each(e, big, |b| f64::from(u16::from_le_bytes(b))),
            (Kind::Unsigned | Kind::Bool, 1) => |e, big| each(e, big, |[b]| f64::from(b)),
            _ => {
                return Err(InputError::Unsupported {
                    path: path.into(),
                    what: "texts, or floats of an unusual width".into(),
                    fix: "numbers are expected; save it from NumPy as float64 or float32".into(),
                });
            }
        };
        let big_endian = self.big_endian;
        Ok(elements.chunks(AT_ONCE * self.width).map(move |some| convert(some, big_endian)))
    }

    /// The bytes of the elements, all there.
    pub(super) fn elements<'a>(&self, path: &str, bytes: &'a [u8]) -> Result<&'a [u8], InputError> {
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
    pub(super) fn numbers<'a>(
        &self,
        path: &str,
        bytes: &'a [u8],
    ) -> Result<impl Iterator<Item = f64> + use<'a>, InputError> {
        Ok(self.converted(path, self.elements(path, bytes)?)?.flatten())
    }
}

/// Elements of N bytes, the lowest first or, where they are `big`-endian, last.
fn each<const N: usize>(elements: &[u8], big: bool, convert: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    let reversed = |element: &[u8; N]| {
        let mut low_first = *element;
        low_first.reverse();
        convert(low_first)
    };
    let elements = elements.as_chunks().0.iter();
    match big {
        true => elements.map(reversed).collect(),
        false => elements.map(|element| convert(*element)).collect(),
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
    fn headers_are_those_of_numpy_and_of_one_length() {
        for shape in [vec![7], vec![123_456_789_012, 1_000_000]] {
            let bytes = header("<f4", &shape);
            let parsed = Header::parse("x", &bytes).unwrap();
            assert_eq!((parsed.shape.clone(), parsed.offset()), (shape, HEADER_BYTES));
            assert!(parsed.is_single() && !parsed.fortran);
        }
    }
}
