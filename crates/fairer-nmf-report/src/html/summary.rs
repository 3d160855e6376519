//! The first screen: the verdict, one picture with the band of chance, who is better and worse
//! off, and a few caveats in plain words. All else is the appendix.

use std::fmt::Write as _;

use fairer_nmf::Note;

use super::parts::{figure, join};
use super::{beside_chance, cost, who_pays};
use crate::content::{Answer, Change, Cost, Minimised, Report, Verdict, VerdictCode, Yardstick};
use crate::escape::{in_sentence, name, strong};
use crate::numbers::{Percent, share};
use crate::pictures::{self, NARROW, WIDE};
use crate::svg::Theme;

pub fn body(report: &Report, percent: Percent) -> String {
    let mut body = String::new();
    match &report.verdict {
        Some(verdict) => body.push_str(&said(verdict)),
        None => {
            let _ = write!(body, "<p class=\"lead\">{}</p>", who_pays::lead(report, percent));
        }
    }
    picture(&mut body, report, percent);
    // On a wide screen what was found stands beside what to keep in mind.
    body.push_str("<div class=\"beside\"><div>");
    if let Some(text) = cost::winners_and_losers(report, percent) {
        let _ = write!(body, "<h3>Who is better and who is worse off?</h3><p>{text}</p>");
    }
    if let Some(verdict) = &report.verdict {
        let why = why(report, verdict).map_or_else(String::new, |text| format!("{text} "));
        let _ =
            write!(body, "<h3>What follows?</h3><p>{why}{}</p>", next(report, verdict, percent));
    }
    body.push_str("</div><div><h3>Keep in mind</h3><ul class=\"caveats\">");
    for caveat in caveats(report) {
        let _ = write!(body, "<li>{caveat}</li>");
    }
    body.push_str("</ul></div></div>");
    body
}

/// The verdict with a sign of its own, so that colour does not carry it alone.
fn said(verdict: &Verdict) -> String {
    let class = verdict.code.name();
    let sign = match verdict.code {
        Answer::Given(VerdictCode::Evidence) => "▲",
        Answer::Given(VerdictCode::NoEvidence) => "●",
        Answer::Given(VerdictCode::TooFewRows) => "○",
        Answer::Given(VerdictCode::NotTested) | Answer::Withheld => "–",
    };
    let mut out = format!(
        "<p class=\"verdict {class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {}</p>",
        name(&verdict.sentence)
    );
    for note in &verdict.notes {
        let _ = write!(out, "<p class=\"note\">{}</p>", name(&note.sentence));
    }
    out
}

/// The features on which the error of the group of the verdict lies more than that of all.
fn why(report: &Report, verdict: &Verdict) -> Option<String> {
    const MOST: usize = 3;
    /// Smaller differences of shares are not worth a sentence.
    const NOTICEABLE: f64 = 0.02;
    let of = verdict.group.as_deref()?;
    let group = report.who_pays.groups.iter().find(|g| g.name == of)?;
    let beyond = group.feature_errors.iter().filter(|f| f.share > f.share_of_all + NOTICEABLE);
    let items: Vec<String> = beyond
        .take(MOST)
        .map(|f| {
            format!("{} ({}; of all {})", strong(&f.name), share(f.share), share(f.share_of_all))
        })
        .collect();
    let who = strong(of);
    (!items.is_empty())
        .then(|| format!("More of what is lost of {who} than of all lies on {}.", join(&items)))
}

fn picture(body: &mut String, report: &Report, percent: Percent) {
    let draw = |width| pictures::summary(report, percent, width).map(|c| c.draw(Theme::Page));
    let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) else { return };
    let groups = pictures::most_excess(report);
    let left_out = report.who_pays.groups.len() - groups.len();
    let mut caption = String::from("Further right is worse.");
    if groups.iter().any(|g| g.results.first().is_some_and(|r| r.chance().is_some())) {
        caption.push_str(
            " Grey: random groups of the same size under the first model, with their mean.",
        );
    }
    if left_out > 0 {
        let _ = write!(caption, " The {} that stand out most; all are below.", groups.len());
    }
    body.push_str(&figure(&wide, &narrow, &caption));
    body.push_str(&beside_chance::table(report, groups, percent).folded("The picture as a table"));
}

/// The choices that follow from what was found.
fn next(report: &Report, verdict: &Verdict, percent: Percent) -> String {
    let group = verdict.group.as_deref().map_or_else(|| "that group".into(), strong);
    let moved = report.cost.as_ref().is_some_and(|cost| cost::moves(cost, percent));
    let still = if moved { still(report) } else { String::new() };
    let fairer = report.models.last().filter(|_| report.models.len() > 1 && report.cost.is_some());
    let Answer::Given(code) = verdict.code else {
        return "Whoever may see all groups should look at the whole report before anything is decided: the groups \
                shown are not the whole answer."
            .into();
    };
    match code {
        VerdictCode::Evidence => {
            let others = format!("more topics, more weight for {group}, or a model of its own");
            let remedies = match fairer.map(|model| in_sentence(&model.name)) {
                Some(model) if !moved && was_left_alone(report, verdict, percent) => format!(
                    "{model} did not act on it: it acts only on a group that stands out from every draw of random \
                     groups, which is stricter than this verdict is about chance. Without that caution (option \
                     “baseline”: best) it makes the largest loss small, whoever’s it is. Possible are also {others}."
                ),
                Some(model) => match (gain(report, verdict, percent), dearest(report)) {
                    (None, _) => format!(
                        "{model} is no remedy here: what is lost of {group} {}. Possible are {others}.",
                        stays_or_rises(report, verdict, percent)
                    ),
                    (Some(gain), Some(price)) if price.change > gain => format!(
                        "{model} is hardly one: {group} gains {}, and {} pays {}. Possible are {others}.",
                        percent.show(gain),
                        strong(&price.group),
                        percent.show(price.change)
                    ),
                    _ => format!(
                        "{model} is one remedy, with the price named above; {others} are others."
                    ),
                },
                None => format!("Possible are {others}."),
            };
            format!(
                "There is something to decide. {remedies} To leave it as it is can be right, too, once it is known \
                 and said."
            )
        }
        VerdictCode::NoEvidence if is_coarse(verdict) => format!(
            "Say first how small a difference would matter here (option “matters”), and ask again: so far only \
             differences larger than all that is lost are ruled out.{still}"
        ),
        VerdictCode::NoEvidence if leaves_most(report, verdict) => format!(
            "Between the groups nothing has to be mended. But most of everybody is lost: more topics, other features \
             or another model come first, and then this question again.{still}"
        ),
        VerdictCode::NoEvidence => format!(
            "Nothing has to be done on this account. Look again when the data or the groups change.{still}"
        ),
        VerdictCode::TooFewRows => format!(
            "Do not read what {group} pays more or less than the others as a finding. More rows, or small groups put \
             together, would tell.{still}"
        ),
        VerdictCode::NotTested if report.groups_were_found() => {
            "Look for the same groups in other rows before anything is decided on these numbers."
                .into()
        }
        VerdictCode::NotTested => {
            "Nothing was tested: do not read differences between these numbers as findings.".into()
        }
    }
}

/// How much less is lost of the group of the verdict under the last model.
fn gain(report: &Report, verdict: &Verdict, percent: Percent) -> Option<f64> {
    change(report, verdict, percent).map(|change| -change).filter(|gain| *gain > 0.0)
}

/// By how much more of the group of the verdict is lost by the last model, where that can be seen.
fn change(report: &Report, verdict: &Verdict, percent: Percent) -> Option<f64> {
    let changes = report.cost.iter().flat_map(|cost| &cost.changes);
    let of_group = |change: &&Change| Some(&change.group) == verdict.group.as_ref();
    changes.filter(of_group).find(|c| cost::moved(c, percent)).map(|c| c.change)
}

/// Whether the fit allowed the group of the verdict all that it loses under the first model, so that it did not set out to
/// help it.
fn was_left_alone(report: &Report, verdict: &Verdict, percent: Percent) -> bool {
    let adjusted = |cost: &Cost| cost.criterion == Minimised::AdjustedLoss;
    let group = report.who_pays.groups.iter().find(|g| Some(&g.name) == verdict.group.as_ref());
    let lost = group.and_then(|g| g.allowance.zip(g.results.first().map(|r| r.loss)));
    report.cost.as_ref().is_some_and(adjusted)
        && lost.is_some_and(|(allowed, loss)| allowed >= loss || percent.same(allowed, loss))
}

/// What becomes of the group of the verdict where it gains nothing.
fn stays_or_rises(report: &Report, verdict: &Verdict, percent: Percent) -> String {
    match change(report, verdict, percent) {
        Some(change) => format!("rises by {}", percent.show(change)),
        None => "stays".to_owned(),
    }
}

/// The group that pays most for the last model.
fn dearest(report: &Report) -> Option<&Change> {
    let changes = report.cost.iter().flat_map(|cost| &cost.changes);
    changes.max_by(|a, b| a.change.total_cmp(&b.change))
}

/// That the fairer model moves groups all the same, where nothing was found that would ask for it.
fn still(report: &Report) -> String {
    match report.models.last() {
        Some(model)
            if report.models.len() > 1 && dearest(report).is_some_and(|c| c.change > 0.0) =>
        {
            format!(
                " That {} moves what groups lose all the same, as said above, is no sign that it is needed.",
                in_sentence(&model.name)
            )
        }
        _ => String::new(),
    }
}

/// Whether what counts as noticeable is more than all that the model loses, so that the answer is none.
fn is_coarse(verdict: &Verdict) -> bool {
    verdict.notes.iter().any(|note| note.code == Note::MATTERS_BEYOND_ERROR)
}

/// Whether the model audited leaves most of the data unexplained: where groups are hidden the note alone says so.
fn leaves_most(report: &Report, verdict: &Verdict) -> bool {
    let error = report.models.first().and_then(|model| model.total_error);
    error.is_some_and(|error| error > 0.5)
        || verdict.notes.iter().any(|note| note.code == Note::MUCH_UNEXPLAINED)
}

/// What a reader without the method's words has to know.
fn caveats(report: &Report) -> Vec<String> {
    let chance = report.who_pays.groups.iter().any(|g| {
        let first = g.results.first();
        first.is_some_and(|r| r.chance().is_some())
    });
    let bands =
        if chance { " The grey bands show how much of that is to be expected." } else { "" };
    let small = match report.who_pays.baseline_kind {
        // A loss is the whole error, whatever a dictionary of its own would leave of a group.
        Some(Yardstick::Zero) => None,
        Some(Yardstick::HeldOut) => Some(format!(
            "<b>Small groups look better off than they are:</b> patterns made for a few people are held here against \
             others of the same group, whom they describe badly, so sharing seems to cost them less, or nothing.{bands}"
        )),
        _ => Some(format!(
            "<b>Small groups look worse off than they are:</b> patterns made for a few people alone describe them \
             almost perfectly, so sharing always seems to cost them more.{bands}"
        )),
    };
    let description = "<b>This is about description, not treatment:</b> how much of each group gets lost when all are \
         summed up by the same few patterns, not what is done to anyone.";
    let division = format!(
        "<b>The groups were {}.</b> Divided in another way, others may come out worse off; and inside each group some \
         fare worse than the rest.",
        if report.groups_were_found() { "found in these data" } else { "given" }
    );
    [Some(description.to_owned()), small, Some(division)].into_iter().flatten().collect()
}
