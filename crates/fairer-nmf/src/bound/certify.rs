//! A proof that the r largest eigenvalues of a matrix add up to no more than a number.
//!
//! For every σ and every Z ⪰ 0 with Z − S + σI ⪰ 0, σ_r(S) ≤ rσ + tr Z: with the projection P onto the
//! leading eigenvectors, σ_r(S) = ⟨S, P⟩ ≤ ⟨Z + σI, P⟩ ≤ tr Z + rσ. With the exact eigenvectors,
//! Z = Σ_{i ≤ r} (λ_i − σ)u_iu_iᵀ and λ_{r+1} ≤ σ ≤ λ_r there is equality. Here u_i are Ritz vectors, so
//! Z is a little larger, and one Cholesky factorisation proves that it is large enough.
//!
//! *Rounding.* u = 2⁻⁵³, γ_k = ku/(1 − ku). Let M be the matrix in memory. If its factorisation runs to
//! the end, M = RᵀR − E with |E| ≤ γ_{n+1}|R|ᵀ|R| (Higham, Accuracy and Stability of Numerical Algorithms,
//! Theorem 10.3, any order of the sums), and ‖|R|ᵀ|R|‖ ≤ ‖R‖² ≤ tr M/(1 − γ_{n+1}), so
//! M ⪰ −1.1(n + 1)u·tr M (Rump 2006). M differs from Z − S + σI, with Z = LᵀL for the lines L in memory
//! and S exact, by the rounding of S, of k summed products of numbers ≥ 0 each rounded a few times
//! (|ΔS| ≤ γ_{k+8}S entry by entry; S has no negative entries, so ‖ΔS‖ ≤ γ_{k+8}tr S), of Z (≤ γ_{q+1}tr Z) and
//! of their sum (≤ 2u(tr S + tr Z + σ)). All together is δ below, and σ + δ takes the place of σ.

use super::search::Ritz;
use crate::Result;
use crate::kernel::eigen::times;
use crate::kernel::tiles::{Lines, Tiles};

/// Filters of the eigenvectors before the proof.
const FILTERS: usize = 12;
/// The share of σ_r that a proof may lose before another filter is worth its time.
const WORTH: f64 = 1e-8;
/// Proofs that are tried, each with a larger Z.
const TRIES: usize = 8;

/// A lower bound on tr S − σ_r(S) for the matrix S (side×side), each of whose entries is a sum of
/// `summed` products, from columns near its leading eigenvectors; none where no proof succeeds.
pub(super) fn certified_tail(
    matrix: &[f64],
    side: usize,
    summed: usize,
    rank: usize,
    columns: Vec<f64>,
) -> Result<Option<f64>> {
    let image = |v: &[f64], p: usize| times(matrix, side, v, p);
    let apply = |v: &[f64], p: usize| Ok(image(v, p));
    let mut ritz = Ritz::new(columns.clone(), columns.len() / side, apply)?;
    let mut plan = Plan::new(&ritz, rank, &image);
    for _ in 0..FILTERS {
        if plan.loss < WORTH {
            break;
        }
        ritz = ritz.filtered(rank, apply)?;
        plan = Plan::new(&ritz, rank, &image);
    }
    let trace: f64 = (0..side).map(|i| matrix[i * side + i]).sum();
    let mut wider = 1.0;
    for _ in 0..TRIES {
        if let Some(sum) = prove(matrix, side, summed, rank, &ritz, &plan, wider) {
            let u = f64::EPSILON / 2.0;
            let trace = trace * (1.0 - 1.1 * (summed + side + 8) as f64 * u);
            return Ok(Some((trace - sum).max(0.0)));
        }
        wider *= 8.0;
    }
    Ok(None)
}

/// σ, and by how much the Ritz values are enlarged.
struct Plan {
    sigma: f64,
    /// Directions that Z has.
    used: usize,
    enlarged: f64,
    /// What σ + `enlarged` lose against the Ritz values.
    loss: f64,
}

impl Plan {
    /// With residuals of norm ρ in the q directions of Z and values up to c in all others,
    /// [[ε, ρ], [ρ, σ − c]] ⪰ 0 asks for ε(σ − c) ≥ ρ². Of all q the cheapest is taken.
    fn new(ritz: &Ritz, rank: usize, apply: &impl Fn(&[f64], usize) -> Vec<f64>) -> Self {
        let p = ritz.columns;
        let image = apply(&ritz.vectors, p);
        let mut residuals = vec![0.0; p];
        for (image, v) in image.chunks_exact(p).zip(ritz.vectors.chunks_exact(p)) {
            for (k, r) in residuals.iter_mut().enumerate() {
                let d = image[k] - ritz.values[k] * v[k];
                *r += d * d;
            }
        }
        let exact: f64 = ritz.values.iter().take(rank).sum();
        let rounding = 1e-15 * ritz.values[0];
        let mut best: Option<Self> = None;
        for q in 0..p {
            let squared: f64 = residuals[..q].iter().sum::<f64>() + rounding * rounding;
            // The next Ritz value is low by up to its own residual.
            let next = ritz.values[q] + residuals[q].sqrt().min(ritz.values[q]);
            // σ − c and ε of one size, unless there is room below the last value that is used.
            let room = if q > 0 { 0.5 * (ritz.values[q - 1] - next).max(0.0) } else { 0.0 };
            let gap = squared.sqrt().max(if q <= rank { room } else { 0.0 });
            let sigma = next + gap;
            let enlarged = squared / gap;
            let above = ritz.values[..q].iter().map(|v| (v - sigma).max(0.0) + enlarged);
            let loss = rank as f64 * sigma + above.sum::<f64>() - exact;
            if best.as_ref().is_none_or(|b| loss < b.loss) {
                best = Some(Self { sigma, used: q, enlarged, loss });
            }
        }
        best.expect("there is at least one Ritz value")
    }
}

/// rσ + tr Z, rounding included, if Z − S + σI is proved positive.
fn prove(
    matrix: &[f64],
    side: usize,
    summed: usize,
    rank: usize,
    ritz: &Ritz,
    plan: &Plan,
    wider: f64,
) -> Option<f64> {
    let (p, q) = (ritz.columns, plan.used);
    let u = f64::EPSILON / 2.0;
    // What the factorisation's own rounding may ask for, in all directions.
    let spare = wider * 4.0 * side as f64 * u * (1.0 + side as f64 * plan.sigma);
    let sigma = plan.sigma + spare + (wider - 1.0) * plan.enlarged;
    let heights: Vec<f64> = (0..q)
        .map(|k| ((ritz.values[k] - sigma).max(0.0) + wider * plan.enlarged + spare).sqrt())
        .collect();
    let lines = Lines::new(side, q, |line, first, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = ritz.vectors[(first + i) * p + line] * heights[line];
        }
    });
    let squares: f64 = lines.squares();
    let mut m = Tiles::from_fn(side, |i, j| -matrix[i * side + j]);
    m.add(&lines);
    m.raise_diagonal(sigma);
    let (trace_m, trace_s) = (m.trace(), (0..side).map(|i| matrix[i * side + i]).sum::<f64>());
    if !m.factorises() {
        return None;
    }
    let z = squares * (1.0 + 1.1 * (side * q + 4) as f64 * u);
    let delta = 1.1
        * u
        * ((side + 1) as f64 * trace_m.max(0.0)
            + (summed + 10) as f64 * trace_s
            + (q + 3) as f64 * z
            + 2.0 * sigma);
    Some(rank as f64 * (sigma + delta) + z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::eigen::{symmetric, transposed_times};
    use crate::random::{Purpose, Stream};

    /// Eigenvalues that fall by `fall` each, in directions of their own; trace 1, no entry negative.
    fn matrix(side: usize, fall: f64, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut stream = Stream::new(seed, Purpose::Spectral, 2);
        let scale = |at: usize| fall.powi((at / side) as i32).sqrt();
        let b: Vec<f64> = (0..side * side).map(|at| scale(at) * stream.uniform()).collect();
        let mut a = transposed_times(&b, side, &b, side);
        let trace: f64 = (0..side).map(|i| a[i * side + i]).sum();
        a.iter_mut().for_each(|a| *a /= trace);
        let eigen = symmetric(&a, side);
        (a, eigen.values, eigen.vectors)
    }

    fn first(vectors: &[f64], side: usize, p: usize) -> Vec<f64> {
        vectors.chunks_exact(side).flat_map(|row| &row[..p]).copied().collect()
    }

    #[test]
    fn a_certified_tail_is_never_above_the_tail_and_close_to_it() {
        for (seed, (side, rank, fall)) in
            [(12, 3, 0.6), (30, 4, 0.8), (90, 5, 0.9), (30, 1, 0.99), (20, 6, 0.3)]
                .iter()
                .enumerate()
        {
            let (side, rank) = (*side, *rank);
            let (a, values, vectors) = matrix(side, *fall, seed as u64);
            let tail: f64 = values[rank..].iter().sum();
            let columns = first(&vectors, side, rank + 4);
            let found = certified_tail(&a, side, side, rank, columns).unwrap().unwrap();
            assert!(found <= tail + 1e-15 && found >= tail - 1e-9, "{seed}: {found} {tail}");
            // Columns that have nothing to do with the matrix are filtered first.
            let mut stream = Stream::new(9, Purpose::Spectral, seed as u64);
            let random = (0..side * (rank + 4)).map(|_| stream.normal()).collect();
            let found = certified_tail(&a, side, side, rank, random).unwrap().unwrap();
            assert!(found <= tail + 1e-15 && found >= tail - 1e-4, "{seed}: {found} {tail}");
        }
    }

    /// Values that meet at the rank: no room between those that count and the others.
    #[test]
    fn equal_values_at_the_rank_are_no_obstacle() {
        let side = 10;
        let values = [0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03];
        let a: Vec<f64> = (0..side * side)
            .map(|at| if at % (side + 1) == 0 { values[at / side] } else { 0.0 })
            .collect();
        let unit: Vec<f64> = (0..side * side).map(|at| f64::from(at % (side + 1) == 0)).collect();
        for rank in 1..6 {
            let columns = first(&unit, side, rank + 4);
            let tail: f64 = values[rank..].iter().sum();
            let found = certified_tail(&a, side, side, rank, columns).unwrap().unwrap();
            assert!(found <= tail && found >= tail - 1e-12, "{rank}: {found} {tail}");
        }
    }

    /// What is lost by the plan is what the Ritz values lose, and no plan with another number of directions loses less.
    #[test]
    fn a_plan_covers_its_residuals_at_the_least_cost() {
        let (side, rank) = (30, 4);
        let (a, values, vectors) = matrix(side, 0.7, 8);
        let image = |v: &[f64], p: usize| times(&a, side, v, p);
        let apply = |v: &[f64], p: usize| Ok(image(v, p));
        let mut stream = Stream::new(1, Purpose::Spectral, 0);
        let mut columns = first(&vectors, side, rank + 4);
        columns.iter_mut().for_each(|v| *v += 1e-5 * stream.normal());
        let ritz = Ritz::new(columns, rank + 4, apply).unwrap();
        let plan = Plan::new(&ritz, rank, &image);
        let p = ritz.columns;
        let of = image(&ritz.vectors, p);
        let residual = |k: usize| {
            let off = |i: usize| of[i * p + k] - ritz.values[k] * ritz.vectors[i * p + k];
            (0..side).map(|i| off(i).powi(2)).sum::<f64>()
        };
        let rho: f64 = (0..plan.used).map(residual).sum();
        let next = ritz.values[plan.used] + residual(plan.used).sqrt();
        assert!(plan.enlarged * (plan.sigma - next) >= rho * (1.0 - 1e-9), "ε(σ − c) ≥ ρ²");
        assert!(plan.sigma >= values[plan.used] && plan.used == rank);
        let height = |v: &f64| (v - plan.sigma).max(0.0) + plan.enlarged;
        let above: f64 = ritz.values[..plan.used].iter().map(height).sum();
        let exact: f64 = ritz.values[..rank].iter().sum();
        assert!((plan.loss - (rank as f64 * plan.sigma + above - exact)).abs() < 1e-15);
        assert!(plan.loss > 0.0 && plan.loss < 1e-5, "{}", plan.loss);
        let proved = prove(&a, side, side, rank, &ritz, &plan, 1.0).unwrap();
        let sum: f64 = values[..rank].iter().sum();
        assert!(proved >= sum && proved <= sum + plan.loss + 1e-10, "{proved} {sum}");
    }

    /// With so many summed products that their rounding shows: 1.1(k + …)u of the trace for every topic.
    #[test]
    fn the_rounding_of_the_sums_is_allowed_for() {
        let (side, rank) = (20, 3);
        let (a, _, vectors) = matrix(side, 0.6, 2);
        let of = |summed: usize| {
            let columns = first(&vectors, side, rank + 4);
            certified_tail(&a, side, summed, rank, columns).unwrap().unwrap()
        };
        let summed = 1usize << 43;
        let lost = 1.1 * summed as f64 * (f64::EPSILON / 2.0) * (rank as f64 + 1.0);
        let found = of(side) - of(summed);
        assert!((found - lost).abs() < 1e-9 * (1.0 + lost), "{found} {lost}");
    }

    /// Too small a Z is no proof.
    #[test]
    fn what_is_not_so_is_not_proved() {
        let (side, rank) = (20, 3);
        let (a, values, vectors) = matrix(side, 0.6, 3);
        let columns = first(&vectors, side, rank + 4);
        let ritz = Ritz::new(columns, rank + 4, |v, p| Ok(times(&a, side, v, p))).unwrap();
        let plan = |sigma: f64| Plan { sigma, used: rank, enlarged: 0.0, loss: 0.0 };
        let tried = |sigma| prove(&a, side, side, rank, &ritz, &plan(sigma), 1.0);
        assert!(tried(values[rank] - 1e-9).is_none(), "σ below the next value");
        let proved = tried(values[rank] + 1e-9).unwrap();
        let sum: f64 = values[..rank].iter().sum();
        assert!(proved >= sum && proved < sum + 1e-10, "{proved} {sum}");
    }
}
