//! The values that options take.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fairer_nmf::discover::Discover;
use fairer_nmf::fit::{StartWeights, Ties};
use fairer_nmf::{Baseline, Init, Method, UnknownName, Update};
use fairer_nmf_io::parse_bytes;

/// `--format`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatName {
    Csv,
    Tsv,
    Jsonl,
    Npy,
    Npz,
    Mtx,
    Parquet,
    Excel,
    Folder,
}

/// `--missing`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum MissingName {
    /// An error that names the cells
    Error,
    /// Leave out the rows that have one
    DropRows,
    /// Take them as unobserved: errors and coordinates are of the other cells
    Unobserved,
}

/// `--decimal`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DecimalName {
    /// 1,234.5
    Point,
    /// 1.234,5
    Comma,
}

/// `--unseen`.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum UnseenName {
    /// It counts as none of the values, with a note
    #[default]
    Zero,
    /// An error that names it
    Error,
}

/// `--precision`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PrecisionName {
    F32,
    F64,
}

/// `--preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetName {
    /// For readable topics: common words of a known language and rare terms are left out
    Topics,
    /// The paper's recipe for 20 Newsgroups: --clean, --stop-words english, --max-features 200,
    /// --normalize features
    Paper,
    /// Every term, as TfidfVectorizer keeps them unless told otherwise
    #[value(name = "scikit-learn")]
    ScikitLearn,
}

/// `--norm`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum NormName {
    L2,
    L1,
    None,
}

/// `--normalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Normalize {
    /// Scale every feature to unit length over all rows, as the paper does
    Features,
    /// Take the numbers as they are
    None,
}

/// Choices of the library by their names, with what the help says of each.
fn choice<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownName> + Clone + Send + Sync + 'static,
{
    let names = names.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// `--method`, and each of `--methods`.
pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    choice(&[
        ("am", "Fairer-NMF by alternating minimisation, every step exact"),
        ("mu", "Fairer-NMF by multiplicative updates"),
        ("standard", "Standard NMF"),
    ])
}

/// `--ties`.
pub(crate) fn ties() -> impl TypedValueParser<Value = Ties> {
    choice(&[
        ("any", "Nothing more"),
        ("leximin", "Lower the next largest loss, and so on; the total error has the last word"),
    ])
}

/// `--discover`.
pub(crate) fn discover() -> impl TypedValueParser<Value = Discover> {
    choice(&[
        ("topics", "By the topics of standard NMF: the strongest, or clusters of their shares"),
        ("errors", "By the rows' errors, from low to high, iterated"),
        ("held-out-errors", "By errors under dictionaries that have not seen the rows"),
    ])
}

/// `--init`.
pub(crate) fn init() -> impl TypedValueParser<Value = Init> {
    choice(&[
        ("auto", "The measured best"),
        ("random", "Uniform random numbers, as in the paper"),
        ("nndsvd", "The leading singular vectors; there is one run"),
        ("nndsvda", "The same, with small numbers in the place of zeros"),
    ])
}

/// `--start-weights`.
pub(crate) fn start_weights() -> impl TypedValueParser<Value = StartWeights> {
    choice(&[
        ("even", "None of their own"),
        (
            "bound",
            "Those of the lower bound on the worst loss: the mixture of groups that is hardest to serve",
        ),
    ])
}

/// `--update`: that of standard NMF.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandardUpdate(pub Update);

impl FromStr for StandardUpdate {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "auto" => Ok(Self(Update::Hals)),
            name => name.parse().map(Self),
        }
    }
}

impl StandardUpdate {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        choice(&[
            ("auto", "The measured best: hals"),
            ("mu", "Multiplicative updates"),
            ("hals", "Hierarchical alternating least squares"),
            ("nnls", "Exact non-negative least squares"),
        ])
    }
}

/// `--baseline`: a name, or else a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BaselineKind {
    Named(Baseline),
    File(String),
}

impl FromStr for BaselineKind {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::File(text.to_owned()), Self::Named))
    }
}

/// `--delimiter`: one character, or `tab`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DelimiterByte(pub u8);

impl FromStr for DelimiterByte {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [byte] if !matches!(byte, b'"' | b'\n' | b'\r') && byte.is_ascii() => Ok(Self(*byte)),
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            _ => Err("expected one ASCII character, or `tab`".to_owned()),
        }
    }
}

/// `--min-df` and `--max-df`: a whole number is documents, one with a point a share of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Frequency {
    Count(usize),
    Share(f64),
}

impl FromStr for Frequency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(count) = text.parse() {
            return Ok(Self::Count(count));
        }
        match text.parse() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Self::Share(share)),
            _ => Err("expected a number of documents, or a share from 0.0 to 1.0".to_owned()),
        }
    }
}

/// A time: seconds, or a number with `ms`, `s`, `m` or `h`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unit = |suffix, seconds: f64| Some((text.strip_suffix(suffix)?, seconds));
        let (number, factor) = unit("ms", 1e-3)
            .or_else(|| unit("s", 1.0))
            .or_else(|| unit("m", 60.0))
            .or_else(|| unit("h", 3600.0))
            .unwrap_or((text, 1.0));
        let seconds = number.trim().parse::<f64>().ok().map(|number| number * factor);
        seconds
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Self)
            .ok_or_else(|| "expected a positive time, as in 90, 90s, 1.5m or 2h".to_owned())
    }
}

/// An amount of memory: bytes, or a number with `kB`, `MB` or `GB` (of 1000) or `KiB`, `MiB` or `GiB`
/// (of 1024).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub usize);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_bytes(text).map(Self)
    }
}

/// `--rank`: a number, or what bi-cross-validation finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankName {
    Auto,
    Given(usize),
}

impl FromStr for RankName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse::<u32>()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(rank)) if rank > 0 => Ok(Self::Given(rank as usize)),
            _ => Err("expected a number of topics from 1 on, or auto".to_owned()),
        }
    }
}

/// `--ranks`: `1..10` (both ends included), `2,4,8`, or both mixed; rising, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranks(pub Vec<usize>);

impl FromStr for Ranks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "expected ranks from 1 on, as in 1..10 (10 included) or 2,4,8".to_owned();
        let number = |text: &str| match text.trim().parse::<usize>() {
            Ok(rank) if rank > 0 => Ok(rank),
            _ => Err(wrong()),
        };
        let mut ranks = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => ranks.push(number(part)?),
                Some((first, last)) => {
                    let last = number(last.strip_prefix('=').unwrap_or(last))?;
                    let first = number(first)?;
                    if first > last || last - first >= 10_000 {
                        return Err(wrong());
                    }
                    ranks.extend(first..=last);
                }
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        Ok(Self(ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_ranges_with_both_ends_and_lists() {
        let ranks = |text: &str| text.parse::<Ranks>().map(|r| r.0);
        assert_eq!(ranks("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(ranks("8,2..=3,2"), Ok(vec![2, 3, 8]));
        for wrong in ["0..3", "5..2", "a", "1..", ""] {
            assert!(ranks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units_and_are_positive() {
        let seconds = |text: &str| text.parse::<Seconds>().map(|s| s.0.as_secs_f64()).ok();
        assert_eq!(seconds("1.5m"), Some(90.0));
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("7"), Some(7.0));
        for wrong in ["0", "-3", "soon", "inf", "NaN"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn memory_has_units() {
        let bytes = |text: &str| text.parse::<Bytes>().map(|b| b.0).ok();
        assert_eq!(bytes("2GB"), Some(2_000_000_000));
        assert_eq!(bytes("1.5 MiB"), Some(3 << 19));
        assert_eq!(bytes("4096"), Some(4096));
        for wrong in ["0", "-1MB", "much", "GB", "inf"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn document_frequencies_with_a_point_are_shares() {
        assert!(matches!("1".parse(), Ok(Frequency::Count(1))));
        assert!(matches!("1.0".parse(), Ok(Frequency::Share(1.0))));
        assert!("1.5".parse::<Frequency>().is_err());
    }
}
