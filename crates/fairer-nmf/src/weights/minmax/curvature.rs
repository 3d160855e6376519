//! M of the Newton model, for eight columns of H at once, one to a lane.
//!
//! Columns have passive sets of different sizes: the shorter ones are filled up with a topic of nothing, which changes
//! none of their sums. Every lane does what it would do alone, in the same order.

#[cfg(test)]
mod tests;

use super::{Point, Problem};
use crate::kernel::{LANES, Pack, vectorised};

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
    /// `order[i][lane]`: the i-th passive topic of a lane, r beyond the last.
    order: Vec<[usize; LANES]>,
    /// The Cholesky factor of A on the passive sets, column by column.
    factor: Vec<Pack>,
    product: Vec<Pack>,
    known: Vec<Pack>,
    /// L⁻¹b of every group.
    b: Vec<Pack>,
}

impl Lanes {
    fn new(r: usize, groups: usize) -> Self {
        let packs = |count: usize| vec![Pack::ZERO; count];
        Self {
            r,
            count: 0,
            passive: 0,
            column: packs(r),
            order: vec![[r; LANES]; r],
            factor: packs(r * r),
            product: packs(r + 1),
            known: packs(r),
            b: packs(groups * r),
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
    }
}

vectorised! {
    /// Adds what the columns of the lanes have of M, below the diagonal.
    fn add_columns(
        problem: &Problem<'_>, a: &[f64], squared: &[f64], first: usize, lanes: &mut Lanes, m: &mut [f64],
    ) {
        let (r, p, groups) = (lanes.r, lanes.passive, squared.len());
        cholesky(a, lanes);
        let Lanes { count, column, order, factor, product, known, b, .. } = lanes;
        for (l, s) in problem.statistics.iter().enumerate() {
            product.fill(Pack::ZERO);
            for (q, column) in column.iter().enumerate().filter(|(_, c)| c.0 != [0.0; LANES]) {
                for (sum, gram) in product[..r].iter_mut().zip(s.gram[q..].iter().step_by(r)) {
                    *sum = sum.add_product::<false>(Pack::all(*gram), *column);
                }
            }
            for lane in 0..*count {
                let cross = &s.cross[(first + lane) * r..][..r];
                product[..r].iter_mut().zip(cross).for_each(|(sum, c)| sum.0[lane] -= c);
            }
            let b = &mut b[l * p..(l + 1) * p];
            known[..p].fill(Pack::ZERO);
            for i in 0..p {
                let column = &factor[i * p + i..(i + 1) * p];
                let of_lane = std::array::from_fn(|lane| product[order[i][lane]].0[lane]);
                let y = Pack(of_lane).zip(Pack::all(squared[l]), |y, n| y / n);
                let y = y.zip(known[i], |y, known| y - known).zip(column[0], |y, pivot| y / pivot);
                b[i] = y;
                for (known, factor) in known[i + 1..p].iter_mut().zip(&column[1..]) {
                    *known = known.add_product::<false>(*factor, y);
                }
            }
        }
        for l in 0..groups {
            for k in 0..=l {
                let both = b[l * p..(l + 1) * p].iter().zip(&b[k * p..(k + 1) * p]);
                let dot = both.fold(Pack::ZERO, |dot, (x, y)| dot.add_product::<false>(*x, *y));
                dot.0[..*count].iter().for_each(|dot| m[l * groups + k] += dot);
            }
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
