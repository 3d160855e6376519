//! Data for a model that exists: the same features, in the same order.

use std::collections::HashMap;

use fairer_nmf::Model;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::args::{DataArgs, GroupArgs};
use crate::failure::Failure;
use crate::input::{
    Dataset, DenseMatrix, DenseView, InputError, Matrix, SparseMatrix, TextOptions,
};
use crate::load::{Loaded, load_with};
use crate::meaning;
use crate::progress::Bar;

/// Reads data for a model: columns are matched by name where both sides have names, else by
/// position.
pub(crate) fn load_for_model(
    model: &Model,
    model_path: &str,
    data: &DataArgs,
    groups: Option<&GroupArgs>,
    bar: &Bar,
) -> Result<Loaded, Failure> {
    let names = model.feature_names.as_deref();
    let features = model.features();
    let mut options = meaning::read_options(data, groups)?;
    let recipe = recipe(model, model_path)?;
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
                *text = TextOptions {
                    column: text.column.take(),
                    vocabulary: Some(names.to_vec()),
                    ..recipe
                };
            }
            (Some(text), None) => {
                text.vocabulary.get_or_insert_with(|| names.to_vec());
            }
            (None, _) => options.known_features = Some((model_path.to_owned(), names.to_vec())),
        }
    }
    let loaded = load_with(&data.data, &options, bar)?;
    let Loaded { mut dataset, seconds, .. } = loaded;
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
                dataset.notes.push(format!(
                    "{} has no feature names: its columns were taken in the order of {model_path}",
                    dataset.path()
                ));
            }
        }
    }
    if own_weights {
        dataset.notes.push(
            "inverse document frequencies are those of these documents, not of those the model was fitted on"
                .to_owned(),
        );
    }
    Ok(Loaded::new(dataset, options.precision, seconds))
}

/// How the documents behind a model became its features, where it was fitted to documents.
fn recipe(model: &Model, path: &str) -> Result<Option<TextOptions>, Failure> {
    let Some(stored) = &model.preparation else { return Ok(None) };
    let broken = |what: String| {
        Failure::wrong(format!(
            "{path}: how its documents became features cannot be read ({what}): fit the model again"
        ))
    };
    let elsewhere = |stored: &serde_json::Value| stored["text"]["stop_words"].get("File").is_some();
    let Preparation::Text(recipe) = match serde_json::from_str(stored) {
        Ok(preparation) => preparation,
        Err(_) if serde_json::from_str(stored).is_ok_and(|stored| elsewhere(&stored)) => {
            return Err(broken("its stop words are in another file, which is never opened".into()));
        }
        Err(e) => return Err(broken(e.to_string())),
    };
    match recipe.fitted.as_ref().map(|f| f.with_term.len()) {
        Some(terms) if terms == model.features() => Ok(Some(recipe)),
        found => Err(broken(format!(
            "frequencies of {} terms for {} features",
            found.unwrap_or(0),
            model.features()
        ))),
    }
}

/// What a model keeps of how its features were made.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Preparation {
    /// Documents to TF-IDF.
    Text(TextOptions),
}

/// What a model of this data has to keep for new data.
pub(crate) fn preparation(dataset: &Dataset) -> Option<String> {
    let recipe = dataset.recipe.clone()?;
    let text = serde_json::to_string(&Preparation::Text(recipe));
    Some(text.expect("options are words and finite numbers"))
}

/// Puts the columns of the data into the order of `names`.
pub(crate) fn align(
    dataset: &mut Dataset,
    names: &[String],
    dictionary: &str,
) -> Result<(), InputError> {
    if dataset.features == names {
        return Ok(());
    }
    let place: HashMap<&str, usize> =
        dataset.features.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    // A value that no row of a one-hot column has is a column of zeros.
    let absent_value = |name: &str| {
        dataset.one_hot.iter().any(|column| {
            name.strip_prefix(column.as_str()).is_some_and(|value| value.starts_with('='))
        })
    };
    let from: Vec<Option<usize>> =
        names.iter().map(|name| place.get(name.as_str()).copied()).collect();
    let missing = names.iter().zip(&from).filter(|(n, j)| j.is_none() && !absent_value(n));
    let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
    let mut used = vec![false; dataset.features.len()];
    from.iter().flatten().for_each(|&j| used[j] = true);
    let unknown = dataset.features.iter().zip(&used).filter(|(_, used)| !**used);
    let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
    if !missing.is_empty() || !unknown.is_empty() {
        let (path, dictionary) = (dataset.path().into(), dictionary.into());
        return Err(InputError::OtherFeatures { path, dictionary, unknown, missing });
    }
    dataset.matrix = match &dataset.matrix {
        Matrix::Dense(dense) => Matrix::Dense(match dense.view() {
            DenseView::F64(view) => DenseMatrix::F64(picked(view, &from)),
            DenseView::F32(view) => DenseMatrix::F32(picked(view, &from)),
        }),
        Matrix::Sparse(sparse) => Matrix::Sparse(renumbered(sparse, &from)),
    };
    dataset.features = names.to_vec();
    Ok(())
}

fn picked<T: Copy + Default>(view: ArrayView2<'_, T>, from: &[Option<usize>]) -> Array2<T> {
    Array2::from_shape_fn((view.nrows(), from.len()), |(row, column)| {
        from[column].map_or(T::default(), |j| view[[row, j]])
    })
}

fn renumbered(sparse: &SparseMatrix, from: &[Option<usize>]) -> SparseMatrix {
    let mut to = vec![0_u32; sparse.cols];
    for (column, j) in from.iter().enumerate() {
        if let Some(j) = j {
            to[*j] = column as u32;
        }
    }
    let mut out = SparseMatrix::empty(sparse.rows, from.len(), sparse.values.len());
    for row in 0..sparse.rows {
        let (columns, values) = sparse.row(row);
        let entries = columns.iter().zip(values).map(|(&j, &v)| (to[j as usize], v));
        let mut entries: Vec<(u32, f64)> = entries.collect();
        entries.sort_by_key(|&(column, _)| column);
        out.push_row(entries.into_iter());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn columns_follow_their_names_and_absent_ones_are_zero() {
        let x = array![[1.0, 2.0], [3.0, 4.0]];
        let from = [Some(1), None, Some(0)];
        let expected = array![[2.0, 0.0, 1.0], [4.0, 0.0, 3.0]];
        assert_eq!(picked(x.view(), &from), expected);
        let sparse =
            SparseMatrix::from_entries(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 1, 4.0)]);
        let moved = renumbered(&sparse, &from);
        assert_eq!(moved.row(0), (&[0, 2][..], &[2.0, 1.0][..]));
        assert_eq!(moved.cols, 3);
    }
}
