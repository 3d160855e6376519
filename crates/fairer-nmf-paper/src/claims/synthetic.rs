//! Claims 1 to 7: the synthetic sets and the convergence study.

use super::super::approach::Approach;
use super::super::convergence::Rule;
use super::super::kept::ITERATIONS;
use super::Check;
use super::view::{FAIRER, View, always_above, check, loss_range, made, never_beyond, range, set};

pub(super) fn claim_1(v: &View<'_>) -> Vec<Check> {
    let gap = |r| {
        Some(
            v.loss("ortho1", Approach::Standard, "High rank", r)?
                - v.loss("ortho1", Approach::Standard, "Low rank", r)?,
        )
    };
    made([always_above(
        "loss of the high-rank group above that of the low-rank group",
        v.extremes("ortho1", 1, 9, gap),
    )])
}

pub(super) fn claim_2(v: &View<'_>) -> Vec<Check> {
    let alone = |group, from| {
        v.extremes("ortho1", from, 9, move |r| v.error("ortho1", Approach::Alone, group, r))
    };
    let together =
        v.extremes("ortho1", 6, 9, |r| v.error("ortho1", Approach::Standard, "High rank", r));
    made([
        never_beyond("low-rank group alone from rank 3, error", alone("Low rank", 3), 1.0),
        never_beyond("high-rank group alone from rank 6, error", alone("High rank", 6), 1.0),
        together.and_then(|x| {
            let (value, rank) = x.least;
            check(value > 10.0, format!("high-rank group together from rank 6: error {value:.1} % at the least (rank {rank}; expected above 10)"))
        }),
    ])
}

pub(super) fn claim_3(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        let gap = |r| {
            Some(
                v.error("ortho1", method, "High rank", r)?
                    - v.error("ortho1", method, "Low rank", r)?,
            )
        };
        [
            always_above(
                &format!(
                    "{name}, ranks 1 to 5: error of the high-rank group above the other\u{2019}s"
                ),
                v.extremes("ortho1", 1, 5, gap),
            ),
            never_beyond(
                &format!("{name}, from rank 6: distance of the errors"),
                v.extremes("ortho1", 6, 9, |r| gap(r).map(f64::abs)),
                5.0,
            ),
        ]
    }))
}

pub(super) fn claim_4(v: &View<'_>) -> Vec<Check> {
    let [am, mu] = FAIRER.map(|(_, method)| loss_range(v, "ortho1", method, 1));
    let widest = am.as_ref().zip(mu.as_ref()).map(|(am, mu)| (am.most.0, mu.most.0));
    made([
        never_beyond("AM, distance of the losses", am, 5.0),
        widest.and_then(|(am, mu)| check(mu > am, format!("widest distance of the losses: MU {mu:.2}, AM {am:.2} points (expected wider under MU)"))),
    ])
}

pub(super) fn claim_5(v: &View<'_>) -> Vec<Check> {
    made(["Group 1", "Group 2"].into_iter().flat_map(|other| {
        let error = |r| {
            Some(
                v.error("ortho2", Approach::Standard, "Group 3", r)?
                    - v.error("ortho2", Approach::Standard, other, r)?,
            )
        };
        let loss = |r| {
            Some(
                v.loss("ortho2", Approach::Standard, "Group 3", r)?
                    - v.loss("ortho2", Approach::Standard, other, r)?,
            )
        };
        [
            always_above(
                &format!("error of group 3 above that of {other}"),
                v.extremes("ortho2", 1, 3, error),
            ),
            always_above(
                &format!("loss of group 3 above that of {other}"),
                v.extremes("ortho2", 1, 3, loss),
            ),
        ]
    }))
}

pub(super) fn claim_6(v: &View<'_>) -> Vec<Check> {
    let groups = set("ortho2").groups;
    let near = |method| {
        v.extremes("ortho2", 1, 6, move |r| {
            range(groups.iter().map(|g| v.error("ortho2", method, g, r)))
        })
    };
    let apart = |method| {
        v.extremes("ortho2", 5, 6, move |r| {
            Some(
                (v.loss("ortho2", method, "Group 1", r)?
                    - v.loss("ortho2", method, "Group 3", r)?)
                .abs(),
            )
        })
    };
    made([
        never_beyond("AM, distance of the errors", near(Approach::Am), 10.0),
        never_beyond("MU, distance of the errors", near(Approach::Mu), 10.0),
        v.variation("ortho2", Approach::Am, 6).zip(v.variation("ortho2", Approach::Mu, 6)).and_then(|(am, mu)| {
            check(mu > am, format!("standard deviation of the worst loss, mean over ranks: MU {mu:.2}, AM {am:.2} points (expected larger under MU)"))
        }),
        apart(Approach::Am).zip(apart(Approach::Mu)).and_then(|(am, mu)| {
            check(mu.most.0 > am.most.0, format!("groups 1 and 3 at ranks 5 and 6, distance of the losses: MU {:.2}, AM {:.2} points (expected larger under MU)", mu.most.0, am.most.0))
        }),
    ])
}

pub(super) fn claim_7(v: &View<'_>) -> Vec<Check> {
    let ran = |key: &str| v.curves.iter().any(|c| c.dataset == key);
    if !(ran("ortho1") && ran("ortho2")) {
        return Vec::new();
    }
    let end = |key: &str, rule: Rule, at: usize| {
        let curves = v.curves.iter().filter(|c| c.dataset == key && c.rule == rule);
        curves.map(|c| 100.0 * c.mean[at]).max_by(f64::total_cmp)
    };
    made(["ortho1", "ortho2"].into_iter().flat_map(|key| {
        let last = ITERATIONS - 1;
        let decaying = end(key, Rule::Decaying, last);
        let moved = decaying.zip(end(key, Rule::Decaying, last - 100)).map(|(now, before)| (now - before).abs());
        let title = set(key).title;
        [
            moved.and_then(|moved| check(moved < 0.5, format!("{title}, decaying: the worst mean loss moves by {moved:.3} points in the last 100 iterations (limit 0.5)"))),
            decaying.zip(end(key, Rule::Largest, last)).and_then(|(decaying, largest)| {
                check(decaying < largest, format!("{title}: worst mean loss after {ITERATIONS} iterations {decaying:.2} % (decaying) against {largest:.2} % (largest)"))
            }),
        ]
    }))
}
