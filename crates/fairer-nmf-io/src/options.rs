//! What the user asked of an input, apart from how any format is parsed.

use std::path::Path;
use std::str::FromStr;

use super::error::InputError;
use super::recipe::{Missing, TableRecipe};
use super::room::InputLimit;
use super::tenx::Triple;
use super::text::TextOptions;
use super::written::Decimal;

/// How to read an input; the default reads every column of a table as a feature.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format, where the name of the file does not tell it.
    pub format: Option<Format>,
    /// Columns of a table whose combinations are the groups; they are not features. Here and in
    /// `drop` and `one_hot` an entry is the name of a column, or else a list of names with commas
    /// between them, in which a name with a comma stands in double quotes.
    /// The label of a combination joins the cells with ` | `; a cell that holds a bar is quoted.
    pub group_by: Vec<String>,
    /// A file with one group label per row.
    pub groups: Option<GroupsSource>,
    /// Columns of a table that are each a family of groups; they are not features.
    pub group_by_each: Vec<String>,
    /// A table of the same rows with one column of 0 and 1 a group.
    pub membership: Option<String>,
    /// The weights of the rows: a column of a table, which is then no feature, or a file with one weight
    /// per row.
    pub weights: Option<String>,
    /// Columns of a table to leave out.
    pub drop: Vec<String>,
    /// Columns of a table to turn into one 0/1 column per value, named `column=value`.
    pub one_hot: Vec<String>,
    /// What to do with rows that have cells without a value.
    pub missing: Missing,
    /// Texts that mean "no value", besides those that always do.
    pub na_values: Vec<String>,
    /// The decimal mark of a table; found from its cells if not given.
    pub decimal: Option<Decimal>,
    /// Columns of numbers to cut into ranges; those that are not one-hot encoded make groups.
    pub bins: Vec<Bins>,
    /// Count group labels that differ only in case or blanks as one.
    pub merge_spellings: bool,
    /// What to do with a value of a one-hot column that the model has not seen.
    pub unseen: Unseen,
    /// How the table behind a model was read; what the other options say goes first.
    pub recipe: Option<TableRecipe>,
    /// Turn documents into TF-IDF features.
    pub text: Option<TextOptions>,
    /// The number type of a dense matrix.
    pub precision: Precision,
    /// Between cells of a delimited table; found from the header if not given.
    pub delimiter: Option<u8>,
    /// A text file with one feature name a line, for formats that carry no names.
    pub feature_names: Option<String>,
    /// Turn a matrix around that has one sample a column.
    pub transpose: bool,
    /// Take a first column without a name for the index that pandas writes, not for a feature.
    pub unnamed_index: bool,
    /// The column that says what the rows are called; it is not a feature.
    pub id: Option<String>,
    /// How much memory the input may ask for.
    pub limit: InputLimit,
    /// A model file and its features: the columns of a table must be these, in any order.
    pub known_features: Option<(String, Vec<String>)>,
}

fairer_nmf::changeable!(ReadOptions);

/// File formats, without regard to compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma, semicolon or tab separated, with a header.
    Csv,
    /// Tab separated, with a header.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// One NumPy array.
    Npy,
    /// An archive of NumPy arrays, or a SciPy sparse matrix.
    Npz,
    /// Matrix Market.
    MatrixMarket,
    /// Apache Parquet (cargo feature `parquet`).
    Parquet,
    /// A sheet of Excel or LibreOffice (cargo feature `excel`).
    Excel,
    /// A folder with one sub-folder of documents per group.
    Folder,
}

impl Format {
    /// The format that a path's ending tells, looking behind `.gz` and `.zst`; a folder holds
    /// documents, unless there is a matrix of cells in it.
    pub fn of(path: &str) -> Option<Format> {
        if Path::new(path).is_dir() {
            let cells = Triple::of(path).is_some();
            return Some(if cells { Format::MatrixMarket } else { Format::Folder });
        }
        let lower = path.to_lowercase();
        let plain = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
        match Path::new(plain).extension()?.to_str()? {
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "mtx" | "mm" => Some(Format::MatrixMarket),
            "parquet" | "pq" => Some(Format::Parquet),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Some(Format::Excel),
            _ => None,
        }
    }
}

/// A value of a one-hot column that the model has not seen. What then?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unseen {
    /// Zero in all columns of that variable, and say so in a note.
    #[default]
    Zero,
    /// An error that names it.
    Error,
}

/// A column of numbers that is cut into ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// The column.
    pub column: String,
    /// Where it is cut.
    pub cuts: Cuts,
}

/// Where a column is cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Cuts {
    /// At these numbers, rising; each belongs to the range above it.
    At(Vec<f64>),
    /// Into so many ranges of about as many rows.
    Quantiles(usize),
}

impl Bins {
    /// As a recipe keeps them.
    pub(crate) fn of((column, cuts): &(String, Vec<f64>)) -> Self {
        Self { column: column.clone(), cuts: Cuts::At(cuts.clone()) }
    }
}

impl FromStr for Bins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "expected COLUMN=18,30,45,65 or COLUMN=quantiles:4".to_owned();
        let (column, cuts) = text.rsplit_once('=').ok_or_else(wrong)?;
        let cuts = match cuts.trim().strip_prefix("quantiles:") {
            Some(count) => {
                let count = count.trim().parse().ok().filter(|count| (2..=100).contains(count));
                Cuts::Quantiles(count.ok_or_else(|| "expected 2 to 100 quantiles".to_owned())?)
            }
            None => {
                let cuts = cuts.split(',').map(|cut| cut.trim().parse::<f64>());
                let cuts: Vec<f64> = cuts.collect::<Result<_, _>>().map_err(|_| wrong())?;
                let rising = cuts.windows(2).all(|pair| pair[0] < pair[1]);
                if !rising || !cuts.iter().all(|cut| cut.is_finite()) {
                    return Err("the numbers must rise".to_owned());
                }
                Cuts::At(cuts)
            }
        };
        match column.trim() {
            "" => Err(wrong()),
            column => Ok(Self { column: column.to_owned(), cuts }),
        }
    }
}

/// The number type of a dense matrix in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// As stored: `f32` where the file holds 32-bit floats, else `f64`.
    #[default]
    Stored,
    /// Always `f32`.
    F32,
    /// Always `f64`.
    F64,
}

/// A file with group labels: `FILE`, `FILE:COLUMN` of a table, or `FILE.npz:ARRAY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupsSource {
    /// The file.
    pub path: String,
    /// The column or array in it.
    pub column: Option<String>,
}

impl FromStr for GroupsSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, column) = split_member(text);
        Ok(GroupsSource { path, column })
    }
}

/// Whether there is such a file, apart from the column that may be named with it.
pub(crate) fn is_file(name: &str) -> bool {
    let Ok(source) = name.parse::<GroupsSource>();
    Path::new(&source.path).exists()
}

/// Splits `FILE:PART` at its last colon, unless the whole is a file or the colon is a drive's.
pub fn split_member(text: &str) -> (String, Option<String>) {
    match text.rsplit_once(':') {
        Some((path, part))
            if path.len() > 1
                && !part.is_empty()
                && !part.contains(['/', '\\'])
                && !Path::new(text).exists() =>
        {
            (path.to_string(), Some(part.to_string()))
        }
        _ => (text.to_string(), None),
    }
}

/// Between the cells of a table, where it is known before the header is seen.
pub(crate) fn delimiter_of(format: Format, options: &ReadOptions) -> Option<u8> {
    match format {
        Format::Tsv => options.delimiter.or(Some(b'\t')),
        _ => options.delimiter,
    }
}

/// Standard input has no name: an object is JSON lines, `%%` Matrix Market, the rest CSV.
pub(crate) fn likely_format(bytes: &[u8]) -> Format {
    match bytes.trim_ascii_start() {
        [b'{', ..] => Format::JsonLines,
        [b'%', b'%', ..] => Format::MatrixMarket,
        [0x93, b'N', ..] => Format::Npy,
        _ => Format::Csv,
    }
}

/// Options about columns make no sense for a bare matrix.
pub(crate) fn matrix_only(path: &str, options: &ReadOptions) -> Result<(), InputError> {
    let why = "a matrix has no named columns; give the labels of its rows with `--groups FILE`";
    no_columns(path, options, why)?;
    match options.text {
        Some(_) => Err(InputError::OptionDoesNotApply {
            option: "--text",
            path: path.into(),
            why: "documents are read from a table or a folder",
        }),
        None => Ok(()),
    }
}

pub(crate) fn no_columns(
    path: &str,
    options: &ReadOptions,
    why: &'static str,
) -> Result<(), InputError> {
    let given = [
        ("--group-by", &options.group_by),
        ("--group-by-each", &options.group_by_each),
        ("--drop", &options.drop),
        ("--one-hot", &options.one_hot),
        ("--na-values", &options.na_values),
    ];
    let bins: Vec<String> = options.bins.iter().map(|bins| bins.column.clone()).collect();
    let id: Vec<String> = options.id.iter().cloned().collect();
    let given = given.into_iter().chain([("--bins", &bins), ("--id", &id)]);
    match given.into_iter().find(|(_, columns)| !columns.is_empty()) {
        Some((option, _)) => Err(InputError::OptionDoesNotApply { option, path: path.into(), why }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_formats_behind_compression() {
        assert_eq!(Format::of("a/b.csv.gz"), Some(Format::Csv));
        assert_eq!(Format::of("B.MTX"), Some(Format::MatrixMarket));
        assert_eq!(Format::of("x.jsonl.zst"), Some(Format::JsonLines));
        assert_eq!(Format::of("x.gz"), None);
    }

    #[test]
    fn bins_are_numbers_that_rise_or_quantiles() {
        let bins = |text: &str| text.parse::<Bins>();
        let age = |cuts| Ok(Bins { column: "age".into(), cuts });
        assert_eq!(bins("age=18, 30.5"), age(Cuts::At(vec![18.0, 30.5])));
        assert_eq!(bins("age=quantiles:4"), age(Cuts::Quantiles(4)));
        assert_eq!(bins("a=b=1").unwrap().column, "a=b");
        for wrong in ["age", "age=", "=1", "age=2,1", "age=1,1", "age=quantiles:1", "age=x"] {
            assert!(bins(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn members_are_split_at_the_last_colon() {
        let part = |text| split_member(text).1;
        assert_eq!(part("a.csv:sex").as_deref(), Some("sex"));
        assert_eq!(part("C:\\a.csv"), None);
        assert_eq!(part("a.csv"), None);
    }
}
