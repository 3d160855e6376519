//! What random groups of a group's size pay under a dictionary that knows no labels: what the
//! size-adjusted criterion allows for. `audit/chance.rs` shows the same beside every loss.

use super::draws::{Baselines, Draws, Own};
use super::scatter::{Alike, Scatter, moments, nine_of_ten};
use crate::criterion::ChanceBand;
use crate::evaluate::evaluate;
use crate::parallel::try_map;
use crate::progress::AuditPart;
use crate::random::Purpose;
use crate::rows::{Units, hold};
use crate::steps::Steps;
use crate::{Baseline, Error, GroupedData, Observer, Result, student};
use ndarray::ArrayView2;
use std::time::Instant;

/// Fewer draws than this say nothing.
const AT_LEAST: usize = 10;

/// What random groups of every group's size pay under a dictionary that knows no labels (H, r×n), by `draws` of them,
/// with baselines of a kind (the best where they were given): what stands beside a loss that no test was asked of.
///
/// # Errors
/// As [`chance_losses`].
pub fn chance_bands(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    baseline: &Baseline,
    draws: usize,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<ChanceBand>> {
    // The draws measure the groups themselves as random ones are.
    let own = Own::of(Baselines { errors: &[], kind: Some(baseline) });
    let found = chance_with(data, components, own, draws, seed, None, observer)?;
    Ok(found.iter().map(Chance::band).collect())
}

/// c_ℓ ≥ 0 of every group: the mean loss of `draws` random groups of its size under a dictionary that
/// knows no labels (H, r×n). What the size-adjusted criterion allows for.
///
/// # Errors
/// A dictionary that does not fit the data, or no draws; [`Error::Stopped`] where the observer asks
/// to stop.
pub fn chance_losses(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    draws: usize,
    seed: u64,
    observer: &Observer<'_>,
) -> Result<Vec<f64>> {
    let found = chance_within(data, components, draws, seed, None, observer)?;
    Ok(found.into_iter().map(|chance| chance.mean.max(0.0)).collect())
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
    /// Their mean loss.
    pub mean: f64,
    /// Nine of ten of them pay that.
    pub range: (f64, f64),
    /// Draws behind both.
    pub draws: usize,
    /// The group's relative error under the shared dictionary.
    pub relative_error: f64,
    /// How much they explain what the group pays: 1 where its loss lies within their scatter or below, 0 where it
    /// lies clearly above, and between the two where it cannot be told.
    pub alike: f64,
}

impl Chance {
    /// What stands beside the group's loss.
    pub fn band(&self) -> ChanceBand {
        ChanceBand { mean: self.mean, low: self.range.0, high: self.range.1 }
    }
}

/// Chance of every group, with draws that end at the deadline; without any, nothing is allowed for.
pub(crate) fn chance_within(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    draws: usize,
    seed: u64,
    deadline: Option<Instant>,
    observer: &Observer<'_>,
) -> Result<Vec<Chance>> {
    chance_with(data, components, Own::Best, draws, seed, deadline, observer)
}

/// The same against baselines of another kind.
fn chance_with(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    own: Own<'_>,
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
    let rows = hold(data, Units::Own);
    let all = Draws { data, rows: &*rows, components, row_errors, own, seed, steps: &steps };
    // Only what is fitted to the rows themselves is less for more of them.
    let most = match own {
        Own::Best => ROWS.max(ROWS_PER_TOPIC * components.nrows()),
        Own::Zero | Own::Like { .. } => usize::MAX,
    };
    let in_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);
    let draw = |b: usize| match in_time() {
        true => steps.step(|| all.losses_up_to(b, most)).map(Some),
        false => steps.step(|| Ok(None)),
    };
    let losses: Vec<Option<Vec<f64>>> = try_map(draws, &|i| draw(1 + i))?;
    let losses: Vec<Vec<f64>> = losses.into_iter().flatten().collect();
    let relative_errors = found.relative_errors.iter();
    if losses.is_empty() {
        let nothing = |&relative_error: &f64| Chance {
            mean: 0.0,
            range: (0.0, 0.0),
            draws: 0,
            relative_error,
            alike: 0.0,
        };
        return Ok(relative_errors.map(nothing).collect());
    }
    // A group of more rows than are drawn has a scatter next to nothing, and is told from nobody.
    let known = losses.len() >= AT_LEAST;
    let own = |l: usize| match &data.groups()[l].rows {
        rows if known && rows.len() <= most => {
            all.loss(rows, Purpose::Chance(0, 1 + l as u64)).map(Some)
        }
        _ => Ok(None),
    };
    let own: Vec<Option<f64>> = try_map(data.groups().len(), &own)?;
    let sizes = Alike::of(data);
    let moments = sizes.each(|of_size| moments(&losses, of_size));
    let ranges = sizes.each(|of_size| nine_of_ten(&losses, of_size));
    let within = within(own.len(), losses.len());
    let stands_out = stands_out(&losses, &own, &sizes);
    let one = |(l, &relative_error): (usize, &f64)| {
        let (mean, sd) = moments[l];
        // Without scatter there is nothing to be like.
        let z = own[l].filter(|_| sd > 0.0).map(|own| (own - mean) / sd);
        let alike = z.map_or(0.0, |z| match stands_out[l] {
            true => (within + 1.0 - z).clamp(0.0, 1.0),
            false => 1.0,
        });
        Chance { mean, range: ranges[l], draws: losses.len(), relative_error, alike }
    };
    Ok(relative_errors.enumerate().map(one).collect())
}

/// Whether a group exceeds the mean of random ones by more standard deviations of its size than any group of any draw does.
/// Observed and drawn groups are treated alike, moments included, so that where labels mean nothing some group does so in
/// one of draws + 1 data sets at the most, whatever the scatter looks like.
fn stands_out(losses: &[Vec<f64>], own: &[Option<f64>], sizes: &Alike) -> Vec<bool> {
    let looked_at: Vec<usize> = (0..own.len()).filter(|&l| own[l].is_some()).collect();
    let observed: Vec<f64> = own.iter().zip(&losses[0]).map(|(own, l)| own.unwrap_or(*l)).collect();
    let all: Vec<Vec<f64>> = losses.iter().chain([&observed]).cloned().collect();
    let scatter = Scatter::of(&all, sizes);
    let of_draws = losses.iter().map(|drawn| scatter.largest(drawn, &looked_at));
    let largest = of_draws.fold(f64::NEG_INFINITY, f64::max);
    // Differences of rounding count as equal.
    let beyond = |l: usize| scatter.z(&observed, l) > largest + 1e-9 * largest.abs();
    (0..own.len()).map(|l| own[l].is_some() && beyond(l)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn sizes() -> Alike {
        Alike { of_size: vec![vec![0, 1, 2], vec![3], vec![4]], size: vec![0, 0, 0, 1, 2] }
    }

    /// Quantiles of Student's t as printed in tables.
    #[test]
    fn being_alike_ends_where_one_of_all_groups_would_end_it_by_chance() {
        let close =
            |found: f64, table: f64| assert!((found - table).abs() < 1e-3, "{found} {table}");
        close(within(5, 20), 2.5395 * (21.0_f64 / 20.0).sqrt());
        close(within(1, 2), 6.3138 * 1.5_f64.sqrt());
        close(within(50, 11), 4.1437 * (12.0_f64 / 11.0).sqrt());
        // Never closer than two standard deviations, and these where nothing else is known.
        for (groups, draws) in [(1, 20), (0, 20), (5, 1), (0, 0)] {
            assert_eq!(within(groups, draws), ALIKE);
        }
    }

    #[test]
    fn groups_of_one_size_share_their_mean_and_scatter() {
        let found = [vec![1.0, 2.0, 3.0, 5.0, 7.0], vec![2.0, 5.0, 5.0, 9.0, 7.0]];
        // 1, 2, 3, 2, 5, 5: mean 3, squares 14; 5 and 9; 7 and 7.
        assert_eq!(moments(&found, &[0, 1, 2]), (3.0, (14.0_f64 / 5.0).sqrt()));
        assert_eq!(moments(&found[..1], &[3]), (5.0, 0.0));
        let scatter = Scatter::of(&found, &sizes());
        let losses = [4.0, 3.0, 1.0, 11.0, 9.0];
        let sd = (14.0_f64 / 5.0).sqrt();
        let expected = [1.0 / sd, 0.0, -2.0 / sd, 4.0 / 8.0_f64.sqrt(), 0.0];
        for (l, z) in expected.into_iter().enumerate() {
            assert!((scatter.z(&losses, l) - z).abs() < 1e-12, "{l}");
        }
        assert_eq!(scatter.largest(&losses, &[1, 2, 3]), scatter.z(&losses, 3));
        assert_eq!(scatter.largest(&losses, &[2]), scatter.z(&losses, 2));
    }

    #[test]
    fn what_rounding_makes_of_the_largest_draw_does_not_stand_out() {
        let drawn: Vec<Vec<f64>> = (0..20).map(|b| vec![0.1 + 0.01 * f64::from(b); 2]).collect();
        let sizes = Alike { of_size: vec![vec![0, 1]], size: vec![0, 0] };
        let out = |own: f64| stands_out(&drawn, &[Some(own), Some(0.1)], &sizes);
        assert_eq!(out(0.29 * (1.0 + 1e-14)), [false; 2]);
        assert_eq!(out(0.29 * (1.0 + 1e-6)), [true, false]);
        // Where there is no scatter, nobody does.
        let alike = vec![vec![0.2, 0.2]; 20];
        assert_eq!(stands_out(&alike, &[Some(0.2), Some(0.2)], &sizes), [false; 2]);
    }

    #[test]
    fn groups_are_alike_that_have_as_many_rows() {
        let x = ndarray::Array2::<f64>::ones((9, 2));
        let data =
            GroupedData::new(x.view(), &["a", "b", "b", "c", "d", "d", "e", "e", "e"]).unwrap();
        let alike = Alike::of(&data);
        assert_eq!(alike.of_size, [vec![0, 2], vec![1, 3], vec![4]]);
        assert_eq!(alike.each(<[usize]>::len), [2, 2, 2, 2, 1]);
    }

    /// Groups of 12, 12 and 26 rows, the first with something of its own; and a dictionary that knows little of it.
    fn sample(own: f64) -> (ndarray::Array2<f64>, Vec<&'static str>, ndarray::Array2<f64>) {
        let mut stream = Stream::new(2, Purpose::Synthetic(0), 0);
        let mut uniform = |m, n| ndarray::Array2::from_shape_simple_fn((m, n), || stream.uniform());
        let h = uniform(2, 7);
        let mut x = uniform(50, 2).dot(&h) + 0.5 * uniform(50, 7);
        for row in 0..12 {
            x[[row, 0]] += own * (1.0 + 0.1 * row as f64);
        }
        let label = |row: usize| ["a", "b", "c"][(row / 12).min(2)];
        (x, (0..50).map(label).collect(), h)
    }

    /// All of it once more, from draws, losses and moments.
    #[test]
    fn a_group_is_alike_within_the_scatter_and_less_beyond_it() {
        let mut between = 0;
        for step in 0..24 {
            let (x, labels, h) = sample(0.03 * f64::from(step));
            let data = GroupedData::new(x.view(), &labels).unwrap();
            let found = chance_within(&data, h.view(), 12, 5, None, &crate::silent).unwrap();
            let zeros = vec![0.0; 3];
            let seen = evaluate(&data, h.view(), None, &zeros).unwrap();
            let (row_errors, own) = (&seen.row_squared_errors, Own::Best);
            let steps = Steps::unwatched(AuditPart::RandomGroups);
            let (components, steps) = (h.view(), &steps);
            let rows = hold(&data, Units::Own);
            let all =
                Draws { data: &data, rows: &*rows, components, row_errors, own, seed: 5, steps };
            let losses: Vec<Vec<f64>> = (1..=12).map(|b| all.losses(b).unwrap()).collect();
            let own = |l: usize| all.loss(&data.groups()[l].rows, Purpose::Chance(0, 1 + l as u64));
            let own: Vec<f64> = (0..3).map(|l| own(l).unwrap()).collect();
            let some: Vec<Option<f64>> = own.iter().copied().map(Some).collect();
            let out = stands_out(&losses, &some, &Alike::of(&data));
            for (l, chance) in found.iter().enumerate() {
                let groups: &[usize] = if l < 2 { &[0, 1] } else { &[2] };
                let (mean, sd) = moments(&losses, groups);
                let beyond = (own[l] - mean) / sd - within(3, 12);
                let expected = if out[l] { (1.0 - beyond).clamp(0.0, 1.0) } else { 1.0 };
                assert!((chance.alike - expected).abs() < 1e-9, "{step} {l}: {expected}");
                assert!((chance.mean - mean).abs() < 1e-12);
                assert!((chance.relative_error - seen.relative_errors[l]).abs() < 1e-12);
                between += usize::from(chance.alike > 0.0 && chance.alike < 1.0);
            }
        }
        assert!(between > 0, "none lies between");
    }

    #[test]
    fn few_draws_or_none_in_time_allow_for_nothing() {
        let (x, labels, h) = sample(0.3);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let of = |draws: usize, deadline: Option<Instant>| -> Vec<(f64, f64)> {
            let found = chance_within(&data, h.view(), draws, 5, deadline, &crate::silent);
            found.unwrap().iter().map(|chance| (chance.mean, chance.alike)).collect()
        };
        let now = Instant::now();
        let later = now.checked_add(std::time::Duration::from_secs(3600));
        assert_eq!(of(4, later), of(4, None));
        assert_eq!(of(4, Some(now)), [(0.0, 0.0); 3]);
        // Nobody is said to be alike by a few.
        assert!(of(AT_LEAST - 1, None).iter().all(|(mean, alike)| *mean > 0.0 && *alike == 0.0));
        assert!(of(AT_LEAST, None).iter().any(|(_, alike)| *alike > 0.0));
        assert!(chance_within(&data, h.view(), 0, 5, None, &crate::silent).is_err());
    }

    /// Where labels mean nothing, some group stands out beyond 20 draws in one of 21 data sets, however the losses scatter: more
    /// than 35 of 400 have a probability of 0.01 %.
    #[test]
    fn some_random_group_stands_out_in_one_of_draws_and_one_data_sets() {
        let sizes = sizes();
        let mut stream = Stream::new(1, Purpose::Chance(0, 0), 0);
        // Heavy tails.
        let mut losses = |scale: f64| -> Vec<f64> {
            (0..5).map(|_| scale * (4.0 * stream.uniform()).exp()).collect()
        };
        let (mut some, mut large) = (0, 0);
        for _ in 0..400 {
            let drawn: Vec<Vec<f64>> = (0..20).map(|_| losses(1.0)).collect();
            let mut own: Vec<Option<f64>> = losses(1.0).into_iter().map(Some).collect();
            // One that is too large to be looked at.
            own[4] = None;
            let found = stands_out(&drawn, &own, &sizes);
            assert!(!found[4]);
            some += usize::from(found.contains(&true));
            own[3] = Some(200.0);
            large += usize::from(stands_out(&drawn, &own, &sizes)[3]);
        }
        println!("{some} of 400; {large} of 400 that are far out");
        assert!(some <= 35 && large >= 390, "{some} {large}");
    }
}
