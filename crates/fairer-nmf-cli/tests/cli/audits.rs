//! Audits of models that were fitted: they repeat what the fit said, and keep its limits.

use crate::support::{BY_SEX, HEART, Place, number, ran};
use serde_json::Value;

#[test]
fn the_time_limit_covers_the_audit() {
    let place = Place::new();
    // Refits that would take days.
    let endless = ["--draws", "50", "--permutations", "50", "--refit", "1000000000"];
    let limited = |command: &str, more: &[&str]| {
        let mut run = place.command();
        run.args([command, HEART]).args(BY_SEX).args(["--time-limit", "4", "--baseline-runs", "1"]);
        // So that a limit that is not kept fails, instead of running on.
        ran(run.args(endless).args(more).timeout(std::time::Duration::from_secs(200)))
    };
    let fitted = limited("fit", &["--rank", "2", "--report", "t.html", "--model", "m.safetensors"]);
    assert_eq!(fitted.code, 0, "{}", fitted.err);
    let warning = "the time limit ended the audit before it was done: it has no ";
    assert!(fitted.err.contains(&format!("warning: {warning}")), "{}", fitted.err);
    assert!(fitted.err.contains("; raise --time-limit\n"), "{}", fitted.err);
    let page = place.read("t.html");
    assert!(page.contains(warning) && page.contains("What are the topics?"));

    let audited = limited("audit", &["--model", "m.safetensors", "--json", "a.json"]);
    assert_eq!(audited.code, 0, "{}", audited.err);
    let json = place.json("a.json");
    let unfinished = json["audit"]["unfinished"].as_array().unwrap();
    assert!(unfinished.iter().any(|part| part == "refit-intervals"), "{unfinished:?}");
    assert!(json["warnings"].to_string().contains(warning), "{}", json["warnings"]);
}

#[test]
fn an_audit_of_a_model_tells_the_gap_that_the_model_stores() {
    let place = Place::new();
    place.heart("fit", &["--rank", "2", "--model", "m.safetensors", "--json", "f.json"]);
    place.heart("audit", &["--model", "m.safetensors", "--json", "a.json"]);
    let gap = number(&place.json("f.json")["step_gap"]);
    assert_eq!(number(&place.json("a.json")["step_gap"]), gap);
}

#[test]
fn audit_of_a_model_repeats_the_fit() {
    let place = Place::new();
    place.heart("fit", &["--rank", "4", "--model", "m.safetensors", "--json", "fit.json"]);
    let more = ["--model", "m.safetensors", "--json", "audit.json", "--report", "audit.html"];
    let ran = place.heart("audit", &more);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let verdict = place.json("audit.json")["verdict"]["sentence"].as_str().unwrap().to_owned();
    assert!(ran.out.starts_with(&verdict), "{}", ran.out);
    let (fit, audit) = (place.json("fit.json"), place.json("audit.json"));
    for l in 0..2 {
        for field in ["loss", "relative_error", "baseline_error"] {
            let difference = number(&fit["groups"][l][field]) - number(&audit["groups"][l][field]);
            assert!(difference.abs() < 1e-9, "{field}: {difference}");
        }
        let standard = |json: &Value| number(&json["groups"][l]["standard"]["loss"]);
        assert!((standard(&fit) - standard(&audit)).abs() < 1e-9);
    }
    assert_eq!(audit["certificate"], fit["certificate"]);
    assert_eq!(fit["certificate"]["code"], "bounded");
    assert_eq!(audit["audit"]["bootstrap"]["draws"], 2000);
    assert!(place.read("audit.html").contains("female"));
    place.refused(
        &[&["audit", HEART][..], &BY_SEX, &["--model", "m.safetensors", "--normalize", "none"]]
            .concat(),
        "--normalize does not go with --model: the model brings its own scaling",
    );
}

#[test]
fn an_audit_of_a_model_shows_what_its_fit_allowed() {
    let place = Place::new();
    let fit = ["--rank", "5", "--json", "fit.json", "--model", "m.safetensors", "--no-compare"];
    place.heart("fit", &fit);
    let ran = place.heart("audit", &["--model", "m.safetensors", "--json", "audit.json"]);
    assert!(ran.out.contains("allowed: what the fit takes off a loss"), "{}", ran.out);
    let (fit, audit) = (place.json("fit.json"), place.json("audit.json"));
    assert_eq!(audit["criterion"], "adjusted-loss");
    for l in 0..2 {
        let of = |json: &serde_json::Value| number(&json["groups"][l]["allowance"]);
        assert_eq!(of(&fit), of(&audit));
    }
}

/// A name of a row means one number: that of one test among the statistics in full, or the larger one of two.
#[test]
fn every_p_of_a_row_is_that_of_the_test_it_is_called_by() {
    let place = Place::new();
    let few = ["--draws", "0", "--permutations", "30", "--folds", "0", "--chance-draws", "20"];
    let asked = ["--rank", "3", "--method", "standard", "--audit", "--json", "a.json", "--force"];
    for refit in [&[][..], &["--refit", "3"]] {
        let ran = place.heart("fit", &[&asked[..], &few, refit].concat());
        let of_loss = !refit.is_empty();
        assert_eq!(ran.out.contains("p of R-Loss"), of_loss, "{}", ran.out);
        assert_eq!(ran.out.contains("p of R-Error"), !of_loss, "{}", ran.out);
        let json = place.json("a.json");
        for (l, row) in json["groups"].as_array().unwrap().iter().enumerate() {
            let of = |part: &str| &json["audit"][part]["groups"][l];
            let p = |test: &Value| test["adjusted_p"].clone();
            let (error, loss) = match of_loss {
                false => (p(&of("permutation")["relative_error"]), Value::Null),
                true => (Value::Null, p(&of("permutation_refit")["loss"])),
            };
            assert_eq!(
                (&row["relative_error_adjusted_p"], &row["refit_loss_adjusted_p"]),
                (&error, &loss)
            );
            let larger = number(&p(of("differences"))).max(number(&p(of("chance"))));
            assert_eq!(number(&row["adjusted_p"]), larger);
            for field in ["chance_mean", "chance_low", "chance_high", "excess_loss"] {
                assert_eq!(number(&row[field]), number(&of("chance")[field]));
            }
        }
    }
}

/// Two groups of which the smaller has a topic of its own, with noise that looks random and is not.
fn with_a_topic_of_its_own() -> String {
    let weyl = |at: usize| (at as f64 * 0.754_877_666_246_692_7).fract();
    let mut csv = String::from("a,b,c,d,e,f,g,h,who\n");
    for i in 0..200 {
        for j in 0..8 {
            let of =
                |k: usize| (0.2 + weyl(7 * i + 3 * k + 1)) * if j / 2 == k { 1.0 } else { 0.05 };
            let own = if i < 30 && j >= 6 { 1.0 + weyl(11 * i + 5) } else { 0.0 };
            let value =
                ((0..3).map(of).sum::<f64>() + own) * (0.9 + 0.2 * weyl(1000 + 13 * i + 29 * j));
            csv += &format!("{value:.4},");
        }
        csv += if i < 30 { "few\n" } else { "many\n" };
    }
    csv
}

#[test]
fn the_largest_adjusted_loss_is_marked() {
    let place = Place::with("p.csv", with_a_topic_of_its_own());
    let fit = ["fit", "p.csv", "--group-by", "who", "--rank", "3", "--model", "m.safetensors"];
    assert!(place.ok(&fit).out.contains("<- worst adjusted loss"));
    let said = place.ok(&["audit", "p.csv", "--model", "m.safetensors"]).out;
    assert!(said.contains("<- worst adjusted loss"), "{said}");
}

#[test]
fn where_helping_costs_others_more_the_fit_stays_and_says_why() {
    let place = Place::with("p.csv", with_a_topic_of_its_own());
    let fit = ["fit", "p.csv", "--group-by", "who", "--rank", "3", "--report", "p.html"];
    let said = place.ok(&fit).out;
    assert!(said.contains("'few' does not stand out clearly enough from random groups"), "{said}");
    assert!(said.contains("would have to pay more than the others would gain"), "{said}");
    let page = place.read("p.html");
    assert!(page.contains("is no remedy here"), "there is evidence that the many pay");
    assert!(!page.contains("is one remedy"));
}
