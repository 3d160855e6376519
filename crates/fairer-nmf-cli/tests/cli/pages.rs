//! What the pages of `--report` say, whatever dictionary they are about.

use crate::support::{BY_SEX, HEART, Place, data, number};
use serde_json::Value;

/// Quick statistics: the sentences are the same.
const FEW: [&str; 6] = ["--draws", "50", "--permutations", "50", "--folds", "2"];

/// A dictionary of five topics that serves nobody well.
const FOREIGN: &str = "age,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal\n\
    1,0,0,0,0,0,0,0,0,0,0,0\n0,1,0,0,0,0,0,0,0,0,0,0\n0,0,1,0,0,0,0,0,0,0,0,0\n\
    0,0,0,0,1,0,0,0,0,0,0,0\n0,0,0,0,0,1,0,0,0,0,0,0\n";

fn models(page: &Value) -> Vec<&str> {
    page["models"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect()
}

/// Section 3 goes from the first model to the last, in numbers that section 1 shows.
fn check_cost(page: &str) {
    let data = data(page);
    let last = models(&data).len() - 1;
    let from_to = format!(
        "Going from <bdi>{}</bdi> to <bdi>{}</bdi> makes",
        models(&data)[0].replace("Your", "your"),
        models(&data)[last]
    );
    assert!(page.contains(&from_to), "{from_to}");
    for (l, group) in data["who_pays"]["groups"].as_array().unwrap().iter().enumerate() {
        let error = |model: usize| number(&group["results"][model]["relative_error"]);
        let change = number(&data["cost"]["changes"][l]["change"]);
        assert!((error(last) - error(0) - change).abs() < 1e-3, "{group}: {change}");
    }
    let curve = data["cost"]["curve"].as_array().unwrap();
    let worst = |point: &Value| number(&point["worst_criterion"]);
    assert!(worst(curve.last().unwrap()) < worst(&curve[0]), "{curve:?}");
}

#[test]
fn standard_nmf_is_told_what_fairness_would_cost() {
    let place = Place::new();
    // Sex makes no difference that chance does not, so that by default next to nothing would be done.
    let best = [&FEW[..], &["--baseline", "best"]].concat();
    let fit = ["--rank", "5", "--method", "standard", "--model", "std", "--report", "fit.html"];
    let ran = place.heart("fit", &[&fit[..], &best].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let audit = ["--model", "std", "--report", "audit.html", "--json", "audit.json"];
    let ran = place.heart("audit", &[&audit[..], &best].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    for page in ["fit.html", "audit.html"] {
        let page = place.read(page);
        assert_eq!(models(&data(&page)), ["Standard NMF", "Fairer-NMF (AM)"]);
        check_cost(&page);
    }
    let json = place.json("audit.json");
    let largest = |of: &dyn Fn(&Value) -> f64| {
        json["groups"].as_array().unwrap().iter().map(of).fold(f64::MIN, f64::max)
    };
    let own = largest(&|g| number(&g["loss"]));
    assert!(largest(&|g| number(&g["fairer"]["loss"])) < own);
    assert_eq!(largest(&|g| number(&g["standard"]["loss"])), own, "it is its own comparison");
}

#[test]
fn a_foreign_dictionary_comes_first_and_fairer_nmf_last() {
    let place = Place::with("H.csv", FOREIGN);
    let more = ["--components", "H.csv", "--normalize", "features", "--report", "p.html"];
    let ran = place.heart("audit", &[&more[..], &FEW].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = place.read("p.html");
    check_cost(&page);
    let data = data(&page);
    assert_eq!(models(&data), ["Your topics", "Standard NMF", "Fairer-NMF (AM)"]);
    let lead = page.split_once("<p class=\"lead\">").unwrap().1.split_once("</p>").unwrap().0;
    let first = lead.split_once(". ").unwrap().0;
    assert!(first.contains("under <bdi>your topics</bdi>: its error is"), "{lead}");
    assert!(lead.contains("Under <bdi>Fairer-NMF (AM)</bdi> the largest loss is"), "{lead}");
    // The test without --refit is one of errors: it stands beside them, and not in a sentence about the loss.
    assert!(page.contains("p of the error") && !page.contains("as large has p"));
    // Held-out losses differ from the others by the group's own baseline alone.
    for group in data["who_pays"]["groups"].as_array().unwrap() {
        let own = |m: usize| {
            let result = &group["results"][m];
            number(&result["relative_error"]) - number(&result["held_out_loss"])
        };
        assert!((own(0) - own(1)).abs() < 1e-3 && (own(0) - own(2)).abs() < 1e-3, "{group}");
    }
    // Alone it is shown as it is.
    let more = [&more[..4], &["--no-compare", "--report", "alone.html"]].concat();
    let ran = place.heart("audit", &[&more[..], &FEW].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = place.read("alone.html");
    assert!(!page.contains("Fairer-NMF (AM)") && !page.contains("id=\"cost\""));
}

#[test]
fn terminal_and_page_of_a_sweep_name_the_same_rank() {
    let place = Place::new();
    // A threshold between the mean of the trials' worst losses and the largest mean loss.
    let more = ["--ranks", "8..10", "--trials", "3", "--threshold=-0.006"];
    let files = ["--methods", "standard,am", "--report", "s.html"];
    let ran = place.heart("sweep", &[&more[..], &files].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = place.read("s.html");
    let numbers = data(&page);
    let series = numbers["ranks"]["series"].as_array().unwrap();
    for (code, method) in [("standard", "Standard NMF"), ("am", "Fairer-NMF (AM)")] {
        let worst = |rank: usize| {
            let ours = series.iter().filter(|s| s["method"] == code);
            let losses = ours.map(|s| number(&s["points"][rank - 8]["loss_mean"]));
            losses.fold(f64::MIN, f64::max)
        };
        for rank in 8..=10 {
            assert!(ran.out.contains(&format!("{:.4} ±", worst(rank))), "{rank}: {}", ran.out);
        }
        let (on_terminal, on_page) = match (8..=10).find(|&rank| worst(rank) <= -0.006) {
            Some(rank) => (
                format!("{method}: rank {rank} is the smallest"),
                format!(
                    "With <bdi>{method}</bdi>, <strong><bdi>{rank}</bdi></strong> is the smallest rank"
                ),
            ),
            None => (
                format!("{method}: no rank has"),
                format!("With <bdi>{method}</bdi>, the mean loss of some group exceeds"),
            ),
        };
        assert!(ran.out.contains(&on_terminal), "{on_terminal}: {}", ran.out);
        assert!(page.contains(&on_page), "{on_page}");
    }
    // Section 1 is about the rank that the threshold picks.
    let more = ["--ranks", "1..3", "--trials", "2", "--threshold", "0.5", "--report", "t.html"];
    let ran = place.heart("sweep", &more);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        place
            .read("t.html")
            .contains("section 1 shows the models with 1, which the threshold picks")
    );
}

#[test]
fn a_refit_is_one_of_every_model_and_the_page_says_so() {
    let place = Place::new();
    let files = ["--report", "p.html", "--method", "standard", "--rank", "2", "--refit", "20"];
    let ran = place.heart("fit", &[&files[..], &FEW].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = place.read("p.html");
    let found = data(&page);
    for (draws, name) in found["is_it_real"]["draws"].as_array().unwrap().iter().zip(models(&found))
    {
        assert_eq!(draws["model"], name);
        assert_eq!(draws["bootstrap"]["draws"], 20);
    }
    // What was fitted to even the groups out is not tested: a random group was not evened out.
    let draws = found["is_it_real"]["draws"].as_array().unwrap();
    assert_eq!((draws.len(), &draws[0]["permutation"]["draws"]), (2, &20.into()));
    assert_eq!(draws[0]["permutation"]["tested"], "loss");
    assert!(draws[1]["permutation"].is_null(), "{draws:?}");
    let how = "“with all fitted again” come from 20\u{a0}bootstrap draws over samples";
    assert!(page.contains(how), "{how}");
    let result = &found["who_pays"]["groups"][0]["results"][0];
    assert_ne!(result["loss_low"], result["refit_loss_low"], "{result}");
    assert!(page.contains("compares the group’s loss with that of random groups"));
    assert!(!page.contains("held fixed") && !page.contains("and proves nothing"));
}

#[test]
fn a_page_tells_files_but_not_folders() {
    let place = Place::new();
    let there = place.path().join("private").to_str().unwrap().to_owned();
    std::fs::create_dir(&there).unwrap();
    std::fs::copy(HEART, format!("{there}/patients.csv")).unwrap();
    let (table, page) = (format!("{there}/patients.csv"), format!("--report={there}/p.html"));
    let json = format!("{there}/p.json");
    let fit = ["fit", &table, "--rank", "2", &page, "--json", &json];
    place.ok(&[&fit[..], &BY_SEX, &FEW].concat());
    let page = place.read("private/p.html");
    assert!(!page.contains("private"), "the folder is in the page");
    let command = "fairer-nmf fit patients.csv --rank 2 --report=p.html --json p.json --group-by";
    assert!(data(&page)["command"].as_str().unwrap().starts_with(command));
    assert_eq!(place.json("private/p.json")["report"], data(&page));
}

#[test]
fn sixty_groups_with_any_names_make_a_page() {
    let odd = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(2)>",
        "</script><script>document.title='owned'</script>",
        "北海道・東北地方",
        "المنطقة الشرقية",
    ];
    let name = |g: usize| odd.get(g).map_or_else(|| format!("Region {g}"), |n| (*n).to_owned());
    let mut csv = String::from("a,b,c,d,group\n");
    for row in 0..300_u32 {
        let value = |k: u32| (row * 37 + k * 61) % 23 + 1;
        let name = name(row as usize % 60).replace('"', "\"\"");
        csv += &format!("{},{},{},{},\"{name}\"\n", value(0), value(1), value(2), value(3));
    }
    let place = Place::with("a.csv", csv);
    let fit = ["fit", "a.csv", "--group-by", "group", "--rank", "1", "--baseline-runs", "1"];
    let files = ["--report", "p.html", "--json", "p.json", "--charts", "charts"];
    place.ok(&[&fit[..], &files, &FEW].concat());
    let page = place.read("p.html");
    let groups = &data(&page)["who_pays"]["groups"];
    let mut shown: Vec<&str> =
        groups.as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    let mut given: Vec<String> = (0..60).map(name).collect();
    shown.sort_unstable();
    given.sort_unstable();
    assert_eq!(shown, given);
    assert_eq!(page.matches("<script").count(), 2, "the page's data and its script");
    assert!(!page.contains("<img") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(place.read("charts/who-pays.svg").contains("&lt;script&gt;"));
}
