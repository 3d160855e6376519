//! The holder of rows that are spread over processes: it asks all shares, and adds.
//!
//! What crosses is a dictionary one way and the sums of every group the other, whatever the number
//! of rows. Where the shares are, and how questions reach them, is a [`Shares`]' business.

mod moments;
#[cfg(test)]
mod tests;

use super::digest::{PARTS, from_parts};
use super::moments::Moments;
use super::origin::{Origin, Trace};
use super::request::{Ask, Begin, Head, Recipe, Request};
use super::{FeatureScaling, Representation, RowGroup, RowStart, RowStep, Rows};
use crate::data::{SMALLEST_SQUARED_NORM, check_scale, feature_scale, own_unit, usual_unit};
use crate::dictionary::Dictionary;
use crate::number::Number;
use crate::statistics::Statistics;
use crate::{Error, Result};
use moments::SpreadMoments;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who reaches the shares.
pub trait Shares: Send + Sync {
    /// Asks every share and adds up what they answer. A share that has lost its W
    /// ([`Share::answer`](super::Share::answer) gives none) is asked again with the whole question.
    ///
    /// # Errors
    /// A share cannot be reached, or refuses.
    fn sum(&self, request: &Request) -> Result<Vec<f64>>;
}

/// What is the same for all runs.
#[derive(Debug)]
struct About {
    /// All groups, in the holder's units.
    groups: Vec<RowGroup>,
    features: usize,
    /// Factors of the features, the unit included.
    scale: Vec<f64>,
    /// Without it; none where features are as given.
    given: Option<Vec<f64>>,
    unit: f64,
    trusted: f64,
    rounding: f64,
    /// Stored entries, and Σ stored² over rows.
    stored: (f64, f64),
    runs: AtomicU64,
    over: Mutex<Vec<u64>>,
}

impl About {
    fn over(&self) -> MutexGuard<'_, Vec<u64>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows that are spread over processes.
pub struct Spread<'a> {
    shares: &'a dyn Shares,
    about: Arc<About>,
    groups: Vec<RowGroup>,
    unit: f64,
    run: u64,
    version: u64,
    recipe: Arc<Recipe>,
    trace: Trace,
}

impl<'a> Spread<'a> {
    /// Asks what the shares have: one or two readings of all rows. `names` are those of all
    /// groups; `single` tells that the data are f32.
    ///
    /// # Errors
    /// A group without rows or of zeros only, entries whose squares overflow or vanish, factors
    /// that do not fit, or shares that cannot be reached.
    pub fn new(
        shares: &'a dyn Shares,
        names: Vec<String>,
        features: usize,
        single: bool,
        scale: FeatureScaling,
    ) -> Result<Self> {
        let found = Surveyed::of(shares, names.len(), features, &[])?;
        let unit_norms = scale == FeatureScaling::Unit;
        let given = match scale {
            FeatureScaling::AsTheyAre => None,
            FeatureScaling::Unit => Some(feature_scale(&found.columns)),
            FeatureScaling::Given(factors) => Some(factors),
        };
        let norms = match &given {
            None => found.norms.clone(),
            Some(scale) => {
                check_scale(scale, features)?;
                Surveyed::of(shares, names.len(), features, scale)?.norms
            }
        };
        found.check(&names, &norms)?;
        // As in memory: ‖X‖² = n, which features of norm 1 have.
        let total: f64 = norms.iter().sum();
        let unit = if unit_norms { 1.0 } else { own_unit(features, total) };
        let groups: Vec<RowGroup> = names
            .into_iter()
            .zip(&found.rows)
            .zip(&norms)
            .map(|((name, &rows), norm)| RowGroup {
                name,
                rows: rows as usize,
                squared_norm: norm * unit * unit,
            })
            .collect();
        let scale = match &given {
            Some(scale) => scale.iter().map(|s| s * unit).collect(),
            None => vec![unit; features],
        };
        let (trusted, rounding) = match single {
            true => (f32::TRUSTED_SQUARED_ERROR, f32::ROUNDING),
            false => (f64::TRUSTED_SQUARED_ERROR, f64::ROUNDING),
        };
        let about = About {
            groups,
            features,
            scale,
            given,
            unit,
            trusted,
            rounding,
            stored: (found.stored, found.squares),
            runs: AtomicU64::new(0),
            over: Mutex::new(Vec::new()),
        };
        Ok(Self::run(shares, Arc::new(about), None))
    }

    fn run(shares: &'a dyn Shares, about: Arc<About>, only: Option<usize>) -> Self {
        let run = about.runs.fetch_add(1, Ordering::Relaxed);
        let (mut scale, mut unit, mut groups) =
            (about.scale.clone(), about.unit, about.groups.clone());
        if let Some(l) = only {
            groups = vec![groups.swap_remove(l)];
            // As in memory: a power of two where the group's norm is far from usual.
            let own = usual_unit(about.features, groups[0].squared_norm);
            scale.iter_mut().for_each(|s| *s *= own);
            unit *= own;
            groups[0].squared_norm *= own * own;
        }
        let recipe = Arc::new(Recipe::new(only, scale));
        let trace = Trace::default();
        Self { shares, about, groups, unit, run, version: 0, recipe, trace }
    }

    /// Factors of the features in the user's units, where they are scaled.
    #[must_use]
    pub fn scale(&self) -> Option<&[f64]> {
        self.about.given.as_deref()
    }

    /// The same rows with a W of their own, not begun.
    pub(crate) fn another(&self) -> Self {
        Self::run(self.shares, Arc::clone(&self.about), None)
    }

    /// Of every group and draw, Σ c·‖x_i − w_iH‖² and Σ c·‖x_i‖² over rows, for counts c that are
    /// drawn as [`Ask::Resample`] says.
    pub(crate) fn resampled(&self, h: &Dictionary, draws: usize, seed: u64) -> Result<Vec<f64>> {
        let size = self.groups.len() * draws * 2;
        self.ask(Ask::Resample { draws, seed }, h.values.clone(), size)
    }

    fn ask(&self, ask: Ask, numbers: Vec<f64>, size: usize) -> Result<Vec<f64>> {
        let over = std::mem::take(&mut *self.about.over());
        let head = Head { run: self.run, version: self.version, ask, over };
        let request = Request { head, numbers, recipe: Arc::clone(&self.recipe) };
        checked(self.shares.sum(&request)?, size)
    }

    fn recipe(&mut self) -> &mut Recipe {
        Arc::make_mut(&mut self.recipe)
    }

    /// The shares may forget the W of this run.
    fn end(&self) {
        self.about.over().push(self.run);
    }
}

impl Drop for Spread<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

fn sized(found: Vec<f64>, size: usize) -> Result<Vec<f64>> {
    if found.len() != size {
        let reason = format!(
            "the shares of the rows answered {} numbers where {size} were expected: \
             do all of them have the same features and groups?",
            found.len()
        );
        return Err(Error::Rows { reason });
    }
    Ok(found)
}

fn checked(found: Vec<f64>, size: usize) -> Result<Vec<f64>> {
    let found = sized(found, size)?;
    if found.iter().any(|v| !v.is_finite()) {
        return Err(Error::NotFinite { what: "sums over the rows" });
    }
    Ok(found)
}

impl Rows for Spread<'_> {
    fn groups(&self) -> &[RowGroup] {
        &self.groups
    }

    fn features(&self) -> usize {
        self.about.features
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn trusted_squared_error(&self) -> f64 {
        self.about.trusted
    }

    /// Says how; the first question tells the shares.
    fn begin(&mut self, rank: usize, start: RowStart<'_>) -> Result<()> {
        let begin = Begin::of(start)?;
        self.trace = Trace::begin(start);
        // Another W: another run.
        self.end();
        self.run = self.about.runs.fetch_add(1, Ordering::Relaxed);
        self.version = 0;
        let recipe = self.recipe();
        (recipe.rank, recipe.begin) = (rank, begin);
        recipe.steps.clear();
        recipe.seen.clear();
        recipe.stands_in = false;
        Ok(())
    }

    fn pass(&mut self, h: &Dictionary, step: RowStep) -> Result<Vec<Statistics>> {
        let (r, n) = (h.rank, h.features);
        let size = self.groups.len() * (r * r + n * r);
        let found = self.ask(Ask::Pass { step }, h.values.clone(), size)?;
        self.trace.note(h, step);
        if self.recipe().note(h, step) {
            self.version += 1;
        }
        let of_group = |(numbers, group): (&[f64], &RowGroup)| {
            let (gram, cross) = numbers.split_at(r * r);
            let squared_norm = group.squared_norm;
            Statistics { gram: gram.to_vec(), cross: cross.to_vec(), squared_norm }
        };
        Ok(found.chunks_exact(r * r + n * r).zip(&self.groups).map(of_group).collect())
    }

    fn squared_error(&self, group: usize, h: &Dictionary) -> Result<f64> {
        Ok(self.ask(Ask::SquaredError { group }, h.values.clone(), 1)?[0])
    }

    fn row_squared_errors(&self, _: &Dictionary) -> Result<Vec<Vec<f64>>> {
        Err(stays("errors of single rows"))
    }

    fn representation(&self) -> Result<Representation> {
        Err(stays("the representation"))
    }

    /// The shares keep W; a checkpoint has what makes it anew.
    fn origin(&self) -> Option<&Origin> {
        self.trace.origin()
    }

    fn moments(&self) -> Box<dyn Moments + '_> {
        Box::new(SpreadMoments::new(self))
    }

    fn digest(&self) -> Result<u64> {
        Ok(from_parts(&self.ask(Ask::Digest, Vec::new(), PARTS)?))
    }

    fn apart(&self) -> Box<dyn Rows + '_> {
        Box::new(self.another())
    }

    fn only(&self, group: usize) -> Box<dyn Rows + '_> {
        Box::new(Spread::run(self.shares, Arc::clone(&self.about), Some(group)))
    }
}

fn stays(what: &str) -> Error {
    let reason = format!("{what} stays where the rows are: transform every share with the model");
    Error::Rows { reason }
}

/// What the shares have, added up.
struct Surveyed {
    rows: Vec<f64>,
    stored: f64,
    nonzero: Vec<f64>,
    squares: f64,
    norms: Vec<f64>,
    columns: Vec<f64>,
}

impl Surveyed {
    fn of(shares: &dyn Shares, groups: usize, features: usize, scale: &[f64]) -> Result<Self> {
        let head = Head { run: u64::MAX, version: 1, ask: Ask::Survey, over: Vec::new() };
        let recipe = Recipe::new(None, Vec::new());
        let request = Request { head, numbers: scale.to_vec(), recipe: Arc::new(recipe) };
        let found = sized(shares.sum(&request)?, 4 * groups + 1 + features)?;
        let part = |from: usize, count: usize| found[from..from + count].to_vec();
        Ok(Self {
            rows: part(0, groups),
            stored: part(groups, groups).iter().sum(),
            nonzero: part(2 * groups, groups),
            squares: found[3 * groups],
            norms: part(3 * groups + 1, groups),
            columns: part(4 * groups + 1, features),
        })
    }

    /// Refuses what cannot be fitted, as data in memory do.
    fn check(&self, names: &[String], norms: &[f64]) -> Result<()> {
        for (l, name) in names.iter().enumerate() {
            let group = name.clone();
            if self.rows[l] == 0.0 {
                return Err(Error::EmptyGroup { group });
            }
            if self.nonzero[l] == 0.0 {
                return Err(match names {
                    [_] => Error::ZeroData,
                    _ => Error::ZeroGroup { group },
                });
            }
            if !norms[l].is_finite() {
                return Err(Error::Overflow { group });
            }
            if norms[l] < SMALLEST_SQUARED_NORM {
                return Err(Error::Underflow { group });
            }
        }
        Ok(())
    }
}
