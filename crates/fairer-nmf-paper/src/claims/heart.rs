//! Claims 8 to 10: Heart Disease by sex.

use super::super::approach::Approach;
use super::super::metric::Metric;
use super::Check;
use super::view::{FAIRER, View, always_above, check, loss_range, made, never_beyond};

pub(super) fn claim_8(v: &View<'_>) -> Vec<Check> {
    let gap =
        |method, r| Some(v.error("hd", method, "male", r)? - v.error("hd", method, "female", r)?);
    let loss = |r| {
        Some(
            v.loss("hd", Approach::Standard, "female", r)?
                - v.loss("hd", Approach::Standard, "male", r)?,
        )
    };
    made([
        always_above(
            "alone, ranks 1 to 5: error of men above that of women",
            v.extremes("hd", 1, 5, |r| gap(Approach::Alone, r)),
        ),
        never_beyond(
            "together, ranks 1 to 5: distance of the errors",
            v.extremes("hd", 1, 5, |r| gap(Approach::Standard, r).map(f64::abs)),
            2.0,
        ),
        always_above(
            "standard NMF, all ranks: loss of women above that of men",
            v.extremes("hd", 1, 10, loss),
        ),
    ])
}

pub(super) fn claim_9(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        let away = |r| {
            let one = |g| Some(v.error("hd", method, g, r)? - v.error("hd", Approach::Alone, g, r)?);
            Some(one("female")?.max(one("male")?))
        };
        let price = |r| Some(v.error("hd", method, "male", r)? - v.error("hd", Approach::Standard, "male", r)?);
        [
            never_beyond(&format!("{name}: error above that of the group alone"), v.extremes("hd", 1, 10, away), 3.0),
            never_beyond(&format!("{name}: distance of the losses"), loss_range(v, "hd", method, 1), 1.0),
            v.extremes("hd", 1, 10, price).and_then(|x| {
                let (value, rank) = x.most;
                check(value > 0.0, format!("{name}: error of men as a group {value:+.2} points from standard NMF at the most (rank {rank}; expected above 0)"))
            }),
        ]
    }))
}

pub(super) fn claim_10(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        ["female", "male"].map(|group| {
            let cell = v.cells.get(("hd", method, Metric::Loss, group, 10))?;
            let (mean, sd) = (100.0 * cell.mean, 100.0 * cell.sd.unwrap_or(0.0));
            check(mean + sd < 0.0, format!("{name}, rank 10, {group}: loss {mean:.2} \u{b1} {sd:.2} % (expected below 0 by more than the sd)"))
        })
    }))
}
