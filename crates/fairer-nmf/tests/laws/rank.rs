//! The choice of a rank: laws, and a small part of the study of docs/ranks.md.

use fairer_nmf::audit::rank::{RankOptions, RankReport, choose};
use fairer_nmf::{GroupedData, silent, synthetic};
use ndarray::Array2;

fn chosen(x: &Array2<f64>, labels: &[&str], options: &RankOptions) -> RankReport {
    let data = GroupedData::new(x.view(), labels).unwrap();
    choose(&data, options, &silent).unwrap()
}

#[test]
fn a_planted_rank_is_found() {
    let near = |(rank, seed): (usize, u64)| {
        let (x, labels) = synthetic::planted(seed, rank, 0.3);
        let found = chosen(&x, &labels, &RankOptions::default().with(|o| o.seed = seed)).rank;
        println!("planted {rank}, found {found}");
        found.abs_diff(rank) <= 1
    };
    let trials = [2, 3, 4, 5, 6].into_iter().flat_map(|rank| [(rank, 1), (rank, 2)]);
    let hits = trials.filter(|&trial| near(trial)).count();
    assert!(hits >= 9, "{hits} of 10 within one");
}

#[test]
fn a_group_with_a_topic_of_its_own_raises_the_rank() {
    // Without the 60 rows of "few" there is one topic less to find.
    let (x, labels) = synthetic::planted(3, 4, 0.2);
    let options = RankOptions::default();
    let both = chosen(&x, &labels, &options);
    let many = x.slice(ndarray::s![..240, ..]).to_owned();
    let alone = chosen(&many, &labels[..240], &options);
    assert!(both.rank > alone.rank, "{} and {}", both.rank, alone.rank);
    assert_eq!(alone.rank, 3);
}

#[test]
fn scale_order_and_names_do_not_matter() {
    let (x, labels) = synthetic::planted(5, 3, 0.3);
    let options = RankOptions::default().with(|o| o.ranks = vec![1, 2, 3, 4]);
    let first = chosen(&x, &labels, &options);
    let scaled = chosen(&x.mapv(|v| v * 2f64.powi(40)), &labels, &options);
    assert_eq!(scaled.rank, first.rank);
    for (a, b) in first.points.iter().zip(&scaled.points) {
        assert!((a.held_out_error - b.held_out_error).abs() < 1e-9, "{a:?} {b:?}");
    }
    let again = chosen(&x, &labels, &options);
    assert_eq!(again, first);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| chosen(&x, &labels, &options)), first);
}

#[test]
fn errors_of_held_out_entries_are_those_of_a_plain_computation() {
    // Rank 1 without noise: every row is a multiple of one topic, so what is left out is known.
    let x = Array2::from_shape_fn((20, 8), |(i, j)| (1 + i) as f64 * (1 + j) as f64);
    let labels = vec!["a"; 20];
    let options = RankOptions::default().with(|o| o.ranks = vec![1, 2]);
    let found = chosen(&x, &labels, &options);
    assert!(found.points[0].held_out_error < 1e-3, "{:?}", found.points);
    assert_eq!(found.rank, 1);
    assert!(found.points[0].stability > 0.999);
}

#[test]
fn what_cannot_be_split_is_refused_with_the_cure() {
    let x = Array2::from_elem((3, 3), 1.0);
    let data = GroupedData::new(x.view(), &["a", "a", "b"]).unwrap();
    let message = choose(&data, &RankOptions::default(), &silent).unwrap_err().to_string();
    assert!(message.contains("give the rank"), "{message}");
}

#[test]
fn six_pairs_of_features_are_six_topics() {
    let (x, labels) = synthetic::second(0);
    let options = RankOptions::default().with(|o| o.ranks = (4..=8).collect());
    let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
    let found = chosen(&x, &labels, &options);
    assert_eq!(found.rank, 6, "{found:?}");
    // An entry that nothing foretells costs no more than a few times itself.
    assert!(found.points.iter().all(|p| p.held_out_error < 3.0), "{found:?}");
}
