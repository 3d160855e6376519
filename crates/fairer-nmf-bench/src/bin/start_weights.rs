//! Whether the bound's weights are a better beginning than even ones, on the paper's 45 cells.
//!
//!     cargo run --release -p fairer-nmf-bench --features studies --bin start_weights -- SHARED [SEEDS] [N_INIT]
//!
//! SHARED is the folder with the paper's data sets. Both beginnings get the same baselines and
//! seeds; a cell differs where the means are further apart than 1e-4.

use fairer_nmf::{Baseline, Parameters, fit, fit::StartWeights, silent};
use fairer_nmf_bench::paper::{self, Failure};

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let shared = arguments.next().ok_or("give the folder with the paper's data sets")?;
    let seeds: u64 = arguments.next().map_or(Ok(3), |s| s.parse())?;
    let n_init: usize = arguments.next().map_or(Ok(4), |s| s.parse())?;
    println!(
        "| set | rank | even | bound | iterations, even | iterations, bound |\n|---|---|---|---|---|---|"
    );
    let (mut better, mut worse, mut cells, mut difference) = (0, 0, 0, 0.0);
    for set in &paper::SETS {
        let dataset = set.read(&shared)?;
        let data = paper::grouped(&dataset)?;
        for rank in 1..=set.ranks {
            let mut sums = [[0.0; 2]; 2];
            for seed in 0..seeds {
                let mut baseline = None;
                for (at, start_weights) in
                    [StartWeights::Even, StartWeights::Bound].into_iter().enumerate()
                {
                    let defaults = Parameters::new(rank);
                    let parameters = Parameters::new(rank).with(|p| {
                        p.seed = seed;
                        p.n_init = n_init;
                        p.start_weights = start_weights;
                        p.baseline = baseline.clone().unwrap_or(defaults.baseline);
                        p.bound = false;
                    });
                    let model = fit(&data, &parameters, &silent)?.model;
                    let errors = model.baseline_errors();
                    baseline = Some(Baseline::Given { errors });
                    sums[at][0] += model.worst_loss() / seeds as f64;
                    sums[at][1] += model.iterations() as f64 / seeds as f64;
                }
            }
            let [even, bound] = sums;
            println!(
                "| {} | {rank} | {:.5} | {:.5} | {:.0} | {:.0} |",
                set.name, even[0], bound[0], even[1], bound[1]
            );
            cells += 1;
            difference += bound[0] - even[0];
            better += usize::from(bound[0] < even[0] - 1e-4);
            worse += usize::from(bound[0] > even[0] + 1e-4);
        }
    }
    println!(
        "\n{cells} cells, {seeds} seeds, n_init {n_init}: the bound's weights are better in {better} and worse in {worse}; mean difference {:+.5}",
        difference / cells as f64
    );
    Ok(())
}
