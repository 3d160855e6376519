//! M of the Newton model, for eight columns of H at once, one to a lane.
//!
//! Columns have passive sets of different sizes: the shorter ones are filled up with a topic of nothing, which changes
//! none of their sums. Every lane does what it would do alone, in the same order.

#[cfg(test)]
mod tests;

use super::{Point, Problem};
use crate::kernel::{LANES, Pack, vectorised};
use crate::statistics::Statistics;

/// Sums side by side, so that none waits for itself: topics, or groups.
const TILE: usize = 4;

/// M (L×L), summed over the columns of H; none once the time is up.
pub(super) fn curvature(problem: &Problem<'_>, at: &Point) -> Option<Vec<f64>> {
    let (groups, r) = (at.weights.len(), at.h.rank);
    let squared: Vec<f64> = problem.criteria.iter().map(|c| c.scale * c.scale).collect();
    let mut weighted = vec![0.0; r * r];
    for ((s, w), n) in problem.statistics.iter().zip(&at.weights).zip(&squared) {
        weighted.iter_mut().zip(&s.gram).for_each(|(a, g)| *a += w / n * g);
    }
    // The topic of nothing comes last.
    let stride = r + 1;
    let mut a = vec![0.0; stride * stride];
    for (a, weighted) in a.chunks_exact_mut(stride).zip(weighted.chunks_exact(r)) {
        a[..r].copy_from_slice(weighted);
    }
    a[stride * stride - 1] = 1.0;
    let mut lanes = Lanes::new(r, groups);
    let mut m = vec![0.0; groups * groups];
    for first in (0..at.h.features).step_by(LANES) {
        if problem.limit.is_over() {
            return None;
        }
        lanes.load(&at.h.values, first);
        if lanes.passive > 0 {
            add_columns(problem, &a, &squared, first, &mut lanes, &mut m);
        }
    }
    for l in 0..groups {
        for k in 0..l {
            m[k * groups + l] = m[l * groups + k];
        }
    }
    Some(m)
}

/// Eight columns and what is made of them.
struct Lanes {
    r: usize,
    /// Columns that there are, and the size of the largest passive set.
    count: usize,
    passive: usize,
    column: Vec<Pack>,
    /// Topics that a lane has.
    active: Vec<usize>,
    /// `order[i][lane]`: the i-th passive topic of a lane, r beyond the last.
    order: Vec<[usize; LANES]>,
    /// The Cholesky factor of A on the passive sets, column by column.
    factor: Vec<Pack>,
    /// Gradients of a group; of the topic of nothing, which comes last, zero.
    product: Vec<Pack>,
    /// L⁻¹b of every group, some groups side by side.
    b: Vec<Pack>,
    /// What a lane without a column has.
    nothing: Vec<f64>,
}

impl Lanes {
    fn new(r: usize, groups: usize) -> Self {
        let packs = |count: usize| vec![Pack::ZERO; count];
        Self {
            r,
            count: 0,
            passive: 0,
            column: packs(r),
            active: Vec::with_capacity(r),
            order: vec![[r; LANES]; r],
            factor: packs(r * r),
            product: packs(r + 1),
            b: packs(groups.next_multiple_of(TILE) * r),
            nothing: vec![0.0; r],
        }
    }

    /// Takes the columns from `first` on.
    fn load(&mut self, values: &[f64], first: usize) {
        let r = self.r;
        let columns = values[first * r..].chunks_exact(r).take(LANES);
        (self.count, self.passive) = (columns.len(), 0);
        self.column.fill(Pack::ZERO);
        self.order.fill([r; LANES]);
        for (lane, column) in columns.enumerate() {
            let mut passive = 0;
            for (k, &value) in column.iter().enumerate() {
                self.column[k].0[lane] = value;
                if value > 0.0 {
                    self.order[passive][lane] = k;
                    passive += 1;
                }
            }
            self.passive = self.passive.max(passive);
        }
        self.active.clear();
        self.active.extend((0..r).filter(|&k| self.column[k].0 != [0.0; LANES]));
    }
}

vectorised! {
    /// Adds what the columns of the lanes have of M, below the diagonal.
    fn add_columns(
        problem: &Problem<'_>, a: &[f64], squared: &[f64], first: usize, lanes: &mut Lanes, m: &mut [f64],
    ) {
        let (p, groups) = (lanes.passive, squared.len());
        cholesky(a, lanes);
        // Groups that there are not, in the last tile.
        let last = &mut lanes.b.as_chunks_mut::<TILE>().0[(groups - 1) / TILE * p..][..p];
        last.fill([Pack::ZERO; TILE]);
        for (l, s) in problem.statistics.iter().enumerate() {
            gradients(s, first, lanes);
            let Lanes { order, product, b, .. } = lanes;
            let b = &mut b.as_chunks_mut::<TILE>().0[l / TILE * p..][..p];
            for (b, order) in b.iter_mut().zip(order) {
                let mut of_lane = Pack::ZERO;
                for lane in 0..LANES {
                    of_lane.0[lane] = product[order[lane]].0[lane];
                }
                b[l % TILE] = of_lane.zip(Pack::all(squared[l]), |y, n| y / n);
            }
        }
        let Lanes { count, factor, b, .. } = lanes;
        let b = &mut b.as_chunks_mut::<TILE>().0[..groups.div_ceil(TILE) * p];
        b.chunks_exact_mut(p).for_each(|b| substitute(factor, b));
        for l in 0..groups {
            let own = &b[l / TILE * p..][..p];
            for (others, b) in b.chunks_exact(p).enumerate().take(l / TILE + 1) {
                let mut dots = [Pack::ZERO; TILE];
                for (own, b) in own.iter().zip(b) {
                    let own = own[l % TILE];
                    for t in 0..TILE {
                        dots[t] = dots[t].add_product::<false>(own, b[t]);
                    }
                }
                let others = others * TILE..groups.min(l + 1);
                for (m, dot) in m[l * groups..][others].iter_mut().zip(dots) {
                    dot.0[..*count].iter().for_each(|dot| *m += dot);
                }
            }
        }
    }
}

/// W_ℓᵀW_ℓh − W_ℓᵀx_ℓ of a group, for the topics that some lane has.
#[inline(always)]
fn gradients(s: &Statistics, first: usize, lanes: &mut Lanes) {
    let Lanes { r, count, active, column, product, nothing, .. } = lanes;
    let r = *r;
    let cross: [&[f64]; LANES] = std::array::from_fn(|lane| {
        if lane < *count { &s.cross[(first + lane) * r..][..r] } else { &nothing[..r] }
    });
    for tile in active.chunks(TILE) {
        // The last tile does its last topic more than once.
        let topics: [usize; TILE] = std::array::from_fn(|t| tile[t.min(tile.len() - 1)]);
        let gram = topics.map(|topic| &s.gram[topic * r..][..r]);
        let mut sums = [Pack::ZERO; TILE];
        for &q in &*active {
            let column = column[q];
            for t in 0..TILE {
                sums[t] = sums[t].add_product::<false>(Pack::all(gram[t][q]), column);
            }
        }
        for (topic, sum) in topics.into_iter().zip(sums) {
            product[topic] = sum.zip(Pack(cross.map(|cross| cross[topic])), |sum, c| sum - c);
        }
    }
}

/// b ← L⁻¹b for some groups at once.
#[inline(always)]
fn substitute(factor: &[Pack], b: &mut [[Pack; TILE]]) {
    let p = b.len();
    for i in 0..p {
        let (done, rest) = b.split_at_mut(i);
        let mut known = [Pack::ZERO; TILE];
        for (y, factor) in done.iter().zip(factor[i..].iter().step_by(p)) {
            for t in 0..TILE {
                known[t] = known[t].add_product::<false>(*factor, y[t]);
            }
        }
        let pivot = factor[i * p + i];
        for t in 0..TILE {
            let left = rest[0][t].zip(known[t], |b, known| b - known);
            rest[0][t] = left.zip(pivot, |left, pivot| left / pivot);
        }
    }
}

/// The Cholesky factors of A on the passive sets. A direction that is dependent to rounding is shut off by an infinite pivot.
#[inline(always)]
fn cholesky(a: &[f64], lanes: &mut Lanes) {
    let (stride, p) = (lanes.r + 1, lanes.passive);
    let Lanes { order, factor, .. } = lanes;
    for j in 0..p {
        for i in j..p {
            factor[j * p + i] =
                Pack(std::array::from_fn(|lane| a[order[i][lane] * stride + order[j][lane]]));
        }
    }
    for k in 0..p {
        let (done, later) = factor[..p * p].split_at_mut((k + 1) * p);
        let column = &mut done[k * p..];
        let own = Pack(order[k].map(|topic| a[topic * (stride + 1)]));
        let root =
            |left: f64, own: f64| if left > 1e-13 * own { left.sqrt() } else { f64::INFINITY };
        let pivot = column[k].zip(own, root);
        column[k] = pivot;
        column[k + 1..].iter_mut().for_each(|v| *v = v.zip(pivot, |v, pivot| v / pivot));
        for (j, later) in (k + 1..p).zip(later.chunks_exact_mut(p)) {
            let times = column[j];
            for (sum, value) in later[j..].iter_mut().zip(&column[j..]) {
                *sum = sum.sub_product::<false>(times, *value);
            }
        }
    }
}
