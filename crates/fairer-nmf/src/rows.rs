//! The door to the rows: who holds X and W, and runs the pass.
//!
//! The loop owns neither. It sends a dictionary through the door and gets per-group statistics
//! back; in memory, on disk or on other machines is the holder's business. Here live the trait, what
//! is asked through it, and the holders in memory and in blocks; no algorithm does.

mod blocks;
mod digest;
mod filled;
mod memory;
mod moments;
mod origin;
pub(crate) mod pass;
mod request;
mod share;
mod spread;
#[cfg(test)]
mod tests;
mod together;

pub use blocks::{Block, BlockSource, Blocks, FeatureScaling, GroupCodes, in_blocks};
pub(crate) use memory::{Units, hold};
pub use moments::{Moments, Products};
pub use origin::Origin;
pub(crate) use request::Begin;
pub use request::Request;
pub use share::Share;
pub use spread::{Shares, Spread};
pub use together::Gathering;
pub(crate) use together::side_by_side;

pub use crate::data::Representation;
pub use crate::dictionary::Dictionary;
use crate::number::Number;
pub use crate::penalties::Cost;
pub use crate::statistics::Statistics;
use crate::update::Update;
use crate::{Error, GroupedData, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// What a pass does with the rows of W before it forms the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RowStep {
    /// Leave W as it is.
    Keep,
    /// Update it for the given dictionary.
    Update(Update),
    /// Go a share of the way, between 0 and 1, to the updated rows.
    Toward {
        /// The update.
        update: Update,
        /// The share.
        share: f64,
    },
    /// Update it where its entries cost something.
    Penalised {
        /// The update.
        update: Update,
        /// The cost, in the holder's units.
        cost: Cost,
    },
}

impl RowStep {
    /// The best rows for a dictionary.
    pub const EXACT: Self = Self::Update(Update::Nnls);

    /// The update and how far to go, if any.
    fn parts(self) -> Option<(Update, f64)> {
        match self {
            Self::Keep => None,
            Self::Update(update) | Self::Penalised { update, .. } => Some((update, 1.0)),
            Self::Toward { update, share } => Some((update, share)),
        }
    }

    /// What the entries of W cost, where they cost anything.
    fn cost(self) -> Option<Cost> {
        match self {
            Self::Penalised { cost, .. } => Some(cost),
            _ => None,
        }
    }
}

/// Where W begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RowStart<'a> {
    /// Zero: the first pass makes the rows.
    Zero,
    /// Uniform on [0, 1); a row's numbers depend on (seed, restart, key of the row) alone.
    Random {
        /// The seed.
        seed: u64,
        /// Number of the restart.
        restart: u64,
    },
    /// Given (m×r), rows in the order of the data.
    Given(ArrayView2<'a, f64>),
    /// The rows of a run near by, of which exact ones are found sooner than from zero, and the same. Who can read no
    /// such rows begins at zero.
    Near(Held<'a>),
}

/// W as a holder has it, for runs beside: its own rows in its own order.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    entries: Entries<'a>,
    times: usize,
}

#[derive(Clone, Copy, Debug)]
enum Entries<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> From<&'a [f32]> for Held<'a> {
    fn from(w: &'a [f32]) -> Self {
        Self { entries: Entries::F32(w), times: 1 }
    }
}

impl<'a> From<&'a [f64]> for Held<'a> {
    fn from(w: &'a [f64]) -> Self {
        Self { entries: Entries::F64(w), times: 1 }
    }
}

impl Held<'_> {
    /// Every column this often, side by side.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// In the number type of the one who begins.
    fn entries<T: Number>(self) -> Vec<T> {
        let times = |value: f64| std::iter::repeat_n(T::from_f64(value), self.times);
        match self.entries {
            Entries::F32(w) => w.iter().flat_map(|&v| times(f64::from(v))).collect(),
            Entries::F64(w) => w.iter().flat_map(|&v| times(v)).collect(),
        }
    }
}

/// What the loop knows of a group's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowGroup {
    /// The label that its rows carry.
    pub name: String,
    /// Their number.
    pub rows: usize,
    /// ‖X_ℓ‖², in the holder's units.
    pub squared_norm: f64,
}

impl RowGroup {
    /// N_ℓ = ‖X_ℓ‖ in the holder's units, positive by validation.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.squared_norm.sqrt()
    }
}

/// Who holds the rows of X and of W.
///
/// X is seen in the holder's units: the user's data times [`Rows::unit`]. So is H. A failure to
/// reach the rows is an error of the holder and ends the run.
pub trait Rows: Send + Sync {
    /// The groups, in their order in every result.
    fn groups(&self) -> &[RowGroup];
    /// Number of features n.
    fn features(&self) -> usize;
    /// What the user's data were multiplied by.
    fn unit(&self) -> f64;
    /// Smallest relative squared error that the statistics can be trusted with; below it the
    /// residual is asked for.
    fn trusted_squared_error(&self) -> f64;

    /// ‖X‖² over all rows, in the holder's units, where a row may be in several groups; none where no row
    /// is, and the groups' add up.
    fn overlap(&self) -> Option<f64> {
        None
    }

    /// How many rows there are, each counted once and with its weight.
    fn mass(&self) -> f64 {
        count(self) as f64
    }

    /// Whether every cell is observed; what needs all of them, as the bound does, is then left out.
    fn is_complete(&self) -> bool {
        true
    }

    /// Makes W anew, with `rank` columns.
    ///
    /// # Errors
    /// As [`Rows::pass`].
    fn begin(&mut self, rank: usize, start: RowStart<'_>) -> Result<()>;
    /// Updates W for `h` and returns every group's statistics: the one reading of X in an iteration. Where
    /// groups overlap, those of all rows together, each counted once, come last.
    ///
    /// # Errors
    /// The rows cannot be reached.
    fn pass(&mut self, h: &Dictionary, step: RowStep) -> Result<Vec<Statistics>>;
    /// ‖X_ℓ − W_ℓH‖² of one group from the residual itself, where statistics cancel; where groups overlap,
    /// the number after the last group's stands for all rows.
    ///
    /// # Errors
    /// As [`Rows::pass`].
    fn squared_error(&self, group: usize, h: &Dictionary) -> Result<f64>;
    /// ‖x_i − w_iH‖² of the rows of every group, in the order of the group's rows.
    ///
    /// # Errors
    /// As [`Rows::pass`].
    fn row_squared_errors(&self, h: &Dictionary) -> Result<Vec<Vec<f64>>>;
    /// W, in the user's order.
    ///
    /// # Errors
    /// As [`Rows::pass`].
    fn representation(&self) -> Result<Representation>;
    /// The second statistic that adds over rows: what the bound asks for.
    fn moments(&self) -> Box<dyn Moments + '_>;

    /// A number that other entries, or rows in another order or other groups, do not have; the same with whoever holds the data.
    ///
    /// # Errors
    /// As [`Rows::pass`].
    fn digest(&self) -> Result<u64>;

    /// The same rows with a W of their own, not begun: for runs side by side.
    fn apart(&self) -> Box<dyn Rows + '_>;
    /// Group ℓ alone, in units in which its norm is usual.
    fn only(&self, group: usize) -> Box<dyn Rows + '_>;
    /// The same rows under other labels, in units as a fit of them alone has, with a W of their own, not begun: groups by
    /// name, with their rows by number in the data, each in one group at the most. What folds, random groups and shuffles are.
    ///
    /// # Errors
    /// A group of zeros, or a holder whose rows keep the labels that they came with.
    fn relabel(&self, groups: Vec<(String, Vec<usize>)>) -> Result<Box<dyn Rows + '_>> {
        let _ = groups;
        let reason = "rows that are not in memory keep their labels: what draws or folds them anew needs them there";
        Err(Error::Rows { reason: reason.to_owned() })
    }

    /// Features that no row here has a value of, where cells are unobserved.
    fn unknown_features(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Whether W is at hand, so that checkpoints have it: [`Rows::save`] and [`Rows::restore`].
    fn keeps_rows(&self) -> bool {
        false
    }
    /// How W can be made anew from one dictionary; none where that does not tell it.
    fn origin(&self) -> Option<&Origin> {
        None
    }
    /// Writes W for a checkpoint: 64-bit numbers, the rows of all groups in the order of the data.
    ///
    /// # Errors
    /// It cannot be written, or the holder keeps no checkpoints.
    fn save(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let _ = out;
        Err(std::io::Error::other("these rows are held by somebody who keeps no checkpoints"))
    }
    /// Makes W, with `rank` columns, what [`Rows::save`] wrote.
    ///
    /// # Errors
    /// It cannot be read.
    fn restore(&mut self, rank: usize, from: &mut dyn std::io::Read) -> std::io::Result<()> {
        let _ = (rank, from);
        Err(std::io::Error::other("these rows are held by somebody who keeps no checkpoints"))
    }

    /// W, where it can be read for runs near by: [`RowStart::Near`].
    fn held(&self) -> Option<Held<'_>> {
        None
    }

    /// Whom runs side by side wait at, where one read serves them all.
    fn gathering(&self) -> Option<&dyn Gathering> {
        None
    }
}

/// Writes the rows of W (k×r) in this order.
fn save_rows<T: Number>(
    w: &[T],
    rank: usize,
    order: impl Iterator<Item = usize>,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    for value in order.flat_map(|row| &w[row * rank..(row + 1) * rank]) {
        out.write_all(&value.to_f64().to_le_bytes())?;
    }
    Ok(())
}

/// Reads them back.
fn restore_rows<T: Number>(
    w: &mut [T],
    rank: usize,
    order: impl Iterator<Item = usize>,
    from: &mut dyn std::io::Read,
) -> std::io::Result<()> {
    let mut number = [0; 8];
    for row in order {
        for value in &mut w[row * rank..(row + 1) * rank] {
            from.read_exact(&mut number)?;
            *value = T::from_f64(f64::from_le_bytes(number));
        }
    }
    Ok(())
}

/// Positions in a list of different rows, in rising order of the rows.
fn rising(rows: &[usize]) -> impl Iterator<Item = usize> + use<> {
    let mut order: Vec<(usize, usize)> = rows.iter().copied().zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at)
}

/// How many rows a holder has, each in every group that it is in.
fn count<R: Rows + ?Sized>(rows: &R) -> usize {
    rows.groups().iter().map(|g| g.rows).sum()
}

/// Numbers of W that a holder keeps for a rank.
pub(crate) fn entries(rows: &dyn Rows, rank: usize) -> usize {
    count(rows) * rank
}

/// ‖X‖², every row counted once, in the holder's units.
pub(crate) fn squared_norm(rows: &dyn Rows) -> f64 {
    rows.overlap().unwrap_or_else(|| rows.groups().iter().map(|g| g.squared_norm).sum())
}

/// The statistics of every group for a given W (m×r, rows in the order of the data), in the units of
/// the data: what [`min_max_step`](crate::weights::min_max_step) is fed with.
///
/// # Errors
/// A W of another number of rows.
pub fn group_statistics(
    data: &GroupedData<'_>,
    representation: ArrayView2<'_, f64>,
) -> Result<Vec<Statistics>> {
    let mut found = all_statistics(data, representation)?;
    found.truncate(data.groups().len());
    Ok(found)
}

/// [`group_statistics`] and, where groups overlap, the statistics of all rows.
pub(crate) fn all_statistics(
    data: &GroupedData<'_>,
    representation: ArrayView2<'_, f64>,
) -> Result<Vec<Statistics>> {
    let (found_rows, rank) = representation.dim();
    if found_rows != data.rows() || rank == 0 {
        let (rows, columns) = (data.rows(), rank.max(1));
        let what = "the representation";
        return Err(Error::Shape { what, found_rows, found_columns: rank, rows, columns });
    }
    let mut rows = hold(data, Units::Given);
    rows.begin(rank, RowStart::Given(representation))?;
    rows.pass(&Dictionary::zero(rank, data.features()), RowStep::Keep)
}
