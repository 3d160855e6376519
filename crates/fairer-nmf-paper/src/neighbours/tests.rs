//! The checks that each neighbour's paper, or plain reason, offers.

use fairer_nmf::baseline::GroupBaseline;
use fairer_nmf::bound::BoundReport;
use fairer_nmf::fit::estimate_baselines;
use fairer_nmf::{Baseline, GroupedData, Parameters, silent, synthetic};
use ndarray::{Array2, Axis};

use super::pca::fair_pca;
use super::weighted::Aggregate;
use super::{ALL, Neighbour, Task, compare};

const RANK: usize = 3;

fn small() -> (Array2<f64>, Vec<&'static str>) {
    let (x, labels) = synthetic::second(1);
    let rows: Vec<usize> = (0..x.nrows()).step_by(12).collect();
    (x.select(Axis(0), &rows), rows.iter().map(|&row| labels[row]).collect())
}

fn parameters() -> Parameters {
    Parameters::new(RANK).with(|p| {
        p.n_init = 1;
        p.baseline = Baseline::Zero;
    })
}

fn with_task(check: impl Fn(&Task<'_, '_>)) {
    let (x, labels) = small();
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let found =
        estimate_baselines(&data, RANK, &Parameters::new(RANK).baseline, 0, &silent).unwrap();
    let baselines = GroupBaseline::errors(&found);
    let bound = BoundReport::default();
    check(&Task {
        data: &data,
        parameters: parameters(),
        baselines: &baselines,
        bound: &bound,
        observer: &silent,
    });
}

#[test]
fn one_audit_holds_for_all_of_them() {
    let (x, labels) = small();
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let p = parameters().with(|p| p.baseline = Parameters::new(RANK).baseline);
    let found = compare(&data, &ALL, &p, &silent).unwrap();
    let of = |method: Neighbour| found.methods.iter().find(|m| m.method == method.name()).unwrap();
    let (standard, fairer) = (of(Neighbour::Standard), of(Neighbour::Fairer));
    assert!(fairer.worst_loss <= standard.worst_loss + 1e-6);
    let bound = found.global_bound.unwrap();
    for outcome in &found.methods {
        assert!(outcome.relative_errors.iter().all(|f| (0.0..=1.0 + 1e-9).contains(f)));
        for (l, loss) in outcome.losses.iter().enumerate() {
            let expected = outcome.relative_errors[l] - found.relative_baselines[l];
            assert!((loss - expected).abs() < 1e-9);
            assert!((outcome.excess_losses[l] - (loss - found.chance_mean[l])).abs() < 1e-9);
        }
        // Models of rank r, non-negative or not; the separate ones have more topics.
        if outcome.method != "separate" {
            assert!(outcome.worst_loss >= bound - 1e-6, "{}", outcome.method);
            assert_eq!(outcome.parameters, RANK * data.features(), "{}", outcome.method);
        }
    }
    // What every group has alone is lower than what it shares.
    assert!(of(Neighbour::Separate).worst_loss <= fairer.worst_loss + 1e-6);
    let weighted = data.groups().len();
    assert_eq!(of(Neighbour::Separate).parameters, weighted * RANK * data.features());
}

#[test]
fn aggregates_begin_at_the_mean_and_end_at_the_maximum() {
    let costs = [1.0, 2.0, 4.0];
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} and {b}");
    near(Aggregate::power(1.0).value(&costs), 7.0 / 3.0);
    near(Aggregate::disparity(0.0).value(&costs), 7.0);
    assert!((Aggregate::power(200.0).value(&costs) - 4.0).abs() < 0.03);
    assert!((Aggregate::exponential(200.0).value(&costs) - 4.0).abs() < 0.01);
    with_task(|task| {
        let largest = |aggregate: Aggregate| {
            let (h, _) = task.minimise(aggregate).unwrap();
            let errors = task.errors(h.view()).unwrap();
            let groups = errors.iter().zip(task.data.groups());
            let costs: Vec<f64> =
                groups.map(|(f, g)| f * f * g.squared_norm / g.rows.len() as f64).collect();
            (costs.iter().sum::<f64>(), costs.iter().copied().fold(0.0, f64::max))
        };
        // p = 1 and γ = 0 are the sum of the average costs: nothing is left to lower.
        let (mean, sum) = (largest(Aggregate::power(1.0)), largest(Aggregate::disparity(0.0)));
        assert!((mean.0 - sum.0).abs() < 1e-2 * sum.0, "{mean:?} {sum:?}");
        let high = largest(Aggregate::power(16.0));
        assert!(high.1 <= mean.1 * (1.0 + 1e-9) && high.0 >= mean.0 * 0.99, "{high:?} {mean:?}");
    });
}

#[test]
fn robust_nmf_lowers_the_largest_scaled_error() {
    with_task(|task| {
        let scaled = |h: &Array2<f64>| {
            let errors = task.errors(h.view()).unwrap();
            let groups = errors.iter().zip(task.data.groups()).zip(task.baselines);
            let of = |((f, g), e): ((&f64, &fairer_nmf::data::Group), &f64)| {
                let unit = if *e > 1e-6 * g.norm() { *e } else { g.norm() };
                f * g.norm() / unit
            };
            groups.map(of).fold(0.0, f64::max)
        };
        let (none, _) = task.robust_dictionary(0).unwrap();
        let (some, lambda) = task.robust_dictionary(100).unwrap();
        assert!(scaled(&some) <= scaled(&none) + 1e-9);
        assert!((lambda.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    });
}

#[test]
fn fair_pca_is_pca_for_one_group_and_equal_losses_for_two() {
    let (x, labels) = small();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let n = data.features();
    let moments = data.second_moments();
    let rows: Vec<usize> = data.groups().iter().map(|g| g.rows.len()).collect();
    let one = fair_pca(&moments[..1], &rows[..1], n, 2);
    assert!(one.upper.abs() < 1e-9, "{}", one.upper);
    let two = fair_pca(&moments[..2], &rows[..2], n, 2);
    let size: f64 = (0..n).map(|i| moments[0][i * n + i]).sum::<f64>() / rows[0] as f64;
    assert!(two.upper - two.lower < 1e-6 * size, "{} {}", two.lower, two.upper);
    assert!((two.losses[0] - two.losses[1]).abs() < 1e-4 * size, "{:?}", two.losses);
    let three = fair_pca(&moments, &rows, n, 2);
    assert!(three.lower <= three.upper + 1e-9 * size);
    assert!(three.upper - three.lower < 0.02 * size, "{} {}", three.lower, three.upper);
    // No projection of the rank is below the relaxation.
    for features in [(0, 1), (0, 2), (3, 5), (1, 6)] {
        let kept = |i: usize, j: usize| i == j && (i == features.0 || i == features.1);
        let largest = moments.iter().zip(&rows).map(|(s, &m)| {
            let own = fair_pca(std::slice::from_ref(s), &[m], n, 2).projection;
            let left = |p: &dyn Fn(usize, usize) -> f64| {
                let all: f64 = (0..n).map(|i| s[i * n + i]).sum();
                let inside: f64 = (0..n * n).map(|k| s[k] * p(k / n, k % n)).sum();
                (all - inside) / m as f64
            };
            left(&|i, j| f64::from(u8::from(kept(i, j)))) - left(&|i, j| own[i * n + j])
        });
        assert!(largest.fold(f64::NEG_INFINITY, f64::max) >= three.lower - 1e-9 * size);
    }
}

#[test]
fn what_the_neighbours_do_not_know_is_refused() {
    let (x, labels) = small();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let weighted = data.clone().with_weights(&vec![1.0; x.nrows()]).unwrap();
    let said = compare(&weighted, &ALL, &parameters(), &silent).unwrap_err().to_string();
    assert!(said.contains("neither weights"), "{said}");
    let low = parameters().with(|p| p.rank = 2);
    let said = compare(&data, &[Neighbour::SharedBudget], &low, &silent).unwrap_err().to_string();
    assert!(said.contains("gives every group a topic"), "{said}");
}
