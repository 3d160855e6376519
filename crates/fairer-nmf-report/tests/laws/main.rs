//! Laws every output keeps: names are text, hidden groups are gone, sections
//! come and go, drawings are valid XML.

mod follows;
mod hidden;
#[path = "../../examples/samples/mod.rs"]
mod samples;

use fairer_nmf_report::*;

/// The page as XML: without the doctype, style and script, whose text is ours.
fn as_xml(page: &str) -> String {
    let mut out =
        page.strip_prefix("<!doctype html>\n").expect("the page has a doctype").to_owned();
    for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let start = out.find(open).expect("one block") + open.len();
        let end = start + out[start..].find(close).expect("the block ends");
        out.replace_range(start..end, "");
    }
    out
}

fn all_samples() -> [Report; 7] {
    [
        samples::demo(),
        samples::three(),
        samples::sixty(),
        samples::hostile(),
        samples::beside::sweep(),
        samples::beside::compared(),
        Report::default(),
    ]
}

/// Everything a report is turned into, in one string.
fn all_output(report: &Report) -> String {
    let drawings: Vec<String> = charts(report).into_iter().map(|(stem, svg)| stem + &svg).collect();
    [render_html(report), render_json(report), drawings.concat()].concat()
}

#[test]
fn pages_are_well_formed() {
    for report in all_samples() {
        let page = render_html(&report);
        if let Err(error) = roxmltree::Document::parse(&as_xml(&page)) {
            panic!("{}: {error}", report.title);
        }
    }
}

#[test]
fn charts_are_valid_xml_without_odd_numbers() {
    for report in all_samples() {
        for (stem, svg) in charts(&report) {
            let drawing =
                roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{stem}: {e}"));
            assert_eq!(drawing.root_element().attribute("role"), Some("img"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{stem}");
            assert!(!svg.contains("var(--"), "{stem} has colours of its own");
        }
    }
}

#[test]
fn hostile_text_makes_no_element_and_no_attribute() {
    let page = as_xml(&render_html(&samples::hostile()));
    let document = roxmltree::Document::parse(&page).expect("well formed");
    for node in document.descendants().filter(|n| n.is_element()) {
        let tag = node.tag_name().name();
        assert!(!["img", "iframe", "textarea", "b:script"].contains(&tag), "{tag}");
        assert!(node.attributes().all(|a| !a.name().starts_with("on") && a.name() != "style"));
    }
    let scripts: Vec<_> = document.descendants().filter(|n| n.has_tag_name("script")).collect();
    assert_eq!(scripts.len(), 2, "our data and our script");
    assert_eq!(document.descendants().filter(|n| n.has_tag_name("style")).count(), 1);
}

#[test]
fn hostile_text_is_shown_in_every_place() {
    let page = as_xml(&render_html(&samples::hostile()));
    let document = roxmltree::Document::parse(&page).expect("well formed");
    let nasty = "<script>alert(1)</script>";
    let shown_in = |id: &str| {
        let section = document.descendants().find(|n| n.attribute("id") == Some(id));
        let section = section.unwrap_or_else(|| panic!("section {id}"));
        section.descendants().filter_map(|n| n.text()).any(|t| t.contains(nasty))
    };
    for id in ["who-pays", "is-it-real", "cost", "quality", "ranks", "topics", "limits"] {
        assert!(shown_in(id), "{id}");
    }
}

#[test]
fn data_in_the_page_is_the_data() {
    let report = samples::hostile();
    let page = render_html(&report);
    let start = "<script type=\"application/json\" id=\"report-data\">";
    let json = page.split_once(start).expect("data block").1;
    let json = json.split_once("</script>").expect("its end").0;
    let back: Report = serde_json::from_str(json).expect("valid JSON");
    assert_eq!(back, report);
}

#[test]
fn json_comes_back() {
    for report in all_samples() {
        let back: Report = serde_json::from_str(&render_json(&report)).expect("valid JSON");
        assert_eq!(back, report);
    }
}

#[test]
fn a_missing_number_comes_back_as_none() {
    let mut report = samples::demo();
    report.who_pays.groups[0].results[0].loss = f64::NAN;
    let json = render_json(&report);
    assert!(json.contains("\"loss\": null"));
    let back: Report = serde_json::from_str(&json).expect("valid JSON");
    assert!(back.who_pays.groups[0].results[0].loss.is_nan());
}

#[test]
fn every_section_comes_and_goes() {
    type Remove = fn(&mut Report);
    let sections: [(&str, Remove); 5] = [
        ("is-it-real", |r| r.is_it_real = None),
        ("cost", |r| r.cost = None),
        ("quality", |r| r.quality = None),
        ("ranks", |r| r.ranks = None),
        ("topics", |r| r.topics = None),
    ];
    for (id, remove) in sections {
        let mut report = samples::demo();
        let mark = format!("<section id=\"{id}\"");
        assert!(render_html(&report).contains(&mark), "{id} is there");
        remove(&mut report);
        let page = render_html(&report);
        assert!(
            !page.contains(&mark) && !page.contains(&format!("href=\"#{id}\"")),
            "{id} is gone"
        );
        let numbers = page.matches("<span class=\"number\">").count();
        assert!(
            page.contains(&format!("<span class=\"number\">{numbers}</span>")),
            "no hole in the numbering"
        );
    }
    let empty = render_html(&Report::default());
    assert!(empty.contains("Who pays?") && empty.contains("What this does not say"));
}

#[test]
fn the_worst_group_is_in_the_first_sentence() {
    let report = samples::demo();
    let page = render_html(&report);
    let lead = page.split_once("<p class=\"lead\">").expect("a lead").1;
    let sentence = lead.split_once(" a loss of").expect("a first sentence").0;
    assert!(sentence.contains("women"), "{sentence}");
}

#[test]
fn one_model_is_enough() {
    let full = samples::demo();
    let group = |g: &GroupOutcome| GroupOutcome { results: vec![g.results[0]], ..g.clone() };
    let report = Report {
        title: "Audit".into(),
        models: vec![ModelSummary {
            name: "Your topics".into(),
            rank: 4,
            ..ModelSummary::default()
        }],
        who_pays: WhoPays {
            baseline_runs: 5,
            groups: full.who_pays.groups.iter().map(group).collect(),
            ..WhoPays::default()
        },
        ..Report::default()
    };
    let page = render_html(&report);
    assert!(
        page.contains(
            "stands out most from random groups of its size under <bdi>your topics</bdi>"
        )
    );
    let mut unknown = report.clone();
    for result in unknown.who_pays.groups.iter_mut().flat_map(|g| &mut g.results) {
        (result.chance_mean, result.chance_low, result.chance_high) = (None, None, None);
        result.excess_loss = None;
    }
    assert!(
        render_html(&unknown).contains("The largest loss under <bdi>your topics</bdi> is that of")
    );
    assert_eq!(page.matches("<section ").count(), 3, "summary, who pays, limits");
    assert_eq!(charts(&report).len(), 1);
}

#[test]
fn a_loss_below_zero_is_not_called_a_price() {
    let mut report = samples::demo();
    for group in &mut report.who_pays.groups {
        group.results.iter_mut().for_each(|r| r.loss = -0.02);
    }
    assert!(render_html(&report).contains("no group pays for sharing the dictionary"));
}

#[test]
fn those_worse_off_are_named() {
    let page = render_html(&samples::demo());
    assert!(page.contains("1 of 2\u{a0}groups worse off (<strong><bdi>men</bdi></strong> +"));
}

/// A fit that leaves every group what it has: samples that rounding moves are not "worse off".
#[test]
fn where_no_group_moves_nobody_is_called_worse_off() {
    let mut report = samples::demo();
    let cost = report.cost.as_mut().expect("a cost");
    cost.criterion = Minimised::AdjustedLoss;
    cost.share_worse = Some(0.49);
    cost.changes.iter_mut().for_each(|c| c.change = 1e-9);
    let page = render_html(&report);
    assert!(page.contains("makes no group better or worse off, to the digits shown"));
    assert!(!page.contains("have a higher error than before"));
    assert!(!page.contains("Change of each group’s error."));
    assert!(page.contains("The fits behind them make the largest loss itself small"));
}

#[test]
fn fairness_is_never_claimed() {
    for report in [samples::demo(), samples::sixty()] {
        let page = render_html(&report).to_lowercase();
        assert!(
            !page.contains(" is fair")
                && !page.contains("fair model")
                && !page.contains("unbiased")
        );
    }
}

#[test]
fn numbers_that_do_not_exist_are_dashes() {
    let mut report = samples::demo();
    for group in &mut report.who_pays.groups {
        group.relative_baseline_sd = Some(f64::NAN);
        (group.results[0].relative_error, group.results[0].loss) = (f64::NAN, f64::INFINITY);
    }
    let page = render_html(&report);
    assert!(!page.contains("NaN") && !page.contains(">inf"));
    for (stem, svg) in charts(&report) {
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{stem}");
    }
}

#[test]
fn the_policy_allows_only_our_own_blocks() {
    let page = render_html(&samples::demo());
    assert!(page.contains("default-src 'none'; style-src 'sha256-") && !page.contains("unsafe"));
    assert!(
        !page.contains("http://")
            || page.matches("http://").count()
                == page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    assert!(!page.contains("https://"));
}

#[cfg(feature = "png")]
#[test]
fn png_needs_no_fonts_of_the_machine() {
    let (_, svg) = &charts(&samples::demo())[0];
    let picture = png::render(svg, 1.0).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
    // Without letters the picture would be far emptier.
    let bare = png::render(&without_text(svg), 1.0).expect("a picture");
    assert!(picture.len() > bare.len() + 1000, "{} {}", picture.len(), bare.len());
    assert!(png::render("not a drawing", 1.0).is_err());
    assert!(png::render(svg, 1e9).is_err());
}

#[cfg(feature = "png")]
fn without_text(svg: &str) -> String {
    let mut out = svg.to_owned();
    while let Some(start) = out.find("<text") {
        let end = start + out[start..].find("</text>").expect("closed") + "</text>".len();
        out.replace_range(start..end, "");
    }
    out
}

#[test]
fn a_test_is_called_by_what_it_compared() {
    let mut report = samples::demo();
    let sentences = |report: &Report, part: &str| render_html(report).contains(part);
    let set_p = |report: &mut Report, of_error: Option<f64>, of_loss: Option<f64>| {
        for r in report.who_pays.groups.iter_mut().flat_map(|g| &mut g.results) {
            (r.relative_error_adjusted_p, r.refit_loss_adjusted_p) = (of_error, of_loss);
        }
    };
    set_p(&mut report, Some(0.61), None);
    // Of a test of the error the table tells, and no sentence about the loss.
    assert!(!sentences(&report, "as large has p") && sentences(&report, "p of the error"));
    set_p(&mut report, None, Some(0.61));
    assert!(sentences(&report, "has a loss as large has p\u{a0}=\u{a0}0.61"));
    assert!(sentences(&report, "p of the loss") && !sentences(&report, "p of the error"));
    set_p(&mut report, None, Some(0.0002));
    assert!(sentences(&report, "has p\u{a0}&lt;\u{a0}0.001, adjusted over the groups."));
    assert!(sentences(&report, "adjusted over the groups of a model (Holm)"));
}

#[test]
fn intervals_are_said_of_each_model_where_they_differ() {
    let mut report = samples::demo();
    let all = "<p>The intervals are of the error on samples that the dictionary has not seen";
    assert!(render_html(&report).contains(all));
    let draws = &mut report.is_it_real.as_mut().expect("evidence").draws;
    draws[0].unseen = false;
    draws[1].bootstrap = Some(Bootstrap { draws: 40 });
    draws[1].permutation = Some(Permutation { draws: 30, tested: Tested::Loss });
    let result = &mut report.who_pays.groups[0].results[1];
    (result.refit_loss_low, result.refit_loss_high) = (Some(0.01), Some(0.02));
    let page = render_html(&report);
    for part in [
        "The intervals of <bdi>Fairer-NMF (AM)</bdi> are of the error on samples that the dictionary has not seen",
        "The losses of <bdi>Fairer-NMF (AM)</bdi> “with all fitted again” come from 40\u{a0}bootstrap draws over samples.",
        "With all fitted again from, %",
        "The test of <bdi>Standard NMF</bdi> compares",
        "The test of <bdi>Fairer-NMF (AM)</bdi> compares the group’s loss with that of random groups of its size, each with a baseline of its own, over 30\u{a0}random draws.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Without intervals nothing is said of them.
    let real = report.is_it_real.as_mut().expect("evidence");
    real.draws.iter_mut().for_each(|d| d.bootstrap = None);
    assert!(!render_html(&report).contains("bootstrap draw"));
}

#[test]
fn a_table_stands_behind_every_picture() {
    for report in all_samples() {
        let page = as_xml(&render_html(&report));
        let document = roxmltree::Document::parse(&page).expect("well formed");
        for section in document.descendants().filter(|n| n.has_tag_name("section")) {
            let at = format!("{}: {:?}", report.title, section.attribute("id"));
            let mut waiting = false;
            for node in section.descendants() {
                if node.has_tag_name("table") {
                    waiting = false;
                } else if node.attribute("class") == Some("chart") {
                    // Panels of one kind share a table.
                    let panel = node.ancestors().any(|n| n.attribute("class") == Some("panels"));
                    assert!(panel || !waiting, "{at}: a picture without a table");
                    waiting = true;
                }
            }
            assert!(!waiting, "{at}: a picture without a table");
        }
    }
}

#[test]
fn a_sweep_has_one_worst_loss() {
    let point = |rank, loss_mean| RankPoint { rank, loss_mean, ..RankPoint::default() };
    let series = |group: &str, losses: [f64; 2]| RankSeries {
        method: Maker::Mu,
        group: group.into(),
        points: vec![point(1, losses[0]), point(2, losses[1])],
    };
    let ranks = Ranks {
        threshold: Some(0.2),
        trials: 3,
        series: vec![series("a", [0.3, 0.1]), series("b", [0.1, 0.2])],
    };
    let worst = |rank| ranks.worst(Maker::Mu, rank).map(|(p, group)| (p.loss_mean, group));
    assert_eq!((worst(1), worst(2)), (Some((0.3, "a")), Some((0.2, "b"))));
    assert_eq!((ranks.enough(Maker::Mu), ranks.enough(Maker::Am)), (Some(2), None));
}

/// Losses of groups of different sizes are larger for the small ones by construction.
#[test]
fn losses_are_not_compared_beside_the_verdict() {
    for report in [samples::demo(), samples::sixty()] {
        let page = render_html(&report);
        assert!(page.contains("worst loss") && !page.contains(" apart"), "{}", report.title);
    }
}
