//! What the options ask of the columns of a table, and a model's recipe where they are silent.

use std::collections::HashSet;

use super::columns;
use super::options::{Bins, ReadOptions};
use super::recipe::TableRecipe;

/// What the options ask of the columns, and a model's recipe where they are silent.
pub(crate) struct Wishes<'a> {
    pub(crate) group_by: Vec<String>,
    pub(crate) group_by_each: Vec<String>,
    pub(crate) weights: Option<String>,
    pub(crate) one_hot: Vec<String>,
    pub(crate) bins: Vec<Bins>,
    pub(crate) drop: Vec<String>,
    recipe: Option<&'a TableRecipe>,
}

impl<'a> Wishes<'a> {
    /// What the options ask of a table with this header.
    pub(crate) fn of(options: &'a ReadOptions, header: &[String]) -> Self {
        let recipe = options.recipe.as_ref();
        let known: HashSet<&String> = recipe.iter().flat_map(|_| header).collect();
        let there = |names: &[String]| -> Vec<String> {
            names.iter().filter(|name| known.contains(name)).cloned().collect()
        };
        let mut group_by = columns::resolve(&options.group_by, header);
        let mut group_by_each = columns::resolve(&options.group_by_each, header);
        let mut weights = options.weights.clone();
        let mut one_hot = columns::resolve(&options.one_hot, header);
        let mut drop = columns::resolve(&options.drop, header);
        let mut bins = options.bins.clone();
        if let Some(recipe) = recipe {
            if group_by.is_empty() && group_by_each.is_empty() && options.groups.is_none() {
                group_by = there(&recipe.group_by);
                group_by_each = there(&recipe.group_by_each);
            }
            weights = weights.or_else(|| there(recipe.weights.as_slice()).pop());
            let more = recipe.one_hot.iter().map(|(name, _)| name);
            one_hot
                .extend(more.filter(|name| !one_hot.contains(name)).cloned().collect::<Vec<_>>());
            let asked = |column: &String| bins.iter().any(|bins| bins.column == *column);
            let more = recipe.bins.iter().filter(|(column, _)| !asked(column));
            let more: Vec<Bins> = more.map(Bins::of).collect();
            bins.extend(
                more.into_iter()
                    .filter(|b| group_by.contains(&b.column) || one_hot.contains(&b.column)),
            );
            // What makes no features may be there or not.
            let not_features = [&recipe.drop[..], &recipe.group_by, &recipe.group_by_each];
            let not_features = [not_features.concat(), recipe.weights.iter().cloned().collect()];
            let used = [&group_by, &group_by_each, &drop].into_iter().flatten();
            let used: HashSet<&String> = used.chain(weights.as_ref()).collect();
            let more = there(&not_features.concat());
            let more: Vec<String> = more.into_iter().filter(|name| !used.contains(name)).collect();
            drop.extend(more);
        }
        for bins in &bins {
            let column = &bins.column;
            let named = [&group_by, &group_by_each, &one_hot].iter().any(|n| n.contains(column));
            if !named {
                group_by.push(column.clone());
            }
        }
        Self { group_by, group_by_each, weights, one_hot, bins, drop, recipe }
    }

    /// The values that the model knows of a one-hot column.
    pub(crate) fn values_of(&self, name: &str) -> Option<&Vec<String>> {
        let known = self.recipe?.one_hot.iter().find(|(column, _)| column == name)?;
        Some(&known.1)
    }

    /// Texts that mean "no value".
    pub(crate) fn na_values(options: &ReadOptions) -> Vec<String> {
        let mut values = options.na_values.clone();
        let more = options.recipe.iter().flat_map(|recipe| &recipe.na_values);
        values.extend(more.cloned());
        values
    }
}
