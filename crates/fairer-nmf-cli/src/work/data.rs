//! The data that options describe, read: as they are, or with the features of a model.

use std::time::Instant;

use fairer_nmf::{Model, Note};
use fairer_nmf_io::{
    Components, Dataset, Failure, Format, Loaded, Preparation, ReadOptions, Unseen, align,
    intersections, kept_recipe, merge_small, read, split_member,
};
use ndarray::Array2;

use crate::args::{DataArgs, GroupArgs, UnseenArgs, UnseenName};
use crate::meaning;
use crate::screen::Bar;

/// Reads the data that the options describe.
pub(crate) fn load(
    data: &DataArgs,
    groups: Option<&GroupArgs>,
    bar: &Bar,
) -> Result<Loaded, Failure> {
    let options = meaning::read_options(data, groups)?;
    let (mut dataset, seconds) = read_with(&data.data, &options, bar)?;
    merged(&mut dataset, groups)?;
    Ok(Loaded::new(dataset, options.precision, seconds))
}

/// Puts small groups together, and adds combinations of families, where that was asked for.
pub(crate) fn merged(dataset: &mut Dataset, groups: Option<&GroupArgs>) -> Result<(), Failure> {
    if groups.is_some_and(|groups| groups.intersections) {
        if dataset.families.len() < 2 {
            return Err(Failure::wrong(
                "--intersections are those of several columns: name them with --group-by-each",
            ));
        }
        dataset.families.push(intersections(&dataset.families));
    }
    let Some(least) = groups.map(|groups| groups.merge_small).filter(|least| *least > 0) else {
        return Ok(());
    };
    let Some(labels) = &mut dataset.labels else {
        return Err(Failure::wrong(
            "--merge-small needs one group for every row (--group-by, --groups): groups that overlap, or that are still to be found, cannot be put together; leave it out",
        ));
    };
    dataset.notes.extend(merge_small(labels, least));
    Ok(())
}

/// Reads the data that the options describe for a dictionary, of documents its terms, where it names them
/// and nothing else was asked for. Also the dictionary in the order of their features, and whether it was
/// turned around for that.
pub(crate) fn load_for_components(
    data: &DataArgs,
    groups: &GroupArgs,
    components: Components,
    bar: &Bar,
) -> Result<(Loaded, Array2<f64>, bool), Failure> {
    let mut options = meaning::read_options(data, Some(groups))?;
    if let Some(text) = options.text.as_mut().filter(|text| text.vocabulary.is_none()) {
        text.vocabulary = components.terms();
    }
    let (mut dataset, seconds) = read_with(&data.data, &options, bar)?;
    let (components, turned) = components.fitted_to(&mut dataset)?;
    merged(&mut dataset, Some(groups))?;
    Ok((Loaded::new(dataset, options.precision, seconds), components, turned))
}

/// Reads data with options that are already understood, and says in how many seconds. What is changed about
/// their features is changed before they are [`Loaded`], which notes which cells are unobserved.
fn read_with(path: &str, options: &ReadOptions, bar: &Bar) -> Result<(Dataset, f64), Failure> {
    bar.reading(path);
    let start = Instant::now();
    let dataset = read(path, options)?;
    Ok((dataset, start.elapsed().as_secs_f64()))
}

/// Reads a model file, or says what is wrong with it.
pub(crate) fn load_model(path: &str) -> Result<Model, Failure> {
    Model::load(path).map_err(|error| match error {
        fairer_nmf::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Failure::wrong(format!("{path} does not exist: check the spelling and the folder"))
        }
        other => other.into(),
    })
}

/// What data are for beside a model.
pub(crate) struct ForModel<'a> {
    /// The model and its file.
    pub model: &'a Model,
    pub path: &'a str,
    /// The groups that were asked for; none where nobody needs them.
    pub groups: Option<&'a GroupArgs>,
    pub unseen: UnseenArgs,
    /// The column that says what the rows are called.
    pub id: Option<&'a String>,
}

/// Reads data for a model, as the table behind it was read: columns are matched by name where
/// both sides have names, else by position.
pub(crate) fn load_for_model(
    for_model: &ForModel<'_>,
    data: &DataArgs,
    bar: &Bar,
) -> Result<Loaded, Failure> {
    let &ForModel { model, path: model_path, groups, unseen, id } = for_model;
    let names = model.feature_names.as_deref();
    let features = model.features();
    let mut options = meaning::read_options(data, groups)?;
    let Preparation { text: recipe, table } =
        kept_recipe(model.preparation.as_deref(), features, model_path)?;
    options.unseen = match unseen.unseen {
        UnseenName::Zero => Unseen::Zero,
        UnseenName::Error => Unseen::Error,
    };
    options.id = id.cloned();
    let format = options.format.or_else(|| Format::of(&split_member(&data.data).0));
    let is_matrix =
        matches!(format, Some(Format::Npy | Format::Npz | Format::MatrixMarket | Format::Folder));
    if let Some(table) = table.filter(|_| !is_matrix) {
        let table = if groups.is_some() { table } else { table.without_groups() };
        if data.columns.missing.is_none() {
            options.missing = table.missing;
        }
        options.merge_spellings |= table.merge_spellings;
        options.recipe = Some(table);
    }
    if let Some(recipe) = recipe.as_ref().filter(|_| options.text.is_none() && !is_matrix) {
        let Some(column) = &recipe.column else {
            return Err(Failure::wrong(format!(
                "{model_path} was fitted to documents: which column of {} holds them? name it with `--text COLUMN`",
                data.data
            )));
        };
        options.text = Some(recipe.clone().with(|t| t.column = Some(column.clone())));
    }
    let own_weights = options.text.is_some() && recipe.is_none();
    if let Some(names) = names {
        match (&mut options.text, recipe) {
            (Some(text), Some(recipe)) => {
                let other_terms = text.vocabulary.as_deref().is_some_and(|terms| terms != names);
                if let Some(option) = meaning::first_given(&data.text)
                    && (other_terms || !text.weighs_as(&recipe))
                {
                    return Err(Failure::wrong(format!(
                        "{option} does not go with {model_path}, which brings its own options about documents, and others: leave it out"
                    )));
                }
                *text = recipe.with(|t| {
                    t.column = text.column.take();
                    t.vocabulary = Some(names.to_vec());
                });
            }
            (Some(text), None) => {
                text.vocabulary.get_or_insert_with(|| names.to_vec());
            }
            (None, _) => options.known_features = Some((model_path.to_owned(), names.to_vec())),
        }
    }
    let (mut dataset, seconds) = read_with(&data.data, &options, bar)?;
    match names {
        Some(names) if dataset.is_named() => align(&mut dataset, names, model_path)?,
        _ => {
            let found = dataset.matrix.shape().1;
            if found != features {
                return Err(Failure::wrong(format!(
                    "{} has {found} features, {model_path} has {features}: give the columns it was fitted on",
                    dataset.path()
                )));
            }
            if names.is_some() {
                let sentence = format!(
                    "{} has no feature names: its columns were taken in the order of {model_path}",
                    dataset.path()
                );
                dataset.notes.push(Note::new("features-not-named", sentence));
            }
        }
    }
    if own_weights {
        dataset.notes.push(Note::new(
            "document-frequencies-anew",
            "inverse document frequencies are those of these documents, not of those the model was fitted on",
        ));
    }
    merged(&mut dataset, groups)?;
    Ok(Loaded::new(dataset, options.precision, seconds))
}
