//! Claims 11 to 14: 20 Newsgroups by subject.

use super::super::approach::Approach;
use super::Check;
use super::view::{FAIRER, View, check, loss_range, made, never_beyond, set};

/// The values of the six subjects at rank 20.
fn subjects(value: impl Fn(&'static str) -> Option<f64>) -> Option<Vec<(f64, &'static str)>> {
    set("20n").groups.iter().map(|&g| Some((value(g)?, g))).collect()
}

fn least(values: &[(f64, &'static str)]) -> (f64, &'static str) {
    values.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, "none"))
}

fn most(values: &[(f64, &'static str)]) -> (f64, &'static str) {
    values.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, "none"))
}

pub(super) fn claim_11(v: &View<'_>) -> Vec<Check> {
    let within = |what: &str, method, low: f64, high: f64| {
        let values = subjects(|g| v.error("20n", method, g, 20))?;
        let (a, b) = (least(&values).0, most(&values).0);
        check(
            a >= low && b <= high,
            format!("{what}: errors from {a:.1} to {b:.1} % (expected within {low} to {high})"),
        )
    };
    made([
        within("alone", Approach::Alone, 68.0, 87.0),
        within("together", Approach::Standard, 86.0, 94.0),
    ])
}

pub(super) fn claim_12(v: &View<'_>) -> Vec<Check> {
    let alone = subjects(|g| v.error("20n", Approach::Alone, g, 20));
    let together = subjects(|g| v.error("20n", Approach::Standard, g, 20));
    let loss = subjects(|g| v.loss("20n", Approach::Standard, g, 20));
    let is_sale = |what: &str, (value, group): (f64, &str)| {
        check(
            group == "Sale",
            format!("rank 20, {what}: {group} with {value:.1} % (expected Sale)"),
        )
    };
    made([
        alone.and_then(|x| is_sale("lowest error alone", least(&x))),
        together.and_then(|x| is_sale("highest error together", most(&x))),
        loss.and_then(|x| is_sale("highest loss together", most(&x))),
    ])
}

pub(super) fn claim_13(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        let alone = subjects(|g| v.error("20n", Approach::Alone, g, 20));
        let fairer = subjects(|g| v.error("20n", method, g, 20));
        let order = alone.zip(fairer).and_then(|(alone, fairer)| {
            let pairs = || (0..6).flat_map(|i| (0..i).map(move |j| (i, j)));
            let clear = |&(i, j): &(usize, usize)| (alone[i].0 - alone[j].0).abs() > 1.0;
            let turned = |&(i, j): &(usize, usize)| {
                (alone[i].0 - alone[j].0) * (fairer[i].0 - fairer[j].0) < 0.0
            };
            let all = pairs().filter(clear).count();
            let wrong = pairs().filter(clear).filter(turned).count();
            check(wrong == 0, format!("{name}, rank 20: of {all} pairs of groups that are more than a point apart alone, {wrong} have changed order"))
        });
        [never_beyond(&format!("{name}: distance of the losses"), loss_range(v, "20n", method, 1), 1.0), order]
    }))
}

pub(super) fn claim_14(v: &View<'_>) -> Vec<Check> {
    let ranks = v.ranks("20n", 1, 20);
    let (Some(&first), Some(&last)) = (ranks.first(), ranks.last()) else { return Vec::new() };
    made([("standard NMF", Approach::Standard), FAIRER[0], FAIRER[1]].into_iter().flat_map(|(name, method)| {
        let errors = subjects(|g| Some(v.error("20n", method, g, last)? - v.error("20n", method, g, first)?));
        let losses = subjects(|g| Some(v.loss("20n", method, g, last)? - v.loss("20n", method, g, first)?));
        [
            errors.and_then(|x| check(most(&x).0 < 0.0, format!("{name}, rank {first} to {last}: errors change by {:.1} to {:.1} points (expected down)", least(&x).0, most(&x).0))),
            losses.and_then(|x| check(least(&x).0 > 0.0, format!("{name}, rank {first} to {last}: losses change by {:.1} to {:.1} points (expected up)", least(&x).0, most(&x).0))),
        ]
    }))
}
