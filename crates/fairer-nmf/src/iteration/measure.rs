//! What factors achieve, group by group.

use crate::Result;
use crate::criterion::Criterion;
use crate::dictionary::Dictionary;
use crate::measured::Measured;
use crate::rows::Rows;
use crate::statistics::Statistics;

/// Errors and losses of all groups; directly from the residual where the statistics cannot tell.
pub(crate) fn measure(
    rows: &dyn Rows,
    statistics: &[Statistics],
    h: &Dictionary,
    criteria: &[Criterion],
) -> Result<Measured> {
    let gram = h.gram();
    let mut errors = Vec::with_capacity(statistics.len());
    let squared_error = |l: usize, squared_norm: f64| -> Result<f64> {
        match statistics[l].squared_error(h, &gram) {
            squared if squared < rows.trusted_squared_error() * squared_norm => {
                rows.squared_error(l, h)
            }
            squared => Ok(squared),
        }
    };
    for (l, group) in rows.groups().iter().enumerate() {
        errors.push(squared_error(l, group.squared_norm)?.sqrt());
    }
    let whole = rows.overlap().map(|norm| squared_error(errors.len(), norm)).transpose()?;
    let relative = errors.iter().zip(rows.groups()).map(|(e, g)| e / g.norm());
    let losses = errors.iter().zip(criteria).map(|(e, c)| c.loss(*e)).collect();
    Ok(Measured { relative_errors: relative.collect(), losses, errors, whole })
}

/// The paper's criterion of every group: baselines E_ℓ, in the holder's units, and N_ℓ.
pub(crate) fn criteria(rows: &dyn Rows, baselines: &[f64]) -> Vec<Criterion> {
    let of_group =
        |(g, &offset): (&crate::rows::RowGroup, &f64)| Criterion { offset, scale: g.norm() };
    rows.groups().iter().zip(baselines).map(of_group).collect()
}
