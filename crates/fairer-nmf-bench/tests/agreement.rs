//! The exact dictionary step against a general cone solver, on every kind of instance.

use fairer_nmf::weights::min_max_step;
use fairer_nmf_bench::cone_step;
use fairer_nmf_bench::instances::{KINDS, instance};
use ndarray::Array2;

#[test]
fn exact_step_agrees_with_a_cone_solver_and_its_bounds_bracket_the_optimum() {
    let mut compared = 0;
    for kind in KINDS {
        let (mut worst, mut largest_gap, mut solves) = (0.0f64, 0.0f64, 0);
        for index in 0..25 {
            let problem = instance(kind, index);
            let (r, n) = problem.shape;
            let cone = cone_step(&problem.statistics, &problem.baselines);
            assert!(cone.solved, "the reference failed on {kind} {index}");
            let start = Array2::from_elem((r, n), 0.5);
            let step =
                min_max_step(&problem.statistics, &problem.baselines, start.view(), 1e-9).unwrap();
            let scale = cone.value.abs().max(1e-2);
            let off = (step.upper - cone.value).abs() / scale;
            assert!(off < 1e-6, "{kind} {index}: ours {} reference {}", step.upper, cone.value);
            // The reference is good to about 1e-8 itself.
            assert!(
                step.lower <= cone.value + 1e-7 * scale,
                "{kind} {index}: lower {}",
                step.lower
            );
            assert!(
                step.upper >= cone.value - 1e-7 * scale,
                "{kind} {index}: upper {}",
                step.upper
            );
            let total: f64 = step.weights.iter().sum();
            assert!((total - 1.0).abs() < 1e-9 && step.weights.iter().all(|w| *w >= 0.0));
            worst = worst.max(off);
            largest_gap = largest_gap.max(step.upper - step.lower);
            solves = solves.max(step.solves);
            compared += 1;
        }
        println!(
            "{kind:18} worst difference {worst:.1e}, largest gap {largest_gap:.1e}, most solves {solves}"
        );
    }
    assert!(compared >= 200);
}
