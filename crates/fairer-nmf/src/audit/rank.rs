//! Which rank? Bi-cross-validation (Owen and Perry, Annals of Applied Statistics 3, 2009).
//!
//! Rows that are held out cannot choose a rank: their coordinates are fitted to them, and more
//! topics always fit better. So features are held out too. For a row r of a fold and a part J of the
//! features, with H of standard NMF of the other folds:
//!
//!   w = argmin_{w ≥ 0} ‖x_{r,−J} − w H_{−J}‖²,    e_k(r) = Σ_J ‖x_{r,J} − w H_J‖²
//!
//! K folds of the rows (each group spread over all of them) by K parts of the features; K fits a
//! rank. Topics that features share lower e_k; topics that only remember noise raise it.
//!
//! *The rule* is one standard error, in pairs: with b the rank of the least Σ_r e_k(r), the smallest
//! rank k with Σ_r (e_k − e_b) at most its standard error. It is asked of all rows and of the
//! worst-off group of at least [`ENOUGH`] rows (the one whose R-Error under all rows' rank is
//! largest); the larger rank is taken. docs/ranks.md has the study behind it.
//!
//! What it cannot see: a feature that no other feature tells anything of. Rows with one entry each
//! have no structure to predict, whatever their rank.

use super::AuditPart;
use super::topics::assign;
use crate::parallel::try_map;
use crate::random::{Purpose, Stream};
use crate::rows::{Rows, Units, hold};
use crate::search::fit_relabelled;
use crate::steps::Steps;
use crate::update::nnls;
use crate::yardsticks::standard;
use crate::{Error, GroupedData, Observer, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Rows below which a group has no say: its errors are too noisy.
pub const ENOUGH: usize = 30;
/// Part of a topic's squared norm that the kept features have to show for its coordinate to be taken
/// as it is. Below it, a topic that lies almost wholly in the features left out would get a coordinate
/// without bound; it is held down as if they showed so much.
const LEAST_SHOWN: f64 = 0.05;
/// Ranks tried in a row without a better one before the rest is left out.
const PATIENCE: usize = 4;

/// What to try.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RankOptions {
    /// The ranks, rising. Empty: from 1 on, as long as they get better.
    pub ranks: Vec<usize>,
    /// The largest rank that is tried where none are given. It is also less than the number of
    /// features that are left to tell coordinates, and at most the rows that a fold leaves.
    pub at_most: usize,
    /// Folds of the rows, and parts of the features; fewer where there are not twice as many rows
    /// and features.
    pub folds: usize,
    /// The seed of folds and fits.
    pub seed: u64,
}

crate::changeable!(RankOptions);

impl Default for RankOptions {
    fn default() -> Self {
        Self { ranks: Vec::new(), at_most: 30, folds: 5, seed: 0 }
    }
}

impl RankOptions {
    /// The ranks to try on so many rows and features.
    fn tried(&self, rows: usize, features: usize, folds: usize) -> Vec<usize> {
        if !self.ranks.is_empty() {
            return self.ranks.clone();
        }
        let left = |count: usize| count - count.div_ceil(folds);
        let most = self.at_most.min(left(features) - 1).min(left(rows)).max(1);
        (1..=most).collect()
    }
}

/// A rank and what it leaves of entries that were held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankPoint {
    /// The rank.
    pub rank: usize,
    /// √(Σ e_k / ‖X‖²) over all rows.
    pub held_out_error: f64,
    /// The same for every group.
    pub group_errors: Vec<f64>,
    /// Mean cosine of topics that match, over all pairs of the folds' dictionaries, each fitted
    /// from a start of its own: 1 says that the same topics come out every time.
    pub stability: f64,
}

/// What bi-cross-validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// The rank to take: the larger of the next two.
    pub rank: usize,
    /// The rank that serves all rows.
    pub rank_of_all: usize,
    /// The worst-off group of at least [`ENOUGH`] rows, and the rank that serves it.
    pub worst_off: Option<(String, usize)>,
    /// Names of the groups, in the order of `group_errors`.
    pub groups: Vec<String>,
    /// Every rank that was tried.
    pub points: Vec<RankPoint>,
    /// Folds of the rows, and parts of the features.
    pub folds: usize,
}

/// Chooses a rank by bi-cross-validation.
///
/// ```
/// use fairer_nmf::audit::rank::{RankOptions, choose};
/// let (x, labels) = fairer_nmf::synthetic::second(0);
/// let data = fairer_nmf::GroupedData::new(x.view(), &labels)?;
/// let options = RankOptions::default().with(|o| o.ranks = (4..=8).collect());
/// assert_eq!(choose(&data, &options, &fairer_nmf::silent)?.rank, 6);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
///
/// # Errors
/// Fewer than two folds, fewer rows or features than folds, a rank of 0, or a stop.
pub fn choose(
    data: &GroupedData<'_>,
    options: &RankOptions,
    observer: &Observer<'_>,
) -> Result<RankReport> {
    data.complete_for("the choice of a rank")?;
    let (rows, features) = (data.grouped_count(), data.features());
    let wrong = |value: usize, expected: &'static str| Error::Parameter {
        name: "rank choice",
        value: value.to_string(),
        expected,
    };
    if options.folds < 2 {
        return Err(wrong(options.folds, "at least two folds are needed"));
    }
    let folds = options.folds.min(rows / 2).min(features / 2);
    if folds < 2 {
        let expected = "at least four rows and four features are needed: give the rank";
        return Err(wrong(rows.min(features), expected));
    }
    if options.ranks.first() == Some(&0) {
        return Err(wrong(0, "a rank is at least 1"));
    }
    let ranks = options.tried(rows, features, folds);
    let open = options.ranks.is_empty();
    let steps = Steps::new(AuditPart::Rank, ranks.len() * folds, observer);
    let split = Split::new(data, folds, options.seed);
    let held = hold(data, Units::Own);
    let mut tried: Vec<Tried> = Vec::new();
    for &rank in &ranks {
        tried.push(split.try_rank((data, &*held), rank, &steps)?);
        if open && settled(data, &tried) {
            break;
        }
    }
    Ok(report(data, tried, folds))
}

/// Rows and features in folds.
struct Split {
    /// Rows of every fold, rising.
    rows: Vec<Vec<usize>>,
    /// The part of every feature.
    part: Vec<usize>,
    folds: usize,
    seed: u64,
}

/// A rank that was tried.
struct Tried {
    rank: usize,
    /// e_k(r), by row of the matrix.
    errors: Vec<f64>,
    stability: f64,
}

impl Split {
    fn new(data: &GroupedData<'_>, folds: usize, seed: u64) -> Self {
        let mut rows = vec![Vec::new(); folds];
        // Where one group ends, the next goes on, so that small groups do not fill the first folds.
        let mut next = 0;
        // Where groups overlap, a row goes with the first of its groups.
        let mut taken = vec![false; data.rows()];
        for (l, group) in data.groups().iter().enumerate() {
            let mut order = group.rows.clone();
            Stream::new(seed, Purpose::Rank(l as u64, 0), 0).shuffle(&mut order);
            for row in order.into_iter().filter(|&row| !std::mem::replace(&mut taken[row], true)) {
                rows[next % folds].push(row);
                next += 1;
            }
        }
        rows.iter_mut().for_each(|fold| fold.sort_unstable());
        let mut part: Vec<usize> = (0..data.features()).map(|j| j % folds).collect();
        Stream::new(seed, Purpose::Rank(u64::MAX, 0), 0).shuffle(&mut part);
        Self { rows, part, folds, seed }
    }

    fn try_rank(
        &self,
        (data, held): (&GroupedData<'_>, &dyn Rows),
        rank: usize,
        steps: &Steps<'_>,
    ) -> Result<Tried> {
        let found: Vec<(Array2<f64>, Vec<f64>)> =
            try_map(self.folds, &|k| steps.step(|| self.one_fold((data, held), rank, k, steps)))?;
        let mut errors = vec![0.0; data.rows()];
        for (rows, (_, of_fold)) in self.rows.iter().zip(&found) {
            rows.iter().zip(of_fold).for_each(|(&row, &e)| errors[row] = e);
        }
        let dictionaries: Vec<Array2<f64>> = found.into_iter().map(|(h, _)| unit_rows(h)).collect();
        Ok(Tried { rank, errors, stability: stability(&dictionaries) })
    }

    /// The dictionary without fold k, and the errors of its rows.
    fn one_fold(
        &self,
        (data, held): (&GroupedData<'_>, &dyn Rows),
        rank: usize,
        k: usize,
        steps: &Steps<'_>,
    ) -> Result<(Array2<f64>, Vec<f64>)> {
        let norm = |row: usize| data.row_squared_norm(row);
        let others = (0..self.folds).filter(|&other| other != k);
        let mut rest: Vec<usize> = others.flat_map(|other| self.rows[other].clone()).collect();
        rest.sort_unstable();
        if rest.iter().all(|&row| norm(row) <= 0.0) {
            // Rows of zeros teach nothing: all is lost.
            let lost = self.rows[k].iter().map(|&row| norm(row)).collect();
            return Ok((Array2::zeros((rank, data.features())), lost));
        }
        let purpose = Purpose::Rank(rank as u64, 1 + k as u64);
        let parameters = standard(rank, 1, Stream::new(self.seed, purpose, 0).next_u64());
        let rest = vec![("rest".to_owned(), rest)];
        let h = fit_relabelled(held, rest, &parameters, None, &|_| steps.tell())?.components;
        steps.go_on()?;
        let errors = self.errors(data, &self.rows[k], &h);
        Ok((h, errors))
    }

    /// e(r) of rows under H (r×n), part by part of the features. A topic that hardly shows in the
    /// features that are kept tells nothing of the others: [`LEAST_SHOWN`] holds its coordinate down.
    fn errors(&self, data: &GroupedData<'_>, rows: &[usize], h: &Array2<f64>) -> Vec<f64> {
        let (r, folds) = (h.nrows(), self.folds);
        // Σ_{j ∈ J} h_j h_jᵀ of every part J, and of all.
        let mut gram = vec![vec![0.0; r * r]; folds];
        for (j, &part) in self.part.iter().enumerate() {
            let column = h.column(j);
            for a in 0..r {
                for b in 0..r {
                    gram[part][a * r + b] += column[a] * column[b];
                }
            }
        }
        // Of every row and part: Σ_{j ∈ J} x_j h_j, and Σ_{j ∈ J} x_j².
        let mut cross = vec![vec![0.0; rows.len() * r]; folds];
        let mut norm = vec![vec![0.0; rows.len()]; folds];
        for (i, &row) in rows.iter().enumerate() {
            data.for_each_in_row(row, |j, x| {
                let part = self.part[j];
                norm[part][i] += x * x;
                let c = &mut cross[part][i * r..(i + 1) * r];
                c.iter_mut().zip(h.column(j)).for_each(|(c, h)| *c += x * h);
            });
        }
        let without = |all: &[Vec<f64>], part: usize| -> Vec<f64> {
            let mut sum = vec![0.0; all[0].len()];
            for of in all.iter().enumerate().filter(|(p, _)| *p != part).map(|(_, of)| of) {
                sum.iter_mut().zip(of).for_each(|(s, v)| *s += v);
            }
            sum
        };
        let mut errors = vec![0.0; rows.len()];
        let mut scratch = nnls::Scratch::default();
        for part in 0..folds {
            let (mut g, c) = (without(&gram, part), without(&cross, part));
            for a in 0..r {
                let whole = g[a * r + a] + gram[part][a * r + a];
                g[a * r + a] = g[a * r + a].max(LEAST_SHOWN * whole);
            }
            let mut w = vec![0.0; rows.len() * r];
            nnls::solve(&g, &c, &mut w, r, &mut scratch);
            for i in 0..rows.len() {
                let (w, c) = (&w[i * r..(i + 1) * r], &cross[part][i * r..(i + 1) * r]);
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let square: f64 =
                    w.iter().zip(gram[part].chunks_exact(r)).map(|(wa, g)| wa * dot(w, g)).sum();
                // ‖x_J − wH_J‖² cannot be negative; rounding can make the sum so.
                errors[i] += (norm[part][i] - 2.0 * dot(w, c) + square).max(0.0);
            }
        }
        errors
    }
}

/// Rows of norm 1; rows of zeros stay.
fn unit_rows(mut h: Array2<f64>) -> Array2<f64> {
    for mut row in h.rows_mut() {
        let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 0.0 {
            row.mapv_inplace(|v| v / norm);
        }
    }
    h
}

/// Mean cosine of topics that match, over all pairs of dictionaries with rows of norm 1.
fn stability(dictionaries: &[Array2<f64>]) -> f64 {
    let mut cosines = Vec::new();
    for (i, a) in dictionaries.iter().enumerate() {
        for b in &dictionaries[i + 1..] {
            let cosine = a.dot(&b.t());
            let r = a.nrows();
            let matched = assign(r, r, |p, q| -cosine[[p, q]]);
            cosines.extend(matched.iter().enumerate().map(|(p, &q)| cosine[[p, q]]));
        }
    }
    cosines.iter().sum::<f64>() / cosines.len().max(1) as f64
}

/// The place of the rank that the rule picks for some rows.
fn pick(tried: &[Tried], rows: &[usize]) -> usize {
    let total = |t: &Tried| rows.iter().map(|&row| t.errors[row]).sum::<f64>();
    let best = (0..tried.len())
        .min_by(|&a, &b| total(&tried[a]).total_cmp(&total(&tried[b])))
        .unwrap_or(0);
    let good_enough = |t: &Tried| {
        let gaps = rows.iter().map(|&row| t.errors[row] - tried[best].errors[row]);
        let (count, sum) = (rows.len() as f64, gaps.clone().sum::<f64>());
        let mean = sum / count;
        // The standard error of a sum of `count` differences.
        let spread: f64 = gaps.map(|gap| (gap - mean).powi(2)).sum();
        sum <= (spread * count / (count - 1.0).max(1.0)).sqrt()
    };
    (0..best).find(|&k| good_enough(&tried[k])).unwrap_or(best)
}

/// Rows of every set that has a say: all, then every group that is large enough.
fn voters(data: &GroupedData<'_>) -> Vec<Vec<usize>> {
    let large = data.groups().iter().filter(|g| g.rows.len() >= ENOUGH);
    std::iter::once(data.grouped_rows().collect()).chain(large.map(|g| g.rows.clone())).collect()
}

/// Whether no set of rows has got better for some ranks.
fn settled(data: &GroupedData<'_>, tried: &[Tried]) -> bool {
    let last = tried.len();
    voters(data).iter().all(|rows| {
        let total = |t: &Tried| rows.iter().map(|&row| t.errors[row]).sum::<f64>();
        let best = (0..last).min_by(|&a, &b| total(&tried[a]).total_cmp(&total(&tried[b])));
        best.is_some_and(|best| last > best + PATIENCE)
    })
}

fn report(data: &GroupedData<'_>, tried: Vec<Tried>, folds: usize) -> RankReport {
    // N² is positive by validation.
    let relative = |t: &Tried, rows: &[usize], norm: f64| {
        (rows.iter().map(|&row| t.errors[row]).sum::<f64>() / norm).sqrt()
    };
    let all: Vec<usize> = data.grouped_rows().collect();
    let of_all = pick(&tried, &all);
    let large = data.groups().iter().filter(|g| g.rows.len() >= ENOUGH);
    let error = |g: &crate::data::Group| relative(&tried[of_all], &g.rows, g.squared_norm);
    let worst = large.max_by(|a, b| error(a).total_cmp(&error(b)));
    let worst_off = worst.map(|g| (g.name.clone(), tried[pick(&tried, &g.rows)].rank));
    let rank_of_all = tried[of_all].rank;
    let point = |t: &Tried| RankPoint {
        rank: t.rank,
        held_out_error: relative(t, &all, data.squared_norm()),
        group_errors: (data.groups().iter())
            .map(|g| relative(t, &g.rows, g.squared_norm))
            .collect(),
        stability: t.stability,
    };
    RankReport {
        rank: worst_off.as_ref().map_or(rank_of_all, |(_, rank)| rank_of_all.max(*rank)),
        rank_of_all,
        worst_off,
        groups: data.groups().iter().map(|g| g.name.clone()).collect(),
        points: tried.iter().map(point).collect(),
        folds,
    }
}
