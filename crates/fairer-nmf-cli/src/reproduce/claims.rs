//! The paper's claims (in our words), each put to the test on our numbers and on the paper's.
//!
//! A claim is a few checks, each with a threshold and the numbers found. The same checks run on
//! the paper's published numbers at the same ranks, so that a claim which fails on ours can be
//! told from one that fails on both.

use super::cells::Cells;
use super::convergence::{Curve, ITERATIONS};
use super::sets::{SETS, Set};

/// A claim with what was found.
pub(super) struct Finding {
    pub number: usize,
    pub about: &'static str,
    pub claim: &'static str,
    /// On our numbers; empty where the data set was not run.
    pub ours: Vec<Check>,
    /// On the paper's numbers, at the same ranks; empty where it published none.
    pub paper: Vec<Check>,
    /// What is to be said where they differ.
    pub why: &'static str,
}

pub(super) struct Check {
    pub text: String,
    pub met: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    /// Neither here nor on the paper's numbers.
    DoesNotHold,
    /// On the paper's numbers, not here.
    Differs,
    NotEvaluated,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Differs => "differs",
            Self::NotEvaluated => "not evaluated",
        }
    }
}

impl Finding {
    pub(super) fn verdict(&self) -> Verdict {
        let met = |checks: &[Check]| checks.iter().all(|check| check.met);
        match (self.ours.is_empty(), met(&self.ours), self.paper.is_empty() || !met(&self.paper)) {
            (true, ..) => Verdict::NotEvaluated,
            (false, true, _) => Verdict::Holds,
            (false, false, true) => Verdict::DoesNotHold,
            (false, false, false) => Verdict::Differs,
        }
    }
}

/// The verdicts for the terminal.
pub(super) fn summary(findings: &[Finding]) -> String {
    let line = |f: &Finding| format!("{:>2} {:<13}  {}\n", f.number, f.verdict().name(), f.claim);
    findings.iter().map(line).collect()
}

type Test = fn(&View<'_>) -> Vec<Check>;

/// Number, where, claim, test, what to say where ours and the paper's differ.
type Claim = (usize, &'static str, &'static str, Test, &'static str);

const DRAW: &str = "The data are drawn anew from another random generator, and every run has its own random start.";
const EXACT: &str =
    "Our AM solves both of its steps exactly (the paper: a general solver, to its tolerance).";

const CLAIMS: [Claim; 17] = [
    (
        1,
        "Synthetic 1",
        "Standard NMF leaves the high-rank group with a higher loss than the low-rank group at every rank.",
        claim_1,
        DRAW,
    ),
    (
        2,
        "Synthetic 1",
        "Alone, the low-rank group is fitted exactly from rank 3 and the high-rank group from rank 6; together the high-rank group keeps a large error from rank 6 on.",
        claim_2,
        DRAW,
    ),
    (
        3,
        "Synthetic 1",
        "Under Fairer-NMF the high-rank group has the larger error at ranks 1 to 5; from rank 6 the errors are similar.",
        claim_3,
        DRAW,
    ),
    (
        4,
        "Synthetic 1",
        "Under Fairer-NMF the losses of the groups are comparable; MU equalises them less well than AM.",
        claim_4,
        EXACT,
    ),
    (
        5,
        "Synthetic 2",
        "Standard NMF at ranks up to 3 leaves group 3 with a higher error and loss than groups 1 and 2.",
        claim_5,
        DRAW,
    ),
    (
        6,
        "Synthetic 2",
        "Under Fairer-NMF the errors of the groups are nearly equal at all ranks; MU varies more than AM and does not bring groups 1 and 3 together at high ranks.",
        claim_6,
        EXACT,
    ),
    (
        7,
        "Convergence",
        "With the decaying step MU converges to a solution of low loss on both synthetic sets; with all weight on the largest loss it does not.",
        claim_7,
        DRAW,
    ),
    (
        8,
        "Heart Disease",
        "Alone, women (the paper\u{2019}s \u{201c}male\u{201d} group) have the lower error at ranks 1 to 5; together the errors are similar there, and standard NMF gives women the higher loss.",
        claim_8,
        DRAW,
    ),
    (
        9,
        "Heart Disease",
        "Fairer-NMF brings errors close to those of the groups alone and gives both groups similar losses, at a price: men get a higher error than under standard NMF.",
        claim_9,
        EXACT,
    ),
    (
        10,
        "Heart Disease",
        "Losses can be negative; at rank 10 both are, consistently.",
        claim_10,
        DRAW,
    ),
    (
        11,
        "20 Newsgroups",
        "At rank 20 the groups alone reach errors of about 70 to 85 %; together all are near 90 %.",
        claim_11,
        DRAW,
    ),
    (
        12,
        "20 Newsgroups",
        "\u{201c}Sale\u{201d} has the lowest error alone, the highest under standard NMF, and so the highest loss.",
        claim_12,
        DRAW,
    ),
    (
        13,
        "20 Newsgroups",
        "Under Fairer-NMF all six losses are very similar, and the order of the errors is that of the groups alone.",
        claim_13,
        EXACT,
    ),
    (14, "20 Newsgroups", "As the rank grows, errors fall and losses rise.", claim_14, DRAW),
    (
        15,
        "Comparison",
        "On the real data AM and MU do equally well; on the synthetic data AM is more consistent.",
        claim_15,
        EXACT,
    ),
    (
        16,
        "Comparison",
        "AM is far slower than MU on 20 Newsgroups.",
        claim_16,
        "The paper\u{2019}s AM hands every step to a general convex solver; ours is written for the problem, and the baselines, which both schemes need, are counted in both.",
    ),
    (
        17,
        "Comparison",
        "On synthetic 2 standard NMF varies between runs as much as MU does; MU\u{2019}s worst loss is typically below that of standard NMF.",
        claim_17,
        DRAW,
    ),
];

pub(super) fn judge(ours: &Cells, paper: &Cells, curves: &[Curve]) -> Vec<Finding> {
    let paper = paper.where_also(ours);
    let on_ours = View { cells: ours, curves };
    let on_paper = View { cells: &paper, curves: &[] };
    CLAIMS
        .iter()
        .map(|&(number, about, claim, test, why)| Finding {
            number,
            about,
            claim,
            ours: test(&on_ours),
            paper: test(&on_paper),
            why,
        })
        .collect()
}

/// What the checks look at.
struct View<'a> {
    cells: &'a Cells,
    curves: &'a [Curve],
}

const STANDARD: &str = "standard";
const ALONE: &str = "standard_per_group";
const FAIRER: [(&str, &str); 2] = [("AM", "fairer_am"), ("MU", "fairer_mu")];

impl View<'_> {
    fn error(
        &self,
        set: &'static str,
        method: &'static str,
        group: &'static str,
        rank: usize,
    ) -> Option<f64> {
        self.cells.mean((set, method, "error_percent", group, rank))
    }

    /// In percent, as errors are.
    fn loss(
        &self,
        set: &'static str,
        method: &'static str,
        group: &'static str,
        rank: usize,
    ) -> Option<f64> {
        self.cells.mean((set, method, "loss", group, rank)).map(|loss| 100.0 * loss)
    }

    fn worst(&self, set: &'static str, method: &'static str, rank: usize) -> Option<f64> {
        self.cells.mean((set, method, "worst_loss", "all", rank)).map(|loss| 100.0 * loss)
    }

    /// The ranks within limits that were run.
    fn ranks(&self, set: &str, from: usize, to: usize) -> Vec<usize> {
        self.cells.ranks(set).into_iter().filter(|rank| (from..=to).contains(rank)).collect()
    }

    /// A value per rank: the smallest and the largest, each with its rank.
    fn extremes(
        &self,
        set: &str,
        from: usize,
        to: usize,
        value: impl Fn(usize) -> Option<f64>,
    ) -> Option<Extremes> {
        let found: Vec<(f64, usize)> =
            self.ranks(set, from, to).into_iter().filter_map(|r| Some((value(r)?, r))).collect();
        let least = found.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = found.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Extremes { least, most })
    }

    /// Standard deviation of the worst loss, in percent, averaged over the ranks.
    fn variation(&self, set: &'static str, method: &'static str) -> Option<f64> {
        let cell = |rank| self.cells.get((set, method, "worst_loss", "all", rank))?.sd;
        let sds: Vec<f64> = self.ranks(set, 1, 99).into_iter().filter_map(cell).collect();
        (!sds.is_empty()).then(|| 100.0 * sds.iter().sum::<f64>() / sds.len() as f64)
    }
}

struct Extremes {
    least: (f64, usize),
    most: (f64, usize),
}

fn check(met: bool, text: String) -> Option<Check> {
    Some(Check { text, met })
}

/// Those that could be made.
fn made(checks: impl IntoIterator<Item = Option<Check>>) -> Vec<Check> {
    checks.into_iter().flatten().collect()
}

/// A difference that is positive at every rank run.
fn always_above(what: &str, x: Option<Extremes>) -> Option<Check> {
    let (value, rank) = x?.least;
    check(value > 0.0, format!("{what}: by {value:+.2} points at the least (rank {rank})"))
}

/// A distance that never exceeds a limit.
fn never_beyond(what: &str, x: Option<Extremes>, limit: f64) -> Option<Check> {
    let (value, rank) = x?.most;
    check(
        value <= limit,
        format!("{what}: {value:.2} points at the most (rank {rank}; limit {limit})"),
    )
}

/// Largest minus smallest, where all are known.
fn range(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(most - values.iter().copied().fold(f64::INFINITY, f64::min))
}

fn set(key: &str) -> &'static Set {
    SETS.iter().find(|set| set.key == key).unwrap_or(&SETS[0])
}

fn claim_1(v: &View<'_>) -> Vec<Check> {
    let gap = |r| {
        Some(
            v.loss("ortho1", STANDARD, "High rank", r)?
                - v.loss("ortho1", STANDARD, "Low rank", r)?,
        )
    };
    made([always_above(
        "loss of the high-rank group above that of the low-rank group",
        v.extremes("ortho1", 1, 9, gap),
    )])
}

fn claim_2(v: &View<'_>) -> Vec<Check> {
    let alone =
        |group, from| v.extremes("ortho1", from, 9, move |r| v.error("ortho1", ALONE, group, r));
    let together = v.extremes("ortho1", 6, 9, |r| v.error("ortho1", STANDARD, "High rank", r));
    made([
        never_beyond("low-rank group alone from rank 3, error", alone("Low rank", 3), 1.0),
        never_beyond("high-rank group alone from rank 6, error", alone("High rank", 6), 1.0),
        together.and_then(|x| {
            let (value, rank) = x.least;
            check(value > 10.0, format!("high-rank group together from rank 6: error {value:.1} % at the least (rank {rank}; expected above 10)"))
        }),
    ])
}

fn claim_3(v: &View<'_>) -> Vec<Check> {
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

/// Distances of the losses of a set's groups under a method.
fn loss_range(
    v: &View<'_>,
    key: &'static str,
    method: &'static str,
    from: usize,
) -> Option<Extremes> {
    v.extremes(key, from, 99, |r| range(set(key).groups.iter().map(|g| v.loss(key, method, g, r))))
}

fn claim_4(v: &View<'_>) -> Vec<Check> {
    let [am, mu] = FAIRER.map(|(_, method)| loss_range(v, "ortho1", method, 1));
    let widest = am.as_ref().zip(mu.as_ref()).map(|(am, mu)| (am.most.0, mu.most.0));
    made([
        never_beyond("AM, distance of the losses", am, 5.0),
        widest.and_then(|(am, mu)| check(mu > am, format!("widest distance of the losses: MU {mu:.2}, AM {am:.2} points (expected wider under MU)"))),
    ])
}

fn claim_5(v: &View<'_>) -> Vec<Check> {
    made(["Group 1", "Group 2"].into_iter().flat_map(|other| {
        let error = |r| {
            Some(
                v.error("ortho2", STANDARD, "Group 3", r)?
                    - v.error("ortho2", STANDARD, other, r)?,
            )
        };
        let loss = |r| {
            Some(v.loss("ortho2", STANDARD, "Group 3", r)? - v.loss("ortho2", STANDARD, other, r)?)
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

fn claim_6(v: &View<'_>) -> Vec<Check> {
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
        never_beyond("AM, distance of the errors", near("fairer_am"), 10.0),
        never_beyond("MU, distance of the errors", near("fairer_mu"), 10.0),
        v.variation("ortho2", "fairer_am").zip(v.variation("ortho2", "fairer_mu")).and_then(|(am, mu)| {
            check(mu > am, format!("standard deviation of the worst loss, mean over ranks: MU {mu:.2}, AM {am:.2} points (expected larger under MU)"))
        }),
        apart("fairer_am").zip(apart("fairer_mu")).and_then(|(am, mu)| {
            check(mu.most.0 > am.most.0, format!("groups 1 and 3 at ranks 5 and 6, distance of the losses: MU {:.2}, AM {:.2} points (expected larger under MU)", mu.most.0, am.most.0))
        }),
    ])
}

fn claim_7(v: &View<'_>) -> Vec<Check> {
    let ran = |key: &str| v.curves.iter().any(|c| c.dataset == key);
    if !(ran("ortho1") && ran("ortho2")) {
        return Vec::new();
    }
    let end = |key: &str, rule: &str, at: usize| {
        let curves = v.curves.iter().filter(|c| c.dataset == key && c.rule == rule);
        curves.map(|c| 100.0 * c.mean[at]).max_by(f64::total_cmp)
    };
    made(["ortho1", "ortho2"].into_iter().flat_map(|key| {
        let last = ITERATIONS - 1;
        let decaying = end(key, "decaying", last);
        let moved = decaying.zip(end(key, "decaying", last - 100)).map(|(now, before)| (now - before).abs());
        let title = set(key).title;
        [
            moved.and_then(|moved| check(moved < 0.5, format!("{title}, decaying: the worst mean loss moves by {moved:.3} points in the last 100 iterations (limit 0.5)"))),
            decaying.zip(end(key, "largest", last)).and_then(|(decaying, largest)| {
                check(decaying < largest, format!("{title}: worst mean loss after {ITERATIONS} iterations {decaying:.2} % (decaying) against {largest:.2} % (largest)"))
            }),
        ]
    }))
}

fn claim_8(v: &View<'_>) -> Vec<Check> {
    let gap =
        |method, r| Some(v.error("hd", method, "male", r)? - v.error("hd", method, "female", r)?);
    let loss = |r| Some(v.loss("hd", STANDARD, "female", r)? - v.loss("hd", STANDARD, "male", r)?);
    made([
        always_above(
            "alone, ranks 1 to 5: error of men above that of women",
            v.extremes("hd", 1, 5, |r| gap(ALONE, r)),
        ),
        never_beyond(
            "together, ranks 1 to 5: distance of the errors",
            v.extremes("hd", 1, 5, |r| gap(STANDARD, r).map(f64::abs)),
            2.0,
        ),
        always_above(
            "standard NMF, all ranks: loss of women above that of men",
            v.extremes("hd", 1, 10, loss),
        ),
    ])
}

fn claim_9(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        let away = |r| {
            let one = |g| Some(v.error("hd", method, g, r)? - v.error("hd", ALONE, g, r)?);
            Some(one("female")?.max(one("male")?))
        };
        let price = |r| Some(v.error("hd", method, "male", r)? - v.error("hd", STANDARD, "male", r)?);
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

fn claim_10(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        ["female", "male"].map(|group| {
            let cell = v.cells.get(("hd", method, "loss", group, 10))?;
            let (mean, sd) = (100.0 * cell.mean, 100.0 * cell.sd.unwrap_or(0.0));
            check(mean + sd < 0.0, format!("{name}, rank 10, {group}: loss {mean:.2} \u{b1} {sd:.2} % (expected below 0 by more than the sd)"))
        })
    }))
}

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

fn claim_11(v: &View<'_>) -> Vec<Check> {
    let within = |what: &str, method, low: f64, high: f64| {
        let values = subjects(|g| v.error("20n", method, g, 20))?;
        let (a, b) = (least(&values).0, most(&values).0);
        check(
            a >= low && b <= high,
            format!("{what}: errors from {a:.1} to {b:.1} % (expected within {low} to {high})"),
        )
    };
    made([within("alone", ALONE, 68.0, 87.0), within("together", STANDARD, 86.0, 94.0)])
}

fn claim_12(v: &View<'_>) -> Vec<Check> {
    let alone = subjects(|g| v.error("20n", ALONE, g, 20));
    let together = subjects(|g| v.error("20n", STANDARD, g, 20));
    let loss = subjects(|g| v.loss("20n", STANDARD, g, 20));
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

fn claim_13(v: &View<'_>) -> Vec<Check> {
    made(FAIRER.iter().flat_map(|&(name, method)| {
        let alone = subjects(|g| v.error("20n", ALONE, g, 20));
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

fn claim_14(v: &View<'_>) -> Vec<Check> {
    let ranks = v.ranks("20n", 1, 20);
    let (Some(&first), Some(&last)) = (ranks.first(), ranks.last()) else { return Vec::new() };
    made([("standard NMF", STANDARD), FAIRER[0], FAIRER[1]].into_iter().flat_map(|(name, method)| {
        let errors = subjects(|g| Some(v.error("20n", method, g, last)? - v.error("20n", method, g, first)?));
        let losses = subjects(|g| Some(v.loss("20n", method, g, last)? - v.loss("20n", method, g, first)?));
        [
            errors.and_then(|x| check(most(&x).0 < 0.0, format!("{name}, rank {first} to {last}: errors change by {:.1} to {:.1} points (expected down)", least(&x).0, most(&x).0))),
            losses.and_then(|x| check(least(&x).0 > 0.0, format!("{name}, rank {first} to {last}: losses change by {:.1} to {:.1} points (expected up)", least(&x).0, most(&x).0))),
        ]
    }))
}

fn claim_15(v: &View<'_>) -> Vec<Check> {
    if SETS.iter().any(|set| v.cells.ranks(set.key).is_empty()) {
        return Vec::new();
    }
    let equal = ["hd", "20n"].map(|key| {
        let x = v.extremes(key, 1, 99, |r| {
            Some((v.worst(key, "fairer_mu", r)? - v.worst(key, "fairer_am", r)?).abs())
        });
        never_beyond(
            &format!("{}: distance of the worst losses of AM and MU", set(key).title),
            x,
            1.0,
        )
    });
    let steadier = ["ortho1", "ortho2"].map(|key| {
        let (am, mu) = v.variation(key, "fairer_am").zip(v.variation(key, "fairer_mu"))?;
        check(am < mu, format!("{}: standard deviation of the worst loss, mean over ranks: AM {am:.2}, MU {mu:.2} points (expected smaller under AM)", set(key).title))
    });
    made(equal.into_iter().chain(steadier))
}

fn claim_16(v: &View<'_>) -> Vec<Check> {
    let seconds = |method| v.cells.mean(("20n", method, "time_s", "all", 20));
    made([seconds("fairer_am").zip(seconds("fairer_mu")).and_then(|(am, mu)| {
        check(am > 5.0 * mu, format!("rank 20: AM {am:.2} s, MU {mu:.2} s, baselines included (expected more than five times as long)"))
    })])
}

fn claim_17(v: &View<'_>) -> Vec<Check> {
    if v.cells.ranks("ortho2").is_empty() {
        return Vec::new();
    }
    let spread = v.variation("ortho2", STANDARD).zip(v.variation("ortho2", "fairer_mu"));
    let pairs: Vec<(f64, f64)> = SETS
        .iter()
        .flat_map(|set| v.ranks(set.key, 1, 99).into_iter().map(move |rank| (set.key, rank)))
        .filter_map(|(key, rank)| {
            Some((v.worst(key, "fairer_mu", rank)?, v.worst(key, STANDARD, rank)?))
        })
        .collect();
    let (all, below) = (pairs.len(), pairs.iter().filter(|(mu, standard)| mu < standard).count());
    made([
        spread.and_then(|(standard, mu)| check(standard >= 0.8 * mu, format!("synthetic 2, standard deviation of the worst loss, mean over ranks: standard {standard:.2}, MU {mu:.2} points (expected at least 0.8 of MU\u{2019}s)"))),
        (all > 0).then_some(()).and_then(|()| check(2 * below > all, format!("MU\u{2019}s worst mean loss is below that of standard NMF in {below} of {all} cells of the sets run (expected most)"))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_claims_can_all_be_put_to_its_own_numbers_but_convergence() {
        let paper = Cells::of_paper();
        for finding in judge(&paper, &paper, &[]) {
            let expected = finding.number == 7;
            assert_eq!(finding.ours.is_empty(), expected, "claim {}", finding.number);
        }
    }

    #[test]
    fn without_results_nothing_is_judged() {
        let nothing = Cells::of_results(&[]);
        let findings = judge(&nothing, &Cells::of_paper(), &[]);
        assert!(findings.iter().all(|f| f.verdict() == Verdict::NotEvaluated));
    }
}
