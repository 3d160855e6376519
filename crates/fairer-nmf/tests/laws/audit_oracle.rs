//! The audit's statistics against SciPy and plain NumPy (references/make_audit_oracle.py).

use crate::common::{matrix, numbers};
use fairer_nmf::audit::{
    Evaluation, Resampling, bootstrap, describe_topics, match_topics, permutation_test,
};
use fairer_nmf::{GroupedData, audit::evaluate};
use serde_json::Value;

const DRAWS: usize = 40_000;

struct Oracle(Value);

impl Oracle {
    fn load() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/audit_oracle.json");
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    fn list(&self, name: &str) -> Vec<f64> {
        numbers(&self.0[name])
    }

    fn table(&self, name: &str) -> Vec<Vec<f64>> {
        self.0[name].as_array().unwrap().iter().map(numbers).collect()
    }

    fn labels(&self) -> Vec<&str> {
        self.0["labels"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
    }
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} against {b}, tolerance {tolerance:e}");
}

fn with_oracle(test: impl Fn(&Oracle, &GroupedData<'_>, &Evaluation)) {
    let oracle = Oracle::load();
    let x = matrix(&oracle.0["x"]);
    let data = GroupedData::new(x.view(), &oracle.labels()).unwrap();
    let h = matrix(&oracle.0["components"]);
    let found = evaluate(&data, h.view(), None, &oracle.list("baselines")).unwrap();
    test(&oracle, &data, &found);
}

#[test]
fn evaluation_is_that_of_scipy_nnls() {
    with_oracle(|oracle, data, found| {
        for (i, (a, b)) in
            found.row_squared_errors.iter().zip(oracle.list("row_squared_errors")).enumerate()
        {
            close(*a, b, 1e-10, &format!("squared error of row {i}"));
        }
        for (a, b) in
            found.representation.to_f64().iter().zip(oracle.table("representation").concat())
        {
            close(*a, b, 1e-9, "representation");
        }
        for l in 0..3 {
            close(found.relative_errors[l], oracle.list("relative_errors")[l], 1e-12, "R-Error");
            close(found.losses[l], oracle.list("losses")[l], 1e-12, "R-Loss");
        }
        // The same with W given.
        let w = matrix(&oracle.0["representation"]);
        let h = matrix(&oracle.0["components"]);
        let given = evaluate(data, h.view(), Some(w.view()), &oracle.list("baselines")).unwrap();
        for l in 0..3 {
            close(given.losses[l], found.losses[l], 1e-12, "R-Loss of a given W");
        }
    });
}

/// The oracle's bands hold the ends of any right bootstrap of DRAWS draws but for four standard
/// errors of Monte Carlo.
#[test]
fn intervals_are_those_of_scipy_bootstrap() {
    with_oracle(|oracle, data, found| {
        let level = oracle.0["level"].as_f64().unwrap();
        let ours = bootstrap(
            data,
            found,
            &oracle.list("baselines"),
            Resampling { draws: DRAWS, level, seed: 5 },
        )
        .unwrap();
        for (l, theirs) in oracle.table("intervals").iter().enumerate() {
            let mine = &ours.groups[l].relative_error;
            println!(
                "group {l}: {:.5}..{:.5} against {:.5}..{:.5}",
                mine.low, mine.high, theirs[0], theirs[1]
            );
            assert!((theirs[2]..=theirs[3]).contains(&mine.low), "{} not in {theirs:?}", mine.low);
            assert!(
                (theirs[4]..=theirs[5]).contains(&mine.high),
                "{} not in {theirs:?}",
                mine.high
            );
            let loss = &ours.groups[l].loss;
            close(loss.high - loss.low, mine.high - mine.low, 1e-12, "width of the loss");
            close(loss.estimate, oracle.list("losses")[l], 1e-12, "estimate of the loss");
        }
    });
}

#[test]
fn p_values_are_those_of_a_direct_loop() {
    with_oracle(|oracle, data, found| {
        let ours = permutation_test(data, found, DRAWS, 5).unwrap();
        let (p, expected) = (oracle.list("p"), oracle.list("expected"));
        for (l, group) in ours.groups.iter().enumerate() {
            let chance = group.relative_error;
            // Both sides have Monte-Carlo error.
            let variance = 1.0 / DRAWS as f64 + 1.0 / oracle.0["draws"].as_f64().unwrap();
            let monte_carlo = (p[l] * (1.0 - p[l]) * variance).sqrt();
            let off = (chance.p_value - p[l]).abs() / monte_carlo;
            println!("group {l}: p {:.4} against {:.4}, {off:.1} errors off", chance.p_value, p[l]);
            assert!(off < 4.5);
            close(chance.mean, expected[l], 2e-3, "expected");
            assert!(chance.adjusted_p >= chance.p_value);
        }
    });
}

#[test]
fn shares_and_matching_are_those_of_numpy_and_scipy() {
    with_oracle(|oracle, data, found| {
        let h = matrix(&oracle.0["components"]);
        let topics = describe_topics(data, h.view(), found, 4).unwrap();
        for (l, (uses, shares)) in oracle.table("use").iter().zip(oracle.table("share")).enumerate()
        {
            for (k, topic) in topics.iter().enumerate() {
                close(topic.group_use[l], uses[k], 1e-10, "use");
                close(topic.group_share[l], shares[k], 1e-10, "share");
            }
        }
        let matched = &oracle.0["match"];
        let (first, second) = (matrix(&matched["first"]), matrix(&matched["second"]));
        let (partners, cosines) = (numbers(&matched["partner"]), numbers(&matched["similarity"]));
        let pairs = match_topics(first.view(), second.view()).unwrap();
        let back = match_topics(second.view(), first.view()).unwrap();
        for (k, pair) in pairs.iter().enumerate() {
            assert_eq!((pair.topic, pair.reference as f64), (k, partners[k]));
            close(pair.similarity, cosines[k], 1e-12, "similarity");
            assert!(back.iter().any(|b| (b.reference, b.topic) == (k, pair.reference)));
        }
    });
}
