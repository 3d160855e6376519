//! The first read: everything is checked, and features and groups are measured.

use super::read::IN_FLIGHT;
use super::store::Room;
use super::{BlockSource, Core, GroupCodes};
use crate::data::{Element, SMALLEST_SQUARED_NORM, check_scale, feature_scale};
use crate::number::Number;
use crate::rows::RowGroup;
use crate::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

/// What happens to the features before anything is measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureScaling {
    /// Unit ℓ2 norm over all rows, as in the paper.
    Unit,
    /// Nothing.
    AsTheyAre,
    /// Given factors, as remembered from other data.
    Given(Vec<f64>),
}

/// The data as all views share it, and the groups in the user's units.
pub(super) type Surveyed<T> = (Core<T>, Vec<RowGroup>);

pub(super) fn survey<T: Element>(
    source: Box<dyn BlockSource<T>>,
    groups: GroupCodes,
    scaling: &FeatureScaling,
    budget: usize,
) -> Result<Surveyed<T>> {
    let mut firsts = vec![0];
    for rows in source.block_rows() {
        firsts.push(firsts[firsts.len() - 1] + rows);
    }
    let (rows, features) = (firsts[firsts.len() - 1], source.features());
    if rows == 0 || features == 0 {
        return Err(Error::EmptyMatrix { rows, columns: features });
    }
    if groups.codes.len() != rows {
        return Err(Error::LabelCount { labels: groups.codes.len(), rows });
    }
    let blocks = IN_FLIGHT * source.block_bytes();
    let mut core = Core {
        source,
        groups,
        counts: Vec::new(),
        firsts,
        features,
        scale: None,
        sparse: false,
        stored: 0,
        budget,
        room: Room::new(budget.saturating_sub(blocks) / 2),
        buffers: Mutex::default(),
        ahead: Mutex::default(),
        workers: Mutex::default(),
        together: Default::default(),
        reads: AtomicUsize::new(0),
    };
    let (squares, counts, stored, sparse) = first_read(&core)?;
    (core.counts, core.stored, core.sparse) = (counts, stored, sparse);
    core.scale = match scaling {
        FeatureScaling::AsTheyAre => None,
        FeatureScaling::Given(scale) => {
            check_scale(scale, features)?;
            Some(scale.clone())
        }
        FeatureScaling::Unit => {
            let mut sums = vec![0.0; features];
            squares.iter().for_each(|own| sums.iter_mut().zip(own).for_each(|(s, o)| *s += o));
            Some(feature_scale(&sums))
        }
    };
    let groups = groups_with_norms(&core, &squares)?;
    Ok((core, groups))
}

/// Σ x² of every column of every group, rows of every group in every block, stored entries, and
/// whether rows are sparse.
type Found = (Vec<Vec<f64>>, Vec<Vec<usize>>, usize, bool);

fn first_read<T: Number>(core: &Core<T>) -> Result<Found> {
    let n = core.features;
    let mut squares = vec![vec![0.0; n]; core.groups.names.len()];
    let (mut counts, mut stored, mut kind) = (Vec::new(), 0, None);
    core.each_block(|number, block| {
        if *kind.get_or_insert(block.is_sparse()) != block.is_sparse() {
            let reason = "some blocks are dense and some sparse: make them all alike".to_owned();
            return Err(Error::Rows { reason });
        }
        stored += block.values.len();
        let codes = &core.groups.codes[core.firsts[number]..core.firsts[number + 1]];
        let matrix = block.matrix(codes.len(), n);
        let mut here = vec![0; squares.len()];
        for (row, &code) in codes.iter().enumerate() {
            here[code as usize] += 1;
            let own = &mut squares[code as usize];
            matrix.for_each_in_row(row, |j, x| own[j] += x.to_f64() * x.to_f64());
        }
        counts.push(here);
        Ok(())
    })?;
    Ok((squares, counts, stored, kind.unwrap_or(false)))
}

/// The groups with their norms after scaling; none may be empty, zero or out of range.
fn groups_with_norms<T>(core: &Core<T>, squares: &[Vec<f64>]) -> Result<Vec<RowGroup>> {
    let scale = core.scale.as_deref();
    let of_group = |(l, name): (usize, &String)| {
        let group = || name.clone();
        let rows = core.counts.iter().map(|counts| counts[l]).sum();
        let factor = |j: usize| scale.map_or(1.0, |s| s[j] * s[j]);
        let squared_norm: f64 = squares[l].iter().enumerate().map(|(j, s)| s * factor(j)).sum();
        if rows == 0 {
            return Err(Error::EmptyGroup { group: group() });
        }
        if !squared_norm.is_finite() {
            return Err(Error::Overflow { group: group() });
        }
        if squared_norm < SMALLEST_SQUARED_NORM {
            return Err(match squares[l].iter().all(|s| *s == 0.0) {
                true => Error::ZeroGroup { group: group() },
                false => Error::Underflow { group: group() },
            });
        }
        Ok(RowGroup { name: group(), rows, squared_norm })
    };
    core.groups.names.iter().enumerate().map(of_group).collect()
}
