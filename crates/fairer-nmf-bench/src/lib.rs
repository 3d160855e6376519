//! What the measurements share: the dictionary step as a cone program, random instances, and the
//! paper's data sets.

pub mod calibration;
pub mod instances;
pub mod paper;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
};
use fairer_nmf::rows::Statistics;
use nalgebra::DMatrix;

/// What the cone solver found.
pub struct Cone {
    /// The optimum of the step, in units of loss.
    pub value: f64,
    /// H (r×n), row-major.
    pub components: Vec<f64>,
    /// Iterations of the interior-point method.
    pub iterations: u32,
    /// Whether the solver reports success.
    pub solved: bool,
}

/// Minimises the largest loss over H ≥ 0 by Clarabel, on the compressed problem: with
/// gram = RᵀR and q = R⁻ᵀ·cross, ‖X − WH‖² = ‖RH − q‖² + rest, so that every group is one
/// second-order cone of r·n + 2 numbers whatever its number of rows.
///
/// # Panics
/// If the statistics are not of one shape.
#[must_use]
pub fn cone_step(statistics: &[Statistics], baselines: &[f64]) -> Cone {
    let (r, n) = statistics[0].cross().dim();
    let variables = r * n + 1;
    let t = r * n;
    // Triplets of the constraint matrix; a row of Clarabel is b − Ax ∈ cone.
    let (mut rows, mut columns, mut values, mut b) = (vec![], vec![], vec![], vec![]);
    let mut push = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    for i in 0..r * n {
        push(i, i, -1.0);
        b.push(0.0);
    }
    let mut cones = vec![NonnegativeConeT(r * n)];
    for (s, baseline) in statistics.iter().zip(baselines) {
        let norm = s.squared_norm().sqrt();
        let (root, target, rest) = compress(s);
        // t + e ≥ ‖(RH − q, rest)‖ / norm
        push(b.len(), t, -1.0);
        b.push(baseline / norm);
        let kept = root.nrows();
        for j in 0..n {
            for i in 0..kept {
                for k in 0..r {
                    push(b.len(), k * n + j, root[(i, k)] / norm);
                }
                b.push(target[(i, j)] / norm);
            }
        }
        b.push(rest / norm);
        cones.push(SecondOrderConeT(kept * n + 2));
    }
    let a = CscMatrix::new_from_triplets(b.len(), variables, rows, columns, values);
    let p = CscMatrix::zeros((variables, variables));
    let mut q = vec![0.0; variables];
    q[t] = 1.0;
    let mut settings = DefaultSettings::<f64> { verbose: false, ..DefaultSettings::default() };
    settings.tol_gap_abs = 1e-9;
    settings.tol_gap_rel = 1e-9;
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings)
        .expect("the cone program has consistent dimensions");
    solver.solve();
    let solution = &solver.solution;
    Cone {
        value: solution.x[t],
        components: solution.x[..r * n].to_vec(),
        iterations: solution.iterations,
        solved: matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved),
    }
}

/// R, q and the part of the error that no H can change.
fn compress(s: &Statistics) -> (DMatrix<f64>, DMatrix<f64>, f64) {
    let (gram, cross) = (s.gram(), s.cross());
    let (r, n) = cross.dim();
    let eigen = DMatrix::from_fn(r, r, |i, j| gram[(i, j)]).symmetric_eigen();
    let cross = DMatrix::from_fn(r, n, |k, j| cross[(k, j)]);
    let largest = eigen.eigenvalues.max().max(0.0);
    let kept: Vec<usize> =
        (0..r).filter(|&i| eigen.eigenvalues[i] > 1e-13 * largest.max(1e-300)).collect();
    let root = DMatrix::from_fn(kept.len(), r, |i, k| {
        eigen.eigenvalues[kept[i]].sqrt() * eigen.eigenvectors[(k, kept[i])]
    });
    let target = DMatrix::from_fn(kept.len(), n, |i, j| {
        let along: f64 = (0..r).map(|k| eigen.eigenvectors[(k, kept[i])] * cross[(k, j)]).sum();
        along / eigen.eigenvalues[kept[i]].sqrt()
    });
    let rest = (s.squared_norm() - target.norm_squared()).max(0.0).sqrt();
    (root, target, rest)
}
