//! The data that options describe, read.

use fairer_nmf_io::{Failure, Loaded, ReadOptions, split_member};

use crate::args::{BaselineArgs, BaselineKind, DataArgs, GroupArgs};
use crate::meaning;
use crate::progress::Bar;

/// Every file that the options name as something to read, so that no output replaces one. Only one
/// of them can be standard input.
pub(crate) fn files_read(
    data: &DataArgs,
    groups: Option<&GroupArgs>,
    baseline: Option<&BaselineArgs>,
    components: Option<&String>,
) -> Result<Vec<String>, Failure> {
    let baseline = baseline.and_then(|given| match &given.baseline {
        BaselineKind::File(path) => Some(path),
        BaselineKind::Paper | BaselineKind::Best | BaselineKind::Zero => None,
    });
    let own_list = |list: &&String| !["auto", "none", "english"].contains(&list.as_str());
    let named = [
        ("DATA", Some(&data.data)),
        ("--groups", groups.and_then(|given| given.groups.as_ref())),
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

/// Reads the data that the options describe.
pub(crate) fn load(
    data: &DataArgs,
    groups: Option<&GroupArgs>,
    bar: &Bar,
) -> Result<Loaded, Failure> {
    let options = meaning::read_options(data, groups)?;
    load_with(&data.data, &options, bar)
}

/// Reads data with options that are already understood.
pub(crate) fn load_with(path: &str, options: &ReadOptions, bar: &Bar) -> Result<Loaded, Failure> {
    bar.reading(path);
    Loaded::read(path, options)
}
