//! Groups that are found.

use fairer_nmf::discover::{Discover, discover};
use fairer_nmf::{GroupedData, Model, Parameters, fit, silent};
use ndarray::{Array2, Axis, concatenate};
use std::time::Duration;

use super::{iterations, number};

/// Two kinds of rows without a common feature, the second rare and hard to fit with few topics.
fn two_kinds(zeros: usize) -> Array2<f64> {
    let x = Array2::from_shape_fn((60, 12), |(i, j)| match (i < 45, j < 5) {
        (true, true) => 1.0 + number(0, j, 1) + 0.01 * number(i, j, 2),
        (false, false) => number(i, j, 3),
        _ => 0.0,
    });
    concatenate![Axis(0), x, Array2::zeros((zeros, 12))]
}

const ALL: [Discover; 3] = [Discover::Topics, Discover::Errors, Discover::HeldOutErrors];

#[test]
fn kinds_of_rows_are_found() {
    let x = two_kinds(0);
    let data = GroupedData::one_group(x.view()).unwrap();
    for (how, groups) in
        [(Discover::Topics, 2), (Discover::Errors, 4), (Discover::HeldOutErrors, 4)]
    {
        let found = discover(&data, how, groups, &Parameters::new(2), &silent).unwrap();
        // By errors, the last of four groups is the 15 rows that are hard to fit.
        let last = *found.labels.iter().max().unwrap();
        let kind = match how {
            Discover::Topics => found.labels[50],
            _ => last,
        };
        let hit = (0..60).filter(|&i| (found.labels[i] == kind) == (i >= 45)).count();
        assert!(hit >= 58, "{how:?}: {hit} of 60, {:?}", found.labels);
    }
}

#[test]
fn every_row_has_a_group_and_no_group_is_zero() {
    let x = two_kinds(7);
    let data = GroupedData::one_group(x.view()).unwrap();
    for how in ALL {
        for groups in [2, 3, 5] {
            let parameters = Parameters::new(3).with(|p| p.n_init = 1);
            let found = discover(&data, how, groups, &parameters, &silent).unwrap();
            assert_eq!(found.labels.len(), 67);
            assert!(found.labels.iter().all(|&l| l < groups));
            let grouped = data.with_found(&found).unwrap();
            assert!(grouped.groups().iter().all(|g| g.norm() > 0.0));
            let again = discover(&data, how, groups, &parameters, &silent).unwrap();
            assert_eq!(found, again, "the same seed finds the same groups");
            let mut model = fit(&grouped, &parameters, &silent).unwrap().model;
            model.found_groups = Some(found);
            let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(back.found_groups.unwrap().found_by, how);
        }
    }
}

#[test]
fn groups_that_the_data_have_play_no_part() {
    let x = two_kinds(2);
    let labels: Vec<&str> = (0..62).map(|i| ["a", "b"][i % 2]).collect();
    let one = GroupedData::one_group(x.view()).unwrap();
    let two = GroupedData::new(x.view(), &labels).unwrap();
    for how in ALL {
        let of = |data| discover(data, how, 3, &Parameters::new(2), &silent).unwrap();
        assert_eq!(of(&one), of(&two));
    }
}

/// One limit for all rounds together: once it is over the groups are those of the rounds that were done.
#[test]
fn a_time_limit_is_that_of_all_rounds() {
    let x = two_kinds(0);
    let data = GroupedData::one_group(x.view()).unwrap();
    let mut asked = Parameters::new(2).with(|p| p.n_init = 2);
    asked.stopping.time_limit = Some(Duration::ZERO);
    let (found, heard) =
        iterations(|observer| discover(&data, Discover::Errors, 3, &asked, observer));
    let found = found.unwrap();
    assert_eq!(found.rounds, 1);
    assert!(heard <= 2, "{heard}");
    assert_eq!(data.with_found(&found).unwrap().groups().len(), 3);
}
