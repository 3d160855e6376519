//! What a method costs all rows together, where that is clearly more than standard NMF, and for whom.

use fairer_nmf::{GroupedData, Model, Note, Warning};

use super::Outcome;

/// A sentence for every group that methods were bent for.
pub(super) fn warnings(data: &GroupedData<'_>, standard: &Model, methods: &[Outcome]) -> Vec<Note> {
    let total = standard.total_error() / data.squared_norm().sqrt();
    let rises = methods.iter().filter_map(|method| {
        let groups = standard.groups.iter().zip(&method.relative_errors);
        let falls = groups.map(|(g, error)| (&g.name[..], g.rows, g.relative_error - error));
        let rise = Warning::of_helped(falls, method.total_error, total)?;
        Some((method.title.to_owned(), rise))
    });
    Warning::said_of_several(&rises.collect::<Vec<_>>())
}
