//! What a model keeps of how its features were made, so that new data become the same features.

use serde::{Deserialize, Serialize};

use crate::{Dataset, Failure, TextOptions};

/// How the documents behind a model became its features, where it was fitted to documents.
///
/// # Errors
/// If what it keeps cannot be read, or does not fit its number of features; the model `path` is
/// to blame.
pub fn kept(
    stored: Option<&str>,
    features: usize,
    path: &str,
) -> Result<Option<TextOptions>, Failure> {
    let Some(stored) = stored else { return Ok(None) };
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
        Some(terms) if terms == features => Ok(Some(recipe)),
        found => Err(broken(format!(
            "frequencies of {} terms for {} features",
            found.unwrap_or(0),
            features
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
pub fn keep(dataset: &Dataset) -> Option<String> {
    let recipe = dataset.recipe.clone()?;
    let text = serde_json::to_string(&Preparation::Text(recipe));
    Some(text.expect("options are words and finite numbers"))
}
