use super::*;

#[test]
fn thinning_keeps_both_ends() {
    let places = thinned(10_000);
    assert_eq!((places[0], places[places.len() - 1]), (0, 9_999));
    assert!(places.len() <= 160 && places.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(thinned(3), [0, 1, 2]);
}

#[test]
fn stems_are_safe_file_names() {
    assert_eq!(slug("Fairer-NMF (AM)"), "-fairer-nmf-am");
    assert_eq!(slug("../../<x>"), "-x");
}
