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

mod draws;

use super::steps::Steps;
use super::{AuditPart, evaluate, student};
use crate::data::Group;
use crate::random::Purpose;
use crate::{Baseline, Element, Error, GroupedData, Observer, Result};
use draws::{Draws, Own};
use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Draws as large as the observed value after which a p-value needs no more.
const ENOUGH: usize = 10;
/// The largest multiple of the fixed number of draws that a p-value may ask for.
const AT_MOST: usize = 2;
/// Fewer draws than this say nothing.
const AT_LEAST: usize = 10;

/// What a random group of one group's size pays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChance {
    /// The group's loss by the same procedure.
    pub loss: f64,
    /// Mean loss of random groups of its size.
    pub mean: f64,
    /// 5 % of random groups pay less.
    pub low: f64,
    /// 5 % of random groups pay more.
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
    /// Draws behind means and ranges; a p-value may ask for twice as many. 0 leaves chance
    /// out.
    pub draws: usize,
    /// Time for all of them, checked between draws. Other limits on time do not count it.
    pub time: Duration,
}

impl Default for DrawBudget {
    fn default() -> Self {
        Self { draws: 40, time: Duration::from_secs(60) }
    }
}

/// The baselines of the groups, and their kind where that is known.
#[derive(Clone, Copy)]
pub(super) struct Baselines<'a> {
    pub errors: &'a [f64],
    pub kind: Option<&'a Baseline>,
}

/// Chance for every group of a shared dictionary; none where the time ended before there were
/// enough draws. `row_errors` are the rows' squared errors under it, in the order of the data.
pub(super) fn random_groups<T: Element>(
    data: &GroupedData<'_, T>,
    components: ArrayView2<'_, f64>,
    row_errors: &[f64],
    baselines: Baselines<'_>,
    (budget, seed): (DrawBudget, u64),
    steps: &Steps<'_>,
) -> Result<Option<RandomGroups>> {
    let draws = Draws { data, components, row_errors, own: Own::of(baselines), seed, steps };
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
    if made < AT_LEAST.min(budget.draws) {
        return Ok(None);
    }
    let alike = Alike::of(data);
    let moments: Vec<(f64, f64)> = alike.each(|of_size| moments(&found, of_size));
    let z = |losses: &[f64], l: usize| {
        let (mean, sd) = moments[l];
        // Without scatter (all rows alike) nothing stands out.
        if sd > 0.0 { (losses[l] - mean) / sd } else { 0.0 }
    };
    let observed: Vec<f64> = (0..groups.len()).map(|l| z(&found[0], l)).collect();
    let largest = |losses: &Vec<f64>| {
        (0..groups.len()).map(|l| z(losses, l)).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut tails: Vec<Tail> = observed.iter().map(|&z| Tail::new(z)).collect();
    let mut counted = 1;
    loop {
        for losses in &found[counted..] {
            let most = largest(losses);
            tails.iter_mut().for_each(|tail| tail.count(most));
        }
        counted = found.len();
        let open = tails.iter().any(|tail| !tail.is_decided());
        let more = found.len() - 1 < AT_MOST * budget.draws && made == budget.draws;
        if !(open && more && begin.elapsed() < budget.time) {
            break;
        }
        let next = (found.len() - 1 + budget.draws).min(AT_MOST * budget.draws);
        extend(&mut found, next, &draw, || begin.elapsed() < budget.time)?;
        if found.len() == counted {
            break;
        }
    }
    let ranges = alike.each(|of_size| {
        let drawn = found[1..=made].iter();
        let mut values: Vec<f64> =
            drawn.flat_map(|losses| of_size.iter().map(|&l| losses[l])).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.sort_by(f64::total_cmp);
        let at =
            |share: f64| values[((share * values.len() as f64) as usize).min(values.len() - 1)];
        (mean, at(0.05), at(0.95))
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

/// c_ℓ ≥ 0 of every group: the mean loss of `draws` random groups of its size under a dictionary that
/// knows no labels (H, r×n). What the size-adjusted criterion allows for.
///
/// # Errors
/// A dictionary that does not fit the data, or no draws; [`Error::Stopped`] where the observer asks
/// to stop.
pub fn chance_losses<T: Element>(
    data: &GroupedData<'_, T>,
    components: ArrayView2<'_, f64>,
    draws: usize,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<f64>> {
    let found = chance_within(data, components, draws, seed, None, observer)?;
    Ok(found.into_iter().map(|chance| chance.mean).collect())
}

/// Rows of a random group at the most, for every topic and all together: the optimism of a larger one
/// falls with 1/m and is extrapolated, so that draws cost what a few thousand rows cost however many
/// there are.
const ROWS_PER_TOPIC: usize = 100;
const ROWS: usize = 1_000;

/// Standard deviations of random groups within which a group is like one of them, at the least.
const ALIKE: f64 = 2.0;
/// How often any of several random groups may lie further out.
const BY_CHANCE: f64 = 0.05;

/// What random groups of one group's size pay, and what it pays itself.
pub(crate) struct Chance {
    /// c_ℓ ≥ 0: their mean loss.
    pub mean: f64,
    /// The group's relative error under the shared dictionary.
    pub relative_error: f64,
    /// How much the group is like them: 1 where its loss lies within their scatter, 0 where it lies
    /// clearly beyond, and between the two where it cannot be told.
    pub alike: f64,
}

/// Chance of every group, with draws that end at the deadline; without any, nothing is allowed for.
pub(crate) fn chance_within<T: Element>(
    data: &GroupedData<'_, T>,
    components: ArrayView2<'_, f64>,
    draws: usize,
    seed: u64,
    deadline: Option<Instant>,
    observer: &Observer<'_>,
) -> Result<Vec<Chance>> {
    if draws == 0 {
        return Err(Error::Parameter {
            name: "draws",
            value: "0".to_owned(),
            expected: "at least one draw of random groups is needed",
        });
    }
    let found = evaluate(data, components, None, &vec![0.0; data.groups().len()])?;
    let steps = Steps::new(AuditPart::RandomGroups, draws, observer);
    let row_errors = &found.row_squared_errors;
    let all = Draws { data, components, row_errors, own: Own::Best, seed, steps: &steps };
    let most = ROWS.max(ROWS_PER_TOPIC * components.nrows());
    let in_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);
    let draw = |b: usize| match in_time() {
        true => steps.step(|| all.losses_up_to(b, most)).map(Some),
        false => steps.step(|| Ok(None)),
    };
    let losses: Vec<Option<Vec<f64>>> =
        (1..=draws).into_par_iter().map(draw).collect::<Result<_>>()?;
    let losses: Vec<Vec<f64>> = losses.into_iter().flatten().collect();
    let relative_errors = found.relative_errors.iter();
    if losses.is_empty() {
        let nothing = |&relative_error: &f64| Chance { mean: 0.0, relative_error, alike: 0.0 };
        return Ok(relative_errors.map(nothing).collect());
    }
    // A group of more rows than are drawn has a scatter next to nothing, and is told from nobody.
    let known = losses.len() >= AT_LEAST;
    let own = |(l, group): (usize, &Group)| match known && group.rows.len() <= most {
        true => all.loss(&group.rows, Purpose::Chance(0, 1 + l as u64)).map(Some),
        false => Ok(None),
    };
    let own: Vec<Option<f64>> =
        data.groups().par_iter().enumerate().map(own).collect::<Result<_>>()?;
    let moments = Alike::of(data).each(|of_size| moments(&losses, of_size));
    let within = within(own.len(), losses.len());
    let one = |(l, &relative_error): (usize, &f64)| {
        let (mean, sd) = moments[l];
        // Without scatter there is nothing to be like.
        let z = own[l].filter(|_| sd > 0.0).map(|own| (own - mean).abs() / sd);
        let alike = z.map_or(0.0, |z| (within + 1.0 - z).clamp(0.0, 1.0));
        Chance { mean: mean.max(0.0), relative_error, alike }
    };
    Ok(relative_errors.enumerate().map(one).collect())
}

/// Standard deviations beyond which none of `groups` alike lies but by a chance of [`BY_CHANCE`], where mean
/// and standard deviation are of `draws` or, where several groups have one size, of more: Student's t of
/// another draw, shared over the groups (Bonferroni), so that one of many does not stand out because they are
/// many.
fn within(groups: usize, draws: usize) -> f64 {
    if groups == 0 || draws < 2 {
        return ALIKE;
    }
    let n = draws as f64;
    ALIKE.max(student::quantile(BY_CHANCE / groups as f64, n - 1.0) * (1.0 + 1.0 / n).sqrt())
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
        let next = found.len()..(found.len() + TOGETHER).min(wanted + 1);
        let more: Vec<Vec<f64>> = next.into_par_iter().map(draw).collect::<Result<_>>()?;
        found.extend(more);
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

/// Groups of as many rows as each other: random ones of them are alike, so that what is drawn of one is
/// drawn of all.
struct Alike {
    /// The groups of every size.
    of_size: Vec<Vec<usize>>,
    /// Which size each group has.
    size: Vec<usize>,
}

impl Alike {
    fn of<T: Element>(data: &GroupedData<'_, T>) -> Self {
        let mut of_size: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (l, group) in data.groups().iter().enumerate() {
            of_size.entry(group.rows.len()).or_default().push(l);
        }
        let of_size: Vec<Vec<usize>> = of_size.into_values().collect();
        let mut size = vec![0; data.groups().len()];
        for (at, groups) in of_size.iter().enumerate() {
            groups.iter().for_each(|&l| size[l] = at);
        }
        Self { of_size, size }
    }

    /// For every group what `one` finds of the groups of its size.
    fn each<V: Copy>(&self, one: impl Fn(&[usize]) -> V) -> Vec<V> {
        let found: Vec<V> = self.of_size.iter().map(|groups| one(groups)).collect();
        self.size.iter().map(|&at| found[at]).collect()
    }
}

/// Mean and standard deviation of the losses of these groups over the draws.
fn moments(found: &[Vec<f64>], groups: &[usize]) -> (f64, f64) {
    let values = || found.iter().flat_map(|losses| groups.iter().map(|&l| losses[l]));
    let count = (found.len() * groups.len()) as f64;
    let mean = values().sum::<f64>() / count;
    let squares: f64 = values().map(|loss| (loss - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}
