//! Made-up reports for the browser tests and for looking at: smooth functions
//! of the group's number, no randomness.

pub mod beside;
mod parts;

use fairer_nmf_report::*;
use parts::{cost, quality, ranks, topics};

/// Two groups, every section.
pub fn demo() -> Report {
    let mut report = build(&by_sex(), &features(), 4);
    report.title = "Heart Disease by sex".into();
    report.subtitle = "Audit of a rank-4 factorisation".into();
    report
}

fn by_sex() -> Vec<(String, usize, f64)> {
    vec![("women".into(), 97, 0.352), ("men".into(), 206, 0.331)]
}

/// A dictionary of many topics from elsewhere beside two models: the widest tables.
pub fn three() -> Report {
    let mut report = build(&by_sex(), &features(), 20);
    let yours = "Your topics";
    report.title = "A dictionary from elsewhere".into();
    report.subtitle = "Your topics of rank 20".into();
    let model = ModelSummary {
        name: yours.into(),
        role: Role::Subject,
        rank: 20,
        total_error: Some(0.4731),
    };
    report.models.insert(0, model);
    for (i, group) in report.who_pays.groups.iter_mut().enumerate() {
        let loss = 0.12 + 0.011 * i as f64;
        let relative_error = group.relative_baseline + loss;
        let result = GroupResult { relative_error, loss, ..GroupResult::default() };
        let relative_error_adjusted_p = Some(0.04 + 0.3 * i as f64);
        let result = GroupResult { relative_error_adjusted_p, ..result };
        group.results.insert(0, with_evidence(result, 0.013));
    }
    if let Some(real) = &mut report.is_it_real {
        real.draws.insert(0, draws(yours));
    }
    report
}

/// Sixty groups with names of many lengths and scripts, two of them small.
pub fn sixty() -> Report {
    let odd = [
        "Ägäis und Süd\u{ad}griechenland",
        "北海道・東北地方",
        "المنطقة الشرقية (الأحساء)",
        "Республика Северная Осетия — Алания",
        "ירושלים והסביבה",
        "Πελοπόννησος",
        "A region whose name goes on and on, as names in official statistics often do, far beyond any column",
        "हिमाचल प्रदेश",
    ];
    let groups: Vec<(String, usize, f64)> = (0..60)
        .map(|i| {
            let name = odd
                .get(i / 7)
                .filter(|_| i % 7 == 3)
                .map_or_else(|| format!("Region {:02}", i + 1), |n| (*n).to_owned());
            let rows = if i % 29 == 28 { 14 } else { 40 + (i * 7919) % 900 };
            (name, rows, 0.55 + 0.12 * wave(i, 0.37))
        })
        .collect();
    let mut report = build(&groups, &features(), 12);
    report.title = "Household survey, 60 regions".into();
    report.subtitle = "Audit of a rank-12 factorisation".into();
    report
}

/// Every text in the report tries to break out.
pub fn hostile() -> Report {
    let names = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(2)>",
        "'; document.title='owned'; //",
        "</script><script>document.title='owned'</script>",
        "</style><style>body{display:none}</style>",
        "<!-- --> ]]> &lt;b&gt; &amp; \u{0}\u{1}\u{b}",
        "\u{202e}desrever\u{202c} {{7*7}} ${7*7}",
        "</svg></title></textarea><iframe srcdoc='<script>top.document.title=1</script>'>",
        "javascript:alert(3)\" onmouseover=\"alert(4)",
        "   ",
    ];
    let groups: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, n)| ((*n).to_owned(), 30 + 11 * i, 0.4 + 0.01 * i as f64))
        .collect();
    let bad: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    let mut report = build(&groups, &bad, 5);
    report.title = names[0].into();
    report.subtitle = names[1].into();
    report.generated = names[3].into();
    report.command = Some(names[7].into());
    report.settings = names.map(|n| Setting { name: n.into(), value: n.into() }).to_vec();
    report.notes = bad.iter().map(|said| Remark::new("bad", said)).collect();
    report.warnings = bad.iter().map(|n| Remark { code: n.clone(), sentence: n.clone() }).collect();
    let renamed: Vec<(String, String)> =
        report.models.iter().zip(names).map(|(m, n)| (m.name.clone(), n.to_owned())).collect();
    rename_models(&mut report, &renamed);
    for (topic, name) in report.topics.iter_mut().flat_map(|t| &mut t.topics).zip(names) {
        topic.name = name.into();
        topic.matched = Some(TopicMatch { topic: name.into(), similarity: 0.5 });
    }
    for fit in report.quality.iter_mut().flat_map(|q| &mut q.fits) {
        fit.status = Status::IterationLimit;
    }
    if let Some(verdict) = &mut report.verdict {
        (verdict.group, verdict.sentence) = (Some(names[0].into()), names[3].into());
    }
    report
}

fn rename_models(report: &mut Report, names: &[(String, String)]) {
    let new = |old: &mut String| {
        if let Some((_, to)) = names.iter().find(|(from, _)| from == old) {
            *old = to.clone();
        }
    };
    report.models.iter_mut().for_each(|m| new(&mut m.name));
    if let Some(real) = &mut report.is_it_real {
        real.draws.iter_mut().for_each(|d| new(&mut d.model));
    }
    report.quality.iter_mut().flat_map(|q| &mut q.fits).for_each(|f| new(&mut f.model));
    if let Some(topics) = &mut report.topics {
        topics.model.iter_mut().chain(&mut topics.reference).for_each(new);
    }
}

fn features() -> Vec<String> {
    let names = [
        "age",
        "resting blood pressure",
        "cholesterol",
        "max heart rate",
        "ST depression",
        "vessels",
        "chest pain",
        "exercise angina",
        "thalassaemia",
        "fasting sugar",
        "rest ECG",
        "ST slope",
    ];
    names.map(str::to_owned).to_vec()
}

/// A value between −1 and 1 that looks unordered.
fn wave(i: usize, pitch: f64) -> f64 {
    (1.7 + 12.9898 * pitch * i as f64).sin()
}

const STANDARD: &str = "Standard NMF";
const FAIRER: &str = "Fairer-NMF (AM)";

fn build(groups: &[(String, usize, f64)], features: &[String], rank: usize) -> Report {
    let standard = |i: usize| match groups.len() {
        2 => [0.071, 0.023][i],
        _ => 0.062 + 0.042 * wave(i, 0.61),
    };
    let fairer = |i: usize| 0.047 - 0.002 * (1.0 + wave(i, 0.23)) * f64::from(u8::from(i > 1));
    let outcomes: Vec<GroupOutcome> = groups
        .iter()
        .enumerate()
        .map(|(i, (name, rows, baseline))| {
            let norm = (*rows as f64).sqrt() * 0.21;
            let group = Group {
                name: name.clone(),
                rows: *rows,
                norm: Some(norm),
                baseline_error: Some(norm * baseline),
                relative_baseline: *baseline,
                relative_baseline_sd: Some(0.0012 + 0.0008 * wave(i, 0.9)),
                small: *rows < 2 * rank,
                ..Group::default()
            };
            let half = 0.16 / (*rows as f64).sqrt();
            let tested = |m: usize, loss: f64| {
                let noticed = m == 0 && loss > if groups.len() == 2 { 0.05 } else { 0.1 };
                Some(if noticed { 0.001 } else { 0.5 + 0.45 * wave(i, 0.7) })
            };
            let results = [standard(i), fairer(i)].into_iter().enumerate().map(|(m, loss)| {
                let result = GroupResult {
                    relative_error: baseline + loss,
                    loss,
                    relative_error_adjusted_p: tested(m, loss),
                    ..GroupResult::default()
                };
                let result = with_evidence(result, half);
                if m == 0 { with_chance(result, *rows) } else { result }
            });
            GroupOutcome {
                group,
                results: results.collect(),
                feature_errors: vec![FeatureError {
                    name: features[i % features.len()].clone(),
                    share: 0.31,
                    share_of_all: 0.12,
                }],
            }
        })
        .collect();
    let text = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
    Report {
        title: "Sample".into(),
        generated: "made-up numbers, for looking at the page".into(),
        command: Some(format!(
            "fairer-nmf audit data.csv --groups region --rank {rank} --seed 1 --report report.html"
        )),
        data: DataSummary {
            rows: groups.iter().map(|g| g.1).sum(),
            features: 13,
            groups: groups.len(),
            density: Some(0.83),
            normalized: true,
        },
        settings: vec![
            text("rank", &rank.to_string()),
            text("seed", "1"),
            text("tolerance", "1e-4"),
            text("method", "AM"),
        ],
        models: [(STANDARD, Role::Standard, 0.401), (FAIRER, Role::Subject, 0.409)]
            .map(|(name, role, e)| ModelSummary {
                name: name.into(),
                role,
                rank,
                total_error: Some(e),
            })
            .to_vec(),
        verdict: Some(verdict(&outcomes)),
        is_it_real: Some(is_it_real()),
        cost: Some(cost(&outcomes)),
        quality: Some(quality(rank, &outcomes)),
        ranks: Some(ranks(groups)),
        topics: Some(topics(groups, features, rank)),
        who_pays: WhoPays { baseline_runs: 5, groups: outcomes, ..WhoPays::default() },
        warnings: Vec::new(),
        notes: vec![Remark::new("made-up", "The numbers of this page are made up.")],
        ..Report::default()
    }
}

/// With intervals of about that half width, and a held-out loss.
fn with_evidence(result: GroupResult, half: f64) -> GroupResult {
    GroupResult {
        relative_error_low: Some(result.relative_error - half),
        relative_error_high: Some(result.relative_error + 1.1 * half),
        loss_low: Some(result.loss - half),
        loss_high: Some(result.loss + 1.1 * half),
        cross_fitted_loss: Some(result.loss - 0.005),
        held_out_loss: Some(result.loss - 0.01),
        ..result
    }
}

/// With what a random group of so many rows would show.
fn with_chance(result: GroupResult, rows: usize) -> GroupResult {
    let (mean, half) = (1.5 / rows as f64, 0.14 / (rows as f64).sqrt());
    GroupResult {
        chance_mean: Some(mean),
        chance_low: Some(mean - half),
        chance_high: Some(mean + half),
        excess_loss: Some(result.loss - mean),
        difference: Some(result.loss - 0.03),
        difference_low: Some(result.loss - 0.03 - half),
        difference_high: Some(result.loss - 0.03 + half),
        adjusted_p: Some(if result.loss > mean + half { 0.004 } else { 0.4 }),
        ..result
    }
}

fn verdict(groups: &[GroupOutcome]) -> Verdict {
    let excess = |g: &&GroupOutcome| g.results[0].excess_loss.unwrap_or(f64::MIN);
    let most = groups.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))).expect("groups");
    let result = most.results[0];
    Verdict {
        code: VerdictCode::Evidence.into(),
        group: Some(most.name.clone()),
        excess_loss: result.excess_loss,
        difference: result.difference,
        adjusted_p: result.adjusted_p,
        notes: vec![Remark::new(
            "much-unexplained",
            "This model leaves 62 % of the data unexplained, whoever they belong to.",
        )],
        sentence: format!(
            "There is evidence that {} pays more than the others: {:.1} points beyond what a random group of {} would show.",
            most.name,
            100.0 * result.excess_loss.unwrap_or(f64::NAN),
            most.rows
        ),
    }
}

fn is_it_real() -> IsItReal {
    IsItReal { level: 0.95, draws: [STANDARD, FAIRER].map(draws).to_vec() }
}

fn draws(model: &str) -> ModelDraws {
    ModelDraws {
        model: model.into(),
        bootstrap: None,
        unseen: true,
        permutation: Some(Permutation { draws: 999, tested: Tested::RelativeError }),
    }
}
