//! Amounts of memory, as they are said and as they are typed.

use std::fmt;

/// Bytes for people: 1.5 GiB.
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.into_iter().find(|(power, _)| self.0 >> power > 0) {
            None => write!(f, "{} bytes", self.0),
            Some((power, unit)) => {
                let tenths = (self.0 as f64 / (1_u64 << power) as f64 * 10.0).round() / 10.0;
                write!(f, "{tenths} {unit}")
            }
        }
    }
}

/// An amount of memory as it is typed: 500MB, 2GB, 1.5 GiB, or a number of bytes.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let lower = text.trim().to_lowercase();
    let units = [
        ("gib", 1u64 << 30),
        ("mib", 1 << 20),
        ("kib", 1 << 10),
        ("gb", 1_000_000_000),
        ("mb", 1_000_000),
        ("kb", 1000),
        ("g", 1_000_000_000),
        ("m", 1_000_000),
        ("b", 1),
    ];
    let with_unit = |&(unit, size): &(&str, u64)| Some((lower.strip_suffix(unit)?, size));
    let (number, size) = units.iter().find_map(with_unit).unwrap_or((&lower, 1));
    let bytes = number.trim().parse::<f64>().ok().map(|number| number * size as f64);
    bytes
        .filter(|bytes| *bytes >= 1.0 && *bytes < 9e18)
        .map(|bytes| bytes as usize)
        .ok_or_else(|| "expected an amount of memory, as in 500MB or 2GB".to_owned())
}

/// The least whole number of a unit that holds so many bytes, as an option takes it.
pub(crate) fn as_typed(bytes: u64) -> String {
    let (power, unit) = if bytes >> 30 > 0 { (30, "GiB") } else { (20, "MiB") };
    format!("{}{unit}", bytes.div_ceil(1 << power).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_units() {
        assert_eq!(Size(1023).to_string(), "1023 bytes");
        assert_eq!(Size(3 << 29).to_string(), "1.5 GiB");
        assert_eq!(as_typed((1 << 30) + 1), "2GiB");
        assert_eq!(as_typed(5), "1MiB");
    }
}
