//! What random groups pay: the reference beside every loss.
//!
//! A group's baseline is fitted on its own rows, so that a small group pays by construction. A draw
//! shuffles the labels over all rows, fits every random group a dictionary of its own by the same
//! procedure as the observed ones, and measures
//!
//!   loss = (‖X_m − W_mH‖ − E_m)/‖X_m‖     under the shared H, which knows no labels.
//!
//! E_m is of the kind of the groups' own baselines: the best of a run from H and a random one for `best` and
//! `adjusted`, the paper's mean, zero, or on rows held out. Baselines that were given have no procedure;
//! there it is the best.
//!
//! Its mean over a fixed number of draws, of all groups of that size together, is *chance*; *excess loss* =
//! loss − chance, with mean zero for a group like all others whatever its size. The range holds nine of ten
//! random groups.
//!
//! *Test*: how often does some group of a shuffle exceed chance by as many standard deviations of
//! its size as this one (Westfall and Young 1993: adjusted over groups with their dependence)?
//! Observed and shuffled labels are treated alike, moments included, so that for exchangeable rows
//! p is exact for the fixed number of draws. Draws beyond it are made until [`ENOUGH`] of them are as
//! large (Besag and Clifford 1991), decided in their order. It asks whether a group is like a random
//! one; that it pays more than the others is the question of [`super::difference`].

use crate::parallel::try_map;
use crate::rows::{Units, hold};
use crate::steps::Steps;
use crate::yardsticks::{Alike, Baselines, Draws, Own, Scatter, nine_of_ten};
use crate::{Error, GroupedData, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Draws as large as the observed value after which a p-value needs no more.
const ENOUGH: usize = 10;
/// The largest multiple of the fixed number of draws that a p-value may ask for, and where it decides about evidence.
const AT_MOST: usize = 2;
const TO_DECIDE: usize = 10;
/// Standard deviations of a p-value within which it is not told from the level.
const UNCLEAR: f64 = 1.5;

/// What the p-values are for.
pub(super) struct Wanted {
    /// Level that evidence has to reach.
    pub level: f64,
    /// The groups for which evidence hangs on them alone.
    pub decisive: Vec<bool>,
}

impl Wanted {
    /// Draws at the most for the p-value of group `l`, `draws` being those of the means: so many that it can reach the level, and
    /// more where evidence hangs on it and it lies near that.
    fn most(&self, l: usize, tail: &Tail, draws: usize) -> usize {
        let alpha = (1.0 - self.level).max(1e-4);
        let scatter = (alpha * self.level / tail.draws.max(1) as f64).sqrt();
        let near = (tail.p() - alpha).abs() < UNCLEAR * scatter;
        let decisive = self.decisive.get(l).copied().unwrap_or(false);
        let times = if decisive && near { TO_DECIDE } else { AT_MOST };
        (times * draws).max((1.0 / alpha).ceil() as usize)
    }
}

/// What a random group of one group's size pays. In files mean and range are called as in the rows of results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChance {
    /// The group's loss by the same procedure.
    pub loss: f64,
    /// Mean loss of random groups of its size.
    #[serde(rename = "chance_mean")]
    pub mean: f64,
    /// 5 % of random groups pay less.
    #[serde(rename = "chance_low")]
    pub low: f64,
    /// 5 % of random groups pay more.
    #[serde(rename = "chance_high")]
    pub high: f64,
    /// Loss less that mean.
    pub excess_loss: f64,
    /// How often some group of a shuffle exceeds chance as much, adjusted over the groups.
    pub adjusted_p: f64,
    /// Draws behind the p-value.
    pub p_draws: usize,
}

/// What random groups pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomGroups {
    /// Draws behind means and ranges.
    pub draws: usize,
    /// Draws that were asked for; fewer were made where the time given to them ended.
    pub draws_asked: usize,
    /// Groups, in their order.
    pub groups: Vec<GroupChance>,
    /// The groups' losses against the best baseline, where theirs is of another kind: what the test of
    /// differences is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_losses: Option<Vec<f64>>,
}

/// What the draws may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawBudget {
    /// Draws behind means and ranges, [`DrawBudget::LEAST`] at least; a p-value may ask for twice as many,
    /// for ten times as many where evidence hangs on it and it is near the level. 0 leaves chance out.
    pub draws: usize,
    /// Time for all of them, checked between draws. Other limits on time do not count it.
    pub time: Duration,
}

impl DrawBudget {
    /// Fewer draws have no range that holds nine of ten.
    pub const LEAST: usize = 20;

    /// # Errors
    /// Draws, but too few for what is said of them.
    pub fn check(&self) -> Result<()> {
        if (1..Self::LEAST).contains(&self.draws) {
            return Err(Error::Parameter {
                name: "chance draws",
                value: self.draws.to_string(),
                expected: "give 20 or more, for a range that holds nine of ten, or 0 to leave them out",
            });
        }
        Ok(())
    }
}

impl Default for DrawBudget {
    fn default() -> Self {
        Self { draws: 40, time: Duration::from_secs(60) }
    }
}

/// Chance for every group of a shared dictionary; none where the time ended before there were
/// enough draws. `row_errors` are the rows' squared errors under it, in the order of the data.
pub(super) fn random_groups(
    data: &GroupedData<'_>,
    (components, row_errors): (ArrayView2<'_, f64>, &[f64]),
    baselines: Baselines<'_>,
    (budget, seed): (DrawBudget, u64),
    wanted: &Wanted,
    steps: &Steps<'_>,
) -> Result<Option<RandomGroups>> {
    let (rows, own) = (hold(data, Units::Own), Own::of(baselines));
    let draws = Draws { data, rows: &*rows, components, row_errors, own, seed, steps };
    let groups = data.groups();
    let draw = |b: usize| {
        // Draws that a p-value asks for on top are not counted: nobody knows them beforehand.
        match b <= budget.draws {
            true => steps.step(|| draws.losses(b)),
            false => steps.go_on().and_then(|()| draws.losses(b)),
        }
    };
    let begin = Instant::now();
    let mut found = vec![draw(0)?];
    extend(&mut found, budget.draws, &draw, || begin.elapsed() < budget.time)?;
    let made = found.len() - 1;
    if made < DrawBudget::LEAST {
        return Ok(None);
    }
    let alike = Alike::of(data);
    let scatter = Scatter::of(&found, &alike);
    let all: Vec<usize> = (0..groups.len()).collect();
    let mut tails: Vec<Tail> = all.iter().map(|&l| Tail::new(scatter.z(&found[0], l))).collect();
    let mut counted = 1;
    loop {
        for losses in &found[counted..] {
            let most = scatter.largest(losses, &all);
            tails.iter_mut().for_each(|tail| tail.count(most));
        }
        counted = found.len();
        let open = (0..tails.len()).filter(|&l| !tails[l].is_decided());
        let most = open.map(|l| wanted.most(l, &tails[l], budget.draws)).max().unwrap_or(0);
        let more = found.len() - 1 < most && made == budget.draws;
        if !(more && begin.elapsed() < budget.time) {
            break;
        }
        let next = (found.len() - 1 + budget.draws).min(most);
        extend(&mut found, next, &draw, || begin.elapsed() < budget.time)?;
        if found.len() == counted {
            break;
        }
    }
    let ranges = alike.each(|of_size| {
        let values =
            || found[1..=made].iter().flat_map(|losses| of_size.iter().map(|&l| losses[l]));
        let mean = values().sum::<f64>() / (made * of_size.len()) as f64;
        let (low, high) = nine_of_ten(&found[1..=made], of_size);
        (mean, low, high)
    });
    let one = |(l, tail): (usize, Tail)| {
        let ((mean, low, high), loss) = (ranges[l], found[0][l]);
        GroupChance {
            loss,
            mean,
            low,
            high,
            excess_loss: loss - mean,
            adjusted_p: tail.p(),
            p_draws: tail.draws,
        }
    };
    let groups = tails.into_iter().enumerate().map(one).collect();
    let best_losses = match draws.own {
        Own::Best => None,
        _ => Some(Draws { own: Own::Best, ..draws }.losses(0)?),
    };
    Ok(Some(RandomGroups { draws: made, draws_asked: budget.draws, groups, best_losses }))
}

/// Makes draws until there are `wanted` beside the observed one, a few at a time while `go_on`.
fn extend(
    found: &mut Vec<Vec<f64>>,
    wanted: usize,
    draw: &(impl Fn(usize) -> Result<Vec<f64>> + Sync),
    go_on: impl Fn() -> bool,
) -> Result<()> {
    const TOGETHER: usize = 10;
    while found.len() <= wanted && go_on() {
        let begun = found.len();
        let count = (begun + TOGETHER).min(wanted + 1) - begun;
        found.extend(try_map(count, &|i| draw(begun + i))?);
    }
    Ok(())
}

/// The sequential p-value of one group.
struct Tail {
    observed: f64,
    as_large: usize,
    draws: usize,
}

impl Tail {
    fn new(observed: f64) -> Self {
        Self { observed, as_large: 0, draws: 0 }
    }

    fn is_decided(&self) -> bool {
        self.as_large >= ENOUGH
    }

    fn count(&mut self, largest: f64) {
        if !self.is_decided() {
            self.draws += 1;
            // Differences of rounding count as equal.
            self.as_large += usize::from(largest >= self.observed - 1e-9 * self.observed.abs());
        }
    }

    fn p(&self) -> f64 {
        match self.is_decided() {
            true => self.as_large as f64 / self.draws as f64,
            false => (1 + self.as_large) as f64 / (1 + self.draws) as f64,
        }
    }
}
