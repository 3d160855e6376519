//! Whose groups, whose weight, how strongly: what the options do, and what is refused.

use crate::support::{HEART, Place, number};
use serde_json::Value;

/// Persons with a sex, a region and a weight.
fn people() -> String {
    let mut text = "a,b,c,d,sex,region,w\n".to_owned();
    for i in 0..36_usize {
        let v = |j: usize| (i * (7 + j) + j * j * 3) % 10;
        let (sex, region) = (["f", "m"][i % 2], ["north", "south", "west"][i * i % 7 % 3]);
        let (a, b, c, d, w) = (v(1), v(2), v(3), v(4), 1 + i % 3);
        text += &format!("{a},{b},{c},{d},{sex},{region},{w}\n");
    }
    text
}

fn groups(json: &Value) -> Vec<&Value> {
    json["groups"].as_array().unwrap().iter().collect()
}

#[test]
fn fairness_is_in_table_json_and_model_and_bad_combinations_get_a_sentence() {
    let place = Place::with("p.csv", people());
    let fit = ["fit", "p.csv", "--group-by", "sex", "--drop", "region,w", "-r", "2"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    let ran = place.ok(&with(&["--fairness", "0.5", "--json", "f.json", "--model", "m"]));
    assert!(ran.out.contains("of rank 2 with fairness 0.5"), "{}", ran.out);
    assert_eq!(number(&place.json("f.json")["fairness"]), 0.5);
    let audit = ["audit", "p.csv", "--model", "m", "--group-by", "sex", "--drop", "region,w"];
    let few = ["--draws", "20", "--permutations", "20", "--folds", "0", "--json", "a.json"];
    place.ok(&[&audit[..], &few].concat());
    assert_eq!(number(&place.json("a.json")["fairness"]), 0.5);
    place.ok(&with(&["--fairness", "0", "--json", "s.json"]));
    assert_eq!(place.json("s.json")["method"], "standard");
    place.ok(&with(&["--ties", "leximin", "--quiet"]));
    let refused: [(&[&'static str], &str); 4] = [
        (
            &["--fairness", "1.5"],
            "--fairness 1.5: must lie between 0 (standard NMF) and 1 (the worst loss alone)",
        ),
        (
            &["--fairness", "0.5", "--method", "mu"],
            "--fairness 0.5 needs --method am: the other methods have none to choose",
        ),
        (
            &["--ties", "leximin", "--method", "standard"],
            "--ties leximin needs --method am: the other methods know of no ties",
        ),
        (
            &["--ties", "leximin", "--fairness", "0.5"],
            "--ties leximin does not go with --fairness 0.5: it has no regard to the total error before the end",
        ),
    ];
    for (more, message) in refused {
        place.refused(&with(more), message);
    }
}

#[test]
fn weights_are_a_column_or_a_file_and_no_feature() {
    let place = Place::with("p.csv", people());
    let lines: Vec<String> = (0..36).map(|i| (1 + i % 3).to_string()).collect();
    place.write("w.txt", lines.join("\n"));
    let fit = ["fit", "p.csv", "--group-by", "sex", "-r", "2", "--seed", "3"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    let ran = place.ok(&with(&["--drop", "region", "--weights", "w", "--json", "a.json"]));
    assert!(ran.out.contains("effective"), "{}", ran.out);
    assert!(ran.err.contains("Kish"), "{}", ran.err);
    place.ok(&with(&["--drop", "region,w", "--weights", "w.txt", "--json", "b.json"]));
    let (a, b) = (place.json("a.json"), place.json("b.json"));
    assert_eq!(a["groups"], b["groups"]);
    assert_eq!(a["data"]["features"], 4);
    // Kish: (Σω)²/Σω² of the weights 1, 2, 3 in turn.
    assert!((number(&a["groups"][0]["effective_rows"]) - 18.0 * 12.0 / 14.0).abs() < 1e-9);
    place.write("bad.csv", people().replacen(",1\n", ",-1\n", 1));
    place.refused(
        &["fit", "bad.csv", "--group-by", "sex", "--drop", "region", "-r", "2", "--weights", "w"],
        "bad.csv, line 2: the weight is `-1`: a number that is not negative is expected",
    );
    let people = people().replace(",f,", ",F,");
    let none = people.lines().map(|line| {
        let zero = line.contains(",F,");
        format!(
            "{}\n",
            if zero { format!("{}0", &line[..line.len() - 1]) } else { line.to_owned() }
        )
    });
    place.write("none.csv", none.collect::<String>());
    place.refused(
        &["fit", "none.csv", "--group-by", "sex", "--drop", "region", "-r", "2", "--weights", "w"],
        "all rows of group 'F' have weight zero: leave the group out or mend its weights",
    );
}

#[test]
fn families_of_groups_are_shown_family_by_family() {
    let place = Place::with("p.csv", people());
    let fit = ["fit", "p.csv", "--group-by-each", "sex,region", "--drop", "w", "-r", "2"];
    let few = ["--draws", "20", "--permutations", "20", "--folds", "0"];
    let files = ["--json", "f.json", "--report", "f.html"];
    let ran = place.ok(&[&fit[..], &few, &files].concat());
    let json = place.json("f.json");
    let named: Vec<(&str, &str)> = groups(&json)
        .iter()
        .map(|g| (g["family"].as_str().unwrap(), g["name"].as_str().unwrap()))
        .collect();
    assert_eq!(
        named,
        [
            ("sex", "sex=f"),
            ("sex", "sex=m"),
            ("region", "region=north"),
            ("region", "region=south"),
            ("region", "region=west")
        ]
    );
    let at = |what: &str| ran.out.find(what).unwrap_or_else(|| panic!("{what}: {}", ran.out));
    assert!(at("\nsex\n") < at("\nsex=f") && at("\nsex=m") < at("\nregion\n"), "{}", ran.out);
    assert!(place.read("f.html").contains("by each of sex, region"));
    place.refused(
        &[&fit[..], &["--min-group-size", "5"]].concat(),
        "--min-group-size does not go with --group-by-each: the groups of one family would tell what is hidden of another",
    );
    let out = place.ok(&["inspect", "p.csv", "--group-by-each", "sex,region", "--drop", "w"]).out;
    assert!(out.contains("region=north"), "{out}");
    let both = place.run(&["fit", HEART, "--group-by", "sex", "--group-by-each", "cp", "-r", "2"]);
    assert_eq!(both.code, 2, "{}", both.err);
}

#[test]
fn neighbours_are_compared_under_one_audit() {
    let place = Place::with("p.csv", people());
    let by = ["compare", "p.csv", "--group-by", "sex", "--drop", "region,w", "--n-init", "1"];
    let with = |more: &[&'static str]| [&by[..], more].concat();
    let ran = place.ok(&with(&["--rank", "2", "--json", "c.json", "--report", "c.html"]));
    assert!(ran.out.contains("Robust multi-objective NMF"), "{}", ran.out);
    let json = place.json("c.json");
    let methods = json["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 12);
    let worst = |name: &str| {
        let found = methods.iter().find(|m| m["method"] == name).unwrap();
        number(&found["worst_loss"])
    };
    assert!(worst("am") <= worst("standard") + 1e-6);
    let page = place.read("c.html");
    assert!(page.contains("Fair PCA") && page.contains("The methods side by side"));
    let start = page.find("id=\"report-data\">").unwrap() + "id=\"report-data\">".len();
    let data = &page[start..start + page[start..].find("</script>").unwrap()];
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["compared"]["global_bound"], json["global_bound"]);
    for (shown, method) in data["compared"]["methods"].as_array().unwrap().iter().zip(methods) {
        for field in ["total_error", "worst_loss", "worst_excess", "seconds"] {
            assert_eq!(shown[field], method[field], "{field}");
        }
        let excess = shown["excess_losses"].as_array().unwrap().iter();
        let own = method["excess_losses"].as_array().unwrap().iter();
        assert!(excess.map(|e| &e["excess_loss"]).eq(own));
    }
    let notes = data["notes"].as_array().unwrap();
    let of_pca = notes.iter().find(|note| note["code"] == "own-criterion").unwrap();
    assert!(of_pca["sentence"].as_str().unwrap().starts_with("Fair PCA: its own criterion"));
    let own = methods.iter().find(|m| m["method"] == "fair-pca").unwrap();
    assert_eq!(own["remark"]["code"], "own-criterion");
    place.refused(
        &with(&["--rank", "2", "--methods", "best"]),
        "--methods best: expected some of standard, am, reweighted-rows, reweighted-norms, glrm-power, glrm-exponential, glrm-disparity, robust, fair-pca, fair-pca-loss, shared-budget, separate",
    );
}
