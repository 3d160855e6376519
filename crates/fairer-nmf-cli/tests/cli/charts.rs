//! Charts for papers: the folder of `--charts`.

use crate::support::Place;

/// Quick statistics: the charts are the same.
const FEW: [&str; 6] = ["--draws", "50", "--permutations", "50", "--folds", "2"];

#[test]
fn a_fit_leaves_the_charts_of_its_page() {
    let place = Place::new();
    let options = [&["--rank", "2", "--charts", "charts"][..], &FEW].concat();
    let ran = place.heart("fit", &options);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("wrote charts (6 charts as SVG"), "{}", ran.err);
    for stem in
        ["who-pays", "is-it-real", "trade-off", "better-and-worse-off", "convergence", "topic-use"]
    {
        place.has_chart(&format!("charts/{stem}"));
    }
    let inside = std::fs::read_dir(place.path().join("charts")).unwrap().count();
    assert_eq!(inside, 6 * if cfg!(feature = "png") { 2 } else { 1 }, "nothing unfinished");

    // Not over others' work, unless it is asked for.
    let again = place.heart("fit", &options);
    let message = "error: --charts charts: the folder is not empty: give another one, or --force to replace charts in it\n";
    assert_eq!((again.code, again.err.as_str()), (2, message));
    place.write("charts/who-pays.svg", "old");
    let forced = place.heart("fit", &[&options[..], &["--force"]].concat());
    assert_eq!(forced.code, 0, "{}", forced.err);
    place.has_chart("charts/who-pays");
}

#[test]
fn audit_sweep_and_demo_have_charts_too() {
    let place = Place::new();
    place.heart("fit", &["--rank", "2", "--model", "m.safetensors", "--no-compare"]);
    let options = ["--model", "m.safetensors", "--charts", "audit", "--report", "audit/page.html"];
    let ran = place.heart("audit", &[&options[..], &FEW].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    place.has_chart("audit/is-it-real");
    assert!(place.has("audit/page.html"));

    let options = ["--ranks", "1,2", "--trials", "1", "--charts", "sweep"];
    let ran = place.heart("sweep", &options);
    assert_eq!(ran.code, 0, "{}", ran.err);
    place.has_chart("sweep/loss-by-rank-1-standard-nmf");
    place.has_chart("sweep/who-pays");

    place.ok(&["demo", "--charts", "demo"]);
    place.refused(
        &["demo", "--charts", "demo"],
        "--charts demo: the folder is not empty: give another one, or --force to replace charts in it",
    );
    place.ok(&["demo", "--charts", "demo", "--force"]);
    place.has_chart("demo/trade-off");
}

#[test]
fn a_folder_that_cannot_be_is_told_before_the_fit() {
    let place = Place::with("file", "");
    let charts = |folder| place.heart("fit", &["--rank", "2", "--charts", folder]);
    let ran = charts("file");
    let message = "error: --charts file: is a file; give the name of a folder\n";
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (2, message, ""));
    let ran = charts("no/where");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--charts no/where: cannot make the folder"), "{}", ran.err);

    // What fails later leaves no empty folder.
    let ran = place.heart("fit", &["--rank", "9999", "--charts", "new"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    let both = place.heart("fit", &["--rank", "2", "--charts", "x", "--report", "x"]);
    let message = "error: --report and --charts both write x: give each its own file\n";
    assert_eq!((both.code, both.err.as_str()), (2, message));
    assert_eq!(place.files(), ["file"]);
}
