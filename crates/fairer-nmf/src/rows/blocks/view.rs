//! What a holder sees of the rows in blocks.

use super::{Core, RowGroup};

/// The groups that a holder sees, and in which units.
pub(super) struct View {
    /// Their numbers among all groups.
    pub members: Vec<usize>,
    pub groups: Vec<RowGroup>,
    pub unit: f64,
    /// Factor of every feature, the unit included.
    pub scale: Option<Vec<f64>>,
    /// Rows of these groups before every block, and in all.
    pub before: Vec<usize>,
}

impl View {
    fn new<T>(
        core: &Core<T>,
        members: Vec<usize>,
        groups: Vec<RowGroup>,
        unit: f64,
        scale: Option<Vec<f64>>,
    ) -> Self {
        let mut before = vec![0];
        for counts in &core.counts {
            let here: usize = members.iter().map(|&l| counts[l]).sum();
            before.push(before[before.len() - 1] + here);
        }
        Self { members, groups, unit, scale, before }
    }

    /// The same times a number.
    pub fn times<T>(
        core: &Core<T>,
        members: Vec<usize>,
        groups: &[RowGroup],
        unit: f64,
        by: f64,
        scale: Option<&[f64]>,
    ) -> Self {
        let scale = match by == 1.0 {
            true => scale.map(<[f64]>::to_vec),
            false => Some(scale.map_or_else(
                || vec![by; core.features],
                |scale| scale.iter().map(|s| s * by).collect(),
            )),
        };
        let groups =
            groups.iter().map(|g| RowGroup { squared_norm: g.squared_norm * by * by, ..g.clone() });
        Self::new(core, members, groups.collect(), unit * by, scale)
    }
}
