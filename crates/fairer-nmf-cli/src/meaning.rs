//! From what was typed to what the readers and the library understand.

use std::collections::HashMap;
use std::path::Path;

use fairer_nmf::{Baseline, Estimate, Init, Method, Parameters, StartWeights, Stopping, Update};

use crate::args::{
    BaselineArgs, BaselineKind, DataArgs, FormatName, Frequency, GroupArgs, InitName, MethodName,
    MissingName, NormName, Normalize, PrecisionName, PresetName, SolverArgs, StartWeightsName,
    TextArgs, UpdateName,
};
use fairer_nmf_io::Failure;
use fairer_nmf_io::Scaling;
use fairer_nmf_io::{
    Dataset, DocumentFrequency, Format, GroupsSource, Missing, Norm, Precision, ReadOptions,
    StopWords, TextOptions, closest_name, read_names,
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
        FormatName::Folder => Format::Folder,
    });
    let folder = format.or_else(|| Format::of(&data.data)) == Some(Format::Folder);
    let groups_file = groups.and_then(|g| g.groups.as_deref());
    Ok(ReadOptions {
        format,
        group_by: groups.map(|g| g.group_by.clone()).unwrap_or_default(),
        groups: groups_file.map(source),
        drop: columns.drop.clone(),
        one_hot: columns.one_hot.clone(),
        missing: match columns.missing {
            MissingName::Error => Missing::Error,
            MissingName::DropRows => Missing::DropRows,
        },
        text: text_options(&data.text, &data.data, folder)?,
        precision: match columns.precision {
            None => Precision::Stored,
            Some(PrecisionName::F32) => Precision::F32,
            Some(PrecisionName::F64) => Precision::F64,
        },
        delimiter: columns.delimiter.map(|d| d.0),
        feature_names: columns.feature_names.clone(),
        unnamed_index: false,
        known_features: None,
    })
}

fn source(text: &str) -> GroupsSource {
    let Ok(source) = text.parse();
    source
}

fn text_options(text: &TextArgs, data: &str, folder: bool) -> Result<Option<TextOptions>, Failure> {
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
    Ok(Some(TextOptions {
        column: text.text.clone(),
        clean: text.clean || preset.clean,
        lowercase: !text.keep_case,
        token_pattern: text.token_pattern.clone(),
        stop_words: match text.stop_words.as_deref() {
            None => preset.stop_words,
            Some("auto") => StopWords::Auto,
            Some("none") => StopWords::None,
            Some("english") => StopWords::English,
            Some(file) => StopWords::read(file)?,
        },
        max_features: text.max_features.map(|n| n as usize).or(preset.max_features),
        prefer: [&text.prefer[..], &preset.prefer].concat(),
        min_df: frequency(text.min_df, preset.min_df),
        max_df: frequency(text.max_df, preset.max_df),
        vocabulary: text
            .vocabulary
            .as_deref()
            .map(|file| read_names(&source(file), "--vocabulary"))
            .transpose()?,
        idf: !text.no_idf,
        smooth_idf: !text.no_smooth_idf,
        sublinear_tf: text.sublinear_tf,
        norm: match text.norm {
            None | Some(NormName::L2) => Norm::L2,
            Some(NormName::L1) => Norm::L1,
            Some(NormName::None) => Norm::None,
        },
        fitted: None,
    }))
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

/// The update of standard NMF.
pub(crate) fn update(name: UpdateName) -> Update {
    match name {
        UpdateName::Mu => Update::Mu,
        UpdateName::Auto | UpdateName::Hals => Update::Hals,
        UpdateName::Nnls => Update::Nnls,
    }
}

/// A method of the library.
pub(crate) fn method(name: MethodName, standard: UpdateName) -> Method {
    match name {
        MethodName::Am => Method::am(),
        MethodName::Mu => Method::mu(),
        MethodName::Standard => Method::Standard { update: update(standard) },
    }
}

/// The parameters of a fit, baselines apart.
pub(crate) fn parameters(rank: usize, method: Method, solver: &SolverArgs) -> Parameters {
    let defaults = Parameters::new(rank);
    Parameters {
        method,
        init: match solver.init {
            InitName::Auto => Init::Auto,
            InitName::Random => Init::Random,
            InitName::Nndsvd => Init::Nndsvd,
            InitName::Nndsvda => Init::Nndsvda,
        },
        start_weights: match solver.start_weights {
            StartWeightsName::Even => StartWeights::Even,
            StartWeightsName::Bound => StartWeights::Bound,
        },
        n_init: solver.n_init as usize,
        stopping: Stopping {
            tolerance: solver.tol,
            max_iterations: solver.max_iter as usize,
            time_limit: solver.time_limit.map(|t| t.0),
            ..defaults.stopping
        },
        seed: solver.seed,
        ..defaults
    }
}

/// The baselines of the groups called `names`, in this order.
pub(crate) fn baseline(args: &BaselineArgs, names: &[&str]) -> Result<Baseline, Failure> {
    let runs = args.baseline_runs as usize;
    Ok(match &args.baseline {
        BaselineKind::Paper => Baseline::Estimate(Estimate { runs, ..Estimate::paper() }),
        BaselineKind::Best => Baseline::Estimate(Estimate { runs, ..Estimate::best() }),
        BaselineKind::Zero => Baseline::Zero,
        BaselineKind::File(path) => Baseline::Given { errors: baseline_file(path, names)? },
    })
}

fn baseline_file(path: &str, names: &[&str]) -> Result<Vec<f64>, Failure> {
    let wrong = |what: String| Failure::wrong(format!("{path} (--baseline): {what}"));
    if !Path::new(path).exists() {
        return Err(Failure::wrong(format!(
            "--baseline {path}: expected paper, best, zero, or a file, and there is no such file"
        )));
    }
    let column = |name: &str| {
        let column = Some(name.to_owned());
        read_names(&GroupsSource { path: path.to_owned(), column }, "--baseline")
    };
    let (groups, errors) = (column("group")?, column("baseline_error")?);
    let mut known: HashMap<&str, f64> = HashMap::new();
    for (group, text) in groups.iter().zip(&errors) {
        let error = text.parse::<f64>().ok().filter(|e| e.is_finite() && *e >= 0.0);
        let error = error.ok_or_else(|| {
            wrong(format!(
                "group `{group}` has `{text}`: a number that is not negative is expected"
            ))
        })?;
        if known.insert(group, error).is_some() {
            return Err(wrong(format!("group `{group}` is there twice: leave one out")));
        }
    }
    names
        .iter()
        .map(|name| {
            known.get(name).copied().ok_or_else(|| {
                let near = match closest_name(name, &groups) {
                    Some(near) => format!(" (it has `{near}`)"),
                    None => String::new(),
                };
                wrong(format!("no line for group `{name}`{near}: give one line for every group"))
            })
        })
        .collect()
}
