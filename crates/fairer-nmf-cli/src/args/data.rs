//! Options about the data: where they are, and what their columns mean.

use clap::Args;

use fairer_nmf_io::Bins;

use super::values::{
    Bytes, DecimalName, DelimiterByte, FormatName, Frequency, MissingName, NormName, PrecisionName,
    PresetName, UnseenName,
};

/// The data and how to read them.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The data: a file (.csv, .tsv, .jsonl, .xlsx[:SHEET], .ods, .npy, .npz[:ARRAY], .mtx, .parquet;
    /// text formats also .gz or .zst), a folder with one sub-folder of documents a group or with
    /// matrix.mtx, features.tsv and barcodes.tsv, or - for standard input
    #[arg(value_name = "DATA")]
    pub data: String,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub text: TextArgs,
}

/// What the columns of a table are for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ColumnArgs {
    /// Columns to leave out. Here, in --one-hot and in --group-by a name with a comma stands alone,
    /// or in quotes inside a list: '"income, k$",id'
    #[arg(long, value_name = "COLUMN,...")]
    pub drop: Vec<String>,

    /// Columns of words to turn into one 0/1 column a value
    #[arg(long, value_name = "COLUMN,...")]
    pub one_hot: Vec<String>,

    /// What to do with cells that have no value, and with NaN in a matrix [default: error]
    #[arg(long, value_enum, value_name = "HOW")]
    pub missing: Option<MissingName>,

    /// Texts that mean "no value", besides empty cells, `?`, `-`, NA, N/A, NaN, null, k.A. and the
    /// errors of Excel (#NV, #N/A, #DIV/0!, ...)
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub na_values: Vec<String>,

    /// What stands before the decimals [default: found from the cells]. Marks between thousands,
    /// % and currency signs are left out
    #[arg(long, value_enum, value_name = "MARK")]
    pub decimal: Option<DecimalName>,

    /// Cut a column of numbers into ranges, by numbers (age=18,30,45,65) or into equal parts
    /// (age=quantiles:4); the ranges are groups, unless --one-hot names the column
    #[arg(long, value_name = "COLUMN=CUTS")]
    pub bins: Vec<Bins>,

    /// The number type of data and representation [default: as stored, f64 for text files]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub precision: Option<PrecisionName>,

    /// The format, where the name of the file does not tell it
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<FormatName>,

    /// What stands between cells [default: found from the header]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<DelimiterByte>,

    /// A text file with one feature name a line, for .npy, .npz and .mtx; of lines with tabs (as in
    /// features.tsv) the second column
    #[arg(long, value_name = "FILE")]
    pub feature_names: Option<String>,

    /// Turn a matrix around that has one sample a column, as single-cell tools write it
    #[arg(long)]
    pub transpose: bool,

    /// How much memory an input may ask for by what it declares or unpacks to, such as 8GiB; more
    /// than that is refused [default: 1GiB, or 64 times the size of the file if that is more]
    #[arg(long, value_name = "SIZE")]
    pub input_limit: Option<Bytes>,
}

/// What the groups are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct GroupArgs {
    /// Columns whose combinations are the groups; they are not features
    #[arg(long, value_name = "COLUMN,...")]
    pub group_by: Vec<String>,

    /// Columns that are each a family of groups: every row is in one group of each, as in sex=female and
    /// region=north; they are not features
    #[arg(long, value_name = "COLUMN,...", conflicts_with_all = ["group_by", "groups"])]
    pub group_by_each: Vec<String>,

    /// With --group-by-each: the combinations of its columns are a family too
    #[arg(long)]
    pub intersections: bool,

    /// A file with the group of every row: text with one label a line, .npy, or FILE:COLUMN of
    /// a table
    #[arg(long, value_name = "FILE[:COLUMN]", conflicts_with = "group_by")]
    pub groups: Option<String>,

    /// A table or .npy of the same rows with one column of 0 and 1 a group, which may have rows in common;
    /// rows in no group play no part
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["group_by", "group_by_each", "groups", "merge_spellings", "merge_small"])]
    pub membership: Option<String>,

    /// How many rows of the population each row stands for, as in surveys: a column, which is then no
    /// feature, or a file with one weight a line (or FILE:COLUMN)
    #[arg(long, value_name = "COLUMN|FILE")]
    pub weights: Option<String>,

    /// Count group labels that differ only in case or blanks as one
    #[arg(long)]
    pub merge_spellings: bool,

    /// Put groups with fewer rows together as `Other`
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub merge_small: usize,
}

/// How data meet a model.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct UnseenArgs {
    /// What to do with a value of a --one-hot column that the model has not seen
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub unseen: UnseenName,
}

/// How documents become numbers: TF-IDF as scikit-learn's TfidfVectorizer makes it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Text (a folder of documents, or --text)")]
pub(crate) struct TextArgs {
    /// The column with the documents; its terms become the features
    #[arg(long, value_name = "COLUMN")]
    pub text: Option<String>,

    /// What holds for the options below that are not given [default: topics]
    #[arg(long, value_enum, value_name = "PRESET")]
    pub preset: Option<PresetName>,

    /// Keep the most frequent terms only; ties go by --prefer, then by the alphabet
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_features: Option<u32>,

    /// Words to leave out: none, english, german, french or another language, a file with one word a
    /// line, or auto (english where the documents are English) [default: auto]
    #[arg(long, value_name = "LIST")]
    pub stop_words: Option<String>,

    /// Leave out terms in fewer documents: a number, or a share such as 0.01 [default: 0.005 and
    /// at least 2; 1 for fewer than 20 documents]
    #[arg(long, value_name = "N")]
    pub min_df: Option<Frequency>,

    /// Leave out terms in more documents: a number, or a share such as 0.5 [default: 0.95]
    #[arg(long, value_name = "N")]
    pub max_df: Option<Frequency>,

    /// The terms, in column order: text with one term a line, or FILE:COLUMN of a table
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub vocabulary: Option<String>,

    /// Terms that win ties at the --max-features cut
    #[arg(long, value_name = "TERM,...", value_delimiter = ',')]
    pub prefer: Vec<String>,

    /// Take out digits and punctuation first, as the paper does
    #[arg(long)]
    pub clean: bool,

    /// Tell upper from lower case
    #[arg(long)]
    pub keep_case: bool,

    /// A regular expression for terms, with the meaning of the Rust crate `regex` [default: two or
    /// more letters, numbers or _, exactly as in scikit-learn]
    #[arg(long, value_name = "REGEX")]
    pub token_pattern: Option<String>,

    /// Counts only, without inverse document frequencies
    #[arg(long)]
    pub no_idf: bool,

    /// Inverse document frequencies without smoothing
    #[arg(long)]
    pub no_smooth_idf: bool,

    /// 1 + ln(count) in place of the count
    #[arg(long)]
    pub sublinear_tf: bool,

    /// What every row is divided by [default: l2]
    #[arg(long, value_enum, value_name = "NORM")]
    pub norm: Option<NormName>,
}
