//! The pieces by themselves: statistics that travel, rules that go with any update.

use crate::common::{Rng, distance, fixed, noisy};
use fairer_nmf::weights::WeightRule;
use fairer_nmf::{
    Error, GroupedData, Method, Update, fit, rows::Statistics, rows::group_statistics, silent,
    weights::min_max_step,
};
use ndarray::{Array2, s};

/// What a worker with some of the rows would send, put together, is what one process finds.
#[test]
fn statistics_travel_as_bytes_and_add_over_blocks() {
    let (x, labels) = noisy(51, 60, 9);
    let w: Array2<f64> = Rng(52).matrix(60, 4);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let whole = group_statistics(&data, w.view()).unwrap();
    let (first, second) = (0..25, 25..60);
    let mut summed: Vec<Option<Statistics>> = vec![None; whole.len()];
    for rows in [first, second] {
        let block = x.slice(s![rows.clone(), ..]);
        let data = GroupedData::new(block, &labels[rows.clone()]).unwrap();
        assert_eq!(data.groups().len(), whole.len());
        let sent = group_statistics(&data, w.slice(s![rows, ..])).unwrap();
        for (total, sent) in summed.iter_mut().zip(&sent) {
            let received = Statistics::from_bytes(&sent.to_bytes()).unwrap();
            assert_eq!(received, *sent);
            match total {
                Some(total) => total.merge(&received).unwrap(),
                None => *total = Some(received),
            }
        }
    }
    for (total, whole) in summed.iter().flatten().zip(&whole) {
        assert!(distance(&total.gram(), &whole.gram()) < 1e-14);
        assert!(distance(&total.cross(), &whole.cross()) < 1e-14);
        assert!((total.squared_norm() - whole.squared_norm()).abs() < 1e-12);
    }
    let summed: Vec<Statistics> = summed.into_iter().flatten().collect();
    let start = Rng(53).matrix(4, 9);
    let step = |of: &[Statistics]| min_max_step(of, &[0.0; 3], start.view(), 1e-9).unwrap();
    assert!((step(&summed).upper - step(&whole).upper).abs() < 1e-9);
}

#[test]
fn statistics_can_be_made_from_products_and_damaged_bytes_are_refused() {
    let (x, w) = (Rng(54).matrix(7, 5), Rng(55).matrix(7, 3));
    let norm = x.mapv(|v| v * v).sum();
    let made = Statistics::new(w.t().dot(&w).view(), w.t().dot(&x).view(), norm).unwrap();
    let data = GroupedData::one_group(x.view()).unwrap();
    let found = &group_statistics(&data, w.view()).unwrap()[0];
    assert!(distance(&made.cross(), &found.cross()) < 1e-14);
    assert!(distance(&made.gram(), &found.gram()) < 1e-14);
    assert_eq!((made.shape(), made.squared_norm()), ((3, 5), norm));
    assert!((found.squared_norm() - norm).abs() < 1e-14 * norm);

    let bytes = made.to_bytes();
    for length in [0, 7, 8, 16, 24, bytes.len() - 8, bytes.len() - 1] {
        let refused = Statistics::from_bytes(&bytes[..length]);
        assert!(matches!(refused, Err(Error::Statistics { .. })), "{length} bytes");
    }
    // No topics, or no features, with as many numbers as that takes.
    for (rank, features, numbers) in [(0u64, 5u64, 1), (2, 0, 5), (0, 0, 1)] {
        let sizes = [rank, features].into_iter().flat_map(u64::to_le_bytes);
        let empty: Vec<u8> = sizes.chain(vec![0; 8 * numbers]).collect();
        assert!(matches!(Statistics::from_bytes(&empty), Err(Error::Statistics { .. })));
    }
    let mut huge = bytes.clone();
    huge[..16].fill(0xff);
    assert!(matches!(Statistics::from_bytes(&huge), Err(Error::Statistics { .. })));
    let mut nan = bytes.clone();
    nan[16..24].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(matches!(Statistics::from_bytes(&nan), Err(Error::NotFinite { .. })));
    let other = Statistics::new(Array2::eye(2).view(), Rng(1).matrix(2, 5).view(), 1.0).unwrap();
    assert!(matches!(made.clone().merge(&other), Err(Error::Shape { .. })));
    let square = Array2::eye(3);
    assert!(Statistics::new(square.view(), Rng(1).matrix(2, 5).view(), 1.0).is_err());
}

/// Any rule works with any update, and the weights that a fit reports are those it had.
#[test]
fn any_weight_rule_goes_with_any_update_and_says_its_weights() {
    let (x, labels) = noisy(56, 80, 10);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let rules = [
        WeightRule::Decaying { even_start: true },
        WeightRule::Decaying { even_start: false },
        WeightRule::Largest,
        WeightRule::Fixed { step: 0.2 },
        WeightRule::Uniform,
    ];
    for update in [Update::Mu, Update::Hals, Update::Nnls] {
        let standard = fit(&data, &fixed(3, Method::Standard { update }, 40), &silent).unwrap();
        for weights in rules {
            let method = Method::Weighted { weights, update };
            let found = fit(&data, &fixed(3, method, 40), &silent).unwrap().model;
            let total: f64 = found.groups.iter().map(|g| g.weight).sum();
            assert!((total - 1.0).abs() < 1e-12, "{method:?}: {total}");
            let worst = |m: &fairer_nmf::Model| m.worst_loss();
            match weights {
                WeightRule::Uniform => assert_eq!(found.groups, standard.model.groups),
                // All weight on one group, the worst one of the last iteration but one.
                WeightRule::Largest => {
                    assert!(found.groups.iter().filter(|g| g.weight == 1.0).count() == 1);
                }
                _ => {
                    assert!(found.groups.iter().any(|g| (g.weight - 1.0 / 3.0).abs() > 1e-3));
                    // The losses follow the weights: no worse than standard NMF by much.
                    assert!(worst(&found) < worst(&standard.model) + 0.02, "{method:?}");
                }
            }
        }
    }
}
