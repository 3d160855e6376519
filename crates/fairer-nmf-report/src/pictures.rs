//! From the content of a report to its charts; used by the page and by the files.

mod by_rank;

use crate::axis::Unit;
use crate::charts::{
    ChangeBar, Changes, Dumbbell, DumbbellPoint, DumbbellRow, DumbbellSeries, Heat, Lines, Series,
    TradeOff, TradeOffMark,
};
use crate::content::{GroupOutcome, Report};
use crate::numbers::Percent;

pub use by_rank::{Quantity, methods, ranks};

/// Widths of the pictures in the page: on a desk, on a phone.
pub const WIDE: f64 = 720.0;
pub const NARROW: f64 = 340.0;

/// Colour of a model: the one reported on is blue, the reference vermilion.
pub fn model_colour(index: usize, models: usize) -> usize {
    match index {
        i if i + 1 == models => 0,
        0 => 1,
        i => i + 1,
    }
}

/// Groups from the largest loss under the reference model to the smallest, family by family where there
/// are families.
pub fn by_loss(report: &Report) -> Vec<&GroupOutcome> {
    let mut groups: Vec<_> = report.who_pays.groups.iter().collect();
    let key = |g: &GroupOutcome| g.results.first().map_or(f64::NEG_INFINITY, |r| r.loss);
    let family = |g: &GroupOutcome| family(report, g);
    groups.sort_by(|a, b| family(a).cmp(&family(b)).then(key(b).total_cmp(&key(a))));
    groups
}

/// The place of a group's family among the families.
fn family(report: &Report, group: &GroupOutcome) -> Option<usize> {
    report.who_pays.groups.iter().position(|other| other.family == group.family)
}

fn model_series(report: &Report) -> Vec<DumbbellSeries> {
    let models = report.models.iter().enumerate();
    models
        .map(|(i, m)| DumbbellSeries {
            name: m.name.clone(),
            colour: model_colour(i, report.models.len()),
        })
        .collect()
}

/// The band of chance of a group under the first model: its ends and its mean.
fn band(group: &GroupOutcome) -> Option<(f64, f64, f64)> {
    let result = group.results.first()?;
    let (low, high) = result.chance()?;
    Some((low, high, result.chance_mean?))
}

fn losses(group: &GroupOutcome, models: &[usize]) -> DumbbellRow {
    let point =
        |&i: &usize| group.results.get(i).map(|r| DumbbellPoint { value: r.loss, interval: None });
    DumbbellRow {
        name: group.name.clone(),
        points: models.iter().map(point).collect(),
        band: band(group),
    }
}

fn loss_chart(
    report: &Report,
    groups: &[&GroupOutcome],
    models: &[usize],
    percent: Percent,
    width: f64,
) -> Option<Dumbbell> {
    let rows: Vec<_> = groups.iter().map(|group| losses(group, models)).collect();
    let series = model_series(report);
    (!rows.is_empty()).then(|| Dumbbell {
        title: "Loss of each group".into(),
        x_label: match report.has_no_baselines() {
            true => "loss: how much of the group is lost".into(),
            false => "loss: how much more of the group is lost than with a model of its own".into(),
        },
        band: (rows.iter().any(|r| r.band.is_some()))
            .then(|| "random groups of the same size".into()),
        series: models.iter().map(|&i| series[i].clone()).collect(),
        rows,
        percent,
        width,
    })
}

/// Section 1: losses of every group under every model.
pub fn who_pays(report: &Report, percent: Percent, width: f64) -> Option<Dumbbell> {
    let models: Vec<usize> = (0..report.models.len()).collect();
    loss_chart(report, &by_loss(report), &models, percent, width)
}

/// As many groups as a first screen and one sheet of paper hold.
const MOST_AT_FIRST: usize = 8;

/// The groups that stand out most under the first model: that of the verdict, and others by their loss beyond chance where
/// that is known; family by family where there are families.
pub fn most_excess(report: &Report) -> Vec<&GroupOutcome> {
    let mut groups = by_loss(report);
    let key = |g: &GroupOutcome| {
        g.results.first().map_or(f64::NEG_INFINITY, |r| r.excess_loss.unwrap_or(r.loss))
    };
    let named = report.verdict.as_ref().and_then(|verdict| verdict.group.as_ref());
    let told = |g: &GroupOutcome| named == Some(&g.name);
    groups.sort_by(|a, b| told(b).cmp(&told(a)).then(key(b).total_cmp(&key(a))));
    groups.truncate(MOST_AT_FIRST);
    groups.sort_by(|a, b| key(b).total_cmp(&key(a)));
    groups.sort_by_key(|g| family(report, g));
    groups
}

/// The first screen: what one starts from, and the fairer model.
pub fn summary(report: &Report, percent: Percent, width: f64) -> Option<Dumbbell> {
    let models = match report.models.len() {
        0 => vec![],
        1 => vec![0],
        n => vec![0, n - 1],
    };
    loss_chart(report, &most_excess(report), &models, percent, width)
}

/// Whether the first screen leaves something out of the picture of losses.
pub fn summary_is_partial(report: &Report) -> bool {
    report.who_pays.groups.len() > MOST_AT_FIRST || report.models.len() > 2
}

/// Section 2: the same with intervals.
pub fn is_it_real(report: &Report, percent: Percent, width: f64) -> Option<Dumbbell> {
    let real = report.is_it_real.as_ref()?;
    let point = |group: &GroupOutcome, index: usize| {
        let result = group.results.get(index)?;
        let (low, high) = result.loss_interval()?;
        // Of samples not seen, the middle is what is to be expected, and not the loss in the sample.
        let seen = real.draws.get(index).is_some_and(|d| d.bootstrap.is_some());
        let value = if seen { result.loss } else { 0.5 * (low + high) };
        Some(DumbbellPoint { value, interval: Some((low, high)) })
    };
    let rows: Vec<_> = by_loss(report)
        .into_iter()
        .map(|group| DumbbellRow {
            name: group.name.clone(),
            points: (0..report.models.len()).map(|i| point(group, i)).collect(),
            band: None,
        })
        .filter(|row| row.points.iter().any(Option::is_some))
        .collect();
    // A model that was not looked at has no place in the legend.
    let seen = |i: usize| rows.iter().any(|r| r.points.get(i).is_some_and(Option::is_some));
    let kept: Vec<usize> = (0..report.models.len()).filter(|&i| seen(i)).collect();
    let series = model_series(report);
    let level = crate::numbers::share(real.level);
    (!rows.is_empty()).then(|| Dumbbell {
        title: format!("Loss of each group with {level} intervals"),
        x_label: format!("loss, with {level} interval"),
        band: None,
        series: kept.iter().map(|&i| series[i].clone()).collect(),
        rows: rows
            .iter()
            .map(|r| DumbbellRow {
                name: r.name.clone(),
                points: kept.iter().map(|&i| r.points[i]).collect(),
                band: None,
            })
            .collect(),
        percent,
        width,
    })
}

/// Section 3: the curve between total error and worst loss.
pub fn tradeoff(report: &Report, percent: Percent, width: f64) -> Option<TradeOff> {
    let cost = report.cost.as_ref()?;
    let (curve, what) = (&cost.curve, cost.criterion);
    let points: Vec<_> = curve
        .iter()
        .map(|p| TradeOffMark {
            alpha: p.alpha,
            total_error: p.total_error,
            worst: p.worst_criterion,
        })
        .collect();
    (points.len() >= 2).then(|| TradeOff {
        title: format!("What a lower worst {what} costs in total error"),
        y_label: format!("worst {what}"),
        ends: ("α = 0: total only".into(), "α = 1: worst group only".into()),
        points,
        percent,
        width,
    })
}

/// Section 3: better and worse off.
pub fn changes(report: &Report, percent: Percent, width: f64) -> Option<Changes> {
    let mut bars: Vec<_> = report
        .cost
        .as_ref()?
        .changes
        .iter()
        .map(|c| ChangeBar { name: c.group.clone(), change: c.change })
        .collect();
    bars.sort_by(|a, b| b.change.total_cmp(&a.change));
    (!bars.is_empty()).then(|| Changes {
        title: "Change of each group’s error".into(),
        x_label: "change of error, in points of percent".into(),
        bars,
        percent,
        width,
    })
}

/// Section 4: worst loss after each iteration.
pub fn convergence(report: &Report, percent: Percent, width: f64) -> Option<Lines> {
    let quality = report.quality.as_ref()?;
    let (fits, what) = (&quality.fits, quality.criterion);
    let longest = fits.iter().map(|f| f.history.len()).max()?;
    let index = |name: &str| report.models.iter().position(|m| m.name == name);
    let series: Vec<_> = fits
        .iter()
        .enumerate()
        .filter(|(_, fit)| !fit.history.is_empty())
        .map(|(i, fit)| {
            let at = thinned(fit.history.len());
            let x = at.iter().map(|&i| (i + 1) as f64).collect();
            let y = at.iter().map(|&i| fit.history[i]).collect();
            let colour = model_colour(index(&fit.model).unwrap_or(i), report.models.len().max(1));
            let dash = usize::from(colour != 0) * colour;
            Series::new(fit.model.clone(), x, y).styled(colour, dash)
        })
        .collect();
    (longest >= 2).then(|| Lines {
        title: format!("Worst {what} during the fit"),
        x_label: "iteration".into(),
        y_label: format!("worst {what}"),
        y_unit: Unit::Percent(percent),
        log_x: longest > 30,
        series,
        width,
        height: 220.0,
        ..Lines::default()
    })
}

/// At most some hundred places along a history, dense at its start.
pub fn thinned(length: usize) -> Vec<usize> {
    const MOST: usize = 160;
    if length <= MOST {
        return (0..length).collect();
    }
    let last = (length - 1) as f64;
    let mut places: Vec<usize> = (0..MOST)
        .map(|k| ((last + 1.0).powf(k as f64 / (MOST - 1) as f64) - 1.0).round() as usize)
        .map(|i| i.min(length - 1))
        .collect();
    places.dedup();
    places
}

/// Section 6: use of topics by groups.
pub fn topic_use(report: &Report, width: f64) -> Option<Heat> {
    let topics = &report.topics.as_ref()?.topics;
    let share = |group: &str, topic: usize| {
        let usage = &topics[topic].usage;
        usage.iter().find(|u| u.group == group).map_or(f64::NAN, |u| u.share)
    };
    let rows: Vec<String> = report.who_pays.groups.iter().map(|g| g.name.clone()).collect();
    let any = topics.iter().any(|t| !t.usage.is_empty());
    (any && !rows.is_empty()).then(|| Heat {
        title: "How much each group uses each topic".into(),
        values: rows
            .iter()
            .map(|group| (0..topics.len()).map(|t| share(group, t)).collect())
            .collect(),
        rows,
        columns: topics.iter().map(|t| t.name.clone()).collect(),
        width,
    })
}

/// All pictures of a report as standalone SVG, with a stem for the file name.
pub fn files(report: &Report) -> Vec<(String, String)> {
    use crate::charts as draw;
    let percent = Percent::for_report(report);
    let mut files: Vec<(String, String)> = Vec::new();
    let mut add = |stem: &str, svg: Option<String>| {
        files.extend(svg.map(|svg| (stem.to_owned(), svg)));
    };
    add("who-pays", who_pays(report, percent, WIDE).as_ref().map(draw::dumbbell));
    add("is-it-real", is_it_real(report, percent, WIDE).as_ref().map(draw::dumbbell));
    add("trade-off", tradeoff(report, percent, WIDE).as_ref().map(draw::tradeoff));
    add("better-and-worse-off", changes(report, percent, WIDE).as_ref().map(draw::changes));
    add("convergence", convergence(report, percent, WIDE).as_ref().map(draw::lines));
    for (i, method) in methods(report).into_iter().enumerate() {
        for quantity in [Quantity::Loss, Quantity::Error] {
            let stem = format!("{}-by-rank-{}{}", quantity.name(), i + 1, slug(method.title()));
            let chart = ranks(report, percent, method, quantity, 560.0);
            add(&stem, chart.as_ref().map(draw::lines));
        }
    }
    add("topic-use", topic_use(report, WIDE).as_ref().map(draw::heat));
    files
}

/// A method's name as the end of a file stem: ASCII letters and digits only.
fn slug(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        out.push('-');
        out.push_str(&word.to_ascii_lowercase());
    }
    out.chars().take(40).collect()
}

#[cfg(test)]
mod tests;
