use fairer_nmf::*;
use ndarray::Array2;
use std::time::Instant;
fn load(name: &str) -> (Array2<f64>, Vec<usize>) {
    let s = std::fs::read_to_string(format!("/tmp/cells/{name}.s")).unwrap();
    let d: Vec<usize> = s.split_whitespace().map(|v| v.parse().unwrap()).collect();
    let x = std::fs::read(format!("/tmp/cells/{name}.x")).unwrap();
    let x: Vec<f64> = x.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let g = std::fs::read(format!("/tmp/cells/{name}.g")).unwrap();
    let g = g.chunks(8).map(|c| i64::from_le_bytes(c.try_into().unwrap()) as usize).collect();
    (Array2::from_shape_vec((d[0], d[1]), x).unwrap(), g)
}
fn main() {
    let init = std::env::args().nth(1).unwrap_or("random".into());
    let seeds: u64 = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(3);
    let only = std::env::args().nth(3);
    for (name, ranks) in [("ortho1", 9), ("ortho2", 6), ("hd", 10), ("20n", 20)] {
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let (x, g) = load(name);
        let mut starts = vec![0usize];
        let mut idx: Vec<i32> = vec![];
        let mut val = vec![];
        for row in x.rows() {
            for (j, &v) in row.iter().enumerate() {
                if v != 0.0 {
                    idx.push(j as i32);
                    val.push(v)
                }
            }
            starts.push(idx.len());
        }
        let l = g.iter().max().unwrap() + 1;
        let names: Vec<String> = (0..l).map(|i| i.to_string()).collect();
        for rank in 1..=ranks {
            let m: Matrix<f64> = if name == "20n" {
                Csr::new(x.ncols(), &starts, Indices::I32(&idx), &val).unwrap().into()
            } else {
                x.view().into()
            };
            let data = GroupedData::with_codes(m, names.clone(), &g).unwrap();
            let mut worst = vec![];
            let (mut tb, mut tf, mut it, mut gap, mut bound, mut tbd) = (0., 0., 0, 0f64, 0f64, 0.);
            for seed in 0..seeds {
                let p = Parameters {
                    seed,
                    bound: false,
                    init: match init.as_str() {
                        "random" => Init::Random,
                        _ => Init::Auto,
                    },
                    ..Parameters::new(rank)
                };
                let f = fit(&data, &p, &silent).unwrap();
                let t = Instant::now();
                let e: Vec<f64> = f.model.groups.iter().map(|g| g.baseline.error).collect();
                bound += global_bound(&data, rank, &e).value.unwrap();
                tbd += t.elapsed().as_secs_f64();
                worst.push(f.model.worst_loss());
                tb += f.baseline_time.as_secs_f64();
                tf += f.fit_time.as_secs_f64();
                it += f.model.iterations();
                gap = gap.max(f.model.step_gap.unwrap());
            }
            let n = seeds as f64;
            let mean = worst.iter().sum::<f64>() / n;
            let min = worst.iter().cloned().fold(9., f64::min);
            let max = worst.iter().cloned().fold(-9., f64::max);
            println!(
                "{name} {rank:2} mean {mean:.5} min {min:.5} max {max:.5} bound {:.5} it {:.0} gap {gap:.1e} base {:.4}s fit {:.4}s bound {:.4}s",
                bound / n,
                it as f64 / n,
                tb / n,
                tf / n,
                tbd / n
            );
        }
    }
}
