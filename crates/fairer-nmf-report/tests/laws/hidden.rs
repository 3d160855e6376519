//! Groups that are hidden are nowhere.

use crate::{all_output, as_xml, samples};
use fairer_nmf_report::*;

/// The demo with a third group of three people, and its name in every text.
fn with_tiny_group() -> Report {
    let mut report = samples::demo();
    let tiny = "Zyx People";
    let add = |name: &mut String| *name = tiny.into();
    let mut group = report.who_pays.groups[0].clone();
    add(&mut group.name);
    group.rows = 3;
    group.relative_baseline = 0.123_456_7;
    group.results = vec![
        GroupResult {
            relative_error: 0.876_543_2,
            loss: 0.753_086_5,
            chance_high: Some(0.753_086_5),
            ..GroupResult::default()
        };
        2
    ];
    report.who_pays.groups.push(group);
    report.data = DataSummary { rows: 306, groups: 3, ..report.data };
    if let Some(cost) = &mut report.cost {
        cost.changes.push(Change {
            group: tiny.into(),
            change: 0.333_444,
            share_worse: Some(0.25),
        });
        cost.curve[3].worst_loss = 0.753_086_5;
    }
    if let Some(quality) = &mut report.quality {
        quality.fits[1].history = vec![0.753_086_5; 5];
    }
    if let Some(ranks) = &mut report.ranks {
        let mut extra = ranks.series[0].clone();
        add(&mut extra.group);
        ranks.series.push(extra);
    }
    if let Some(topics) = &mut report.topics {
        topics.topics[0].main_group = Some(tiny.into());
        topics.topics[0].features[0].name = "their secret".into();
        for topic in &mut topics.topics {
            topic.usage.push(Usage { group: tiny.into(), share: 0.111_222 });
        }
    }
    report.title = "Women, men and Zyx People".into();
    report.notes.push(Remark::new("few", "Zyx People were few."));
    report.warnings.push(Remark {
        code: "small-group".into(),
        sentence: "Beware of Zyx People: 3 rows.".into(),
    });
    report.verdict = Some(Verdict {
        code: VerdictCode::TooFewRows.into(),
        group: Some(tiny.into()),
        excess_loss: Some(0.753_086_5),
        sentence: "Zyx People are too few to say.".into(),
        ..Verdict::default()
    });
    report.settings.push(Setting { name: "groups".into(), value: "women,men,Zyx People".into() });
    report.command = Some("fairer-nmf audit --only 'Zyx People'".into());
    report.models[0].name = "Standard NMF of Zyx People".into();
    report.min_group_size = 10;
    report
}

#[test]
fn hidden_groups_are_in_no_output() {
    let report = with_tiny_group();
    let output = all_output(&report);
    for trace in [
        "Zyx",
        "zyx",
        "0.12345",
        "0.87654",
        "0.75308",
        "75.3",
        "0.33344",
        "0.11122",
        "their secret",
    ] {
        assert!(!output.contains(trace), "{trace}");
    }
    assert!(output.contains("1\u{a0}group with fewer than 10\u{a0}rows is hidden"));
    assert!(output.contains("women") && output.contains("men"));
}

#[test]
fn hidden_groups_cannot_be_had_by_subtraction() {
    let report = with_tiny_group();
    let shown = report.published();
    assert_eq!((shown.data.rows, shown.data.groups, shown.hidden_groups), (303, 2, 1));
    assert_eq!(shown.data.density, None);
    assert!(shown.models.iter().all(|m| m.total_error.is_none()));
    assert!(shown.who_pays.groups.iter().all(|g| g.norm.is_none()));
    let cost = shown.cost.as_ref().expect("cost");
    assert!(cost.curve.is_empty() && cost.share_worse.is_none());
    let quality = shown.quality.as_ref().expect("quality");
    assert!(quality.fits.iter().all(|f| f.history.is_empty() && f.global_bound.is_none()));
    assert!(render_html(&report).contains("303\u{a0}samples"));
}

#[test]
fn hiding_twice_changes_nothing() {
    let once = with_tiny_group().published().into_owned();
    assert_eq!(once.published().into_owned(), once);
}

#[test]
fn all_groups_may_be_hidden() {
    let mut report = samples::demo();
    report.min_group_size = 1_000_000;
    let page = render_html(&report);
    assert!(page.contains("There is no group to show.") && !page.contains("women"));
    roxmltree::Document::parse(&as_xml(&page)).expect("well formed");
}

#[test]
fn hidden_groups_take_the_comparisons_of_all_groups_along() {
    let page = render_html(&with_tiny_group());
    let lead = page.split_once("<p class=\"lead\">").expect("a lead").1;
    let lead = lead.split_once("</p>").expect("its end").0;
    assert!(lead.starts_with("Of the groups shown, "), "{lead}");
    assert!(!lead.contains("the largest loss is"), "{lead}");
    assert!(page.contains("of the 2\u{a0}groups shown worse off"));
    assert!(page.contains("the hidden ones is left out"));
    assert!(page.contains("worst loss of the groups shown"));
    let mut all = with_tiny_group();
    all.min_group_size = 0;
    assert!(!render_html(&all).contains("groups shown"));
}

/// A difference from all others tells of those that are not shown: no number of it is left, in words neither.
#[test]
fn a_verdict_beside_hidden_groups_has_no_numbers() {
    let hidden = Hidden::of([("tiny", 3), ("men", 90)], 10).unwrap();
    for code in [VerdictCode::Evidence, VerdictCode::NoEvidence, VerdictCode::TooFewRows] {
        let code = Answer::Given(code);
        let said = hidden.verdict(Verdict {
            code,
            group: Some("men".into()),
            difference: Some(0.123),
            adjusted_p: Some(0.012),
            sentence: "Under standard NMF: “men” pays 12.3 points more.".into(),
            notes: vec![
                Remark::new("much-unexplained", "This model leaves 69 % of the data unexplained."),
                Remark::new("matters-beyond-error", "More than 9 points of 5 % matter."),
                Remark::new("pays-clearly-less", "“tiny” pays less."),
                Remark::new("fine", "Fine."),
            ],
            ..Verdict::default()
        });
        assert_eq!((said.code, said.difference, said.adjusted_p), (code, None, None));
        assert!(said.sentence.starts_with("Under standard NMF: "), "{}", said.sentence);
        assert!(!said.sentence.contains(|c: char| c.is_ascii_digit()), "{}", said.sentence);
        let codes: Vec<&str> = said.notes.iter().map(|note| &note.code[..]).collect();
        assert_eq!(codes, ["much-unexplained", "matters-beyond-error", "fine"]);
        let has_digit = |note: &Remark| note.sentence.contains(|c: char| c.is_ascii_digit());
        assert!(!said.notes.iter().any(has_digit), "{:?}", said.notes);
    }
}

/// What is said of the model is, whoever the verdict is about; what stands beside one answer alone would tell the answer.
#[test]
fn a_verdict_that_is_withheld_keeps_what_is_said_of_the_model() {
    let hidden = Hidden::of([("tiny", 3), ("men", 90)], 10).unwrap();
    for code in [VerdictCode::NoEvidence, VerdictCode::TooFewRows, VerdictCode::NotTested] {
        let said = hidden.verdict(Verdict {
            code: code.into(),
            group: Some("tiny".into()),
            sentence: "“tiny” pays 12 points.".into(),
            notes: vec![
                Remark::new("much-unexplained", "This model leaves 63 % of the data unexplained."),
                Remark::new("matters-beyond-error", "More than 9 points of 5 % matter."),
                Remark::new("evidence-is-slight", "That is little."),
            ],
            ..Verdict::default()
        });
        let [note] = &said.notes[..] else { panic!("{:?}", said.notes) };
        assert_eq!(note.code, "much-unexplained");
        assert!(note.sentence.starts_with("This model leaves more than half of the data"));
    }
}

/// A rise of the total error is said in the same words whoever it was for, and once.
#[test]
fn a_rise_beside_hidden_groups_names_nobody() {
    let hidden = Hidden::of([("tiny", 3), ("men", 90)], 10).unwrap();
    let said = |groups: &[&str]| {
        let rose = |name: &&str| {
            Remark::new("total-error-rose", format!("it loses 31 %: bent for group '{name}'"))
        };
        let mut remarks: Vec<Remark> = groups.iter().map(rose).collect();
        hidden.remarks(&mut remarks);
        remarks
    };
    let one = said(&["men"]);
    assert_eq!(one, said(&["tiny"]));
    assert_eq!(one, said(&["men", "tiny"]));
    assert!(one.len() == 1 && !one[0].sentence.contains("men"), "{one:?}");
    assert!(!one[0].sentence.contains(|c: char| c.is_ascii_digit()), "{one:?}");
    assert!(said(&[]).is_empty());
}

/// Files have one word for an answer, the audit's or that there is one which is not shown (docs/schema/common.json).
#[test]
fn an_answer_is_one_word_in_files() {
    let schema = include_str!("../../../../docs/schema/common.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("valid JSON");
    let words = schema["$defs"]["verdict_code"]["enum"].as_array().expect("a list");
    let codes = [
        VerdictCode::Evidence,
        VerdictCode::NoEvidence,
        VerdictCode::TooFewRows,
        VerdictCode::NotTested,
    ];
    let answers: Vec<Answer> =
        codes.map(Answer::Given).into_iter().chain([Answer::Withheld]).collect();
    let written = answers.iter().map(|answer| serde_json::json!(answer));
    assert_eq!(*words, written.collect::<Vec<_>>());
    for (word, answer) in words.iter().zip(answers) {
        assert_eq!(word, answer.name());
        assert_eq!(serde_json::from_value::<Answer>(word.clone()).expect("an answer"), answer);
    }
    assert!(serde_json::from_str::<Answer>("\"else\"").is_err());
}
