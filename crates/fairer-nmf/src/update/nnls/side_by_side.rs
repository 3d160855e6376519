//! Eight rows at once, one to a lane: passive sets, their systems, and what is exchanged.
//!
//! A passive set is solved by itself, its entries of G looked up lane by lane, or, where that takes longer, with all topics. Neither
//! changes a bit of the answer. The method stands in [`super`].

use super::lanes::{self, pad};
use super::{DEPENDENT, TOLERANCE, active_set};
use crate::kernel::{LANES, Pack};
use crate::limit::Limit;

/// Rounds of block pivoting before a row goes to the active-set method.
pub(super) const MAX_ROUNDS: usize = 10;
/// Block exchanges allowed without fewer violations before the backup rule (Kim & Park's value).
pub(super) const PATIENCE: usize = 3;
/// Widest register tile of the factorisation.
const MAX_TILE: usize = 4;
/// What an entry of G takes in every lane, in products of a factorisation: where it is the same in all of them, and where not.
const LOOKED_UP: usize = 2;
const LOOK_UP: usize = 12;
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub g: &'a [f64],
    pub c: &'a [f64],
    pub r: usize,
}

/// The row a lane is working on.
#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    pub row: Option<usize>,
    /// The row came without a support to start from.
    pub cold: bool,
    /// Size of the passive set.
    pub passive: usize,
    /// Whether `order` has it.
    pub listed: bool,
    pub rounds: usize,
    fewest_violations: usize,
    patience: usize,
}

/// Buffers that one thread reuses from call to call.
#[derive(Default)]
pub struct Scratch {
    /// G and |G| with a zero variable r appended; `stride` numbers a row. |G| is empty when G ≥ 0.
    gram: Vec<f64>,
    gram_abs: Vec<f64>,
    stride: usize,
    r: usize,
    /// L of L D Lᵀ in row panels of T, column after column; the current panel of L D; 1/D; and f_P.
    factor: Vec<Pack>,
    panel: Vec<Pack>,
    inverse: Vec<Pack>,
    x: Vec<Pack>,
    /// `order[a][lane]`: the a-th passive variable of a lane, r beyond the last.
    order: Vec<[usize; LANES]>,
    is_passive: Vec<[bool; LANES]>,
    /// The same as numbers, 1 and 0.
    mask: Vec<Pack>,
    /// Variables of wrong sign in the lane at hand.
    is_wrong: Vec<bool>,
    /// Per variable: c, f, |f|, G f and |G||f|.
    c: Vec<Pack>,
    pub(super) f: Vec<Pack>,
    f_abs: Vec<Pack>,
    gf: Vec<Pack>,
    gf_abs: Vec<Pack>,
    /// Variables that are not zero in every lane.
    union: Vec<usize>,
    /// |c|_∞ of every lane.
    c_max: Pack,
    pub(super) active_set: active_set::Work,
    /// Until when rows are solved.
    pub(crate) limit: Limit,
}

impl Scratch {
    /// Takes the Gram matrix; allocates only when the rank grows.
    pub(super) fn prepare(&mut self, g: &[f64], r: usize) {
        // Room for the appended zero variable and for the widest panel.
        let padded = (r + 1).next_multiple_of(MAX_TILE);
        self.stride = padded;
        pad(g, r, padded, &mut self.gram);
        self.gram_abs.clear();
        if g.iter().any(|&v| v < 0.0) {
            pad(g, r, padded, &mut self.gram_abs);
            self.gram_abs.iter_mut().for_each(|v| *v = v.abs());
        }
        if self.r == r {
            return;
        }
        self.r = r;
        self.factor.resize(padded * (padded + MAX_TILE) / 2, Pack::ZERO);
        self.panel.resize(padded * MAX_TILE, Pack::ZERO);
        for buffer in [
            &mut self.inverse,
            &mut self.x,
            &mut self.f,
            &mut self.f_abs,
            &mut self.gf,
            &mut self.gf_abs,
        ] {
            buffer.resize(padded, Pack::ZERO);
        }
        // The appended variable has c = 0 and is never passive.
        self.c.clear();
        self.c.resize(padded, Pack::ZERO);
        self.order.resize(padded, [r; LANES]);
        self.mask.resize(padded, Pack::ZERO);
        self.is_passive.clear();
        self.is_passive.resize(padded, [false; LANES]);
        self.is_wrong.resize(padded, false);
    }
}

/// Whether passive sets of up to `largest` of r topics are solved with all topics, those that are not passive at zero: entries of G are
/// then the same in every lane, while those of passive sets are looked up lane by lane.
pub(super) fn is_whole(r: usize, largest: usize) -> bool {
    let entries = |p: usize| p * (p + 1) / 2;
    let products = |p: usize| p * p * p / 6;
    LOOKED_UP * entries(r) + products(r) <= LOOK_UP * entries(largest) + products(largest)
}

impl Scratch {
    /// Gives lane `l` the next row, or leaves it idle with an empty passive set.
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        lane: &mut Lane,
        l: usize,
        next: &mut usize,
        problem: Problem,
        f: &[f64],
    ) {
        let Problem { c, r, .. } = problem;
        let at = *next * r..(*next + 1) * r;
        *lane = Lane { fewest_violations: usize::MAX, patience: PATIENCE, ..Lane::default() };
        self.c_max.0[l] = 0.0;
        if at.end > f.len() {
            for i in 0..r {
                self.c[i].0[l] = 0.0;
                self.is_passive[i][l] = false;
            }
        } else {
            lane.row = Some(*next);
            *next += 1;
            lane.cold = !f[at.clone()].iter().any(|&f| f > 0.0);
            let mut c_max = 0.0;
            for (i, (&f, &c)) in f[at.clone()].iter().zip(&c[at]).enumerate() {
                self.c[i].0[l] = c;
                c_max = if c.abs() > c_max { c.abs() } else { c_max };
                // From f = 0 the first exchange is known: every variable with c_i > 0.
                let passive = if lane.cold { c > 0.0 } else { f > 0.0 };
                self.is_passive[i][l] = passive;
                lane.passive += usize::from(passive);
            }
            self.c_max.0[l] = c_max;
        }
    }

    /// Lists the passive variables of lane `l` in `order`, padded with the zero variable.
    #[inline(always)]
    pub(super) fn compress(&mut self, lane: &mut Lane, l: usize, r: usize) {
        let mut passive = 0;
        for i in 0..r {
            self.order[passive][l] = i;
            passive += usize::from(self.is_passive[i][l]);
        }
        self.order[passive..].iter_mut().for_each(|order| order[l] = r);
        lane.listed = true;
    }

    /// Solves G_PP f_P = c_P in every lane with all r topics. Those that are not passive have a pivot of zero, so that they stay at
    /// zero and add nothing to any sum: the answer is bitwise that of `solve_passive`.
    #[inline(always)]
    pub(super) fn solve_whole<const T: usize, const FMA: bool>(&mut self, panels: usize, r: usize) {
        for (mask, passive) in self.mask.iter_mut().zip(&self.is_passive) {
            *mask = Pack(passive.map(|passive| f64::from(u8::from(passive))));
        }
        let factor = self.factor.as_chunks_mut::<T>().0;
        for a in 0..panels * T {
            let row = &mut factor[lanes::panel_start::<T>(a / T)..][..=a];
            let (own, gram) = (self.mask[a], &self.gram[a * self.stride..][..=a]);
            for ((column, gram), mask) in row.iter_mut().zip(gram).zip(&self.mask) {
                let both = own.zip(*mask, |a, b| a * b);
                column[a % T] = both.zip(Pack::all(*gram), |both, gram| both * gram);
            }
            self.x[a] = own.zip(self.c[a], |own, c| own * c);
        }
        self.factorise::<T, FMA>(panels, r);
        self.f[..r].copy_from_slice(&self.x[..r]);
    }

    /// G_PP = L D Lᵀ and x ← (L D Lᵀ)⁻¹x.
    #[inline(always)]
    fn factorise<const T: usize, const FMA: bool>(&mut self, panels: usize, r: usize) {
        let dependent = DEPENDENT * r as f64;
        lanes::factorise::<T, FMA>(
            &mut self.factor,
            &mut self.panel,
            &mut self.inverse,
            panels,
            dependent,
        );
        lanes::substitute::<T, FMA>(&self.factor, &self.inverse, &mut self.x, panels);
    }

    /// Solves G_PP f_P = c_P in every lane; the result stands in `x`, in the order of the lanes.
    #[inline(always)]
    pub(super) fn solve_passive<const T: usize, const FMA: bool>(
        &mut self,
        panels: usize,
        r: usize,
    ) {
        let factor = self.factor.as_chunks_mut::<T>().0;
        for a in 0..panels * T {
            let row = &mut factor[lanes::panel_start::<T>(a / T)..][..=a];
            let gram: [&[f64]; LANES] = std::array::from_fn(|l| {
                &self.gram[self.order[a][l] * self.stride..][..self.stride]
            });
            for (column, order) in row.iter_mut().zip(&self.order) {
                let pack = &mut column[a % T];
                for l in 0..LANES {
                    pack.0[l] = gram[l][order[l]];
                }
            }
        }
        for (x, order) in self.x[..panels * T].iter_mut().zip(&self.order) {
            for (l, &i) in order.iter().enumerate() {
                x.0[l] = self.c[i].0[l];
            }
        }
        self.factorise::<T, FMA>(panels, r);
    }

    /// Spreads x over all variables.
    #[inline(always)]
    pub(super) fn scatter(&mut self, lanes: &[Lane; LANES], r: usize) {
        self.f[..r].fill(Pack::ZERO);
        for l in 0..LANES {
            for (x, order) in self.x[..lanes[l].passive].iter().zip(&self.order) {
                self.f[order[l]].0[l] = x.0[l];
            }
        }
    }

    /// Lists the variables that are not zero in every lane.
    #[inline(always)]
    pub(super) fn find_union(&mut self, r: usize) {
        self.union.clear();
        for i in 0..r {
            if self.f[i].0 != [0.0; LANES] {
                self.union.push(i);
            }
        }
    }

    /// G f, and |G||f| where G has negative entries.
    #[inline(always)]
    pub(super) fn gradient<const FMA: bool>(&mut self, r: usize) {
        lanes::product::<FMA>(&self.gram, self.stride, &self.union, &self.f, &mut self.gf, r);
        if !self.gram_abs.is_empty() {
            for &j in &self.union {
                self.f_abs[j] = Pack(self.f[j].0.map(f64::abs));
            }
            lanes::product::<FMA>(
                &self.gram_abs,
                self.stride,
                &self.union,
                &self.f_abs,
                &mut self.gf_abs,
                r,
            );
        }
    }

    /// Which lanes satisfy the KKT conditions, and the violation each may have.
    #[inline(always)]
    pub(super) fn check(&self, r: usize) -> ([bool; LANES], Pack) {
        let sizes = if self.gram_abs.is_empty() { &self.gf } else { &self.gf_abs };
        let (mut size, mut f_min, mut y_min, mut y_max) =
            (Pack::ZERO, Pack::ZERO, Pack::ZERO, Pack::ZERO);
        for (i, &abs) in sizes.iter().enumerate().take(r) {
            let (f, y) = (self.f[i], self.gf[i].zip(self.c[i], |a, b| a - b));
            size = size.max(abs);
            f_min = f_min.min(f);
            y_min = y_min.min(y);
            y_max = y_max.max(f.zip(y, |f, y| if f > 0.0 { y } else { 0.0 }));
        }
        let bound = size.zip(self.c_max, |a, b| TOLERANCE * (a + b));
        let solved = std::array::from_fn(|l| {
            f_min.0[l] >= 0.0 && y_min.0[l] >= -bound.0[l] && y_max.0[l] <= bound.0[l]
        });
        (solved, bound)
    }

    /// Exchanges the variables of wrong sign in lane `l`. False when pivoting should stop: too many
    /// rounds, or nothing to exchange although the conditions do not hold.
    #[inline(always)]
    pub(super) fn exchange(&mut self, lane: &mut Lane, l: usize, bound: f64, r: usize) -> bool {
        if lane.rounds >= MAX_ROUNDS {
            return false;
        }
        let (mut violations, mut last, mut size) = (0, 0, 0);
        for i in 0..r {
            let passive = self.is_passive[i][l];
            let y = self.gf[i].0[l] - self.c[i].0[l];
            let wrong = (passive & (self.f[i].0[l] < 0.0)) | (!passive & (y < -bound));
            self.is_wrong[i] = wrong;
            self.is_passive[i][l] = passive ^ wrong;
            size += usize::from(passive ^ wrong);
            violations += usize::from(wrong);
            last = if wrong { i } else { last };
        }
        if violations == 0 {
            return false;
        }
        if violations < lane.fewest_violations {
            lane.fewest_violations = violations;
            lane.patience = PATIENCE;
        } else if lane.patience > 0 {
            lane.patience -= 1;
        } else {
            // Júdice & Pires: only the violation with the largest index; the others go back.
            for i in 0..last {
                self.is_passive[i][l] ^= self.is_wrong[i];
            }
            size = (0..r).filter(|&i| self.is_passive[i][l]).count();
        }
        (lane.passive, lane.listed) = (size, false);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// f of both ways for random passive sets, some of topics that depend on others.
    fn both<const T: usize, const FMA: bool>(r: usize, stream: &mut Stream) -> [Vec<Pack>; 2] {
        let n = r + 2;
        let mut h: Vec<f64> = (0..r * n).map(|_| stream.uniform() - 0.2).collect();
        if r > 2 {
            h.copy_within(0..n, 2 * n);
        }
        let dot = |i: usize, j: usize| (0..n).map(|k| h[i * n + k] * h[j * n + k]).sum::<f64>();
        let g: Vec<f64> = (0..r * r).map(|at| dot(at / r, at % r)).collect();
        let c: Vec<f64> = (0..LANES * r).map(|_| stream.uniform() - 0.3).collect();
        let f: Vec<f64> = (0..LANES * r).map(|_| (stream.uniform() - 0.4).max(0.0)).collect();
        let mut s = Scratch::default();
        s.prepare(&g, r);
        let mut lanes = [Lane::default(); LANES];
        let mut next = 0;
        for (l, lane) in lanes.iter_mut().enumerate() {
            s.load(lane, l, &mut next, Problem { g: &g, c: &c, r }, &f);
            s.compress(lane, l, r);
        }
        let largest = lanes.iter().map(|lane| lane.passive).max().unwrap_or_default();
        s.solve_passive::<T, FMA>(largest.div_ceil(T), r);
        s.scatter(&lanes, r);
        let apart = s.f[..r].to_vec();
        s.solve_whole::<T, FMA>(r.div_ceil(T), r);
        [apart, s.f[..r].to_vec()]
    }

    #[test]
    fn topics_at_zero_change_no_bit_of_the_others() {
        let mut stream = Stream::new(7, Purpose::Spectral, 8);
        for r in 1..30 {
            for [apart, whole] in
                [both::<4, true>(r, &mut stream), both::<2, false>(r, &mut stream)]
            {
                let values = |f: &[Pack]| f.iter().map(|pack| pack.0).collect::<Vec<_>>();
                assert!(values(&apart).iter().flatten().any(|v| *v != 0.0));
                assert_eq!(values(&apart), values(&whole), "{r} topics");
            }
        }
    }
}
