//! What factors achieve, group by group.

use crate::Element;
use crate::data::GroupedData;
use crate::dictionary::Dictionary;
use crate::pass;
use crate::statistics::Statistics;
use crate::stopping::Measured;
use ndarray::Array2;

/// Errors and losses of all groups; directly from the residual where the statistics cannot tell.
pub(crate) fn measure<T: Element>(
    data: &GroupedData<'_, T>,
    statistics: &[Statistics],
    h: &Dictionary,
    w: &[T],
    baselines: &[f64],
) -> Measured {
    let gram = h.gram();
    let mut offset = 0;
    let mut errors = Vec::with_capacity(statistics.len());
    for (l, (group, s)) in data.groups().iter().zip(statistics).enumerate() {
        let length = group.rows.len() * h.rank;
        let mut squared = s.squared_error(h, &gram);
        if squared < T::TRUSTED_SQUARED_ERROR * group.squared_norm {
            squared = pass::direct_squared_error(data, l, h, &w[offset..offset + length]);
        }
        errors.push(squared.sqrt());
        offset += length;
    }
    let norms = data.groups().iter().map(|g| g.norm());
    let relative_errors: Vec<f64> = errors.iter().zip(norms.clone()).map(|(e, n)| e / n).collect();
    let losses = errors.iter().zip(baselines).zip(norms).map(|((e, b), n)| (e - b) / n).collect();
    Measured { errors, relative_errors, losses }
}

/// W with its rows where the data has them.
pub(crate) fn in_row_order<T: Element>(
    data: &GroupedData<'_, T>,
    w: &[T],
    rank: usize,
) -> Array2<T> {
    let mut out = Array2::from_elem((data.rows(), rank), T::default());
    let rows = data.groups().iter().flat_map(|g| &g.rows);
    for (&row, values) in rows.zip(w.chunks_exact(rank)) {
        out.row_mut(row).iter_mut().zip(values).for_each(|(o, &v)| *o = v);
    }
    out
}
