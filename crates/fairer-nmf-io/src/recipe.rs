//! What a model keeps of how its features were made, so that new data become the same features.

use serde::{Deserialize, Serialize};

use crate::written::Decimal;
use crate::{Failure, TextOptions};

/// Cells that are empty, `?`, `-`, `NA`, `N/A`, `NaN`, `null`, `k.A.` or an error of Excel (`#NV`,
/// `#N/A`, …) have no value, and neither has NaN in a matrix. What then?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// An error that names the first of them; for a matrix it comes from the library, which looks
    /// at every entry.
    #[default]
    Error,
    /// Leave out their rows, and say so in a note.
    DropRows,
    /// Take features without a value as unobserved; what says the group of a row still needs one.
    Unobserved,
}

/// How a table became the features of a model: what another table needs to become the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableRecipe {
    /// Columns that were left out.
    pub drop: Vec<String>,
    /// Columns that made the groups.
    pub group_by: Vec<String>,
    /// Columns that were each a family of groups.
    pub group_by_each: Vec<String>,
    /// The column of the rows' weights.
    pub weights: Option<String>,
    /// Columns that became one 0/1 column a value, with their values in order.
    pub one_hot: Vec<(String, Vec<String>)>,
    /// Columns that were cut into ranges, and where.
    pub bins: Vec<(String, Vec<f64>)>,
    /// The decimal mark, where it is no point.
    pub decimal: Option<Decimal>,
    /// What was done with rows that have missing cells.
    pub missing: Missing,
    /// Texts that mean "no value", besides those that always do.
    pub na_values: Vec<String>,
    /// Whether labels that differ in case or blanks only were counted as one.
    pub merge_spellings: bool,
}

impl TableRecipe {
    /// For who does not ask for groups: the columns that made or weighed them are left out.
    #[must_use]
    pub fn without_groups(mut self) -> Self {
        self.drop.append(&mut self.group_by);
        self.drop.append(&mut self.group_by_each);
        self.drop.extend(self.weights.take());
        self
    }
}

/// How the data behind a model became its features, as far as it tells.
///
/// # Errors
/// If what it keeps cannot be read, or does not fit its number of features; the model `path` is
/// to blame.
// Compiled where it is called, as JSON into fields and back is long: with what effort is due there.
#[inline]
pub fn kept(stored: Option<&str>, features: usize, path: &str) -> Result<Preparation, Failure> {
    let Some(stored) = stored else { return Ok(Preparation::default()) };
    let broken = |what: String| {
        let data = if stored.contains("\"text\"") { "documents" } else { "table" };
        Failure::wrong(format!(
            "{path}: how its {data} became features cannot be read ({what}): fit the model again"
        ))
    };
    let elsewhere = |stored: &serde_json::Value| stored["text"]["stop_words"].get("File").is_some();
    let found: Preparation = match serde_json::from_str(stored) {
        Ok(preparation) => preparation,
        Err(_) if serde_json::from_str(stored).is_ok_and(|stored| elsewhere(&stored)) => {
            return Err(broken("its stop words are in another file, which is never opened".into()));
        }
        Err(e) => return Err(broken(e.to_string())),
    };
    let counted = |text: &TextOptions| text.fitted.as_ref().map_or(0, |f| f.with_term.len());
    if let Some(fitted) = found.text.as_ref().and_then(|text| text.fitted.as_ref())
        && let Some(most) = fitted.with_term.iter().max()
        && *most as usize > fitted.documents
    {
        let documents = fitted.documents;
        return Err(broken(format!("a term is in {most} of {documents} documents")));
    }
    match found.text.as_ref().map(counted) {
        Some(terms) if terms != features => {
            Err(broken(format!("frequencies of {terms} terms for {features} features")))
        }
        _ => Ok(found),
    }
}

/// What a model keeps of how its features were made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Preparation {
    /// Documents to TF-IDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextOptions>,
    /// The columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableRecipe>,
}

impl Preparation {
    /// As a model keeps it.
    #[must_use]
    #[inline]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("options are words and finite numbers")
    }
}
