//! How the data are to be read.

use fairer_nmf_io::{
    Dataset, Decimal, DocumentFrequency, Failure, Format, GroupsSource, InputLimit, Missing, Norm,
    Precision, ReadOptions, Scaling, StopWords, TextOptions, read_names, split_member,
};

use crate::args::{
    BaselineArgs, BaselineKind, DataArgs, DecimalName, FormatName, Frequency, GroupArgs,
    MissingName, NormName, Normalize, PrecisionName, PresetName, TextArgs,
};

/// How to read the data.
pub(crate) fn read_options(
    data: &DataArgs,
    groups: Option<&GroupArgs>,
) -> Result<ReadOptions, Failure> {
    let columns = &data.columns;
    let format = columns.format.map(|format| match format {
        FormatName::Csv => Format::Csv,
        FormatName::Tsv => Format::Tsv,
        FormatName::Jsonl => Format::JsonLines,
        FormatName::Npy => Format::Npy,
        FormatName::Npz => Format::Npz,
        FormatName::Mtx => Format::MatrixMarket,
        FormatName::Parquet => Format::Parquet,
        FormatName::Excel => Format::Excel,
        FormatName::Folder => Format::Folder,
    });
    let limit = input_limit(data);
    let folder = format.or_else(|| Format::of(&data.data)) == Some(Format::Folder);
    let groups_file = groups.and_then(|g| g.groups.as_deref());
    let documents = text_options(&data.text, &data.data, folder, limit)?;
    Ok(ReadOptions::default().with(|o| {
        o.format = format;
        o.group_by = groups.map(|g| g.group_by.clone()).unwrap_or_default();
        o.group_by_each = groups.map(|g| g.group_by_each.clone()).unwrap_or_default();
        o.groups = groups_file.map(source);
        o.membership = groups.and_then(|g| g.membership.clone());
        o.weights = groups.and_then(|g| g.weights.clone());
        o.drop = columns.drop.clone();
        o.one_hot = columns.one_hot.clone();
        o.missing = match columns.missing {
            None | Some(MissingName::Error) => Missing::Error,
            Some(MissingName::DropRows) => Missing::DropRows,
            Some(MissingName::Unobserved) => Missing::Unobserved,
        };
        o.na_values = columns.na_values.clone();
        o.decimal = columns.decimal.map(|mark| match mark {
            DecimalName::Point => Decimal::Point,
            DecimalName::Comma => Decimal::Comma,
        });
        o.bins = columns.bins.clone();
        o.merge_spellings = groups.is_some_and(|g| g.merge_spellings);
        o.text = documents;
        o.precision = match columns.precision {
            None => Precision::Stored,
            Some(PrecisionName::F32) => Precision::F32,
            Some(PrecisionName::F64) => Precision::F64,
        };
        o.delimiter = columns.delimiter.map(|d| d.0);
        o.feature_names = columns.feature_names.clone();
        o.transpose = columns.transpose;
        o.limit = limit;
    }))
}

/// How much memory an input may ask for.
pub(crate) fn input_limit(data: &DataArgs) -> InputLimit {
    data.columns.input_limit.map_or(InputLimit::default(), |size| InputLimit::bytes(size.0 as u64))
}

fn source(text: &str) -> GroupsSource {
    let Ok(source) = text.parse();
    source
}

fn text_options(
    text: &TextArgs,
    data: &str,
    folder: bool,
    limit: InputLimit,
) -> Result<Option<TextOptions>, Failure> {
    if folder && text.text.is_some() {
        return Err(Failure::wrong(format!(
            "--text does not apply to {data}: in a folder every file is a document"
        )));
    }
    if !folder && text.text.is_none() {
        return match first_given(text) {
            None => Ok(None),
            Some(option) => Err(Failure::wrong(format!(
                "{option} is about documents, but {data} was not said to hold any: name their column with `--text COLUMN`"
            ))),
        };
    }
    let frequency = |given: Option<Frequency>, otherwise| match given {
        None => otherwise,
        Some(Frequency::Count(count)) => DocumentFrequency::Count(count),
        Some(Frequency::Share(share)) => DocumentFrequency::Share(share),
    };
    let preset = match text.preset {
        None | Some(PresetName::Topics) => TextOptions::topics(),
        Some(PresetName::Paper) => TextOptions::paper(),
        Some(PresetName::ScikitLearn) => TextOptions::default(),
    };
    let vocabulary = text.vocabulary.as_deref();
    let vocabulary = vocabulary.map(|file| read_names(&source(file), "--vocabulary", limit));
    let vocabulary = vocabulary.transpose()?;
    let stop_words = match text.stop_words.as_deref() {
        None => None,
        Some(list) => Some(StopWords::named(list).map_or_else(|| stop_words_of(list, limit), Ok)?),
    };
    Ok(Some(preset.with(|t| {
        t.column = text.text.clone();
        t.clean |= text.clean;
        t.lowercase = !text.keep_case;
        t.token_pattern = text.token_pattern.clone();
        t.max_features = text.max_features.map(|n| n as usize).or(t.max_features);
        t.prefer.splice(0..0, text.prefer.iter().cloned());
        t.min_df = frequency(text.min_df, t.min_df);
        t.max_df = frequency(text.max_df, t.max_df);
        t.vocabulary = vocabulary;
        t.idf = !text.no_idf;
        t.smooth_idf = !text.no_smooth_idf;
        t.sublinear_tf = text.sublinear_tf;
        t.norm = match text.norm {
            None | Some(NormName::L2) => Norm::L2,
            Some(NormName::L1) => Norm::L1,
            Some(NormName::None) => Norm::None,
        };
        if let Some(words) = stop_words {
            t.stop_words = words;
        }
    })))
}

/// Words from a file.
fn stop_words_of(file: &str, limit: InputLimit) -> Result<StopWords, Failure> {
    if file != "-" && !std::path::Path::new(file).exists() && !file.contains(['.', '/']) {
        let languages: Vec<&str> = StopWords::languages().collect();
        return Err(Failure::wrong(format!(
            "--stop-words {file}: there is neither such a file nor such a list; lists are none, auto, english, {}",
            languages.join(", ")
        )));
    }
    Ok(StopWords::read(file, limit)?)
}

/// The first option about documents that was typed.
pub(crate) fn first_given(text: &TextArgs) -> Option<&'static str> {
    let given = [
        ("--preset", text.preset.is_some()),
        ("--max-features", text.max_features.is_some()),
        ("--stop-words", text.stop_words.is_some()),
        ("--min-df", text.min_df.is_some()),
        ("--max-df", text.max_df.is_some()),
        ("--vocabulary", text.vocabulary.is_some()),
        ("--prefer", !text.prefer.is_empty()),
        ("--clean", text.clean),
        ("--keep-case", text.keep_case),
        ("--token-pattern", text.token_pattern.is_some()),
        ("--no-idf", text.no_idf),
        ("--no-smooth-idf", text.no_smooth_idf),
        ("--sublinear-tf", text.sublinear_tf),
        ("--norm", text.norm.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// How the features are scaled before a fit. Those of documents are not, unless asked for: a term
/// of one document would count as much as a word of all.
pub(crate) fn scaling(given: Option<Normalize>, text: &TextArgs, dataset: &Dataset) -> Scaling {
    let paper = text.preset == Some(PresetName::Paper);
    match given {
        Some(Normalize::Features) => Scaling::UnitFeatures,
        Some(Normalize::None) => Scaling::AsTheyAre,
        None if dataset.recipe.is_some() && !paper => Scaling::AsTheyAre,
        None => Scaling::UnitFeatures,
    }
}

/// Refuses to hide small groups where others, which overlap with them, would tell what is hidden.
pub(crate) fn check_hiding(groups: &GroupArgs, min_group_size: usize) -> Result<(), Failure> {
    if min_group_size > 0 && !groups.group_by_each.is_empty() {
        return Err(Failure::wrong(
            "--min-group-size does not go with --group-by-each: the groups of one family would tell what is hidden of another",
        ));
    }
    if min_group_size > 0 && groups.membership.is_some() {
        return Err(Failure::wrong(
            "--min-group-size does not go with --membership: groups with the same rows would tell what is hidden of one",
        ));
    }
    Ok(())
}

/// Every file that the options name as something to read, so that no output replaces one. Only one
/// of them can be standard input.
pub(crate) fn files_read(
    data: &DataArgs,
    groups: Option<&GroupArgs>,
    baseline: Option<&BaselineArgs>,
    components: Option<&String>,
) -> Result<Vec<String>, Failure> {
    let baseline = baseline.and_then(|given| match given.baseline.as_ref()? {
        BaselineKind::File(path) => Some(path),
        _ => None,
    });
    let own_list = |list: &&String| StopWords::named(list).is_none();
    let named = [
        ("DATA", Some(&data.data)),
        ("--groups", groups.and_then(|given| given.groups.as_ref())),
        ("--membership", groups.and_then(|given| given.membership.as_ref())),
        ("--weights", groups.and_then(|given| given.weights.as_ref())),
        ("--feature-names", data.columns.feature_names.as_ref()),
        ("--stop-words", data.text.stop_words.as_ref().filter(own_list)),
        ("--vocabulary", data.text.vocabulary.as_ref()),
        ("--baseline", baseline),
        ("--components", components),
    ];
    let given = || named.iter().filter_map(|(option, name)| Some((*option, (*name)?)));
    let from_stdin: Vec<&str> = given().filter(|(_, n)| *n == "-").map(|(o, _)| o).collect();
    if let [first, second, ..] = from_stdin[..] {
        return Err(Failure::wrong(format!(
            "{first} and {second} both ask for standard input (-), which can be read only once: give one of them as a file"
        )));
    }
    Ok(given().map(|(_, name)| split_member(name).0).collect())
}
