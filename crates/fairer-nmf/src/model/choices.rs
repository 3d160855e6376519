//! What was chosen that is not the paper's: one list, which terminal, page and JSON show.

use super::Model;
use crate::parameters::{Method, Ties};
use serde::Serialize;

/// A choice under its public name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// As parameters are called, such as `fairness`.
    pub name: &'static str,
    /// As it is typed.
    pub value: String,
}

impl Choice {
    fn new(name: &'static str, value: impl ToString) -> Self {
        Self { name, value: value.to_string() }
    }

    /// A list for a heading: ` with fairness 0.5, ties leximin`; nothing where there are none.
    #[must_use]
    pub fn in_heading(choices: &[Self]) -> String {
        let each: Vec<String> = choices.iter().map(|c| format!("{} {}", c.name, c.value)).collect();
        if each.is_empty() { String::new() } else { format!(" with {}", each.join(", ")) }
    }
}

impl Method {
    /// What it was told that is not the paper's: how fair, what is done among ties, penalties, the share of rows.
    ///
    /// ```
    /// use fairer_nmf::Method;
    /// let choices = Method::between(0.5).choices();
    /// assert_eq!((choices[0].name, choices[0].value.as_str()), ("fairness", "0.5"));
    /// assert!(Method::am().choices().is_empty());
    /// ```
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        match *self {
            Self::Am { ties: Ties::Leximin, .. } => vec![Choice::new("ties", "leximin")],
            Self::Am { fairness, .. } if fairness > 0.0 && fairness < 1.0 => {
                vec![Choice::new("fairness", fairness)]
            }
            Self::Penalised { penalties, .. } => vec![
                Choice::new("alpha_W", penalties.alpha_w),
                Choice::new("alpha_H", penalties.alpha_h.unwrap_or(penalties.alpha_w)),
                Choice::new("l1_ratio", penalties.l1_ratio),
            ],
            Self::WorstShare { share } => vec![Choice::new("worst_share", share)],
            Self::Am { .. } | Self::Weighted { .. } | Self::Standard { .. } => Vec::new(),
        }
    }
}

impl Model {
    /// What was chosen that is not the paper's, of the method and of the data: see [`Method::choices`]; how groups were found, and
    /// that missing cells were taken as unobserved.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let mut choices = self.parameters.method.choices();
        if let Some(found) = &self.found_groups {
            choices.push(Choice::new("discover", found.found_by.name()));
            choices.push(Choice::new("discover_groups", found.groups));
        }
        if self.groups.iter().any(|g| g.observed.is_some()) {
            choices.push(Choice::new("missing", "unobserved"));
        }
        choices
    }
}
