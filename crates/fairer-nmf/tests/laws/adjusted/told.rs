//! What random groups pay is told beside the losses of a fit that has looked.

use super::*;
use fairer_nmf::Model;

#[test]
fn a_fit_that_allows_for_chance_tells_what_random_groups_pay() {
    let (x, labels) = draw(&[20, 60, 90], 0.0, 0.6, 5);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let found = fitted(&data, Method::am(), Baseline::adjusted()).model;
    // The same draws by who asks for them alone.
    let standard = fitted(&data, Method::standard(), Baseline::Zero).model.components;
    let best = Baseline::best();
    let bands = chance_bands(&data, standard.view(), &best, Baseline::CHANCE_DRAWS, 0, &silent);
    for (group, band) in found.groups.iter().zip(bands.unwrap()) {
        let told = group.random_groups.expect("there are several groups");
        for (told, asked) in [(told.mean, band.mean), (told.low, band.low), (told.high, band.high)]
        {
            assert!((told - asked).abs() < 1e-12, "{told} {asked}");
        }
        assert!(told.low <= told.mean && told.mean <= told.high, "{told:?}");
    }
    // Small random groups pay more, by construction.
    let mean = |l: usize| found.groups[l].random_groups.unwrap().mean;
    assert!(mean(0) > 2.0 * mean(2), "{} {}", mean(0), mean(2));
    // Whom it leaves alone hears what it would have asked for.
    let asked =
        "beyond every one of 40 draws of them, which is stricter than a verdict is about chance";
    let such = found.warnings.iter().find(|w| w.code() == "groups-like-chance");
    assert!(such.is_some_and(|w| w.to_string().contains(asked)), "{:?}", found.warnings);
    // It is kept with the model.
    let again = Model::from_bytes(&found.to_bytes().unwrap()).unwrap();
    assert_eq!(again.groups, found.groups);
}

#[test]
fn nothing_is_told_where_nobody_has_looked() {
    let (x, labels) = draw(&[20, 60, 90], 0.0, 0.6, 5);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let few = Baseline::Adjusted { estimate: Estimate::best(), draws: 10 };
    for baseline in [Baseline::best(), few] {
        let model = fitted(&data, Method::am(), baseline).model;
        assert!(model.groups.iter().all(|group| group.random_groups.is_none()));
    }
    let whole = GroupedData::one_group(x.view()).unwrap();
    let model = fitted(&whole, Method::am(), Baseline::adjusted()).model;
    assert_eq!(model.groups[0].random_groups, None);
}
