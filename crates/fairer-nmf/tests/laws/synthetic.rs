//! The synthetic data sets have the structure of the authors' draws.

use crate::shared::{shared, skipped::skipped};
use fairer_nmf::{GroupedData, synthetic};
use ndarray::Array2;
use std::collections::BTreeSet;
use std::process::Command;

type Support = Vec<usize>;

fn supports(x: &Array2<f64>, rows: std::ops::Range<usize>) -> BTreeSet<Support> {
    let support = |i: usize| (0..x.ncols()).filter(|&j| x[[i, j]] > 0.0).collect();
    rows.map(support).collect()
}

/// X and group of an `.npz` of the authors, by Python's standard library alone; none (with a
/// word on why) where the file or Python is missing.
fn authors(name: &str) -> Option<Array2<f64>> {
    let file = shared(&format!("synthetic/{name}.npz"))?;
    let script = "
import array, ast, sys, zipfile
raw = zipfile.ZipFile(sys.argv[1]).read('X.npy')
end = 10 + int.from_bytes(raw[8:10], 'little')
print(*ast.literal_eval(raw[10:end].decode())['shape'])
print(*map(repr, array.array('d', raw[end:])))
";
    let output = Command::new("python3").args(["-c", script]).arg(&file).output().ok();
    let Some(output) = output.filter(|o| o.status.success()) else {
        skipped("python3 is missing");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace();
    let shape: [usize; 2] = std::array::from_fn(|_| words.next().unwrap().parse().unwrap());
    let values = words.map(|w| w.parse().unwrap()).collect();
    Some(Array2::from_shape_vec((shape[0], shape[1]), values).unwrap())
}

/// The number of rows of a group whose support is each of the possible ones, and its norm after
/// feature scaling, for our draw and theirs.
fn assert_like_the_authors(name: &str, x: Array2<f64>, labels: &[&'static str], exact: &[bool]) {
    let data = GroupedData::new(x.view(), labels).unwrap().normalize_features().unwrap();
    let Some(theirs) = authors(name) else { return };
    assert_eq!(theirs.dim(), x.dim());
    for (g, &exact) in exact.iter().enumerate() {
        let rows = 500 * g..500 * (g + 1);
        let ours = data.groups().iter().find(|group| group.rows[0] == rows.start).unwrap();
        assert_eq!(ours.rows.len(), 500);
        if exact {
            assert_eq!(supports(&x, rows.clone()), supports(&theirs, rows.clone()), "group {g}");
        }
        let norm = theirs.rows().into_iter().skip(rows.start).take(500);
        let norm = norm.map(|row| row.dot(&row)).sum::<f64>().sqrt();
        assert!((ours.norm() / norm - 1.0).abs() < 0.05, "group {g}: {} and {norm}", ours.norm());
    }
}

#[test]
fn the_first_set_is_pairs_and_singles() {
    let (x, labels) = synthetic::first(3);
    let pairs = BTreeSet::from([vec![0, 3], vec![1, 4], vec![2, 5]]);
    assert_eq!(supports(&x, 0..500), pairs);
    assert_eq!(supports(&x, 500..1000), (6..12).map(|j| vec![j]).collect());
    assert!(x.iter().all(|&v| v == 0.0 || v == 1.0));
    assert_like_the_authors("ortho1", x, &labels, &[true, true]);
}

#[test]
fn the_second_set_is_pairs_noisy_pairs_and_other_pairs() {
    let (x, labels) = synthetic::second(3);
    assert_eq!(supports(&x, 0..500), BTreeSet::from([vec![0, 3], vec![1, 4], vec![2, 5]]));
    assert_eq!(supports(&x, 1000..1500), BTreeSet::from([vec![6, 9], vec![7, 10], vec![8, 11]]));
    // Noise of deviation 0.1 around 0, cut at 0: half of the ten empty places of a row are filled.
    let noisy = x.rows().into_iter().skip(500).take(500);
    let filled = noisy.flat_map(|r| r.to_vec()).filter(|&v| v > 0.0).count() as f64 / 6000.0;
    assert!((filled - 7.0 / 12.0).abs() < 0.02, "{filled}");
    assert_like_the_authors("ortho2", x, &labels, &[true, false, true]);
}

#[test]
fn draws_depend_on_the_seed_alone() {
    assert_eq!(synthetic::second(8), synthetic::second(8));
    assert_ne!(synthetic::second(8).0, synthetic::second(9).0);
}
