//! Choices that do not go together get one clear sentence.

use fairer_nmf::discover::{Discover, discover};
use fairer_nmf::fit::{Checkpoint, Ties, fit_kept};
use fairer_nmf::{GroupedData, Method, Parameters, Penalties, Update, fit, silent};
use ndarray::{Array2, array};

use super::low_rank;

fn refused(method: Method) -> String {
    let x = low_rank(12, 5, 2, 0.1);
    let data = GroupedData::one_group(x.view()).unwrap();
    let parameters = Parameters::new(2).with(|p| p.method = method);
    fit(&data, &parameters, &silent).unwrap_err().to_string()
}

#[test]
fn parameters_outside_their_range_and_pairs_that_do_not_go_together() {
    let penalties = |alpha_w: f64, l1_ratio: f64| Penalties { alpha_w, alpha_h: None, l1_ratio };
    let penalised = |update, penalties| Method::Penalised { update, penalties };
    let cases = [
        (Method::Am { gap: 1e-6, fairness: 0.9, ties: Ties::Leximin }, "leave fairness at 1"),
        (Method::WorstShare { share: 0.0 }, "must lie above 0"),
        (Method::WorstShare { share: 1.5 }, "must lie above 0"),
        (Method::WorstShare { share: f64::NAN }, "must lie above 0"),
        (penalised(Update::Mu, penalties(0.1, 0.0)), "hals or nnls"),
        (penalised(Update::Hals, penalties(-0.1, 0.0)), "not negative"),
        (penalised(Update::Hals, penalties(0.1, 2.0)), "between 0 (squares) and 1"),
    ];
    for (method, said) in cases {
        let sentence = refused(method);
        assert!(sentence.contains(said), "{method:?}: {sentence}");
    }
}

#[test]
fn a_group_without_weight_and_a_group_that_covers_nobody() {
    let x = array![[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]];
    let data = GroupedData::new(x.view(), &["a", "a", "b"]).unwrap();
    let refused = data.with_weights(&[1.0, 1.0, 0.0]).unwrap_err().to_string();
    assert!(refused.contains("all rows of group 'b' have weight zero"), "{refused}");
    let members = array![[true, false], [true, false], [true, false]];
    let names = vec![("a".to_owned(), None), ("b".to_owned(), None)];
    let refused = GroupedData::with_members(x.view(), names, members.view()).unwrap_err();
    assert!(refused.to_string().contains("group 'b' has no rows"), "{refused}");
}

#[test]
fn found_groups_are_at_least_two_and_at_most_the_rows() {
    let x = low_rank(12, 5, 2, 0.1);
    let data = GroupedData::one_group(x.view()).unwrap();
    for groups in [0, 1, 13] {
        let how = Discover::Errors;
        let refused = discover(&data, how, groups, &Parameters::new(2), &silent).unwrap_err();
        assert!(refused.to_string().contains("at least two groups"), "{refused}");
    }
}

#[test]
fn the_worst_share_keeps_no_checkpoint() {
    let x = Array2::from_elem((4, 3), 1.0);
    let data = GroupedData::one_group(x.view()).unwrap();
    let method = Method::WorstShare { share: 0.5 };
    let parameters = Parameters::new(1).with(|p| p.method = method);
    let path = std::env::temp_dir().join("no-such-checkpoint");
    let every = std::time::Duration::from_secs(1);
    let kept = Checkpoint::new(path, every);
    let refused = fit_kept(&data, &parameters, Some(&kept), &silent).unwrap_err().to_string();
    assert!(refused.contains("without one"), "{refused}");
}
