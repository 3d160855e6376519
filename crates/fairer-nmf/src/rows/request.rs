//! What is asked of a share of the rows, in a form that crosses to another process.
//!
//! Every answer is a list of numbers that adds over shares, so that whoever carries questions and
//! answers need know nothing but how to add.

use super::{RowStart, RowStep};
use crate::dictionary::Dictionary;
use crate::update::Update;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One question to every share.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) head: Head,
    /// What the question is about: a dictionary (n×r), columns, weights.
    pub(super) numbers: Vec<f64>,
    /// How to make the W that is asked about.
    pub(super) recipe: Arc<Recipe>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The run whose W is meant.
    pub run: u64,
    /// How often that W has changed: a share that counted otherwise has lost it.
    pub version: u64,
    pub ask: Ask,
    /// Runs that are over: their W can go.
    pub over: Vec<u64>,
}

/// The questions. L groups, r topics, n features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Ask {
    /// Rows, stored entries, entries that are not zero (L each), Σ stored² over rows, ‖X_ℓ‖² (L),
    /// Σ x² of every column without scale (n).
    Survey,
    /// One pass for H: gram (r×r) and cross (n×r) of every group of the run.
    Pass { step: RowStep },
    /// What tells the data from others, in parts.
    Digest,
    /// ‖X_ℓ − W_ℓH‖² of one group of the run.
    SquaredError { group: usize },
    /// G_ℓ (n×n) of every group, for ‖X_ℓ‖².
    Grams,
    /// Σ w_ℓG_ℓV (n×p) and VᵀG_ℓV (p×p) of every group, for ‖X_ℓ‖², w and V (n×p).
    Products { columns: usize },
    /// Σ w_ℓG_ℓ (n×n), for ‖X_ℓ‖² and w.
    Whole,
    /// Of every group and draw, Σ c·‖x_i − w_iH‖² and Σ c·‖x_i‖² over rows, with a count c per row
    /// and draw.
    Resample { draws: usize, seed: u64 },
}

/// How the W of a run comes about: a start, and what it has seen since.
///
/// Exact rows are a function of X and H alone: they take the place of all that was before. The
/// soft steps of a beginning are kept one by one. Rows of the other updates depend on their path, which is
/// kept as long as it is short; after that, exact rows for the last dictionary stand for them, for
/// multiplicative updates, which never leave a zero, with a little of the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Recipe {
    /// Of one group alone.
    pub only: Option<usize>,
    /// Factor of every feature.
    #[serde(skip)]
    pub scale: Vec<f64>,
    pub rank: usize,
    pub begin: Begin,
    pub steps: Vec<RowStep>,
    /// Whether they stand for a path that was too long: then no step is added to them.
    #[serde(skip)]
    pub stands_in: bool,
    /// The dictionaries of the steps.
    #[serde(skip)]
    pub seen: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Begin {
    Zero,
    Random { seed: u64, restart: u64 },
}

impl Begin {
    pub fn of(start: RowStart<'_>) -> Result<Self> {
        match start {
            RowStart::Zero | RowStart::Near(_) => Ok(Self::Zero),
            RowStart::Random { seed, restart } => Ok(Self::Random { seed, restart }),
            RowStart::Given(_) => Err(Error::Rows {
                reason: "rows that are spread over processes cannot begin with a given W: \
                         give components alone, for which every row takes its best coordinates"
                    .to_owned(),
            }),
        }
    }
}

/// Numbers of the dictionaries that a path is kept with: 16 MB a run.
const PATH: usize = 1 << 21;

/// The share of exact rows in what stands for rows of multiplicative updates.
const NEARLY: f64 = 0.99;

/// What a step makes of the way that W has come.
pub(super) enum Trail {
    /// W stays.
    Stays,
    /// A step more.
    Goes,
    /// Nothing else counts any more than this step, and the start where it says so; or it stands for
    /// a path.
    Becomes { step: RowStep, from_start: bool, stands_in: bool },
}

impl Trail {
    pub fn of(step: RowStep) -> Self {
        match step.parts() {
            None => Self::Stays,
            Some((Update::Nnls, share)) if share < 1.0 => Self::Goes,
            Some((Update::Mu, _)) => {
                let step = RowStep::Toward { update: Update::Nnls, share: NEARLY };
                Self::Becomes { step, from_start: true, stands_in: true }
            }
            Some((update @ (Update::Nnls | Update::Hals), _)) => {
                let stands_in = update == Update::Hals;
                Self::Becomes { step: RowStep::EXACT, from_start: false, stands_in }
            }
        }
    }
}

impl Recipe {
    /// Of a W that is not begun.
    pub fn new(only: Option<usize>, scale: Vec<f64>) -> Self {
        let (begin, steps, seen) = (Begin::Zero, Vec::new(), Vec::new());
        Self { only, scale, rank: 0, begin, steps, stands_in: false, seen }
    }

    /// What it takes to have W after a step; whether the step changes W.
    pub fn note(&mut self, h: &Dictionary, step: RowStep) -> bool {
        let short = !self.stands_in && self.seen.len() + h.values.len() <= PATH;
        match Trail::of(step) {
            Trail::Stays => return false,
            Trail::Becomes { stands_in: true, .. } if short => self.go(h, step),
            Trail::Goes => self.go(h, step),
            Trail::Becomes { step, from_start, stands_in } => {
                self.stands_in = stands_in;
                if !from_start {
                    self.begin = Begin::Zero;
                }
                self.steps = vec![step];
                self.seen.clone_from(&h.values);
            }
        }
        true
    }

    fn go(&mut self, h: &Dictionary, step: RowStep) {
        self.steps.push(step);
        self.seen.extend(&h.values);
    }

    /// The steps with their dictionaries.
    pub fn replay(&self) -> impl Iterator<Item = (Dictionary, RowStep)> {
        let (rank, features) = (self.rank, self.scale.len());
        let dictionaries = self.seen.chunks_exact((rank * features).max(1));
        dictionaries
            .zip(&self.steps)
            .map(move |(h, step)| (Dictionary { rank, features, values: h.to_vec() }, *step))
    }
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    head: Head,
    numbers: usize,
    recipe: Option<(Recipe, usize, usize)>,
}

impl Request {
    /// The question as bytes; `whole` with all that makes its W anew, for a share that has lost it.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self, whole: bool) -> Vec<u8> {
        // A W that nothing has happened to is made from its start, by everybody.
        let recipe = (whole || self.head.version == 0).then(|| &*self.recipe);
        let envelope = Envelope {
            head: self.head.clone(),
            numbers: self.numbers.len(),
            recipe: recipe.map(|r| (r.clone(), r.scale.len(), r.seen.len())),
        };
        let mut bytes = vec![0; 8];
        serde_json::to_writer(&mut bytes, &envelope).expect("plain fields, written to memory");
        let length = bytes.len() as u64 - 8;
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        let kept = recipe.map(|r| (&r.scale[..], &r.seen[..])).unwrap_or_default();
        for values in [&self.numbers[..], kept.0, kept.1] {
            bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        }
        bytes
    }

    /// The question behind [`Request::to_bytes`], and whether its W can be made from it.
    #[inline]
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<(Self, bool)> {
        let bad = || Error::Rows {
            reason: "a question to a share of the rows arrived incomplete: \
                     do all processes run the same version of fairer-nmf?"
                .to_owned(),
        };
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| bad())?;
        let (json, rest) = rest.split_at_checked(length).ok_or_else(bad)?;
        let Envelope { head, numbers, recipe } = serde_json::from_slice(json).map_err(|_| bad())?;
        let (words, []) = rest.as_chunks::<8>() else { return Err(bad()) };
        let mut values = words.iter().map(|word| f64::from_le_bytes(*word));
        let mut take = |count: usize| {
            let taken: Vec<f64> = values.by_ref().take(count).collect();
            if taken.len() == count { Ok(taken) } else { Err(bad()) }
        };
        let numbers = take(numbers)?;
        let whole = recipe.is_some();
        let recipe = match recipe {
            Some((recipe, scale, seen)) => {
                Recipe { scale: take(scale)?, seen: take(seen)?, ..recipe }
            }
            None => Recipe::new(None, Vec::new()),
        };
        Ok((Self { head, numbers, recipe: Arc::new(recipe) }, whole))
    }
}
