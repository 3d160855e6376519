//! What was done to the features.

use serde::Serialize;

/// By what features were scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalized {
    /// To unit length.
    Features,
    /// By nothing.
    #[default]
    None,
    /// By the factors of a model.
    Model,
}

impl Normalized {
    /// In files and on pages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::None => "none",
            Self::Model => "model",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for how in [Normalized::Features, Normalized::None, Normalized::Model] {
            assert_eq!(serde_json::to_string(&how).unwrap(), format!("\"{}\"", how.name()));
        }
    }
}
